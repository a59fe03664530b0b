"""Understand a question: complete it from the conversation, and find the documents that it asks."""

import functools
import itertools
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag import providers, retrieval, tracing, types
from rag.answering.conversation.followups import condense, refers_back
from rag.answering.conversation.search_plan import (
    MAX_LISTED,
    PLAN_TOKENS,
    SearchPlan,
    chosen_documents,
    plan_searches,
)
from rag.answering.conversation.suggested_questions import in_document, may_name_document, without_document
from rag.answering.extraction.quoted_answer import asks_of_each
from rag.answering.generation.context import default_budget
from rag.engine.library import saved_filters
from rag.engine.questions.composite_answers import Side
from rag.engine.questions.document_mentions import aliases, find_mentions
from rag.engine.questions.search import Restricted, all_fit, restrict_to_named
from rag.engine.request_parsing import request_key_errors, restrict_to_documents
from rag.engine.workspace import Workspace

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM


@dataclass(frozen=True, slots=True)
class UnderstoodQuestion:
    """A question as it is searched for: it needs no conversation, and asks only the documents that it means.

    `complete` still has the name of a document at its end, which `request` has as a filter. `passage_text` is what
    passages are searched for. `unnamed` is the question without the names of its documents, which no sentence of theirs
    may say. `searches` are those that a language model planned, each in some documents. `elsewhere` is the request to
    make if these documents do not answer, where only an earlier question named them.
    """

    request: types.AnswerRequest
    complete: str
    passage_text: str
    unnamed: str
    named: Mapping[uuid.UUID, str]
    is_rewritten: bool = False
    searches: Sequence[Side] = ()
    elsewhere: types.AnswerRequest | None = None

    @property
    def rewritten(self) -> str | None:
        """The complete question, if it is not as the user wrote it."""
        return self.complete if self.is_rewritten else None


