"""Measure the delay of an upload while another user's matrix is filled."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
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

ASKED_PAGES = 5
QUESTIONS = 50
DOCUMENTS, QUICK_DOCUMENTS = 12, 2
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
    count, rounds = (QUICK_DOCUMENTS, QUICK_ROUNDS) if quick else (DOCUMENTS, ROUNDS)
    pages = QUICK_UPLOADED_PAGES if quick else UPLOADED_PAGES
    section.about = f"uploads of {pages} pages, matrices of {count * QUESTIONS} cells, {rounds} rounds, medians"
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
        Installation(_config(options, name, url)) as installation,
        _worker(installation.config),
    ):
        folder = Path(name)
        analyst, colleague = installation.for_user("analyst"), installation.for_user("colleague")
        files = [material.make_pdf(folder / f"asked {n}.pdf", ASKED_PAGES, seed=1000 + n) for n in range(count)]
        documents = [_ready(analyst, analyst.documents.add(file, file.name)) for file in files]
        texts = [chunk.text for chunk in analyst.store.chunks.of_document(documents[0].id)]
        matrix = {
            "name": "fairness",
            "documentIds": [document.id for document in documents],
            "fields": material.questions(texts, QUESTIONS),
        }
        uploads = [material.make_pdf(folder / f"{seed}.pdf", pages, seed=seed) for seed in range(2, 2 * rounds + 3)]
        _seconds(colleague, uploads.pop())  # start the parser
        alone, beside, answered = [], [], []
        while uploads:
            alone.append(_seconds(colleague, uploads.pop()))
            with _filling(analyst, matrix) as progress:
                before = progress()
                beside.append(_seconds(colleague, uploads.pop()))
                answered.append(progress() - before)
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


@contextmanager
def _filling(engine: RAGEngine, request: Mapping[str, object]) -> Iterator[Callable[[], int]]:
    """Yield a matrix that is being filled, with its count of answered questions, and cancel the job at the end.

    Raises:
        RuntimeError: if it ended before the block did, which makes the measurement invalid.
    """
    matrix = engine.matrices.create(request)
    assert matrix.job_id is not None
    job_id = matrix.job_id

    def answered() -> int:
        job = engine.store.jobs.get(job_id)
        if job.status in ENDED:
            raise RuntimeError(f"the matrix is {job.status} already: {job.error or 'it has too few questions'}")
        return job.progress.done

    _wait(lambda: answered() >= BEGUN)
    yield answered
    engine.store.jobs.cancel(job_id)
    _wait(lambda: _has_ended(engine.store.jobs.get(job_id)))


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
