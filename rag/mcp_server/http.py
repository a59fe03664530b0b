"""The MCP server over HTTP: authentication, logs and metrics."""

import functools
import logging
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rag import errors
from rag.access.gate import Caller, Gate, Visitor, refusal_headers
from rag.access.rate_limits import MAX_CONNECTIONS
from rag.config import Config
from rag.mcp_server.server import create_server
from rag.mcp_server.tools import Call
from rag.observability import CONTENT_TYPE, Metrics, RequestLogger, log_as_json

if TYPE_CHECKING:
    from rag.engine import Installation, RAGEngine

requests = logging.getLogger("rag.mcp.requests")

PATHS = ("/mcp", "/metrics")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY_BYTES = 1_000_000
"""Questions are short; nothing is uploaded here."""
SHUTDOWN_SECONDS = 5


class AuthenticationMiddleware:
    """Refuses callers who may not read, and stores the caller with the request."""

    def __init__(self, app: ASGIApp, *, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it."""
        if scope["type"] == "http":
            state = scope.setdefault("state", {})
            state["route"] = scope["path"] if scope["path"] in PATHS else None
            visitor = Visitor.of(Headers(scope=scope), scope.get("client"))
            try:
                caller = await run_in_threadpool(self._gate.admit, visitor)
                caller.require("read")
            except errors.Error as error:
                await _refusal(error)(scope, receive, send)
                return
            state |= {"caller": caller, "user_id": caller.user_id, "key_id": caller.key_id}
        await self._app(scope, receive, send)


def _refusal(error: errors.Error) -> JSONResponse:
    content = {"error": {"code": error.code, "message": error.message}}
    return JSONResponse(content, error.http_status, refusal_headers(error))


def http_app(
    installation: "Callable[[], Installation]", *, needs_key: bool = False, hosts: Sequence[str] = ()
) -> Starlette:
    """Make the ASGI app with the server at `/mcp`, for clients that use a loopback name or one of `hosts`.

    Requests for another host, or from a page of another origin, are refused: otherwise a web page in a local browser
    could read what only this machine may (DNS rebinding). Requests share no state; each is authenticated by itself.
    """
    server = create_server(_engine_of)
    names = [*LOOPBACK, *hosts]
    app = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[pattern for name in names for pattern in (name, f"{name}:*")],
            allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
        ),
    )
    metrics = Metrics()
    app.router.routes.append(Route("/metrics", functools.partial(_metrics, metrics=metrics)))
    app.user_middleware.append(
        Middleware(AuthenticationMiddleware, gate=Gate(installation, needs_key=needs_key, door="mcp"))
    )
    app.add_middleware(RequestLogger, metrics=metrics, logger=requests)
    return app


def _metrics(request: Request, *, metrics: Metrics) -> Response:
    """Return the metrics of this process in the text format of Prometheus, to admins."""
    caller: Caller = request.state.caller
    try:
        caller.require_admin()
    except errors.Error as error:
        return _refusal(error)
    return Response(metrics.render(), media_type=CONTENT_TYPE)


def _engine_of(call: Call) -> "RAGEngine":
    """Return the engine of the request's user."""
    request = call.request_context.request
    assert request is not None, "every call comes with its request"
    caller: Caller = request.state.caller
    return caller.engine


def host_header(host: str) -> str:
    """Format an address as in a URL."""
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket. Raises ConfigError if the port is taken or the host is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise errors.ConfigError(
            f"Port {port} of {host} is taken or not allowed ({error.strerror}). Choose others with --port and --host."
        ) from error


def serve_http(app: Starlette, bound: socket.socket, settings: Config) -> None:
    """Serve until SIGINT or SIGTERM; the log is JSON, a line per request."""
    log_as_json()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http="h11",  # which limits the size of heads
        limit_concurrency=MAX_CONNECTIONS,
        forwarded_allow_ips=settings.forwarded_allow_ips,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with bound:
        uvicorn.Server(config).run(sockets=[bound])
