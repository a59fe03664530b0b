"""Chats and their turns."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.jobs import scheduling
from rag.store.library.indexes import unknown_index
from rag.store.server.database import Connection, Queries, Row, UserDatabase
from rag.store.users import audit_log


class Conversations:
    """A user's rows of the tables `conversations` and `messages`."""

    def __init__(self, database: UserDatabase, index_owner: str | None = None) -> None:
        """`index_owner` is the owner of the indexes that new chats are about, if that is another user."""
        self._database = database
        self._queries = Queries(database, "conversations")
        self._index_owner = index_owner

    def create(
        self, index_id: uuid.UUID, *, title: str, document_ids: Sequence[uuid.UUID] = (), sources: Sequence[str] = ()
    ) -> types.Conversation:
        """Add a chat over an index, or over some of its documents, chosen as `sources` say.

        Raises NotFoundError for an unknown index.
        """
        created = self._queries.change(
            "create_about_shared" if self._index_owner else "create",
            unknown_index(index_id),
            index_id=index_id,
            id=uuid.uuid4(),
            title=title,
            document_ids=[*document_ids],
            sources=[*sources],
            index_owner=self._index_owner,
        )
        return _to_conversation(created)

    def list(self, index_id: uuid.UUID, *, with_lost: bool = False) -> builtins.list[types.Conversation]:
        """Return the chats over an index, pinned ones first, then the latest.

        `with_lost` adds chats over collections that are no longer shared with the user.
        """
        rows = self._queries.all("list", index_id=index_id, with_lost=with_lost, **self._shared(with_lost=with_lost))
        return [_to_conversation(row) for row in rows]

    def search(
        self, index_id: uuid.UUID, words: Sequence[str], *, most: int, with_lost: bool = False
    ) -> builtins.list[types.FoundConversation]:
        """Return chats over an index with all words in the title or in one turn, in the order of `list`."""
        shared = self._shared(with_lost=with_lost)
        rows = self._queries.all("search", index_id=index_id, words=[*words], most=most, with_lost=with_lost, **shared)
        return [
            types.FoundConversation(
                conversation=_to_conversation(row), message_id=row["message_id"], excerpt=row["content"]
            )
            for row in rows
        ]

    def _shared(self, *, with_lost: bool) -> Row:
        """Return the indexes that others share with the user, as parameters; none are asked for without need."""
        return (with_lost and self._queries.one("shared")) or {"owners": [], "shared_ids": []}

    def get(self, conversation_id: uuid.UUID) -> types.Conversation:
        """Return a chat. Raises NotFoundError."""
        return _to_conversation(self._queries.get("get", _unknown(conversation_id), conversation_id=conversation_id))

    def update(self, conversation_id: uuid.UUID, *, title: str | None = None, pinned: bool | None = None) -> None:
        """Rename a chat, or pin it to the top of the list; None changes nothing. Raises NotFoundError."""
        self._write("update", conversation_id, title=title, pinned=pinned)

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Delete a chat and its turns. Raises NotFoundError."""
        self._write("delete", conversation_id)

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> builtins.list[types.ChatMessage]:
        """Return the turns on the chat's current path in order, or the `last` so many. Raises NotFoundError."""
        self.get(conversation_id)
        rows = self._queries.all("messages", conversation_id=conversation_id, last=last)
        return [types.ChatMessage(**row) for row in rows]

    def append(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: types.AnswerResponse | None = None,
        *,
        beside: uuid.UUID | None = None,
    ) -> types.ChatMessage:
        """Add a turn, an assistant's with its whole response: at the end, or as an alternative to the turn `beside`.

        An answer without a response is one that is being written, or broke off: it is not checked, others never see it,
        and it is no history for later questions. Raises NotFoundError if there is no such chat, or in it no such turn
        of the same role.
        """
        with self._database.transaction() as connection:
            parent = self._place(connection, conversation_id, role, beside)
            response_json = _to_json(response) if response else None
            _, row = self._add(connection, conversation_id, parent, role=role, content=content, response=response_json)
            versions = self._queries.run(
                connection, "versions", conversation_id=conversation_id, role=role, parent=parent
            )
            return types.ChatMessage(**row, versions=tuple(version["id"] for version in versions))

    def append_both(
        self,
        conversation_id: uuid.UUID,
        question: str,
        response: types.AnswerResponse,
        *,
        beside: uuid.UUID | None = None,
    ) -> types.ChatMessage:
        """Add a question and its answer, or neither, and return the answer's turn. See `append`."""
        with self._database.transaction() as connection:
            parent = self._place(connection, conversation_id, "user", beside)
            asked, _ = self._add(connection, conversation_id, parent, role="user", content=question, response=None)
            answer = {"role": "assistant", "content": response.answer, "response": _to_json(response)}
            _, row = self._add(connection, conversation_id, asked, **answer)
            return types.ChatMessage(**row, versions=(row["id"],))

    def _place(
        self, connection: Connection, conversation_id: uuid.UUID, role: str, beside: uuid.UUID | None
    ) -> int | None:
        """Lock a chat, and return the number of the turn after which one of `role` comes. Raises NotFoundError."""
        values = {"conversation_id": conversation_id, "role": role, "beside": beside}
        row = self._queries.run(connection, "lock", **values).fetchone()
        if row and beside:
            row = self._queries.run(connection, "beside", **values).fetchone()
        if row is None:
            raise _unknown(conversation_id)
        parent: int | None = row["parent"]
        return parent

    def _add(
        self, connection: Connection, conversation_id: uuid.UUID, parent: int | None, **turn: object
    ) -> tuple[int, Row]:
        """Add a turn to a locked chat, which ends with it; return its number and its row."""
        values = {"id": uuid.uuid4(), "conversation_id": conversation_id, "parent": parent, **turn}
        row = self._queries.run(connection, "append", **values).fetchone() or {}
        number: int = row.pop("number")
        self._queries.run(connection, "end_with", conversation_id=conversation_id, leaf=number)
        return number, row

    def replace_answer(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, answer: types.AnswerResponse | str
    ) -> None:
        """Replace an answer's turn by its response, or by the text of an unfinished answer. Raises NotFoundError."""
        text, response = (answer, None) if isinstance(answer, str) else (answer.answer, _to_json(answer))
        self._write("replace_answer", conversation_id, message_id=message_id, content=text, response=response)

    def choose(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """Continue the chat from a turn instead of its alternatives. Raises NotFoundError."""
        self._write("choose", conversation_id, message_id=message_id)

    def rate(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, rating: types.Rating | None, reason: str | None = None
    ) -> None:
        """Set the user's rating of an answer; None removes it. Raises NotFoundError."""
        self._write("rate", conversation_id, message_id=message_id, rating=rating, reason=reason)

    def lock(self, conversation_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock a chat for the block, and give whether the caller has the lock, which ends with this process."""
        return scheduling.lock(self._database, conversation_id)

    def is_locked(self, conversation_id: uuid.UUID) -> bool:
        """Return whether somebody has the lock of a chat."""
        return bool(self._queries.value("is_locked", conversation_id=conversation_id))

    def _write(self, query: str, conversation_id: uuid.UUID, **values: object) -> Row:
        return self._queries.change(query, _unknown(conversation_id), conversation_id=conversation_id, **values)


def _to_conversation(row: Mapping[str, Any]) -> types.Conversation:
    values = {name: value for name, value in row.items() if name in types.Conversation.model_fields}
    return types.Conversation.model_validate(values)


def _to_json(response: types.AnswerResponse) -> Jsonb:
    return Jsonb(response.model_dump(mode="json", round_trip=True))


def _unknown(conversation_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(
        N_("There is no conversation {id}. List the conversations and check the id."), id=conversation_id
    )


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

    def share(self, conversation_id: uuid.UUID, request: types.LinkRequest) -> types.AnswerLink:
        """Share a conversation, or one of its answers; an existing link to the same recipient is returned.

        Raises NotFoundError.
        """
        values = {"id": uuid.uuid4(), "conversation_id": conversation_id, **request.model_dump()}
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "share", **values).fetchone()
            if row is None:
                raise errors.NotFoundError(
                    N_("There is no such answer. List the conversation's turns and check the ids.")
                )
            is_new = row.pop("is_new")
            link = types.AnswerLink(**row)
            if is_new:
                self._audit(connection, "answer.show", link)
            return link

    def unshare(self, link_id: uuid.UUID) -> bool:
        """Delete a link; False if the user has no such link."""
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "unshare", id=link_id).fetchone()
            if row is None:
                return False
            self._audit(connection, "answer.withdraw", types.AnswerLink(**row))
            return True

    def _audit(self, connection: Connection, action: str, link: types.AnswerLink) -> None:
        subject = audit_log.Subject("conversation", str(link.conversation_id), link.title)
        message_id = str(link.message_id) if link.message_id else None
        details = {"grantee_kind": link.grantee_kind, "grantee": link.grantee, "message_id": message_id}
        audit_log.add_entry(self._database, connection, action, subject, details=details)

    def shared_with_me(self) -> builtins.list[types.SharedAnswer]:
        """Return what others share with the user, the latest first."""
        return [types.SharedAnswer(**row) for row in self._queries.all("shared_with_me")]

    def turns(self, link_id: uuid.UUID) -> Sequence[SharedTurn]:
        """Return the turns that a link to the user shows; none if the link was withdrawn."""
        turns = []
        for row in self._queries.all("turns", id=link_id):
            held_back = row.pop("held_back")
            turns.append(SharedTurn(types.ChatMessage(**row), held_back))
        return turns
