import subprocess
import sys

import pytest

import rag
from rag import errors

EXPORTED = [
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


def test_the_public_names_are_these_and_all_resolve() -> None:
    assert sorted(rag.__all__) == EXPORTED
    assert all(getattr(rag, name).__module__.startswith("rag.") for name in EXPORTED)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name.startswith("AstRag")])
def test_errors_go_by_the_contracts_names_too(name: str) -> None:
    assert getattr(rag, name) is getattr(errors, name.removeprefix("AstRag"))


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = {"pymupdf", "psycopg", "onnxruntime", "llama_index", "streamlit"}
    code = f"import sys, rag; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
