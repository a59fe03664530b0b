"""Background jobs: started by users, run by a worker."""

import builtins
import contextlib
import functools
import itertools
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from rag import errors, tracing, types
from rag.contract import SyncBody
from rag.engine import matrix_filling
from rag.engine.ingestion.document_reader import TRANSIENT_CODES, TRANSIENT_ERRORS, DocumentReader, system_errors
from rag.engine.ingestion.folders import CONFINED, Folders, OnFile
from rag.engine.library.documents import Documents
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Resources, Workspace
from rag.messages import N_
from rag.store.files.source_folders import AllowedFolders
from rag.store.jobs import jobs as store_jobs
from rag.store.jobs.scheduling import MAX_ATTEMPTS

logger = logging.getLogger(__name__)

TOO_MANY_ATTEMPTS = N_(
    "The worker that did it ended every time before it got on, most likely for want of memory. Start it again when the "
    "machine has more, or with fewer questions."
)


class Checkpoints:
    """The steps of a running job; each is done once, however often the job is restarted."""

    def __init__(self, jobs: store_jobs.Jobs, job_id: uuid.UUID, between: Callable[[], None]) -> None:
        """`between` is called before each new step; an exception that it raises interrupts the job."""
        self._jobs = jobs
        self._job_id = job_id
        self.pause = between
        self._outcomes = jobs.steps(job_id)

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """Return the JSON result of a step, running it if it was not done before. Raises CancelledError."""
        if step not in self._outcomes:
            self.pause()
        return self.once_for_group(step, work)

    def once_for_group(self, step: str, work: Callable[[], Any]) -> Any:
        """Do the same for a group of steps: the job can be interrupted before each of these, not before the group."""
        if step not in self._outcomes:
            self._outcomes[step] = work()
            self._jobs.save_step(self._job_id, step, self._outcomes[step])
        return self._outcomes[step]


