"""Everything of all users, out of the database and the file storage into one archive, and back.

A backup is one moment of the database: all tables are read in one snapshot, the documents' files after it. Left out are
the job queue, whose jobs are found again by the documents' own rows, and what can be computed again (`LEFT_OUT`).
Rows are written by ``COPY … (FORMAT text)``, which every PostgreSQL reads, so that the one restored to may be another
version than the one it came from. Settings and keys of the environment are not in it.
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

from rag import errors
from rag.store.backup.archive import PIECE_BYTES, Archive, ArchiveWriter
from rag.store.files import durable_files
from rag.store.files.file_storage import KINDS, FileStore, Kind, UserFiles, folder_name
from rag.store.files.temporary_folders import PartialFiles
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, connect, store_errors
from rag.types import BackupFile, BackupManifest, BackupTable, MissingFile, OnProgress, ignore_progress

EXCLUDED_TABLES = ("backups", "cache_counts", "deletions", "embedding_cache", "request_rates", "work_counts")
"""Which archives there are, counters, files to delete, which are not in it either, and vectors of texts, which the
chunks have too. Completions of models are in: to get them again would cost money, and they would not be the same."""

Item = TypeVar("Item")
Names = tuple[str, ...]


def counted(items: Collection[Item], stage: str, on_progress: OnProgress) -> Iterator[Item]:
    """`items`, telling `on_progress` of each that is done."""
    for done, item in enumerate(items):
        on_progress(stage, done, len(items))
        yield item
    on_progress(stage, len(items), len(items))


def write(
    url: str,
    files: FileStore,
    path: Path,
    on_progress: OnProgress = ignore_progress,
    *,
    drafts: PartialFiles | None = None,
) -> BackupManifest:
    """Write everything into a new archive at `path`, which is there as a whole, and checked, or not at all.

    Documents may be added, changed and removed meanwhile: the archive has none of it, but a file that is removed
    before its turn is missing, as the manifest says. What a killed process leaves of it is found by `drafts`.

    Raises:
        errors.ValidationError: there is something at `path`.
        errors.SourceError: it cannot be written.
        errors.StoreError: the database or the file storage fails.
    """
    created_at = dt.datetime.now(dt.UTC)
    with _writing(path):
        if drafts:
            drafts.clear()
    with _writing(path), _new_file(path, drafts) as partial:
        with partial.open("wb") as file:
            archive = ArchiveWriter(file, created=int(created_at.timestamp()))
            rows = _write_rows(url, archive, on_progress)
            kept, missing = _write_files(files, rows.documents, archive, on_progress)
            manifest = BackupManifest(
                pagelight=metadata.version("pagelight"),
                created_at=created_at,
                migrations=rows.migrations,
                tables=rows.tables,
                files=kept,
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
def _new_file(path: Path, drafts: PartialFiles | None) -> Iterator[Path]:
    """A file that only we may read; it gets the name `path` when the block succeeds, else it is removed."""
    if path.exists() or path.is_symlink():
        raise errors.ValidationError(f"{path} exists. Give a new name, or remove it first.")
    with contextlib.ExitStack() as stack:
        partial = stack.enter_context(durable_files.atomic_replacement(path))
        if drafts:
            stack.enter_context(drafts.writing(partial))
        yield partial


class _Rows(NamedTuple):
    migrations: Names
    tables: tuple[BackupTable, ...]
    documents: Sequence[tuple[str, uuid.UUID]]


def _write_rows(url: str, archive: ArchiveWriter, on_progress: OnProgress) -> _Rows:
    """All tables in one snapshot, those that others refer to first; then the snapshot is given up."""
    backup = named_queries.load("backup")
    with store_errors(), connect(url, asks=True) as connection:
        connection.execute(named_queries.load("session")["snapshot"])
        connection.execute(backup["portable"])
        applied = migrations.applied(connection)
        columns = tables_of(connection)
        _require_all_rows(connection, columns)
        order = in_order(connection, columns)
        tables = tuple(
            _write_table(connection, archive, name, columns[name]) for name in counted(order, "tables", on_progress)
        )
        documents = [(row["user_id"], row["id"]) for row in connection.execute(backup["documents"])]
    return _Rows(applied, tables, documents)


def _require_all_rows(connection: Connection, tables: Collection[str]) -> None:
    """Refuse to write what looks like a backup and is none: nobody misses hidden rows until they are needed."""
    found = connection.execute(named_queries.load("backup")["held_back"], {"names": [*tables]}).fetchall()
    if found:
        names = [row["name"] for row in found]
        raise errors.StoreError(
            f"The database shows this account not all rows of {', '.join(names)}, so a backup would lack them. Restart "
            "Pagelight, which sets that right, and connect to the server itself rather than to a pooler.",
            details={"tables": names},
        )


def tables_of(connection: Connection) -> dict[str, Names]:
    """Our tables and their columns. A database may have tables of other programs too, which are none of ours."""
    names = [name for name in migrations.tables() if name not in EXCLUDED_TABLES]
    found = connection.execute(named_queries.load("backup")["tables"], {"names": names})
    return {row["name"]: tuple(row["columns"]) for row in found}


def in_order(connection: Connection, tables: Collection[str]) -> list[str]:
    """`tables`, each behind those that it refers to."""
    graph: dict[str, set[str]] = {name: set() for name in sorted(tables)}
    for row in connection.execute(named_queries.load("backup")["references"]):
        if row["name"] in graph and row["refers_to"] in graph:
            graph[row["name"]].add(row["refers_to"])
    return [*graphlib.TopologicalSorter(graph).static_order()]


def _write_table(connection: Connection, archive: ArchiveWriter, name: str, columns: Names) -> BackupTable:
    member = f"tables/{name}.copy"
    statement = statement_of("copy_out", name, columns)
    with archive.member(member) as sink, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for data in copy:
            sink.write(data)
    content = sink.content
    return BackupTable(
        member=member, table=name, columns=columns, rows=content.lines, bytes=content.bytes, sha256=content.sha256
    )


def statement_of(query: str, table: str, columns: Names) -> sql.Composed:
    """A query of ``sql/backup.sql`` for these columns of this table."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return named_queries.load("backup")[query].format(table=sql.Identifier(table), columns=names)


