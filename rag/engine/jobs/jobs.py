"""Long work in the background: started by a door, done by a worker, followed by whoever asks."""

import builtins
import functools
import itertools
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pydantic

from rag import errors, evaluation
from rag.contract import SyncBody
from rag.engine.evaluation.evaluator import evaluate
from rag.engine.ingestion.document_reader import PASSING, PASSING_CODES, machine_errors
from rag.engine.ingestion.folders import CONFINED, Folders
from rag.engine.ingestion.sync import OnFile
from rag.engine.library.documents import Documents
from rag.engine.library.pages import Pages
from rag.engine.matrix import fill_scheduling
from rag.engine.matrix.cell_filling import fill
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.store import MAX_ATTEMPTS, AllowedFolders, JobCheckpoints, Started
from rag.types import (
    DEFAULT_INDEX,
    Document,
    DocumentStatus,
    FileReport,
    IndexRequest,
    IndexTarget,
    Job,
    JobKind,
    OnProgress,
    ReindexRequest,
    SyncReport,
)

logger = logging.getLogger(__name__)

GIVEN_UP = (
    "The worker that did it ended every time before it got on, most likely for want of memory. Start it again when the "
    "machine has more, or with fewer questions."
)


Row = TypeVar("Row", bound=pydantic.BaseModel)


class Checkpoints:
    """The steps of a running job, each done once however often the job is begun."""

    def __init__(self, kept: JobCheckpoints, job_id: uuid.UUID, between: Callable[[], None]) -> None:
        """`between` is called before each step that is to be done; what it raises ends the job here."""
        self._kept = kept
        self._job_id = job_id
        self._between = between
        self._outcomes = kept.of(job_id)

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """What came of a step, which is JSON. Raises CancelledError if the job was cancelled."""
        if step not in self._outcomes:
            self.pause()
        return self.gathered(step, work)

    def gathered(self, step: str, work: Callable[[], Any]) -> Any:
        """As `once`, of a step that others make up: before each of these, and not before it, others may go first."""
        if step not in self._outcomes:
            self._outcomes[step] = work()
            self._kept.save(self._job_id, step, self._outcomes[step])
        return self._outcomes[step]

    def pause(self) -> None:
        """Between two steps; others may go first."""
        self._between()

    def rows(self, number: int, row: type[Row], make: Callable[[], list[Row]]) -> list[Row]:
        """See `evaluation.Checkpoint`."""
        outcome = self.once(str(number), lambda: [made.model_dump(mode="json") for made in make()])
        return [row.model_validate(one) for one in outcome]


