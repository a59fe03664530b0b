"""Back up the database and the file storage of all users into one archive.

All tables are read in one snapshot, and the documents' files after it. The job queue is left out, because its jobs
follow from the documents' rows, and so is what can be computed again (`EXCLUDED_TABLES`). Rows are written by
``COPY … (FORMAT text)``, which every version of PostgreSQL reads. Settings and keys of the environment are excluded.
"""

import contextlib
import datetime as dt
import graphlib
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from psycopg import sql

from rag import errors, types
from rag.store.backup.archive import PIECE_BYTES, Archive, ArchiveWriter
from rag.store.files.atomic_files import atomic_replacement
from rag.store.files.file_storage import KINDS, FileStore, Kind, UserFiles, folder_name
from rag.store.files.partial_files import PartialFiles
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, connect, store_errors

EXCLUDED_TABLES = ("backups", "cache_counts", "deletions", "embedding_cache", "request_rates", "work_counts")
"""The list of archives, counters, files to delete, and cached vectors, which the chunks have too. Completions of models
are included: new ones would cost money and differ."""

Item = TypeVar("Item")
Names = tuple[str, ...]


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
    *,
    partial_files: PartialFiles | None = None,
) -> types.BackupManifest:
    """Write a new archive at `path`, atomically, and check it.

    Documents that are added or changed meanwhile are not in it. A file that is deleted before its turn is missing, and
    listed so in the manifest. `partial_files` records the archive so that the file of a killed process can be deleted.

    Raises:
        errors.ValidationError: `path` exists.
        errors.SourceError: it cannot be written.
        errors.StoreError: the database or the file storage fails.
    """
    created_at = dt.datetime.now(dt.UTC)
    with _writing(path):
        if partial_files:
            partial_files.clear()
    with _writing(path), _new_file(path, partial_files) as partial:
        with partial.open("wb") as file:
            archive = ArchiveWriter(file, created=int(created_at.timestamp()))
            rows = _write_rows(url, archive, on_progress)
            written, missing = _write_files(files, rows.documents, archive, on_progress)
            manifest = types.BackupManifest(
                pagelight=metadata.version("pagelight"),
                created_at=created_at,
                migrations=rows.migrations,
                tables=rows.tables,
                files=written,
                missing=missing,
                left_out=EXCLUDED_TABLES,
            )
            archive.close(manifest)
        return check(partial, on_progress)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise errors.SourceError(
            f"{path} cannot be written: {error.strerror or type(error).__name__}. Nothing is left of it. "
            "Check the folder, its rights and the free space.",
            details={"path": str(path)},
        ) from error


@contextmanager
def _new_file(path: Path, partial_files: PartialFiles | None) -> Iterator[Path]:
    """Give a new private file that gets the name `path` when the block succeeds, else it is deleted."""
    if path.exists() or path.is_symlink():
        raise errors.ValidationError(f"{path} exists. Give a new name, or remove it first.")
    with contextlib.ExitStack() as stack:
        partial = stack.enter_context(atomic_replacement(path))
        if partial_files:
            stack.enter_context(partial_files.writing(partial))
        yield partial


class _Rows(NamedTuple):
    migrations: Names
    tables: tuple[types.BackupTable, ...]
    documents: Sequence[tuple[str, uuid.UUID]]


def _write_rows(url: str, archive: ArchiveWriter, on_progress: types.OnProgress) -> _Rows:
    """Write all tables in one snapshot, referenced ones first."""
    backup = named_queries.load("backup")
    with store_errors(), connect(url, renews=True) as connection:
        connection.execute(named_queries.load("session")["snapshot"])
        connection.execute(backup["portable"])
        applied = migrations.applied(connection)
        columns = our_tables(connection)
        _require_all_rows(connection, columns)
        order = sort_by_references(connection, columns)
        tables = tuple(
            _write_table(connection, archive, name, columns[name])
            for name in with_progress(order, "tables", on_progress)
        )
        documents = [(row["user_id"], row["id"]) for row in connection.execute(backup["documents"])]
    return _Rows(applied, tables, documents)


def _require_all_rows(connection: Connection, tables: Collection[str]) -> None:
    """Raise StoreError if row-level security hides rows from this account, so that a backup would lack them."""
    found = connection.execute(named_queries.load("backup")["held_back"], {"names": [*tables]}).fetchall()
    if found:
        names = [row["name"] for row in found]
        raise errors.StoreError(
            f"The database shows this account not all rows of {', '.join(names)}, so a backup would lack them. Restart "
            "Pagelight, which sets that right, and connect to the server itself rather than to a pooler.",
            details={"tables": names},
        )


