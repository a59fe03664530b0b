"""Links with which users share conversations and answers."""

import builtins
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Connection, Queries, UserDatabase
from rag.store.users import audit_log


class SharedTurn(NamedTuple):
    """A turn as the recipient sees it; one that names documents they may not see is held back and empty."""

    message: types.ChatMessage
    held_back: bool


class AnswerLinks:
    """The links that a user gives others, and has from others."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "answer_links")

    def list(self, conversation_id: uuid.UUID | None = None) -> list[types.AnswerLink]:
        """Return the user's links, of one conversation or of all."""
        return [types.AnswerLink(**row) for row in self._queries.all("list", conversation_id=conversation_id)]

    def give(self, conversation_id: uuid.UUID, asked: types.LinkRequest) -> types.AnswerLink:
        """Share a conversation, or one of its answers; an existing link to the same recipient is returned.

        Raises:
            errors.NotFoundError: the user has no such conversation, or no such answer in it.
        """
        values = {"id": uuid.uuid4(), "conversation_id": conversation_id, **asked.model_dump()}
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "give", **values).fetchone()
            if row is None:
                raise errors.NotFoundError(
                    N_("There is no such answer. List the conversation's turns and check the ids.")
                )
            is_new = row.pop("is_new")
            link = types.AnswerLink(**row)
            if is_new:
                self._audit(connection, "answer.show", link)
            return link

    def withdraw(self, link_id: uuid.UUID) -> bool:
        """Delete a link; False if the user has no such link."""
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "withdraw", id=link_id).fetchone()
            if row is None:
                return False
            self._audit(connection, "answer.withdraw", types.AnswerLink(**row))
            return True

    def _audit(self, connection: Connection, action: str, link: types.AnswerLink) -> None:
        subject = audit_log.Subject("conversation", str(link.conversation_id), link.title)
        message_id = str(link.message_id) if link.message_id else None
        details = {"grantee_kind": link.grantee_kind, "grantee": link.grantee, "message_id": message_id}
        audit_log.add_entry(self._database, connection, action, subject, details=details)

    def with_me(self) -> builtins.list[types.SharedAnswer]:
        """Return what others share with the user, the latest first."""
        return [types.SharedAnswer(**row) for row in self._queries.all("with_me")]

    def turns(self, link_id: uuid.UUID) -> Sequence[SharedTurn]:
        """Return the turns that a link to the user shows; none if the link was withdrawn."""
        rows = self._queries.all("turns", id=link_id)
        held_back = [row.pop("held_back") for row in rows]
        return [SharedTurn(types.ChatMessage(**row), held) for row, held in zip(rows, held_back, strict=True)]
