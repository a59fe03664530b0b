"""Expand ranked chunks to their pages, each page once."""

import uuid
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag import types

MAX_PASSAGE_CHARS = 12_000
"""Maximum length of a passage; longer pages are cut around the chunk."""


class Place(NamedTuple):
    """A page and its best chunk, which may continue on the next page."""

    chunk: types.Chunk
    page: int

    @property
    def document_id(self) -> uuid.UUID:
        """The document's id."""
        return self.chunk.document_id

    def passage(self, page_lines: Iterable[types.Line]) -> tuple[types.Line, ...]:
        """Return the page's lines with the rest of the chunk."""
        beyond = [line for line in self.chunk.lines if line.page_number != self.page]
        lines = sorted([*page_lines, *beyond], key=lambda line: (line.page_number, line.number))
        return around(lines, self.chunk)


def gather_places(ranked: Iterable[types.Chunk]) -> list[Place]:
    """Return the distinct main pages of `ranked` chunks, best first."""
    places: dict[tuple[uuid.UUID, int], Place] = {}
    for chunk in ranked:
        page = chunk.main_page
        places.setdefault((chunk.document_id, page), Place(chunk, page))
    return [*places.values()]


def around(lines: Sequence[types.Line], chunk: types.Chunk) -> tuple[types.Line, ...]:
    """Return as many of `lines` around `chunk` as `MAX_PASSAGE_CHARS` allows."""
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
