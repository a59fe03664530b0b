"""Background jobs: started by users, run by a worker."""

import builtins
import functools
import itertools
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from rag import errors, types
from rag.contract import SyncBody
from rag.engine.ingestion.document_reader import TRANSIENT_CODES, TRANSIENT_ERRORS, system_errors
from rag.engine.ingestion.folders import CONFINED, Folders, OnFile
from rag.engine.library.documents import Documents
from rag.engine.matrix import matrices
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
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
                    matrices.refill_open_cells(self._workspace, uuid.UUID(started.request["matrix_id"]))
        except errors.CancelledError:
            logger.info("job %s was cancelled", job_id)
        except errors.Error as error:
            logger.warning("job %s failed: %s", job_id, error.code)
            # transient failures are retried later, a limited number of times
            is_transient = isinstance(error, TRANSIENT_ERRORS) or error.details.get("in_use")
            if not is_transient or not jobs.postpone(job_id, error.code, error.message):
                jobs.fail(job_id, error.code, error.message)
        return jobs.get(job_id)

    def _run_kind(self, job: types.Job, request: Mapping[str, Any], steps: Checkpoints) -> dict[str, Any]:
        """Return the job's result."""

        def report(_stage: str, done: int, total: int) -> None:
            self._workspace.store.jobs.update_progress(job.id, done, total)

        match job.kind:
            case "reindex":
                return self._reindex(job, report, steps)
            case "sync":
                return self._sync_folder(request, report, steps)
            case "matrix":
                matrix_id = uuid.UUID(request["matrix_id"])
                return matrices.Matrices(self._workspace, self._questions).fill_cells(matrix_id, report, steps.pause)

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


def _file_counter(report: types.OnProgress) -> OnFile:
    """Return a callback that counts files, of an unknown total."""
    numbers = itertools.count(1)

    def count(_: types.FileReport) -> None:
        report("files", next(numbers), 0)

    return count
