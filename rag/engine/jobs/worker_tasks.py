"""What a worker does for all users: documents by lanes, and jobs."""

import contextlib
import time
from collections.abc import Callable, Iterator

from rag import errors, tracing
from rag.engine.ingestion.document_reader import Reader
from rag.engine.jobs.jobs import Jobs
from rag.engine.library.documents import Documents
from rag.engine.questions.questions import Questions
from rag.engine.resources import Resources
from rag.engine.workspace import Workspace
from rag.store import MAX_ATTEMPTS
from rag.types import UNFINISHED, Document, DocumentStatus, Job, Lane, RequestOrigin

GIVE_WAY_SECONDS = 5.0
"""So long a job lets documents go first, after each of its steps, which take about a second."""
LOOK_SECONDS = 0.5
TURN_SECONDS = 15.0
"""So long a job goes on while another user's waits, of whom nobody is served."""
WORKER = RequestOrigin("worker")
"""Where what the audit tells of comes from: a worker acts for the user, who is at no door."""


class _StoppingError(Exception):
    """The worker stops between two steps of a job."""


class _TurnOverError(Exception):
    """It is another user's turn, between two steps of a job."""


class _Turn:
    """How long a job goes on before others get their turn: a while, in which it has got on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._ends: float | None = None

    def is_over(self) -> bool:
        """Asked before each step. From the first on it takes as long at least as it took to get there again."""
        now = time.monotonic()
        if self._ends is None:
            self._ends = now + max(TURN_SECONDS, now - self._began)
            return False
        return now >= self._ends


class WorkerTasks:
    """The work in the background of an installation."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def use_background_timeouts(self) -> None:
        """This process is a worker's, in which nobody waits for an answer."""
        self._resources.store.use_background_timeouts()

    def hear_hints(self, on_hint: Callable[[], None], *, wait: bool = True) -> None:
        """Call `on_hint` whenever there may be something to do, until SIGINT or SIGTERM.

        Without `wait` only for the hints that are there.
        """
        self._resources.store.queue.run(lambda *_: on_hint(), lambda *_: on_hint(), wait=wait)

    def do_next(self, lane: Lane, is_stopping: Callable[[], bool], *, most_bytes: int | None = None) -> Document | None:
        """Do what is most urgent in a lane, of any user's; None if there is nothing, or others are at all of it.

        Returns the document as it is then, also if another worker has done it just before. `most_bytes` leaves out
        larger files. When the worker `is_stopping`, what is done so far is kept.
        """
        lanes = self._resources.store.document_scheduler
        with lanes.next(lane, most_bytes=most_bytes) as taken:
            if taken is None:
                return None
            workspace = Workspace(self._resources, taken.user_id, WORKER)
            reader = Reader(workspace)
            before = reader.document(taken.document_id)
            if not taken.attempts:
                return before  # and not None: its next lane, which this claim may have kept off, has to look again
            with _traced(workspace, before, lane):
                if taken.attempts > MAX_ATTEMPTS:
                    reader.give_up(taken.document_id)
                else:
                    reader.step(taken.document_id, lane, is_stopping, taken.attempts)
                    if is_stopping():
                        lanes.give_back(taken)
                done = reader.document(taken.document_id)
                _trace_end(done)
            self._count(before, done, lane)
            return done

    def is_due(self) -> bool:
        """Whether something waits that was to be tried again later, and now may be."""
        return self._resources.store.document_scheduler.is_due()

    def read_pictures(self) -> bool:
        """Read the words in a document's pictures; False if none wait, or there is more urgent work."""
        taken = self._resources.store.document_scheduler.next_pictures()
        if taken is None:
            return False
        workspace = Workspace(self._resources, taken.user_id, WORKER)
        if taken.attempts > MAX_ATTEMPTS:
            workspace.store.reading_queue.give_up_pictures(taken.document_id)
            return True
        return not Reader(workspace).read_pictures(taken.document_id).pictures_waiting

    def do_job(self, is_stopping: Callable[[], bool]) -> Job | None:
        """Do the most urgent job of any user's; None if there is none, or others are at all of them.

        It gives way to documents that wait for their words or vectors, and after a while to other users' jobs. When
        the worker `is_stopping`, it ends between two steps, too; whoever takes it up next goes on there.
        """
        store = self._resources.store
        with store.job_scheduler.next() as taken:
            if taken is None:
                return None
            jobs, turn = store.of(taken.user_id).jobs, _Turn()

            def between() -> None:
                self._give_way(is_stopping)
                if turn.is_over() and store.job_scheduler.others_wait(taken.user_id):
                    raise _TurnOverError

            try:
                done = self._jobs(taken.user_id).go_on(taken.job_id, between)
            except _StoppingError:
                jobs.give_back(taken.job_id)
                return jobs.get(taken.job_id)
            except _TurnOverError:
                jobs.give_way(taken.job_id)
                return jobs.get(taken.job_id)
        if done.status == "failed":
            store.monitoring.count_failure(done.error_code or errors.Error.code)
        elif done.finished_at:
            store.monitoring.count({"jobs_done": 1})
        return done

    def _give_way(self, is_stopping: Callable[[], bool]) -> None:
        """Let documents be read first, but not for ever: then the job would never be done where there are many."""
        deadline = time.monotonic() + GIVE_WAY_SECONDS
        while (
            not is_stopping() and time.monotonic() < deadline and self._resources.store.document_scheduler.are_waiting()
        ):
            time.sleep(LOOK_SECONDS)
        if is_stopping():
            raise _StoppingError

    def _count(self, before: Document, done: Document, lane: Lane) -> None:
        """Add a step to what all workers have done."""
        figures = self._resources.store.monitoring
        if done.status is DocumentStatus.FAILED:
            figures.count_failure(done.error_code or errors.Error.code)
            return
        known = before.vector_count if lane is Lane.EMBEDDING else 0
        counts = {"chunks_embedded": done.vector_count - known}
        if done.status is DocumentStatus.READY:
            counts |= {"documents_read": 1, "pages_read": done.page_count}
        if counts := {name: count for name, count in counts.items() if count > 0}:
            figures.count(counts)

    def _jobs(self, user_id: str) -> Jobs:
        workspace = Workspace(self._resources, user_id, WORKER)
        return Jobs(workspace, Documents(workspace), Questions(workspace))


@contextlib.contextmanager
def _traced(workspace: Workspace, document: Document, lane: Lane) -> Iterator[None]:
    """The step of a lane as a part of the trace that began with the upload."""
    if not tracing.is_on():
        yield
        return
    with (
        tracing.continue_trace(workspace.store.reading_queue.trace(document.id)),
        tracing.span(lane.value, document=document.id),
    ):
        yield


def _trace_end(done: Document) -> None:
    """A mark in the trace where a document has come to its end: `ready` or `failed`."""
    if done.status not in UNFINISHED:
        with tracing.span(done.status.value, document=done.id, pages=done.page_count, chunks=done.chunk_count) as step:
            step.add(error=done.error_code)
