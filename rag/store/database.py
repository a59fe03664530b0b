"""The connection pool of a process, and the one place where database errors become ours."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import procrastinate.exceptions
import psycopg
import psycopg_pool
import sqlalchemy.exc
from psycopg import rows, sql

from rag import errors
from rag.store import queries
from rag.types import Whence

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
"""Longest wait for a connection: a killed embedded server is back within a second or two."""

UNREACHABLE = "The database cannot be reached. Check that it runs and that RAG_DATABASE_URL is right, then try again."

UNSTORABLE_STATES = {None, "22P05", "22021", "22003"}
"""None is psycopg's own refusal; then untranslatable character, character not in repertoire, number out of range."""

UNSTORABLE = "A text has characters, or a number is of a size, that cannot be stored. Correct it and try again."

Row = dict[str, Any]
Connection = psycopg.Connection[Row]
Statement = sql.SQL | sql.Composed
Result = TypeVar("Result")


@contextmanager
def store_errors() -> Iterator[None]:
    """Errors of psycopg, its pool, SQLAlchemy and procrastinate come out as ours, without any value.

    As `errors.ValidationError` where a value cannot be stored, such as a text with NUL, else as `errors.StoreError`.
    """
    try:
        yield
    except (psycopg.Error, sqlalchemy.exc.SQLAlchemyError, procrastinate.exceptions.ConnectorException) as error:
        if _is_unstorable(_origin(error)):
            raise errors.ValidationError(UNSTORABLE, details=_details(_origin(error))) from error
        raise errors.StoreError(_explain(_origin(error)), details=_details(_origin(error))) from error
    except UnicodeEncodeError as error:
        raise errors.ValidationError(UNSTORABLE) from error


def _is_unstorable(error: BaseException) -> bool:
    """Whether a value cannot be stored: NUL in a text, which psycopg refuses itself and JSON may have, or a size."""
    return isinstance(error, psycopg.DataError) and error.sqlstate in UNSTORABLE_STATES


def _origin(error: BaseException) -> BaseException:
    """The database driver's own error."""
    inner = getattr(error, "orig", None) or error.__cause__
    return inner if isinstance(inner, psycopg.Error) else error


def connect(url: str, *, autocommit: bool = False) -> Connection:
    """A connection of its own, beside the pool.

    Raises:
        errors.StoreError: the server cannot be reached, or lets nobody in with this URL.
    """
    try:
        return psycopg.connect(url, autocommit=autocommit, row_factory=rows.dict_row)
    except psycopg.Error as error:
        raise errors.StoreError(UNREACHABLE) from error


def _explain(error: BaseException) -> str:
    if isinstance(error, psycopg_pool.PoolTimeout):
        return UNREACHABLE
    if _is_disconnected(error):
        return "The connection to the database was lost. Try again; what was not confirmed has not been saved."
    if isinstance(error, psycopg.errors.DiskFull):
        return "The database's disk is full. Make room and try again."
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return "The database account may not do this. Give it the rights, or use another account in RAG_DATABASE_URL."
    return f"The database refused a statement ({type(error).__name__}). Try again; if it persists, report it."


def _details(error: BaseException) -> dict[str, object]:
    """What a report needs; never a value of a row."""
    sqlstate = getattr(error, "sqlstate", None)
    return {"sqlstate": sqlstate} if sqlstate else {}


def _is_disconnected(error: BaseException) -> bool:
    """Whether the statement failed because its connection is gone, so another connection may do it."""
    if isinstance(error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown | psycopg.errors.CannotConnectNow):
        return True
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def twice(read: Callable[[], Result]) -> Result:
    """The result of `read`, tried again once if its connection was lost."""
    try:
        with store_errors():
            return read()
    except errors.StoreError as error:
        if not _is_disconnected(_origin(error.__cause__ or error)):
            raise
        logger.warning("connection lost while reading; trying again")
    with store_errors():
        return read()


