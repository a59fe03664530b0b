"""The connection pool of a process, and the one place where database errors become ours."""

import copy
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import procrastinate.exceptions
import psycopg
import psycopg_pool
from psycopg import rows, sql

from rag import errors
from rag.store.server import named_queries, timeouts
from rag.store.server.connection_pool import CONNECT_SECONDS, BoundStatement, Pool, is_disconnected
from rag.store.server.read_replica import Replica
from rag.store.server.timeouts import ServerTimeout
from rag.types import Whence

logger = logging.getLogger(__name__)

UNREACHABLE = "The database cannot be reached. Check that it runs and that RAG_DATABASE_URL is right, then try again."
UNANSWERED = "The database does not answer. Try again in a few seconds; if it lasts, see that its server runs."
TOO_LONG = (
    "The database took too long for this. Try again when it has less to do, or raise RAG_DATABASE_TIMEOUT_SECONDS."
)
LOST = "The connection to the database was lost. Try again; what was not confirmed has not been saved."

UNCERTAIN = "The connection to the database was lost while it saved. Look whether it is there, or try again."

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
    except _of_the_store() as error:
        if _is_unstorable(_origin(error)):
            raise errors.ValidationError(UNSTORABLE, details=_details(_origin(error))) from error
        raise _error_of(_origin(error)) from error
    except UnicodeEncodeError as error:
        raise errors.ValidationError(UNSTORABLE) from error


def _of_the_store() -> tuple[type[Exception], ...]:
    """What it raises. SQLAlchemy takes half a second to load; where that is not done it has raised nothing."""
    of_sqlalchemy: type[Exception] | None = getattr(sys.modules.get("sqlalchemy.exc"), "SQLAlchemyError", None)
    own = (psycopg.Error, procrastinate.exceptions.ConnectorException)
    return (*own, of_sqlalchemy) if of_sqlalchemy else own


def _is_unstorable(error: BaseException) -> bool:
    """Whether a value cannot be stored: NUL in a text, which psycopg refuses itself and JSON may have, or a size."""
    return isinstance(error, psycopg.DataError) and error.sqlstate in UNSTORABLE_STATES


def _origin(error: BaseException) -> BaseException:
    """The database driver's own error."""
    inner = getattr(error, "orig", None) or error.__cause__
    return inner if isinstance(inner, psycopg.Error) else error


def connect(url: str, *, autocommit: bool = False, asks: bool = False) -> Connection:
    """A connection of its own, beside the pool. With `asks` its work may take any time, while the server lives.

    Raises:
        errors.StoreUnavailableError: the server cannot be reached, or lets nobody in with this URL.
    """
    try:
        connection: Connection = timeouts.connect(url, asks=asks, autocommit=autocommit, row_factory=rows.dict_row)
    except psycopg.Error as error:
        raise errors.StoreUnavailableError(UNANSWERED if _is_silent(error) else UNREACHABLE) from error
    return connection


def _error_of(error: BaseException) -> errors.StoreError:
    unavailable = _unavailable(error)
    if unavailable:
        return errors.StoreUnavailableError(unavailable, details=_details(error))
    return errors.StoreError(_explain(error), details=_details(error))


def _unavailable(error: BaseException) -> str | None:
    """What to say if the same may work a moment later."""
    if _is_silent(error):
        return UNANSWERED
    return LOST if is_disconnected(error) else None


def _is_silent(error: BaseException) -> bool:
    """Whether it is no use to try again at once."""
    return isinstance(error, ServerTimeout | psycopg_pool.PoolTimeout)


def _explain(error: BaseException) -> str:
    if isinstance(error, psycopg.errors.QueryCanceled):
        return TOO_LONG
    if isinstance(error, psycopg.errors.DiskFull):
        return "The database's disk is full. Make room and try again."
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return "The database account may not do this. Give it the rights, or use another account in RAG_DATABASE_URL."
    return f"The database refused a statement ({type(error).__name__}). Try again; if it persists, report it."


def _details(error: BaseException) -> dict[str, object]:
    """What a report needs; never a value of a row."""
    sqlstate = getattr(error, "sqlstate", None)
    return {"sqlstate": sqlstate} if sqlstate else {}


def retry_once(read: Callable[[], Result]) -> Result:
    """The result of `read`, tried again once if its connection was lost."""
    try:
        with store_errors():
            return read()
    except errors.StoreError as error:
        if not is_disconnected(_origin(error.__cause__ or error)):
            raise
        logger.warning("connection lost while reading; trying again")
    with store_errors():
        return read()


