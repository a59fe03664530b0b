"""The query pipeline: retriever, postprocessors and synthesizer for one request.

`HybridRetriever` → node postprocessors → `GroundedSynthesizer`, combined by LlamaIndex's `RetrieverQueryEngine`.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag import answering, providers, retrieval
from rag.engine.indexes.glossary import Glossary
from rag.engine.library import saved_filters
from rag.engine.library.pages import Pages
from rag.engine.workspace import Workspace
from rag.types import (
    AnswerOptions,
    GenerationOptions,
    Index,
    RetrievalRequest,
    RetrievalSummary,
    Scope,
    SearchResponse,
    Usage,
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core import schema
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import LLM
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import BaseSynthesizer


class QueryPipeline:
    """Builds the components for one request, and searches with them."""

    def __init__(self, workspace: Workspace, index: Index, request: RetrievalRequest) -> None:
        self._workspace = workspace
        self._index = index
        asked = saved_filters.resolve_saved_filter(workspace.store, request).retrieval
        self._options = retrieval.as_configured(asked, workspace.config)
        self._store = workspace.store
        self.scope = Scope(
            index_id=index.id,
            filters=self._options.filters,
            must_include=self._options.must_include,
            must_include_mode=self._options.must_include_mode,
        )
        embedder = workspace.models.embedder(index.space, request.auth, request.embedding.provider_options)
        self.embedder = providers.CachedEmbedding(embedder, index.space, self._store.embedding_cache)
        self._llm = workspace.models.language_model() if self._options.needs_language_model else None

    @property
    def has_absolute_scores(self) -> bool:
        """Whether the fused scores of different documents can be compared: not ranks, nor those of one search alone."""
        return self._options.mode == "hybrid" and not self._options.by_ranks

    def retriever(self, depth: int | None = None) -> "retrieval.HybridRetriever":
        """Return the retriever of as many candidates as the stages need, or `depth`."""
        return retrieval.HybridRetriever(
            store=self._store,
            space=self._index.space,
            embedder=self.embedder,
            scope=self.scope,
            options=self._options,
            depth=depth or retrieval.candidate_count(self._options),
            widener=Glossary(self._workspace).widener,
            similarity=lambda: self._workspace.models.scales.of(self._index.space, self.embedder),
            llm=self._llm,
            languages=self._workspace.models.languages(self._index.space),
        )

    def stages(self) -> "list[BaseNodePostprocessor]":
        """Return the node postprocessors."""
        reranker = self._workspace.models.reranker
        return retrieval.stages(self._options, store=self._store, reranker=reranker, llm=self._llm)

    def synthesizer(
        self,
        llm: "LLM | None",
        *,
        options: AnswerOptions = answering.DEFAULT_OPTIONS,
        generation: GenerationOptions = answering.DEFAULT_GENERATION,
        read_documents: "answering.ReadDocuments | None" = None,
        streaming: bool = False,
        stop: answering.Stop = answering.never_stop,
    ) -> "answering.GroundedSynthesizer":
        """Return the synthesizer, which writes with `llm` or quotes the documents."""
        return answering.GroundedSynthesizer(
            llm=llm,
            locate=Pages(self._workspace).locate,
            reranker=self._workspace.models.reranker,
            reader=self._workspace.models.reader,
            judge=self._judge(llm, options, generation) if llm else None,
            memory=self._store.caches,
            read_documents=read_documents,
            options=self._workspace.models.with_context_budget(options, llm),
            generation=generation,
            streaming=streaming,
            stop=stop,
        )

    def _judge(self, llm: "LLM", options: AnswerOptions, generation: GenerationOptions) -> "answering.MeaningJudge":
        """Return the judge of meaning for what `llm` writes: itself, the entailment model, or both."""
        second = answering.EntailmentJudge(self._workspace.models.entailment_model)
        wanted = options.judge_with_model
        if wanted is False or (wanted is None and providers.is_small(llm)):
            return second
        exact = self._workspace.models.language_model(generation.model_copy(update={"temperature": 0.0}))
        completions = retrieval.Completions(exact or llm, self._store.caches if options.use_cache else None)
        return answering.LanguageModelJudge(completions, llm.metadata.model_name, second)

    def engine(
        self,
        synthesizer: "BaseSynthesizer",
        *,
        retriever: "BaseRetriever | None" = None,
        postprocessors: "Sequence[BaseNodePostprocessor] | None" = None,
    ) -> "RetrieverQueryEngine":
        """Return the query engine; given parts replace ours."""
        import llama_index.core
        from llama_index.core.query_engine import RetrieverQueryEngine

        stages = self.stages() if postprocessors is None else [*postprocessors]
        return RetrieverQueryEngine(retriever or self.retriever(), synthesizer, stages)

    def search(self, text: str) -> SearchResponse:
        """Search for a text."""
        return self.run(retrieval.Query(text))

    def run(self, query: "retrieval.Query") -> SearchResponse:
        """Search for a query, which then holds its vector and the trace of each candidate."""
        started = time.perf_counter()
        nodes = self.engine(self.synthesizer(None)).retrieve(query)
        return self.found(query, nodes, time.perf_counter() - started)

    def summary(self, returned: int) -> RetrievalSummary:
        """Return how sources are searched, of which `returned` were found."""
        options = self._options
        return RetrievalSummary(top_k=options.top_k, min_score=options.min_score, mode=options.mode, returned=returned)

    def found(
        self, query: "retrieval.Query", nodes: "Sequence[schema.NodeWithScore]", seconds: float
    ) -> SearchResponse:
        """Return the search response for the nodes that a query engine found."""
        hits, options = retrieval.to_hits(nodes), self._options
        texts = [variant.text for variant in query.findings.variants] if options.by_meaning else []
        return SearchResponse(
            query=query.query_str,
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            results=hits,
            usage=Usage(embedding_tokens=sum(map(providers.count_tokens, texts)), latency_ms=seconds * 1000),
            trace=retrieval.trace(query.findings, hits, options) if options.trace else None,
        )
