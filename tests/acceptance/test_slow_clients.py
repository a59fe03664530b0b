"""Requests that begin and never end: whoever sends whole ones is answered meanwhile, by each server."""

import contextlib
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.processes import free_port
from tests import forked

PATIENCE_SECONDS = 240.0
"""In which whatever is waited for must have come, however slow the machine is."""
HALF_SENT = 300
HALVES = (
    b"GET /health HTTP/1.1\r\nhost: localhost\r\n",
    b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
)
OTHER_ADDRESS = "127.0.0.2"


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


def is_ended(connection: socket.socket) -> bool:
    """Whether the server ends it, after whatever it has to say."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.usefixtures("settings")
@pytest.mark.timeout(4 * PATIENCE_SECONDS)
@pytest.mark.parametrize(
    ("arguments", "path", "status"),
    [(("serve",), "/health", 200), (("mcp", "--http"), "/mcp", 400), (("run", "--no-browser"), "/_stcore/health", 200)],
    ids=["REST", "MCP", "the app"],
)
def test_half_sent_requests_lock_nobody_out(
    arguments: tuple[str, ...], path: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_WORKER", "false")
    monkeypatch.setenv("RAG_UPLOAD_TIMEOUT_SECONDS", "5")
    other = OTHER_ADDRESS if sys.platform == "linux" else "127.0.0.1"
    with serving(tmp_path / "log", *arguments) as port, contextlib.ExitStack() as half_sent:
        connections = []
        for number in range(HALF_SENT):
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
            half_sent.enter_context(connection)
            connection.sendall(HALVES[number % len(HALVES)])
            connections.append(connection)
        transport = httpx.HTTPTransport(local_address=other)
        with httpx.Client(transport=transport, timeout=PATIENCE_SECONDS, trust_env=False) as web:
            answered = web.post if path == "/mcp" else web.get
            assert answered(f"http://localhost:{port}{path}").status_code == status
        assert all(map(is_ended, connections))
        with httpx.Client(timeout=PATIENCE_SECONDS, trust_env=False) as web:
            answered = web.post if path == "/mcp" else web.get
            assert answered(f"http://localhost:{port}{path}").status_code == status
