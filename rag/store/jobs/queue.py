"""Work in the background: procrastinate's queue in the same database."""

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
"""A worker that sent no sign of life for so long is dead; workers send one every 10 seconds."""

Process = Callable[[str, uuid.UUID], None]


class Queue:
    """The queue of documents to be read and of jobs to be done. Many processes may enqueue, and many may work."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        self.app.open(database.pool)

    def enqueue(self, user_id: str, document_id: uuid.UUID) -> bool:
        """Ask a worker to read a document; False if it is waiting for one already."""
        return self._defer(INGEST_DOCUMENT, user_id, document_id=document_id)

    def enqueue_job(self, user_id: str, job_id: uuid.UUID) -> bool:
        """Ask a worker to do a job; False if it is waiting for one already."""
        return self._defer(RUN_JOB, user_id, job_id=job_id)

    def _defer(self, task_name: str, user_id: str, **subject: uuid.UUID) -> bool:
        # No `lock`: a dead worker's task would hold it. Whoever works on something claims it (`Documents.claim`).
        ((name, subject_id),) = subject.items()
        task = self.app.configure_task(task_name, queueing_lock=_lock(user_id, subject_id))
        try:
            with self._database.limit():
                task.defer(user_id=user_id, **{name: str(subject_id)})
        except exceptions.AlreadyEnqueued:
            return False
        return True

    def discard_stalled(self, *, stalled_seconds: float = STALLED_SECONDS) -> int:
        """Forget the tasks that dead workers were at; returns how many.

        What they were at stands in `Documents.unfinished` and `Jobs.unfinished`.
        """
        with store_errors():
            return asyncio.run(self._discard_stalled(stalled_seconds))

    async def _discard_stalled(self, stalled_seconds: float) -> int:
        async with self._async_app().open_async() as app:
            manager = app.job_manager
            await manager.prune_stalled_workers(stalled_seconds)
            stalled = [*await manager.get_stalled_jobs()]
            for job in stalled:
                if job.id is not None:
                    await manager.finish_job_by_id_async(job.id, status=jobs.Status.FAILED, delete_job=True)
        return len(stalled)

    def run(self, process: Process, run_job: Process | None = None, *, wait: bool = True, concurrency: int = 1) -> None:
        """Call `process` for each document and `run_job` for each job, in a thread, until SIGINT or SIGTERM.

        With `wait` False, until none is left.
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
        """Workers need a loop and connections of their own."""
        url = self._database.url
        connecting = timeouts.connecting(url, timeouts.breaker_for(url).timeout_seconds)
        return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, kwargs=connecting, max_size=4))


def _lock(user_id: str, subject_id: uuid.UUID) -> str:
    """One key per document or job: procrastinate expects no brackets or line breaks, and user ids may have any."""
    return hashlib.sha256(f"{user_id}\n{subject_id}".encode()).hexdigest()
