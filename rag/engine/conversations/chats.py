"""Chats: conversations of one user over one index."""

import builtins
import itertools
import uuid
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from rag import answering
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Workspace
from rag.types import (
    DEFAULT_INDEX,
    AnswerOptions,
    AnswerRequest,
    AnswerResponse,
    ChatMessage,
    Conversation,
    Filters,
    FoundConversation,
    GenerationOptions,
    Hit,
    Message,
    RetrievalOptions,
)

EVERYTHING = Filters()

MOST_FOUND = 50
"""Chats that a search gives."""
EXCERPT_CHARS = 120


class Chats:
    """One user's chats."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

    def start(
        self, title: str, *, index_name: str = DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> Conversation:
        """A new chat over an index, or over some of its documents. Raises NotFoundError if there is no such index."""
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.conversations.create(index.id, title=title, document_ids=document_ids)

    def list(self, index_name: str = DEFAULT_INDEX) -> list[Conversation]:
        """This user's chats, pinned ones and then the latest first. Raises NotFoundError if there is no such index.

        Those about what is not shared with them any more are listed with the default index.
        """
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.conversations.list(index.id, with_lost=index_name == DEFAULT_INDEX)

    def search(self, text: str, index_name: str = DEFAULT_INDEX) -> builtins.list[FoundConversation]:
        """This user's chats over an index that have all words of `text` in their title, or in a question or answer.

        In the order of `list`, at most `MOST_FOUND`; none without a word. Raises NotFoundError if there is no index.
        """
        words = text.split()
        if not words:
            return []
        index = self._workspace.asked_index(index_name)
        found = self._workspace.store.conversations.search(
            index.id, words, most=MOST_FOUND, with_lost=index_name == DEFAULT_INDEX
        )
        return [one.model_copy(update={"excerpt": _excerpt(one.excerpt, words)}) for one in found]

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

    def append(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: AnswerResponse | None = None,
        *,
        beside: uuid.UUID | None = None,
    ) -> ChatMessage:
        """Keep a turn, at the end of the chat or in the place of a turn `beside` it, which is kept, too.

        Raises:
            errors.NotFoundError: there is no such chat, or in it no such turn of the same role.
        """
        return self._workspace.store.conversations.append(
            conversation_id, role=role, content=content, response=response, beside=beside
        )

    def request(
        self,
        conversation_id: uuid.UUID,
        question: str,
        document_ids: Sequence[uuid.UUID] | None = None,
        *,
        filters: Filters = EVERYTHING,
        before: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> AnswerRequest:
        """A chat's next question with the last turns before it, over `document_ids` or else the chat's own documents.

        Of these, those that `filters` let through. The last turns are those `before` a turn, if one is named: for a
        question that takes its place. `top_k` and `model` (`provider:model`) are the usual ones unless they are given.

        Raises:
            errors.NotFoundError: there is no such chat.
        """
        conversation = self.get(conversation_id)
        earlier = self._before(conversation_id, before)[-answering.CONDENSED_MESSAGES :]
        narrowed = {"top_k": top_k} if top_k else {}
        usual = AnswerOptions()
        more = max((top_k or 0) / RetrievalOptions().top_k, 1.0)
        scope = conversation.document_ids if document_ids is None else tuple(document_ids)
        return AnswerRequest(
            index_name=str(conversation.index_id),
            question=question,
            history=tuple(_as_understood(earlier)),
            retrieval=RetrievalOptions(filters=filters.model_copy(update={"document_ids": scope}), **narrowed),
            generation=GenerationOptions(model=model),
            options=usual.model_copy(update={"max_context_tokens": int(usual.max_context_tokens * more)}),
        )

    def _before(self, conversation_id: uuid.UUID, turn: uuid.UUID | None) -> Sequence[ChatMessage]:
        if turn is None:
            return self.messages(conversation_id, last=answering.CONDENSED_MESSAGES)
        return list(itertools.takewhile(lambda message: message.id != turn, self.messages(conversation_id)))

    def ask(
        self,
        conversation_id: uuid.UUID,
        question: str,
        *,
        filters: Filters = EVERYTHING,
        beside: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> ChatMessage:
        """Answer a chat's next question and keep both turns, or neither if it fails. Raises as `Questions.answer`.

        With `beside` it takes the place of a question that was asked before, which is kept with all that followed.
        """
        request = self.request(conversation_id, question, filters=filters, before=beside, top_k=top_k, model=model)
        response = self._questions.answer(request)
        return self._workspace.store.conversations.append_both(conversation_id, question, response, beside=beside)

    def choose(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """Go on from a turn in the place of those beside it. Raises NotFoundError."""
        self._workspace.store.conversations.choose(conversation_id, message_id)

    def pin(self, conversation_id: uuid.UUID, *, pinned: bool = True) -> None:
        """Keep a chat at the top of the list, or no longer. Raises NotFoundError."""
        self._workspace.store.conversations.pin(conversation_id, pinned=pinned)

    def rename(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title. Raises NotFoundError."""
        self._workspace.store.conversations.rename(conversation_id, title)

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns. Raises NotFoundError."""
        self._workspace.store.conversations.delete(conversation_id)


def _excerpt(text: str, words: Sequence[str]) -> str:
    """What stands around the first of the words."""
    flowing = " ".join(answering.CITATION_MARK.sub("", text).split())
    found = [place for word in words if (place := flowing.lower().find(word.lower())) >= 0]
    start = max(min(found, default=0) - EXCERPT_CHARS // 4, 0)
    start = flowing.rfind(" ", 0, start) + 1
    excerpt = flowing[start : start + EXCERPT_CHARS]
    return f"{'… ' if start else ''}{excerpt}{' …' if start + EXCERPT_CHARS < len(flowing) else ''}"


def _quotes_alone(response: AnswerResponse) -> AnswerResponse:
    """An answer without the text of its passages that it does not quote."""
    quoted = {
        own: {line.number for citation in response.citations if citation.citation_id == own for line in citation.lines}
        for own in response.sources
    }
    sources = {own: _lines_alone(hit, quoted[own]) for own, hit in response.sources.items()}
    return response.model_copy(update={"sources": sources, "nearest": (), "hint": None, "follow_ups": ()})


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
        said = answering.drop_struck(turn.response).answer if turn.response else turn.content
        yield Message(role=turn.role, content=meant or said)
