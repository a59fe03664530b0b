"""Routes for matrices: several documents asked the same questions by a worker."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rag import types, vocabulary
from rag.api.authentication import Reader, Writer
from rag.api.responses import attachment
from rag.contract import MatrixBody

router = APIRouter(tags=["matrices"])

FILES: dict[str, dict[str, str]] = {mime_type: {} for mime_type in types.MATRIX_FILES.values()}


@router.get("/matrix-templates")
def list_matrix_templates(_: Reader) -> tuple[types.MatrixTemplate, ...]:
    """List the templates: common questions for kinds of documents."""
    return vocabulary.question_sets()


@router.get("/matrices")
def list_matrices(sender: Reader) -> tuple[types.Matrix, ...]:
    """List the caller's matrices without their answers, the latest first."""
    return tuple(sender.engine.store.matrices.list())


@router.post("/matrices", status_code=201)
def create_matrix(sender: Writer, body: types.MatrixRequest) -> types.Matrix:
    """Ask one's own documents the same questions; a worker asks, and asks again when a document changes."""
    return sender.engine.matrices.create(body)


@router.get("/matrices/{matrix_id}")
def get_matrix(sender: Reader, matrix_id: uuid.UUID) -> MatrixBody:
    """Get a matrix with its cells: answer, verdict, quote and place, whether it is stale, and what it contradicts."""
    return MatrixBody.of(sender.engine.matrices.get(matrix_id))


@router.patch("/matrices/{matrix_id}")
def edit_matrix(sender: Writer, matrix_id: uuid.UUID, body: types.MatrixEdit) -> types.Matrix:
    """Change the name, documents or questions; only new cells are asked, the other answers are kept."""
    return sender.engine.matrices.edit(matrix_id, body)


@router.post("/matrices/{matrix_id}/fill", status_code=202)
def fill_matrix(sender: Writer, matrix_id: uuid.UUID) -> types.Job:
    """Ask for the cells that are empty, failed or stale; returns the running job if there is one."""
    return sender.engine.matrices.fill(matrix_id)


@router.post("/matrices/{matrix_id}/cancel")
def cancel_matrix(sender: Writer, matrix_id: uuid.UUID) -> types.Job | None:
    """Stop after the current question; the answers so far are kept. Null if no job was running."""
    return sender.engine.matrices.cancel(matrix_id)


@router.delete("/matrices/{matrix_id}", status_code=204)
def delete_matrix(sender: Writer, matrix_id: uuid.UUID) -> None:
    """Delete a matrix with its answers."""
    sender.engine.matrices.delete(matrix_id)


@router.get("/matrices/{matrix_id}/export", response_class=Response, responses={200: {"content": FILES}})
def export_matrix(
    sender: Reader,
    matrix_id: uuid.UUID,
    format_name: Annotated[types.MatrixFormat, Query(alias="format", description="Of the file.")] = "xlsx",
) -> Response:
    """Export the answers as a table without formulas; XLSX has a second sheet for the evidence."""
    matrix = sender.engine.matrices.get(matrix_id).matrix
    content = sender.engine.matrices.export(matrix_id, format_name)
    return attachment(f"{matrix.name}.{format_name}", types.MATRIX_FILES[format_name], content)
