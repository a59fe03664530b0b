"""Hybrid retrieval: a LlamaIndex retriever and the postprocessing stages behind it."""

from typing import TYPE_CHECKING

from rag import lazy_imports
from rag.retrieval.completion_cache import Memory, request_digest
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.projection import Projection, principal_plane
from rag.retrieval.query_understanding import understand
from rag.retrieval.reranking import ModelReranker, Reranker
from rag.retrieval.search_defaults import as_configured
from rag.retrieval.similarity import UNRELATED_TEXTS, Scales, Similarity

if TYPE_CHECKING:
    from rag.retrieval.nodes import HitNode, to_hits
    from rag.retrieval.postprocessors import Diversity, First, NoteScores, Pages, Rerank, depth, stages
    from rag.retrieval.retriever import POOL, HybridRetriever, Standing
    from rag.retrieval.tracing import Query, trace
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "nodes": ("HitNode", "to_hits"),
            "postprocessors": ("Diversity", "First", "NoteScores", "Pages", "Rerank", "depth", "stages"),
            "retriever": ("POOL", "HybridRetriever", "Standing"),
            "tracing": ("Query", "trace"),
        },
    )

__all__ = [
    "POOL",
    "UNRELATED_TEXTS",
    "Diversity",
    "First",
    "HitNode",
    "HybridRetriever",
    "Memory",
    "ModelReranker",
    "NoteScores",
    "Pages",
    "Projection",
    "Query",
    "Rerank",
    "Reranker",
    "Scales",
    "Similarity",
    "Standing",
    "as_configured",
    "depth",
    "maximal_marginal_relevance",
    "principal_plane",
    "request_digest",
    "stages",
    "to_hits",
    "trace",
    "understand",
]
