"""Hybrid retrieval: a LlamaIndex retriever and the postprocessing stages behind it."""

from typing import TYPE_CHECKING

from rag import lazy_imports

if TYPE_CHECKING:
    from rag.retrieval.completion_cache import CompletionCache, Completions, request_digest
    from rag.retrieval.nodes import to_hits
    from rag.retrieval.postprocessors import candidate_count, stages
    from rag.retrieval.query_understanding import understand
    from rag.retrieval.ranking import Reranker, maximal_marginal_relevance
    from rag.retrieval.retriever import POOL, ChunkRanks, HybridRetriever
    from rag.retrieval.search_defaults import as_configured
    from rag.retrieval.similarity import UNRELATED_TEXTS, Similarity, SimilarityScales
    from rag.retrieval.tracing import Query, trace
else:
    __getattr__ = lazy_imports.exports(__name__)
