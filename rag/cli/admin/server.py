"""`pagelight run` and `pagelight worker`: the processes that stay."""

import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

from rag import config, errors
from rag.access.listen_addresses import require_key
from rag.cli import output
from rag.cli.admin import window as own_window
from rag.cli.command import open_engine

SOURCE_TREE = Path(__file__).resolve().parents[3]
INSTALLED = Path(sysconfig.get_path("data")) / "share" / "pagelight"
"""Where a wheel puts `app.py` and its pages."""
STREAMLIT = Path(__file__).resolve().parents[2] / "ui" / "streamlit_server.py"
"""By its path: Streamlit finds the package when it runs the app, which need not be installed."""
FORM_MB = 1
"""Streamlit counts the form around a file, too; the page itself lets no file pass that is larger than the limit."""
PARTS = ("server.py", "app.py", "pages/chat.py")


def run(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Where to serve; RAG_APP_PORT unless given.", show_default=False),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
    window: Annotated[
        bool, typer.Option("--window", help="Open the app in a window of its own; closing it ends the app.")
    ] = False,
) -> None:
    """Serve the app, and the REST API under /api, until stopped by Ctrl-C.

    pagelight run
    pagelight run --port 9000 --no-browser
    pagelight run --window
    """
    settings = config.load_config()
    port = port or settings.rag_app_port
    upload_mb = settings.rag_parsing.max_file_mb + FORM_MB
    app = find_app()
    webview = own_window.find() if window else None
    _require_free(port)
    arguments = ["run", str(app), "--server.port", str(port), "--server.maxUploadSize", str(upload_mb)]
    arguments += ["--server.showEmailPrompt", "false"]
    if window or not browser:
        arguments += ["--server.headless", "true"]
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-P", str(STREAMLIT), *arguments]
    if webview:
        storage = settings.rag_data_dir / "window"
        raise typer.Exit(own_window.show(webview, command, f"http://localhost:{port}", storage))
    # This process becomes the server: signals reach it, and there is nobody left to end besides it.
    os.execv(sys.executable, command)  # noqa: S606  # our own interpreter


def find_app() -> Path:
    """The server's script: in the source tree that this runs from, else where a wheel put it.

    Raises:
        errors.ConfigError: it is in neither place.
    """
    for folder in (SOURCE_TREE, INSTALLED):
        if all((folder / part).is_file() for part in PARTS):
            return folder / "server.py"
    raise errors.ConfigError(
        f"The app's files are missing: there is no server.py with app.py and its pages in {SOURCE_TREE} or "
        f"{INSTALLED}. Reinstall Pagelight, or run it from its source folder."
    )


def _require_free(port: int, host: str = "localhost") -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise errors.ConfigError(
                f"Port {port} of {host} is taken or not allowed. If Pagelight runs already, open "
                f"http://{host}:{port}; otherwise choose another port with --port."
            ) from error


def serve(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Where to serve; PORT unless given.", show_default=False)
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; others than this machine's need a key.")] = (
        "127.0.0.1"
    ),
) -> None:
    """Serve the REST API, until stopped by Ctrl-C.

    Without a key (RAG_API_KEY, or pagelight keys create) only this machine is answered. The API describes itself at
    /openapi.json. The log is JSON, a line per request.

        pagelight serve
        curl localhost:3001/ask --json '{"question": "What were net sales in 2023?"}'
        RAG_API_KEY=... pagelight serve --host 0.0.0.0 --port 80
    """
    from rag.api import server
    from rag.worker import keep_running

    with open_engine() as engine:
        port = port or engine.config.port
        _require_free(port, host)
        require_key(engine.installation, host)
        engine.installation.warm_up()
        if engine.config.rag_worker:
            keep_running()
        keys = "with a key" if engine.installation.keys_exist() else "to this machine, without a key"
        output.print_note(f"Serving http://{host}:{port} {keys}. Stop with Ctrl-C.")
        server.serve(engine.installation, host, port)


def worker(
    once: Annotated[bool, typer.Option("--once", help="End when no document is left to read.")] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=32,
            help="Jobs (evaluations, syncs …) at the same time, beside documents; RAG_WORKER_CONCURRENCY unless given.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read queued documents and do jobs of all users, until stopped by Ctrl-C.

    The app runs one worker itself; more of them, on any machine, share the work of one database.

        pagelight worker
        RAG_DATABASE_URL=postgresql://db/pagelight pagelight worker --once
    """
    from rag.worker import log_work
    from rag.worker import run as read_queue

    log_work()
    output.print_note("Reading queued documents." if once else "Waiting for documents; stop with Ctrl-C.")
    with open_engine() as engine:
        read_queue(engine.installation, wait=not once, concurrency=concurrency)
