"""Connections of clients that send a request by halves and never end: they are hung up on, so that others get in.

uvicorn waits for a request for ever, head and body alike. Here a head has to arrive in time, and a body has to go on
arriving; how long an answer takes, and an upload that moves, is nobody's business. And no address holds more
connections than others can spare.
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

from rag import errors
from rag.config import Config
from rag.types import ErrorBody, ErrorResponse

HEAD_SECONDS = 10.0
"""In which a request's head has to be there."""
BODY_SECONDS = 30.0
"""How long a body may rest; each `BODY_BYTES_PER_SECOND` that come give a second back."""
BODY_BYTES_PER_SECOND = 1024
SWEEP_SECONDS = 1.0
"""How often half-sent requests are looked at; no younger one is hung up on to make room."""
HALF_SENT_PER_ADDRESS = 64
MOST_CONNECTIONS = 500
MOST_PER_ADDRESS = 250
"""An address may be that of a proxy, for which `RAG_CONNECTIONS_PER_ADDRESS` can be raised."""


TELLING_SECONDS = 5.0
"""What a door has to tell a client that it was too slow, before it is hung up on."""
RETRY_SECONDS = 5
"""When a client may come back for whom there was no room."""


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Tell a client that there is no room for it."""
    message = "Too many connections are open. Close some, or try again in a few seconds."
    body = ErrorResponse(error=ErrorBody(type=errors.BusyError.code, message=message, details={}))
    headers = {"connection": "close", "retry-after": str(RETRY_SECONDS)}
    await JSONResponse(body.model_dump(mode="json"), errors.BusyError.http_status, headers)(scope, receive, send)


class Guard:
    """The connections of one server."""

    def __init__(
        self,
        *,
        most: int = MOST_CONNECTIONS,
        per_address: int = MOST_PER_ADDRESS,
        head_seconds: float = HEAD_SECONDS,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        """`most` and `per_address` count connections; with 0 an address may have them all."""
        self.head_seconds = head_seconds
        self.body_seconds = body_seconds
        self._most = most
        self._per_address = per_address or most
        self._connections: set[GuardedProtocol] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    @classmethod
    def of(cls, config: Config) -> Self:
        """With the limits of the settings. A body ends a little later than the door says that it took too long."""
        body_seconds = config.rag_upload_timeout_seconds + TELLING_SECONDS
        return cls(per_address=config.rag_connections_per_address, body_seconds=body_seconds)

    @property
    def protocol(self) -> type[asyncio.Protocol]:
        """What uvicorn takes as `http`."""
        return cast(type[asyncio.Protocol], functools.partial(GuardedProtocol, guard=self))

    def arrive(self, connection: "GuardedProtocol") -> bool:
        """Whether there is room for a connection, if need be in the place of a half-sent request.

        Where there is none, it will be told so, as long as there is room for that.
        """
        self._connections.add(connection)
        if len(self._connections) > 2 * self._most:
            connection.hang_up()
            return False
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(SWEEP_SECONDS, self._sweep, connection.loop)
        same = [other for other in self._connections if other.address == connection.address]
        return self._has_room(same, self._per_address) and self._has_room(self._connections, self._most)

    def _has_room(self, among: Iterable["GuardedProtocol"], limit: int) -> bool:
        among = [*among]
        return len(among) <= limit or bool(self._hang_up(among, len(among) - limit))

    def leave(self, connection: "GuardedProtocol") -> None:
        """It is closed, or no HTTP any more."""
        self._connections.discard(connection)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in [*self._connections]:
            if connection.is_overdue(now):
                connection.hang_up()
        half_sent = Counter(connection.address for connection in self._connections if connection.is_half_sent)
        for address, count in half_sent.items():
            if count > HALF_SENT_PER_ADDRESS:
                same = [connection for connection in self._connections if connection.address == address]
                self._hang_up(same, count - HALF_SENT_PER_ADDRESS)
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._connections else None

    def _hang_up(self, among: Iterable["GuardedProtocol"], count: int) -> int:
        """End so many half-sent requests, of which nothing has been heard for longest; returns how many were found."""
        stale = [other for other in among if other.is_half_sent and other.silent_seconds > SWEEP_SECONDS]
        ended = sorted(stale, key=lambda other: -other.silent_seconds)[:count]
        for connection in ended:
            connection.hang_up()
        return len(ended)


class GuardedProtocol(H11Protocol):
    """A connection that knows by when its client must have gone on."""

    def __init__(self, *arguments: Any, guard: Guard, **options: Any) -> None:
        """See uvicorn."""
        super().__init__(*arguments, **options)
        self._guard = guard
        self._due: float | None = None
        self._heard = 0.0
        self._in_body = False
        self.address = ""

    @property
    def is_half_sent(self) -> bool:
        """Whether a request has begun and not ended, or was not begun on a new connection."""
        return self._due is not None

    @property
    def silent_seconds(self) -> float:
        """How long nothing has come."""
        return self.loop.time() - self._heard

    def is_overdue(self, now: float) -> bool:
        """Whether the client has not gone on in time; while we ourselves take nothing, it cannot."""
        if self._due is None:
            return False
        if self.flow.read_paused:
            self._due = now + self._guard.body_seconds
        return now > self._due

    def hang_up(self) -> None:
        """Close the connection at once."""
        self._guard.leave(self)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """See asyncio."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._heard = self.loop.time()
        self._due = self._heard + self._guard.head_seconds
        if not self._guard.arrive(self):
            self.app = cast(Any, refuse)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._guard.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._heard = self.loop.time()
        super().data_received(data)
        self._note(len(data))

    def _note(self, count: int) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            self._due = self._due or self._heard + self._guard.head_seconds
        elif state is h11.SEND_BODY:
            self._note_body(count)
        else:
            self._due, self._in_body = None, False

    def _note_body(self, count: int) -> None:
        rested = self._heard + self._guard.body_seconds
        if not self._in_body:
            self._due, self._in_body = rested, True
        elif self._due and not self.cycle.response_complete:  # what comes after the answer is of no use
            self._due = min(rested, self._due + count / BODY_BYTES_PER_SECOND)

    def on_response_complete(self) -> None:
        """See uvicorn, which itself limits how long a connection rests between requests."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._due, self._in_body = None, False

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """See uvicorn: another protocol takes the connection over."""
        self._due = None
        self._guard.leave(self)
        super().handle_websocket_upgrade(event)
