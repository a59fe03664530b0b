"""Databases with a connection pool, seen by all users or by one, and the translation of driver errors into ours."""

import copy
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Self, TypeVar

import procrastinate.exceptions
import psycopg
import psycopg_pool
from psycopg import rows, sql

from rag import errors, types
from rag.messages import N_
from rag.store.server import named_queries, timeouts
from rag.store.server.timeouts import ServerTimeout, WatchedConnection

logger = logging.getLogger(__name__)

UNREACHABLE = N_(
    "The database cannot be reached. Check that it runs and that RAG_DATABASE_URL is right, then try again."
)
UNANSWERED = N_("The database does not answer. Try again in a few seconds; if it lasts, see that its server runs.")
LOST = N_("The connection to the database was lost. Try again; what was not confirmed has not been saved.")
UNCERTAIN = N_("The connection to the database was lost while it saved. Look whether it is there, or try again.")

UNSTORABLE_STATES = {None, "22P05", "22021", "22003"}
"""psycopg's own refusal (NUL in a text); untranslatable character, character not in repertoire, number out of range."""
UNSTORABLE = N_("A text has characters, or a number is of a size, that cannot be stored. Correct it and try again.")

CONNECTION_EXCEPTION = "08"
"""The class of SQLSTATEs about connections. Our own have none, so these are between the servers of a cluster."""

EXPLANATIONS = {
    psycopg.errors.QueryCanceled: N_(
        "The database took too long for this. Try again when it has less to do, or raise RAG_DATABASE_TIMEOUT_SECONDS."
    ),
    psycopg.errors.DiskFull: N_("The database's disk is full. Make room and try again."),
    psycopg.errors.InsufficientPrivilege: N_(
        "The database account may not do this. Give it the rights, or use another account in RAG_DATABASE_URL."
    ),
}

CONNECT_SECONDS = 10.0
"""Timeout for a connection: a killed embedded server is back within a second or two."""
RECONNECT_SECONDS = 5.0
"""How long the pool itself tries to replace a lost connection; after that each caller makes it try again at once."""
POLL_SECONDS = 0.5
"""How often a caller that waits for a connection checks whether the server has timed out for others."""

TIMEOUTS = (ServerTimeout, psycopg_pool.PoolTimeout)

_skip_check: ContextVar[bool] = ContextVar("skip_check", default=False)
"""Whether the first statements of the transaction check the connection."""

UNKNOWN_ORIGIN = types.RequestOrigin()

Row = dict[str, Any]
Connection = psycopg.Connection[Row]
Statement = sql.SQL | sql.Composed
Result = TypeVar("Result")


@contextmanager
def store_errors() -> Iterator[None]:
    """Translate errors of psycopg, its pool, SQLAlchemy and procrastinate into ours, without any value of a row.

    A value that cannot be stored raises `errors.ValidationError`, everything else `errors.StoreError`.
    """
    try:
        yield
    except _driver_errors() as error:
        raise _translated(_driver_error(error)) from error
    except UnicodeEncodeError as error:
        raise errors.ValidationError(UNSTORABLE) from error


def _driver_errors() -> tuple[type[Exception], ...]:
    """Return the error types to translate. SQLAlchemy, which takes half a second to load, is not imported for it."""
    sqlalchemy = sys.modules.get("sqlalchemy.exc")
    more = [sqlalchemy.SQLAlchemyError] if sqlalchemy else []
    return (psycopg.Error, procrastinate.exceptions.ConnectorException, *more)


def _driver_error(error: BaseException) -> BaseException:
    """Return the psycopg error inside an error of SQLAlchemy or procrastinate."""
    inner = getattr(error, "orig", None) or error.__cause__
    return inner if isinstance(inner, psycopg.Error) else error


def _translated(error: BaseException) -> errors.Error:
    sqlstate = getattr(error, "sqlstate", None)
    details: dict[str, object] = {"sqlstate": sqlstate} if sqlstate else {}
    if isinstance(error, psycopg.DataError) and sqlstate in UNSTORABLE_STATES:
        return errors.ValidationError(UNSTORABLE, details=details)
    if isinstance(error, TIMEOUTS) or _is_node_lost(error):
        return errors.StoreUnavailableError(UNANSWERED, details=details)
    if is_disconnected(error):
        return errors.StoreUnavailableError(LOST, details=details)
    refused = N_("The database refused a statement ({error}). Try again; if it persists, report it.").format(
        error=type(error).__name__
    )
    message = next((text for kind, text in EXPLANATIONS.items() if isinstance(error, kind)), refused)
    return errors.StoreError(message, details=details)


