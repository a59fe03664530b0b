"""Measure the delay of an upload while another user's matrix is filled."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pydantic

from benchmarks import databases, material
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors
from rag.config import Config
from rag.engine import Installation, RAGEngine
from rag.types import Document, DocumentStatus, Job

ASKED_PAGES, QUICK_ASKED_PAGES = 60, 1
QUESTIONS, QUICK_QUESTIONS = 50, 50
DOCUMENTS, QUICK_DOCUMENTS = 12, 1
UPLOADED_PAGES, QUICK_UPLOADED_PAGES = 20, 1
ROUNDS, QUICK_ROUNDS = 5, 1
BEGUN = 5
"""Questions answered before the upload, so that the job has loaded its models."""
MODELS = {"RAG_EMBED_MODEL": "local", "RAG_GEN_MODEL": "extractive"}
POLL_SECONDS = 0.05
ENDED = ("done", "failed", "cancelled")

RATIO = at_most(2)
"""The share of one of two cores: the matrix keeps the other until it yields."""


def measure(options: Options, section: Section) -> None:
    """Alternate between an upload alone and one while a matrix is filled."""
    quick = options.quick
    questions, rounds = (QUICK_QUESTIONS, QUICK_ROUNDS) if quick else (QUESTIONS, ROUNDS)
    pages = QUICK_UPLOADED_PAGES if quick else UPLOADED_PAGES
    section.about = f"uploads of {pages} pages, evaluations of {questions} questions, {rounds} rounds, medians"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
        Installation(_config(options, name, url)) as installation,
        _worker(installation.config),
    ):
        folder = Path(name)
        analyst, colleague = installation.for_user("analyst"), installation.for_user("colleague")
        asked = material.make_pdf(folder / "asked.pdf", QUICK_ASKED_PAGES if quick else ASKED_PAGES)
        cases = _cases(analyst, _ready(analyst, analyst.documents.add(asked, asked.name)), questions)
        uploads = [material.make_pdf(folder / f"{seed}.pdf", pages, seed=seed) for seed in range(2, 2 * rounds + 3)]
        _seconds(colleague, uploads.pop())  # start the parser
        alone, beside, answered = [], [], []
        while uploads:
            alone.append(_seconds(colleague, uploads.pop()))
            with _evaluating(analyst, cases) as count:
                before = count()
                beside.append(_seconds(colleague, uploads.pop()))
                answered.append(count() - before)
    first, second = statistics.median(alone), statistics.median(beside)
    section.add("upload alone", first, "s")
    section.add("upload while a matrix is filled", second, "s")
    section.add("while a matrix is filled / alone", second / first, "×", RATIO)
    section.notes.append(f"Questions answered meanwhile: {statistics.median(answered):g} (median)")


def _config(options: Options, folder: str, url: str) -> Config:
    changes = {"rag_data_dir": Path(folder), "rag_storage_url": None, "rag_database_url": pydantic.SecretStr(url)}
    return options.config.model_copy(update=changes)


@contextmanager
def _worker(config: Config) -> Iterator[None]:
    """Run `pagelight worker` with its default concurrency."""
    assert config.rag_database_url is not None
    settings = {
        "RAG_DATA_DIR": str(config.rag_data_dir),
        "RAG_DATABASE_URL": config.rag_database_url.get_secret_value(),
        "RAG_STORAGE_URL": "",
        **MODELS,
    }
    command = [sys.executable, "-m", "rag", "worker"]
    with subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def _cases(engine: RAGEngine, document: Document, count: int) -> list[dict[str, object]]:
    """Return evaluation questions from the document's own words."""
    texts = [chunk.text for chunk in engine.chunks.list(document.id)]
    return [
        {"id": str(number), "question": question, "pdf": document.name, "goldPages": [1], "answer": "unknown"}
        for number, question in enumerate(material.questions(texts, count))
    ]


@contextmanager
def _evaluating(engine: RAGEngine, cases: list[dict[str, object]]) -> Iterator[Callable[[], int]]:
    """Yield a running evaluation with its count of answered questions, and cancel it at the end.

    Raises:
        RuntimeError: if it ended before the block did, which makes the measurement invalid.
    """
    job = engine.jobs.start_evaluation({"subject": "answers", "questions": cases})

    def answered() -> int:
        found = engine.jobs.get(job.id)
        if found.status in ENDED:
            raise RuntimeError(f"the evaluation is {found.status} already: {found.error or 'it has too few questions'}")
        return found.progress.done

    _wait(lambda: answered() >= BEGUN)
    yield answered
    engine.jobs.cancel(job.id)
    _wait(lambda: _has_ended(engine.jobs.get(job.id)))


def _has_ended(job: Job) -> bool:
    return job.status in ENDED


def _seconds(engine: RAGEngine, path: Path) -> float:
    """Return the seconds from upload to searchability."""
    started = time.perf_counter()
    _ready(engine, engine.documents.add(path, path.name))
    return time.perf_counter() - started


def _ready(engine: RAGEngine, document: Document) -> Document:
    """Return the document once it is searchable."""

    def is_ready() -> bool:
        found = engine.documents.get(document.id)
        if found.status is DocumentStatus.FAILED:
            raise errors.StoreError(f"{found.name} was not read: {found.error}")
        return found.status is DocumentStatus.READY

    _wait(is_ready)
    return engine.documents.get(document.id)


def _wait(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(POLL_SECONDS)
