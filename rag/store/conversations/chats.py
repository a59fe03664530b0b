"""Chats and their turns."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Queries, Row, UserDatabase


class Conversations:
    """A user's rows of the tables `conversations` and `messages`."""

    def __init__(self, database: UserDatabase, index_owner: str | None = None) -> None:
        """`index_owner` is the owner of the indexes that new chats are about, if that is another user."""
        self._queries = Queries(database, "conversations")
        self._index_owner = index_owner

    def create(self, index_id: uuid.UUID, *, title: str, document_ids: Sequence[uuid.UUID] = ()) -> types.Conversation:
        """Add a chat over an index, or over some of its documents. Raises NotFoundError for an unknown index."""
        created = self._queries.write(
            "create",
            index_id=index_id,
            id=uuid.uuid4(),
            title=title,
            document_ids=[*document_ids],
            index_owner=self._index_owner,
        )
        if not created:
            raise errors.NotFoundError(N_("There is no index {id}. List the indexes and check the id."), id=index_id)
        return _to_conversation(created[0])

    def list(self, index_id: uuid.UUID, *, with_lost: bool = False) -> builtins.list[types.Conversation]:
        """Return the chats over an index, pinned ones first, then the latest.

        `with_lost` adds chats over collections that are no longer shared with the user.
        """
        return [_to_conversation(row) for row in self._queries.all("list", index_id=index_id, with_lost=with_lost)]

    def search(
        self, index_id: uuid.UUID, words: Sequence[str], *, most: int, with_lost: bool = False
    ) -> builtins.list[types.FoundConversation]:
        """Return chats over an index with all words in the title or in one turn, in the order of `list`."""
        rows = self._queries.all("search", index_id=index_id, words=[*words], most=most, with_lost=with_lost)
        return [
            types.FoundConversation(
                conversation=_to_conversation(row), message_id=row["message_id"], excerpt=row["content"]
            )
            for row in rows
        ]

    def get(self, conversation_id: uuid.UUID) -> types.Conversation:
        """Return a chat. Raises NotFoundError."""
        row = self._queries.one("get", conversation_id=conversation_id)
        if row is None:
            raise _unknown(conversation_id)
        return _to_conversation(row)

    def update(self, conversation_id: uuid.UUID, *, title: str | None = None, pinned: bool | None = None) -> None:
        """Rename a chat, or pin it to the top of the list; None changes nothing. Raises NotFoundError."""
        self._write("update", conversation_id, title=title, pinned=pinned)

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Delete a chat and its turns. Raises NotFoundError."""
        self._write("delete", conversation_id)

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> builtins.list[types.ChatMessage]:
        """Return the turns on the chat's current path in order, or the `last` so many. Raises NotFoundError."""
        self.get(conversation_id)
        return [_to_message(row) for row in self._queries.all("messages", conversation_id=conversation_id, last=last)]

    def append(
        self,
        conversation_id: uuid.UUID,
        *,
        role: Literal["user", "assistant"],
        content: str,
        response: types.AnswerResponse | None = None,
        beside: uuid.UUID | None = None,
    ) -> types.ChatMessage:
        """Add a turn, an assistant's with its whole response: at the end, or as an alternative to the turn `beside`.

        Raises:
            errors.NotFoundError: there is no such chat, or in it no such turn of the same role.
        """
        values = {"id": uuid.uuid4(), "role": role, "content": content, "beside": beside}
        return _to_message(
            self._write("append", conversation_id, **values, response=_to_json(response) if response else None)
        )

    def append_both(
        self,
        conversation_id: uuid.UUID,
        question: str,
        response: types.AnswerResponse,
        *,
        beside: uuid.UUID | None = None,
    ) -> types.ChatMessage:
        """Add a question and its answer, or neither, and return the answer's turn. See `append`."""
        row = self._write(
            "append_both",
            conversation_id,
            question_id=uuid.uuid4(),
            question=question,
            id=uuid.uuid4(),
            content=response.answer,
            response=_to_json(response),
            beside=beside,
        )
        return _to_message(row)

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

    def _write(self, query: str, conversation_id: uuid.UUID, **values: object) -> Row:
        rows = self._queries.write(query, conversation_id=conversation_id, **values)
        if not rows:
            raise _unknown(conversation_id)
        return rows[0]


def _to_conversation(row: Mapping[str, Any]) -> types.Conversation:
    values = {name: value for name, value in row.items() if name in types.Conversation.model_fields}
    return types.Conversation.model_validate({**values, "document_ids": tuple(row["document_ids"])})


def _to_json(response: types.AnswerResponse) -> Jsonb:
    return Jsonb(response.model_dump(mode="json", round_trip=True))


def _to_message(row: Mapping[str, Any]) -> types.ChatMessage:
    return types.ChatMessage.model_validate({**row, "versions": tuple(row["versions"])})


def _unknown(conversation_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(
        N_("There is no conversation {id}. List the conversations and check the id."), id=conversation_id
    )
