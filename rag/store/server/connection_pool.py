"""Connections that are kept: checked by what their transaction begins with, so that nothing is asked for that alone."""

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
"""Longest wait for a connection: a killed embedded server is back within a second or two."""
RECONNECT_SECONDS = 5.0
"""How long the pool itself tries to replace a lost connection; later, whoever needs one has it tried anew at once."""
LOOK_SECONDS = 0.5
"""How often who waits for a connection looks whether others have found the server silent."""

BoundStatement = tuple[sql.SQL | sql.Composed, Mapping[str, object]]
"""A statement with its parameters."""

_is_begun: ContextVar[bool] = ContextVar("is_begun", default=False)
"""Whether a connection is checked by how its transaction begins."""


class Pool(psycopg_pool.ConnectionPool[WatchedConnection]):
    """Connections to one database, each set up for our queries and checked when it is taken."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        super().__init__(
            url,
            connection_class=WatchedConnection,
            kwargs=lambda: timeouts.connecting(url, timeouts.breaker_for(url).check_timeout_seconds),
            min_size=1,
            max_size=size,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            configure=self._set_up,
            check=self._check,
            close_returns=True,  # so that SQLAlchemy, who closes connections, gives them back
            name="pagelight",
            open=False,
        )

    @contextmanager
    def taken(self, patience: timeouts.Deadline, first: Sequence[BoundStatement]) -> Iterator[WatchedConnection]:
        """A connection until the end of the block, in a transaction that begins with `first`, if anything."""
        connection = self.begun(patience, first) if first else self._awaited(patience)
        try:
            with connection:
                yield connection
        finally:
            self.putconn(connection)

    def begun(self, patience: timeouts.Deadline, first: Sequence[BoundStatement]) -> WatchedConnection:
        """A connection in a transaction that begins with `first`, to be given back. One that is lost is replaced.

        Raises:
            Unanswered: the server does not answer.
            psycopg.Error: it refuses `first`.
        """
        while True:
            connection = self._unchecked(patience)
            try:
                with self._answering():
                    for statement, parameters in first:
                        connection.execute(statement, parameters)
            except BaseException as error:
                self.putconn(connection)
                if not is_disconnected(error):
                    raise
            else:
                return connection

    def _unchecked(self, patience: timeouts.Deadline) -> WatchedConnection:
        token = _is_begun.set(True)
        try:
            return self._awaited(patience)
        finally:
            _is_begun.reset(token)

    def _awaited(self, patience: timeouts.Deadline) -> WatchedConnection:
        """A connection, unless the server is found silent by anybody who waits for it."""
        while True:
            try:
                return self.getconn(timeout=min(patience.left, LOOK_SECONDS))
            except psycopg_pool.PoolTimeout as error:
                if patience.server_timed_out:
                    raise ServerTimeout("the server did not answer others") from error
                if not patience.left:
                    raise

    def _check(self, connection: WatchedConnection) -> None:
        if not _is_begun.get():
            with self._answering():
                self.check_connection(connection)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """What is asked in this block is answered at once by who is there."""
        try:
            with timeouts.patience(self._url, timeouts.breaker_for(self._url).check_timeout_seconds):
                yield
        except ServerTimeout:
            self.drain()  # the others that are idle go the same way, and checking each takes its time
            raise

    def _set_up(self, connection: WatchedConnection) -> None:
        connection.url = self._url
        most = max(1.0, timeouts.breaker_for(self._url).timeout_seconds - timeouts.CANCEL_MARGIN_SECONDS)
        connection.execute(named_queries.load("session")["limit"], {"milliseconds": round(1000 * most)})
        configure(connection)


def configure(connection: psycopg.Connection[Any]) -> None:
    """Session settings of every connection, see ``sql/session.sql``."""
    connection.execute(named_queries.load("session")["settings"])
    connection.commit()


def is_disconnected(error: BaseException) -> bool:
    """Whether the statement failed because its connection is gone, so another connection may do it."""
    if isinstance(error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown | psycopg.errors.CannotConnectNow):
        return True
    is_unresponsive = isinstance(error, ServerTimeout | psycopg_pool.PoolTimeout)
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None and not is_unresponsive
