"""The database's schema, brought forward: numbered files, each applied once, all in one transaction."""

import functools
import re
from importlib import resources
from importlib.resources import abc

import procrastinate.schema
import psycopg
from psycopg import sql

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Connection, connect, store_errors

JOBS_SCHEMA = "procrastinate"
"""The name under which the schema of procrastinate, taken as a whole on a fresh database, is recorded."""

WALLS = "0025_walls"
"""The migration since which there is row-level security."""

PACKAGED_NUMBER = re.compile(r"^(\d{4})_\w+\.sql$")
TABLE = re.compile(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", re.MULTILINE)


def migrate(url: str, *, until: str | None = None) -> None:
    """Apply what the database does not have yet, under a lock that lets one process do it at a time.

    `until` names the last of our migrations to apply; unless given, all are.

    Raises:
        errors.StoreError: the server cannot be reached, has no pgvector, or the account may not set it up.
    """
    with store_errors(), connect(url, asks=True) as connection:
        bring_forward(connection, until=until)


def bring_forward(connection: Connection, *, until: str | None = None) -> None:
    """The same on the administrator's `connection`."""
    with store_errors(), connection.transaction():
        session = named_queries.load("session")
        connection.execute(session["lock_migrations"])
        connection.execute(session["create_migrations"])
        applied = {row["name"] for row in connection.execute(session["list_migrations"])}
        _refuse_newer(applied)
        for name, script in _ours(until) + _of_jobs(applied):
            if name not in applied:
                if script is not None:
                    _run(connection, script)
                connection.execute(session["record_migration"], {"name": name})
                applied.add(name)
        if WALLS in applied:
            _protect(connection)


def _protect(connection: Connection) -> None:
    """Every table with a user's data gets its second wall, also one whose migration forgets it."""
    walls = named_queries.load("walls")
    connection.execute(walls["protect"], {"tables": [*tables()]})
    connection.execute(walls["protect_chunks"])
    connection.execute(walls["grant"], {})


def _run(connection: Connection, script: str) -> None:
    try:
        connection.execute(sql.SQL(script))
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


def names() -> tuple[str, ...]:
    """All migrations that make our own tables, in their order."""
    return tuple(name for name, _ in _ours())


@functools.cache
def tables() -> tuple[str, ...]:
    """All tables that the migrations name, which is all of ours but those of chunks: these are made when needed."""
    return tuple(table for _, script in _ours() for table in TABLE.findall(script or ""))


def applied(connection: Connection) -> tuple[str, ...]:
    """Those of `names` that the database has, in their order; unknown ones of a newer version, too."""
    found = {row["name"] for row in connection.execute(named_queries.load("session")["list_migrations"])}
    return tuple(sorted(name for name in found if re.match(r"\d{4}_", name)))


def _ours(until: str | None = None) -> list[tuple[str, str | None]]:
    return [(name, script) for name, script in _all_of_ours() if not until or name <= until]


@functools.cache
def _all_of_ours() -> list[tuple[str, str]]:
    folder = resources.files("rag.store") / "sql" / "migrations"
    files = sorted((file for file in folder.iterdir() if PACKAGED_NUMBER.match(file.name)), key=_name)
    return [(_name(file), file.read_text(encoding="utf-8")) for file in files]


def _name(file: abc.Traversable) -> str:
    return file.name.removesuffix(".sql")


def _refuse_newer(applied: set[str]) -> None:
    """An older program must not write into a schema it does not know."""
    unknown = {name for name in applied if re.match(r"\d{4}_", name)} - {name for name, _ in _ours()}
    if unknown:
        raise errors.StoreError(
            "The database was set up by a newer version of Pagelight. Update Pagelight, or use another database.",
            details={"migrations": sorted(unknown)},
        )


def _of_jobs(applied: set[str]) -> list[tuple[str, str | None]]:
    """The schema of procrastinate: as a whole at first, later only the migrations of newer versions."""
    folder = resources.files("procrastinate") / "sql" / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=_name)
    if JOBS_SCHEMA not in applied:
        schema = procrastinate.schema.SchemaManager.get_schema()
        return [(JOBS_SCHEMA, schema), *((_job_name(file), None) for file in files)]
    return [(_job_name(file), file.read_text(encoding="utf-8")) for file in files if _job_name(file) not in applied]


def _job_name(file: abc.Traversable) -> str:
    return f"{JOBS_SCHEMA}_{_name(file)}"
