"""Which job a worker does next: one place decides, for all workers on all machines."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rag.store.jobs import work_locks
from rag.store.jobs.lanes import LOOKED_AT, MOST_SECONDS
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, Row

SECONDS_PER_QUESTION = 1.0
"""How much longer a larger evaluation or matrix gives way to smaller jobs of its user: about what it takes."""

ASKING = ("evaluation", "matrix")
"""Kinds of jobs that only ask; several may ask an index at the same time."""


class ClaimedJob(NamedTuple):
    """A job that this process alone is at."""

    user_id: str
    job_id: uuid.UUID


class JobScheduler:
    """The unfinished jobs of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("jobs")

    @contextmanager
    def next(self) -> Iterator[ClaimedJob | None]:
        """The most urgent job that nobody is at, claimed until the end of the block, or None.

        Of those that take files into an index, or read all of it anew, one at a time.
        """
        parameters = {
            "most_seconds": MOST_SECONDS,
            "seconds_per_question": SECONDS_PER_QUESTION,
            "limit": LOOKED_AT,
        }
        waiting = self._database.all(self._queries["next"], parameters)
        if not waiting:
            yield None
            return
        with work_locks.lock_connection(self._database.url) as connection:
            yield next((ClaimedJob(row["user_id"], row["id"]) for row in waiting if _claim(connection, row)), None)

    def others_wait(self, user_id: str) -> bool:
        """Whether a job waits whose user is another than this one, and has nobody at any of their jobs."""
        rows = self._database.all(self._queries["others_wait"], {"user_id": user_id})
        return any(row["waiting"] for row in rows)


def _claim(connection: Connection, job: Row) -> bool:
    """Whether `connection` alone has the job now and, where it must be alone, its index."""
    if not work_locks.try_lock(connection, {"user_id": job["user_id"], "id": job["id"]}):
        return False
    index = {"user_id": job["user_id"], "id": uuid.uuid5(uuid.NAMESPACE_OID, f"jobs of {job['index_name']}")}
    if job["kind"] in ASKING or work_locks.try_lock(connection, index):
        return True
    work_locks.release(connection)
    return False
