"""Finding the places in a library that fit a question: a LlamaIndex retriever and the stages behind it."""

from rag.retrieval.completions import Memory, request_digest
from rag.retrieval.configured import as_configured
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.nodes import HitNode, to_hits
from rag.retrieval.postprocessors import Diversity, First, NoteScores, Pages, Rerank, depth, stages
from rag.retrieval.query import Query
from rag.retrieval.reranking import ModelReranker, Reranker
from rag.retrieval.retriever import POOL, HybridRetriever, Standing
from rag.retrieval.similarity import UNRELATED_TEXTS, Scales, Similarity
from rag.retrieval.tracing import trace
from rag.retrieval.understanding import understand

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
    "Query",
    "Rerank",
    "Reranker",
    "Scales",
    "Similarity",
    "Standing",
    "as_configured",
    "depth",
    "maximal_marginal_relevance",
    "request_digest",
    "stages",
    "to_hits",
    "trace",
    "understand",
]
