"""Long work that users start and follow. `rag.store.jobs.queue` wakes the worker that does it."""

import builtins
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.jobs import work_locks
from rag.store.jobs.retries import MAX_ATTEMPTS, RETRY_DELAYS
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Job, JobKind, Progress

CANCELLED = "It was cancelled. Start it again to have it done."


class Started(NamedTuple):
    """A job that is being done: what is asked, and how often a worker took it since it last got on."""

    request: Mapping[str, Any]
    attempts: int


class Jobs:
    """A user's rows of the table `jobs`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("jobs")

    def create(self, kind: JobKind, index_name: str, request: Mapping[str, Any]) -> Job:
        """Keep what is to be done; `request` is JSON and must hold no secrets."""
        parameters = {
            "id": uuid.uuid4(),
            "kind": kind,
            "index_name": index_name,
            "request": Jsonb(dict(request)),
        }
        return to_job(self._database.write(self._queries["create"], parameters)[0])

    def get(self, job_id: uuid.UUID) -> Job:
        """One job with its result. Raises NotFoundError."""
        return to_job(self._row(job_id))

    def list(self, *, kind: JobKind | None = None, limit: int | None = None, offset: int = 0) -> builtins.list[Job]:
        """A user's jobs without their results, the latest first."""
        parameters = {"kind": kind, "limit": limit, "offset": offset}
        return [to_job(row) for row in self._database.all(self._queries["list"], parameters)]

    def start(self, job_id: uuid.UUID) -> Started | None:
        """Mark a job as running, from where it stood; None if it has ended already.

        Raises:
            errors.NotFoundError: there is no such job.
        """
        self._row(job_id)
        started = self._touch("start", job_id, pauses=RETRY_DELAYS)
        return Started(started[0]["request"], started[0]["attempts"]) if started else None

    def update_progress(self, job_id: uuid.UUID, done: int, total: int) -> None:
        """How far a running job is: `done` of `total`, of which 0 means that it is not known.

        Raises:
            errors.CancelledError: the job was cancelled, or has ended otherwise.
            errors.NotFoundError: there is no such job.
        """
        if not self._touch("update_progress", job_id, done=done, total=total):
            self._row(job_id)
            raise errors.CancelledError

    def finish(self, job_id: uuid.UUID, result: Mapping[str, Any]) -> None:
        """Mark a running job as done; `result` is JSON."""
        self._touch("finish", job_id, result=Jsonb(dict(result)))

    def fail(self, job_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a job that has not ended as failed."""
        self._touch("end", job_id, status="failed", code=code, message=message)

    def cancel(self, job_id: uuid.UUID) -> Job:
        """End a job that has not ended; returns it as it is then. Raises NotFoundError."""
        self._touch("end", job_id, status="cancelled", code=errors.CancelledError.code, message=CANCELLED)
        return self.get(job_id)

    def postpone(self, job_id: uuid.UUID, code: str, message: str) -> bool:
        """Let workers go on with a running job after a pause, which grows with the attempts; it tells why.

        False if there were too many since it last got on.
        """
        parameters = {"code": code, "message": message, "pauses": RETRY_DELAYS, "most": MAX_ATTEMPTS}
        return bool(self._touch("postpone", job_id, **parameters))

    def give_back(self, job_id: uuid.UUID) -> None:
        """Of a worker that stops before it is done: that was no attempt."""
        self._touch("give_back", job_id)

    def give_way(self, job_id: uuid.UUID) -> None:
        """Let jobs of other users go first; it goes on from where it stands when it is its user's turn again."""
        self._touch("give_way", job_id)

    def claim(self, job_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Whether this process is now the only one at work on a job; the claim ends with the block."""
        return work_locks.claim(self._database, job_id)

    def _row(self, job_id: uuid.UUID) -> Mapping[str, Any]:
        row = self._database.one(self._queries["get"], {"job_id": job_id})
        if row is None:
            raise errors.NotFoundError(f"There is no job {job_id}. List the jobs and check the id.")
        return row

    def _touch(self, query: str, job_id: uuid.UUID, **parameters: object) -> builtins.list[dict[str, Any]]:
        return self._database.write(self._queries[query], {"job_id": job_id, **parameters})


def to_job(row: Mapping[str, Any]) -> Job:
    """A row of `jobs`."""
    return Job(
        id=row["id"],
        user_id=row["user_id"],
        kind=row["kind"],
        index_name=row["index_name"],
        status=row["status"],
        progress=Progress(done=row["progress_done"], total=row["progress_total"]),
        result=row.get("result"),
        error_code=row["error_code"],
        error=row["error"],
        retry_after=row["retry_after"] if row["status"] == "queued" else None,
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
