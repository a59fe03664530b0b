"""Restore a backup into an empty installation."""

import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql

from rag import errors, types
from rag.store.backup import format_1
from rag.store.backup.archive import Archive
from rag.store.backup.backup import open_checked, our_tables, with_progress
from rag.store.backup.pg_tools import Table, tables_of
from rag.store.files.file_storage import FileStore
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, connect, store_errors
from rag.types.operations import DATABASE_MEMBER

logger = logging.getLogger(__name__)

CHUNK_TABLE = "data_document_chunks_"


def restore(
    url: str,
    files: FileStore,
    path: Path,
    on_progress: types.OnProgress = types.ignore_progress,
    *,
    schema: Path = migrations.FOLDER,
) -> types.BackupManifest:
    """Restore a backup into an empty installation.

    The whole archive is checked first. Files are restored before the rows, which are loaded in one transaction: after
    an interruption the installation is still empty, and the restore can be repeated. A backup of an earlier version is
    loaded into its own schema, which is then upgraded. `schema` is the folder of migrations.

    Raises:
        errors.SourceError: there is no such archive; otherwise as `check`.
        errors.UnsupportedFileError: the schema of its tables is newer than this program, or does not fit.
        errors.StoreError: the installation is not empty, or the database or the file storage fails.
    """
    with open_checked(path, on_progress) as archive:
        manifest = archive.manifest
        require_known(manifest, schema)
        migrations.migrate(url, until=manifest.migrations[-1], folder=schema)
        with store_errors(), connect(url, renews=True) as connection:
            _require_empty(connection, manifest)
            connection.rollback()  # the empty default index is only deleted when everything is loaded
        _read_files(archive, files, on_progress)
        with store_errors(), connect(url, renews=True) as connection:
            tables = _read_rows(connection, archive, on_progress)
    migrations.migrate(url, folder=schema)
    _analyse(url, tables)
    return manifest


def require_known(manifest: types.BackupManifest, schema: Path = migrations.FOLDER) -> None:
    """Refuse a backup with a schema that is not in the folder of migrations. Raises UnsupportedFileError."""
    known = migrations.names(schema)
    if manifest.migrations == known[: len(manifest.migrations)]:
        return
    if migrations.is_newer(manifest.migrations, known):
        raise errors.UnsupportedFileError(
            f"The backup was made by a newer version of Pagelight ({manifest.pagelight}). Update Pagelight, then "
            "restore it.",
            details={"migrations": [*manifest.migrations[len(known) :]]},
        )
    raise errors.UnsupportedFileError(
        "The backup's schema is not one that Pagelight had. Restore it with the program that made it "
        f"({manifest.pagelight})."
    )


def _require_empty(connection: Connection, manifest: types.BackupManifest) -> None:
    """Raise StoreError for a database with rows, or with another schema than the backup's."""
    present = migrations.applied(connection)
    if present != manifest.migrations:
        raise errors.StoreError(
            f"The backup is of an earlier version of Pagelight ({manifest.pagelight}), and the database has been set "
            "up by this one. Restore into a new database: set RAG_DATA_DIR to a new folder, or RAG_DATABASE_URL to an "
            "empty database.",
            details={"migrations": list(present)},
        )
    backup = named_queries.load("backup")
    connection.execute(backup["forget_the_empty_default"])
    queries = {name: backup["has_rows"].format(table=sql.Identifier(name)) for name in our_tables(connection)}
    occupied = [name for name, query in queries.items() if (connection.execute(query).fetchone() or {}).get("present")]
    if occupied:
        raise errors.StoreError(
            f"There is something in this installation already (in {', '.join(occupied)}), and restoring never mixes or "
            "replaces. Set RAG_DATA_DIR to a new folder, or RAG_DATABASE_URL to an empty database, and restore there.",
            details={"tables": occupied},
        )


def _read_files(archive: Archive, files: FileStore, on_progress: types.OnProgress) -> None:
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder) / "file"
        for file in with_progress(archive.manifest.files, "files", on_progress):
            try:
                with path.open("wb") as target:
                    target.writelines(archive.read(file.member))
            except OSError as error:
                raise errors.StoreError(
                    f"A file of the backup cannot be written to {path.parent}: {error.strerror}. Make room, or set "
                    "TMPDIR."
                ) from error
            files.of(file.user_id).put(file.document_id, file.kind, path)


