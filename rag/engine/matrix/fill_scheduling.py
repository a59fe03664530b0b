"""Which matrices are to be filled, and by which job: asked for by the user, or for a document that has changed."""

import logging
import uuid

from rag import errors
from rag.engine.workspace import Workspace
from rag.types import DEFAULT_INDEX, Document, Job, Matrix

logger = logging.getLogger(__name__)


def job_of(workspace: Workspace, matrix: Matrix) -> Job | None:
    """The job that fills it now, or did so last; None where there was none, or it is forgotten."""
    try:
        return workspace.store.jobs.get(matrix.job_id) if matrix.job_id else None
    except errors.NotFoundError:
        return None


def start(workspace: Workspace, matrix: Matrix) -> Job:
    """Have a worker fill it; the job that does so already. When that is done, what came meanwhile is asked by another.

    Raises:
        errors.NotFoundError: the matrix is gone.
    """
    present = job_of(workspace, matrix)
    if present is not None and present.finished_at is None:
        return present
    index_name = workspace.asked_index(DEFAULT_INDEX).name
    cells = len(matrix.questions) * len(matrix.lineage_ids)  # by which it is weighed among the user's other jobs
    job = workspace.store.jobs.create("matrix", index_name, {"matrix_id": str(matrix.id), "cells": cells})
    workspace.store.matrices.set_job(matrix.id, job.id)
    workspace.queue.enqueue_job(workspace.user_id, job.id)
    return job


def ask_what_is_open(workspace: Workspace, matrix_id: uuid.UUID) -> None:
    """Start another job where something was not asked yet: it came while the last one was at work."""
    for matrix in workspace.store.matrices.open(matrix_id=matrix_id):
        start(workspace, matrix)


def ask_anew(workspace: Workspace, document: Document) -> None:
    """Have a document that is ready asked by the matrices that it is in, if its content was not asked before."""
    for matrix in workspace.store.matrices.open(lineage_id=document.lineage_id or document.id):
        logger.info("matrix %s is filled for document %s", matrix.id, document.id)
        start(workspace, matrix)