def connect(url: str, *, autocommit: bool = False, renews: bool = False) -> Connection:
    """Open a connection outside the pool. With `renews` statements may take any time while the server lives.

    Raises StoreUnavailableError.
    """
    try:
        return timeouts.connect(url, renews=renews, autocommit=autocommit, row_factory=rows.dict_row)
    except psycopg.Error as error:
        raise errors.StoreUnavailableError(UNANSWERED if isinstance(error, TIMEOUTS) else UNREACHABLE) from error


def retry_once(read: Callable[[], Result]) -> Result:
    """Return the result of `read`; try again once if its connection was lost."""
    try:
        with store_errors():
            return read()
    except errors.StoreError as error:
        if not is_disconnected(_driver_error(error.__cause__ or error)):
            raise
        logger.warning("connection lost while reading; trying again")
    with store_errors():
        return read()


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
    def checkout(self, deadline: timeouts.Deadline, first: Sequence[Statement]) -> Iterator[WatchedConnection]:
        """Lend a connection to the block, in a transaction that starts with the statements `first`, if any."""
        connection = self.begin(deadline, first) if first else self._get(deadline)
        try:
            with connection:
                yield connection
        finally:
            self.putconn(connection)

    def begin(self, deadline: timeouts.Deadline, first: Sequence[Statement]) -> WatchedConnection:
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
                    for statement in first:
                        connection.execute(statement, prepare=False)  # with a literal: one per user
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
    is_ours = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    return is_ours and not isinstance(error, TIMEOUTS)


def _is_node_lost(error: BaseException) -> bool:
    """Return whether the server, which is there, has no connection to the node of a cluster with the user's rows."""
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate or "").startswith(CONNECTION_EXCEPTION)


def _with_connection(opened: AbstractContextManager[Connection], work: Callable[[Connection], Result]) -> Result:
    with opened as connection:
        return work(connection)


class Database:
    """A pool of connections to one database, for all users.

    Connections are checked on checkout, so a restarted server costs one statement at most. A request may take the
    server's timeout in all, including the wait for a connection and a second attempt.
    """

    def __init__(self, url: str, *, pool_size: int) -> None:
        self.url = url
        self.pool = Pool(url, pool_size)

    def open(self) -> None:
        """Connect. Raises StoreError if the server cannot be reached."""
        with store_errors():
            self.pool.open(wait=True, timeout=CONNECT_SECONDS)

    def close(self) -> None:
        """Close all connections."""
        self.pool.close()

    def search(self, work: "Callable[[Database], Result]") -> Result:
        """Run `work`, which only reads, on this database; see `ReplicatedDatabase`."""
        return work(self)

    @contextmanager
    def time_limit(self, seconds: float | None = None, *, renews: bool = False) -> Iterator[timeouts.Deadline]:
        """Limit the requests in this block to `seconds`, by default the server's timeout; see `timeouts.deadline`."""
        with store_errors(), timeouts.deadline(self.url, seconds, renews=renews) as deadline:
            yield deadline

    @contextmanager
    def transaction(self, *, long: bool = False, first: Sequence[Statement] = ()) -> Iterator[Connection]:
        """Run the block in a transaction that starts with the statements `first`. `long` ones may take any time.

        Raises:
            errors.StoreError: the database fails; `details["uncertain"]` is set if the connection was lost during
                the commit, so that the transaction may have happened.
        """
        with self.time_limit(renews=long) as deadline, self.pool.checkout(deadline, first) as connection:
            connection.row_factory = rows.dict_row
            if long:
                connection.execute(named_queries.load("session")["without_limit"])
            yield connection
            try:
                connection.commit()
            except psycopg.OperationalError as error:
                if not is_disconnected(error) and not _is_node_lost(error):
                    raise
                raise errors.StoreError(UNCERTAIN, details={"uncertain": True}) from error

    def lend(self, first: Sequence[Statement]) -> psycopg.Connection[Any]:
        """Return a connection for SQLAlchemy, in a transaction that starts with `first`; closing gives it back."""
        with timeouts.deadline(self.url) as deadline:
            connection = self.pool.begin(deadline, first)
        connection.row_factory = rows.tuple_row
        return connection

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the parameters of a statement as they are: no user is bound."""
        return {**parameters}

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Return the result of `work`, which only reads; try again once if its connection was lost."""
        with self.time_limit():
            return retry_once(lambda: _with_connection(self.transaction(), work))


def set_user(user_id: str) -> sql.Composed:
    """Return the statement that makes a transaction that of a user for row-level security."""
    return named_queries.load("row_security")["bind"].format(user_id=sql.Literal(user_id))


