"""A page whose database stops answering says so, and comes back without a click."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.processes import free_port
from rag.store.server import embedded
from tests.e2e.conftest import ROOT, started, visit
from tests.stopping import frozen, own_server

SILENT = "The database does not answer"


@pytest.fixture
def server() -> Iterator[embedded.EmbeddedServer]:
    with own_server() as server:
        yield server


@pytest.fixture
def own_url(server: embedded.EmbeddedServer, tmp_path: Path) -> Iterator[str]:
    """The app over a database that can be stopped."""
    port = free_port()
    settings = {
        "RAG_DATABASE_URL": server.url,
        "RAG_DATA_DIR": str(tmp_path / "data"),
        "RAG_DATABASE_TIMEOUT_SECONDS": "3",
        "RAG_WORKER": "false",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "rag", "run", "--port", str(port), "--no-browser"]
    with started(command, tmp_path / "app.log", ROOT, {**os.environ, **settings}, port):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.long
@pytest.mark.expected_errors(SILENT)
def test_a_page_comes_back_by_itself(server: embedded.EmbeddedServer, own_url: str, browser: Browser) -> None:
    with visit(browser, own_url) as page:
        page.goto("/")
        expect(page.get_by_text("No documents yet")).to_be_visible()
        with frozen(server):
            page.get_by_role("link", name="Library").click()
            expect(page.get_by_text(SILENT)).to_be_visible()
        expect(page.get_by_text(SILENT)).to_have_count(0)
        expect(page.get_by_text("Library").first).to_be_visible()
