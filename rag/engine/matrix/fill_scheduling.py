"""Start the jobs that fill matrices."""

import logging
import uuid

from rag import errors, types
from rag.engine.workspace import Workspace

logger = logging.getLogger(__name__)


def job_of(workspace: Workspace, matrix: types.Matrix) -> types.Job | None:
    """Return the current or last job that fills the matrix, or None."""
    try:
        return workspace.store.jobs.get(matrix.job_id) if matrix.job_id else None
    except errors.NotFoundError:
        return None


def start(workspace: Workspace, matrix: types.Matrix) -> types.Job:
    """Start filling a matrix, or return the job that does so; a follow-up job handles what is added meanwhile.

    Raises NotFoundError if the matrix is gone.
    """
    present = job_of(workspace, matrix)
    if present is not None and present.finished_at is None:
        return present
    index_name = workspace.requested_index(types.DEFAULT_INDEX).name
    cells = len(matrix.questions) * len(matrix.lineage_ids)  # the weight of the job among the user's jobs
    job = workspace.store.jobs.create("matrix", index_name, {"matrix_id": str(matrix.id), "cells": cells})
    workspace.store.matrices.set_job(matrix.id, job.id)
    workspace.queue.enqueue_job(workspace.user_id, job.id)
    return job


def refill_open_cells(workspace: Workspace, matrix_id: uuid.UUID) -> None:
    """Start another job for cells that were added while the last one ran."""
    for matrix in workspace.store.matrices.open(matrix_id=matrix_id):
        start(workspace, matrix)


def refill_for_document(workspace: Workspace, document: types.Document) -> None:
    """Refill the matrices of a ready document whose content they have not asked yet."""
    for matrix in workspace.store.matrices.open(lineage_id=document.lineage_id or document.id):
        logger.info("matrix %s is filled for document %s", matrix.id, document.id)
        start(workspace, matrix)
