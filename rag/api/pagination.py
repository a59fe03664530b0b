"""Pagination of lists."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query

from rag import types

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=500, description="How many to list.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="How many to skip.")]


class Page(types.Model, Generic[Item]):
    """A page of a list. `next_offset` is the offset of the next page, null on the last."""

    items: tuple[Item, ...]
    limit: int
    offset: int
    next_offset: int | None


def page(found: Sequence[Item], limit: int, offset: int) -> Page[Item]:
    """Make the page at `offset` from a query for one item more than `limit`."""
    following = offset + limit if len(found) > limit else None
    return Page[Item](items=tuple(found[:limit]), limit=limit, offset=offset, next_offset=following)
