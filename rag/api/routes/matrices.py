"""Matrices: questions put to documents, each to each, by a worker."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rag.api.authentication import Reader, Writer
from rag.api.downloads import attachment
from rag.contract import MatrixBody
from rag.types import MATRIX_FILES, Job, Matrix, MatrixEdit, MatrixFormat, MatrixRequest, MatrixTemplate

router = APIRouter(tags=["matrices"])

FILES: dict[str, dict[str, str]] = {mime_type: {} for mime_type in MATRIX_FILES.values()}


@router.get("/matrix-templates")
def list_matrix_templates(sender: Reader) -> tuple[MatrixTemplate, ...]:
    """Questions that documents of a kind are often asked."""
    return sender.engine.matrices.templates()


@router.get("/matrices")
def list_matrices(sender: Reader) -> tuple[Matrix, ...]:
    """The caller's matrices without their answers, the latest first."""
    return tuple(sender.engine.matrices.list())


@router.post("/matrices", status_code=201)
def create_matrix(sender: Writer, body: MatrixRequest) -> Matrix:
    """Put questions to documents of one's own, each to each; a worker asks them, and again when a document changes."""
    return sender.engine.matrices.create(body)


@router.get("/matrices/{matrix_id}")
def get_matrix(sender: Reader, matrix_id: uuid.UUID) -> MatrixBody:
    """A matrix with its cells: answer, verdict, quote and place, whether it is stale, and what it contradicts."""
    return MatrixBody.of(sender.engine.matrices.get(matrix_id))


@router.patch("/matrices/{matrix_id}")
def edit_matrix(sender: Writer, matrix_id: uuid.UUID, body: MatrixEdit) -> Matrix:
    """Give it another name, or other documents or questions: what is new is asked, what stays keeps its answers."""
    return sender.engine.matrices.edit(matrix_id, body)


@router.post("/matrices/{matrix_id}/fill", status_code=202)
def fill_matrix(sender: Writer, matrix_id: uuid.UUID) -> Job:
    """Ask what is empty, failed or stale; the job that does so already, if there is one."""
    return sender.engine.matrices.fill(matrix_id)


@router.post("/matrices/{matrix_id}/cancel")
def cancel_matrix(sender: Writer, matrix_id: uuid.UUID) -> Job | None:
    """End the work on it after the question that it is at; what is answered stays. Null where there was none."""
    return sender.engine.matrices.cancel(matrix_id)


@router.delete("/matrices/{matrix_id}", status_code=204)
def delete_matrix(sender: Writer, matrix_id: uuid.UUID) -> None:
    """Forget it with its answers."""
    sender.engine.matrices.delete(matrix_id)


@router.get("/matrices/{matrix_id}/export", response_class=Response, responses={200: {"content": FILES}})
def export_matrix(
    sender: Reader,
    matrix_id: uuid.UUID,
    format_name: Annotated[MatrixFormat, Query(alias="format", description="Of the file.")] = "xlsx",
) -> Response:
    """It as a table, in which no cell is a formula; as XLSX with a second sheet of the evidence."""
    matrix = sender.engine.matrices.get(matrix_id).matrix
    content = sender.engine.matrices.export(matrix_id, format_name)
    return attachment(f"{matrix.name}.{format_name}", MATRIX_FILES[format_name], content)
