"""PostgreSQL servers that stop answering for a while."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from rag.store import embedded


@contextmanager
def own_server() -> Iterator[embedded.EmbeddedServer]:
    """An embedded server that nobody else uses."""
    with tempfile.TemporaryDirectory(prefix="pagelight-test-") as folder:
        Path(folder).chmod(0o755)  # as root the server runs under another account, who must be able to enter
        server = embedded.start(Path(folder) / "database")
        try:
            yield server
        finally:
            server.close()


@contextmanager
def frozen(server: embedded.EmbeddedServer) -> Iterator[None]:
    """All processes of the server are stopped, as by SIGSTOP, until the end of the block."""
    postmaster = psutil.Process(int((server.data_dir / "postmaster.pid").read_text().split()[0]))
    postmaster.suspend()  # first, so that it starts no others
    stopped = [postmaster, *postmaster.children(recursive=True)]
    try:
        for process in stopped[1:]:
            with suppress(psutil.NoSuchProcess):  # it was about to end
                process.suspend()
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()
