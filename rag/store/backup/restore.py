"""A backup back into an installation that has nothing yet."""

import logging
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from psycopg import sql

from rag import errors
from rag.store.backup.archive import Archive
from rag.store.backup.backup import Names, counted, in_order, open_checked, statement_of, tables_of
from rag.store.files.file_storage import FileStore
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, connect, store_errors
from rag.types import BackupManifest, BackupTable, OnProgress, ignore_progress

logger = logging.getLogger(__name__)

CHUNK_TABLE = "data_document_chunks_"


def restore(
    url: str,
    files: FileStore,
    path: Path,
    on_progress: OnProgress = ignore_progress,
    *,
    schema: Path = migrations.FOLDER,
) -> BackupManifest:
    """Put a backup into an installation that has nothing yet.

    The archive is checked as a whole before anything is touched. Files come first and rows last, in one transaction:
    after an interruption the installation still has nothing, and the same can be done again. A backup of an earlier
    version is loaded into its own schema, which is then upgraded. `schema` is the folder of migrations.

    Raises:
        errors.SourceError: there is no such archive; as `check` otherwise.
        errors.UnsupportedFileError: the schema of its tables is newer than this program, or does not fit.
        errors.StoreError: the installation has something already, or the database or the file storage fails.
    """
    with open_checked(path, on_progress) as archive:
        manifest = archive.manifest
        require_known(manifest, schema)
        migrations.migrate(url, until=manifest.migrations[-1], folder=schema)
        with store_errors(), connect(url, asks=True) as connection:
            _require_vacant(connection, manifest)
            connection.rollback()  # nothing is forgotten before everything is loaded
        _read_files(archive, files, on_progress)
        with store_errors(), connect(url, asks=True) as connection:
            tables = _read_rows(connection, archive, on_progress)
    migrations.migrate(url, folder=schema)
    _tidy(url, tables)
    return manifest


def require_known(manifest: BackupManifest, schema: Path = migrations.FOLDER) -> None:
    """Refuse a backup of another schema than those of the folder of migrations.

    Raises:
        errors.UnsupportedFileError: it is of a newer version, or of none.
    """
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


def _require_vacant(connection: Connection, manifest: BackupManifest) -> None:
    """Refuse a database with anything in it, or with a schema other than the backup's."""
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
    occupied = [name for name in tables_of(connection) if _has_rows(connection, name)]
    if occupied:
        raise errors.StoreError(
            f"There is something in this installation already (in {', '.join(occupied)}), and restoring never mixes or "
            "replaces. Set RAG_DATA_DIR to a new folder, or RAG_DATABASE_URL to an empty database, and restore there.",
            details={"tables": occupied},
        )


def _has_rows(connection: Connection, table: str) -> bool:
    query = named_queries.load("backup")["has_rows"].format(table=sql.Identifier(table))
    row = connection.execute(query).fetchone()
    return bool(row and row["present"])


def _read_files(archive: Archive, files: FileStore, on_progress: OnProgress) -> None:
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder) / "file"
        for file in counted(archive.manifest.files, "files", on_progress):
            _spool(archive.read(file.member), path)
            files.of(file.user_id).put(file.document_id, file.kind, path)


def _spool(pieces: Iterable[bytes], path: Path) -> None:
    try:
        with path.open("wb") as target:
            target.writelines(pieces)
    except OSError as error:
        raise errors.StoreError(
            f"A file of the backup cannot be written to {path.parent}: {error.strerror}. Make room, or set TMPDIR."
        ) from error


def _read_rows(connection: Connection, archive: Archive, on_progress: OnProgress) -> list[str]:
    """Load all tables in one transaction; returns their names."""
    backup = named_queries.load("backup")
    connection.execute(backup["portable"])
    _make_chunk_tables(connection, archive.manifest)
    columns = tables_of(connection)
    _require_fitting(archive.manifest, columns)
    order = in_order(connection, columns)
    connection.execute(backup["lock"].format(tables=_listed(order)))
    _require_vacant(connection, archive.manifest)
    members = {table.table: table for table in archive.manifest.tables}
    with _without_walls(connection, order), _without_vector_indexes(connection, order, on_progress):
        for name in counted([name for name in order if name in members], "tables", on_progress):
            _read_table(connection, archive, members[name])
    _continue_sequences(connection, order)
    return order


def _make_chunk_tables(connection: Connection, manifest: BackupManifest) -> None:
    session = named_queries.load("session")
    connection.execute(session["lock_migrations"])
    for table in manifest.tables:
        dimensions = table.table.removeprefix(CHUNK_TABLE)
        if dimensions != table.table and dimensions.isdecimal():
            connection.execute(session["create_chunk_table"], {"dimensions": int(dimensions)})


def _require_fitting(manifest: BackupManifest, columns: Mapping[str, Names]) -> None:
    unfitting = [table.table for table in manifest.tables if columns.get(table.table) != table.columns]
    if unfitting:
        raise errors.UnsupportedFileError(
            f"The backup's tables ({', '.join(unfitting)}) are not those of its version of Pagelight. "
            f"Restore it with the program that made it ({manifest.pagelight}).",
            details={"tables": unfitting},
        )


def _listed(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


@contextmanager
def _without_vector_indexes(connection: Connection, tables: Sequence[str], on_progress: OnProgress) -> Iterator[None]:
    """Indexes over vectors are built at the end: several times faster than row by row, and better connected."""
    backup = named_queries.load("backup")
    found = connection.execute(backup["vector_indexes"], {"tables": [*tables]}).fetchall()
    for index in found:
        connection.execute(backup["drop_index"].format(index=sql.Identifier(index["name"])))
    yield
    for index in counted(found, "indexes", on_progress):
        connection.execute(sql.SQL(index["definition"]))


@contextmanager
def _without_walls(connection: Connection, tables: Sequence[str]) -> Iterator[None]:
    """COPY loads nothing into a table whose owner, too, is shown some rows only; nobody else sees it meanwhile."""
    walls = named_queries.load("walls")
    forced = [sql.Identifier(row["name"]) for row in connection.execute(walls["forced"], {"tables": [*tables]})]
    for table in forced:
        connection.execute(walls["unforce"].format(table=table))
    yield
    for table in forced:
        connection.execute(walls["force"].format(table=table))


def _read_table(connection: Connection, archive: Archive, table: BackupTable) -> None:
    statement = statement_of("copy_in", table.table, table.columns)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for piece in archive.read(table.member):
            copy.write(piece)


def _continue_sequences(connection: Connection, tables: Sequence[str]) -> None:
    """New rows get numbers above those of the loaded ones."""
    backup = named_queries.load("backup")
    for row in connection.execute(backup["sequences"], {"tables": [*tables]}).fetchall():
        query = backup["continue_sequence"].format(
            table=sql.Identifier(row["table"]), column=sql.Identifier(row["column"])
        )
        connection.execute(query, {"sequence": row["sequence"]})


def _tidy(url: str, tables: Sequence[str]) -> None:
    """What makes the first searches as fast as later ones; the server does it too, in its own time."""
    try:
        with store_errors(), connect(url, autocommit=True, asks=True) as connection:
            connection.execute(named_queries.load("backup")["tidy"].format(tables=_listed(tables)))
    except errors.StoreError as error:
        logger.warning("restored, but not yet analysed: %s", error)
