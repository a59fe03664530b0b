"""What holds for every test: no setting, key or file of the developer's machine reaches it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

SETTINGS = (
    "RAG_",
    "OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "VERTEX_",
    "OPENROUTER_",
    "PERPLEXITY_",
    "ANTHROPIC_",
    "PROVIDER_",
    "AZURE_",
    "AWS_",
    "HF_",
    "LLAMA_",
    "STREAMLIT_",
    "PG",
    "PORT",
    "PYTHONDONTWRITEBYTECODE",
    "CORS_ORIGIN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
)
"""Beginnings of the names of variables that the app, or a library it uses, would obey."""

EXTERNAL_DATABASE_URL = os.environ.get("RAG_DATABASE_URL")


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The environment of a fresh machine, and an empty working folder, where no `.env` is read.

    `RAG_DATA_DIR` is set, so that a test that does not choose a folder never touches the user's own.
    """
    folder = tmp_path_factory.mktemp("cwd")
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.upper().startswith(SETTINGS)]:
            environment.delenv(name)
        environment.setenv("RAG_DATA_DIR", str(folder / "data"))
        environment.chdir(folder)
        yield folder


@pytest.fixture(scope="session")
def external_database_url() -> str | None:
    """The server of `RAG_DATABASE_URL=… make test`: tests make databases of their own there. None: the embedded one."""
    return EXTERNAL_DATABASE_URL


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests in a browser come last: from the first of them on, Playwright's event loop runs in this thread."""
    items.sort(key=lambda item: "e2e" in item.path.parts)
