"""Protect servers from pages of other sites that are open in the same browser.

Such a page can let its own name point to this machine and then read our responses as its own (DNS rebinding), open a
web socket to any address, and show our pages in a frame to have them clicked.
"""

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from rag import errors, types
from rag.hosts import host_name, is_address

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = [(b"content-security-policy", b"frame-ancestors 'self'"), (b"x-frame-options", b"SAMEORIGIN")]
"""Only our own pages may frame a response; a further policy of the response holds as well."""

MISDIRECTED = 421
POLICY_VIOLATION = 1008
"""The code with which a web socket is closed."""

UNKNOWN_HOST = errors.ForbiddenError(
    "This server does not answer to the host name of the request. Open it as localhost or by its address, or add the "
    "name to RAG_ALLOWED_HOSTS and start the server again."
)


class ForeignPageGuard:
    """ASGI middleware that refuses unknown host names and web sockets of other pages, and forbids foreign frames."""

    def __init__(self, app: App, *, hosts: Collection[str] | None = None, origins: Collection[str] = ()) -> None:
        """Answer to localhost, addresses and `hosts`; None: to any host.

        Addresses are always allowed: no page can let an address point elsewhere. A web socket must come from a page of
        the same host and port, or of one of `origins`.
        """
        self._app = app
        self._hosts = None if hosts is None else {"localhost", *hosts}
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or web socket."""
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if scope["type"] == "websocket" and not (self._is_known(host) and self._may_connect(origin, host)):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        elif scope["type"] == "http" and not self._is_known(host):
            await _refuse(_unframed(send))
        else:
            await self._app(scope, receive, _unframed(send))

    def _is_known(self, host: str) -> bool:
        name = host_name(host)
        return self._hosts is None or name in self._hosts or is_address(name)

    def _may_connect(self, origin: str | None, host: str) -> bool:
        """Return whether a page of `origin` may open a web socket; programs other than browsers send no origin."""
        return origin is None or origin.partition("://")[2].lower() == host.lower() or origin in self._origins


def _unframed(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return send_with_headers


async def _refuse(send: Send) -> None:
    error = types.ErrorBody(type=UNKNOWN_HOST.code, message=UNKNOWN_HOST.message)
    body = types.ErrorResponse(error=error).model_dump_json().encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": MISDIRECTED, "headers": headers})
    await send({"type": "http.response.body", "body": body})
