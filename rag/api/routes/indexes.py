"""Routes for indexes and caches."""

from typing import Annotated

import pydantic
from fastapi import APIRouter

from rag import types
from rag.api.authentication import Reader, Writer
from rag.api.responses import Items, listed
from rag.contract import copy_fields

Name = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=types.STORABLE)]

router = APIRouter(tags=["indexes"])


class CacheUse(types.Model):
    """The size of a cache of the user, and its hits and misses since it was last cleared."""

    kind: str
    entries: int
    bytes: int
    hits: int
    misses: int
    hit_rate: float | None


class ClearedCaches(types.Model):
    """The number of entries removed."""

    removed: int


class NewIndex(types.Model):
    """An index to create."""

    name: Name


@router.get("/indexes")
def list_indexes(sender: Reader) -> Items[types.Index]:
    """List all indexes."""
    return listed(sender.engine.indexes.list())


@router.post("/indexes", status_code=201)
def create_index(sender: Writer, body: NewIndex) -> types.Index:
    """Create an index with the server's embedding model; an existing one of this name stays unchanged."""
    return sender.engine.indexes.ensure(body.name)


@router.get("/indexes/{name}")
def inspect_index(sender: Reader, name: Name) -> types.IndexStats:
    """Get the statistics of an index, given by name or id."""
    return sender.engine.inspect_index(name)


@router.get("/caches")
def list_caches(sender: Reader) -> Items[CacheUse]:
    """List the user's caches of embeddings, rewritings, ratings and answers, and how often they help."""
    return listed(copy_fields(CacheUse, cache) for cache in sender.engine.store.caches.stats())


@router.delete("/caches")
def clear_caches(sender: Writer) -> ClearedCaches:
    """Empty the user's caches."""
    return ClearedCaches(removed=sender.engine.store.caches.clear())
