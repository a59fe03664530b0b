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

if TYPE_CHECKING:  # "as": strict type checkers of others see only names that are exported so
    from rag.config import Config as Config
    from rag.config import load_config as load_config
    from rag.engine import Installation as Installation
    from rag.engine import RAGEngine as RAGEngine
    from rag.engine.module_functions import answer as answer
    from rag.engine.module_functions import build_index as build_index
    from rag.engine.module_functions import clear_config as clear_config
    from rag.engine.module_functions import configure as configure
    from rag.engine.module_functions import embedding_capabilities as embedding_capabilities
    from rag.engine.module_functions import embedding_providers as embedding_providers
    from rag.engine.module_functions import get_config as get_config
    from rag.engine.module_functions import inspect_index as inspect_index
    from rag.engine.module_functions import register_embedding_provider as register_embedding_provider
    from rag.engine.module_functions import search as search
    from rag.engine.module_functions import sync_index as sync_index
    from rag.engine.module_functions import unregister_embedding_provider as unregister_embedding_provider
    from rag.errors import AstRagAuthError as AstRagAuthError
    from rag.errors import AstRagEmbeddingCapabilityError as AstRagEmbeddingCapabilityError
    from rag.errors import AstRagError as AstRagError
    from rag.errors import AstRagGroundingError as AstRagGroundingError
    from rag.errors import AstRagIndexError as AstRagIndexError
    from rag.errors import AstRagRetrievalError as AstRagRetrievalError
    from rag.errors import AstRagSourceError as AstRagSourceError
    from rag.errors import AstRagValidationError as AstRagValidationError
    from rag.retrieval import HybridRetriever as HybridRetriever
    from rag.types import AnswerRequest as AnswerRequest
    from rag.types import AnswerResponse as AnswerResponse
    from rag.types import Citation as Citation
    from rag.types import Document as Document
    from rag.types import Filters as Filters
    from rag.types import Hit as Hit
    from rag.types import IndexRequest as IndexRequest
    from rag.types import RetrievalResult as RetrievalResult
    from rag.types import SearchRequest as SearchRequest
    from rag.types import SearchResponse as SearchResponse
    from rag.types import SyncReport as SyncReport
else:
    __getattr__ = lazy_imports.exports(__name__)
