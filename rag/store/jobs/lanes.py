"""What a worker does next: one place decides, for all workers on all machines."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rag.store.jobs import work_locks
from rag.store.jobs.retries import RETRY_DELAYS
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, store_errors
from rag.types import Lane

LOOKED_AT = 64
"""So many are looked at to find one that no other worker is at; more than there are workers."""
MOST_SECONDS = 600.0
"""The longest that a document gives way to smaller ones of its user that came later."""
SECONDS_PER_BYTE = 60.0 / 1024 / 1024
SECONDS_PER_CHUNK = 0.5
"""How much longer a larger document gives way: some times what it takes to read a PDF, or to embed a chunk."""


class ClaimedDocument(NamedTuple):
    """A document that this process alone is at; `attempts` are how often a worker was since it last got on.

    None of them: another worker was faster, between the look at what waits and the claim.
    """

    user_id: str
    document_id: uuid.UUID
    attempts: int


class DocumentScheduler:
    """The unfinished documents of all users, by what is to be done with them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("lanes")

    @contextmanager
    def next(self, lane: Lane, *, most_bytes: int | None = None) -> Iterator[ClaimedDocument | None]:
        """The most urgent document of a lane that nobody is at, claimed until the end of the block, or None.

        `most_bytes` leaves out those whose files are larger.
        """
        waiting = self._waiting(lane, most_bytes)
        if not waiting:
            yield None
            return
        with work_locks.lock_connection(self._database.url) as connection:
            yield self._take(connection, lane, waiting)

    def _waiting(self, lane: Lane, most_bytes: int | None) -> Sequence[Mapping[str, Any]]:
        parameters = {
            "lane": lane.value,
            "most_bytes": most_bytes,
            "most_seconds": MOST_SECONDS,
            "seconds_per_byte": SECONDS_PER_BYTE,
            "seconds_per_chunk": SECONDS_PER_CHUNK,
            "limit": LOOKED_AT,
        }
        return self._database.all(self._queries["next"], parameters)

    def _take(self, connection: Connection, lane: Lane, waiting: Sequence[Mapping[str, Any]]) -> ClaimedDocument | None:
        for found in waiting:
            if not work_locks.try_lock(connection, found):
                continue
            with store_errors():
                subject = {**found, "lane": lane.value, "pauses": RETRY_DELAYS}
                taken = connection.execute(self._queries["take"], subject).fetchone()
            return ClaimedDocument(found["user_id"], found["id"], taken["attempts"] if taken else 0)
        return None

    def next_pictures(self) -> ClaimedDocument | None:
        """A document whose pictures are still to be read, if nothing is more urgent; whoever reads them claims it."""
        for found in self._database.all(self._queries["next_pictures"], {}):
            for taken in self._database.write(self._queries["take_pictures"], {**found, "pauses": RETRY_DELAYS}):
                return ClaimedDocument(found["user_id"], found["id"], taken["attempts"])
        return None

    def give_back(self, taken: ClaimedDocument) -> None:
        """Of a worker that stops before it is done: that was no attempt."""
        parameters = {"user_id": taken.user_id, "id": taken.document_id}
        self._database.write(self._queries["give_back"], parameters)

    def is_due(self) -> bool:
        """Whether something waits that was to be tried again later, and now may be."""
        return any(row["due"] for row in self._database.all(self._queries["is_due"], {}))

    def are_waiting(self) -> bool:
        """Whether documents of anybody wait for their words or vectors, or are given them just now."""
        return any(row["waiting"] for row in self._database.all(self._queries["are_waiting"], {}))

    def enqueue_abandoned(self) -> None:
        """Let workers take what whoever took it in may not read any more: it is claimed as long as it is being read."""
        self._database.write(self._queries["line_up"], {})
