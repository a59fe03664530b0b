"""Create and upgrade the database schema: numbered SQL files, each applied once, all in one transaction."""

import functools
import re
from importlib import resources
from importlib.resources import abc
from pathlib import Path

import procrastinate.schema
import psycopg
from psycopg import sql

from rag import errors
from rag.store.server import distribution, named_queries
from rag.store.server.database import Connection, connect, store_errors

FOLDER = Path(__file__).parents[1] / "sql" / "migrations"
JOBS_SCHEMA = "procrastinate"
"""The name under which procrastinate's whole schema is recorded in a new database."""

FILE_NAME = re.compile(r"^\d{4}_\w+\.sql$")
STATEMENT = re.compile(r"(?:[^;'$-]++|'[^']*+'|--[^\n]*+|\$(\w*+)\$[\s\S]*?\$\1\$|[$-])++")
"""A statement of a script, with the comments before it; its bodies of functions are quoted by dollars."""
TABLE = re.compile(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", re.MULTILINE)
DROPPED_TABLE = re.compile(r"^DROP TABLE (\w+)", re.MULTILINE)


def migrate(url: str, *, until: str | None = None, folder: Path = FOLDER) -> None:
    """Apply missing migrations, under a lock so that one process does it at a time.

    `until` is the name of the last migration of `folder` to apply; by default all are.
    """
    with store_errors(), connect(url, renews=True) as connection:
        upgrade(connection, until=until, folder=folder)


def upgrade(connection: Connection, *, until: str | None = None, folder: Path = FOLDER) -> None:
    """Apply missing migrations on a `connection` of the administrator, see `migrate`."""
    with store_errors(), connection.transaction():
        session = named_queries.load("session")
        connection.execute(session["lock_migrations"])
        connection.execute(named_queries.load("distribution")["in_sequence"])
        connection.execute(session["create_migrations"])
        _require_known(applied(connection), names(folder))
        present = {row["name"] for row in connection.execute(session["list_migrations"])}
        ours = [(name, script) for name, script in _scripts(folder) if until is None or name <= until]
        for name, script in [*ours, *_queue_migrations(present)]:
            if name not in present:
                if script is not None:
                    _run(connection, script)
                connection.execute(session["record_migration"], {"name": name})
        # Every table with users' data has row-level security, even if a migration forgot it.
        row_security = named_queries.load("row_security")
        connection.execute(row_security["protect"], {"tables": [*tables(folder)]})
        connection.execute(row_security["protect_chunks"])
        connection.execute(row_security["grant"], {})
        distribution.extend(connection, tables(folder))


def _run(connection: Connection, script: str) -> None:
    try:
        for statement in STATEMENT.finditer(script):  # Citus passes on the whole text to the nodes
            connection.execute(sql.SQL(statement.group()))
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        raise errors.StoreError(
            "The database server has no pgvector extension. Install pgvector 0.8 or newer on it, or leave "
            "RAG_DATABASE_URL unset to use the embedded server."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise errors.StoreError(
            "The database account may not set up the schema. Let a superuser run CREATE EXTENSION vector in this "
            "database and give the account the right to create tables in it."
        ) from error


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the names of our migrations in order."""
    return tuple(name for name, _ in _scripts(folder))


@functools.cache
def tables(folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the tables that the migrations create and keep; chunk tables are created when needed."""
    scripts = [script for _, script in _scripts(folder)]
    dropped = {table for script in scripts for table in DROPPED_TABLE.findall(script)}
    return tuple(table for script in scripts for table in TABLE.findall(script) if table not in dropped)


def applied(connection: Connection) -> tuple[str, ...]:
    """Return our migrations in the database, in order, unknown ones included."""
    rows = connection.execute(named_queries.load("session")["list_migrations"])
    return tuple(sorted(row["name"] for row in rows if re.match(r"\d{4}_", row["name"])))


@functools.cache
def _scripts(folder: Path) -> tuple[tuple[str, str], ...]:
    files = sorted((file for file in folder.iterdir() if FILE_NAME.match(file.name)), key=_name)
    return tuple((_name(file), file.read_text(encoding="utf-8")) for file in files)


def _name(file: abc.Traversable) -> str:
    return file.name.removesuffix(".sql")


def is_newer(present: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Return whether `present` has all `known` migrations and further ones."""
    return len(present) > len(known) and present[: len(known)] == known


def _require_known(present: tuple[str, ...], known: tuple[str, ...]) -> None:
    """Raise StoreError for a schema that is not a prefix of our migrations: writing to it could destroy data."""
    if present == known[: len(present)]:
        return
    if is_newer(present, known):
        raise errors.StoreError(
            "The database was set up by a newer version of Pagelight. Update Pagelight, or use another database.",
            details={"migrations": [*present[len(known) :]]},
        )
    raise errors.StoreError(
        "The database has the schema of a development version of Pagelight, which cannot be upgraded. Save your "
        "documents and chats with `pagelight export` of that version, then set RAG_DATA_DIR to a new folder, or "
        "RAG_DATABASE_URL to an empty database, and add them there.",
        details={"migrations": [*present]},
    )


def _queue_migrations(present: set[str]) -> list[tuple[str, str | None]]:
    """Return procrastinate's whole schema for a new database, else the missing migrations of its newer versions."""
    folder = resources.files("procrastinate") / "sql" / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=_name)
    if JOBS_SCHEMA not in present:
        schema = procrastinate.schema.SchemaManager.get_schema()
        return [(JOBS_SCHEMA, schema), *((_job_name(file), None) for file in files)]
    return [(_job_name(file), file.read_text(encoding="utf-8")) for file in files if _job_name(file) not in present]


def _job_name(file: abc.Traversable) -> str:
    return f"{JOBS_SCHEMA}_{_name(file)}"
