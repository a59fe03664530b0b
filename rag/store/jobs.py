"""Work in the background: procrastinate's queue in the same database."""

import asyncio
import datetime as dt
import hashlib
import uuid
from collections.abc import Callable

import procrastinate
from procrastinate import exceptions

from rag.store.database import Database, store_errors

INGEST_DOCUMENT = "ingest_document"
STALLED_SECONDS = 30.0
"""A worker that sent no sign of life for so long is dead; workers send one every 10 seconds."""

Process = Callable[[str, uuid.UUID], None]


class Jobs:
    """The queue of documents to be read. Many processes may enqueue, and many may work."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        self.app.open(database.pool)

    def enqueue(self, user_id: str, document_id: uuid.UUID) -> bool:
        """Ask a worker to read a document; False if it is waiting for one already."""
        key = _lock(user_id, document_id)
        task = self.app.configure_task(INGEST_DOCUMENT, queueing_lock=key, lock=key)
        try:
            with store_errors():
                task.defer(user_id=user_id, document_id=str(document_id))
        except exceptions.AlreadyEnqueued:
            return False
        return True

    def recover(self, *, stalled_seconds: float = STALLED_SECONDS) -> int:
        """Give the jobs of dead workers back to the queue; returns how many."""
        with store_errors():
            return asyncio.run(self._recover(stalled_seconds))

    async def _recover(self, stalled_seconds: float) -> int:
        async with self._async_app().open_async() as app:
            manager = app.job_manager
            await manager.prune_stalled_workers(stalled_seconds)
            stalled = [*await manager.get_stalled_jobs(task_name=INGEST_DOCUMENT)]
            for job in stalled:
                if job.id is not None:
                    await manager.retry_job_by_id_async(job.id, dt.datetime.now(dt.UTC))
        return len(stalled)

    def run(self, process: Process, *, wait: bool = True, concurrency: int = 1) -> None:
        """Call `process` for each job, in a thread, until SIGINT or SIGTERM; with `wait` False, until none is left."""
        app = self._async_app()

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
        return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=self._database.url, max_size=4))


def _lock(user_id: str, document_id: uuid.UUID) -> str:
    """One key per document: procrastinate expects no brackets or line breaks in it, and user ids may have any."""
    return hashlib.sha256(f"{user_id}\n{document_id}".encode()).hexdigest()
