"""Back up the database and the file storage of all users into one archive.

pg_dump reads all tables in one snapshot, and the documents' files follow. The nodes of a Citus cluster have no common
snapshot: each is read in one of its own, so that all rows of a user are of one moment, and nobody waits. The job queue
is left out, because its jobs follow from the documents' rows, and so is what can be computed again (`EXCLUDED_TABLES`).
Only rows are dumped: the schema is that of the migrations. Settings and keys of the environment are excluded.
"""

import datetime as dt
import fcntl
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from psycopg import sql

from rag import errors, types
from rag.store.backup import pg_tools
from rag.store.backup.archive import PIECE_BYTES, Archive, ArchiveWriter
from rag.store.files.atomic_files import atomic_replacement
from rag.store.files.file_storage import KINDS, FileStore, folder_name
from rag.store.server import distribution, migrations, named_queries
from rag.store.server.database import Connection, connect, store_errors
from rag.types.operations import DATABASE_MEMBER

EXCLUDED_TABLES = ("backups", "cache_counts", "deletions", "embedding_cache", "request_rates", "work_counts")
"""The list of archives, counters, files to delete, and cached vectors, which the chunks have too. Completions of models
are included: new ones would cost money and differ."""

PARTIAL = ".pagelight-backup-"
"""How the names of archives that are being written begin."""

Item = TypeVar("Item")


def with_progress(items: Collection[Item], stage: str, on_progress: types.OnProgress) -> Iterator[Item]:
    """Yield `items` and report progress."""
    for done, item in enumerate(items):
        on_progress(stage, done, len(items))
        yield item
    on_progress(stage, len(items), len(items))


def write(
    url: str,
    files: FileStore,
    path: Path,
    on_progress: types.OnProgress = types.ignore_progress,
) -> types.BackupManifest:
    """Write a new archive at `path`, atomically, and check it.

    Documents that are added or changed meanwhile are not in it. A file that is deleted before its turn is missing, and
    listed so in the manifest.

    Raises:
        errors.ValidationError: `path` exists.
        errors.SourceError: it cannot be written.
        errors.StoreError: the database or the file storage fails.
    """
    created_at = dt.datetime.now(dt.UTC)
    try:
        with _new_file(path) as file:
            archive = ArchiveWriter(file, created=int(created_at.timestamp()))
            fields, documents = _write_database(url, archive, on_progress)
            written, missing = _write_files(files, documents, archive, on_progress)
            manifest = types.BackupManifest(
                pagelight=metadata.version("pagelight"),
                created_at=created_at,
                files=written,
                missing=missing,
                left_out=EXCLUDED_TABLES,
                **fields,
            )
            archive.close(manifest)
            file.flush()
            return check(Path(file.name), on_progress)
    except OSError as error:
        raise errors.SourceError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}. Nothing is left of it. "
            "Check the folder, its rights and the free space.",
            details={"path": str(path)},
        ) from error


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Give a new private file that gets the name `path` when the block succeeds, else it is deleted.

    Its writer holds a lock on it; those of killed backups in the same folder are deleted.
    """
    if path.exists() or path.is_symlink():
        raise errors.ValidationError(f"{path} exists. Give a new name, or remove it first.")
    for partial in path.parent.glob(f"{PARTIAL}*"):
        with suppress(OSError), partial.open("rb+") as file:  # which another account may own, or which is locked
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()
    with atomic_replacement(path, prefix=PARTIAL) as partial, partial.open("rb+") as file:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _write_database(
    url: str, archive: ArchiveWriter, on_progress: types.OnProgress
) -> tuple[dict[str, Any], Sequence[tuple[str, uuid.UUID]]]:
    """Write all tables as of one moment; return the manifest's fields about them, and the documents of that moment."""
    queries = named_queries.load("backup")
    with store_errors(), connect(url, renews=True) as connection:
        pg_tools.require_version(connection.info.server_version)
        connection.execute(named_queries.load("session")["snapshot"])
        connection.execute(queries["portable"])
        columns = our_tables(connection)
        _require_all_rows(connection, columns)
        size = _one(connection, queries["size"], {"tables": [*columns]})
        on_progress("tables", 0, size)
        snapshot, schema = _one(connection, queries["export_snapshot"]), _one(connection, queries["schema"])
        done = 0
        with archive.member(DATABASE_MEMBER) as sink:
            for piece in pg_tools.dump(url, snapshot, schema, [*columns]):
                sink.write(piece)
                done += len(piece)
                on_progress("tables", min(done, size), size)
        if distribution.distributed(connection):  # this connection's snapshots of the nodes are not pg_dump's
            rows, documents = _rows_and_documents(archive.read_first(sink.member))
        else:
            rows = {name: _one(connection, queries["count"].format(table=sql.Identifier(name))) for name in columns}
            documents = [(row["user_id"], row["id"]) for row in connection.execute(queries["documents"])]
        on_progress("tables", size, size)
        fields = {"migrations": migrations.applied(connection), "database": sink.member, "rows": rows}
    return fields, documents


