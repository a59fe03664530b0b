"""Background jobs of users, and the results of their steps."""

import builtins
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.jobs import scheduling
from rag.store.jobs.scheduling import MAX_ATTEMPTS, RETRY_DELAYS
from rag.store.server.database import Queries, Row, UserDatabase

CANCELLED = "It was cancelled. Start it again to have it done."


class Started(NamedTuple):
    """A running job: its request, and how often it was tried since it last made progress."""

    request: Mapping[str, Any]
    attempts: int


class Jobs:
    """A user's rows of the tables `jobs` and `job_steps`, the results of a running job's finished steps."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "jobs")

    def create(self, kind: types.JobKind, index_name: str, request: Mapping[str, Any]) -> types.Job:
        """Add a job; `request` is JSON and must hold no secrets."""
        values = {"id": uuid.uuid4(), "kind": kind, "index_name": index_name, "request": Jsonb(dict(request))}
        return to_job(self._queries.write("create", **values)[0])

    def get(self, job_id: uuid.UUID) -> types.Job:
        """Return a job with its result. Raises NotFoundError."""
        return to_job(self._get(job_id))

    def list(
        self, *, kind: types.JobKind | None = None, limit: int | None = None, offset: int = 0
    ) -> builtins.list[types.Job]:
        """Return the user's jobs without their results, the latest first."""
        return [to_job(row) for row in self._queries.all("list", kind=kind, limit=limit, offset=offset)]

    def start(self, job_id: uuid.UUID) -> Started | None:
        """Mark a job as running; None if it has ended. Raises NotFoundError."""
        self._get(job_id)
        started = self._queries.write("start", job_id=job_id, pauses=RETRY_DELAYS)
        return Started(started[0]["request"], started[0]["attempts"]) if started else None

    def update_progress(self, job_id: uuid.UUID, done: int, total: int) -> None:
        """Set the progress of a running job; a `total` of 0 means that it is unknown.

        Raises CancelledError and NotFoundError.
        """
        if not self._queries.write("update_progress", job_id=job_id, done=done, total=total):
            self._get(job_id)
            raise errors.CancelledError

    def finish(self, job_id: uuid.UUID, result: Mapping[str, Any]) -> None:
        """Mark a running job as done; `result` is JSON."""
        self._queries.write("finish", job_id=job_id, result=Jsonb(dict(result)))

    def fail(self, job_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a job that has not ended as failed."""
        self._queries.write("end", job_id=job_id, status="failed", code=code, message=message)

    def cancel(self, job_id: uuid.UUID) -> types.Job:
        """Cancel a job that has not ended, and return it. Raises NotFoundError."""
        code = errors.CancelledError.code
        self._queries.write("end", job_id=job_id, status="cancelled", code=code, message=CANCELLED)
        return self.get(job_id)

    def postpone(self, job_id: uuid.UUID, code: str, message: str) -> bool:
        """Queue a running job for a retry and note the reason; False after too many attempts without progress."""
        values = {"code": code, "message": message, "pauses": RETRY_DELAYS, "most": MAX_ATTEMPTS}
        return bool(self._queries.write("postpone", job_id=job_id, **values))

    def give_back(self, job_id: uuid.UUID) -> None:
        """Take back an attempt that a stopping worker did not finish."""
        self._queries.write("give_back", job_id=job_id)

    def give_way(self, job_id: uuid.UUID) -> None:
        """Let jobs of other users go first; the job continues when it is its user's turn again."""
        self._queries.write("give_way", job_id=job_id)

    def steps(self, job_id: uuid.UUID) -> dict[str, Any]:
        """Return the results of a job's finished steps by step; empty for a job that has ended or does not exist."""
        return {row["step"]: row["outcome"] for row in self._queries.all("steps", job_id=job_id)}

    def save_step(self, job_id: uuid.UUID, step: str, outcome: object) -> None:
        """Save the result of a step of a running job; `outcome` is JSON. Raises CancelledError and NotFoundError."""
        if not self._queries.write("save_step", job_id=job_id, step=step, outcome=Jsonb(outcome)):
            self._get(job_id)
            raise errors.CancelledError

    def lock(self, job_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock a job for the block, and give whether this process has the lock."""
        return scheduling.lock(self._database, job_id)

    def _get(self, job_id: uuid.UUID) -> Row:
        unknown = errors.NotFoundError(N_("There is no job {id}. List the jobs and check the id."), id=job_id)
        return self._queries.get("get", unknown, job_id=job_id)


def to_job(row: Mapping[str, Any]) -> types.Job:
    """Make a job of a row of `jobs`."""
    values = {name: row[name] for name in types.Job.model_fields if name in row}
    values["progress"] = types.Progress(done=row["progress_done"], total=row["progress_total"])
    values["retry_after"] = row["retry_after"] if row["status"] == "queued" else None
    return types.Job(**values)
