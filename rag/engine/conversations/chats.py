"""Chats: one user's conversations over an index."""

import builtins
import itertools
import uuid
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from rag import answering, types
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace

NO_FILTERS = types.Filters()

MAX_FOUND = 50
"""Maximum number of search results."""
EXCERPT_CHARS = 120


class Chats:
    """One user's chats."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

    def start(
        self, title: str, *, index_name: str = types.DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> types.Conversation:
        """Create a chat over an index, or some of its documents.

        Raises ValidationError if the title is empty or too long, NotFoundError if there is no such index.
        """
        title = parse(types.ConversationEdit, {"title": title}).title or ""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.conversations.create(index.id, title=title, document_ids=document_ids)

    def list(self, index_name: str = types.DEFAULT_INDEX) -> list[types.Conversation]:
        """Return the user's chats, pinned ones first, then latest first. Raises NotFoundError for an unknown index.

        Chats over collections that are no longer shared are listed with the default index.
        """
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.conversations.list(index.id, with_lost=index_name == types.DEFAULT_INDEX)

    def search(self, text: str, index_name: str = types.DEFAULT_INDEX) -> builtins.list[types.FoundConversation]:
        """Return chats with all words of `text` in the title or messages, in the order of `list`, at most `MAX_FOUND`.

        Raises NotFoundError if there is no such index.
        """
        words = text.split()
        if not words:
            return []
        index = self._workspace.requested_index(index_name)
        found = self._workspace.store.conversations.search(
            index.id, words, most=MAX_FOUND, with_lost=index_name == types.DEFAULT_INDEX
        )
        return [one.model_copy(update={"excerpt": _excerpt(one.excerpt, words)}) for one in found]

    def get(self, conversation_id: uuid.UUID) -> types.Conversation:
        """Return a chat. Raises NotFoundError."""
        return self._workspace.store.conversations.get(conversation_id)

    def messages(self, conversation_id: uuid.UUID, *, last: int | None = None) -> Sequence[types.ChatMessage]:
        """Return a chat's turns in order, or the `last` ones. Raises NotFoundError.

        If the documents are no longer shared with the user, answers keep their text and quotes, but not the context of
        these.
        """
        conversation = self.get(conversation_id)
        turns = self._workspace.store.conversations.messages(conversation_id, last=last)
        if conversation.index_owner is None or self._workspace.is_shared(conversation.index_id):
            return turns
        return [turn.model_copy(update={"response": turn.response and _only_quotes(turn.response)}) for turn in turns]

    def append(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: types.AnswerResponse | None = None,
        *,
        beside: uuid.UUID | None = None,
    ) -> types.ChatMessage:
        """Save a turn at the end of the chat, or as an alternative `beside` another turn.

        An answer without a response is one that is being written, or broke off: it is not checked, others never see it,
        and it is no history for later questions.

        Raises NotFoundError if there is no such chat, or no such turn of the same role in it.
        """
        return self._workspace.store.conversations.append(
            conversation_id, role=role, content=content, response=response, beside=beside
        )

    def replace_answer(
        self, conversation_id: uuid.UUID, message_id: uuid.UUID, answer: types.AnswerResponse | str
    ) -> None:
        """Replace a saved answer by the checked one, or an unfinished one by more of its text. Raises NotFoundError."""
        self._workspace.store.conversations.replace_answer(conversation_id, message_id, answer)

    def request(
        self,
        conversation_id: uuid.UUID,
        question: str,
        document_ids: Sequence[uuid.UUID] | None = None,
        *,
        filters: types.Filters = NO_FILTERS,
        before: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> types.AnswerRequest:
        """Return the request for a chat's next question, with the latest turns as history.

        `document_ids` replace the chat's own documents, and `filters` narrow them. With `before`, only earlier turns
        count: for a question that replaces that turn. `top_k` and `model` (`provider:model`) override the defaults.
        Raises NotFoundError if there is no such chat.
        """
        conversation = self.get(conversation_id)
        earlier = self._earlier_turns(conversation_id, before)[-answering.CONDENSED_MESSAGES :]
        narrowed = {"top_k": top_k} if top_k else {}
        scope = conversation.document_ids if document_ids is None else tuple(document_ids)
        generation = types.GenerationOptions(model=model)
        return types.AnswerRequest(
            index_name=str(conversation.index_id),
            question=question,
            history=tuple(_history(earlier)),
            retrieval=types.RetrievalOptions(filters=filters.model_copy(update={"document_ids": scope}), **narrowed),
            generation=generation,
            options=self._with_room_for(top_k, generation) if top_k else types.AnswerOptions(),
        )

    def _with_room_for(self, top_k: int, generation: types.GenerationOptions) -> types.AnswerOptions:
        """Return options with more room for sources if more passages than usual are asked for."""
        models = self._workspace.models
        options = models.with_context_budget(types.AnswerOptions(), models.language_model(generation))
        more = max(top_k / types.RetrievalOptions().top_k, 1.0)
        return options.model_copy(update={"max_context_tokens": int((options.max_context_tokens or 0) * more)})

    def _earlier_turns(self, conversation_id: uuid.UUID, turn: uuid.UUID | None) -> Sequence[types.ChatMessage]:
        if turn is None:
            return self.messages(conversation_id, last=answering.CONDENSED_MESSAGES)
        return list(itertools.takewhile(lambda message: message.id != turn, self.messages(conversation_id)))

    def ask(
        self,
        conversation_id: uuid.UUID,
        question: str,
        *,
        filters: types.Filters = NO_FILTERS,
        beside: uuid.UUID | None = None,
        top_k: int | None = None,
        model: str | None = None,
    ) -> types.ChatMessage:
        """Answer a chat's next question and save both turns, or neither if it fails. Raises as `Questions.answer`.

        With `beside`, the question is an alternative to an earlier one, which is kept with all that followed.
        """
        request = self.request(conversation_id, question, filters=filters, before=beside, top_k=top_k, model=model)
        response = self._questions.answer(request)
        return self._workspace.store.conversations.append_both(conversation_id, question, response, beside=beside)

    def choose(self, conversation_id: uuid.UUID, message_id: uuid.UUID) -> None:
        """Continue from a turn instead of its alternatives. Raises NotFoundError."""
        self._workspace.store.conversations.choose(conversation_id, message_id)

    def update(self, conversation_id: uuid.UUID, *, title: str | None = None, pinned: bool | None = None) -> None:
        """Rename a chat, or pin or unpin it; None changes nothing. Raises ValidationError and NotFoundError."""
        changes = parse(types.ConversationEdit, {"title": title, "pinned": pinned})
        self._workspace.store.conversations.update(conversation_id, title=changes.title, pinned=changes.pinned)

    def delete(self, conversation_id: uuid.UUID) -> None:
        """Delete a chat and its turns. Raises NotFoundError."""
        self._workspace.store.conversations.delete(conversation_id)


def _excerpt(text: str, words: Sequence[str]) -> str:
    """Return the text around the first of the words."""
    flowing = " ".join(answering.CITATION_MARK.sub("", text).split())
    found = [place for word in words if (place := flowing.lower().find(word.lower())) >= 0]
    start = max(min(found, default=0) - EXCERPT_CHARS // 4, 0)
    start = flowing.rfind(" ", 0, start) + 1
    excerpt = flowing[start : start + EXCERPT_CHARS]
    return f"{'… ' if start else ''}{excerpt}{' …' if start + EXCERPT_CHARS < len(flowing) else ''}"


def _only_quotes(response: types.AnswerResponse) -> types.AnswerResponse:
    """Remove the text that the answer does not quote from its passages."""
    quoted = {
        own: {line.number for citation in response.citations if citation.citation_id == own for line in citation.lines}
        for own in response.sources
    }
    sources = {own: _only_lines(hit, quoted[own]) for own, hit in response.sources.items()}
    return response.model_copy(update={"sources": sources, "nearest": (), "hint": None, "follow_ups": ()})


def _only_lines(hit: types.Hit, numbers: Collection[int]) -> types.Hit:
    parts = {"chunk": hit.chunk.model_copy(update={"context": "", "section": None}), "passage": hit.passage}
    for name, part in parts.items():
        lines = [line if line.number in numbers else line.model_copy(update={"text": ""}) for line in part.lines]
        parts[name] = part.model_copy(update={"lines": tuple(lines)})
    return hit.model_copy(update=parts)


def _history(turns: Sequence[types.ChatMessage]) -> Iterator[types.Message]:
    """Return the history for the next question: of answers only what is proved, and questions as rules rewrote them.

    A language model reads the original questions.
    """
    for turn, following in itertools.zip_longest(turns, turns[1:]):
        if turn.is_unfinished:
            continue
        answer = following.response if following and turn.role == "user" else None
        meant = answer.question if answer and answer.model == answering.EXTRACTIVE_MODEL else None
        content_shown = answering.drop_unproved(turn.response).answer if turn.response else turn.content
        yield types.Message(role=turn.role, content=(meant or content_shown)[: types.MAX_TURN_CHARS])