def _rows_and_documents(dump: Iterable[bytes]) -> tuple[dict[str, int], list[tuple[str, uuid.UUID]]]:
    """Return the number of rows of each table of a dump, and its documents."""
    rows: dict[str, int] = {}
    documents: list[tuple[str, uuid.UUID]] = []
    for table, columns, lines in pg_tools.tables_of(dump):
        rows[table] = 0
        for rows[table], line in enumerate(lines, 1):
            if table == "documents":
                values = dict(zip(columns, line.rstrip(b"\n").split(b"\t"), strict=True))
                documents.append((pg_tools.text_of(values["user_id"]), uuid.UUID(values["id"].decode())))
    return rows, documents


def _one(connection: Connection, query: sql.SQL | sql.Composed, parameters: Mapping[str, object] | None = None) -> Any:
    row = connection.execute(query, parameters).fetchone()
    assert row
    return next(iter(row.values()))


def _require_all_rows(connection: Connection, tables: Collection[str]) -> None:
    """Raise StoreError if row-level security hides rows from this account, so that a backup would lack them."""
    rows = connection.execute(named_queries.load("backup")["held_back"], {"names": [*tables]}).fetchall()
    if rows:
        names = [row["name"] for row in rows]
        raise errors.StoreError(
            f"The database shows this account not all rows of {', '.join(names)}, so a backup would lack them. Restart "
            "Pagelight, which sets that right, and connect to the server itself rather than to a pooler.",
            details={"tables": names},
        )


def our_tables(connection: Connection) -> dict[str, tuple[str, ...]]:
    """Return our tables with their columns, without tables of other programs."""
    names = [name for name in migrations.tables() if name not in EXCLUDED_TABLES]
    rows = connection.execute(named_queries.load("backup")["tables"], {"names": names})
    return {row["name"]: tuple(row["columns"]) for row in rows}


def _write_files(
    files: FileStore, documents: Sequence[tuple[str, uuid.UUID]], archive: ArchiveWriter, on_progress: types.OnProgress
) -> tuple[list[types.BackupFile], list[types.MissingFile]]:
    written: list[types.BackupFile] = []
    missing: list[types.MissingFile] = []
    for user_id, document_id in with_progress(documents, "files", on_progress):
        user_files = files.of(user_id)
        digest = folder_name(user_id).rpartition("-")[2]  # the readable part would be too long for a tar
        for kind in KINDS:
            if kind != "original" and not user_files.exists(document_id, kind):
                continue
            file: dict[str, Any] = {"user_id": user_id, "document_id": document_id, "kind": kind}
            try:
                source = user_files.open(document_id, kind)
            except errors.NotFoundError:
                missing.append(types.MissingFile(**file))
                continue
            with source, archive.member(f"files/{digest}/{document_id}/{kind}") as sink:
                while piece := _read(source):
                    sink.write(piece)
            written.append(types.BackupFile(**file, **sink.member.model_dump(by_alias=False)))
    return written, missing


def _read(source: BinaryIO) -> bytes:
    try:
        return source.read(PIECE_BYTES)
    except OSError as error:  # which is not one of the archive
        raise errors.StoreError(f"A document's file cannot be read: {error.strerror}. Check the storage.") from error


def check(path: Path, on_progress: types.OnProgress = types.ignore_progress) -> types.BackupManifest:
    """Check a whole archive against its manifest, and return the manifest.

    Raises SourceError, UnreadableFileError and UnsupportedFileError.
    """
    with open_checked(path, on_progress) as archive:
        return archive.manifest


def open_checked(path: Path, on_progress: types.OnProgress) -> Archive:
    """Open and check the archive at `path`. Raises as `check`."""
    size = path.stat().st_size if path.is_file() else 0
    archive = Archive(path, lambda done: on_progress("check", done, size))
    on_progress("check", size, size)
    return archive
