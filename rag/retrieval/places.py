"""Small chunks find, whole pages are read: from ranked chunks to the pages handed on, each place once."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rag import types
from rag.types import Chunk, Line

MAX_PAGES = 2
"""Neighbouring pages that were both found are handed on together, up to this many."""
MAX_PASSAGE_CHARS = 12_000
"""A passage longer than this (a page of very small print) is cut down around the chunk that was found."""


@dataclass
class Place:
    """Pages of one document that follow each other, and the chunk that found them best."""

    chunk: Chunk
    pages: list[int] = field(default_factory=list)

    @property
    def document_id(self) -> uuid.UUID:
        """The document the pages are of."""
        return self.chunk.document_id

    def takes(self, document_id: uuid.UUID, page: int) -> bool:
        """Whether `page` belongs to this place or next to it."""
        if document_id != self.document_id:
            return False
        return page in self.pages or (
            len(self.pages) < MAX_PAGES and (page + 1 in self.pages or page - 1 in self.pages)
        )


def gather_places(ranked: Iterable[Chunk]) -> list[Place]:
    """The places of `ranked` chunks, best first: a page goes to the best-ranked place that takes it."""
    places: list[Place] = []
    for chunk in ranked:
        for page in pages_by_share(chunk):
            place = next((place for place in places if place.takes(chunk.document_id, page)), None)
            if place is None:
                place = Place(chunk)
                places.append(place)
            if page not in place.pages:
                place.pages.append(page)
    return places


def pages_by_share(chunk: Chunk) -> list[int]:
    """The chunk's pages, the one with most of its characters first."""
    return types.pages_by_share(chunk.lines)


def around(lines: Sequence[Line], chunk: Chunk) -> tuple[Line, ...]:
    """`lines`, or as many of them around `chunk` as `MAX_PASSAGE_CHARS` allows."""
    room = MAX_PASSAGE_CHARS
    if sum(len(line.text) for line in lines) <= room:
        return tuple(lines)
    first = next((i for i, line in enumerate(lines) if line.number >= chunk.line_start), 0)
    last = first
    room -= len(lines[first].text)
    while room > 0 and (first > 0 or last < len(lines) - 1):
        if last < len(lines) - 1:
            last += 1
            room -= len(lines[last].text)
        if first > 0 and (last == len(lines) - 1 or lines[last].number >= chunk.line_end):
            first -= 1
            room -= len(lines[first].text)
    return tuple(lines[first : last + 1])
