"""Search, answer questions, and explain results."""

import contextlib
import functools
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag import answering, errors, providers, retrieval, tracing
from rag.answering.conversation import suggested_questions
from rag.answering.conversation.page_notes import page_note
from rag.engine.conversations.provenance import with_provenance
from rag.engine.library import saved_filters
from rag.engine.questions.ambiguity import WhichDocument
from rag.engine.questions.composite_answers import CompositeAnswers, single_answer, with_retrieval_summary
from rag.engine.questions.explanation import Explainer
from rag.engine.questions.query_pipeline import QueryPipeline
from rag.engine.questions.suggestions import Suggestions
from rag.engine.questions.whole_documents import WholeDocuments
from rag.engine.request_parsing import parse, request_key_errors, restrict_to_document, with_request_key_errors
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import detect
from rag.types import (
    AnswerEvent,
    AnswerRequest,
    AnswerResponse,
    Document,
    DocumentQuery,
    Explanation,
    GenerationOptions,
    Hit,
    Index,
    RetrievalSummary,
    SearchRequest,
    SearchResponse,
    with_changed_answer,
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

QUESTION_TOP_K = 5
"""`top_k` of a bare question."""


class Questions:
    """Search and question answering for one user."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def search(self, request: SearchRequest | Mapping[str, Any]) -> SearchResponse:
        """Return the passages that match a query, best first.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: the embedding provider rejects the request's own key.
            errors.ProviderError: that provider refuses or is down.
        """
        request = parse(SearchRequest, request)
        with request_key_errors(request.auth), tracing.span("search") as step:
            found = self._pipeline(request).search(request.query)
            step.add(top_k=found.top_k, mode=found.mode, returned=len(found.results))
            return found

    def answer(
        self, request: AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> AnswerResponse:
        """Answer a question from the documents, with citations; `contexts` of the answer are the cited hits.

        A bare question is answered from the best five passages of the default index. `document_id` narrows the search.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: a provider rejects the request's own key.
            errors.ProviderError: a provider refuses or is down.
            errors.GroundingError: a quoted document can no longer be read, or the answer broke off.
        """
        if isinstance(request, str):
            request = {"question": request, "retrieval": {"top_k": QUESTION_TOP_K}}
        parsed = parse(AnswerRequest, request)
        return answering.final_answer(self.stream(restrict_to_document(parsed, document_id) if document_id else parsed))

    def stream(
        self, request: AnswerRequest | Mapping[str, Any], stop: answering.Stop = answering.never_stop
    ) -> Generator[AnswerEvent, None, None]:
        """Yield tokens of the answer, then the checked answer, which replaces them. Raises as `answer`.

        While a language model judges sentences by meaning, the stage "judging" has the answer with the other verdicts.
        When `stop` returns True, writing ends; the answer is what was written so far, marked as `stopped`.
        """
        parsed = parse(AnswerRequest, request)
        return tracing.streaming("question", lambda: self._answer_events(parsed, stop))

    def _answer_events(self, request: AnswerRequest, stop: answering.Stop) -> Generator[AnswerEvent, None, None]:
        started = time.perf_counter()
        index = self._workspace.requested_index(request.index_name)
        generation = self._generation(request, index)
        llm = self._workspace.models.language_model(generation)
        options = self._workspace.models.with_context_budget(request.options, llm)
        request = request.model_copy(update={"options": options})
        with request_key_errors(generation.auth), tracing.span("condense", turns=len(request.history)):
            if request.history and llm is None:
                question = self._completed(request, index)
            else:
                question = answering.condense(request.question, request.history, llm)
        understood = self._within_named_document(request.model_copy(update={"question": question}), index)
        events = self._composite_events(understood, index, llm, started)
        if events is None:
            events = self._search_events(understood, index, llm, generation, started=started, stop=stop)
        asked, rewritten = request.question, None if question == request.question else question
        answered = self._with_follow_ups(events, asked, rewritten, understood, index)
        return with_provenance(answered, self._workspace, index, understood)

    def _completed(self, request: AnswerRequest, index: Index) -> str:
        """Complete a follow-up question by rules; it asks the document that the question before named at its end."""
        names = CompositeAnswers(self._workspace, index, request).names()
        asked = [turn for turn in request.history if turn.role == "user"]
        document_names = {document.name for document in self._documents(request, index)}
        turns = [suggested_questions.without_document(turn.content, document_names) for turn in asked]
        history = [turn.model_copy(update={"content": text}) for turn, (text, _) in zip(asked, turns, strict=True)]
        question = answering.condense(request.question, history, None, names)
        place = turns[-1][1] if turns else None
        return suggested_questions.in_document(question, place) if place and question != request.question else question

    def _within_named_document(self, request: AnswerRequest, index: Index) -> AnswerRequest:
        """Ask only the document that the question names at its end, as suggested questions do."""
        if not suggested_questions.may_name_document(request.question):
            return request
        documents = self._documents(request, index)
        names = {document.name for document in documents}
        question, name = suggested_questions.without_document(request.question, names)
        if name is None:
            return request
        ids = tuple(document.id for document in documents if document.name == name)
        filters = request.retrieval.filters.model_copy(update={"document_ids": ids})
        retrieval_options = request.retrieval.model_copy(update={"filters": filters})
        return request.model_copy(update={"question": question, "retrieval": retrieval_options})

    def _documents(self, request: AnswerRequest, index: Index, limit: int | None = None) -> list[Document]:
        """Return the documents that a request asks."""
        filters = saved_filters.resolve_saved_filter(self._workspace.store, request).retrieval.filters
        query = DocumentQuery(filters=filters, disabled=False)
        return self._workspace.store.documents.list(index.id, query, limit=limit)

    def _with_follow_ups(
        self,
        events: Generator[AnswerEvent, None, None],
        asked: str,
        rewritten: str | None,
        understood: AnswerRequest,
        index: Index,
    ) -> Generator[AnswerEvent, None, None]:
        """Add the question as it was understood, follow-up questions, and which page a page's number means."""
        next_ones: tuple[str, ...] | None = None  # an answer that is judged comes twice

        def add(answer: AnswerResponse) -> AnswerResponse:
            nonlocal next_ones
            if next_ones is None:
                known = self._known_questions(answer, understood.question)
                is_alone = bool(answer.contexts) and len(self._documents(understood, index, limit=2)) == 1
                next_ones = suggested_questions.follow_ups(rewritten or asked, answer, known, is_alone=is_alone)
            follow_ups = answer.follow_ups or next_ones
            hint = answer.hint or page_note(understood.question, answer)
            return answer.model_copy(update={"question": rewritten, "follow_ups": follow_ups, "hint": hint})

        for event in events:
            yield with_changed_answer(event, add)

    def _known_questions(self, response: AnswerResponse, question: str) -> Sequence[str]:
        """Return questions in the language of `question` that the document of the first source answers."""
        if not response.contexts:
            return ()
        with contextlib.suppress(errors.NotFoundError):  # purged meanwhile
            document_id = response.contexts[0].chunk.document_id
            return Suggestions(self._workspace).known_in(document_id, detect(question))
        return ()

    def suggestions(self, document_id: uuid.UUID) -> tuple[str, ...]:
        """Return questions that the document likely answers, as found by asking it; this takes seconds the first time.

        There are none before it is read completely.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ProviderError: the embedding provider refuses or is down.
        """
        return Suggestions(self._workspace).find(document_id)

    def _composite_events(
        self, request: AnswerRequest, index: Index, llm: "LLM | None", started: float
    ) -> Generator[AnswerEvent, None, None] | None:
        """Return the events of a composite answer, or None if a single search, or the model, should answer.

        Figures that are read or computed from cells are not left to a small model.
        """
        if llm is not None and not providers.is_small(llm):
            return None
        with request_key_errors(request.auth):
            composite = CompositeAnswers(self._workspace, index, request)
            answer = composite.events if llm is None else composite.computed_figure
            events = answer(request.question)
        if events is None:
            return None
        pipeline = QueryPipeline(self._workspace, index, request)
        return with_request_key_errors(with_retrieval_summary(events, pipeline, started), request.auth)

    def _search_events(
        self,
        request: AnswerRequest,
        index: Index,
        llm: "LLM | None",
        generation: GenerationOptions,
        *,
        started: float,
        stop: answering.Stop,
    ) -> Generator[AnswerEvent, None, None]:
        pipeline = QueryPipeline(self._workspace, index, request)
        query = retrieval.Query(request.question)
        with request_key_errors(request.auth):
            model_passages = (
                CompositeAnswers(self._workspace, index, request).model_passages(request.question) if llm else []
            )
            nodes = [retrieval.HitNode.of(hit) for hit in model_passages]
            synthesizer = pipeline.synthesizer(
                llm,
                options=request.options,
                generation=generation,
                read_documents=WholeDocuments(self._workspace, index, request, only_found=bool(nodes)).read,
                streaming=True,
                stop=stop,
            )
            response = synthesizer.synthesize(query, nodes) if nodes else pipeline.engine(synthesizer).query(query)
        if not isinstance(response, answering.GroundedStream):
            raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
        found = pipeline.found(query, response.source_nodes, time.perf_counter() - started)
        if llm is None and (asked_back := self._asked_back(query, pipeline, request, index)):
            return with_retrieval_summary(single_answer(asked_back), pipeline, started)
        return with_request_key_errors(_events(response, found), generation.auth)

    def _asked_back(
        self, query: "retrieval.Query", pipeline: QueryPipeline, request: AnswerRequest, index: Index
    ) -> AnswerResponse | None:
        """Return the question which document is meant, if that is unclear; scores of other searches do not tell."""
        if not pipeline.has_absolute_scores:
            return None
        with request_key_errors(request.auth):
            which = WhichDocument(self._workspace, index.space)
            return which.ask(query, lambda: self._documents(request, index), request.options)

    def explain(self, request: SearchRequest | Mapping[str, Any], passage: str) -> Explanation:
        """Explain why a passage is, or is not, used to answer the request's query.

        Raises ValidationError if `passage` is empty.
        """
        request = parse(SearchRequest, request)
        if not (passage or "").split():
            raise errors.ValidationError("The passage is empty. Give some words as they stand in the document.")
        models, index = self._workspace.models, self._workspace.requested_index(request.index_name)
        llm = models.language_model()
        read_context = functools.partial(
            answering.read_context,
            request.query,
            llm=llm,
            options=models.with_context_budget(answering.DEFAULT_OPTIONS, llm),
            read_documents=WholeDocuments(self._workspace, index, request).read,
        )
        explainer = Explainer(self._workspace.store, self._pipeline(request, trace=True), request, read_context)
        return explainer.explain(passage)

    @property
    def has_language_model(self) -> bool:
        """Whether a language model writes the answers; otherwise they are quotes."""
        return self._workspace.models.language_model() is not None

    def _pipeline(self, request: SearchRequest, *, trace: bool = False) -> QueryPipeline:
        if trace:
            options = request.retrieval.model_copy(update={"trace": True})
            request = request.model_copy(update={"retrieval": options})
        return QueryPipeline(self._workspace, self._workspace.requested_index(request.index_name), request)

    def _generation(self, request: AnswerRequest, index: Index) -> GenerationOptions:
        """Use the request's key for writing, too, where it can only be meant for that provider; never for another."""
        generation = request.generation
        if generation.auth.api_key or not generation.provider or not request.auth.api_key:
            return generation
        embeds = index.space.provider
        is_meant = embeds == generation.provider or self._workspace.models.registry.provider(embeds).key_setting is None
        return generation.model_copy(update={"auth": request.auth}) if is_meant else generation


def _events(response: "answering.GroundedStream", found: SearchResponse) -> Generator[AnswerEvent, None, None]:
    """Yield the events of an answer, which gets its retrieval summary and usage."""
    summary = RetrievalSummary(
        top_k=found.top_k,
        min_score=found.min_score,
        mode=found.mode,
        returned=len(found.results),
        pages=_pages(found.results),
    )

    def add(answer: AnswerResponse) -> AnswerResponse:
        spent = {
            "embedding_tokens": found.usage.embedding_tokens,
            "latency_ms": found.usage.latency_ms + answer.usage.latency_ms,
        }
        return answer.model_copy(update={"retrieval": summary, "usage": answer.usage.model_copy(update=spent)})

    if response.events is None:
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    with contextlib.closing(response.events):
        for event in response.events:
            yield with_changed_answer(event, add)


def _pages(hits: Sequence[Hit]) -> dict[uuid.UUID, tuple[int, ...]]:
    """Return the pages found, by document."""
    found: dict[uuid.UUID, set[int]] = {}
    for hit in hits:
        found.setdefault(hit.chunk.document_id, set()).update(hit.chunk.pages)
    return {document_id: tuple(sorted(pages)) for document_id, pages in found.items()}
