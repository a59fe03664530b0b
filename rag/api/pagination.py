"""Lists that come in pieces."""

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query

from rag.types import Model

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=500, description="How many to list.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="How many to skip.")]


class Page(Model, Generic[Item]):
    """A piece of a list. `next_offset` is where the next piece begins, null after the last."""

    items: tuple[Item, ...]
    limit: int
    offset: int
    next_offset: int | None


def page(found: Sequence[Item], limit: int, offset: int) -> Page[Item]:
    """The piece that begins at `offset`, of what was found when one more than `limit` was asked for."""
    following = offset + limit if len(found) > limit else None
    return Page[Item](items=tuple(found[:limit]), limit=limit, offset=offset, next_offset=following)
