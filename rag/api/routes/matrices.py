"""Routes for matrices: fields read from documents, by a worker or while the client waits, reviews, and templates."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from rag import errors, types
from rag.api.authentication import Reader, Writer
from rag.api.limits import ClientIsGone
from rag.api.responses import Limit, Offset, attachment
from rag.contract import MatrixBody

router = APIRouter(tags=["matrices"])

FILES: dict[str, dict[str, str]] = {mime_type: {} for mime_type in types.MATRIX_FILES.values()}

Name = Annotated[str, Path(min_length=1, max_length=200, pattern=types.SEGMENT, description="Of the template.")]


class ExtractBody(types.ExtractRequest):
    """A request to read fields from a few documents while the client waits."""

    document_ids: Annotated[tuple[uuid.UUID, ...], Field(min_length=1, max_length=types.MAX_EXTRACTED)]


@router.post("/extract")
def extract(request: Request, sender: Reader, body: ExtractBody, stop: ClientIsGone) -> types.Extraction:
    """Read fields from documents of a collection: values with words, boxes and confidence. Nothing is saved."""

    def pause() -> None:
        if stop():
            raise errors.CancelledError("The client has gone, so no more is read.")

    with request.app.state.questions.acquire():
        extraction = sender.engine.matrices.extract(body, pause)
    request.state.usage = extraction.usage
    return extraction


# --- templates ---


@router.get("/matrix-templates")
def list_matrix_templates(sender: Reader) -> list[types.FieldTemplate]:
    """List the templates: the caller's own lists of fields, then those for kinds of documents.

    With the `indexName` of a shared collection its owner's that are shared with it are in place of the caller's.
    """
    return sender.engine.templates.list()


@router.get("/matrix-templates/{name}")
def get_matrix_template(sender: Reader, name: Name) -> types.FieldTemplate:
    """Get a template, the caller's own before one for a kind of documents."""
    return sender.engine.templates.get(name)


@router.get("/matrix-templates/{name}/schema")
def get_matrix_template_schema(sender: Reader, name: Name) -> dict[str, Any]:
    """Get a template as the JSON Schema of an object, which can be saved as a template again."""
    return sender.engine.templates.schema(name)


@router.put("/matrix-templates/{name}")
def save_matrix_template(sender: Writer, name: Name, body: types.TemplateRequest) -> types.FieldTemplate:
    """Save fields as one's own template: a list, a JSON Schema, or those of a matrix or another template."""
    return sender.engine.templates.save(name, body)


@router.delete("/matrix-templates/{name}", status_code=204)
def delete_matrix_template(sender: Writer, name: Name) -> None:
    """Delete a template of the caller's own."""
    sender.engine.templates.delete(name)


@router.get("/documents/{document_id}/field-suggestions")
def suggest_fields(request: Request, sender: Reader, document_id: uuid.UUID) -> types.FieldSuggestions:
    """Suggest fields for documents like this one: the template that fits, and what the document states.

    A language model that is set up reads the document for it.
    """
    with request.app.state.questions.acquire():
        suggestions = sender.engine.matrices.suggest_fields(document_id)
    request.state.usage = suggestions.usage
    return suggestions


# --- matrices ---


@router.get("/matrices")
def list_matrices(sender: Reader) -> list[types.ListedMatrix]:
    """List the caller's matrices without their cells, the latest first, then those that others share.

    With the `indexName` of a shared collection those of it.
    """
    return sender.engine.matrices.list()


@router.post("/matrices", status_code=201)
def create_matrix(sender: Writer, body: types.MatrixRequest) -> types.Matrix:
    """Read fields from one's own documents: a worker fills the cells, and fills them again when a document changes."""
    return sender.engine.matrices.create(body)


@router.get("/matrices/{matrix_id}")
def get_matrix(sender: Reader, matrix_id: uuid.UUID, limit: Limit = 50, offset: Offset = 0) -> MatrixBody:
    """Get a matrix with the cells of a page of its documents: value, words, places, confidence, review, staleness."""
    matrices = sender.engine.matrices
    filled = matrices.progress(matrix_id)
    filled = matrices.with_cells(filled, documents=filled.documents[offset : offset + limit])
    return MatrixBody.of(filled, limit, offset)


@router.patch("/matrices/{matrix_id}")
def edit_matrix(sender: Writer, matrix_id: uuid.UUID, body: types.MatrixEdit) -> types.Matrix:
    """Change the name, documents, fields or what is followed; only new and changed cells are filled."""
    return sender.engine.matrices.edit(matrix_id, body)


@router.post("/matrices/{matrix_id}/fill", status_code=202)
def fill_matrix(sender: Writer, matrix_id: uuid.UUID, body: types.FillRequest | None = None) -> types.Job:
    """Fill the cells that are empty, failed or stale; returns the running job if there is one."""
    return sender.engine.matrices.fill(matrix_id, body)


@router.post("/matrices/{matrix_id}/cancel")
def cancel_matrix(sender: Writer, matrix_id: uuid.UUID) -> types.Job | None:
    """Stop after the current request; the values so far are kept. Null if no job was running."""
    return sender.engine.matrices.cancel(matrix_id)


@router.put("/matrices/{matrix_id}/cells/{lineage_id}/{field_id}/review")
def review_cell(
    sender: Writer, matrix_id: uuid.UUID, lineage_id: uuid.UUID, field_id: uuid.UUID, body: types.ReviewRequest
) -> types.SavedCell:
    """Accept, correct or reject a value, or take that back; it is kept when the cell is filled again."""
    return sender.engine.matrices.review(matrix_id, lineage_id, field_id, body)


@router.delete("/matrices/{matrix_id}", status_code=204)
def delete_matrix(sender: Writer, matrix_id: uuid.UUID) -> None:
    """Delete a matrix with its cells."""
    sender.engine.matrices.delete(matrix_id)


@router.get("/matrices/{matrix_id}/export", response_class=Response, responses={200: {"content": FILES}})
def export_matrix(
    sender: Reader,
    matrix_id: uuid.UUID,
    format_name: Annotated[
        types.MatrixFormat, Query(alias="format", description="Of the file; zip: marked copies.")
    ] = "xlsx",
) -> Response:
    """Export the values: XLSX with a sheet of evidence, CSV, or JSON with boxes; without formulas.

    As ZIP: of each document a PDF of its quoted pages, with the quotes highlighted and the values noted.
    """
    name = sender.engine.store.matrices.get(matrix_id).name
    content = sender.engine.matrices.export(matrix_id, format_name)
    return attachment(f"{name}.{format_name}", types.MATRIX_FILES[format_name], content)
