"""Long work in the background: started by a door, done by a worker, followed by whoever asks."""

import builtins
import itertools
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from rag import errors, evaluation
from rag.contract import SyncBody
from rag.engine.documents import Documents
from rag.engine.evaluating import evaluate
from rag.engine.folders import CONFINED, Folders
from rag.engine.pages import Pages
from rag.engine.questions import Questions
from rag.engine.requests import parse
from rag.engine.sync import OnFile
from rag.engine.workspace import Workspace
from rag.store import Roots
from rag.types import (
    DEFAULT_INDEX,
    Document,
    DocumentStatus,
    IndexRequest,
    IndexTarget,
    Job,
    JobKind,
    OnProgress,
    ReindexRequest,
    SyncReport,
)

logger = logging.getLogger(__name__)


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
            Roots(self._workspace.config.folder_roots).require(asked.source.folder_id)
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

    def run(self, job_id: uuid.UUID) -> Job:
        """Do a job here and now, from its beginning; its failure is recorded on it.

        Does nothing when it has ended, or another process is at it.
        """
        jobs = self._workspace.store.jobs
        with jobs.claim(job_id) as claimed:
            request = jobs.start(job_id) if claimed else None
            if request is None:
                return jobs.get(job_id)
            try:
                jobs.finish(job_id, self._do(jobs.get(job_id), request))
            except errors.Error as error:
                logger.warning("job %s failed: %s", job_id, error.code)
                jobs.fail(job_id, error.code, error.message)
        return jobs.get(job_id)

    def _do(self, job: Job, request: Mapping[str, Any]) -> dict[str, Any]:
        """The job's result."""

        def report(_stage: str, done: int, total: int) -> None:
            self._workspace.store.jobs.update_progress(job.id, done, total)

        match job.kind:
            case "reindex":
                return self._reindex(job.index_name, report)
            case "sync":
                confined = bool(request.get(CONFINED))
                asked = {name: value for name, value in request.items() if name != CONFINED}
                return self._follow(parse(ReindexRequest, asked), report, confined=confined)
            case "evaluation":
                questions = parse(evaluation.EvaluationRequest, request)
                documents = self._documents.list(questions.index_name)
                return evaluate(questions, documents, self._questions, Pages(self._workspace), report)

    def _reindex(self, index_name: str, report: OnProgress) -> dict[str, Any]:
        """Catch up with the folders, and read anew all documents that were there before."""
        documents = self.documents_to_reindex(index_name)
        followed, unreadable = self.refresh_folders(index_name, _counted(report))
        states = {"ready": 0, "failed": 0}
        for done, document in enumerate(documents):
            report("documents", done, len(documents))
            try:
                read = self._documents.process(document.id, again=True)
            except errors.NotFoundError:
                continue  # in the trash, or gone, since the job began
            states["ready" if read.status is DocumentStatus.READY else "failed"] += 1
        report("documents", len(documents), len(documents))
        folders = [SyncBody.of(synced).model_dump(mode="json", by_alias=True) for synced in followed]
        return {"documents": len(documents), **states, "folders": folders, "unreadableFolders": len(unreadable)}

    def _follow(self, request: ReindexRequest, report: OnProgress, *, confined: bool) -> dict[str, Any]:
        """Make the index follow the folder that the request names."""
        if request.source is None:
            raise errors.ValidationError("The job names no folder. Start it again with a source.")
        target = IndexTarget(index_name=request.index_name)
        wanted = IndexRequest(source=request.source, index=target)
        folders = Folders(self._workspace, confined=confined)
        synced = folders.take_in(wanted, remove=True, on_file=_counted(report))
        return SyncBody.of(synced).model_dump(mode="json", by_alias=True)


def _counted(report: OnProgress) -> OnFile:
    """Tells how many files are done, of nobody knows how many."""
    numbers = itertools.count(1)
    return lambda _: report("files", next(numbers), 0)
