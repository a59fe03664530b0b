"""`pagelight jobs`: list, show and cancel long work, which the REST API starts and a worker does."""

from typing import TYPE_CHECKING, Annotated

import typer

from rag import types
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

if TYPE_CHECKING:
    from rag.engine import RAGEngine

JobId = Annotated[
    str, typer.Argument(metavar="ID", help="The job's id, or the first 8 or more of its digits.", show_default=False)
]
Kind = Annotated[types.JobKind | None, typer.Option("--kind", help="Only jobs of this kind.", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many to list.")]

COLUMNS = ["id", "kind", "index", "status", "progress", "started", "seconds"]


def jobs() -> None:
    """List, show and cancel long work: re-indexing, folder syncs, matrices.

    The REST API starts it, and a worker does it.

        pagelight jobs list
        pagelight jobs show 1f0c2a9b
        pagelight jobs cancel 1f0c2a9b
    """


def list_jobs(kind: Kind = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List jobs, the latest first.

    pagelight jobs list --kind matrix --json
    """
    with open_engine() as engine:
        found = engine.jobs.list(kind=kind, limit=limit)
    empty = "No jobs. The REST API starts them: pagelight serve"
    output.print_list(found, COLUMNS, _row, as_json=as_json, right=["seconds"], empty=empty)


def show(job_id: JobId, as_json: AsJson = False) -> None:
    """Show a job's progress and its result.

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
        output.print_text(f"Continues at {job.retry_after.astimezone():%Y-%m-%d %H:%M:%S}.")
    if job.result is not None:
        output.print_text()
        output.print_json(job.result)


def cancel(job_id: JobId, as_json: AsJson = False) -> None:
    """Cancel a job; its current question, file or document is finished first.

    pagelight jobs cancel 1f0c2a9b
    """
    with open_engine() as engine:
        found = _find(engine, job_id)
        job = engine.jobs.cancel(found.id)
    ended = f"It had already ended: {job.status}."
    done = ended if found.finished_at else f"Cancelled: {job.kind} {name_lookup.short_id(job.id)}."
    output.print_result(job, done, as_json=as_json)


def _find(engine: "RAGEngine", job_id: str) -> types.Job:
    missing = f"There is no job {job_id}. List them: pagelight jobs list"
    return name_lookup.find_by_id(engine.jobs.list(), job_id, noun="job", missing=missing)


def _row(job: types.Job) -> tuple[object, ...]:
    progress = job.progress
    seconds = (job.finished_at - job.started_at).total_seconds() if job.started_at and job.finished_at else None
    return (
        name_lookup.short_id(job.id),
        job.kind,
        job.index_name,
        f"{job.status}: {job.error_code}" if job.error_code else job.status,
        f"{progress.done}/{progress.total}" if progress.total else progress.done or "",
        output.minute(job.started_at),
        "" if seconds is None else f"{seconds:.1f}",
    )
