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

from typing import TYPE_CHECKING

from rag import lazy_imports

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
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "config": ("Config", "load_config"),
            "engine": ("Installation", "RAGEngine"),
            "engine.module_functions": (
                "answer",
                "build_index",
                "clear_config",
                "configure",
                "embedding_capabilities",
                "embedding_providers",
                "get_config",
                "inspect_index",
                "register_embedding_provider",
                "search",
                "sync_index",
                "unregister_embedding_provider",
            ),
            "errors": (
                "AstRagAuthError",
                "AstRagEmbeddingCapabilityError",
                "AstRagError",
                "AstRagGroundingError",
                "AstRagIndexError",
                "AstRagRetrievalError",
                "AstRagSourceError",
                "AstRagValidationError",
            ),
            "retrieval": ("HybridRetriever",),
            "types": (
                "AnswerRequest",
                "AnswerResponse",
                "Citation",
                "Document",
                "Filters",
                "Hit",
                "IndexRequest",
                "RetrievalResult",
                "SearchRequest",
                "SearchResponse",
                "SyncReport",
            ),
        },
    )

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
