"""What those who run an installation look at, of all users together."""

from collections.abc import Mapping

from rag import errors
from rag.store.jobs.queue import STALLED_SECONDS
from rag.store.server import named_queries
from rag.store.server.database import Database, Row
from rag.types import (
    BackupRecord,
    DatabaseStatus,
    IndexHealth,
    Lane,
    LaneStatus,
    LibraryStatus,
    Replica,
    RunningWork,
    WorkCounts,
    WorkerStatus,
)

LANES = (*(lane.value for lane in Lane), "pictures", "jobs")
"""Everything that waits for a worker, in the order in which it is shown."""
FAILURES = "failures"
MAX_RUNNING = 100


class Monitoring:
    """Sizes, queues and counts of an installation."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("status")

    def database(self) -> DatabaseStatus:
        """The server, its size and connections, and who follows it."""
        replicas = [Replica(**row) for row in self._database.all(self._queries["replicas"], {})]
        return DatabaseStatus(**self._one("database"), replicas=tuple(replicas))

    def workers(self) -> tuple[WorkerStatus, ...]:
        """The workers that are alive."""
        found = self._database.all(self._queries["workers"], {"stalled_seconds": STALLED_SECONDS})
        return tuple(WorkerStatus(**row) for row in found)

    def lanes(self) -> tuple[LaneStatus, ...]:
        """What waits for a worker, lane by lane; those where nothing does are there, too."""
        found = {row["lane"]: row for row in self._database.all(self._queries["lanes"], {})}
        return tuple(LaneStatus(**found.get(lane, {"lane": lane})) for lane in LANES)

    def running(self) -> tuple[RunningWork, ...]:
        """What somebody is at, the longest first; `MAX_RUNNING` at most."""
        return tuple(RunningWork(**row) for row in self._database.all(self._queries["running"], {"limit": MAX_RUNNING}))

    def library(self) -> LibraryStatus:
        """Users, documents and their sizes in sum."""
        return LibraryStatus(**self._one("library"))

    def indexes(self) -> IndexHealth:
        """Whether everything is found that should be."""
        return IndexHealth(**self._one("indexes"))

    def counts(self) -> WorkCounts:
        """What all workers have done since the database was set up."""
        rows = self._database.all(self._queries["counts"], {})
        done = {row["name"]: row["count"] for row in rows if row["name"] != FAILURES}
        return WorkCounts(**done, failures={row["code"]: row["count"] for row in rows if row["name"] == FAILURES})

    def count(self, done: Mapping[str, int]) -> None:
        """Add to what was done, by the names of `WorkCounts`."""
        self._count(done, "")

    def count_failure(self, code: str) -> None:
        """Add a failure of work in the background, by its error's code."""
        self._count({FAILURES: 1}, code)

    def _count(self, done: Mapping[str, int], code: str) -> None:
        parameters = {"names": [*done], "counts": [*done.values()], "code": code}
        self._database.write(self._queries["count"], parameters)

    def record_backup(self, record: BackupRecord) -> None:
        """Remember that an archive was written."""
        self._database.write(self._queries["keep_backup"], record.model_dump(exclude={"is_present"}))

    def last_backup(self) -> BackupRecord | None:
        """The last archive that was written, if any; whether it is still there is not looked at."""
        row = self._database.one(self._queries["last_backup"], {})
        return BackupRecord(**row) if row else None

    def _one(self, query: str) -> Row:
        row = self._database.one(self._queries[query], {})
        if row is None:
            raise errors.StoreError("The database gave no answer about itself. Try again.")
        return row
