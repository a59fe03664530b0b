"""An answer without a language model in the app, until it is in sight, against the same in a bare process.

Both on a machine that is left alone and on one whose cores are busy with something else. Needs Chromium.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pydantic
from playwright.sync_api import Page, sync_playwright

from benchmarks import databases, material, timing
from benchmarks.processes import free_port, wait_for
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors
from rag.config import Config
from rag.engine import RAGEngine
from rag.types import Document

PAGES, QUICK_PAGES = 60, 4
QUESTIONS, QUICK_QUESTIONS = 10, 2
QUESTION_WORDS = 8
BUSY = {"left alone": 0, "2 busy loops beside": 2}
"""Processes that compute without end beside both."""
PATIENCE_MS = 600_000
REST_MS = 500
"""Before each question, for what opening the page has set off."""
SETTINGS = {"RAG_EMBED_MODEL": "local", "RAG_GEN_MODEL": "extractive", "RAG_STORAGE_URL": "", "RAG_WORKER": "false"}
RATIO = at_most(2)
"""The page takes no longer than the answer itself."""


def measure(options: Options, section: Section) -> None:
    """App and bare process are asked in turns, so that a disturbance hits them alike."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise errors.ConfigError("The app is shown in Chromium, which is not installed: apt-get install chromium")
    pages, count = (QUICK_PAGES, QUICK_QUESTIONS) if options.quick else (PAGES, QUESTIONS)
    section.about = f"a document of {pages} pages, {count} questions of {QUESTION_WORDS} words, medians"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.passing(server_url) as url,
        RAGEngine(_config(options, folder, url)) as engine,
        _serving(folder, url) as base_url,
        _opened(chromium, base_url) as page,
    ):
        content = material.make_pdf(Path(folder, "report.pdf"), pages).read_bytes()
        document = engine.documents.add(content, "report.pdf", enqueue=False)
        asked = _questions(engine, engine.documents.process(document.id), count * len(BUSY) + 1)
        first, *others = asked
        ways: tuple[Callable[[str], object], ...] = (engine.answer, lambda question: _ask(page, question))
        _seconds(page, ways, first)  # loads the models
        for number, (name, loops) in enumerate(BUSY.items()):
            with _busy(loops):
                times = [_seconds(page, ways, question) for question in others[number * count : (number + 1) * count]]
            bare, shown = (statistics.median(column) for column in zip(*times, strict=True))
            section.add(f"{name}: bare process", bare * 1000, "ms")
            section.add(f"{name}: in the app", shown * 1000, "ms")
            section.add(f"{name}: the app takes, of the bare time", shown / bare, "×", RATIO)


def _config(options: Options, folder: str, url: str) -> Config:
    changes = {
        "rag_data_dir": Path(folder),
        "rag_storage_url": None,
        "rag_database_url": pydantic.SecretStr(url),
        "rag_gen_model": SETTINGS["RAG_GEN_MODEL"],
    }
    return options.config.model_copy(update=changes)


def _questions(engine: RAGEngine, document: Document, count: int) -> list[str]:
    """Words that follow each other somewhere in the document."""
    rng = np.random.default_rng(1)
    chunks = engine.chunks.list(document.id)
    texts = [chunks[place].text.split() for place in rng.integers(0, len(chunks), count)]
    starts = [int(rng.integers(0, max(len(words) - QUESTION_WORDS, 1))) for words in texts]
    return [" ".join(words[start : start + QUESTION_WORDS]) for words, start in zip(texts, starts, strict=True)]


@contextmanager
def _serving(folder: str, url: str) -> Iterator[str]:
    """The app on a free port: its base URL."""
    port = free_port()
    command = [sys.executable, "-m", "rag", "run", "--port", str(port), "--no-browser"]
    environment = {**os.environ, **SETTINGS, "RAG_DATA_DIR": folder, "RAG_DATABASE_URL": url}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


@contextmanager
def _opened(chromium: str, base_url: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, base_url=base_url)
        page.set_default_timeout(PATIENCE_MS)
        yield page
        browser.close()


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    """So many processes that compute without end."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _seconds(page: Page, ways: tuple[Callable[[str], object], ...], question: str) -> list[float]:
    """How long each way takes; a new chat is open before."""
    _open(page)
    return [timing.seconds(lambda way=way: way(question)) for way in ways]  # type: ignore[misc]


def _open(page: Page) -> None:
    page.goto("/")
    page.get_by_placeholder("Ask about your documents").wait_for()
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(REST_MS)


def _ask(page: Page, question: str) -> None:
    """Until the answer is in sight, or what is nearest to a question that has none."""
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(question)
    field.press("Enter")
    page.locator(".answer .source").first.wait_for()
