"""Chats: conversations of one user over one index."""

import itertools
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from rag import answering
from rag.engine.questions import Questions
from rag.engine.versions import Versions
from rag.engine.workspace import Workspace
from rag.types import (
    DEFAULT_INDEX,
    AnswerRequest,
    AnswerResponse,
    ChatMessage,
    Conversation,
    Filters,
    Hit,
    LaterPlace,
    Message,
    RetrievalOptions,
)

EVERYTHING = Filters()


class Chats:
    """One user's chats."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions
        self._versions = Versions(workspace)

    def start(
        self, title: str, *, index_name: str = DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> Conversation:
        """A new chat over an index, or over some of its documents. Raises NotFoundError if there is no such index."""
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.conversations.create(index.id, title=title, document_ids=document_ids)

    def list(self, index_name: str = DEFAULT_INDEX) -> list[Conversation]:
        """This user's chats, the latest first. Raises NotFoundError if there is no such index.

        Those about what is not shared with them any more are listed with the default index.
        """
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.conversations.list(index.id, with_lost=index_name == DEFAULT_INDEX)

    def get(self, conversation_id: uuid.UUID) -> Conversation:
        """One chat. Raises NotFoundError."""
        return self._workspace.store.conversations.get(conversation_id)

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> Sequence[ChatMessage]:
        """A chat's turns in order, or the `last` so many. Raises NotFoundError.

        Where the documents are not shared with the user any more, answers keep what they say and quote, and nothing of
        the passages around that.
        """
        conversation = self.get(conversation_id)
        turns = self._workspace.store.conversations.messages(conversation_id, last=last)
        if conversation.index_owner is None or self._workspace.is_shared(conversation.index_id):
            return turns
        return [turn.model_copy(update={"response": turn.response and _quotes_alone(turn.response)}) for turn in turns]

    def later_places(self, messages: Sequence[ChatMessage]) -> Mapping[uuid.UUID, Mapping[int, LaterPlace]]:
        """What became of what kept answers quote in later versions, by the turn's id and the citation's number."""
        answers = {message.id: message.response for message in messages if message.response}
        return dict(zip(answers, self._versions.later_places([*answers.values()]), strict=True))

    def append(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: AnswerResponse | None = None,
    ) -> ChatMessage:
        """Keep a turn. Raises NotFoundError."""
        return self._workspace.store.conversations.append(
            conversation_id, role=role, content=content, response=response
        )

    def request(
        self,
        conversation_id: uuid.UUID,
        question: str,
        document_ids: Sequence[uuid.UUID] | None = None,
        *,
        filters: Filters = EVERYTHING,
    ) -> AnswerRequest:
        """A chat's next question with the last turns before it, over `document_ids` or else the chat's own documents.

        Of these, those that `filters` let through.

        Raises:
            errors.NotFoundError: there is no such chat.
        """
        conversation = self.get(conversation_id)
        earlier = self.messages(conversation_id, last=answering.CONDENSED_MESSAGES)
        scope = conversation.document_ids if document_ids is None else tuple(document_ids)
        return AnswerRequest(
            index_name=str(conversation.index_id),
            question=question,
            history=tuple(_as_understood(earlier)),
            retrieval=RetrievalOptions(filters=filters.model_copy(update={"document_ids": scope})),
        )

    def ask(self, conversation_id: uuid.UUID, question: str, *, filters: Filters = EVERYTHING) -> ChatMessage:
        """Answer a chat's next question and keep both turns, or neither if it fails. Raises as `Questions.answer`."""
        response = self._questions.answer(self.request(conversation_id, question, filters=filters))
        return self._workspace.store.conversations.append_both(conversation_id, question, response)

    def rename(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title. Raises NotFoundError."""
        self._workspace.store.conversations.rename(conversation_id, title)

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns. Raises NotFoundError."""
        self._workspace.store.conversations.delete(conversation_id)


def _quotes_alone(response: AnswerResponse) -> AnswerResponse:
    """An answer without the text of its passages that it does not quote."""
    quoted = {
        own: {line.number for citation in response.citations if citation.citation_id == own for line in citation.lines}
        for own in response.sources
    }
    sources = {own: _lines_alone(hit, quoted[own]) for own, hit in response.sources.items()}
    return response.model_copy(update={"sources": sources, "nearest": (), "hint": None})


def _lines_alone(hit: Hit, numbers: Collection[int]) -> Hit:
    parts = {"chunk": hit.chunk.model_copy(update={"context": "", "section": None}), "passage": hit.passage}
    for name, part in parts.items():
        lines = [line if line.number in numbers else line.model_copy(update={"text": ""}) for line in part.lines]
        parts[name] = part.model_copy(update={"lines": tuple(lines)})
    return hit.model_copy(update=parts)


def _as_understood(turns: Sequence[ChatMessage]) -> Iterator[Message]:
    """What the next question is understood by: of answers only what is proved, and questions as rules understood them.

    A model reads the questions themselves.
    """
    for turn, following in itertools.zip_longest(turns, turns[1:]):
        answer = following.response if following and turn.role == "user" else None
        meant = answer.question if answer and answer.model == answering.EXTRACTIVE_MODEL else None
        said = answering.proved(turn.response).answer if turn.response else turn.content
        yield Message(role=turn.role, content=meant or said)