class Database:
    """A pool of connections to one database, each set up for our queries.

    Connections are checked when they are taken, so a restarted server costs one statement at most. What is asked takes
    the server's limit at most (`silence.Server.limit_seconds`), a second attempt and waiting for a connection included.
    """

    def __init__(self, url: str, *, pool_size: int) -> None:
        self.url = url
        self._replica: Replica | None = None
        self.pool = Pool(url, pool_size)

    def open(self) -> None:
        """Connect.

        Raises:
            errors.StoreError: the server cannot be reached.
        """
        with store_errors():
            self.pool.open(wait=True, timeout=CONNECT_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        if self._replica:
            self._replica.close()
        self.pool.close()

    def use_replica(self, replica: "Database") -> None:
        """Let searches be done by `replica` where it can; it is opened, and closed with this one."""
        self._replica = Replica(self, replica)
        self._replica.open()

    def search(self, ask: "Callable[[Database], Result]") -> Result:
        """What `ask`, which only reads, gets of this database, or of a replica that has the same."""
        return self._replica.search(ask) if self._replica else ask(self)

    def check_connection(self) -> None:
        """See that the server lets somebody in, which the pool would try for as long as it may.

        Raises:
            errors.StoreUnavailableError: it does not.
        """
        connect(self.url).close()

    @contextmanager
    def limit(self, seconds: float | None = None, *, asks: bool = False) -> Iterator[timeouts.Deadline]:
        """All that is asked in this block takes so long at most, else the server's limit; see `silence.patience`."""
        with store_errors(), timeouts.patience(self.url, seconds, asks=asks) as patience:
            yield patience

    @contextmanager
    def transaction(self, *, long: bool = False, first: Sequence[BoundStatement] = ()) -> Iterator[Connection]:
        """A connection in a transaction: all of it happens, or nothing. `long` work may take any time.

        It begins with what is asked `first`, by which the connection is checked.

        Raises:
            errors.StoreError: the database fails; `details` say that it is `uncertain` whether all of it has happened
                if the connection was lost before it was told.
        """
        with self.limit(asks=long) as patience, self.pool.taken(patience, first) as connection:
            connection.row_factory = rows.dict_row
            if long:
                connection.execute(named_queries.load("session")["without_limit"])
            yield connection
            _commit(connection)

    def lend(self, first: Sequence[BoundStatement]) -> psycopg.Connection[Any]:
        """A connection as SQLAlchemy takes it: rows are tuples, and closing it gives it back.

        It is in a transaction that begins with `first`.
        """
        with timeouts.patience(self.url) as patience:
            connection = self.pool.begun(patience, first)
        connection.row_factory = rows.tuple_row
        return connection

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work`, which only reads; tried again once if its connection was lost."""

        def attempt() -> Result:
            with self.transaction() as connection:
                return work(connection)

        with self.limit():
            return retry_once(attempt)

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


def _commit(connection: Connection) -> None:
    try:
        connection.commit()
    except psycopg.OperationalError as error:
        if not is_disconnected(error):
            raise
        raise errors.StoreError(UNCERTAIN, details={"uncertain": True}) from error


UNKNOWN_ORIGIN = Whence()


class UserDatabase:
    """A database as one user's statements see it: the parameter `user_id` of each of them is this user's.

    So is the setting by which the server itself shows no other user's rows, see
    ``sql/migrations/0001_row_level_security.sql``.
    """

    def __init__(
        self, database: Database, user_id: str, origin: Whence = UNKNOWN_ORIGIN, *, actor: str | None = None
    ) -> None:
        """`origin` is what the audit tells of where the user is, `actor` who acts if it is not the user."""
        self.user_id = user_id
        self.actor = actor or user_id
        self.origin = origin
        self._database = database

    @property
    def url(self) -> str:
        """For a connection beside the pool."""
        return self._database.url

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Connection]:
        """See `Database.transaction`."""
        with self._database.transaction(long=long, first=[self.user_statement]) as connection:
            yield connection

    def at(self, database: Database) -> Self:
        """The same user at another copy of the database."""
        elsewhere = copy.copy(self)
        elsewhere._database = database
        return elsewhere

    def search(self, ask: Callable[[Self], Result]) -> Result:
        """What `ask`, which only reads, gets of a replica that has the same, or else of the primary."""
        return self._database.search(lambda database: ask(self.at(database)))

    @property
    def user_statement(self) -> BoundStatement:
        """Lets the server show a transaction this user's rows."""
        return named_queries.load("walls")["bind"], {"user_id": self.user_id}

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """The parameters of a statement, with the user's id among them; all indexes of the user are in its reach."""
        reach = {"user_id": self.user_id, "within": None, "with_trash": True, "asker": None}
        return {**parameters, **reach, "actor": self.actor, **self.origin._asdict()}

    def read(self, work: Callable[[Connection], Result], *, in_snapshot: bool = False) -> Result:
        """The result of `work`, which only reads; tried again once if its connection was lost.

        With `in_snapshot` all of its statements see the database as it was at one moment.
        """

        def attempt() -> Result:
            with self.reading(in_snapshot=in_snapshot) as connection:
                return work(connection)

        return retry_once(attempt)

    @contextmanager
    def reading(self, *, in_snapshot: bool) -> Iterator[Connection]:
        """A transaction that only reads, as `read` has it."""
        snapshot: list[BoundStatement] = [(named_queries.load("session")["snapshot"], {})] if in_snapshot else []
        with self._database.transaction(
            first=[*snapshot, self.user_statement]
        ) as connection:  # it can only be said first
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
