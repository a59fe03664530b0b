"""Servers of the command line, as processes of their own."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import free_port
from tests import forked

PATIENCE_SECONDS = 240.0
"""In which whatever is waited for must have come, however slow the machine is."""


@contextlib.contextmanager
def serving(log: Path, *arguments: str) -> Iterator[int]:
    """The port of a server that is a process of its own."""
    port = free_port()
    server = forked.start(forked.PAGELIGHT, *arguments, "--port", port, output=log)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_open(port):
            assert server.exitcode is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield port
    finally:
        forked.stop(server, seconds=PATIENCE_SECONDS)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
