import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag
from rag import answering, errors, ingestion, providers, retrieval

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
    assert vars(rag)["__all__"] == EXPORTED
    assert all(getattr(rag, name).__module__.startswith("rag.") for name in EXPORTED)


@pytest.mark.parametrize("name", [name for name in EXPORTED if name.startswith("AstRag")])
def test_errors_go_by_the_contracts_names_too(name: str) -> None:
    assert getattr(rag, name) is getattr(errors, name.removeprefix("AstRag"))


FRAMEWORKS = {"llama_index", "sqlalchemy", "onnxruntime", "aiohttp", "nltk", "tiktoken"}
"""Seconds of loading, for which only who embeds, searches by vectors or answers has to wait."""


@pytest.mark.parametrize(
    ("start", "heavy"),
    [
        ("import rag", FRAMEWORKS | {"pymupdf", "psycopg", "streamlit"}),
        ("import rag.worker, rag.api.app, rag.mcp_server.http", FRAMEWORKS | {"streamlit"}),
        ("import rag.cli.app", FRAMEWORKS | {"pymupdf", "psycopg", "streamlit", "limits"}),
        ("import rag.access.gate", FRAMEWORKS | {"rag.engine", "psycopg"}),
        ("import rag.engine, rag.ingestion.language_detection", FRAMEWORKS | {"py3langid"}),
    ],
)
def test_starting_loads_nothing_that_is_needed_later(start: str, heavy: set[str]) -> None:
    code = f"import sys\n{start}\nprint(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_names_of_packages_are_there_when_they_are_asked_for() -> None:
    for package in (answering, ingestion, providers, retrieval):
        assert all(getattr(package, name) is not None for name in package.__all__)
        with pytest.raises(AttributeError, match="has no attribute 'nonesuch'"):
            getattr(package, "nonesuch")  # noqa: B009


def imported(scope: ast.AST) -> Iterator[str]:
    """The modules that are imported in a module or function, in order, without the functions in it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from ()
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported(node)


def test_llamaindex_is_loaded_before_its_parts() -> None:
    """Else two threads that load at the same time may get a module half made."""
    loading = 0
    for path in Path(rag.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for scope in (tree, *functions):
            parts = [name for name in imported(scope) if name.startswith("llama_index.")]
            assert parts[:1] in ([], ["llama_index.core"]), f"{path}: {parts[0]} before llama_index.core"
            loading += bool(parts)
    assert loading > 10
