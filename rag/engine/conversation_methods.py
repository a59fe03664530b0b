"""Conversations: chats of one user over one index."""

import uuid
from collections.abc import Sequence
from typing import Literal

from rag.engine.question_methods import QuestionMethods
from rag.types import (
    DEFAULT_INDEX,
    AnswerRequest,
    AnswerResponse,
    ChatMessage,
    Conversation,
    Filters,
    Message,
    RetrievalOptions,
)

HISTORY_MESSAGES = 8
"""Turns before a question that may say what it means."""


class ConversationMethods(QuestionMethods):
    """What can be done with chats."""

    def start_conversation(
        self, title: str, *, index_name: str = DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> Conversation:
        """A new chat over an index, or over some of its documents. Raises NotFoundError if there is no such index."""
        return self._resources.store.conversations.create(
            self.user_id, self._asked(index_name).id, title=title, document_ids=document_ids
        )

    def conversations(self, index_name: str = DEFAULT_INDEX) -> list[Conversation]:
        """This user's chats, the latest first. Raises NotFoundError if there is no such index."""
        return self._resources.store.conversations.list(self.user_id, self._asked(index_name).id)

    def conversation(self, conversation_id: uuid.UUID) -> Conversation:
        """One chat. Raises NotFoundError."""
        return self._resources.store.conversations.get(self.user_id, conversation_id)

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

    def request_in(
        self, conversation_id: uuid.UUID, question: str, document_ids: Sequence[uuid.UUID] | None = None
    ) -> AnswerRequest:
        """A chat's next question with the turns before it, over `document_ids` or else the chat's own documents.

        Raises:
            errors.NotFoundError: there is no such chat.
        """
        conversation = self.conversation(conversation_id)
        earlier = self.messages(conversation_id)[-HISTORY_MESSAGES:]
        scope = conversation.document_ids if document_ids is None else tuple(document_ids)
        return AnswerRequest(
            index_name=str(conversation.index_id),
            question=question,
            history=tuple(Message(role=turn.role, content=turn.content) for turn in earlier),
            retrieval=RetrievalOptions(filters=Filters(document_ids=scope)),
        )

    def ask_in(self, conversation_id: uuid.UUID, question: str) -> ChatMessage:
        """Answer a chat's next question and keep both turns, or neither if it fails. Raises as `answer`."""
        response = self.answer(self.request_in(conversation_id, question))
        self.append_message(conversation_id, "user", question)
        return self.append_message(conversation_id, "assistant", response.answer, response)

    def rename_conversation(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title."""
        self._resources.store.conversations.rename(self.user_id, conversation_id, title)

    def delete_conversation(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns."""
        self._resources.store.conversations.delete(self.user_id, conversation_id)
