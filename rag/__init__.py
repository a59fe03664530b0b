"""Pagelight's engine: ask PDFs questions, and get answers that cite the exact words on the page.

>>> import rag
>>> rag.sync_index({"source": {"folderId": "reports/"}})
>>> rag.answer({"question": "What were net sales?"}).answer

The functions use one engine that the process shares (`rag.configure`); `RAGEngine` is the same for one user:

>>> engine = rag.RAGEngine()
>>> engine.ingest(["report.pdf"])
>>> engine.query("net sales")

Names are imported when first used, so that parsing alone does not load models and database drivers.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.config import Config, load_config
    from rag.engine import Installation, RAGEngine
    from rag.engine.module_functions import (
        answer,
        build_index,
        clear_config,
        configure,
        embedding_capabilities,
        embedding_providers,
        get_config,
        inspect_index,
        register_embedding_provider,
        search,
        sync_index,
        unregister_embedding_provider,
    )
    from rag.errors import (
        AstRagAuthError,
        AstRagEmbeddingCapabilityError,
        AstRagError,
        AstRagGroundingError,
        AstRagIndexError,
        AstRagRetrievalError,
        AstRagSourceError,
        AstRagValidationError,
    )
    from rag.retrieval import HybridRetriever
    from rag.types import (
        AnswerRequest,
        AnswerResponse,
        Citation,
        Document,
        Filters,
        Hit,
        IndexRequest,
        RetrievalResult,
        SearchRequest,
        SearchResponse,
        SyncReport,
    )

_HOMES = {
    "AnswerRequest": "rag.types",
    "AnswerResponse": "rag.types",
    "AstRagAuthError": "rag.errors",
    "AstRagEmbeddingCapabilityError": "rag.errors",
    "AstRagError": "rag.errors",
    "AstRagGroundingError": "rag.errors",
    "AstRagIndexError": "rag.errors",
    "AstRagRetrievalError": "rag.errors",
    "AstRagSourceError": "rag.errors",
    "AstRagValidationError": "rag.errors",
    "Citation": "rag.types",
    "Config": "rag.config",
    "Document": "rag.types",
    "Filters": "rag.types",
    "Hit": "rag.types",
    "HybridRetriever": "rag.retrieval",
    "IndexRequest": "rag.types",
    "Installation": "rag.engine",
    "RAGEngine": "rag.engine",
    "RetrievalResult": "rag.types",
    "SearchRequest": "rag.types",
    "SearchResponse": "rag.types",
    "SyncReport": "rag.types",
    "answer": "rag.engine.module_functions",
    "build_index": "rag.engine.module_functions",
    "clear_config": "rag.engine.module_functions",
    "configure": "rag.engine.module_functions",
    "embedding_capabilities": "rag.engine.module_functions",
    "embedding_providers": "rag.engine.module_functions",
    "get_config": "rag.engine.module_functions",
    "inspect_index": "rag.engine.module_functions",
    "load_config": "rag.config",
    "register_embedding_provider": "rag.engine.module_functions",
    "search": "rag.engine.module_functions",
    "sync_index": "rag.engine.module_functions",
    "unregister_embedding_provider": "rag.engine.module_functions",
}

__all__ = [
    "AnswerRequest",
    "AnswerResponse",
    "AstRagAuthError",
    "AstRagEmbeddingCapabilityError",
    "AstRagError",
    "AstRagGroundingError",
    "AstRagIndexError",
    "AstRagRetrievalError",
    "AstRagSourceError",
    "AstRagValidationError",
    "Citation",
    "Config",
    "Document",
    "Filters",
    "Hit",
    "HybridRetriever",
    "IndexRequest",
    "Installation",
    "RAGEngine",
    "RetrievalResult",
    "SearchRequest",
    "SearchResponse",
    "SyncReport",
    "answer",
    "build_index",
    "clear_config",
    "configure",
    "embedding_capabilities",
    "embedding_providers",
    "get_config",
    "inspect_index",
    "load_config",
    "register_embedding_provider",
    "search",
    "sync_index",
    "unregister_embedding_provider",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
