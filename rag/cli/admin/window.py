"""The app in a window of its own, for as long as its server runs, which runs for as long as the window is open."""

import importlib
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rag import errors

TITLE = "Pagelight"
SIZE, LEAST_SIZE = (1360, 900), (420, 520)
"""In pixels."""
STARTING = "<body style='font: 1rem sans-serif; display: grid; place-items: center; height: 90vh'>Pagelight …</body>"
HEALTH = "/_stcore/health"
LOOK_SECONDS = 0.2
END_SECONDS = 15.0
"""For so long a server that is asked to end may take."""


def find() -> ModuleType:
    """The library that opens windows.

    Raises:
        errors.ConfigError: it is not installed.
    """
    try:
        return importlib.import_module("webview")
    except ImportError as error:
        raise errors.ConfigError(
            f"A window needs a package that is not installed ({error.name}). "
            'Install it: pip install "pagelight[window]", or run the app in the browser, without --window.'
        ) from None


def show(webview: ModuleType, command: Sequence[str], address: str, storage: Path) -> int:
    """Run the server that `command` starts, and show it, which is at `address`, until either ends.

    What pages keep in a browser, such as widths of columns, is kept in the folder `storage`. Gives the exit code: 0
    where the window was closed, else the server's.

    Raises:
        errors.ConfigError: there is no screen, or nothing to draw windows with.
    """
    server = subprocess.Popen(command)
    closed = threading.Event()
    try:
        window = webview.create_window(
            TITLE, html=STARTING, width=SIZE[0], height=SIZE[1], min_size=LEAST_SIZE, text_select=True
        )
        window.events.closed += closed.set
        webview.settings["ALLOW_DOWNLOADS"] = True
        webview.start(_follow, (window, server, address, closed), private_mode=False, storage_path=str(storage))
    except webview.errors.WebViewException as error:
        raise errors.ConfigError(
            f"No window can be opened: {error}. Run the app in the browser, without --window."
        ) from None
    finally:
        ended = server.poll()
        _end(server)
    return ended or 0


def _follow(window: Any, server: subprocess.Popen[bytes], address: str, closed: threading.Event) -> None:
    """Shows the app as soon as it answers, and closes the window when the server has ended."""
    is_shown = False
    while not closed.wait(LOOK_SECONDS):
        if server.poll() is not None:
            window.destroy()
            return
        if not is_shown and _answers(address):
            window.load_url(address)
            is_shown = True


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address + HEALTH, timeout=1.0) as response:  # noqa: S310 - our own server
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
