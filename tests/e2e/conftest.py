"""The app as a user starts it, and a browser before it."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from benchmarks.apps import chromium
from benchmarks.processes import free_port
from tests import vendor_servers
from tests.databases import new_database
from tests.e2e import tracing
from tests.e2e.error_guard import ErrorGuard, unexpected
from tests.folders import open_folder
from tests.vendor_servers import VendorServer

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 30
"""How long to wait for what takes a second on an idle machine; nothing is asserted about time."""
START_SECONDS = 300
"""How long to wait for an app to start, with a database of its own, and to end."""
UNKNOWN_ORIGIN = ""
"""The server of addresses that are `data:` or `blob:`."""
GUARD = ErrorGuard()
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.needs_chromium)
            item.add_marker(pytest.mark.timeout(3 * START_SECONDS))


@pytest.fixture(autouse=True)
def no_unexpected_errors(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test whose pages show an error box, or whose servers log an error.

    `@pytest.mark.expected_errors("pattern", …)` names those that belong to the test.
    """
    yield
    expected = [pattern for marker in request.node.iter_markers("expected_errors") for pattern in marker.args]
    errors = unexpected(GUARD.take(), expected)
    assert not errors, "\n".join(errors)


@pytest.fixture(scope="package")
def ollama() -> Iterator[VendorServer]:
    """What speaks as Ollama does; the app finds it where its environment says."""
    with vendor_servers.openai_server() as server:
        server.pages["/v1/models"] = vendor_servers.listed("llama3.2:3b", "nomic-embed-text:latest")
        server.pages["/api/ps"] = {"models": [{"name": "llama3.2:3b", "context_length": 8192}]}
        yield server


@pytest.fixture(scope="package")
def base_url(external_database_url: str | None, ollama: VendorServer) -> Iterator[str]:
    """`pagelight run` on a free port, with an empty data folder and a database of its own."""
    with running(
        free_port(), external_database_url, {"OLLAMA_BASE_URL": ollama.url, "GEMINI_BASE_URL": ollama.url}
    ) as url:
        yield url
    assert GUARD.take() == []  # nothing is logged at the end either


@contextmanager
def running(
    port: int,
    database_url: str | None,
    settings: Mapping[str, str],
    *,
    secrets: str | None = None,
    is_watched: bool = False,
) -> Iterator[str]:
    """The address of `pagelight run` with a data folder and a database of its own; `secrets` are for Streamlit.

    What `is_watched` fails at the end when the app, its worker, a parser or the database has turned to another machine.
    It takes a fifth more computing.
    """
    with ExitStack() as databases:
        folder = databases.enter_context(open_folder())
        environment = {**os.environ, "RAG_DATA_DIR": f"{folder}/data", **settings}
        if database_url:
            environment["RAG_DATABASE_URL"] = databases.enter_context(new_database(database_url))
        if secrets:
            (where := folder / ".streamlit").mkdir()
            (where / "secrets.toml").write_text(secrets, encoding="utf-8")
            environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "rag", "run", "--port", str(port), "--no-browser"]
        connections = folder / "connections.log"
        if is_watched and tracing.is_possible():
            command = tracing.traced(command, connections)
        with started(command, folder / "app.log", folder if secrets else ROOT, environment, port):
            yield f"http://127.0.0.1:{port}"
        if connections.exists():
            assert tracing.elsewhere(connections.read_text(encoding="utf-8").splitlines()) == []


@contextmanager
def started(
    command: Sequence[str], log_path: Path, folder: Path, environment: Mapping[str, str], port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """The app that `command` starts in `folder`; it is ended afterwards, and its log is watched."""
    with log_path.open("wb") as log, GUARD.watch_log(log_path):
        app = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health", app)
            yield app
        finally:
            app.terminate()
            app.wait(START_SECONDS)


def _wait_for(url: str, app: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and app.poll() is None:
        try:
            with urllib.request.urlopen(url):
                return
        except (URLError, ConnectionError):
            time.sleep(0.2)
    pytest.fail("The app did not start.")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a window; while it is there, Playwright's event loop runs in this thread."""
    expect.set_options(timeout=PATIENCE_SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, base_url: str) -> Iterator[Page]:
    """A fresh visitor."""
    with visit(browser, base_url) as visitor:
        yield visitor


@contextmanager
def visit(browser: Browser, base_url: str, *others: str) -> Iterator[Page]:
    """A fresh visitor. Fails when a page asks any server but this one and `others` for anything, or throws.

    Its pages' error boxes fail the test unless it expects them (see `no_unexpected_errors`).
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=base_url)
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    GUARD.watch_pages(context)
    asked = _addresses(context)
    thrown: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    servers = {urlsplit(url).netloc for url in (base_url, *others)} | {UNKNOWN_ORIGIN}
    elsewhere = [url for url in asked if urlsplit(url).netloc not in servers]
    assert not elsewhere, "\n".join(elsewhere)
    assert thrown == []


def _addresses(context: BrowserContext) -> list[str]:
    """What is asked for from now on: by all pages, the windows that they open, their frames, workers and sockets."""
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("page", lambda page: page.on("websocket", lambda socket: asked.append(socket.url)))
    return asked
