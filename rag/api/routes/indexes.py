"""Indexes: listed, looked into, made."""

from typing import Annotated

import pydantic
from fastapi import APIRouter

from rag.api.authentication import Reader, Writer
from rag.types import STORABLE, Index, IndexStats, Model

Name = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=STORABLE)]

router = APIRouter(tags=["indexes"])


class IndexList(Model):
    """All indexes of a user by name."""

    items: tuple[Index, ...]


class NewIndex(Model):
    """An index to be made."""

    name: Name


@router.get("/indexes")
def list_indexes(sender: Reader) -> IndexList:
    """All indexes."""
    return IndexList(items=tuple(sender.engine.indexes.list()))


@router.post("/indexes", status_code=201)
def create_index(sender: Writer, body: NewIndex) -> Index:
    """Make an index, embedded as the server's settings say; one of this name that is there stays as it is."""
    return sender.engine.indexes.ensure(body.name)


@router.get("/indexes/{name}")
def inspect_index(sender: Reader, name: Name) -> IndexStats:
    """What an index, named or by id, holds."""
    return sender.engine.inspect_index(name)
