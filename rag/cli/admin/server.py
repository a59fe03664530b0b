"""`pagelight run`, `serve`, `worker` and `mcp`: start the servers and the worker."""

import os
import socket
import sys
import sysconfig
from pathlib import Path
from typing import Annotated

import typer

import rag
from rag import config, errors
from rag.access.gate import require_key
from rag.cli import output
from rag.cli.command import open_engine
from rag.hosts import is_loopback

SOURCE_TREE = Path(__file__).resolve().parents[3]
INSTALLED = Path(sysconfig.get_path("data")) / "share" / "pagelight"
"""Where a wheel installs `app.py` and its pages."""
STREAMLIT = Path(__file__).resolve().parents[2] / "ui" / "streamlit_server.py"
"""Run by its path, so that the package need not be installed: Streamlit finds it from the app."""
FORM_MB = 1
"""Added to the upload limit: Streamlit counts the form around a file, too. The page enforces the limit itself."""
PARTS = ("server.py", "app.py", "pages/chat.py")
MCP_PORT = 3002


Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="The address to listen on; one that other machines reach needs a key.")
]
HostNames = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A host name by which clients reach this machine, besides RAG_ALLOWED_HOSTS; may be repeated.",
    ),
]


def run(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port; RAG_APP_PORT unless given.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the app in the browser.")] = True,
) -> None:
    """Serve the app, and the REST API under /api, until stopped by Ctrl-C.

    pagelight run
    pagelight run --port 9000 --no-browser
    """
    settings = config.load_config()
    port = port or settings.rag_app_port
    upload_mb = settings.rag_parsing.max_file_mb + FORM_MB
    app = find_app()
    _require_free(port)
    arguments = ["run", str(app), "--server.port", str(port), "--server.maxUploadSize", str(upload_mb)]
    arguments += ["--server.showEmailPrompt", "false"]
    if not browser:
        arguments += ["--server.headless", "true"]
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-P", str(STREAMLIT), *arguments]
    # Replace this process by the server, so that signals reach it and no other process is left behind.
    os.execv(sys.executable, command)  # noqa: S606  # our own interpreter


def find_app() -> Path:
    """Return the server's script, of the source tree or else of the installed wheel. Raises ConfigError."""
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
                f"Port {port} of {host} is taken or not allowed. If Pagelight is already running, open "
                f"http://{host}:{port}; otherwise choose another port with --port."
            ) from error


def serve(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port; PORT unless given.")] = None,
    host: Host = "127.0.0.1",
) -> None:
    """Serve the REST API, until stopped by Ctrl-C.

    Without a key (RAG_API_KEY, or pagelight keys create) only requests of this machine are answered. /openapi.json
    describes the API. The log is JSON, a line per request.

        pagelight serve
        curl localhost:3001/ask --json '{"question": "What were net sales in 2023?"}'
        RAG_API_KEY=... pagelight serve --host 0.0.0.0 --port 80
    """
    from rag.api import app as rest_api
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
        rest_api.serve(engine.installation, host, port)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Stop when no document is left to read.")] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=32,
            help="Jobs (matrices, syncs …) at the same time besides documents; RAG_WORKER_CONCURRENCY unless given.",
        ),
    ] = None,
) -> None:
    """Read queued documents and run jobs of all users, until stopped by Ctrl-C.

    The app starts one worker itself; more of them, on any machine, share the work of one database.

        pagelight worker
        RAG_DATABASE_URL=postgresql://db/pagelight pagelight worker --once
    """
    from rag.worker import log_work
    from rag.worker import run as read_queue

    log_work()
    output.print_note("Reading queued documents." if once else "Waiting for documents; stop with Ctrl-C.")
    with open_engine() as engine:
        read_queue(engine.installation, wait=not once, concurrency=concurrency)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = MCP_PORT,
    host: Host = "127.0.0.1",
    allow_host: HostNames = None,
) -> None:
    """Serve the documents to AI assistants by the Model Context Protocol: search, ask, open a passage, list documents.

    An assistant starts it and talks to it over stdin and stdout. With --http it runs as a server at /mcp, for clients
    with a key (see pagelight keys); as long as there is no key, only for programs on this machine.

        pagelight mcp
        pagelight mcp --http --port 3002
        pagelight mcp --http --host 0.0.0.0 --allow-host reports.example
    """
    try:
        from rag.mcp_server import http as mcp_http
        from rag.mcp_server.server import LazyInstallation, serve_stdio
    except ModuleNotFoundError as error:
        raise errors.ConfigError(
            f"The MCP server needs a package that is not installed ({error.name}). Install it: "
            'pip install "pagelight[mcp]"'
        ) from error
    settings = config.load_config()
    with LazyInstallation(lambda: rag.Installation(settings)) as installation:
        if not http:
            installation.warm_up()
            serve_stdio(installation)
            return
        needs_key = not is_loopback(host)
        if needs_key:
            require_key(installation(), host)
        bound = mcp_http.listen(host, port)
        installation.warm_up()
        name = mcp_http.host_header(host)
        hosts = [name, *settings.allowed_hosts, *(allow_host or ())]
        app = mcp_http.http_app(installation, needs_key=needs_key, hosts=hosts)
        access = (
            "only with a key" if needs_key or settings.rag_api_key else "to this machine, with a key once there is one"
        )
        output.print_note(f"Serving http://{name}:{bound.getsockname()[1]}/mcp {access}. Stop with Ctrl-C.")
        mcp_http.serve_http(app, bound, settings)
