"""Databases that fall silent: how long an answer is waited for, on whatever kind of connection.

A server that is stopped ends no statement by itself, and on a Unix socket no time limit of TCP notices. So whoever
waits watches the clock, and hangs up. What one has found out in vain, others of this process need not: while a server
is silent they are told at once, but for one every few seconds who tries again.
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
"""Longest wait for what a door asks, unless a setting says otherwise: taking a connection, statements and commit."""
CHECK_TIMEOUT_SECONDS = 4.0
"""Longest wait of a door for an answer to nothing, which who is there gives at once: it has 5 to tell its users."""
BACKGROUND_CHECK_TIMEOUT_SECONDS = 8.0
"""The same where nobody looks on: on a machine that is very busy it takes longest."""
RETRY_SECONDS = 2.0
"""How often a silent server is tried again."""
CANCEL_MARGIN_SECONDS = 2.0
"""How much earlier than we hang up the server ends a statement itself, and the connection is saved."""

TCP = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""libpq's: seconds of rest before the other side is asked whether it is there, between and number of such questions;
milliseconds that what was sent may stay unconfirmed."""

REMEMBERED = 64
"""URLs whose server is looked up without reading them again."""

FULL = os.strerror(errno.EAGAIN)
"""What is said of a Unix socket at which too many wait already to be let in."""

T = TypeVar("T")


class ServerTimeout(psycopg.OperationalError):
    """The server did not answer in time."""


class Server:
    """What this process knows of a server, and for how many seconds it waits for an answer of it."""

    def __init__(self) -> None:
        self.timeout_seconds = TIMEOUT_SECONDS
        self.check_timeout_seconds = CHECK_TIMEOUT_SECONDS
        self.timeout_count = 0
        self._retry_at: float | None = None
        self._lock = threading.Lock()

    def record_timeout(self) -> None:
        """It let somebody wait in vain."""
        with self._lock:
            self.timeout_count += 1
            self._retry_at = time.monotonic() + RETRY_SECONDS

    def timed_out_since(self, timeout_count: int) -> bool:
        """Whether it has let somebody wait in vain since it had done so that often, and answered nobody after that."""
        with self._lock:
            return self.timeout_count != timeout_count and self._retry_at is not None

    def answered(self) -> None:
        """It is there."""
        self._retry_at = None

    def admit(self) -> bool:
        """Whether it answered the last time; of a silent one, one caller every few seconds may try (False).

        Raises:
            Unanswered: it is silent, and was tried just now.
        """
        with self._lock:
            if self._retry_at is None:
                return True
            if time.monotonic() < self._retry_at:
                raise ServerTimeout("the server did not answer just now")
            self._retry_at = time.monotonic() + RETRY_SECONDS
            return False


_servers: dict[str, Server] = {}


@functools.lru_cache(REMEMBERED)
def breaker_for(url: str) -> Server:
    """The server that a URL leads to, whoever logs in there and whatever the database is."""
    given = conninfo.conninfo_to_dict(url)
    place = "\n".join(str(given.get(name) or "") for name in ("host", "hostaddr", "port", "service"))
    return _servers.setdefault(place, Server())


class Deadline:
    """Until when somebody waits for a server."""

    def __init__(self, url: str, seconds: float | None = None, *, asks: bool = False) -> None:
        """Unless `seconds` are given it is the server's limit.

        With `asks` it is renewed as long as the server answers others: for work that may take any time.
        """
        self.server = breaker_for(url)
        self._url = url
        self._seconds = self.server.timeout_seconds if seconds is None else seconds
        self._asks = asks
        self._deadline = time.monotonic() + self._seconds
        self._silences = self.server.timeout_count

    @property
    def server_timed_out(self) -> bool:
        """Whether others have found the server silent meanwhile: what has not been asked yet need not be."""
        return self.server.timed_out_since(self._silences)

    @property
    def left(self) -> float:
        """Seconds; never negative."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raises Unanswered when it is over."""
        if self.left:
            return
        if self._asks and not is_unresponsive(self._url):
            self._deadline = time.monotonic() + self._seconds
            return
        self.server.record_timeout()
        raise ServerTimeout("the server did not answer in time")


_present: ContextVar[Deadline | None] = ContextVar("patience", default=None)


@contextmanager
def patience(url: str, seconds: float | None = None, *, asks: bool = False) -> Iterator[Deadline]:
    """All that is asked of the server in this block takes so long at most, and no longer than what it is part of.

    Raises:
        Unanswered: the server is silent, and others have just found it so.
    """
    outer = _present.get()
    if outer is None:
        mine = _begun(url, seconds, asks=asks)
    else:
        mine = outer if seconds is None else Deadline(url, min(seconds, outer.left))
    _present.set(mine)
    try:
        yield mine
    finally:
        _present.set(outer)  # not by a token: a generator may go on in another context than it began in


def _begun(url: str, seconds: float | None, *, asks: bool) -> Deadline:
    server = breaker_for(url)
    if server.admit():
        return Deadline(url, seconds, asks=asks)
    return Deadline(url, min(seconds or server.check_timeout_seconds, server.check_timeout_seconds), asks=asks)


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that hangs up when a server does not answer within the `patience` of whoever waits.

    Where nobody has said how long that is, each statement may take the server's limit, or, with `asks`, as long as the
    server answers others.
    """

    url = ""
    asks = False

    @classmethod
    def connect(cls, conninfo: str = "", **options: Any) -> Self:
        """See psycopg."""
        try:
            return super().connect(conninfo, **options)
        except psycopg.Error as error:
            if isinstance(error, psycopg.errors.ConnectionTimeout):
                breaker_for(conninfo).record_timeout()
            # They hold each other and what is open half, until somebody collects garbage.
            traceback.clear_frames(error.__traceback__)
            raise

    def wait(self, gen: PQGen[T], *arguments: Any, **options: Any) -> T:
        """See psycopg."""
        present = _present.get() or Deadline(self.url, asks=self.asks)
        try:
            result = super().wait(_watched(gen, present), *arguments, **options)
        except ServerTimeout:
            self.pgconn.finish()
            raise
        present.server.answered()
        return result


def connect(url: str, *, asks: bool = False, **options: Any) -> WatchedConnection:
    """A watched connection, made within the server's limit. Raises psycopg's errors."""
    server = breaker_for(url)
    seconds = server.timeout_seconds if server.admit() else server.check_timeout_seconds
    try:
        connection = WatchedConnection.connect(url, **connecting(url, seconds), **options)
    except psycopg.errors.ConnectionTimeout as error:
        raise ServerTimeout("the server lets nobody in") from error
    connection.url, connection.asks = url, asks
    return connection


def _watched(gen: PQGen[T], present: Deadline) -> Generator[Any, Any, T]:
    """`gen`, which psycopg also wakes ten times a second when nothing has come."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready:
                present.check()
            wanted = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


def is_unresponsive(url: str, seconds: float = BACKGROUND_CHECK_TIMEOUT_SECONDS) -> bool:
    """Whether the server takes somebody new in and then says nothing, or cannot even take them in."""
    try:
        WatchedConnection.connect(url, **connecting(url, seconds)).close()
    except psycopg.errors.ConnectionTimeout:
        return True
    except psycopg.OperationalError as error:
        return FULL in str(error)
    return False


def connecting(url: str, seconds: float) -> dict[str, Any]:
    """Parameters of libpq that the URL leaves open: how long connecting may take, and what TCP notices."""
    given = conninfo.conninfo_to_dict(url)
    wanted = {"connect_timeout": max(2, int(seconds)), **TCP}
    return {name: value for name, value in wanted.items() if given.get(name) is None}
