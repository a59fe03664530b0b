"""PostgreSQL servers that stop responding for a while."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from rag.store.server import embedded
from tests.folders import open_folder


@contextmanager
def own_server() -> Iterator[embedded.EmbeddedServer]:
    """Yield an embedded server for the test alone."""
    with open_folder() as folder:
        server = embedded.start(folder / "database")
        try:
            yield server
        finally:
            server.close()


@contextmanager
def frozen(server: embedded.EmbeddedServer) -> Iterator[None]:
    """Stop all processes of the server with SIGSTOP during the block."""
    postmaster = psutil.Process(int((server.data_dir / "postmaster.pid").read_text().split()[0]))
    postmaster.suspend()  # first, so that it starts no new processes
    stopped = [postmaster, *postmaster.children(recursive=True)]
    try:
        for process in stopped[1:]:
            with suppress(psutil.NoSuchProcess):  # it was already ending
                process.suspend()
        yield
    finally:
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.resume()
