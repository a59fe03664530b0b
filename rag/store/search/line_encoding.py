"""Encode a chunk's lines as rows of numbers beside its text, and decode them. Pure functions.

The text of a line is a slice of the chunk's content, so it is not stored twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pydantic

from rag import types

LINES = pydantic.TypeAdapter(tuple[types.Line, ...])
"""Validates all lines of a chunk at once, in half the time of one by one: a search reads hundreds."""

PackedLine = list[Any]
"""number, page number, x0, y0, x1, y1, length in characters, kind, starts a block; then, unless the rest is unset, the
number of the last merged line, whether it is bold, and the row of a table: whether it is a head row, its section, its
caption, its cells."""


_ROW = ("is_head", "section", "caption", "cells")


def pack(lines: Sequence[types.Line]) -> list[PackedLine]:
    """Encode lines without their text."""
    return [
        [line.number, line.page_number, *line.bbox, len(line.text), line.kind.value, line.starts_block, *_rare(line)]
        for line in lines
    ]


def _rare(line: types.Line) -> PackedLine:
    if line.row is not None:
        row = line.row
        return [line.last_number, line.is_bold, [row.is_head, row.section, row.caption, row.cells]]
    if line.is_bold:
        return [line.last_number, True]
    return [line.last_number] if line.last_number else []


def unpack(content: str, packed: Sequence[Sequence[Any]]) -> tuple[types.Line, ...]:
    """Decode the lines of a chunk with this content."""
    return to_lines(unpack_rows(content, packed))


def unpack_rows(content: str, packed: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Decode the fields of the lines of a chunk with this content."""
    position = 0
    for index, (number, page, x0, y0, x1, y1, length, kind, starts_block, *more) in enumerate(packed):
        if index:
            position += 2 if starts_block else 1
        end = position + length
        yield {
            "number": number,
            "last_number": more[0] if more else None,
            "page_number": page,
            "bbox": (x0, y0, x1, y1),
            "text": content[position:end],
            "kind": kind,
            "starts_block": starts_block,
            "is_bold": len(more) > 1 and more[1],
            "row": dict(zip(_ROW, more[2], strict=True)) if len(more) > 2 else None,
        }
        position = end


def to_lines(rows: Iterable[Mapping[str, Any]]) -> tuple[types.Line, ...]:
    """Make lines of their fields."""
    return LINES.validate_python([*rows])


def join_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of lines given by their fields, as `lines_text` would."""
    parts = [part for row in rows for part in ("\n\n" if row["starts_block"] else "\n", row["text"])]
    return "".join(parts[1:])