class Understanding:
    """Understands one user's question to an index."""

    def __init__(
        self, workspace: Workspace, index: types.Index, request: types.AnswerRequest, spent: list[types.Usage]
    ) -> None:
        """What requests to a language model use is added to `spent`."""
        self._workspace = workspace
        self._index = index
        self._request = request
        self._spent = spent

    @functools.cached_property
    def documents(self) -> list[types.DocumentNames]:
        """The searchable documents that the request asks, before it is restricted to those that its question names."""
        filters = saved_filters.resolve_saved_filter(self._workspace.store, self._request).retrieval.filters
        return self._workspace.store.documents.subjects(types.Scope(index_id=self._index.id, filters=filters))

    def understand(self, llm: "LLM | None") -> UnderstoodQuestion:
        """Complete a follow-up question by `llm` or by rules, and ask only the documents that it means.

        Raises:
            errors.ProviderError: the language model refuses or is down.
        """
        request = self._request
        with request_key_errors(request.generation.auth), tracing.span("condense", turns=len(request.history)):
            plan = self._plan(llm) if llm else None
            if plan is not None:
                question = plan.question if plan.question and request.history else request.question
            elif request.history and llm is None:
                question = self._completed_by_rules()
            else:
                completions = retrieval.Completions(llm, None, self._spent) if llm else None
                question = condense(request.question, request.history, completions)
        complete, is_rewritten = question, question != request.question
        request = request.model_copy(update={"question": question})
        if may_name_document(question):
            question, name = without_document(question, {document.name for document in self.documents})
            if name is not None:
                named = [document.id for document in self.documents if document.name == name]
                request = restrict_to_documents(request.model_copy(update={"question": question}), named)
        restricted = restrict_to_named(self._workspace, self._index, request, question)
        if plan is not None:
            return self._as_planned(plan, restricted, complete, is_rewritten)
        if not restricted.named and llm is None and not asks_of_each(question):
            before = self._restricted_as_before(request, complete, is_rewritten)
            if before is not None:
                return before
        request, passage_text, documents = restricted
        return UnderstoodQuestion(request, complete, passage_text, passage_text, documents, is_rewritten)

    # --- the plan of a language model ---

    def _plan(self, llm: "LLM") -> SearchPlan | None:
        """Return what the model plans to search for; None of a small model, and where all will be read anyway."""
        request = self._request
        if providers.is_small(llm) or not request.options.plan_searches or not request.retrieval.routing:
            return None
        budget = request.options.max_context_tokens or default_budget(llm)
        if not request.history and all_fit(self._workspace, self._index, request, budget):
            return None
        generation = request.generation.model_copy(update={"temperature": 0.0, "max_output_tokens": PLAN_TOKENS})
        memory = self._workspace.store.caches if request.options.use_cache else None
        completions = retrieval.Completions(
            self._workspace.models.language_model(generation) or llm, memory, self._spent
        )
        return plan_searches(request.question, request.history, self._listed, completions)

    @functools.cached_property
    def _listed(self) -> list[types.DocumentNames]:
        """The documents that a model chooses from: of many, those that the conversation names come first."""
        if len(self.documents) <= MAX_LISTED:  # always in the same order, which vendors' caches of prompts need
            return self.documents
        request = self._request
        asked = (request.question, *(turn.content for turn in reversed(request.history) if turn.role == "user"))
        mentions = itertools.chain(*(find_mentions(text, self.documents) for text in asked))
        named = itertools.chain(*(mention.documents for mention in mentions))
        return [*dict.fromkeys([*named, *self.documents])]

    def _as_planned(
        self, plan: SearchPlan, restricted: Restricted[types.AnswerRequest], complete: str, is_rewritten: bool
    ) -> UnderstoodQuestion:
        """Return the question with the planned searches, in the documents that the plan or else the question names."""
        request = restricted.request
        allowed = {*request.retrieval.filters.document_ids}
        own = [one for one in self.documents if one.id in restricted.named]
        searches = []
        for search in plan.searches:
            chosen = chosen_documents(search, self._listed)
            if search.documents and not chosen:  # of no document, which is not the same as of all
                continue
            if len(allowed) == 1:  # the document that the question names at its end
                chosen = tuple(one for one in chosen if one.id in allowed)
            searches.append(Side("", chosen or tuple(own), search.text))
        asked = {document.id: document.name for search in searches for document in search.documents}
        named = restricted.named
        if searches and all(search.documents for search in searches) and len(asked) < len(self._listed):
            request, named = restrict_to_documents(request, asked), asked
        text = searches[0].question if len(searches) == 1 else restricted.passage_text
        return UnderstoodQuestion(
            request=request,
            complete=complete,
            passage_text=text,
            unnamed=request.question,
            named=named,
            is_rewritten=is_rewritten,
            searches=searches,
        )

    def _restricted_as_before(
        self, request: types.AnswerRequest, complete: str, is_rewritten: bool
    ) -> UnderstoodQuestion | None:
        """Restrict a follow-up question to the documents that the last question with names names; None without one.

        What a question leaves to the one before, such as "they", is searched for with the words of that one.
        """
        question = request.question
        earlier = (turn.content for turn in reversed(request.history) if turn.role == "user")
        naming = (text for text in earlier if any(one.is_certain for one in find_mentions(text, self.documents)))
        before = restrict_to_named(self._workspace, self._index, request, next(naming, ""))
        if not before.named:
            return None
        return UnderstoodQuestion(
            request=before.request,
            complete=complete,
            passage_text=question if is_rewritten else f"{question} {before.passage_text}",
            unnamed=question,
            named=before.named,
            is_rewritten=is_rewritten,
            elsewhere=None if refers_back(self._request.question) else request.model_copy(update={"history": ()}),
        )

    def _completed_by_rules(self) -> str:
        """Complete a follow-up question by rules; it asks the document that the question before named at its end."""
        question = self._request.question
        names = {" ".join(alias) for document in self.documents for alias in aliases(document) if len(alias) <= 3}
        history, last_document = list[types.Message](), None
        for turn in (turn for turn in self._request.history if turn.role == "user"):
            text, last_document = without_document(turn.content, {document.name for document in self.documents})
            history.append(turn.model_copy(update={"content": text}))
        completed = condense(question, history, None, sorted(names))
        if last_document and completed != question:
            return in_document(completed, last_document)
        return completed
