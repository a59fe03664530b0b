"""Measure the peak memory of each process while a large PDF is uploaded in the app and ingested."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pydantic

from benchmarks import databases, material
from benchmarks.processes import PROC, Peaks, Process, running
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors
from rag.engine import RAGEngine
from rag.types import Document, DocumentStatus

PAGES, QUICK_PAGES = 2_400, 1
LIMIT_MB = at_most(1000)
POLL_SECONDS = 0.5
ENDED = (DocumentStatus.READY, DocumentStatus.FAILED, DocumentStatus.NEEDS_PASSWORD)
KINDS = {
    "rag.parsing.worker.fork_server": "parser",
    "rag.worker": "worker",
    "benchmarks.app_process": "app",
    "postgres": "database",
}
"""Substrings of command lines."""


def measure(options: Options, section: Section) -> None:
    """Use a temporary database and data folder."""
    if not PROC.is_dir():
        raise errors.ConfigError("This benchmark reads /proc, which only Linux has. Omit it.")
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
    ):
        folder = Path(name)
        path = options.pdf or material.make_pdf(folder / "large.pdf", QUICK_PAGES if options.quick else PAGES, seed=5)
        peaks = Peaks(kind_of)
        started = time.monotonic()
        with app(path, folder / "data", url) as process, peaks.watching({process.pid, *postmaster(url)}):
            document = wait(options, folder / "data", url, process)
        taken = time.monotonic() - started
    size = f"{document.page_count:,} pages, {document.size / 1e6:.1f} MB"
    section.about = f"{size}, {document.chunk_count:,} chunks, {document.status} after {taken:,.0f} s"
    for kind, megabytes in sorted(peaks.megabytes.items()):
        section.add(f"peak memory, {kind}", megabytes, "MB", LIMIT_MB)


def kind_of(process: Process) -> str:
    """Return the role of a process in the app."""
    return next((kind for part, kind in KINDS.items() if part in process.command), "other")


@contextmanager
def app(path: Path, data_dir: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the app's upload page with the file at `path`, which also starts a worker."""
    environment = {
        **os.environ,
        "RAG_DATA_DIR": str(data_dir),
        "RAG_DATABASE_URL": url,
        "RAG_STORAGE_URL": "",
        "RAG_EMBED_MODEL": "local",
    }
    command = [sys.executable, "-m", "benchmarks.app_process", str(path)]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.PIPE) as process,
    ):
        try:
            yield process
        finally:
            process.kill()
            log.seek(0)
            sys.stderr.write(log.read()[-2000:].decode(errors="replace") if process.wait() > 0 else "")


def postmaster(url: str) -> set[int]:
    """Return the parent of all database processes; empty if it runs on another machine."""
    with psycopg.connect(url) as connection:
        backend = running().get(connection.info.backend_pid)
    return {backend.parent} if backend and "postgres" in backend.command else set()


def wait(options: Options, data_dir: Path, url: str, process: subprocess.Popen[bytes]) -> Document:
    """Return the document once it is ready or has failed."""
    changes = {"rag_data_dir": data_dir, "rag_database_url": pydantic.SecretStr(url), "rag_storage_url": None}
    with RAGEngine(options.config.model_copy(update=changes)) as engine:
        while process.poll() is None:
            documents = engine.documents.list()
            if documents and documents[0].status in ENDED:
                return documents[0]
            time.sleep(POLL_SECONDS)
    raise RuntimeError(f"the app ended with exit code {process.returncode}")
