"""Files to be deleted, as rows until they are gone: of purged documents, and of uploads without a document yet.

An upload first adds a draft row, then the files, and in one transaction the document's row in place of the draft's.
So files always have a row, and a killed process leaves a row that leads to them. A purge works the other way: the
transaction that deletes the document adds a row here, and the row goes after the files. Each of these steps
decides under the lock of the document's files, so that nobody deletes what an upload is about to own: the upload either
finds its draft row, or fails because it came too late.
"""

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rag import errors
from rag.messages import N_
from rag.store.files.file_storage import DocumentFolder, UserFiles, folder_name
from rag.store.jobs import scheduling
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, Queries, UserDatabase, store_errors

SAFE_AGE = dt.timedelta(days=1)
"""Maximum time of an upload between its first file and its row."""
PURGE_GRACE = dt.timedelta(minutes=1)
"""Time in which the process that purges deletes and counts the files itself."""


class DueDeletion(NamedTuple):
    """A user and a document whose files are to be deleted."""

    user_id: str
    document_id: uuid.UUID


class PendingDeletions:
    """A user's files without a document."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database

    def draft(self, document_id: uuid.UUID) -> None:
        """Register an upload before its first file; `Documents.add` adds its row later."""
        bound = self._database.bind({"document_id": document_id})
        with self._database.transaction() as connection:
            lock(connection, bound)
            connection.execute(named_queries.load("pending_deletions")["draft"], bound)

    def delete_files(self, files: UserFiles, document_id: uuid.UUID, older_than: dt.timedelta | None = None) -> None:
        """Delete a document's files if nobody owns them, and then their row here, which stays if that fails.

        With `older_than`, only files that have been registered here for so long. With them go the notes that readers
        made on the document.
        """
        Queries(self._database, "pending_deletions").write("delete_annotations", ids=[document_id])
        with self._database.transaction() as connection:
            bound = self._database.bind({"document_id": document_id, "older_than": older_than, "patience": PURGE_GRACE})
            lock(connection, bound)
            if older_than is not None and not _is(connection, "is_due", bound):
                return
            if not _is(connection, "is_owned", bound):
                files.delete(document_id)
            connection.execute(named_queries.load("pending_deletions")["take"], bound)


class AllPendingDeletions:
    """The files of all users without a document, for the cleanup."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = Queries(database, "pending_deletions")

    def due(self, older_than: dt.timedelta = SAFE_AGE) -> list[DueDeletion]:
        """Return due deletions, oldest first: drafts older than `older_than`, and what was purged a while ago."""
        rows = self._queries.all("due", older_than=older_than, patience=PURGE_GRACE)
        return [DueDeletion(row["user_id"], row["document_id"]) for row in rows]

    def unknown(self, folders: Iterable[DocumentFolder]) -> set[DocumentFolder]:
        """Return those of `folders`, listed before this call, whose documents have no row of any kind."""
        unknown = {*folders}
        with self._database.transaction() as connection, connection.cursor(name="known") as cursor:
            for row in cursor.execute(self._queries["known"]):
                unknown.discard(DocumentFolder(folder_name(row["user_id"]), row["id"]))
        return unknown

    def delete_unknown(self, files: UserFiles, folder: DocumentFolder) -> None:
        """Delete the files in a folder that no row knows, unless an upload uses it meanwhile."""
        with self._database.transaction() as connection:
            lock(connection, {"document_id": folder.document_id, "within": None})
            rows = self._queries.run(connection, "known_by_id", document_id=folder.document_id)
            if folder.owner not in {folder_name(row["user_id"]) for row in rows}:
                files.delete(folder.document_id)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Lock the cleanup for the block, and give whether this process has the lock."""
        with scheduling.lock_connection(self._database.url) as connection, store_errors():
            yield _is(connection, "alone", {})


def lock(connection: Connection, bound: Mapping[str, object]) -> None:
    """Lock the files of the document `bound["document_id"]` until the end of the transaction."""
    connection.execute(named_queries.load("pending_deletions")["lock"], bound)


def adopt_files(connection: Connection, document: Mapping[str, object]) -> None:
    """Give drafted files to their document when the transaction ends. Raises StoreError if they were deleted."""
    bound = {**document, "document_id": document["id"]}
    if not connection.execute(named_queries.load("pending_deletions")["own"], bound).fetchall():
        raise errors.StoreError(N_("The upload took so long that its file was cleared away. Upload it again."))


def count(
    database: UserDatabase, gone: Sequence[Mapping[str, Any]], connection: Connection | None = None
) -> dict[str, int]:
    """Return how many `rows`, `chunks` and `vectors` there are of documents, given by their `id` and `number`.

    In the transaction of `connection`, if one is given.
    """
    queries = Queries(database, "pending_deletions")
    if connection is None:
        return dict(queries.all("count", **_keys(gone))[0])
    return dict(queries.run(connection, "count", **_keys(gone)).fetchall()[0])


def delete_documents(database: UserDatabase, connection: Connection, gone: Sequence[Mapping[str, Any]]) -> None:
    """Delete documents, given by their `id` and `number`, with all their rows, and register their files here."""
    queries = Queries(database, "pending_deletions")
    for statement in ("add", "delete_postings", "delete_documents"):
        queries.run(connection, statement, **_keys(gone))


def delete_documents_of_index(database: UserDatabase, connection: Connection, index_id: uuid.UUID) -> None:
    """Delete all documents of a locked index, see `delete_documents`."""
    rows = Queries(database, "pending_deletions").run(connection, "of_index", index_id=index_id).fetchall()
    delete_documents(database, connection, rows)


def _keys(documents: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    return {"ids": [row["id"] for row in documents], "numbers": [row["number"] for row in documents]}


def _is(connection: Connection, query: str, parameters: Mapping[str, object]) -> bool:
    row = connection.execute(named_queries.load("pending_deletions")[query], parameters).fetchone()
    return bool(row and next(iter(row.values())))
