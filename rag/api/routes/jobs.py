"""Long work: started here, done by a worker, followed here."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Body, Response

from rag.api.authentication import Reader, Writer
from rag.api.pagination import Limit, Offset, Page, page
from rag.evaluation import EvaluationRequest
from rag.types import Job, JobKind, ReindexRequest

router = APIRouter(tags=["jobs"])

EVERYTHING = ReindexRequest()


@router.post("/reindex", status_code=202)
def reindex(response: Response, sender: Writer, body: Annotated[ReindexRequest, Body()] = EVERYTHING) -> Job:
    """Read every document of an index anew, and what is new in the folders that it follows.

    Or make it follow a folder of the server, which only an admin may, below the roots that the installation names.
    """
    if body.source is not None:
        sender.require_admin()  # a folder's path or URL makes the server read what its sender could not
    return _located(response, sender.engine.jobs.start_reindex(body, confined=True))


@router.post("/evaluations", status_code=202)
def start_evaluation(response: Response, sender: Writer, body: EvaluationRequest) -> Job:
    """Search an index, or ask it for answers, for questions whose answers' pages are known; the job's result scores it.

    Of a search recall, MRR and coverage; of answers what is said, cited on the right page and refused.
    """
    return _located(response, sender.engine.jobs.start_evaluation(body))


@router.get("/evaluations")
def list_evaluations(sender: Reader, limit: Limit = 50, offset: Offset = 0) -> Page[Job]:
    """Evaluations without their results, the latest first."""
    return page(sender.engine.jobs.list(kind="evaluation", limit=limit + 1, offset=offset), limit, offset)


@router.get("/jobs")
def list_jobs(sender: Reader, kind: JobKind | None = None, limit: Limit = 50, offset: Offset = 0) -> Page[Job]:
    """Jobs without their results, the latest first."""
    return page(sender.engine.jobs.list(kind=kind, limit=limit + 1, offset=offset), limit, offset)


@router.get("/jobs/{job_id}")
def get_job(sender: Reader, job_id: uuid.UUID) -> Job:
    """How far a job is, and its result."""
    return sender.engine.jobs.get(job_id)


@router.post("/jobs/{job_id}/cancel")
def cancel_job(sender: Writer, job_id: uuid.UUID) -> Job:
    """End a job after the question, file or document that it is at; one that has ended stays as it is."""
    return sender.engine.jobs.cancel(job_id)


def _located(response: Response, job: Job) -> Job:
    response.headers["location"] = f"jobs/{job.id}"
    return job
