"""Conversations: chats of one user over one index."""

import uuid
from collections.abc import Sequence
from typing import Literal

from rag.engine.base import EngineBase
from rag.engine.folders import DEFAULT_INDEX
from rag.types import AnswerResponse, ChatMessage, Conversation


class ConversationMethods(EngineBase):
    """What can be done with chats."""

    def start_conversation(
        self, title: str, *, index_name: str = DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> Conversation:
        """A new chat over an index, or over some of its documents."""
        return self._resources.store.conversations.create(
            self.user_id, self.index(index_name).id, title=title, document_ids=document_ids
        )

    def conversations(self, index_name: str = DEFAULT_INDEX) -> list[Conversation]:
        """This user's chats, the latest first."""
        return self._resources.store.conversations.list(self.user_id, self.index(index_name).id)

    def messages(self, conversation_id: uuid.UUID) -> list[ChatMessage]:
        """A chat's turns in order."""
        return self._resources.store.conversations.messages(self.user_id, conversation_id)

    def append_message(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: AnswerResponse | None = None,
    ) -> ChatMessage:
        """Keep a turn."""
        return self._resources.store.conversations.append(
            self.user_id, conversation_id, role=role, content=content, response=response
        )

    def rename_conversation(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title."""
        self._resources.store.conversations.rename(self.user_id, conversation_id, title)

    def delete_conversation(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns."""
        self._resources.store.conversations.delete(self.user_id, conversation_id)
