"""Chats and their turns."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from psycopg.types.json import Jsonb

from rag import errors
from rag.store import queries
from rag.store.database import UserDatabase
from rag.types import AnswerResponse, ChatMessage, Conversation


class Conversations:
    """A user's rows of the tables `conversations` and `messages`."""

    def __init__(self, database: UserDatabase, index_owner: str | None = None) -> None:
        """`index_owner` is who owns the indexes that new ones are about, if that is another user."""
        self._database = database
        self._queries = queries.load("conversations")
        self._index_owner = index_owner

    def create(self, index_id: uuid.UUID, *, title: str, document_ids: Sequence[uuid.UUID] = ()) -> Conversation:
        """A new chat over an index, or over some of its documents. Raises NotFoundError for an unknown index."""
        parameters = {
            "index_id": index_id,
            "id": uuid.uuid4(),
            "title": title,
            "document_ids": [*document_ids],
            "index_owner": self._index_owner,
        }
        created = self._database.write(self._queries["create"], parameters)
        if not created:
            raise errors.NotFoundError(f"There is no index {index_id}. List the indexes and check the id.")
        return _to_conversation(created[0])

    def list(self, index_id: uuid.UUID, *, with_lost: bool = False) -> builtins.list[Conversation]:
        """The chats over an index, the latest first; `with_lost` also those over what is not shared any more."""
        rows = self._database.all(self._queries["list"], {"index_id": index_id, "with_lost": with_lost})
        return [_to_conversation(row) for row in rows]

    def get(self, conversation_id: uuid.UUID) -> Conversation:
        """One chat. Raises NotFoundError."""
        parameters = {"conversation_id": conversation_id}
        row = self._database.one(self._queries["get"], parameters)
        if row is None:
            raise _unknown(conversation_id)
        return _to_conversation(row)

    def rename(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title. Raises NotFoundError."""
        self._touch("rename", conversation_id, {"title": title})

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns. Raises NotFoundError."""
        self._touch("delete", conversation_id, {})

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> builtins.list[ChatMessage]:
        """The turns of a chat in order, or the `last` so many. Raises NotFoundError."""
        self.get(conversation_id)
        parameters = {"conversation_id": conversation_id, "last": last}
        return [_to_message(row) for row in self._database.all(self._queries["messages"], parameters)]

    def append(
        self,
        conversation_id: uuid.UUID,
        *,
        role: Literal["user", "assistant"],
        content: str,
        response: AnswerResponse | None = None,
    ) -> ChatMessage:
        """Keep a turn, an assistant's with its whole response. Raises NotFoundError."""
        row = self._touch(
            "append",
            conversation_id,
            {
                "id": uuid.uuid4(),
                "role": role,
                "content": content,
                "response": _to_json(response) if response else None,
            },
        )
        return _to_message(row)

    def append_both(self, conversation_id: uuid.UUID, question: str, response: AnswerResponse) -> ChatMessage:
        """Keep a question and its answer, or neither; returns the answer's turn. Raises NotFoundError."""
        return _to_message(
            self._touch(
                "append_both",
                conversation_id,
                {
                    "question_id": uuid.uuid4(),
                    "question": question,
                    "id": uuid.uuid4(),
                    "content": response.answer,
                    "response": _to_json(response),
                },
            )
        )

    def _touch(self, query: str, conversation_id: uuid.UUID, parameters: Mapping[str, object]) -> Mapping[str, Any]:
        touched = self._database.write(self._queries[query], {"conversation_id": conversation_id, **parameters})
        if not touched:
            raise _unknown(conversation_id)
        return touched[0]


def _to_conversation(row: Mapping[str, Any]) -> Conversation:
    kept = {name: value for name, value in row.items() if name != "own_index_id"}
    return Conversation.model_validate({**kept, "document_ids": tuple(row["document_ids"])})


def _to_json(response: AnswerResponse) -> Jsonb:
    return Jsonb(response.model_dump(mode="json", round_trip=True))


def _to_message(row: Mapping[str, Any]) -> ChatMessage:
    return ChatMessage.model_validate(dict(row))


def _unknown(conversation_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(f"There is no conversation {conversation_id}. List the conversations and check the id.")
