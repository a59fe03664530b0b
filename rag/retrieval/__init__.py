"""Finding the places in a library that fit a question."""

from rag.retrieval.completions import Memory, request_digest
from rag.retrieval.llama import HybridRetriever
from rag.retrieval.searcher import Searcher

__all__ = ["HybridRetriever", "Memory", "Searcher", "request_digest"]
