"""Compare our viewer with `streamlit-pdf-viewer`: time from click to highlight, and the browser's memory.

Needs Chromium, and Linux for the browser's memory in /proc.
"""

import math
import os
import statistics
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

import pydantic
from llama_index.core.embeddings import MockEmbedding
from playwright.sync_api import Page

from benchmarks import apps, databases, material
from benchmarks.processes import below, running
from benchmarks.report import Section
from benchmarks.settings import Options
from rag.engine import RAGEngine
from rag.types import LOCAL_USER, EmbeddingSpace

PAGES, QUICK_PAGES = (10, 500, 2400), (2,)
THEIR_MOST_PAGES = 50
"""Maximum pages for `streamlit-pdf-viewer`, which draws all of them for each click: 500 took 40 seconds and 7 GB."""
OTHER_PAGES = 12
"""Pages of the document that is opened in between."""
CLICKS, QUICK_CLICKS = 20, 2
STRIDE = 3
"""Step between visited places; coprime with each number of clicks, so that all are visited out of order."""
VIEWERS = {"ours": "our viewer", "theirs": "streamlit-pdf-viewer"}
SPACE = EmbeddingSpace(provider="none", model="none", dimensions=8)
"""There is no search, so all vectors are equal."""
SCRIPT = Path(__file__).with_name("viewers_app.py")
FLAGS = ("--server.headless", "true", "--server.address", "127.0.0.1", "--server.port")
SERVER = ("-m", "streamlit", "run", str(SCRIPT), *FLAGS)
REST_MS = 500
"""Pause before each click, for work started by the last one."""
SHOWN = {
    "ours": """() => {
        window.viewer ??= [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
            root => root?.querySelector(".viewer"));
        return window.viewer?.querySelector(".page img");
    }""",
    "theirs": """pages => document.querySelector("iframe")?.contentDocument?.getElementById(`canvas_page_${pages}`)""",
}
"""Whether the viewer has finished its first drawing: the visible page, or all pages."""
CLICK = """([viewer, number, page]) => new Promise(done => {
    const isInside = (mark, height) => {
        const box = mark?.getBoundingClientRect();
        return box && box.height > 0 && box.top >= 0 && box.bottom <= height;
    };
    const isLit = {
        ours: () => {
            const sheet = window.viewer.querySelector(`.page[data-page="${page}"]`);
            const marks = [...(sheet?.querySelectorAll(`.mark.quote[data-key$=":${number}"]`) ?? [])];
            return sheet?.querySelector("img") && isInside(marks[0], innerHeight);
        },
        theirs: () => [...document.querySelectorAll("iframe")].some(({contentDocument: inner, contentWindow: frame}) =>
            isInside(inner?.querySelector(`[data-position="${number}"]`), frame?.innerHeight)),
    }[viewer];
    const look = () => isLit() ? done(performance.now() - started) : setTimeout(look, 5);
    const answer = [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
        root => root?.querySelector(".answer"));
    const button = {
        ours: () => answer.querySelector(`.text .chip[data-citation="${number}"]`),
        theirs: () => [...document.querySelectorAll("button")].find(
            ({innerText}) => innerText.trim() === `Place ${number}`),
    }[viewer]();
    const started = performance.now();
    button.click();
    look();
})"""
"""Click a citation or a button; return the milliseconds until its highlight is visible on a drawn page."""


def measure(options: Options, section: Section) -> None:
    """Measure each viewer and document in a separate browser."""
    apps.chromium()
    sizes, clicks = (QUICK_PAGES, QUICK_CLICKS) if options.quick else (PAGES, CLICKS)
    section.about = f"{clicks} clicks, a browser for each"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
    ):
        changes = {"rag_data_dir": Path(folder), "rag_storage_url": None, "rag_database_url": pydantic.SecretStr(url)}
        with RAGEngine(
            options.config.model_copy(update=changes),
            user_id=LOCAL_USER,
            embedders={SPACE: MockEmbedding(embed_dim=SPACE.dimensions)},
        ) as engine:
            documents = {pages: _add(engine, Path(folder), pages) for pages in sizes}
            other = _add(engine, Path(folder), OTHER_PAGES)
        with apps.serving(folder, url, SERVER) as base_url:
            for pages, document_id in documents.items():
                places = [(2 * number + 1) * pages // (2 * clicks) + 1 for number in range(clicks)]
                within = [(document_id, page) for page in places]
                across = [
                    (other, number % OTHER_PAGES + 1) if number % 2 else place for number, place in enumerate(within)
                ]
                for viewer, name in VIEWERS.items():
                    if viewer == "theirs" and pages > THEIR_MOST_PAGES:
                        continue
                    times, megabytes = _watch(_address(base_url, viewer, within), viewer, pages, within)
                    section.add(f"{pages} pages, {name}: click to highlight", statistics.median(times), "ms")
                    section.add(f"{pages} pages, {name}: click to highlight, p95", _p95(times), "ms")
                    section.add(f"{pages} pages, {name}: peak browser memory", megabytes, "MB")
                times, _ = _watch(_address(base_url, "ours", across), "ours", pages, across)
                section.add(f"{pages} pages, our viewer: click to another document", statistics.median(times), "ms")
                section.add(f"{pages} pages, our viewer: click to another document, p95", _p95(times), "ms")


def _address(base_url: str, viewer: str, places: Sequence[tuple[uuid.UUID, int]]) -> str:
    return f"{base_url}/?viewer={viewer}&places={','.join(f'{document}:{page}' for document, page in places)}"


def _p95(times: Sequence[float]) -> float:
    """Return the 95th percentile of the clicks."""
    return sorted(times)[math.ceil(0.95 * len(times)) - 1]


def _add(engine: RAGEngine, folder: Path, pages: int) -> uuid.UUID:
    content = material.make_pdf(folder / f"{pages}.pdf", pages).read_bytes()
    document = engine.documents.add(content, f"{pages} pages.pdf", enqueue=False)
    return engine.documents.process(document.id).id


def _watch(address: str, viewer: str, pages: int, places: Sequence[tuple[uuid.UUID, int]]) -> tuple[list[float], float]:
    """Return the milliseconds of each click and the page process's peak memory in megabytes."""
    order = [(step + 1) * STRIDE % len(places) for step in range(len(places))]
    with apps.opened(address) as page:
        page.goto(address)
        page.wait_for_function(SHOWN[viewer], arg=pages)
        times = [_click(page, viewer, number, places[number][1]) for number in order]
        megabytes = max(process.peak_mb for process in below({os.getpid()}, running()) if _draws(process.command))
    return times, megabytes


def _click(page: Page, viewer: str, number: int, page_number: int) -> float:
    apps.rest(page, REST_MS)
    milliseconds: float = page.evaluate(CLICK, [viewer, number, page_number])
    return milliseconds


def _draws(command: str) -> bool:
    return "--type=renderer" in command