def our_tables(connection: Connection) -> dict[str, Names]:
    """Return our tables with their columns, without tables of other programs."""
    names = [name for name in migrations.tables() if name not in EXCLUDED_TABLES]
    found = connection.execute(named_queries.load("backup")["tables"], {"names": names})
    return {row["name"]: tuple(row["columns"]) for row in found}


def sort_by_references(connection: Connection, tables: Collection[str]) -> list[str]:
    """Return `tables` sorted so that each follows those that it references."""
    graph: dict[str, set[str]] = {name: set() for name in sorted(tables)}
    for row in connection.execute(named_queries.load("backup")["references"]):
        if row["name"] in graph and row["refers_to"] in graph:
            graph[row["name"]].add(row["refers_to"])
    return [*graphlib.TopologicalSorter(graph).static_order()]


def _write_table(connection: Connection, archive: ArchiveWriter, name: str, columns: Names) -> types.BackupTable:
    member = f"tables/{name}.copy"
    statement = statement_of("copy_out", name, columns)
    with archive.member(member) as sink, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for data in copy:
            sink.write(data)
    content = sink.content
    return types.BackupTable(
        member=member, table=name, columns=columns, rows=content.lines, bytes=content.bytes, sha256=content.sha256
    )


def statement_of(query: str, table: str, columns: Names) -> sql.Composed:
    """Return a query of ``sql/backup.sql`` for these columns of a table."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return named_queries.load("backup")[query].format(table=sql.Identifier(table), columns=names)


def _write_files(
    files: FileStore, documents: Sequence[tuple[str, uuid.UUID]], archive: ArchiveWriter, on_progress: types.OnProgress
) -> tuple[tuple[types.BackupFile, ...], tuple[types.MissingFile, ...]]:
    written: list[types.BackupFile] = []
    missing: list[types.MissingFile] = []
    for user_id, document_id in with_progress(documents, "files", on_progress):
        for kind in _expected_files(files.of(user_id), document_id):
            try:
                written.append(_write_file(files, user_id, document_id, kind, archive))
            except errors.NotFoundError:
                missing.append(types.MissingFile(user_id=user_id, document_id=document_id, kind=kind))
    return tuple(written), tuple(missing)


def _expected_files(files: UserFiles, document_id: uuid.UUID) -> list[Kind]:
    """Return the files that a document has, and its original even if it is missing."""
    return [kind for kind in KINDS if kind == "original" or files.exists(document_id, kind)]


def _write_file(
    files: FileStore, user_id: str, document_id: uuid.UUID, kind: Kind, archive: ArchiveWriter
) -> types.BackupFile:
    digest = folder_name(user_id).rpartition("-")[2]  # the readable part would be too long for a tar
    member = f"files/{digest}/{document_id}/{kind}"
    with files.of(user_id).open(document_id, kind) as source, archive.member(member) as sink:
        for piece in _pieces(source):
            sink.write(piece)
    content = sink.content
    return types.BackupFile(
        member=member,
        user_id=user_id,
        document_id=document_id,
        kind=kind,
        bytes=content.bytes,
        sha256=content.sha256,
    )


def _pieces(source: BinaryIO) -> Iterator[bytes]:
    try:
        while piece := source.read(PIECE_BYTES):
            yield piece
    except OSError as error:
        raise errors.StoreError(f"A document's file cannot be read: {error.strerror}. Check the storage.") from error


def check(path: Path, on_progress: types.OnProgress = types.ignore_progress) -> types.BackupManifest:
    """Check a whole archive against its manifest, and return the manifest.

    Raises:
        errors.SourceError: there is no such file, or it cannot be read.
        errors.UnreadableFileError: it is damaged, cut off, or no backup.
        errors.UnsupportedFileError: a newer version of Pagelight made it.
    """
    with open_checked(path, on_progress) as archive:
        return archive.manifest


def open_checked(path: Path, on_progress: types.OnProgress) -> Archive:
    """Open and check the archive at `path`. Raises as `check`."""
    size = path.stat().st_size if path.is_file() else 0
    archive = Archive(path, lambda done: on_progress("check", done, size))
    on_progress("check", size, size)
    return archive
