"""Routes for long work, which a worker does."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Body, Response

from rag import types
from rag.api.authentication import Reader, Writer
from rag.api.responses import Limit, Offset, Page, page

router = APIRouter(tags=["jobs"])

EVERYTHING = types.ReindexRequest()


@router.post("/reindex", status_code=202)
def reindex(
    response: Response, sender: Writer, body: Annotated[types.ReindexRequest, Body()] = EVERYTHING
) -> types.Job:
    """Read all documents of an index again, after syncing the folders that it follows.

    Or sync it with a folder of the server, which only admins may, below the folders that the installation allows.
    """
    if body.source is not None:
        sender.require_admin()  # the server can read folders that the sender cannot
    return _with_location(response, sender.engine.jobs.start_reindex(body, confined=True))


@router.get("/jobs")
def list_jobs(
    sender: Reader, kind: types.JobKind | None = None, limit: Limit = 50, offset: Offset = 0
) -> Page[types.Job]:
    """List jobs without their results, the latest first."""
    return page(sender.engine.store.jobs.list(kind=kind, limit=limit + 1, offset=offset), limit, offset)


@router.get("/jobs/{job_id}")
def get_job(sender: Reader, job_id: uuid.UUID) -> types.Job:
    """Get a job's progress and result."""
    return sender.engine.store.jobs.get(job_id)


@router.post("/jobs/{job_id}/cancel")
def cancel_job(sender: Writer, job_id: uuid.UUID) -> types.Job:
    """Cancel a job after its current file, document or cell; one that has ended stays unchanged."""
    return sender.engine.store.jobs.cancel(job_id)


def _with_location(response: Response, job: types.Job) -> types.Job:
    response.headers["location"] = f"jobs/{job.id}"
    return job
