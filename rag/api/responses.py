"""What the routes share: parameters and responses of lists, and responses with files."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Generic, TypeVar
from urllib.parse import quote

from fastapi import Query
from fastapi.responses import Response

from rag import types

Item = TypeVar("Item")

Limit = Annotated[int, Query(ge=1, le=500, description="How many to list.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1, description="How many to skip.")]
IndexName = Annotated[str, Query(alias="indexName", min_length=1, max_length=200, pattern=types.STORABLE)]

DOWNLOAD_HEADERS = {
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
}
"""Browsers save such a file and never run it as a page of this site."""


class Items(types.Model, Generic[Item]):
    """A whole list."""

    items: tuple[Item, ...]


class Page(Items[Item], Generic[Item]):
    """A page of a list. `next_offset` is the offset of the next page, null on the last."""

    limit: int
    offset: int
    next_offset: int | None


def listed(items: Iterable[Item]) -> Items[Item]:
    """Make the response of a whole list."""
    return Items[Item](items=tuple(items))


def page(items: Sequence[Item], limit: int, offset: int) -> Page[Item]:
    """Make the page at `offset` from a query for one item more than `limit`."""
    following = offset + limit if len(items) > limit else None
    return Page[Item](items=tuple(items[:limit]), limit=limit, offset=offset, next_offset=following)


def attachment(name: str, mime_type: str, content: bytes) -> Response:
    """Send a file with its name, which may have any characters."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=mime_type, headers={**DOWNLOAD_HEADERS, "content-disposition": disposition})
