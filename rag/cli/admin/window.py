"""Show the app in its own window; the server stops when the window closes, and the other way round."""

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
SIZE, MIN_SIZE = (1360, 900), (420, 520)
"""In pixels."""
STARTING = "<body style='font: 1rem sans-serif; display: grid; place-items: center; height: 90vh'>Pagelight …</body>"
HEALTH = "/_stcore/health"
POLL_SECONDS = 0.2
STOP_SECONDS = 15.0
"""How long the server may take to stop before it is killed."""


def load_library() -> ModuleType:
    """Import the library that opens windows. Raises ConfigError if it is not installed."""
    try:
        return importlib.import_module("webview")
    except ImportError as error:
        raise errors.ConfigError(
            f"A window needs a package that is not installed ({error.name}). "
            'Install it: pip install "pagelight[window]", or run the app in the browser, without --window.'
        ) from None


def show(webview: ModuleType, command: Sequence[str], address: str, storage: Path) -> int:
    """Run the server at `address` by `command`, and show it in a window until either ends; return the exit code.

    Pages store what they would keep in a browser, such as widths of columns, in the folder `storage`.

    Raises:
        errors.ConfigError: there is no screen, or no library to draw windows with.
    """
    server = subprocess.Popen(command)
    closed = threading.Event()
    try:
        window = webview.create_window(
            TITLE, html=STARTING, width=SIZE[0], height=SIZE[1], min_size=MIN_SIZE, text_select=True
        )
        window.events.closed += closed.set
        webview.settings["ALLOW_DOWNLOADS"] = True
        webview.start(_watch, (window, server, address, closed), private_mode=False, storage_path=str(storage))
    except webview.errors.WebViewException as error:
        raise errors.ConfigError(
            f"No window can be opened: {error}. Run the app in the browser, without --window."
        ) from None
    finally:
        ended = server.poll()
        _stop(server)
    return ended or 0


def _watch(window: Any, server: subprocess.Popen[bytes], address: str, closed: threading.Event) -> None:
    """Show the app as soon as it answers, and close the window when the server has ended."""
    is_shown = False
    while not closed.wait(POLL_SECONDS):
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


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
