"""`pagelight mcp`: the documents as a tool of assistants."""

from typing import Annotated

import typer

import rag
from rag import config, errors
from rag.access.listen_addresses import require_key
from rag.cli import output
from rag.hosts import is_loopback

DEFAULT_PORT = 3002

Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; beyond this machine only with a key.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 takes a free one.")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A name under which clients reach this machine; may be repeated.",
        show_default=False,
    ),
]


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdin and stdout.")] = False,
    port: Port = DEFAULT_PORT,
    host: Host = "127.0.0.1",
    allow_host: Names = None,
) -> None:
    """Serve the documents to assistants by the Model Context Protocol: search, ask, open a passage, list documents.

    An assistant starts it itself and talks to it over stdin and stdout. With --http it stays, and is reached at /mcp
    with a key (see pagelight keys); without any key, only by programs on this machine.

        pagelight mcp
        pagelight mcp --http --port 3002
        pagelight mcp --http --host 0.0.0.0 --allow-host reports.example
    """
    from rag.slow_clients import Guard

    try:
        from rag import mcp_server as server
    except ModuleNotFoundError as error:
        raise errors.ConfigError(
            f"The MCP server needs a package that is not installed ({error.name}). Install it: "
            'pip install "pagelight[mcp]"'
        ) from error
    settings = config.load_config()
    with server.LazyInstallation(lambda: rag.Installation(settings)) as installation:
        if not http:
            installation.warm_up()
            server.serve_stdio(installation)
            return
        needs_key = not is_loopback(host)
        if needs_key:
            require_key(installation(), host)
        bound = server.listen(host, port)
        installation.warm_up()
        name = server.host_header(host)
        hosts = [name, *(allow_host or ())]
        app = server.http_app(installation, needs_key=needs_key, hosts=hosts)
        access = (
            "only with a key" if needs_key or settings.rag_api_key else "to this machine, with a key once there is one"
        )
        output.print_note(f"Serving http://{name}:{bound.getsockname()[1]}/mcp {access}. Stop with Ctrl-C.")
        server.serve_http(app, bound, Guard.of(settings))
