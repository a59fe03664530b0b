"""Pagelight's engine: from PDFs to answers whose every claim is tied to its exact words on the page.

>>> import pathlib, rag
>>> engine = rag.RAGEngine()
>>> document = engine.add_file(pathlib.Path("report.pdf"), "report.pdf", enqueue=False)
>>> engine.process(document.id)
>>> engine.answer({"question": "What were net sales?"}).answer

Names are loaded when first used: a process that only parses need not load models and database drivers.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.config import Config, load_config
    from rag.engine import RAGEngine
    from rag.retrieval import HybridRetriever
    from rag.types import AnswerRequest, AnswerResponse, Citation, Document, Filters, Hit, SearchRequest, SearchResponse

_HOMES = {
    "AnswerRequest": "rag.types",
    "AnswerResponse": "rag.types",
    "Citation": "rag.types",
    "Config": "rag.config",
    "Document": "rag.types",
    "Filters": "rag.types",
    "Hit": "rag.types",
    "HybridRetriever": "rag.retrieval",
    "RAGEngine": "rag.engine",
    "SearchRequest": "rag.types",
    "SearchResponse": "rag.types",
    "load_config": "rag.config",
}

__all__ = [
    "AnswerRequest",
    "AnswerResponse",
    "Citation",
    "Config",
    "Document",
    "Filters",
    "Hit",
    "HybridRetriever",
    "RAGEngine",
    "SearchRequest",
    "SearchResponse",
    "load_config",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