class Jobs:
    """One user's background jobs."""

    def __init__(self, workspace: Workspace, documents: Documents, questions: Questions) -> None:
        self._workspace = workspace
        self._documents = documents
        self._questions = questions

    def start_reindex(
        self, request: types.ReindexRequest | Mapping[str, Any] | None = None, *, confined: bool = False
    ) -> types.Job:
        """Start re-reading all documents of an index, or syncing it with a folder. It stays searchable meanwhile.

        Re-reading first syncs the folders that the index follows. `confined` restricts folders to the roots of the
        settings, now and on every later sync.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.ForbiddenError: the folder is not below a root.
            errors.NotFoundError: there is no such index, and no folder to fill it from.
        """
        parsed = parse(types.ReindexRequest, request or {})
        if parsed.source is None:
            self._workspace.requested_index(parsed.index_name)
            return self._start("reindex", parsed.index_name, parsed.model_dump(mode="json"))
        saved = parsed.model_dump(mode="json")
        if confined:
            AllowedFolders(self._workspace.config.folder_roots).require(parsed.source.folder_id)
            saved[CONFINED] = True
        return self._start("sync", parsed.index_name, saved)

    def _start(self, kind: types.JobKind, index_name: str, request: dict[str, Any]) -> types.Job:
        if index_name == types.DEFAULT_INDEX:  # a worker does not know which collection this name means here
            index_name = self._workspace.requested_index(index_name).name
            request = {**request, "index_name": index_name} if "index_name" in request else request
        return self._workspace.create_job(kind, index_name, request)

    def documents_to_reindex(self, index_name: str = types.DEFAULT_INDEX) -> builtins.list[types.Document]:
        """Return all documents of an index except those that wait for a password."""
        documents = self._documents.list(index_name)
        return [document for document in documents if document.status is not types.DocumentStatus.NEEDS_PASSWORD]

    def refresh_folders(
        self, index_name: str = types.DEFAULT_INDEX, on_file: OnFile | None = None
    ) -> tuple[builtins.list[types.SyncReport], builtins.list[errors.Error]]:
        """Sync an index with every folder that it follows. See `Folders.refresh`."""
        return Folders(self._workspace).refresh(self._workspace.requested_index(index_name), on_file)

    def run(self, job_id: uuid.UUID) -> types.Job:
        """Run a job in this process from its last checkpoint; a failure is recorded on it.

        Does nothing if it has finished or runs elsewhere.
        """
        jobs = self._workspace.store.jobs
        with jobs.lock(job_id) as claimed:
            return self.run_locked(job_id) if claimed else jobs.get(job_id)

    def run_locked(self, job_id: uuid.UUID, between: Callable[[], None] = lambda: None) -> types.Job:
        """Run a job that this process has locked.

        `between` is called between steps; an exception that it raises interrupts the job.
        """
        jobs = self._workspace.store.jobs
        started = jobs.start(job_id)
        if started is None:
            return jobs.get(job_id)
        try:
            with system_errors():
                if started.attempts > MAX_ATTEMPTS:
                    raise errors.ReadingInterruptedError(TOO_MANY_ATTEMPTS)
                job = jobs.get(job_id)
                steps = Checkpoints(jobs, job_id, between)
                jobs.finish(job_id, self._run_kind(job, started.request, steps))
                if job.kind == "matrix":  # cells may have been added after the job read the matrix
                    matrix_filling.refill(self._workspace, matrix_id=uuid.UUID(started.request["matrix_id"]))
        except errors.CancelledError:
            logger.info("job %s was cancelled", job_id)
        except errors.Error as error:
            logger.warning("job %s failed: %s", job_id, error.code)
            # transient failures are retried later, a limited number of times
            is_transient = isinstance(error, TRANSIENT_ERRORS) or error.details.get("in_use") or _is_down(error)
            if not is_transient or not jobs.postpone(job_id, error.code, error.message):
                jobs.fail(job_id, error.code, error.message)
        return jobs.get(job_id)

    def _run_kind(self, job: types.Job, request: Mapping[str, Any], steps: Checkpoints) -> dict[str, Any]:
        def report(_stage: str, done: int, total: int) -> None:
            self._workspace.store.jobs.update_progress(job.id, done, total)

        match job.kind:
            case "reindex":
                return self._reindex(job, report, steps)
            case "sync":
                return self._sync_folder(request, report, steps)
            case "matrix":
                matrix_id = uuid.UUID(request["matrix_id"])
                return matrix_filling.fill_cells(
                    self._workspace, self._questions, job, matrix_id=matrix_id, report=report, pause=steps.pause
                )

    def _reindex(self, job: types.Job, report: types.OnProgress, steps: Checkpoints) -> dict[str, Any]:
        """Sync the folders, and re-read all documents that existed when the job began."""
        began = job.started_at or job.created_at
        documents = [document for document in self.documents_to_reindex(job.index_name) if document.created_at <= began]
        folders = steps.once_for_group("folders", lambda: self._sync_folders(job.index_name, report, steps))
        states = {"ready": 0, "failed": 0, "gone": 0}
        for done, document in enumerate(documents):
            report("documents", done, len(documents))
            states[steps.once(str(document.id), functools.partial(self._reread, document.id))] += 1
        report("documents", len(documents), len(documents))
        del states["gone"]
        return {"documents": len(documents), **states, **folders}

    def _sync_folders(self, index_name: str, report: types.OnProgress, steps: Checkpoints) -> dict[str, Any]:
        index = self._workspace.requested_index(index_name)
        followed, unreadable = Folders(self._workspace, once=steps.once).refresh(index, _file_counter(report))
        folders = [SyncBody.of(synced).model_dump(mode="json", by_alias=True) for synced in followed]
        return {"folders": folders, "unreadableFolders": len(unreadable)}

    def _reread(self, document_id: uuid.UUID) -> str:
        """Re-read a document and return its state; after a transient failure a worker retries it."""
        try:
            read = self._documents.process(document_id, again=True)
            if read.status is types.DocumentStatus.READY:
                return "ready"
            if read.error_code in TRANSIENT_CODES:
                self._documents.retry(document_id)
        except errors.NotFoundError:  # trashed or purged since the job began
            return "gone"
        return "failed"

    def _sync_folder(self, saved: Mapping[str, Any], report: types.OnProgress, steps: Checkpoints) -> dict[str, Any]:
        """Sync the index with the folder of the saved request."""
        request = parse(types.ReindexRequest, {name: value for name, value in saved.items() if name != CONFINED})
        if request.source is None:
            raise errors.ValidationError(N_("The job names no folder. Start it again with a source."))
        folders = Folders(self._workspace, confined=bool(saved.get(CONFINED)), once=steps.once)
        target = types.IndexTarget(index_name=request.index_name)
        wanted = types.IndexRequest(source=request.source, index=target)
        synced = folders.ingest_folder(wanted, remove=True, on_file=_file_counter(report))
        return SyncBody.of(synced).model_dump(mode="json", by_alias=True)


def _is_down(error: errors.Error) -> bool:
    """Whether a vendor is down or busy, and may answer later."""
    if not isinstance(error, errors.ProviderError) or "provider" not in error.details:
        return False
    status = error.details.get("status")
    return (
        not isinstance(status, int)
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )


def _file_counter(report: types.OnProgress) -> OnFile:
    """Return a callback that counts files, of an unknown total."""
    numbers = itertools.count(1)

    def count(_: types.FileReport) -> None:
        report("files", next(numbers), 0)

    return count


YIELD_SECONDS = 5.0
"""Longest wait of a job for documents, after each of its steps, which take about a second."""
POLL_SECONDS = 0.5
TIME_SLICE_SECONDS = 15.0
"""Time slice of a job while a job of another user, none of whose jobs is running, waits."""
ORPHAN_SECONDS = 6 * 3600.0
"""Interval between searches for orphans."""
WORKER_ORIGIN = types.RequestOrigin("worker")
"""Origin of audit log entries: a worker acts for the user."""


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
