"""Hybrid retrieval: a LlamaIndex retriever and the postprocessing stages behind it."""

from typing import TYPE_CHECKING

from rag import lazy_imports
from rag.retrieval.completion_cache import CompletionCache, Completions, request_digest
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.projection import Projection, principal_plane
from rag.retrieval.query_understanding import understand
from rag.retrieval.reranking import ModelReranker, Reranker
from rag.retrieval.search_defaults import as_configured
from rag.retrieval.similarity import UNRELATED_TEXTS, Scales, Similarity

if TYPE_CHECKING:
    from rag.retrieval.nodes import HitNode, to_hits
    from rag.retrieval.postprocessors import (
        Diversity,
        PageExpansion,
        RecordScores,
        Rerank,
        TopK,
        candidate_count,
        stages,
    )
    from rag.retrieval.retriever import POOL, ChunkRanks, HybridRetriever
    from rag.retrieval.tracing import Query, trace
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "nodes": ("HitNode", "to_hits"),
            "postprocessors": (
                "Diversity",
                "TopK",
                "RecordScores",
                "PageExpansion",
                "Rerank",
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
    "Diversity",
    "HitNode",
    "HybridRetriever",
    "ModelReranker",
    "PageExpansion",
    "Projection",
    "Query",
    "RecordScores",
    "Rerank",
    "Reranker",
    "Scales",
    "Similarity",
    "TopK",
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
