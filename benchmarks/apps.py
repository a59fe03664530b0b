"""Start the app on a free port and open it in Chromium."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.processes import free_port, wait_for
from rag import errors

ROOT = Path(__file__).parents[1]
APP = ("-m", "rag", "run", "--no-browser", "--port")
WINDOW = (1440, 900)
PATIENCE_MS = 600_000
CHROMIUM = (
    "chromium-headless-shell",  # uses less CPU
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
"""Names of the executable, in order of preference."""
RAN = '[data-testid="stApp"][data-test-script-state="notRunning"]'
"""Matches while no script runs on the server."""


@contextmanager
def serving(folder: str, database_url: str, command: Sequence[str] = APP, **settings: str) -> Iterator[str]:
    """Run a server on a free port, appended to `command`, and yield its base URL; by default without a worker."""
    port = free_port()
    own = {"RAG_DATA_DIR": folder, "RAG_DATABASE_URL": database_url, "RAG_STORAGE_URL": "", "RAG_WORKER": "false"}
    with subprocess.Popen(
        [sys.executable, *command, str(port)],
        cwd=ROOT,
        env={**os.environ, **own, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def find_chromium() -> str | None:
    """Return the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


def chromium() -> str:
    """Return the path of Chromium. Raises ConfigError if it is not installed."""
    found = find_chromium()
    if found is None:
        raise errors.ConfigError("This benchmark needs Chromium, which is not installed: apt-get install chromium")
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """Yield a headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def opened(base_url: str, patience_ms: int = PATIENCE_MS) -> Iterator[Page]:
    """Open a page in a new Chromium with the given timeout."""
    width, height = WINDOW
    with browsing() as browser:
        page = browser.new_page(viewport={"width": width, "height": height}, base_url=base_url)
        page.set_default_timeout(patience_ms)
        yield page


def rest(page: Page, milliseconds: int) -> None:
    """Wait until no script runs on the server, then for the browser to render."""
    page.locator(RAN).wait_for()
    page.wait_for_timeout(milliseconds)
