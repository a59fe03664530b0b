"""Timeouts for database connections and statements, with a circuit breaker per server.

A stopped server never ends a statement, and TCP timeouts do not apply to Unix sockets. So the client watches the clock
and closes the connection. After a timeout the other callers of this process fail at once, except for one probe every
few seconds.
"""

import errno
import functools
import os
import threading
import time
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, TypeVar

import psycopg
from psycopg import conninfo
from psycopg.abc import PQGen

TIMEOUT_SECONDS = 20.0
"""Default timeout of a request to the database: taking a connection, its statements and the commit."""
CHECK_TIMEOUT_SECONDS = 4.0
"""Timeout of a trivial statement, which a live server answers at once. Users are to see an error within 5 seconds."""
BACKGROUND_CHECK_TIMEOUT_SECONDS = 8.0
"""The same for background processes: on a very busy machine trivial statements take longer, and no user waits."""
RETRY_SECONDS = 2.0
"""Interval between probes of a server that timed out."""
CANCEL_MARGIN_SECONDS = 2.0
"""The server cancels a statement this much before the client closes the connection, which saves the connection."""

TCP = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""libpq parameters: idle seconds before a keepalive, seconds between keepalives and their number; milliseconds that
sent data may stay unacknowledged."""

BACKLOG_FULL = os.strerror(errno.EAGAIN)
"""libpq's message for a Unix socket whose queue of waiting connections is full."""

T = TypeVar("T")


class ServerTimeout(psycopg.OperationalError):
    """The server did not answer in time."""


class CircuitBreaker:
    """The timeouts of one server, and whether its last request timed out."""

    def __init__(self) -> None:
        self.timeout_seconds = TIMEOUT_SECONDS
        self.check_timeout_seconds = CHECK_TIMEOUT_SECONDS
        self.timeout_count = 0
        self._retry_at: float | None = None
        self._lock = threading.Lock()

    def record_timeout(self) -> None:
        """Open the circuit: callers fail at once until the next probe."""
        with self._lock:
            self.timeout_count += 1
            self._retry_at = time.monotonic() + RETRY_SECONDS

    def record_answer(self) -> None:
        """Close the circuit."""
        self._retry_at = None

    def is_open_since(self, timeout_count: int) -> bool:
        """Whether requests have timed out since `timeout_count` was read, and none has been answered after that."""
        with self._lock:
            return self.timeout_count != timeout_count and self._retry_at is not None

    def admit(self) -> bool:
        """Return True while the circuit is closed, and False for a caller that may probe an open one.

        Raises:
            ServerTimeout: the circuit is open, and the next probe is not due.
        """
        with self._lock:
            if self._retry_at is None:
                return True
            if time.monotonic() < self._retry_at:
                raise ServerTimeout("the server did not answer just now")
            self._retry_at = time.monotonic() + RETRY_SECONDS
            return False


_breakers: dict[str, CircuitBreaker] = {}


@functools.lru_cache(64)
def breaker_for(url: str) -> CircuitBreaker:
    """Return the circuit breaker of a URL's server, shared by all accounts and databases on it."""
    parameters = conninfo.conninfo_to_dict(url)
    server = "\n".join(str(parameters.get(name) or "") for name in ("host", "hostaddr", "port", "service"))
    return _breakers.setdefault(server, CircuitBreaker())


