"""Monitoring of an installation: sizes, queues and counts of all users together."""

from collections.abc import Mapping
from typing import NamedTuple

from rag import errors, types
from rag.messages import N_
from rag.store.jobs.queue import STALLED_SECONDS
from rag.store.server.database import Database, Queries, Row

LANES = (*(lane.value for lane in types.Lane), "pictures", "jobs")
"""Everything that waits for a worker, in display order."""
FAILURES = "failures"
MAX_RUNNING = 100


class Health(NamedTuple):
    """Versions of the server, of pgvector and of our schema (its last migration), and the number of live workers."""

    server_version: str
    vector_version: str
    migration: str
    workers: int


class Monitoring:
    """Figures for administrators and for health checks."""

    def __init__(self, database: Database) -> None:
        self._queries = Queries(database, "status")

    def health(self) -> Health:
        """Return versions and the number of workers. Raises StoreError if the database cannot be reached."""
        return Health(**self._one("health", stalled_seconds=STALLED_SECONDS))

    def database(self) -> types.DatabaseStatus:
        """Return the server's size and connections, and its replicas."""
        replicas = [types.Replica(**row) for row in self._queries.all("replicas")]
        return types.DatabaseStatus(**self._one("database"), replicas=tuple(replicas))

    def workers(self) -> tuple[types.WorkerStatus, ...]:
        """Return the live workers."""
        return tuple(types.WorkerStatus(**row) for row in self._queries.all("workers", stalled_seconds=STALLED_SECONDS))

    def lanes(self) -> tuple[types.LaneStatus, ...]:
        """Return how much waits for a worker in each lane, empty lanes included."""
        rows = {row["lane"]: row for row in self._queries.all("lanes")}
        return tuple(types.LaneStatus(**rows.get(lane, {"lane": lane})) for lane in LANES)

    def running(self) -> tuple[types.RunningWork, ...]:
        """Return up to `MAX_RUNNING` items that are being worked on, the longest first."""
        return tuple(types.RunningWork(**row) for row in self._queries.all("running", limit=MAX_RUNNING))

    def library(self) -> types.LibraryStatus:
        """Return the numbers of users and documents, and their sizes."""
        return types.LibraryStatus(**self._one("library"))

    def indexes(self) -> types.IndexHealth:
        """Return the numbers of indexes and chunks, and what is missing in them."""
        return types.IndexHealth(**self._one("indexes"))

    def counts(self) -> types.WorkCounts:
        """Return what all workers have done since the database was set up."""
        rows = self._queries.all("counts")
        done = {row["name"]: row["count"] for row in rows if row["name"] != FAILURES}
        return types.WorkCounts(**done, failures={row["code"]: row["count"] for row in rows if row["name"] == FAILURES})

    def count(self, done: Mapping[str, int], code: str = "") -> None:
        """Add to the counts, named as in `WorkCounts`; `failures` of background work by their error `code`."""
        self._queries.write("count", names=[*done], counts=[*done.values()], code=code)

    def record_backup(self, record: types.BackupRecord) -> None:
        """Record that an archive was written."""
        self._queries.write("record_backup", **record.model_dump(exclude={"is_present"}))

    def last_backup(self) -> types.BackupRecord | None:
        """Return the last archive that was written, if any, without checking that it still exists."""
        row = self._queries.one("last_backup")
        return types.BackupRecord(**row) if row else None

    def _one(self, query: str, **parameters: object) -> Row:
        return self._queries.get(
            query, errors.StoreError(N_("The database gave no answer about itself. Try again.")), **parameters
        )