class Jobs:
    """One user's jobs."""

    def __init__(self, workspace: Workspace, documents: Documents, questions: Questions) -> None:
        self._workspace = workspace
        self._documents = documents
        self._questions = questions

    def start_reindex(
        self, request: ReindexRequest | Mapping[str, Any] | None = None, *, confined: bool = False
    ) -> Job:
        """Have every document of an index read anew, or the index follow a folder; searches go on meanwhile.

        Before it reads anew, the index catches up with the folders that it follows already. `confined` lets it follow
        only what is below the roots of the settings, now and whenever it is read again.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.ForbiddenError: the folder is not below a root.
            errors.NotFoundError: there is no such index, and no folder to fill it from.
        """
        asked = parse(ReindexRequest, request or {})
        if asked.source is None:
            self._workspace.asked_index(asked.index_name)
            return self._start("reindex", asked.index_name, asked.model_dump(mode="json"))
        kept = asked.model_dump(mode="json")
        if confined:
            AllowedFolders(self._workspace.config.folder_roots).require(asked.source.folder_id)
            kept[CONFINED] = True
        return self._start("sync", asked.index_name, kept)

    def start_evaluation(self, request: evaluation.EvaluationRequest | Mapping[str, Any]) -> Job:
        """Have an index searched, or asked for answers, for questions whose answers are known.

        Raises:
            errors.ValidationError: the request is malformed, or has no question that can be scored.
            errors.NotFoundError: there is no such index.
        """
        asked = parse(evaluation.EvaluationRequest, request)
        self._workspace.asked_index(asked.index_name)
        if not asked.can_be_scored:
            raise errors.ValidationError(
                "None of the questions can be scored: give at least one answerable question with its goldPages.",
                details={"field": "questions"},
            )
        return self._start("evaluation", asked.index_name, asked.model_dump(mode="json"))

    def _start(self, kind: JobKind, index_name: str, request: dict[str, Any]) -> Job:
        if index_name == DEFAULT_INDEX:  # a worker knows nothing of the collection that is meant by it here
            index_name = self._workspace.asked_index(index_name).name
            request = {**request, "index_name": index_name} if "index_name" in request else request
        job = self._workspace.store.jobs.create(kind, index_name, request)
        self._workspace.queue.enqueue_job(self._workspace.user_id, job.id)
        return job

    def documents_to_reindex(self, index_name: str = DEFAULT_INDEX) -> builtins.list[Document]:
        """All documents of an index but those that still wait for their password."""
        found = self._documents.list(index_name)
        return [document for document in found if document.status is not DocumentStatus.NEEDS_PASSWORD]

    def refresh_folders(
        self, index_name: str = DEFAULT_INDEX, on_file: OnFile | None = None
    ) -> tuple[builtins.list[SyncReport], builtins.list[errors.Error]]:
        """Make an index catch up with every folder that it follows. See `Folders.refresh`."""
        return Folders(self._workspace).refresh(self._workspace.asked_index(index_name), on_file)

    def list(self, *, kind: JobKind | None = None, limit: int | None = None, offset: int = 0) -> builtins.list[Job]:
        """This user's jobs without their results, the latest first."""
        return self._workspace.store.jobs.list(kind=kind, limit=limit, offset=offset)

    def get(self, job_id: uuid.UUID) -> Job:
        """One job with its result. Raises NotFoundError."""
        return self._workspace.store.jobs.get(job_id)

    def cancel(self, job_id: uuid.UUID) -> Job:
        """End a job, or its waiting: after the question, file or document that it is at. What it has done stays.

        One that has ended stays as it is. Raises NotFoundError.
        """
        return self._workspace.store.jobs.cancel(job_id)

    def run(self, job_id: uuid.UUID) -> Job:
        """Do a job here and now, from where it stood; its failure is recorded on it.

        Does nothing when it has ended, or another process is at it.
        """
        with self._workspace.store.jobs.lock(job_id) as claimed:
            return self.go_on(job_id) if claimed else self.get(job_id)

    def go_on(self, job_id: uuid.UUID, between: Callable[[], None] = lambda: None) -> Job:
        """As `run`, of a job that this process alone is at. `between` is called between two steps.

        What `between` raises ends the work here; the job is to be gone on with.
        """
        jobs = self._workspace.store.jobs
        started = jobs.start(job_id)
        if started is None:
            return jobs.get(job_id)
        try:
            with machine_errors():
                self._try(jobs.get(job_id), started, Checkpoints(self._workspace.store.checkpoints, job_id, between))
        except errors.CancelledError:
            logger.info("job %s was cancelled", job_id)
        except errors.Error as error:
            logger.warning("job %s failed: %s", job_id, error.code)
            self._record_failure(job_id, error)
        return jobs.get(job_id)

    def _try(self, job: Job, started: Started, steps: Checkpoints) -> None:
        if started.attempts > MAX_ATTEMPTS:
            raise errors.ReadingInterruptedError(GIVEN_UP)
        self._workspace.store.jobs.finish(job.id, self._do(job, started.request, steps))
        if job.kind == "matrix":  # it may have been edited, or a document become ready, after that was looked at
            fill_scheduling.ask_what_is_open(self._workspace, uuid.UUID(started.request["matrix_id"]))

    def _record_failure(self, job_id: uuid.UUID, error: errors.Error) -> None:
        """What it is not at fault for is tried again later, but not for ever."""
        jobs = self._workspace.store.jobs
        is_passing = isinstance(error, PASSING) or error.details.get("in_use")
        if not is_passing or not jobs.postpone(job_id, error.code, error.message):
            jobs.fail(job_id, error.code, error.message)

    def _do(self, job: Job, request: Mapping[str, Any], steps: Checkpoints) -> dict[str, Any]:
        """The job's result."""

        def report(_stage: str, done: int, total: int) -> None:
            self._workspace.store.jobs.update_progress(job.id, done, total)

        match job.kind:
            case "reindex":
                return self._reindex(job, report, steps)
            case "sync":
                confined = bool(request.get(CONFINED))
                wanted = {name: value for name, value in request.items() if name != CONFINED}
                return self._follow(parse(ReindexRequest, wanted), report, steps, confined=confined)
            case "matrix":
                matrix_id = uuid.UUID(request["matrix_id"])
                return fill(self._workspace, self._questions, matrix_id, report, steps.pause)
            case "evaluation":
                asked = parse(evaluation.EvaluationRequest, request)
                documents = self._documents.list(asked.index_name)
                return evaluate(asked, documents, self._questions, Pages(self._workspace), report, remember=steps.rows)

    def _reindex(self, job: Job, report: OnProgress, steps: Checkpoints) -> dict[str, Any]:
        """Catch up with the folders, and read anew all documents that were there before."""
        began = job.started_at or job.created_at
        documents = [found for found in self.documents_to_reindex(job.index_name) if found.created_at <= began]
        folders = steps.gathered("folders", lambda: self._refreshed(job.index_name, report, steps))
        states = {"ready": 0, "failed": 0, "gone": 0}
        for done, document in enumerate(documents):
            report("documents", done, len(documents))
            states[steps.once(str(document.id), functools.partial(self._read_again, document.id))] += 1
        report("documents", len(documents), len(documents))
        del states["gone"]
        return {"documents": len(documents), **states, **folders}

    def _refreshed(self, index_name: str, report: OnProgress, steps: Checkpoints) -> dict[str, Any]:
        index = self._workspace.asked_index(index_name)
        followed, unreadable = Folders(self._workspace, once=steps.once).refresh(index, _counted(report))
        folders = [SyncBody.of(synced).model_dump(mode="json", by_alias=True) for synced in followed]
        return {"folders": folders, "unreadableFolders": len(unreadable)}

    def _read_again(self, document_id: uuid.UUID) -> str:
        """What became of a document; one that failed for what it is not at fault for is tried again by a worker."""
        try:
            read = self._documents.process(document_id, again=True)
            if read.status is DocumentStatus.READY:
                return "ready"
            if read.error_code in PASSING_CODES:
                self._documents.retry(document_id)
        except errors.NotFoundError:  # in the trash, or gone, since the job began
            return "gone"
        return "failed"

    def _follow(
        self, request: ReindexRequest, report: OnProgress, steps: Checkpoints, *, confined: bool
    ) -> dict[str, Any]:
        """Make the index follow the folder that the request names."""
        if request.source is None:
            raise errors.ValidationError("The job names no folder. Start it again with a source.")
        target = IndexTarget(index_name=request.index_name)
        wanted = IndexRequest(source=request.source, index=target)
        folders = Folders(self._workspace, confined=confined, once=steps.once)
        synced = folders.take_in(wanted, remove=True, on_file=_counted(report))
        return SyncBody.of(synced).model_dump(mode="json", by_alias=True)


def _counted(report: OnProgress) -> OnFile:
    """Tells how many files are done, of nobody knows how many."""
    numbers = itertools.count(1)

    def count(_: FileReport) -> None:
        report("files", next(numbers), 0)

    return count