class UserDatabase:
    """A database seen by one user: every statement's parameter `user_id` is this user's id.

    Each transaction also sets the user for row-level security, see ``sql/migrations/0001_row_level_security.sql``.
    """

    def __init__(
        self,
        database: Database,
        user_id: str,
        origin: types.RequestOrigin = UNKNOWN_ORIGIN,
        *,
        actor: str | None = None,
    ) -> None:
        """For the audit, `origin` is where the request came from, and `actor` who acts if it is not the user."""
        self.user_id = user_id
        self.actor = actor or user_id
        self.origin = origin
        self._database = database

    @property
    def url(self) -> str:
        """The URL for a connection outside the pool."""
        return self._database.url

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Connection]:
        """Run the block in a transaction of the user, see `Database.transaction`."""
        with self._database.transaction(long=long, first=[self.user_statement]) as connection:
            yield connection

    def at(self, database: Database) -> Self:
        """Return the same user's view of another copy of the database."""
        view = copy.copy(self)
        view._database = database
        return view

    def search(self, work: Callable[[Self], Result]) -> Result:
        """Run `work`, which only reads, on an up-to-date replica or else on the primary."""
        return self._database.search(lambda database: work(self.at(database)))

    @property
    def user_statement(self) -> Statement:
        """The statement that sets the user of a transaction for row-level security."""
        return set_user(self.user_id)

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the parameters of a statement with the user's id among them, for all indexes of the user."""
        reach = {"user_id": self.user_id, "within": None, "with_trash": True, "asker": None}
        return {**parameters, **reach, "actor": self.actor, **self.origin._asdict()}

    def read(self, work: Callable[[Connection], Result], *, in_snapshot: bool = False) -> Result:
        """Return the result of `work`, which only reads; try again once if its connection was lost.

        With `in_snapshot` all its statements see the database at one moment.
        """
        return retry_once(lambda: _with_connection(self.reading(in_snapshot=in_snapshot), work))

    @contextmanager
    def reading(self, *, in_snapshot: bool) -> Iterator[Connection]:
        """Run the block in a transaction that only reads."""
        # The isolation level can only be set by the first statement.
        snapshot: list[Statement] = [named_queries.load("session")["snapshot"]] if in_snapshot else []
        with self._database.transaction(first=[*snapshot, self.user_statement]) as connection:
            yield connection


class Queries:
    """The named queries of one `.sql` file, run on a database with the parameters of its user.

    A query is given by its name, or as the statement itself where a table name had to be put in.
    """

    def __init__(self, database: Database | UserDatabase, noun: str) -> None:
        self._database = database
        self._statements = named_queries.load(noun)

    def __getitem__(self, name: str) -> sql.SQL:
        return self._statements[name]

    def all(self, query: str | Statement, /, **parameters: object) -> list[Row]:
        """Return the rows that a reading statement finds."""
        statement, bound = self._prepared(query, parameters)
        return self._database.read(lambda connection: connection.execute(statement, bound).fetchall())

    def one(self, query: str | Statement, /, **parameters: object) -> Row | None:
        """Return the first row that a reading statement finds, if any."""
        return next(iter(self.all(query, **parameters)), None)

    def value(self, query: str | Statement, /, **parameters: object) -> Any:
        """Return the first value that a reading statement finds, if any."""
        return next(iter((self.one(query, **parameters) or {}).values()), None)

    def get(self, query: str | Statement, unknown: errors.Error, /, **parameters: object) -> Row:
        """Return the first row that a reading statement finds. Raises `unknown` if there is none."""
        row = self.one(query, **parameters)
        if row is None:
            raise unknown
        return row

    def change(self, query: str | Statement, unknown: errors.Error, /, **parameters: object) -> Row:
        """Run a writing statement, see `write`, and return its first row. Raises `unknown` if there is none."""
        rows = self.write(query, **parameters)
        if not rows:
            raise unknown
        return rows[0]

    def write(self, query: str | Statement, /, **parameters: object) -> list[Row]:
        """Run a writing statement in its own transaction, once, and return its rows."""
        with self._database.transaction() as connection:
            cursor = self.run(connection, query, **parameters)
            return cursor.fetchall() if cursor.description else []

    def run(self, connection: Connection, query: str | Statement, /, **parameters: object) -> psycopg.Cursor[Row]:
        """Run a statement in the transaction of `connection`."""
        return connection.execute(*self._prepared(query, parameters))

    def _prepared(
        self, query: str | Statement, parameters: Mapping[str, object]
    ) -> tuple[Statement, dict[str, object]]:
        return self._statements[query] if isinstance(query, str) else query, self._database.bind(parameters)
