"""Our viewer and `streamlit-pdf-viewer` with the whole document: from the click to the light, and the browser's memory.

Needs Chromium, and Linux, whose /proc tells its memory.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pydantic
from llama_index.core.embeddings import MockEmbedding
from playwright.sync_api import Page, sync_playwright

from benchmarks import databases, material
from benchmarks.processes import below, free_port, running, wait_for
from benchmarks.report import Section
from benchmarks.settings import Options
from rag import errors
from rag.engine import RAGEngine
from rag.types import LOCAL_USER, EmbeddingSpace

PAGES, QUICK_PAGES = (10, 500), (4,)
CLICKS, QUICK_CLICKS = 8, 2
STRIDE = 3
"""Places are gone to out of their order, which is why it and each number of clicks have no common divisor."""
VIEWERS = {"ours": "our viewer", "theirs": "streamlit-pdf-viewer"}
SPACE = EmbeddingSpace(provider="none", model="none", dimensions=8)
"""Nothing is searched, so all vectors are alike."""
SCRIPT = Path(__file__).with_name("viewers_page.py")
PATIENCE_MS = 600_000
REST_MS = 500
"""Before each click, for what the last one has set off."""
SHOWN = {
    "ours": """() => {
        window.viewer ??= [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
            root => root?.querySelector(".viewer"));
        return window.viewer?.querySelector(".page img");
    }""",
    "theirs": """pages => document.querySelector("iframe")?.contentDocument?.getElementById(`canvas_page_${pages}`)""",
}
"""Whether the viewer has drawn what it draws at first: the page in sight, or all pages."""
CLICK = """([viewer, number, page]) => new Promise(done => {
    const isInside = (mark, height) => {
        const box = mark?.getBoundingClientRect();
        return box && box.height > 0 && box.top >= 0 && box.bottom <= height;
    };
    const isLit = {
        ours: () => {
            const sheet = window.viewer.querySelector(`.page[data-page="${page}"]`);
            return sheet?.querySelector("img") && isInside(sheet.querySelector(".mark.quote"), innerHeight);
        },
        theirs: () => [...document.querySelectorAll("iframe")].some(({contentDocument: inner, contentWindow: frame}) =>
            isInside(inner?.querySelector(`[data-position="${number}"]`), frame?.innerHeight)),
    }[viewer];
    const look = () => isLit() ? done(performance.now() - started) : setTimeout(look, 5);
    const button = [...document.querySelectorAll("button")].find(node => node.innerText.trim() === `Place ${number}`);
    const started = performance.now();
    button.click();
    look();
})"""
"""Clicks the button of a place; gives the milliseconds until its mark is in sight on a drawn page."""


def measure(options: Options, section: Section) -> None:
    """Each viewer and document in a browser of its own."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise errors.ConfigError("The viewers are shown in Chromium, which is not installed: apt-get install chromium")
    sizes, clicks = (QUICK_PAGES, QUICK_CLICKS) if options.quick else (PAGES, CLICKS)
    section.about = f"medians of {clicks} clicks, a browser for each"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.passing(server_url) as url,
    ):
        changes = {"rag_data_dir": Path(folder), "rag_storage_url": None, "rag_database_url": pydantic.SecretStr(url)}
        with RAGEngine(
            options.config.model_copy(update=changes),
            user_id=LOCAL_USER,
            embedders={SPACE: MockEmbedding(embed_dim=SPACE.dimensions)},
        ) as engine:
            documents = {pages: _add(engine, Path(folder), pages) for pages in sizes}
        with _serving(folder, url) as base_url:
            for pages, document_id in documents.items():
                places = [(2 * number + 1) * pages // (2 * clicks) + 1 for number in range(clicks)]
                query = f"document={document_id}&places={','.join(map(str, places))}"
                for viewer, name in VIEWERS.items():
                    address = f"{base_url}/?viewer={viewer}&{query}"
                    milliseconds, megabytes = _watch(chromium, address, viewer, pages, places)
                    section.add(f"{pages} pages, {name}: click to highlight", milliseconds, "ms")
                    section.add(f"{pages} pages, {name}: peak memory of the browser", megabytes, "MB")


def _add(engine: RAGEngine, folder: Path, pages: int) -> uuid.UUID:
    content = material.make_pdf(folder / f"{pages}.pdf", pages).read_bytes()
    document = engine.documents.add(content, f"{pages} pages.pdf", enqueue=False)
    return engine.documents.process(document.id).id


@contextmanager
def _serving(folder: str, database_url: str) -> Iterator[str]:
    """The page on a free port: its base URL."""
    port = free_port()
    settings = {"RAG_DATA_DIR": folder, "RAG_DATABASE_URL": database_url, "RAG_STORAGE_URL": "", "RAG_WORKER": "false"}
    command = [sys.executable, "-m", "streamlit", "run", str(SCRIPT)]
    flags = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
    with subprocess.Popen(
        [*command, *flags],
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _watch(chromium: str, address: str, viewer: str, pages: int, places: list[int]) -> tuple[float, float]:
    """Milliseconds of the median click, and the most megabytes that the process of the page had."""
    order = (step * STRIDE % len(places) for step in range(len(places)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        page.wait_for_function(SHOWN[viewer], arg=pages)
        times = [_click(page, viewer, number, places) for number in order]
        megabytes = max(process.peak_mb for process in below({os.getpid()}, running()) if _draws(process.command))
        browser.close()
    return statistics.median(times), megabytes


def _click(page: Page, viewer: str, number: int, places: list[int]) -> float:
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(REST_MS)
    milliseconds: float = page.evaluate(CLICK, [viewer, number, places[number]])
    return milliseconds


def _draws(command: str) -> bool:
    return "--type=renderer" in command
