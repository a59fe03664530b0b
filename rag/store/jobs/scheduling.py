"""Choose what workers do next, for all workers on all machines, lock it, and say when failed work is tried again."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from rag import errors, types
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, Queries, Row, UserDatabase, connect, store_errors


@contextmanager
def lock(database: UserDatabase, subject_id: uuid.UUID) -> Iterator[bool]:
    """Lock a document, an index or a job for the block, and give whether this process has the lock."""
    with lock_connection(database.url) as connection:
        yield try_lock(connection, database.bind({"id": subject_id}))


@contextmanager
def lock_connection(url: str) -> Iterator[Connection]:
    """Open a connection whose locks end with the block, or with this process, however that ends."""
    connection = connect(url, autocommit=True)
    try:
        yield connection
    finally:
        with suppress(errors.StoreError):  # a lost connection has lost its locks
            release_locks(connection)
        connection.close()


def try_lock(connection: Connection, subject: Mapping[str, object]) -> bool:
    """Lock what `user_id` and `id` name, and return whether `connection` has the lock."""
    with store_errors():
        row = connection.execute(named_queries.load("session")["try_lock"], subject).fetchone()
    return bool(row and row["locked"])


def release_locks(connection: Connection) -> None:
    """Release all locks of a connection."""
    with store_errors():
        connection.execute(named_queries.load("session")["release_locks"])


RETRY_DELAYS = [10.0, 60.0, 300.0, 1800.0]
"""Seconds after the first attempt, the second, …: a killed process is back in seconds, a full disk is not."""
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1
"""How often work may fail for lack of resources, or end its worker, before it is marked as failed."""

MAX_CANDIDATES = 64
"""How many items are tried to find one that no other worker has locked; more than there are workers."""
MAX_DELAY_SECONDS = 600.0
"""The longest that an item gives way to smaller ones of its user that came later."""
SECONDS_PER_BYTE = 60.0 / 1024 / 1024
SECONDS_PER_CHUNK = 0.5
"""How long a document gives way by its size: a few times what it takes to read a PDF, or to embed a chunk."""
SECONDS_PER_QUESTION = 1.0
"""How long a matrix gives way by its number of cells: about what it takes."""


class ClaimedDocument(NamedTuple):
    """A document that this process has locked, and how often it was tried since it last made progress.

    With 0 attempts there is nothing to do: another worker was faster between the query and the lock.
    """

    user_id: str
    document_id: uuid.UUID
    attempts: int


class ClaimedJob(NamedTuple):
    """A job that this process has locked."""

    user_id: str
    job_id: uuid.UUID


class DocumentScheduler:
    """The unfinished documents of all users, by lane."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = Queries(database, "scheduling")

    @contextmanager
    def next(self, lane: types.Lane, *, most_bytes: int | None = None) -> Iterator[ClaimedDocument | None]:
        """Lock the most urgent free document of a lane for the block, or give None.

        Documents whose files are larger than `most_bytes` are left out.
        """
        waiting = self._queries.all(
            "next",
            lane=lane.value,
            most_bytes=most_bytes,
            most_seconds=MAX_DELAY_SECONDS,
            seconds_per_byte=SECONDS_PER_BYTE,
            seconds_per_chunk=SECONDS_PER_CHUNK,
            limit=MAX_CANDIDATES,
        )
        if not waiting:
            yield None
            return
        with lock_connection(self._database.url) as connection:
            document = next((row for row in waiting if try_lock(connection, row)), None)
            claimed = None
            if document:
                with store_errors():
                    cursor = self._queries.run(connection, "take", **document, lane=lane.value, pauses=RETRY_DELAYS)
                    row = cursor.fetchone()
                claimed = ClaimedDocument(document["user_id"], document["id"], row["attempts"] if row else 0)
            yield claimed

    def next_pictures(self) -> ClaimedDocument | None:
        """Return a document whose pictures are unread if nothing is more urgent; the reader has to lock it."""
        for document in self._queries.all("next_pictures"):
            for row in self._queries.write("take_pictures", **document, pauses=RETRY_DELAYS):
                return ClaimedDocument(document["user_id"], document["id"], row["attempts"])
        return None

    def give_back(self, claimed: ClaimedDocument) -> None:
        """Take back an attempt that a stopping worker did not finish."""
        self._queries.write("give_back", user_id=claimed.user_id, id=claimed.document_id)

    def is_due(self) -> bool:
        """Return whether the retry of any document or job is due."""
        return any(row["due"] for row in self._queries.all("is_due"))

    def are_waiting(self) -> bool:
        """Return whether documents of any user wait to be read or embedded, or are being so."""
        return any(row["waiting"] for row in self._queries.all("are_waiting"))

    def unfinished(self) -> list[tuple[str, uuid.UUID]]:
        """Return user and id of every document that waits to be read, oldest first, for the restart of a worker."""
        return [(row["user_id"], row["id"]) for row in self._queries.all("unfinished")]

    def enqueue_abandoned(self) -> None:
        """Enqueue documents that the process which added them may no longer read; those it reads are locked."""
        self._queries.write("enqueue_abandoned")


class JobScheduler:
    """The unfinished jobs of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = Queries(database, "jobs")

    @contextmanager
    def next(self) -> Iterator[ClaimedJob | None]:
        """Lock the most urgent free job for the block, or give None.

        Jobs that add files to an index, or read all of it again, run one at a time.
        """
        waiting = self._queries.all(
            "next",
            most_seconds=MAX_DELAY_SECONDS,
            seconds_per_question=SECONDS_PER_QUESTION,
            limit=MAX_CANDIDATES,
        )
        if not waiting:
            yield None
            return
        with lock_connection(self._database.url) as connection:
            yield next((ClaimedJob(row["user_id"], row["id"]) for row in waiting if _try_lock(connection, row)), None)

    def others_wait(self, user_id: str) -> bool:
        """Return whether a job waits whose user is another than this one and has no job running."""
        return any(row["waiting"] for row in self._queries.all("others_wait", user_id=user_id))


def _try_lock(connection: Connection, job: Row) -> bool:
    """Lock a job and, unless it only asks questions as a matrix does, its index; return whether that worked."""
    if not try_lock(connection, {"user_id": job["user_id"], "id": job["id"]}):
        return False
    index = {"user_id": job["user_id"], "id": uuid.uuid5(uuid.NAMESPACE_OID, f"jobs of {job['index_name']}")}
    if job["kind"] == "matrix" or try_lock(connection, index):
        return True
    release_locks(connection)
    return False
