"""Questions: what is found for them, what is answered, and why; and what is remembered of both."""

import uuid
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rag import answering, errors, providers, retrieval
from rag.engine.document_methods import DocumentMethods
from rag.engine.explanation import Explainer
from rag.engine.interface import BY_SIMILARITY, QUESTION_TOP_K, queried, within
from rag.engine.requests import own_key, parse, with_own_key
from rag.store import CACHE_KINDS, CacheKind, CacheStats
from rag.types import (
    DEFAULT_INDEX,
    AnswerEvent,
    AnswerOptions,
    AnswerRequest,
    AnswerResponse,
    Explanation,
    GenerationOptions,
    Index,
    RetrievalOptions,
    RetrievalRequest,
    RetrievalResult,
    Scope,
    SearchRequest,
    SearchResponse,
)

WARM_UP = "warm up"


class QuestionMethods(DocumentMethods):
    """What can be asked."""

    def search(self, request: SearchRequest | Mapping[str, Any]) -> SearchResponse:
        """Find the places that fit a query, best first.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: the provider that embeds the query refuses the request's own key.
            errors.ProviderError: that provider refuses or is down.
        """
        request = parse(SearchRequest, request)
        with own_key(request.auth):
            return self._search_in(self._asked(request.index_name), request)

    def _search_in(self, index: Index, request: SearchRequest) -> SearchResponse:
        return self._searcher(index, request).search(self._scope(index, request.retrieval), request)

    def _scope(self, index: Index, options: RetrievalOptions) -> Scope:
        return Scope(
            user_id=self.user_id,
            index_id=index.id,
            filters=options.filters,
            must_include=options.must_include,
            must_include_mode=options.must_include_mode,
        )

    def _searcher(self, index: Index, request: RetrievalRequest) -> retrieval.Searcher:
        return retrieval.Searcher(
            store=self._resources.store,
            space=index.space,
            embedder=self._resources.embedder(index.space, request.auth, request.embedding.provider_options),
            reranker=self._resources.reranker,
            config=self.config,
            llm=self._resources.language_model(GenerationOptions()) if request.retrieval.needs_language_model else None,
        )

    def query(self, query_text: str, index_name: str = DEFAULT_INDEX) -> list[RetrievalResult]:
        """Up to five chunks whose cosine similarity to the query is 0.5 or more, best first.

        Raises:
            errors.ValidationError: the query has fewer than three characters.
        """
        request = SearchRequest(index_name=index_name, query=queried(query_text), retrieval=BY_SIMILARITY)
        hits = self.search(request).results
        return [RetrievalResult.of(hit, rank) for rank, hit in enumerate(hits, start=1)]

    def why(self, request: SearchRequest | Mapping[str, Any], passage: str) -> Explanation:
        """Why some words of a document are, or are not, among what an answer to the request's query is made from.

        Raises:
            errors.ValidationError: `passage` is empty.
        """
        request = parse(SearchRequest, request)
        if not passage.split():
            raise errors.ValidationError("The passage is empty. Give some words as they stand in the document.")
        index = self._asked(request.index_name)
        searcher, scope = self._searcher(index, request), self._scope(index, request.retrieval)
        explainer = Explainer(self._resources.store, searcher, scope, request)
        return explainer.explain(passage, context_tokens=AnswerOptions().max_context_tokens)

    def answer(
        self, request: AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> AnswerResponse:
        """Answer a question from the documents, every claim cited; `contexts` of the answer are the cited hits.

        A bare question is answered from the best five places of the default index. `document_id` narrows the search.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: a provider refuses the request's own key.
            errors.ProviderError: a provider refuses or is down.
        """
        if isinstance(request, str):
            request = {"question": request, "retrieval": {"top_k": QUESTION_TOP_K}}
        asked = parse(AnswerRequest, request)
        *_, response = self.stream_answer(within(asked, document_id) if document_id else asked)
        if not isinstance(response, AnswerResponse):
            raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
        return response

    def stream_answer(self, request: AnswerRequest | Mapping[str, Any]) -> Iterator[AnswerEvent]:
        """Pieces of the answer as they come, then the checked answer, which replaces them."""
        request = parse(AnswerRequest, request)
        generation = self._generation(request)
        llm = self._resources.language_model(generation)
        with own_key(generation.auth):
            question = answering.condense(request.question, request.history, llm)
        found = self.search(
            SearchRequest(
                index_name=request.index_name,
                query=question,
                retrieval=request.retrieval,
                auth=request.auth,
                embedding=request.embedding,
            )
        )
        events = answering.stream(
            question,
            found,
            request,
            llm=llm,
            reranker=self._resources.reranker,
            locate=self.locate,
            memory=self._memory,
        )
        return with_own_key(events, generation.auth)

    def warm_up(self) -> None:
        """Connect to the database and load the embedded models, for which the first question would wait."""
        self._resources.store.health()
        space = self._resources.preferred_space()
        if self._resources.is_embedded(space):  # a vendor's would cost, and needs no loading
            providers.embed_query(self._resources.embedder(space), WARM_UP)
        self._resources.reranker.scores(WARM_UP, [WARM_UP])

    @property
    def has_language_model(self) -> bool:
        """Whether a language model writes the answers; without one they are quotes."""
        return self._resources.language_model(GenerationOptions()) is not None

    def _generation(self, request: AnswerRequest) -> GenerationOptions:
        """With the request's key where it can only be meant for the provider that writes, too: never for another."""
        generation = request.generation
        if generation.auth.api_key or not generation.provider or not request.auth.api_key:
            return generation
        embeds = self._asked(request.index_name).space.provider
        is_meant = embeds == generation.provider or not self._resources.takes_key(embeds)
        return generation.model_copy(update={"auth": request.auth}) if is_meant else generation

    @property
    def _memory(self) -> retrieval.Memory:
        return retrieval.Memory(self._resources.store.caches, self.user_id)

    # --- caches ---

    def caches(self) -> list[CacheStats]:
        """How much each of this user's caches holds, and how often it had what was asked of it."""
        return self._resources.store.caches.stats(self.user_id)

    def clear_caches(self, kinds: Collection[CacheKind] = CACHE_KINDS) -> int:
        """Forget what this user's caches hold; returns the number of entries."""
        return self._resources.store.caches.clear(self.user_id, kinds)
