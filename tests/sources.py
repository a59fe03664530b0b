"""Passages and hits made from text, for tests that need no file."""

import uuid

from rag.types import BlockKind, Chunk, Hit, Line, Passage, Rect, Region, SearchResponse

Block = str | tuple[BlockKind, str]


def lines(*blocks: Block, first: int = 1, page_number: int = 1) -> tuple[Line, ...]:
    """One line per line of each block's text; lines are 10 points high and a character is 5 points wide."""
    made: list[Line] = []
    for block in blocks:
        kind, text = block if isinstance(block, tuple) else (BlockKind.TEXT, block)
        for index, row in enumerate(text.split("\n")):
            number = first + len(made)
            bbox = Rect(0.0, 10.0 * number, 5.0 * len(row), 10.0 * number + 10.0)
            made.append(
                Line(number=number, page_number=page_number, bbox=bbox, text=row, kind=kind, starts_block=index == 0)
            )
    return tuple(made)


def passage(*blocks: Block, document_id: uuid.UUID | None = None, first: int = 1, page_number: int = 1) -> Passage:
    """A passage of `blocks`."""
    return Passage(document_id=document_id or uuid.uuid4(), lines=lines(*blocks, first=first, page_number=page_number))


def hit(
    *blocks: Block,
    name: str = "report.pdf",
    score: float = 0.5,
    document_id: uuid.UUID | None = None,
    first: int = 1,
    page_number: int = 1,
    title: str | None = None,
) -> Hit:
    """A hit whose chunk is its whole passage."""
    found = passage(*blocks, document_id=document_id, first=first, page_number=page_number)
    chunk = Chunk(document_id=found.document_id, lines=found.lines, id=uuid.uuid4(), ordinal=0)
    return Hit(
        chunk=chunk, passage=found, document_name=name, mime_type="application/pdf", title=title, final_score=score
    )


def response(*hits: Hit, query: str = "question") -> SearchResponse:
    """The response of a search that found `hits`."""
    return SearchResponse(query=query, top_k=8, min_score=0.2, mode="hybrid", results=hits)


def locate(document_id: uuid.UUID, found: Passage, start: int, end: int) -> tuple[Region, ...]:
    """Return the whole lines that `found.text[start:end]` touches; replaces the lookup on the page."""
    assert document_id == found.document_id
    rects: list[Rect] = []
    offset = 0
    for index, line in enumerate(found.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        if offset < end and start < offset + len(line.text):
            rects.append(line.bbox)
        offset += len(line.text)
    return (Region(page_number=found.page_number, rects=tuple(rects)),)
