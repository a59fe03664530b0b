"""`pagelight run` and `pagelight worker`: the processes that stay."""

import logging
import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from rag import config, errors
from rag.cli import output
from rag.cli.door import load, open_engine

SOURCE_TREE = Path(__file__).resolve().parents[2]
INSTALLED = Path(sysconfig.get_path("data")) / "share" / "pagelight"
"""Where a wheel puts `app.py` and its pages."""
PARTS = ("app.py", "pages/chat.py")


def run(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Where to serve; RAG_APP_PORT unless given.", show_default=False),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
) -> None:
    """Serve the app, until stopped by Ctrl-C.

    pagelight run
    pagelight run --port 9000 --no-browser
    """
    port = port or config.load_config().rag_app_port
    app = find_app()
    _require_free(port)
    arguments = ["run", str(app), "--server.port", str(port), "--server.showEmailPrompt", "false"]
    if not browser:
        arguments += ["--server.headless", "true"]
    sys.stdout.flush()
    sys.stderr.flush()
    # This process becomes the server: signals reach it, and there is nobody left to end besides it.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "streamlit", *arguments])  # noqa: S606  # our own interpreter


def find_app() -> Path:
    """The app's script: in the source tree that this runs from, else where a wheel put it.

    Raises:
        errors.ConfigError: it is in neither place.
    """
    for folder in (SOURCE_TREE, INSTALLED):
        if all((folder / part).is_file() for part in PARTS):
            return folder / "app.py"
    raise errors.ConfigError(
        f"The app's files are missing: there is no app.py with its pages in {SOURCE_TREE} or {INSTALLED}. "
        "Reinstall Pagelight, or run it from its source folder."
    )


def _require_free(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError as error:
            raise errors.ConfigError(
                f"Port {port} is taken or not allowed. If Pagelight runs already, open http://localhost:{port}; "
                "otherwise choose another port with --port or RAG_APP_PORT."
            ) from error


def worker(
    once: Annotated[bool, typer.Option("--once", help="End when no document is left to read.")] = False,
) -> None:
    """Read queued documents of all users, until stopped by Ctrl-C.

    The app runs one worker itself; more of them, on any machine, share the work of one database.

        pagelight worker
        RAG_DATABASE_URL=postgresql://db/pagelight pagelight worker --once
    """
    logging.getLogger().setLevel(logging.INFO)
    output.print_note("Reading queued documents." if once else "Waiting for documents; stop with Ctrl-C.")
    with open_engine() as engine:
        load("worker").run(engine, wait=not once)
