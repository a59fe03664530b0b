"""Chats and their turns."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import AnswerResponse, ChatMessage, Conversation, FoundConversation, Rating


class Conversations:
    """A user's rows of the tables `conversations` and `messages`."""

    def __init__(self, database: UserDatabase, index_owner: str | None = None) -> None:
        """`index_owner` is who owns the indexes that new ones are about, if that is another user."""
        self._database = database
        self._queries = named_queries.load("conversations")
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
        """The chats over an index, pinned ones, then the latest first; `with_lost` also over what is not shared now."""
        rows = self._database.all(self._queries["list"], {"index_id": index_id, "with_lost": with_lost})
        return [_to_conversation(row) for row in rows]

    def search(
        self, index_id: uuid.UUID, words: Sequence[str], *, most: int, with_lost: bool = False
    ) -> builtins.list[FoundConversation]:
        """The chats over an index with all of the words, in the title or in one turn; in the order of `list`."""
        parameters = {"index_id": index_id, "words": [*words], "most": most, "with_lost": with_lost}
        return [_to_found(row) for row in self._database.all(self._queries["search"], parameters)]

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

    def pin(self, conversation_id: uuid.UUID, *, pinned: bool) -> None:
        """Keep a chat at the top of the list, or no longer. Raises NotFoundError."""
        self._touch("pin", conversation_id, {"pinned": pinned})

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns. Raises NotFoundError."""
        self._touch("delete", conversation_id, {})

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> builtins.list[ChatMessage]:
        """The turns of a chat that lead to its end, in order, or the `last` so many. Raises NotFoundError."""
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
        beside: uuid.UUID | None = None,
    ) -> ChatMessage:
        """Keep a turn, an assistant's with its whole response: at the end, or in the place of the turn `beside` it.

        Raises:
            errors.NotFoundError: there is no such chat, or in it no such turn of the same role.
        """
        row = self._touch(
            "append",
            conversation_id,
            {
                "id": uuid.uuid4(),
                "role": role,
                "content": content,
                "response": _to_json(response) if response else None,
                "beside": beside,
            },
        )
        return _to_message(row)

    def append_both(
        self, conversation_id: uuid.UUID, question: str, response: AnswerResponse, *, beside: uuid.UUID | None = None
    ) -> ChatMessage:
        """Keep a question and its answer, or neither; returns the answer's turn. See `append`."""
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
                    "beside": beside,
                },
            )
        )

    def choose(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """Go on from a turn in the place of those beside it. Raises NotFoundError."""
        self._touch("choose", conversation_id, {"message_id": message_id})

    def rate(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, rating: Rating | None, reason: str | None = None
    ) -> None:
        """Keep what somebody thinks of an answer, None for nothing. Raises NotFoundError."""
        self._touch("rate", conversation_id, {"message_id": message_id, "rating": rating, "reason": reason})

    def _touch(self, query: str, conversation_id: uuid.UUID, parameters: Mapping[str, object]) -> Mapping[str, Any]:
        touched = self._database.write(self._queries[query], {"conversation_id": conversation_id, **parameters})
        if not touched:
            raise _unknown(conversation_id)
        return touched[0]


def _to_conversation(row: Mapping[str, Any]) -> Conversation:
    kept = {name: value for name, value in row.items() if name in Conversation.model_fields}
    return Conversation.model_validate({**kept, "document_ids": tuple(row["document_ids"])})


def _to_found(row: Mapping[str, Any]) -> FoundConversation:
    return FoundConversation(conversation=_to_conversation(row), message_id=row["message_id"], excerpt=row["content"])


def _to_json(response: AnswerResponse) -> Jsonb:
    return Jsonb(response.model_dump(mode="json", round_trip=True))


def _to_message(row: Mapping[str, Any]) -> ChatMessage:
    return ChatMessage.model_validate({**row, "versions": tuple(row["versions"])})


def _unknown(conversation_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(f"There is no conversation {conversation_id}. List the conversations and check the id.")
