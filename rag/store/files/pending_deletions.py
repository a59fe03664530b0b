"""Files that are to be deleted, as rows until they are: of documents that are gone, and drafts of documents to come.

The order of an upload is: a draft's row, the files, and in one transaction the document's row in the place of the
draft's. So there is no moment at which files have no row, and whoever dies in between leaves a row that tells of
them. A purge goes the other way: a trigger puts a row here in the transaction that removes the document, and the row
goes when the files have gone. Each of these steps holds the lock of the document's files while it decides, so that
nobody deletes what an upload is about to own: it either finds its draft, or learns that it came too late.
"""

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rag import errors
from rag.store.files.file_storage import DocumentFolder, folder_name
from rag.store.jobs import work_locks
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, UserDatabase, store_errors

SAFE_AGE = dt.timedelta(days=1)
"""So long an upload may take between its first file and its row."""
PATIENCE = dt.timedelta(minutes=1)
"""So long whoever purges is left to delete the files, and to count them."""


class DueDeletion(NamedTuple):
    """Whose files are to be deleted."""

    user_id: str
    document_id: uuid.UUID


class PendingDeletions:
    """One user's files that no document owns."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("deletions")

    def draft(self, document_id: uuid.UUID) -> None:
        """Note, before the first file of a document is put, that its row is still to come (`Documents.add`)."""
        bound = self._database.bind({"document_id": document_id})
        with self._database.transaction() as connection:
            lock(connection, bound)
            connection.execute(self._queries["draft"], bound)

    @contextmanager
    def taking(self, document_id: uuid.UUID, older_than: dt.timedelta | None = None) -> Iterator[bool]:
        """Whether nobody owns a document's files, who then are to be deleted in the block; their row goes with its end.

        With `older_than`, only files that are noted here and have waited so long. If the block fails the row stays.
        """
        with self._database.transaction() as connection:
            bound = self._database.bind({"document_id": document_id, "older_than": older_than, "patience": PATIENCE})
            lock(connection, bound)
            is_due = older_than is None or _is(connection, "is_due", bound)
            is_owned = _is(connection, "is_owned", bound)
            yield is_due and not is_owned
            if is_due:
                connection.execute(self._queries["take"], bound)


class AllPendingDeletions:
    """The same for all users: for whoever clears away."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("deletions")

    def due(self, older_than: dt.timedelta = SAFE_AGE) -> list[DueDeletion]:
        """Whose files wait to be deleted, oldest first: drafts `older_than` this, and what was purged a while ago."""
        rows = self._database.all(self._queries["due"], {"older_than": older_than, "patience": PATIENCE})
        return [DueDeletion(row["user_id"], row["document_id"]) for row in rows]

    def unknown(self, folders: Iterable[DocumentFolder]) -> set[DocumentFolder]:
        """Those of `folders`, seen before this, whose documents are not there, nor to come, nor to be deleted."""
        unknown = {*folders}
        with self._database.transaction() as connection, connection.cursor(name="known") as cursor:
            for row in cursor.execute(self._queries["known"]):
                unknown.discard(DocumentFolder(folder_name(row["user_id"]), row["id"]))
        return unknown

    @contextmanager
    def lock_unknown(self, folder: DocumentFolder) -> Iterator[bool]:
        """Whether no row knows a folder; nobody begins to put files there in the block."""
        with self._database.transaction() as connection:
            lock(connection, {"document_id": folder.document_id, "within": None})
            found = connection.execute(self._queries["known_by_id"], {"document_id": folder.document_id})
            yield folder.owner not in {folder_name(row["user_id"]) for row in found}

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether no other process does what is done in the block."""
        with work_locks.lock_connection(self._database.url) as connection, store_errors():
            yield _is(connection, "alone", {})


def lock(connection: Connection, bound: Mapping[str, object]) -> None:
    """Until the end of the transaction nobody else decides on the files of the document `bound["document_id"]`."""
    connection.execute(named_queries.load("deletions")["lock"], bound)


def own(connection: Connection, document: Mapping[str, object]) -> None:
    """A document's files are its own from the end of the transaction on. Raises StoreError if they were deleted."""
    bound = {**document, "document_id": document["id"]}
    if not connection.execute(named_queries.load("deletions")["own"], bound).fetchall():
        raise errors.StoreError("The upload took so long that its file was cleared away. Upload it again.")


def count(database: UserDatabase, gone: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many `rows`, `chunks` and `vectors` are left of documents, which have an `id` and a `number`."""
    parameters = {"ids": [row["id"] for row in gone], "numbers": [row["number"] for row in gone]}
    return dict(database.all(named_queries.load("deletions")["count"], parameters)[0])


def _is(connection: Connection, query: str, parameters: Mapping[str, object]) -> bool:
    row = connection.execute(named_queries.load("deletions")[query], parameters).fetchone()
    return bool(row and next(iter(row.values())))
