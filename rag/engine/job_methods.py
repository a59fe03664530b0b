"""Long work in the background: started by a door, done by a worker, followed by whoever asks."""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from rag import errors, evaluation
from rag.engine.evaluating import evaluate
from rag.engine.index_methods import IndexMethods
from rag.engine.requests import parse
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
)

logger = logging.getLogger(__name__)


class JobMethods(IndexMethods):
    """What can be started and followed."""

    def start_reindex(self, request: ReindexRequest | Mapping[str, Any] | None = None) -> Job:
        """Have every document of an index read anew, or the index follow a folder; searches go on meanwhile.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index, and no folder to fill it from.
        """
        asked = parse(ReindexRequest, request or {})
        if asked.source is None:
            self._asked(asked.index_name)
        return self._start("sync" if asked.source else "reindex", asked.index_name, asked.model_dump(mode="json"))

    def start_evaluation(self, request: evaluation.EvaluationRequest | Mapping[str, Any]) -> Job:
        """Have an index searched for questions whose pages are known.

        Raises:
            errors.ValidationError: the request is malformed, or has no question that can be scored.
            errors.NotFoundError: there is no such index.
        """
        asked = parse(evaluation.EvaluationRequest, request)
        self._asked(asked.index_name)
        if not any(question.is_scored for question in asked.questions):
            raise errors.ValidationError(
                "None of the questions can be scored: give at least one answerable question with its goldPages.",
                details={"field": "questions"},
            )
        return self._start("evaluation", asked.index_name, asked.model_dump(mode="json"))

    def _start(self, kind: JobKind, index_name: str, request: dict[str, Any]) -> Job:
        job = self._resources.store.jobs.create(self.user_id, kind, index_name, request)
        self._resources.store.queue.enqueue_job(self.user_id, job.id)
        return job

    def documents_to_reindex(self, index_name: str = DEFAULT_INDEX) -> list[Document]:
        """All documents of an index but those that still wait for their password."""
        return [
            document for document in self.documents(index_name) if document.status is not DocumentStatus.NEEDS_PASSWORD
        ]

    def reindex_document(self, document_id: uuid.UUID, on_progress: OnProgress | None = None) -> Document:
        """Read a document anew, here and now; until it is done, and if that fails, it is found as it was.

        Raises:
            errors.NotFoundError: it is in the trash, or gone.
        """
        self._library.retry(document_id)
        return self._library.process(document_id, on_progress)

    def jobs(self, *, kind: JobKind | None = None, limit: int | None = None, offset: int = 0) -> list[Job]:
        """This user's jobs without their results, the latest first."""
        return self._resources.store.jobs.list(self.user_id, kind=kind, limit=limit, offset=offset)

    def job(self, job_id: uuid.UUID) -> Job:
        """One job with its result. Raises NotFoundError."""
        return self._resources.store.jobs.get(self.user_id, job_id)

    def run_job(self, job_id: uuid.UUID) -> Job:
        """Do a job here and now, from its beginning; its failure is recorded on it.

        Does nothing when it has ended, or another process is at it.
        """
        jobs = self._resources.store.jobs
        with jobs.claim(self.user_id, job_id) as claimed:
            request = jobs.start(self.user_id, job_id) if claimed else None
            if request is None:
                return jobs.get(self.user_id, job_id)
            try:
                jobs.finish(self.user_id, job_id, self._do(jobs.get(self.user_id, job_id), request))
            except errors.Error as error:
                logger.warning("job %s failed: %s", job_id, error.code)
                jobs.fail(self.user_id, job_id, error.code, error.message)
        return jobs.get(self.user_id, job_id)

    def _do(self, job: Job, request: Mapping[str, Any]) -> dict[str, Any]:
        """The job's result."""

        def report(_stage: str, done: int, total: int) -> None:
            self._resources.store.jobs.update_progress(self.user_id, job.id, done, total)

        match job.kind:
            case "reindex":
                return self._reindex(job.index_name, report)
            case "sync":
                return self._follow(parse(ReindexRequest, request), report)
            case "evaluation":
                asked = parse(evaluation.EvaluationRequest, request)
                return evaluate(asked, self.documents(asked.index_name), self.search, report)

    def _reindex(self, index_name: str, report: OnProgress) -> dict[str, Any]:
        """Read all documents anew."""
        documents = self.documents_to_reindex(index_name)
        states = {"ready": 0, "failed": 0}
        for done, document in enumerate(documents):
            report("documents", done, len(documents))
            try:
                read = self.reindex_document(document.id)
            except errors.NotFoundError:
                continue  # in the trash, or gone, since the job began
            states["ready" if read.status is DocumentStatus.READY else "failed"] += 1
        report("documents", len(documents), len(documents))
        return {"documents": len(documents), **states}

    def _follow(self, request: ReindexRequest, report: OnProgress) -> dict[str, Any]:
        """Make the index follow the folder that the request names."""
        if request.source is None:
            raise errors.ValidationError("The job names no folder. Start it again with a source.")
        done = 0

        def count(_: object) -> None:
            nonlocal done
            done += 1
            report("files", done, 0)

        target = IndexTarget(index_name=request.index_name)
        synced = self.sync_index(IndexRequest(source=request.source, index=target), on_file=count)
        return synced.model_dump(mode="json", by_alias=True)
