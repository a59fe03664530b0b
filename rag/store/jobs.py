"""Long work that users start and follow. `rag.store.queue` wakes the worker that does it."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store import claims, queries
from rag.store.database import Database, UserDatabase
from rag.types import Job, JobKind, Progress


class Jobs:
    """A user's rows of the table `jobs`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = queries.load("jobs")

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

    def start(self, job_id: uuid.UUID) -> Mapping[str, Any] | None:
        """Mark a job as running, from its beginning; returns its request, or None if it has ended already.

        Raises:
            errors.NotFoundError: there is no such job.
        """
        self._row(job_id)
        started = self._touch("start", job_id)
        return started[0]["request"] if started else None

    def update_progress(self, job_id: uuid.UUID, done: int, total: int) -> None:
        """How far a running job is: `done` of `total`, of which 0 means that it is not known."""
        self._touch("update_progress", job_id, done=done, total=total)

    def finish(self, job_id: uuid.UUID, result: Mapping[str, Any]) -> None:
        """Mark a running job as done; `result` is JSON."""
        self._touch("finish", job_id, result=Jsonb(dict(result)))

    def fail(self, job_id: uuid.UUID, code: str, message: str) -> None:
        """Mark a job that has not ended as failed."""
        self._touch("fail", job_id, code=code, message=message)

    def claim(self, job_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Whether this process is now the only one at work on a job; the claim ends with the block."""
        return claims.claim(self._database, job_id)

    def _row(self, job_id: uuid.UUID) -> Mapping[str, Any]:
        row = self._database.one(self._queries["get"], {"job_id": job_id})
        if row is None:
            raise errors.NotFoundError(f"There is no job {job_id}. List the jobs and check the id.")
        return row

    def _touch(self, query: str, job_id: uuid.UUID, **parameters: object) -> builtins.list[dict[str, Any]]:
        return self._database.write(self._queries[query], {"job_id": job_id, **parameters})


def unfinished(database: Database) -> Sequence[tuple[str, uuid.UUID]]:
    """User and id of every job that has not ended, oldest first: for the restart of a worker."""
    return [(row["user_id"], row["id"]) for row in database.all(queries.load("jobs")["unfinished"], {})]


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
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