class Database:
    """A pool of connections to one database, each set up for our queries.

    Connections are checked when they are taken, so a restarted server costs one statement at most.
    """

    def __init__(self, url: str, *, pool_size: int) -> None:
        self.url = url
        self.pool: psycopg_pool.ConnectionPool[psycopg.Connection[Any]] = psycopg_pool.ConnectionPool(
            url,
            connection_class=psycopg.Connection[Any],
            min_size=1,
            max_size=pool_size,
            timeout=CONNECT_SECONDS,
            configure=configure,
            check=psycopg_pool.ConnectionPool.check_connection,
            close_returns=True,  # so that SQLAlchemy, who closes connections, gives them back
            name="pagelight",
            open=False,
        )

    def open(self) -> None:
        """Connect.

        Raises:
            errors.StoreError: the server cannot be reached.
        """
        with store_errors():
            self.pool.open(wait=True, timeout=CONNECT_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        self.pool.close()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection in a transaction: all of it happens, or nothing."""
        with store_errors(), self.pool.connection() as connection:
            connection.row_factory = rows.dict_row
            yield connection

    def lend(self) -> psycopg.Connection[Any]:
        """A connection as SQLAlchemy takes it: rows are tuples, and closing it gives it back."""
        connection = self.pool.getconn()
        connection.row_factory = rows.tuple_row
        return connection

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work`, which only reads; tried again once if its connection was lost."""

        def attempt() -> Result:
            with self.transaction() as connection:
                return work(connection)

        return twice(attempt)

    def all(self, query: Statement, parameters: Mapping[str, object]) -> list[Row]:
        """The rows that a reading statement finds."""
        return self.read(lambda connection: connection.execute(query, parameters).fetchall())

    def one(self, query: Statement, parameters: Mapping[str, object]) -> Row | None:
        """The row that a reading statement finds, if any."""
        rows = self.all(query, parameters)
        return rows[0] if rows else None

    def write(self, query: Statement, parameters: Mapping[str, object]) -> list[Row]:
        """The rows that a writing statement returns; never tried twice."""
        with self.transaction() as connection:
            cursor = connection.execute(query, parameters)
            return cursor.fetchall() if cursor.description else []


NOWHERE = Whence()


class UserDatabase:
    """A database as one user's statements see it: the parameter `user_id` of each of them is this user's."""

    def __init__(self, database: Database, user_id: str, origin: Whence = NOWHERE) -> None:
        """`origin` is what the audit tells of where the user is."""
        self.user_id = user_id
        self.origin = origin
        self._database = database

    @property
    def url(self) -> str:
        """For a connection beside the pool."""
        return self._database.url

    def transaction(self) -> AbstractContextManager[Connection]:
        """See `Database.transaction`."""
        return self._database.transaction()

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """The parameters of a statement, with the user's id among them; all indexes of the user are in its reach."""
        reach = {"user_id": self.user_id, "within": None, "with_trash": True, "asker": None}
        return {**parameters, **reach, "actor": self.user_id, **self.origin._asdict()}

    def read(self, work: Callable[[Connection], Result], *, in_snapshot: bool = False) -> Result:
        """The result of `work`, which only reads; tried again once if its connection was lost.

        With `in_snapshot` all of its statements see the database as it was at one moment.
        """

        def attempt() -> Result:
            with self.reading(in_snapshot=in_snapshot) as connection:
                return work(connection)

        return twice(attempt)

    @contextmanager
    def reading(self, *, in_snapshot: bool) -> Iterator[Connection]:
        """A transaction that only reads, as `read` has it."""
        with self.transaction() as connection:
            if in_snapshot:
                connection.execute(queries.load("session")["snapshot"])
            yield connection

    def all(self, query: Statement, parameters: Mapping[str, object]) -> list[Row]:
        """The rows that a reading statement finds."""
        bound = self.bind(parameters)
        return self.read(lambda connection: connection.execute(query, bound).fetchall())

    def one(self, query: Statement, parameters: Mapping[str, object]) -> Row | None:
        """The row that a reading statement finds, if any."""
        found = self.all(query, parameters)
        return found[0] if found else None

    def write(self, query: Statement, parameters: Mapping[str, object]) -> list[Row]:
        """The rows that a writing statement returns; never tried twice."""
        bound = self.bind(parameters)
        with self.transaction() as connection:
            cursor = connection.execute(query, bound)
            return cursor.fetchall() if cursor.description else []


def configure(connection: psycopg.Connection[Any]) -> None:
    """Session settings of every connection, see ``sql/session.sql``."""
    connection.execute(queries.load("session")["settings"])
    connection.commit()
