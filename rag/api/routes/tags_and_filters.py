"""What keeps documents in order: their tags, and filters under a name."""

import uuid
from typing import Annotated

import pydantic
from fastapi import APIRouter, Path, Query

from rag.api.authentication import Reader, Writer
from rag.api.routes.documents import IndexField
from rag.types import DEFAULT_INDEX, SEGMENT, Filters, Model, SavedFilter, TagCount, Tags

Name = Annotated[str, Path(min_length=1, max_length=100, pattern=SEGMENT)]

router = APIRouter(tags=["documents"])


class TaggingRequest(Model):
    """Tags that documents get and lose."""

    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(max_length=1000)
    add: Tags = ()
    remove: Tags = ()


class TaggingResponse(Model):
    """The documents that were found."""

    document_ids: tuple[uuid.UUID, ...]


@router.get("/tags")
def list_tags(
    sender: Reader, index_name: Annotated[IndexField, Query(alias="indexName")] = DEFAULT_INDEX
) -> tuple[TagCount, ...]:
    """The tags of an index's documents, each with their number."""
    return tuple(sender.engine.catalogue.tags(index_name))


@router.post("/tags")
def tag_documents(sender: Writer, body: TaggingRequest) -> TaggingResponse:
    """Put tags on many documents, and take others off."""
    touched = sender.engine.catalogue.tag(body.document_ids, add=body.add, remove=body.remove)
    return TaggingResponse(document_ids=tuple(touched))


@router.get("/filters")
def list_filters(sender: Reader) -> tuple[SavedFilter, ...]:
    """The saved filters. Requests take one up by its name: `"filters": {"saved": "…"}`."""
    return tuple(sender.engine.filters.list())


@router.get("/filters/{name}")
def get_filter(sender: Reader, name: Name) -> SavedFilter:
    """One saved filter."""
    return sender.engine.filters.get(name)


@router.put("/filters/{name}")
def save_filter(sender: Writer, name: Name, body: Filters) -> SavedFilter:
    """Keep filters under a name, in the place of those there were."""
    return sender.engine.filters.save(name, body)


@router.delete("/filters/{name}", status_code=204)
def delete_filter(sender: Writer, name: Name) -> None:
    """Forget a saved filter."""
    sender.engine.filters.delete(name)
