"""The app in a window of its own: window and server end together. The library that draws windows needs a screen."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rag import errors
from rag.cli.admin import window

SERVER = """
import http.server, sys
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/_stcore/health" else 404)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Health)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
"""


class Closed:
    """An event as the library has it."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[], object]] = []

    def __iadd__(self, listener: Callable[[], object]) -> "Closed":
        self.listeners.append(listener)
        return self


class Window:
    """A window nobody sees: it is open until `gone`."""

    def __init__(self) -> None:
        self.events = SimpleNamespace(closed=Closed())
        self.shown: list[str] = []
        self.gone = threading.Event()

    def load_url(self, address: str) -> None:
        self.shown.append(address)
        self.destroy()  # its reader closes it

    def destroy(self) -> None:
        for listener in self.events.closed.listeners:
            listener()
        self.gone.set()


class RefusedError(Exception):
    """As the library says that there is no screen."""


def library(opened: Window, refusal: Exception | None = None) -> Any:
    def start(follow: Callable[..., None], arguments: tuple[object, ...], **_: object) -> None:
        if refusal:
            raise refusal
        threading.Thread(target=follow, args=arguments, daemon=True).start()
        opened.gone.wait()

    made = ModuleType("webview")
    made.__dict__.update(
        create_window=lambda *_, **__: opened,
        start=start,
        settings={},
        errors=SimpleNamespace(WebViewException=RefusedError),
    )
    return made


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The servers that are started."""
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def remembered(command: list[str]) -> subprocess.Popen[bytes]:
        started.append(begin(command))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", remembered)
    return started


def test_the_server_ends_with_its_window(tmp_path: Path, servers: list[subprocess.Popen[bytes]]) -> None:
    told = tmp_path / "port"
    opened = Window()

    class Address(str):
        """Of the server, as soon as it has told its port."""

        def __add__(self, path: str) -> str:
            return f"http://127.0.0.1:{told.read_text() if told.exists() else 9}{path}"

    code = window.show(library(opened), [sys.executable, "-c", SERVER, str(told)], Address("here"), tmp_path)
    assert (code, opened.shown) == (0, ["here"])
    assert [server.poll() is not None for server in servers] == [True]


def test_the_window_ends_with_its_server(tmp_path: Path) -> None:
    opened = Window()
    code = window.show(library(opened), [sys.executable, "-c", "raise SystemExit(3)"], "http://127.0.0.1:9", tmp_path)
    assert (code, opened.shown, opened.gone.is_set()) == (3, [], True)


def test_without_a_screen_the_server_does_not_stay(tmp_path: Path, servers: list[subprocess.Popen[bytes]]) -> None:
    endless = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    with pytest.raises(errors.ConfigError, match="without --window"):
        window.show(library(Window(), RefusedError("no display")), endless, "http://127.0.0.1:9", tmp_path)
    assert servers[0].poll() is not None


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webview", None)
    with pytest.raises(errors.ConfigError, match=r"pagelight\[window\]"):
        window.load_library()
