"""Hybrid retrieval: a LlamaIndex retriever and the postprocessing stages behind it."""

from typing import TYPE_CHECKING

from rag import lazy_imports
from rag.retrieval.completion_cache import CompletionCache, Completions, request_digest
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.projection import principal_plane
from rag.retrieval.query_understanding import understand
from rag.retrieval.reranking import Reranker
from rag.retrieval.search_defaults import as_configured
from rag.retrieval.similarity import UNRELATED_TEXTS, Similarity, SimilarityScales

if TYPE_CHECKING:
    from rag.retrieval.nodes import to_hits
    from rag.retrieval.postprocessors import (
        candidate_count,
        stages,
    )
    from rag.retrieval.retriever import POOL, ChunkRanks, HybridRetriever
    from rag.retrieval.tracing import Query, trace
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "nodes": ("to_hits",),
            "postprocessors": (
                "candidate_count",
                "stages",
            ),
            "retriever": ("POOL", "HybridRetriever", "ChunkRanks"),
            "tracing": ("Query", "trace"),
        },
    )

__all__ = [
    "POOL",
    "UNRELATED_TEXTS",
    "ChunkRanks",
    "CompletionCache",
    "Completions",
    "HybridRetriever",
    "Query",
    "Reranker",
    "Similarity",
    "SimilarityScales",
    "as_configured",
    "candidate_count",
    "maximal_marginal_relevance",
    "principal_plane",
    "request_digest",
    "stages",
    "to_hits",
    "trace",
    "understand",
]
