"""Conversations and answers that a user shows others, and that others show the user."""

import builtins
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.store.users import audit_log
from rag.types import AnswerLink, ChatMessage, LinkRequest, SharedAnswer


class SharedTurn(NamedTuple):
    """A turn as another sees it; one that names documents which they may not see is held back, and empty."""

    message: ChatMessage
    held_back: bool


class AnswerLinks:
    """Who is shown which conversation or answer."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("answer_links")

    def list(self, conversation_id: uuid.UUID | None = None) -> list[AnswerLink]:
        """What the user shows others, of one conversation or of all."""
        rows = self._database.all(self._queries["list"], {"conversation_id": conversation_id})
        return [AnswerLink(**row) for row in rows]

    def give(self, conversation_id: uuid.UUID, asked: LinkRequest) -> AnswerLink:
        """Show a conversation, or an answer of it; once for each of whom it is shown to.

        Raises:
            errors.NotFoundError: the user has no such conversation, or no such answer in it.
        """
        parameters = {"id": uuid.uuid4(), "conversation_id": conversation_id, **asked.model_dump()}
        with self._database.transaction() as connection:
            row = connection.execute(self._queries["give"], self._database.bind(parameters)).fetchone()
            if row is None:
                raise errors.NotFoundError("There is no such answer. List the conversation's turns and check the ids.")
            link = AnswerLink(**{name: value for name, value in row.items() if name != "is_new"})
            if row["is_new"]:
                audit_log.note(self._database, connection, "answer.show", _subject(link), details=_details(link))
            return link

    def withdraw(self, link_id: uuid.UUID) -> bool:
        """Show it no longer, from now on; False if the user has no such link."""
        with self._database.transaction() as connection:
            row = connection.execute(self._queries["withdraw"], self._database.bind({"id": link_id})).fetchone()
            if row is None:
                return False
            link = AnswerLink(**row)
            audit_log.note(self._database, connection, "answer.withdraw", _subject(link), details=_details(link))
            return True

    def with_me(self) -> builtins.list[SharedAnswer]:
        """What others show the user now, the latest first."""
        return [SharedAnswer(**row) for row in self._database.all(self._queries["with_me"], {})]

    def turns(self, link_id: uuid.UUID) -> Sequence[SharedTurn]:
        """The turns of what another shows the user; none if nobody does any more."""
        rows = self._database.all(self._queries["turns"], {"id": link_id})
        return [
            SharedTurn(
                ChatMessage(**{name: value for name, value in row.items() if name != "held_back"}), row["held_back"]
            )
            for row in rows
        ]


def _subject(link: AnswerLink) -> audit_log.Subject:
    return audit_log.Subject("conversation", str(link.conversation_id), link.title)


def _details(link: AnswerLink) -> dict[str, object]:
    return {
        "grantee_kind": link.grantee_kind,
        "grantee": link.grantee,
        "message_id": str(link.message_id) if link.message_id else None,
    }
