"""Search, answer questions, and explain results."""

import uuid
from collections.abc import Generator, Mapping
from typing import Any

from rag import errors, retrieval, tracing, types
from rag.answering.generation.model_answer import Stop, final_answer, never_stop
from rag.engine.questions import explanation
from rag.engine.questions.answerer import Answerer
from rag.engine.questions.search import Search, restrict_to_named, whole_documents
from rag.engine.questions.suggestions import Suggestions
from rag.engine.request_parsing import parse, request_key_errors, restrict_to_document, restrict_to_documents
from rag.engine.workspace import Workspace
from rag.messages import N_

QUESTION_TOP_K = 5
"""`top_k` of a bare question."""


class Questions:
    """Search and question answering for one user."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def search(self, request: types.SearchRequest | Mapping[str, Any]) -> types.SearchResponse:
        """Return the passages that match a query, best first.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: the embedding provider rejects the request's own key.
            errors.ProviderError: that provider refuses or is down.
        """
        request = parse(types.SearchRequest, request)
        with request_key_errors(request.auth), tracing.span("search") as step:
            index = self._workspace.requested_index(request.index_name)
            request, passage_text, _ = restrict_to_named(self._workspace, index, request, request.query)
            query = retrieval.Query(request.query, passage_text=passage_text)
            found = Search(self._workspace, index, request).run(query)
            step.add(top_k=found.top_k, mode=found.mode, returned=len(found.results))
            return found

    def answer(
        self, request: types.AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> types.AnswerResponse:
        """Answer a question from the documents, with citations; `contexts` of the answer are the cited hits.

        A bare question is answered from the best five passages of the default index. `document_id` narrows the search.

        Raises:
            errors.ValidationError: the request is malformed, or says to read whole what cannot be read so.
            errors.ConfigError: no model is set up that can read whole as the request says, or its window is too small.
            errors.NotFoundError: there is no such index.
            errors.AuthError: a provider rejects the request's own key.
            errors.ProviderError: a provider refuses or is down.
            errors.GroundingError: a quoted document can no longer be read, or the answer broke off.
        """
        if isinstance(request, str):
            request = {"question": request, "retrieval": {"top_k": QUESTION_TOP_K}}
        parsed = parse(types.AnswerRequest, request)
        return final_answer(self.stream(restrict_to_document(parsed, document_id) if document_id else parsed))

    def stream(
        self, request: types.AnswerRequest | Mapping[str, Any], stop: Stop = never_stop
    ) -> Generator[types.AnswerEvent, None, None]:
        """Yield tokens of the answer, then the checked answer, which replaces them. Raises as `answer`.

        While a language model judges sentences by meaning, the stage "judging" has the answer with the other verdicts.
        When `stop` returns True, writing ends; the answer is what was written so far, marked as `stopped`.
        """
        parsed = parse(types.AnswerRequest, request)
        return tracing.streaming("question", lambda: self._answerer(parsed, stop).stream())

    def _answerer(self, request: types.AnswerRequest, stop: Stop) -> Answerer:
        models = self._workspace.models
        index = self._workspace.requested_index(request.index_name)
        generation = request.generation
        if request.auth.api_key and generation.provider and not generation.auth.api_key:
            # The key for searching is also for writing where it can only be meant for that provider; never for another
            embeds = models.registry.provider_of(index.space)
            if embeds.name == generation.provider or embeds.key_setting is None:
                generation = generation.model_copy(update={"auth": request.auth})
                request = request.model_copy(update={"generation": generation})
        return Answerer(self._workspace, index, request, llm=models.language_model(generation), stop=stop)

    def suggestions(self, document_id: uuid.UUID) -> tuple[str, ...]:
        """Return questions that the document likely answers, as found by asking it; this takes seconds the first time.

        There are none before it is read completely. Raises NotFoundError and ProviderError.
        """
        return Suggestions(self._workspace).find(document_id, self._quote)

    def _quote(self, document: types.Document, question: str) -> types.AnswerResponse:
        index = self._workspace.store.indexes.get_by_id(document.index_id)
        request = restrict_to_documents(types.AnswerRequest(question=question), [document.id])
        return Answerer(self._workspace, index, request).quote()

    def explain(self, request: types.SearchRequest | Mapping[str, Any], passage: str) -> types.Explanation:
        """Explain why a passage is, or is not, used to answer the request's query.

        Raises ValidationError if `passage` is empty.
        """
        searched = parse(types.SearchRequest, request)
        if not (passage or "").split():
            raise errors.ValidationError(N_("The passage is empty. Give some words as they stand in the document."))
        asked = types.AnswerRequest(
            question=searched.query,
            retrieval=searched.retrieval.model_copy(update={"trace": True}),
            auth=searched.auth,
            embedding=searched.embedding,
        )
        index, llm = self._workspace.requested_index(searched.index_name), self._workspace.models.language_model()
        read_documents = whole_documents(self._workspace, index, asked)
        answerer = Answerer(self._workspace, index, asked, llm=llm, read_documents=read_documents)
        return explanation.explain(answerer, passage)

    @property
    def has_language_model(self) -> bool:
        """Whether a language model writes the answers; otherwise they are quotes."""
        return self._workspace.models.language_model() is not None
