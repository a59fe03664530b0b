"""Routes for tags and saved filters."""

import uuid
from typing import Annotated

import pydantic
from fastapi import APIRouter, Path

from rag import types
from rag.api.authentication import Reader, Writer
from rag.api.responses import IndexName

Name = Annotated[str, Path(min_length=1, max_length=100, pattern=types.SEGMENT)]

router = APIRouter(tags=["documents"])


class TaggingRequest(types.Model):
    """Tags to add to documents and to remove from them."""

    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(max_length=1000)
    add: types.Tags = ()
    remove: types.Tags = ()


class TaggingResponse(types.Model):
    """The documents that exist."""

    document_ids: tuple[uuid.UUID, ...]


@router.get("/tags")
def list_tags(sender: Reader, index_name: IndexName = types.DEFAULT_INDEX) -> tuple[types.TagCount, ...]:
    """List the tags of an index's documents with their counts."""
    return tuple(sender.engine.documents.tags(index_name))


@router.post("/tags")
def tag_documents(sender: Writer, body: TaggingRequest) -> TaggingResponse:
    """Add tags to documents and remove others."""
    touched = sender.engine.documents.tag(body.document_ids, add=body.add, remove=body.remove)
    return TaggingResponse(document_ids=tuple(touched))


@router.get("/filters")
def list_filters(sender: Reader) -> tuple[types.SavedFilter, ...]:
    """List the saved filters. Requests use one by name: `"filters": {"saved": "…"}`."""
    return tuple(sender.engine.store.saved_filters.list())


@router.get("/filters/{name}")
def get_filter(sender: Reader, name: Name) -> types.SavedFilter:
    """Get a saved filter."""
    return sender.engine.store.saved_filters.get(name)


@router.put("/filters/{name}")
def save_filter(sender: Writer, name: Name, body: types.Filters) -> types.SavedFilter:
    """Save filters by name, replacing existing ones."""
    return sender.engine.filters.save(name, body)


@router.delete("/filters/{name}", status_code=204)
def delete_filter(sender: Writer, name: Name) -> None:
    """Delete a saved filter."""
    sender.engine.store.saved_filters.delete(name)
