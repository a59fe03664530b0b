"""Tasks of a worker for all users: reading documents, lane by lane, and running jobs."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator

from rag import errors, tracing, types
from rag.engine.ingestion.document_reader import DocumentReader
from rag.engine.jobs.jobs import Jobs
from rag.engine.library.documents import Documents
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Resources, Workspace
from rag.store.jobs.scheduling import MAX_ATTEMPTS

YIELD_SECONDS = 5.0
"""Longest wait of a job for documents, after each of its steps, which take about a second."""
POLL_SECONDS = 0.5
TIME_SLICE_SECONDS = 15.0
"""Time slice of a job while a job of another user, none of whose jobs is running, waits."""
ORPHAN_SECONDS = 6 * 3600.0
"""Interval between searches for orphans."""
WORKER_ORIGIN = types.RequestOrigin("worker")
"""Origin of audit log entries: a worker acts for the user."""


logger = logging.getLogger(__name__)


class _StoppingError(Exception):
    """The worker stops between two steps of a job."""


class _TimeSliceOverError(Exception):
    """A job's time slice is over, and another user's job waits."""


class _TimeSlice:
    """The time slice of a job before other users' jobs get their turn."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._ends: float | None = None

    def is_over(self) -> bool:
        """Whether the slice is over. It lasts at least as long as it took to get back to the first new step."""
        now = time.monotonic()
        if self._ends is None:
            self._ends = now + max(TIME_SLICE_SECONDS, now - self._began)
            return False
        return now >= self._ends


class WorkerTasks:
    """The background work of an installation."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._cleaned_at: float | None = None

    def listen(self, on_hint: Callable[[], None], *, wait: bool = True) -> None:
        """Call `on_hint` for new work until SIGINT or SIGTERM; without `wait`, only for hints already queued."""
        self._resources.store.queue.run(lambda *_: on_hint(), lambda *_: on_hint(), wait=wait)

    def process_next(
        self, lane: types.Lane, is_stopping: Callable[[], bool], *, most_bytes: int | None = None
    ) -> types.Document | None:
        """Process the most urgent document of a lane, of any user; None if there is none that is free.

        Returns the document afterwards, also if another worker has just processed it. `most_bytes` excludes larger
        files. When `is_stopping` returns True, what is done so far is kept.
        """
        lanes = self._resources.store.document_scheduler
        with lanes.next(lane, most_bytes=most_bytes) as claim:
            if claim is None:
                return None
            workspace = Workspace(self._resources, claim.user_id, WORKER_ORIGIN)
            reader = DocumentReader(workspace)
            before = workspace.store.documents.get(claim.document_id)
            if not claim.attempts:
                return before  # not None: this lock may have kept the next lane off, which must look again
            with _trace_step(workspace, before, lane):
                if claim.attempts > MAX_ATTEMPTS:
                    reader.give_up(claim.document_id)
                else:
                    reader.step(claim.document_id, lane, is_stopping, claim.attempts)
                    if is_stopping():
                        lanes.give_back(claim)
                done = workspace.store.documents.get(claim.document_id)
                if done.status not in types.UNFINISHED:  # the trace ends with `ready` or `failed`
                    figures = {"pages": done.page_count, "chunks": done.chunk_count}
                    with tracing.span(done.status.value, document=done.id, **figures) as step:
                        step.add(error=done.error_code)
            self._count_step(before, done, lane)
            return done

    def clean_up(self) -> None:
        """Finish deletions, and delete orphans from time to time. Raises StoreError."""
        cleanup = self._resources.cleanup
        cleanup.finish_deletions()
        self._resources.store.rate_limits.forget()
        if self._cleaned_at is None or time.monotonic() - self._cleaned_at >= ORPHAN_SECONDS:
            self._cleaned_at = time.monotonic()
            report = cleanup.find_orphans(delete=True)
            if report.count or report.unconfirmed:
                logger.info("orphans: %s", report.model_dump(exclude_defaults=True))

    def read_pictures(self) -> bool:
        """Recognise the text in one document's pictures; False if none wait, or there is more urgent work."""
        claim = self._resources.store.document_scheduler.next_pictures()
        if claim is None:
            return False
        workspace = Workspace(self._resources, claim.user_id, WORKER_ORIGIN)
        if claim.attempts > MAX_ATTEMPTS:
            workspace.store.documents.give_up_pictures(claim.document_id)
            return True
        return not DocumentReader(workspace).read_pictures(claim.document_id).pictures_waiting

    def run_next_job(self, is_stopping: Callable[[], bool]) -> types.Job | None:
        """Run the most urgent job of any user; None if there is none that is free.

        The job yields to documents that wait to be read or embedded, and after a time slice to other users' jobs. When
        `is_stopping` returns True, it ends between two steps; it resumes there later.
        """
        store = self._resources.store
        with store.job_scheduler.next() as claim:
            if claim is None:
                return None
            jobs, turn = store.of(claim.user_id).jobs, _TimeSlice()

            def between() -> None:
                self._yield_to_documents(is_stopping)
                if turn.is_over() and store.job_scheduler.others_wait(claim.user_id):
                    raise _TimeSliceOverError

            try:
                workspace = Workspace(self._resources, claim.user_id, WORKER_ORIGIN)
                owner = Jobs(workspace, Documents(workspace), Questions(workspace))
                done = owner.run_locked(claim.job_id, between)
            except _StoppingError:
                jobs.give_back(claim.job_id)
                return jobs.get(claim.job_id)
            except _TimeSliceOverError:
                jobs.give_way(claim.job_id)
                return jobs.get(claim.job_id)
        if done.status == "failed":
            store.monitoring.count({"failures": 1}, done.error_code or errors.Error.code)
        elif done.finished_at:
            store.monitoring.count({"jobs_done": 1})
        return done

    def _yield_to_documents(self, is_stopping: Callable[[], bool]) -> None:
        """Wait for documents to be read first, up to a limit, so that jobs progress in spite of many uploads."""
        deadline = time.monotonic() + YIELD_SECONDS
        while (
            not is_stopping() and time.monotonic() < deadline and self._resources.store.document_scheduler.are_waiting()
        ):
            time.sleep(POLL_SECONDS)
        if is_stopping():
            raise _StoppingError

    def _count_step(self, before: types.Document, done: types.Document, lane: types.Lane) -> None:
        """Add a step to the statistics of all workers."""
        figures = self._resources.store.monitoring
        if done.status is types.DocumentStatus.FAILED:
            figures.count({"failures": 1}, done.error_code or errors.Error.code)
            return
        known = before.vector_count if lane is types.Lane.EMBEDDING else 0
        counts = {"chunks_embedded": done.vector_count - known}
        if done.status is types.DocumentStatus.READY:
            counts |= {"documents_read": 1, "pages_read": done.page_count}
        if counts := {name: count for name, count in counts.items() if count > 0}:
            figures.count(counts)


@contextlib.contextmanager
def _trace_step(workspace: Workspace, document: types.Document, lane: types.Lane) -> Iterator[None]:
    """Trace a lane's step as part of the trace that began with the upload."""
    if not tracing.is_on():
        yield
        return
    with (
        tracing.continue_trace(workspace.store.documents.trace(document.id)),
        tracing.span(lane.value, document=document.id),
    ):
        yield
