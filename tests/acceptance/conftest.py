"""What the doors' tests share: settings that point to a database and a data folder of their own."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import typer
from typer import testing

from rag.engine import RAGEngine
from tests.acceptance import api
from tests.databases import Databases
from tests.integration.conftest import database_url, databases, run_folder, server_url, texts_embedded_once

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"
PATIENCE_SECONDS = 60
__all__ = ["database_url", "databases", "run_folder", "server_url", "texts_embedded_once"]


@pytest.fixture(scope="session", autouse=True)
def components_sought_once() -> Iterator[None]:
    """Each `AppTest` would look through all installed packages for components, which takes it half a second."""
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        found = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_made_once() -> Iterator[None]:
    """Each `CliRunner` would make all commands anew, which takes it a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "_get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def settings(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # a fixture
    """The environment of a user with an empty database; returns the data folder."""
    monkeypatch.setenv("RAG_DATABASE_URL", database_url)
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def app(settings: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[AppTest]":  # fixtures
    """The app before its first page is shown, without a worker: tests read documents themselves."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    from rag.ui import session

    monkeypatch.setenv("RAG_WORKER", "false")
    yield AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="module")
def shared_database_url(databases: Databases) -> Iterator[str]:  # a fixture
    """A database with our schema that the tests of a module share."""
    with databases.lent() as url:
        yield url


@pytest.fixture(scope="module")
def shared_settings(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:  # fixtures
    """The same for all tests of a module, which must only read; returns the data folder."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAG_DATABASE_URL", shared_database_url)
        environment.setenv("RAG_DATA_DIR", str(folder / "data"))
        yield folder / "data"


@pytest.fixture(scope="module")
def engine(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    """The engine that a module's API stands on, which is open to the shared key."""
    with api.open_engine(shared_database_url, tmp_path_factory.mktemp("data")) as opened:
        yield opened


@pytest.fixture(scope="module")
def documents(engine: RAGEngine) -> dict[str, str]:
    """Names and ids of two ready documents."""
    return api.take_in(engine)


@pytest.fixture(scope="module")
def base_url(engine: RAGEngine) -> Iterator[str]:
    """Where the API is served."""
    with api.serving(engine) as url:
        yield url


@pytest.fixture(scope="module")
def web(base_url: str) -> Iterator[httpx.Client]:
    """A client with the shared key."""
    with api.client(base_url) as client:
        yield client
