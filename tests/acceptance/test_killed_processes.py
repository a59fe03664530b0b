"""What a killed app leaves: nothing half done, nothing lost, and work that goes on."""

import signal
import uuid
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import psutil
import pytest

from rag import worker
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import DocumentStatus
from tests import forked, pdfs
from tests.waiting import eventually

pytestmark = pytest.mark.long

APP = """
    import os, time
    from rag import worker
    app = os.getpid()
    if os.fork():
        time.sleep(600)
    worker.main(["--parent", str(app)])
"""
"""An app as the worker sees it: a process that started it and may die at any time."""
PAGES = 400
"""Enough to be seen in the middle of each stage."""


def kill(process: ForkServerProcess) -> None:
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def log() -> bytes:
    """Many pages, which take time to read, with a line each, which takes little to embed."""
    return pdfs.pages(PAGES, line=lambda n: f"The ship Meridian counted {n * 7} barrels on day {n}.", others=())


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("stage", [DocumentStatus.PARSING, DocumentStatus.EMBEDDING])
def test_a_killed_app_leaves_no_half_document_and_the_next_one_finishes_it(stage: DocumentStatus) -> None:
    with RAGEngine(load_config()) as engine:
        kept = engine.documents.process(engine.documents.add(pdfs.plain(), "kept.pdf", enqueue=False).id)
        app = forked.start(APP)
        document = engine.documents.add(log(), "log.pdf")
        assert eventually(lambda: engine.documents.get(document.id).status is stage), stage
        started = psutil.Process(app.pid).children(recursive=True)
        kill(app)
        assert eventually(lambda: not any(process.is_running() for process in started))

        assert engine.documents.get(document.id).status is not DocumentStatus.READY
        # Its words are searched as soon as all pages are read; of a file of 400 pages the first 100 before that.
        left = engine.documents.get(document.id)
        assert left.searchable or stage is DocumentStatus.PARSING
        assert left.vector_count < PAGES
        found = engine.search({"query": "barrels counted on the ship Meridian", "retrieval": {"minScore": 0}}).results
        assert {hit.document_name for hit in found} == {"log.pdf" if left.searchable else "kept.pdf"}
        assert engine.documents.get(kept.id) == kept

        worker.run(engine.installation, wait=False)  # as that of the next app does
        finished = engine.documents.get(document.id)
        assert finished.status is DocumentStatus.READY
        assert finished.page_count == PAGES
        assert len({chunk.id for chunk in engine.store.chunks.of_document(document.id)}) == finished.chunk_count
        assert finished.vector_count == finished.chunk_count
        assert engine.search({"query": "ship Meridian day 7 barrels"}).results[0].document_name == "log.pdf"


def test_a_killed_ingestion_from_the_command_line_is_finished_by_a_worker(settings: Path, tmp_path: Path) -> None:
    source = tmp_path / "log.pdf"
    source.write_bytes(log())
    ingest = forked.start(forked.PAGELIGHT, "ingest", source, output=tmp_path / "printed")
    with RAGEngine(load_config()) as engine:

        def only() -> uuid.UUID | None:
            ids = [document.id for document in engine.documents.list() if document.status is DocumentStatus.EMBEDDING]
            return ids[0] if ids else None

        assert eventually(only)
        kill(ingest)
        (document,) = engine.documents.list()
        assert document.status is DocumentStatus.EMBEDDING
        assert forked.run(forked.PAGELIGHT, "worker", "--once", output=tmp_path / "printed") == 0
        assert engine.documents.get(document.id).status is DocumentStatus.READY
    assert not list(settings.glob("**/*.tmp"))