def _read_rows(connection: Connection, archive: Archive, on_progress: types.OnProgress) -> list[str]:
    """Load all tables in one transaction, and return their names."""
    backup = named_queries.load("backup")
    connection.execute(backup["portable"])
    _make_chunk_tables(connection, archive.manifest)
    columns = our_tables(connection)
    names = [*columns]
    if differing := sorted({*archive.manifest.rows} - {*names}):
        raise _another_schema(archive.manifest, differing)
    connection.execute(backup["lock"].format(tables=_listed(names)))
    _require_empty(connection, archive.manifest)
    total = len(archive.manifest.rows)
    with _without_forced_row_security(connection, names), _without_vector_indexes(connection, names, on_progress):
        done = -1
        for done, (name, its_columns, rows) in enumerate(_tables(archive)):
            on_progress("tables", done, total)
            if columns.get(name) != its_columns:
                raise _another_schema(archive.manifest, [name])
            statement = backup["copy_in"].format(table=sql.Identifier(name), columns=_listed(its_columns))
            with connection.cursor() as cursor, cursor.copy(statement) as copy:
                for piece in rows:
                    copy.write(piece)
        connection.execute(backup["delete_lost_annotations"])
        on_progress("tables", done + 1, total)
    _continue_sequences(connection, names)
    return names


def _tables(archive: Archive) -> Iterator[Table]:
    if archive.manifest.format == format_1.FORMAT:
        return ((table.table, table.columns, archive.read(table.member)) for table in archive.old_tables)
    return tables_of(archive.read(DATABASE_MEMBER))


def _make_chunk_tables(connection: Connection, manifest: types.BackupManifest) -> None:
    session = named_queries.load("session")
    connection.execute(session["lock_migrations"])
    for table in manifest.rows:
        dimensions = table.removeprefix(CHUNK_TABLE)
        if dimensions != table and dimensions.isdecimal():
            connection.execute(session["create_chunk_table"], {"dimensions": int(dimensions)})


def _another_schema(manifest: types.BackupManifest, tables: Sequence[str]) -> errors.UnsupportedFileError:
    return errors.UnsupportedFileError(
        f"The backup's tables ({', '.join(tables)}) are not those of its version of Pagelight. "
        f"Restore it with the program that made it ({manifest.pagelight}).",
        details={"tables": [*tables]},
    )


def _listed(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


@contextmanager
def _without_vector_indexes(
    connection: Connection, tables: Sequence[str], on_progress: types.OnProgress
) -> Iterator[None]:
    """Drop vector indexes and rebuild them after the block: that is several times faster, and recall is better."""
    backup = named_queries.load("backup")
    indexes = connection.execute(backup["vector_indexes"], {"tables": [*tables]}).fetchall()
    for index in indexes:
        connection.execute(backup["drop_index"].format(index=sql.Identifier(index["name"])))
    yield
    for index in with_progress(indexes, "indexes", on_progress):
        connection.execute(sql.SQL(index["definition"]))


@contextmanager
def _without_forced_row_security(connection: Connection, tables: Sequence[str]) -> Iterator[None]:
    """Lift row-level security for the owner, as COPY needs; no other connection sees this."""
    statements = named_queries.load("row_security")
    forced = [sql.Identifier(row["name"]) for row in connection.execute(statements["forced"], {"tables": [*tables]})]
    for table in forced:
        connection.execute(statements["unforce"].format(table=table))
    yield
    for table in forced:
        connection.execute(statements["force"].format(table=table))


def _continue_sequences(connection: Connection, tables: Sequence[str]) -> None:
    backup = named_queries.load("backup")
    for row in connection.execute(backup["sequences"], {"tables": [*tables]}).fetchall():
        query = backup["continue_sequence"].format(
            table=sql.Identifier(row["table"]), column=sql.Identifier(row["column"])
        )
        connection.execute(query, {"sequence": row["sequence"]})


def _analyse(url: str, tables: Sequence[str]) -> None:
    """Update statistics, so that the first searches are fast; the server would do it later."""
    try:
        with store_errors(), connect(url, autocommit=True, renews=True) as connection:
            connection.execute(named_queries.load("backup")["tidy"].format(tables=_listed(tables)))
    except errors.StoreError as error:
        logger.warning("restored, but not yet analysed: %s", error)
