"""Protect servers from slow clients: time limits for incomplete requests, and limits on connections.

uvicorn waits forever for the rest of a request. Here the head must arrive in time, and the body must keep arriving;
slow responses and slow but steady uploads are not limited. No address may hold too many connections.
"""

import asyncio
import functools
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self, cast

import h11
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag import errors, types
from rag.config import Config

HEAD_SECONDS = 10.0
"""Time for the head of a request to arrive."""
BODY_SECONDS = 30.0
"""How long a body may pause; each `BODY_BYTES_PER_SECOND` that arrive add a second."""
BODY_BYTES_PER_SECOND = 1024
SWEEP_SECONDS = 1.0
"""How often incomplete requests are checked; younger ones are never closed to make room."""
MAX_INCOMPLETE_PER_ADDRESS = 64
MAX_CONNECTIONS = 500
MAX_PER_ADDRESS = 250
"""Raise it by `RAG_CONNECTIONS_PER_ADDRESS` if a proxy has this address."""
RESPONSE_SECONDS = 5.0
"""Time for a server to respond to a client that was too slow, before its connection is closed."""
RETRY_SECONDS = 5
"""When a refused client may try again."""


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond that there are too many connections."""
    message = "Too many connections are open. Close some, or try again in a few seconds."
    body = types.ErrorResponse(error=types.ErrorBody(type=errors.BusyError.code, message=message, details={}))
    headers = {"connection": "close", "retry-after": str(RETRY_SECONDS)}
    await JSONResponse(body.model_dump(mode="json"), errors.BusyError.http_status, headers)(scope, receive, send)


class ConnectionGuard:
    """Limits the connections of one server."""

    def __init__(
        self,
        *,
        max_connections: int = MAX_CONNECTIONS,
        max_per_address: int = MAX_PER_ADDRESS,
        head_seconds: float = HEAD_SECONDS,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        """Limit the numbers of connections; `max_per_address` 0 means no limit of its own."""
        self.head_seconds = head_seconds
        self.body_seconds = body_seconds
        self._max_connections = max_connections
        self._max_per_address = max_per_address or max_connections
        self._connections: set[GuardedProtocol] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Make a guard with the limits of the settings; the server itself responds to slow bodies a little earlier."""
        body_seconds = config.rag_upload_timeout_seconds + RESPONSE_SECONDS
        return cls(max_per_address=config.rag_connections_per_address, body_seconds=body_seconds)

    @property
    def protocol(self) -> type[asyncio.Protocol]:
        """The `http` argument for uvicorn."""
        return cast(type[asyncio.Protocol], functools.partial(GuardedProtocol, guard=self))

    def admit(self, connection: "GuardedProtocol") -> bool:
        """Return whether a new connection fits, closing an incomplete request to make room if need be.

        A connection that does not fit gets a response, unless there are far too many.
        """
        self._connections.add(connection)
        if len(self._connections) > 2 * self._max_connections:
            connection.close()
            return False
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(SWEEP_SECONDS, self._sweep, connection.loop)
        same = [other for other in self._connections if other.address == connection.address]
        return self._has_room(same, self._max_per_address) and self._has_room(self._connections, self._max_connections)

    def _has_room(self, among: Iterable["GuardedProtocol"], limit: int) -> bool:
        among = [*among]
        return len(among) <= limit or bool(self._close_stale(among, len(among) - limit))

    def remove(self, connection: "GuardedProtocol") -> None:
        """Forget a connection that is closed or no longer HTTP."""
        self._connections.discard(connection)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in [*self._connections]:
            if connection.is_overdue(now):
                connection.close()
        incomplete = Counter(connection.address for connection in self._connections if connection.is_incomplete)
        for address, count in incomplete.items():
            if count > MAX_INCOMPLETE_PER_ADDRESS:
                same = [connection for connection in self._connections if connection.address == address]
                self._close_stale(same, count - MAX_INCOMPLETE_PER_ADDRESS)
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._connections else None

    def _close_stale(self, among: Iterable["GuardedProtocol"], count: int) -> int:
        """Close up to `count` incomplete requests, the longest silent first; return how many."""
        stale = [other for other in among if other.is_incomplete and other.silent_seconds > SWEEP_SECONDS]
        ended = sorted(stale, key=lambda other: -other.silent_seconds)[:count]
        for connection in ended:
            connection.close()
        return len(ended)


class GuardedProtocol(H11Protocol):
    """An HTTP connection with a deadline for its client."""

    def __init__(self, *arguments: Any, guard: ConnectionGuard, **options: Any) -> None:
        """See uvicorn."""
        super().__init__(*arguments, **options)
        self._guard = guard
        self._deadline: float | None = None
        self._last_data = 0.0
        self._in_body = False
        self.address = ""

    @property
    def is_incomplete(self) -> bool:
        """Whether a request is incomplete, or a new connection has sent none yet."""
        return self._deadline is not None

    @property
    def silent_seconds(self) -> float:
        """Seconds since the last data."""
        return self.loop.time() - self._last_data

    def is_overdue(self, now: float) -> bool:
        """Return whether the client missed its deadline; the deadline moves while we do not read."""
        if self._deadline is None:
            return False
        if self.flow.read_paused:
            self._deadline = now + self._guard.body_seconds
        return now > self._deadline

    def close(self) -> None:
        """Close the connection at once."""
        self._guard.remove(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """See asyncio."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._last_data = self.loop.time()
        self._deadline = self._last_data + self._guard.head_seconds
        if not self._guard.admit(self):
            self.app = cast(Any, refuse)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._guard.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._last_data = self.loop.time()
        super().data_received(data)
        self._set_deadline(len(data))

    def _set_deadline(self, count: int) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            self._deadline = self._deadline or self._last_data + self._guard.head_seconds
        elif state is h11.SEND_BODY:
            self._set_body_deadline(count)
        else:
            self._deadline, self._in_body = None, False

    def _set_body_deadline(self, count: int) -> None:
        pause_ends = self._last_data + self._guard.body_seconds
        if not self._in_body:
            self._deadline, self._in_body = pause_ends, True
        elif self._deadline and not self.cycle.response_complete:  # data after the response is ignored
            self._deadline = min(pause_ends, self._deadline + count / BODY_BYTES_PER_SECOND)

    def on_response_complete(self) -> None:
        """See uvicorn, which limits the time between requests itself."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._deadline, self._in_body = None, False

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """See uvicorn: another protocol takes the connection over."""
        self._deadline = None
        self._guard.remove(self)
        super().handle_websocket_upgrade(event)
