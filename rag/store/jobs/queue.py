"""The task queue: procrastinate in the same database. It only wakes workers; what is to be done is in our tables."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable

import procrastinate
from procrastinate import exceptions, jobs

from rag.store.server import timeouts
from rag.store.server.database import Database, store_errors

INGEST_DOCUMENT = "ingest_document"
RUN_JOB = "run_job"
STALLED_SECONDS = 30.0
"""A worker without a heartbeat for so long is dead; workers send one every 10 seconds."""

Process = Callable[[str, uuid.UUID], None]


class Queue:
    """The tasks of all users. Any number of processes may enqueue and work."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        self.app.open(database.pool)

    def enqueue(self, user_id: str, document_id: uuid.UUID) -> bool:
        """Ask a worker to read a document; False if a task for it is waiting already."""
        return self._defer(INGEST_DOCUMENT, user_id, "document_id", document_id)

    def enqueue_job(self, user_id: str, job_id: uuid.UUID) -> bool:
        """Ask a worker to do a job; False if a task for it is waiting already."""
        return self._defer(RUN_JOB, user_id, "job_id", job_id)

    def _defer(self, task_name: str, user_id: str, name: str, subject_id: uuid.UUID) -> bool:
        # No procrastinate `lock`: a dead worker's task would hold it. Workers lock it in `scheduling`.
        # A hash as key, because procrastinate expects no brackets or line breaks, and user ids may have any.
        key = hashlib.sha256(f"{user_id}\n{subject_id}".encode()).hexdigest()
        task = self.app.configure_task(task_name, queueing_lock=key)
        try:
            with self._database.time_limit():
                task.defer(user_id=user_id, **{name: str(subject_id)})
        except exceptions.AlreadyEnqueued:
            return False
        return True

    def discard_stalled(self, *, stalled_seconds: float = STALLED_SECONDS) -> int:
        """Delete the tasks of dead workers and return how many; their documents and jobs are still in our tables."""

        async def discard() -> int:
            async with self._async_app().open_async() as app:
                manager = app.job_manager
                await manager.prune_stalled_workers(stalled_seconds)
                stalled = [*await manager.get_stalled_jobs()]
                for job in stalled:
                    if job.id is not None:
                        await manager.finish_job_by_id_async(job.id, status=jobs.Status.FAILED, delete_job=True)
            return len(stalled)

        with store_errors():
            return asyncio.run(discard())

    def run(self, process: Process, run_job: Process | None = None, *, wait: bool = True, concurrency: int = 1) -> None:
        """Call `process` for each document and `run_job` for each job, in threads, until SIGINT or SIGTERM.

        Without `wait`, until no task is left.
        """
        app = self._async_app()

        @app.task(name=RUN_JOB)
        def do_job(*, user_id: str, job_id: str) -> None:
            if run_job:
                run_job(user_id, uuid.UUID(job_id))

        @app.task(name=INGEST_DOCUMENT)
        def ingest_document(*, user_id: str, document_id: str) -> None:
            process(user_id, uuid.UUID(document_id))

        with store_errors():
            app.run_worker(
                wait=wait,
                concurrency=concurrency,
                delete_jobs="successful",
                stalled_worker_timeout=STALLED_SECONDS,
            )

    def _async_app(self) -> procrastinate.App:
        """Return an app for a worker, which needs its own event loop and connections."""
        url = self._database.url
        options = timeouts.connection_parameters(url, timeouts.breaker_for(url).timeout_seconds)
        return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, kwargs=options, max_size=4))
