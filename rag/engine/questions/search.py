"""Search an index as one request says: LlamaIndex's retriever and node postprocessors, with our parts."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag import providers, retrieval, types, vocabulary
from rag.engine.library import saved_filters
from rag.engine.workspace import Workspace

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.postprocessor.types import BaseNodePostprocessor


class Search:
    """The search of one request; what it was asked with is bound here, once."""

    def __init__(self, workspace: Workspace, index: types.Index, request: types.RetrievalRequest) -> None:
        self._workspace = workspace
        self._index = index
        asked = saved_filters.resolve_saved_filter(workspace.store, request).retrieval
        self.options = retrieval.as_configured(asked, workspace.config)
        self._store = workspace.store
        self.scope = types.Scope(
            index_id=index.id,
            filters=self.options.filters,
            must_include=self.options.must_include,
            must_include_mode=self.options.must_include_mode,
        )
        embedder = workspace.models.embedder(index.space, request.auth, request.embedding.provider_options)
        self._embedder = providers.CachedEmbedding(embedder, index.space, self._store.embedding_cache)
        self._llm = workspace.models.language_model() if self.options.needs_language_model else None

    def retriever(self, depth: int | None = None) -> "retrieval.HybridRetriever":
        """Return the retriever of as many candidates as the stages need, or `depth`."""
        return retrieval.HybridRetriever(
            store=self._store,
            space=self._index.space,
            embedder=self._embedder,
            scope=self.scope,
            options=self.options,
            depth=depth or retrieval.candidate_count(self.options),
            widener=vocabulary.widener,
            similarity=lambda: self._workspace.models.scales.of(self._index.space, self._embedder),
            llm=self._llm,
            languages=self._workspace.models.languages(self._index.space),
        )

    def stages(self) -> "list[BaseNodePostprocessor]":
        """Return the node postprocessors."""
        return retrieval.stages(self.options, store=self._store, reranker=self._workspace.models.reranker)

    def run(self, query: "retrieval.Query") -> types.SearchResponse:
        """Search for a query, which then holds its vector and the trace of each candidate."""
        started = time.perf_counter()
        nodes = self.retriever().retrieve(query)
        for stage in self.stages():
            nodes = stage.postprocess_nodes(nodes, query)
        return self.response(query, retrieval.to_hits(nodes), time.perf_counter() - started)

    def response(self, query: "retrieval.Query", hits: Sequence[types.Hit], seconds: float) -> types.SearchResponse:
        """Return the search response for the hits of a query."""
        options = self.options
        texts = [variant.text for variant in query.findings.variants] if options.by_meaning else []
        return types.SearchResponse(
            query=query.query_str,
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            results=hits,
            usage=types.Usage(embedding_tokens=sum(map(providers.count_tokens, texts)), latency_ms=seconds * 1000),
            trace=retrieval.trace(query.findings, hits, options) if options.trace else None,
        )
