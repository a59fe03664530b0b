"""A database that stops answering, as the users of each door see it: told in time, and back when it is back."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from typer import testing

from benchmarks.processes import free_port
from rag.cli.app import app as cli
from rag.config import load_config
from rag.engine import RAGEngine
from rag.store.server import embedded
from rag.ui import session
from tests import forked, pdfs
from tests.acceptance.api import error_of
from tests.stopping import frozen, own_server
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 300.0
"""In which whatever is waited for must have come, however slow the machine is."""
HEALTH_SECONDS = 5.0
LIMIT_SECONDS = "3"
SILENT = "The database does not answer"

pytestmark = [pytest.mark.long, pytest.mark.timeout(4 * PATIENCE_SECONDS)]


@pytest.fixture(scope="module")
def server() -> Iterator[embedded.EmbeddedServer]:
    with own_server() as server:
        yield server


@pytest.fixture
def settings(server: embedded.EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Those of an installation with a document."""
    monkeypatch.setenv("RAG_DATABASE_URL", server.url)
    monkeypatch.setenv("RAG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RAG_DATABASE_TIMEOUT_SECONDS", LIMIT_SECONDS)
    monkeypatch.setenv("RAG_WORKER", "false")
    with RAGEngine(load_config()) as engine:
        name = f"{tmp_path.name}.pdf"
        document = engine.documents.add(pdfs.plain([f"The harbour of {tmp_path.name}."]), name, enqueue=False)
        assert engine.documents.process(document.id).status == "ready"
        yield
        engine.documents.trash([document.id])


@contextmanager
def serving(log: Path, *arguments: str) -> Iterator[str]:
    """The base URL of a server that is a process of its own."""
    port = free_port()
    server = forked.start(forked.PAGELIGHT, *arguments, "--port", port, output=log)
    try:
        assert eventually(lambda: is_open(port) or server.exitcode is not None), log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        forked.stop(server, seconds=PATIENCE_SECONDS)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.usefixtures("settings")
def test_a_frozen_database_is_a_503_of_rest_that_ends_with_it(server: embedded.EmbeddedServer, tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log", "serve") as url,
        httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False) as web,
    ):
        assert web.get("/health").json() == {"ok": True}
        before = web.get("/documents")
        assert f"{tmp_path.name}.pdf" in before.text
        with frozen(server):
            health = web.get("/health", timeout=HEALTH_SECONDS)
            assert error_of(health) == (503, "store")
            assert int(health.headers["retry-after"]) > 0
            for method, path, body in [
                ("GET", "/documents", None),
                ("POST", "/ask", {"question": "Which harbour?"}),
                ("POST", "/retrieve", {"query": "harbour"}),
                ("DELETE", "/conversations/4d3b5b1e-6f43-4b8f-9d5f-1f0b8ad3a111", None),
            ]:
                answer = web.request(method, path, json=body)
                assert error_of(answer) == (503, "store_unavailable" if path == "/retrieve" else "store"), path
                assert int(answer.headers["retry-after"]) > 0
            assert error_of(web.get("/health", timeout=HEALTH_SECONDS)) == (503, "store")
        assert eventually(lambda: web.get("/health").status_code == 200)
        assert web.get("/documents").json() == before.json()


@pytest.mark.usefixtures("settings")
def test_a_frozen_database_fails_commands(server: embedded.EmbeddedServer, tmp_path: Path) -> None:
    """One in a process of its own, as people have it; the others here, which has loaded what they need."""
    questions = (["search", "harbour"], ["ask", "Which harbour?"])
    files = {"output": tmp_path / "output", "errors": tmp_path / "errors"}
    command_line = testing.CliRunner()
    with frozen(server):
        code = forked.run(forked.PAGELIGHT, "documents", "list", **files)
        answered = [command_line.invoke(cli, question) for question in questions]
    said = files["errors"].read_text()
    assert code == 7
    assert SILENT in said
    assert "Traceback" not in said
    assert [(one.exit_code, SILENT in one.stderr) for one in answered] == [(7, True)] * len(questions)
    assert forked.run(forked.PAGELIGHT, "documents", "list", **files) == 0
    for question in questions:
        assert eventually(lambda: command_line.invoke(cli, question).exit_code == 0)  # noqa: B023


@pytest.mark.usefixtures("settings")
def test_a_frozen_database_is_an_error_of_mcp(server: embedded.EmbeddedServer, tmp_path: Path) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "harbour"}},
    }
    headers = {"accept": "application/json, text/event-stream"}

    def ask(web: httpx.Client) -> httpx.Response:
        return web.post("/mcp", json=call, headers=headers)

    with (
        serving(tmp_path / "log", "mcp", "--http") as url,
        httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False) as web,
    ):
        assert ask(web).json()["result"]["isError"] is False
        with frozen(server):
            refused = ask(web)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store")
            assert SILENT in refused.json()["error"]["message"]
            assert int(refused.headers["retry-after"]) > 0
        assert eventually(lambda: ask(web).status_code == 200)


@pytest.fixture
def app(settings: None) -> Iterator[AppTest]:
    yield AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE_SECONDS)
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


def messages(app: AppTest) -> list[Any]:
    return [element.value for element in app.error]


def test_a_frozen_database_is_shown_on_pages_which_recover(server: embedded.EmbeddedServer, app: AppTest) -> None:
    app.run()
    assert not messages(app)
    with frozen(server):
        for page in ("chat", "upload", "library", "index"):
            app.switch_page(f"pages/{page}.py").run()
            assert not app.exception, json.dumps([str(shown.value) for shown in app.exception])
            assert any(SILENT in message for message in messages(app)), page
    assert eventually(lambda: not messages(app.run()))
