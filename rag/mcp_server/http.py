"""The server over HTTP: who may call it, and as which user."""

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
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rag import errors
from rag.mcp_server.server import create_server
from rag.mcp_server.tools import Call
from rag.rate_limits import RateLimiter
from rag.types import LOCAL_USER

if TYPE_CHECKING:
    from rag.engine import RAGEngine

logger = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY_BYTES = 1_000_000
"""Questions are short; nothing is uploaded here."""
MAX_CONNECTIONS = 200
SHUTDOWN_SECONDS = 5

NO_KEY = "A key is needed. Send it as x-api-key, or as Authorization: Bearer."
WRONG_KEY = "The key is wrong, expired or revoked. Make one with: pagelight keys create"


class Doorkeeper:
    """Middleware that lets a request in as the user of its key, or as the local user where no key is asked for."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        engine: "Callable[[], RAGEngine]",
        needs_key: bool,
    ) -> None:
        """`needs_key` asks for one even where none has been made."""
        self._app = app
        self._engine = engine
        self._needs_key = needs_key
        self._limiter = RateLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it."""
        if scope["type"] == "http":
            try:
                user_id = await run_in_threadpool(self._user, _secret(Headers(scope=scope)), _address(scope))
            except errors.Error as error:
                await _refusal(error)(scope, receive, send)
                return
            scope.setdefault("state", {})["user_id"] = user_id
        await self._app(scope, receive, send)

    def _user(self, secret: str | None, address: str) -> str:
        """Whom a secret stands for. Raises AuthError, or RateLimitError."""
        if secret is None:
            if self._needs_key or self._engine().installation.keys_exist():
                raise errors.AuthError(NO_KEY)
            return LOCAL_USER
        engine = self._engine()
        key = engine.installation.authenticate(secret)
        per_minute = engine.config.rag_rate_limit_per_minute
        if key is None or not key.allows("read"):
            if per_minute:
                self._limiter.count_failure(address)
            raise errors.AuthError(WRONG_KEY)
        self._limiter.count(str(key.id), per_minute)
        return key.user_id


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _secret(headers: Headers) -> str | None:
    """What the request shows as its key."""
    if (given := headers.get("x-api-key")) is not None:
        return given.strip()
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _refusal(error: errors.Error) -> JSONResponse:
    headers = {"www-authenticate": "Bearer"} if error.http_status == errors.AuthError.http_status else None
    content = {"error": {"code": error.code, "message": error.message}}
    return JSONResponse(content, error.http_status, headers)


def http_app(
    engine: "Callable[[], RAGEngine]",
    *,
    needs_key: bool = False,
    hosts: Sequence[str] = (),
) -> Starlette:
    """The server at `/mcp`, reached under the names of this machine's loopback and of `hosts`.

    Requests for another host, or from a page of another origin, are refused: a page that a browser shows could
    otherwise ask for what only this machine may read (DNS rebinding). No state is kept between requests, so each is
    let in by its own key.
    """
    server = create_server(engine, user_of=_user_of)
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
    app.user_middleware.append(Middleware(Doorkeeper, engine=engine, needs_key=needs_key))
    return app


def _user_of(call: Call) -> str:
    """The user that the request was let in as; there is no other."""
    request = call.request_context.request
    assert request is not None, "every call comes with its request"
    user_id: str = request.state.user_id
    return user_id


def host_header(host: str) -> str:
    """How an address stands in a URL."""
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound. Raises ConfigError if the port is taken or the host is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise errors.ConfigError(
            f"Port {port} of {host} is taken or not allowed ({error.strerror}). Choose others with --port and --host."
        ) from error


def serve_http(app: Starlette, bound: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        app,
        log_config=None,  # our logging goes to stderr
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with bound:
        uvicorn.Server(config).run(sockets=[bound])
