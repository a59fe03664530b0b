"""A pool of connections with timeouts.

A connection is checked by the first statements of its transaction, so that no extra round trip is needed for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
import psycopg_pool
from psycopg import sql

from rag.store.server import named_queries, timeouts
from rag.store.server.timeouts import ServerTimeout, WatchedConnection

CONNECT_SECONDS = 10.0
"""Timeout for a connection: a killed embedded server is back within a second or two."""
RECONNECT_SECONDS = 5.0
"""How long the pool itself tries to replace a lost connection; after that each caller makes it try again at once."""
POLL_SECONDS = 0.5
"""How often a caller that waits for a connection checks whether the server has timed out for others."""

BoundStatement = tuple[sql.SQL | sql.Composed, Mapping[str, object]]
"""A statement with its parameters."""

_skip_check: ContextVar[bool] = ContextVar("skip_check", default=False)
"""Whether the first statements of the transaction check the connection."""


class Pool(psycopg_pool.ConnectionPool[WatchedConnection]):
    """Connections to one database, configured for our queries and checked on checkout."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        super().__init__(
            url,
            connection_class=WatchedConnection,
            kwargs=lambda: timeouts.connection_parameters(url, timeouts.breaker_for(url).check_timeout_seconds),
            min_size=1,
            max_size=size,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            configure=self._configure_new,
            check=self._check_if_needed,
            close_returns=True,  # SQLAlchemy closes connections to give them back
            name="pagelight",
            open=False,
        )

    @contextmanager
    def checkout(self, deadline: timeouts.Deadline, first: Sequence[BoundStatement]) -> Iterator[WatchedConnection]:
        """Lend a connection to the block, in a transaction that starts with the statements `first`, if any."""
        connection = self.begin(deadline, first) if first else self._get(deadline)
        try:
            with connection:
                yield connection
        finally:
            self.putconn(connection)

    def begin(self, deadline: timeouts.Deadline, first: Sequence[BoundStatement]) -> WatchedConnection:
        """Return a connection in a transaction that starts with `first`; the caller gives it back.

        A lost connection is replaced.

        Raises:
            ServerTimeout: the server does not answer.
            psycopg.Error: it refuses `first`.
        """
        while True:
            token = _skip_check.set(True)
            try:
                connection = self._get(deadline)
            finally:
                _skip_check.reset(token)
            try:
                with self._check_timeout():
                    for statement, parameters in first:
                        connection.execute(statement, parameters)
            except BaseException as error:
                self.putconn(connection)
                if not is_disconnected(error):
                    raise
            else:
                return connection

    def _get(self, deadline: timeouts.Deadline) -> WatchedConnection:
        """Return a connection; give up as soon as the server times out for any caller."""
        while True:
            try:
                return self.getconn(timeout=min(deadline.seconds_left, POLL_SECONDS))
            except psycopg_pool.PoolTimeout as error:
                if deadline.server_timed_out:
                    raise ServerTimeout("the server did not answer others") from error
                if not deadline.seconds_left:
                    raise

    def _check_if_needed(self, connection: WatchedConnection) -> None:
        if not _skip_check.get():
            with self._check_timeout():
                self.check_connection(connection)

    @contextmanager
    def _check_timeout(self) -> Iterator[None]:
        """Apply the timeout of trivial statements to the block."""
        try:
            with timeouts.deadline(self._url, timeouts.breaker_for(self._url).check_timeout_seconds):
                yield
        except ServerTimeout:
            self.drain()  # the idle connections are dead too, and checking each would take the timeout again
            raise

    def _configure_new(self, connection: WatchedConnection) -> None:
        connection.url = self._url
        seconds = max(1.0, timeouts.breaker_for(self._url).timeout_seconds - timeouts.CANCEL_MARGIN_SECONDS)
        connection.execute(named_queries.load("session")["limit"], {"milliseconds": round(1000 * seconds)})
        configure(connection)


def configure(connection: psycopg.Connection[Any]) -> None:
    """Apply the session settings of every connection, see ``sql/session.sql``."""
    connection.execute(named_queries.load("session")["settings"])
    connection.commit()


def is_disconnected(error: BaseException) -> bool:
    """Return whether a statement failed because its connection was lost, so that another connection may succeed."""
    if isinstance(error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown | psycopg.errors.CannotConnectNow):
        return True
    is_timeout = isinstance(error, ServerTimeout | psycopg_pool.PoolTimeout)
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None and not is_timeout
