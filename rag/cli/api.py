"""`pagelight api`: send a request to the REST API inside this process, without a server."""

import asyncio
import sys
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine

if TYPE_CHECKING:
    import httpx
    from fastapi import FastAPI

    from rag.access.gate import Caller, Visitor
    from rag.engine import RAGEngine


def api(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="GET, POST, PUT, PATCH or DELETE.")] = "",
    path: Annotated[str, typer.Argument(metavar="PATH", help="A route with its ids, such as /jobs.")] = "",
    *,
    body: Annotated[
        str | None, typer.Option("--json", metavar="BODY|@FILE|-", help="The JSON to send; “-” reads stdin.")
    ] = None,
    query: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A query parameter; may be repeated.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the response into this new file.")
    ] = None,
    routes: Annotated[bool, typer.Option("--routes", help="List the routes.")] = False,
) -> None:
    """Send a request to the REST API inside this process, as the local user. It needs no server and no key.

    JSON is printed indented, anything else as it is. An error is printed as JSON, and exits with the code of its type.

        pagelight api --routes
        pagelight api GET /jobs --query kind=matrix
        pagelight api POST /tags --json @tags.json
        pagelight api GET /matrices/6f0c…/export --query format=xlsx --output filings.xlsx
    """
    from rag.api import create_app

    with open_engine() as engine:
        app = create_app(engine.installation)
        if routes:
            _print_routes(app)
            return
        if not (method and path):
            raise errors.ValidationError("Give METHOD and PATH. List the routes: pagelight api --routes")
        app.state.gate = CommandLineGate(engine)
        response = asyncio.run(_send(app, method.upper(), path, query or (), _read_body(body)))
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        error = _error(response)
        output.print_error(error, as_json=True)
        raise typer.Exit(error.exit_code)
    if file is not None:
        output.write_new(file, response.content)
    else:
        _print(response)


class CommandLineGate:
    """Admits every request as the local user, whatever keys exist: who can run the command can read the data."""

    def __init__(self, engine: "RAGEngine") -> None:
        self._engine = engine

    def admit(self, _: "Visitor") -> "Caller":
        """Return the local user, who needs no key."""
        from rag.access.gate import Caller

        return Caller(self._engine, key=None)


def _print_routes(app: "FastAPI") -> None:
    rows = [
        (method.upper(), path, operation.get("description", "").partition("\n")[0])
        for path, operations in app.openapi()["paths"].items()
        for method, operation in operations.items()
    ]
    output.print_table(["method", "path", "does"], rows)


def _read_body(body: str | None) -> bytes:
    """Return what `--json` means: the content of a file, of stdin, or the text itself."""
    if body is None:
        return b""
    if body == "-":
        return sys.stdin.buffer.read()
    if not body.startswith("@"):
        return body.encode()
    try:
        return Path(body[1:]).read_bytes()
    except OSError as error:
        raise errors.SourceError(f"{body[1:]} cannot be read: {error.strerror}. Check the path.") from error


async def _send(app: "FastAPI", method: str, path: str, query: Sequence[str], body: bytes) -> "httpx.Response":
    """Call the application as a server would; `query` are more parameters than those of the path."""
    import httpx

    url = httpx.URL(f"/{path.lstrip('/')}")
    parameters = url.params.multi_items()
    for parameter in query:
        name, sign, value = parameter.partition("=")
        if not sign:
            raise errors.ValidationError(f"“{parameter}” is no query parameter. Write it as NAME=VALUE.")
        parameters.append((name, value))
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 0))  # which knows no timeouts
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        address = url.copy_with(params=parameters) if parameters else url
        return await client.request(method, address, content=body, headers={"content-type": "application/json"})


def _error(response: "httpx.Response") -> errors.Error:
    """Return the error of a refusal, in the class that has its code."""
    from rag.api.error_responses import COLLECTION_TYPES

    body = response.json()["error"]
    codes = {kind: code for code, kind in COLLECTION_TYPES.items()}
    classes = {
        kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.Error)
    }
    code = codes.get(body["type"], body["type"])
    return classes.get(code, errors.ValidationError)(body["message"], details=body["details"])


def _print(response: "httpx.Response") -> None:
    kind = response.headers.get("content-type", "")
    if not response.content:  # 204 No Content
        return
    if kind.startswith("application/json"):
        output.print_json(response.json())
    elif sys.stdout.isatty() and not kind.startswith("text/"):
        raise errors.ValidationError("The response is no text. Give --output FILE, or pipe it into a program.")
    else:
        typer.echo(response.content, nl=False)
