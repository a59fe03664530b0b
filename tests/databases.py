"""Databases for tests, with our schema and no rows; they are emptied and reused.

Creating and dropping a database costs the server a third of a second of CPU, emptying one a thirtieth of that.
"""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from psycopg import conninfo, sql

from rag.store.store import Store

DIMENSIONS = 384
"""Dimensions of the chunk table that most tests need."""

ENDING_MS = 10_000
"""Timeout for a connection to end, in seconds."""

SCHEMA = """
    SELECT md5(string_agg(line, ' ' ORDER BY line)) AS schema FROM (
        SELECT format('class %s %s', oid, xmin) FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT format('column %s %s %s', attrelid, attnum, a.xmin)
        FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT format('constraint %s %s', oid, xmin) FROM pg_constraint
        UNION ALL SELECT format('default %s %s', oid, xmin) FROM pg_attrdef
        UNION ALL SELECT format('extension %s %s', oid, xmin) FROM pg_extension
        UNION ALL SELECT format('function %s %s', oid, xmin) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT format('index %s %s', indexrelid, xmin) FROM pg_index
        UNION ALL SELECT format('namespace %s %s', oid, xmin) FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'
        UNION ALL SELECT format('policy %s %s', oid, xmin) FROM pg_policy
        UNION ALL SELECT format('rule %s %s', oid, xmin) FROM pg_rewrite
        UNION ALL SELECT format('setting %s %s', setrole, s.xmin)
        FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()
        UNION ALL SELECT format('trigger %s %s', oid, xmin) FROM pg_trigger
        UNION ALL SELECT format('migration %s', name) FROM migrations
        UNION ALL SELECT format('database %s', datacl) FROM pg_database WHERE datname = current_database()
    ) AS known (line)
"""
"""A fingerprint of the schema; it changes with every change, even a reverted one, as each creates a row version.

Settings of other databases are left out: all test processes share the server.
"""

END_OTHERS = """
    SELECT bool_and(pg_terminate_backend(pid, %(milliseconds)s)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

FILLED = """
    SELECT c.relname FROM pg_class c
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migrations'
      AND pg_relation_size(oid) > 0
"""
"""Tables that have or had rows."""

RESTART = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences
    WHERE schemaname = 'public' AND last_value IS NOT NULL
"""


class Databases:
    """The databases of a server, each lent to one test at a time."""

    def __init__(self, server_url: str, template: str) -> None:
        self._server_url = server_url
        self._template = template
        self._known = ExitStack()
        self._free: list[tuple[str, str]] = []

    def close(self) -> None:
        """Drop all databases."""
        self._known.close()

    @contextmanager
    def lent(self) -> Iterator[str]:
        """Yield the URL of an empty database."""
        url, schema = self._free.pop() if self._free else self._made()
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(END_OTHERS, {"milliseconds": ENDING_MS})
            if _schema(connection) == schema:  # otherwise it is not reused
                _empty(connection)
                self._free.append((url, schema))

    def _made(self) -> tuple[str, str]:
        url = self._known.enter_context(new_database(self._server_url, template=self._template))
        with psycopg.connect(url) as connection:
            return url, _schema(connection)


def _schema(connection: psycopg.Connection) -> str:
    try:
        (schema,) = connection.execute(SCHEMA).fetchone() or ("",)
    except psycopg.errors.UndefinedTable:
        return "none"
    return str(schema)


def _empty(connection: psycopg.Connection) -> None:
    """Delete all rows, ignoring triggers and foreign keys, and restart identities."""
    connection.execute("SET session_replication_role = replica")
    for (name,) in connection.execute(FILLED).fetchall():
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
    connection.execute(RESTART)


@contextmanager
def migrated_database(server_url: str) -> Iterator[str]:
    """Return a database with our schema and no rows or connections, to be copied.

    It is opened as a store once: only then the roles exist with their rights, which each copy would need again.
    """
    with new_database(server_url) as url:
        Store.open(url, pool_size=1).close()
        with psycopg.connect(url) as connection:
            connection.execute("SELECT add_chunk_table(%s)", [DIMENSIONS])
        yield str(conninfo.conninfo_to_dict(url)["dbname"])


@contextmanager
def new_database(server_url: str, *, template: str = "template1") -> Iterator[str]:
    """Yield the URL of a new database on the server and drop it at the end."""
    name = sql.Identifier(f"test_{uuid.uuid4().hex}")
    with psycopg.connect(server_url, autocommit=True) as connection:
        # Without waiting for the disk, copying files takes a third of the time of copying rows.
        (fsync,) = connection.execute("SHOW fsync").fetchone() or ("on",)
        strategy = sql.SQL("FILE_COPY" if fsync == "off" else "WAL_LOG")
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY {}")
        connection.execute(command.format(name, sql.Identifier(template), strategy))
    yield conninfo.make_conninfo(server_url, dbname=name.as_string().strip('"'))
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
