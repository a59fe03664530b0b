"""Routes for highlights and notes in documents."""

import uuid

from fastapi import APIRouter

from rag import types
from rag.api.authentication import Reader, Writer

router = APIRouter(tags=["documents"])


@router.get("/documents/{document_id}/annotations")
def list_annotations(sender: Reader, document_id: uuid.UUID) -> tuple[types.Annotation, ...]:
    """List the caller's own highlights and notes in a document, in page order."""
    return tuple(sender.engine.store.annotations.list(document_id))


@router.post("/documents/{document_id}/annotations", status_code=201)
def add_annotation(sender: Writer, document_id: uuid.UUID, body: types.AnnotationRequest) -> types.Annotation:
    """Highlight a place, with an optional note. Nobody else sees it."""
    return sender.engine.annotations.add(document_id, body)


@router.patch("/documents/{document_id}/annotations/{annotation_id}")
def edit_annotation(
    sender: Writer, document_id: uuid.UUID, annotation_id: uuid.UUID, body: types.AnnotationEdit
) -> types.Annotation:
    """Change the note of a highlight."""
    return sender.engine.annotations.edit(document_id, annotation_id, body.note)


@router.delete("/documents/{document_id}/annotations/{annotation_id}", status_code=204)
def delete_annotation(sender: Writer, document_id: uuid.UUID, annotation_id: uuid.UUID) -> None:
    """Remove a highlight and its note."""
    sender.engine.store.annotations.delete(document_id, annotation_id)
