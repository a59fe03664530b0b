"""`pagelight jobs`: long work that a worker does, started over the REST API."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.types import Job, JobKind

if TYPE_CHECKING:
    from rag.engine import RAGEngine

JobId = Annotated[
    str, typer.Argument(metavar="ID", help="The job's id, or the first 8 or more of its digits.", show_default=False)
]
Kind = Annotated[JobKind | None, typer.Option("--kind", help="Only jobs of this kind.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many to list.")]

COLUMNS = ["id", "kind", "index", "status", "progress", "started", "seconds"]


def jobs() -> None:
    """List and show long work: reindexing, following folders, evaluations.

    The REST API starts it, and a worker does it.

        pagelight jobs list
        pagelight jobs show 1f0c2a9b
        pagelight jobs cancel 1f0c2a9b
    """


def list_jobs(kind: Kind = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List jobs, the latest first.

    pagelight jobs list --kind evaluation --json
    """
    with open_engine() as engine:
        found = engine.jobs.list(kind=kind, limit=limit)
    if as_json:
        output.print_json(found)
    elif found:
        output.print_table(COLUMNS, map(_row, found), right=["seconds"])
    else:
        output.print_text("No jobs. The REST API starts them: pagelight serve")


def show(job_id: JobId, as_json: AsJson = False) -> None:
    """Show how far a job is, and what came of it.

    pagelight jobs show 1f0c2a9b
    """
    with open_engine() as engine:
        job = engine.jobs.get(_find(engine, job_id).id)
    if as_json:
        output.print_json(job)
        return
    output.print_table(COLUMNS, [_row(job)], right=["seconds"])
    if job.error:
        output.print_text(f"\n{job.error}", style="red")
    if job.retry_after:
        output.print_text(f"Goes on at {job.retry_after.astimezone():%Y-%m-%d %H:%M:%S}.")
    if job.result is not None:
        output.print_text()
        output.print_json(job.result)


def cancel(job_id: JobId, as_json: AsJson = False) -> None:
    """End a job after the question, file or document that it is at.

    pagelight jobs cancel 1f0c2a9b
    """
    with open_engine() as engine:
        found = _find(engine, job_id)
        job = engine.jobs.cancel(found.id)
    if as_json:
        output.print_json(job)
    elif found.finished_at:
        output.print_text(f"It had ended: {job.status}.")
    else:
        output.print_text(f"Cancelled: {job.kind} {name_lookup.short_id(job.id)}.")


def _find(engine: "RAGEngine", job_id: str) -> Job:
    """The job of this id, or of the only one that begins so."""
    digits = job_id.replace("-", "").lower()
    named = [job for job in engine.jobs.list() if len(digits) >= name_lookup.SHORT_ID and job.id.hex.startswith(digits)]
    if not named:
        raise errors.NotFoundError(f"There is no job {job_id}. List them: pagelight jobs list")
    if len(named) > 1:
        raise errors.ValidationError(f"Several jobs' ids begin with {job_id}. Give the whole id, as --json lists it.")
    return named[0]


def _row(job: Job) -> Sequence[object]:
    progress = job.progress
    return (
        name_lookup.short_id(job.id),
        job.kind,
        job.index_name,
        f"{job.status}: {job.error_code}" if job.error_code else job.status,
        f"{progress.done}/{progress.total}" if progress.total else progress.done or "",
        f"{job.started_at.astimezone():%Y-%m-%d %H:%M}" if job.started_at else "",
        _seconds(job.started_at, job.finished_at),
    )


def _seconds(started: dt.datetime | None, finished: dt.datetime | None) -> str:
    return f"{(finished - started).total_seconds():.1f}" if started and finished else ""
