"""How many connections a server takes."""

import contextlib
import socket
from pathlib import Path

import httpx
import pytest

from rag.access.rate_limits import MAX_CONNECTIONS
from tests.acceptance.serving import PATIENCE_SECONDS, serving
from tests.waiting import eventually


@pytest.mark.usefixtures("settings")
@pytest.mark.timeout(4 * PATIENCE_SECONDS)
@pytest.mark.parametrize("arguments", [("serve",), ("mcp", "--http")], ids=["REST", "MCP"])
def test_more_connections_than_allowed_are_refused(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_WORKER", "false")
    with serving(tmp_path / "log", *arguments) as port:
        url = f"http://127.0.0.1:{port}/health"

        def is_refused() -> bool:
            return httpx.get(url, timeout=PATIENCE_SECONDS, trust_env=False).status_code == 503

        with contextlib.ExitStack() as half_sent:
            for _ in range(MAX_CONNECTIONS):
                half_sent.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS))
            assert eventually(is_refused)
        assert eventually(lambda: not is_refused())
