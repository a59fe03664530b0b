"""Compare the time to an answer in the app with that in a bare process, without a language model.

Both are measured on an idle machine and on one with busy cores. Needs Chromium.
"""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pydantic
from playwright.sync_api import Page

from benchmarks import apps, databases, material, timing
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag.config import Config
from rag.engine import RAGEngine

PAGES, QUICK_PAGES = 60, 1
QUESTIONS, QUICK_QUESTIONS = 10, 1
BUSY, QUICK_BUSY = (0, 2), (0, 1)
"""Number of CPU-bound processes that run in parallel."""
REST_MS = 500
"""Pause before each question, for work started by opening the page."""
SETTINGS = {"RAG_EMBED_MODEL": "local", "RAG_GEN_MODEL": "extractive"}
RATIO = at_most(2)
"""The page takes at most as long as the answer itself."""


def measure(options: Options, section: Section) -> None:
    """Ask the app and the bare process alternately, so that disturbances affect both."""
    apps.chromium()
    pages, count, busy = (QUICK_PAGES, QUICK_QUESTIONS, QUICK_BUSY) if options.quick else (PAGES, QUESTIONS, BUSY)
    section.about = f"a document of {pages} pages, {count} questions of {material.QUESTION_WORDS} words, medians"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
        RAGEngine(_config(options, folder, url)) as engine,
        apps.serving(folder, url, **SETTINGS) as base_url,
        apps.opened(base_url) as page,
    ):
        content = material.make_pdf(Path(folder, "report.pdf"), pages).read_bytes()
        document = engine.documents.add(content, "report.pdf", enqueue=False)
        chunks = engine.store.chunks.of_document(engine.documents.process(document.id).id)
        asked = material.questions([chunk.text for chunk in chunks], count * len(busy) + 1)
        first, *others = asked
        ways: tuple[Callable[[str], object], ...] = (engine.answer, lambda question: _ask(page, question))
        _seconds(page, ways, first)  # loads the models
        for number, loops in enumerate(busy):
            name = f"{loops} busy processes" if loops else "idle"
            with _busy(loops):
                times = [_seconds(page, ways, question) for question in others[number * count : (number + 1) * count]]
            bare, shown = (statistics.median(column) for column in zip(*times, strict=True))
            section.add(f"{name}: bare process", bare * 1000, "ms")
            section.add(f"{name}: in the app", shown * 1000, "ms")
            section.add(f"{name}: app / bare process", shown / bare, "×", RATIO)


def _config(options: Options, folder: str, url: str) -> Config:
    changes = {
        "rag_data_dir": Path(folder),
        "rag_storage_url": None,
        "rag_database_url": pydantic.SecretStr(url),
        "rag_gen_model": SETTINGS["RAG_GEN_MODEL"],
    }
    return options.config.model_copy(update=changes)


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    """Run `count` CPU-bound processes during the block."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _seconds(page: Page, ways: tuple[Callable[[str], object], ...], question: str) -> list[float]:
    """Return the seconds of both ways; a new chat is open before."""
    _open(page)
    return [timing.seconds(lambda way=way: way(question)) for way in ways]  # type: ignore[misc]


def _open(page: Page) -> None:
    page.goto("/")
    page.get_by_placeholder("Ask about your documents").wait_for()
    apps.rest(page, REST_MS)


def _ask(page: Page, question: str) -> None:
    """Ask in the app and wait for the answer, or for the nearest passages if there is none."""
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(question)
    field.press("Enter")
    page.locator(".answer .source").first.wait_for()