class Deadline:
    """The time by which a server has to answer.

    `seconds` defaults to the server's timeout. With `renews`, for work of any length, the deadline is extended as long
    as the server accepts new connections.
    """

    def __init__(self, url: str, seconds: float | None = None, *, renews: bool = False) -> None:
        self.breaker = breaker_for(url)
        self._url = url
        self._seconds = self.breaker.timeout_seconds if seconds is None else seconds
        self._renews = renews
        self._ends_at = time.monotonic() + self._seconds
        self._timeout_count = self.breaker.timeout_count

    @property
    def server_timed_out(self) -> bool:
        """Whether the server has meanwhile timed out for other callers, so that a new request is useless."""
        return self.breaker.is_open_since(self._timeout_count)

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; never negative."""
        return max(0.0, self._ends_at - time.monotonic())

    def check(self) -> None:
        """Raise ServerTimeout if the deadline has passed."""
        if self.seconds_left:
            return
        if self._renews and not is_unresponsive(self._url):
            self._ends_at = time.monotonic() + self._seconds
            return
        self.breaker.record_timeout()
        raise ServerTimeout("the server did not answer in time")


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(url: str, seconds: float | None = None, *, renews: bool = False) -> Iterator[Deadline]:
    """Set the deadline for the requests in this block; a nested block cannot extend the outer one.

    Raises:
        ServerTimeout: the server's circuit is open.
    """
    outer = _current.get()
    if outer is None:
        breaker = breaker_for(url)
        if breaker.admit():
            inner = Deadline(url, seconds, renews=renews)
        else:
            inner = Deadline(
                url, min(seconds or breaker.check_timeout_seconds, breaker.check_timeout_seconds), renews=renews
            )
    else:
        inner = outer if seconds is None else Deadline(url, min(seconds, outer.seconds_left))
    _current.set(inner)
    try:
        yield inner
    finally:
        _current.set(outer)  # not by a token: a generator may be resumed in another context


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that closes itself when the server misses the deadline.

    Outside a `deadline` block each statement may take the server's timeout or, with `renews`, any time while the
    server accepts connections.
    """

    url = ""
    renews = False

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """Connect as psycopg does, and record timeouts."""
        try:
            return super().connect(conninfo, **options)
        except psycopg.Error as error:
            if isinstance(error, psycopg.errors.ConnectionTimeout):
                breaker_for(conninfo).record_timeout()
            # The frames refer to each other and to half-open connections, and would stay until garbage collection.
            traceback.clear_frames(error.__traceback__)
            raise

    def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:
        """Wait as psycopg does, but not beyond the deadline.

        No setting does this: a stopped server enforces no statement_timeout, its kernel still acknowledges TCP, so that
        neither keepalives nor tcp_user_timeout notice, and none of them applies to the embedded server's Unix socket.
        """
        current = _current.get() or Deadline(self.url, renews=self.renews)
        try:
            result = super().wait(_watched(gen, current), *arguments, **options)
        except ServerTimeout:
            self.pgconn.finish()
            raise
        current.breaker.record_answer()
        return result


def connect(url: str, *, renews: bool = False, **options: Any) -> WatchedConnection:
    """Open a watched connection within the server's timeout. Raises psycopg's errors."""
    breaker = breaker_for(url)
    seconds = breaker.timeout_seconds if breaker.admit() else breaker.check_timeout_seconds
    try:
        connection = WatchedConnection.connect(url, **connection_parameters(url, seconds), **options)
    except psycopg.errors.ConnectionTimeout as error:
        raise ServerTimeout("the server accepts no connection") from error
    connection.url, connection.renews = url, renews
    return connection


def _watched(gen: PQGen[T], current: Deadline) -> Generator[Any, Any, T]:
    """Run `gen`, which psycopg also wakes ten times a second when nothing has arrived, and check the deadline."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready:
                current.check()
            wanted = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def is_unresponsive(url: str, seconds: float = BACKGROUND_CHECK_TIMEOUT_SECONDS) -> bool:
    """Return whether the server accepts a connection and then says nothing, or has a full queue of connections."""
    try:
        WatchedConnection.connect(url, **connection_parameters(url, seconds)).close()
    except psycopg.errors.ConnectionTimeout:
        return True
    except psycopg.OperationalError as error:
        return BACKLOG_FULL in str(error)
    return False


def connection_parameters(url: str, seconds: float) -> dict[str, Any]:
    """Return the connect timeout and the TCP parameters for libpq, without those that the URL sets."""
    parameters = conninfo.conninfo_to_dict(url)
    wanted = {"connect_timeout": max(2, int(seconds)), **TCP}
    return {name: value for name, value in wanted.items() if parameters.get(name) is None}
