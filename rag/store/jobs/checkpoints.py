"""What came of the steps of unfinished jobs that are done."""

import uuid
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase


class JobCheckpoints:
    """A user's rows of the table `job_steps`; they go when their job ends."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("jobs")

    def of(self, job_id: uuid.UUID) -> dict[str, Any]:
        """By step, what came of it; nothing of a job that has ended, or is not there."""
        return {row["step"]: row["outcome"] for row in self._database.all(self._queries["steps"], {"job_id": job_id})}

    def keep(self, job_id: uuid.UUID, step: str, outcome: object) -> None:
        """Remember what came of a step of a running job; `outcome` is JSON.

        Raises:
            errors.CancelledError: the job was cancelled, or has ended otherwise.
            errors.NotFoundError: there is no such job.
        """
        parameters = {"job_id": job_id, "step": step, "outcome": Jsonb(outcome)}
        if not self._database.write(self._queries["keep_step"], parameters):
            if self._database.one(self._queries["get"], {"job_id": job_id}) is None:
                raise errors.NotFoundError(f"There is no job {job_id}. List the jobs and check the id.")
            raise errors.CancelledError
