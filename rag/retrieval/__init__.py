"""Finding the places in a library that fit a question."""

from rag.retrieval.completions import Memory, request_digest
from rag.retrieval.configured import as_configured
from rag.retrieval.llama import HybridRetriever
from rag.retrieval.reranking import Reranker
from rag.retrieval.searcher import POOL, Searcher, Standing

__all__ = ["POOL", "HybridRetriever", "Memory", "Reranker", "Searcher", "Standing", "as_configured", "request_digest"]