def _write_files(
    files: FileStore, documents: Sequence[tuple[str, uuid.UUID]], archive: ArchiveWriter, on_progress: OnProgress
) -> tuple[tuple[BackupFile, ...], tuple[MissingFile, ...]]:
    kept: list[BackupFile] = []
    missing: list[MissingFile] = []
    for user_id, document_id in counted(documents, "files", on_progress):
        for kind in _expected(files.of(user_id), document_id):
            try:
                kept.append(_write_file(files, user_id, document_id, kind, archive))
            except errors.NotFoundError:
                missing.append(MissingFile(user_id=user_id, document_id=document_id, kind=kind))
    return tuple(kept), tuple(missing)


def _expected(files: UserFiles, document_id: uuid.UUID) -> list[Kind]:
    """The files that a document has, and its original, which it must have."""
    return [kind for kind in KINDS if kind == "original" or files.exists(document_id, kind)]


def _write_file(
    files: FileStore, user_id: str, document_id: uuid.UUID, kind: Kind, archive: ArchiveWriter
) -> BackupFile:
    digest = folder_name(user_id).rpartition("-")[2]  # without the readable part, which would be too long for a tar
    member = f"files/{digest}/{document_id}/{kind}"
    with files.of(user_id).open(document_id, kind) as source, archive.member(member) as sink:
        for piece in _pieces(source):
            sink.write(piece)
    content = sink.content
    return BackupFile(
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


def check(path: Path, on_progress: OnProgress = ignore_progress) -> BackupManifest:
    """Read the whole archive and compare it with its manifest, which is returned. Nothing is changed.

    Raises:
        errors.SourceError: there is no such file, or it cannot be read.
        errors.UnreadableFileError: it is damaged, cut off, or no backup.
        errors.UnsupportedFileError: a newer version of Pagelight made it.
    """
    with open_checked(path, on_progress) as archive:
        return archive.manifest


def open_checked(path: Path, on_progress: OnProgress) -> Archive:
    """The archive at `path`, to be closed by the caller. Raises as `check`."""
    size = path.stat().st_size if path.is_file() else 0
    archive = Archive(path, lambda done: on_progress("check", done, size))
    on_progress("check", size, size)
    return archive
