"""A chunk's lines as rows of numbers beside its text, and back. Pure functions.

The text of a line is a slice of the chunk's content, so it is not kept twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pydantic

from rag.types import Line

LINES = pydantic.TypeAdapter(tuple[Line, ...])
"""Makes all lines of a chunk at once, in half the time of one by one: a search reads hundreds."""

PackedLine = list[int | float | str | bool]
"""number, page number, x0, y0, x1, y1, length in characters, kind, starts a block; and of several lines the last."""


def pack(lines: Sequence[Line]) -> list[PackedLine]:
    """What cannot be told from the content."""
    return [
        [line.number, line.page_number, *line.bbox, len(line.text), line.kind.value, line.starts_block]
        + ([line.last_number] if line.last_number else [])
        for line in lines
    ]


def unpack(content: str, packed: Sequence[Sequence[Any]]) -> tuple[Line, ...]:
    """The lines whose `lines_text` is `content`."""
    return to_lines(unpack_rows(content, packed))


def unpack_rows(content: str, packed: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The fields of the lines whose `lines_text` is `content`."""
    position = 0
    for index, (number, page, x0, y0, x1, y1, length, kind, starts_block, *last) in enumerate(packed):
        if index:
            position += 2 if starts_block else 1
        end = position + length
        yield {
            "number": number,
            "last_number": last[0] if last else None,
            "page_number": page,
            "bbox": (x0, y0, x1, y1),
            "text": content[position:end],
            "kind": kind,
            "starts_block": starts_block,
        }
        position = end


def to_lines(rows: Iterable[Mapping[str, Any]]) -> tuple[Line, ...]:
    """Lines of their fields."""
    return LINES.validate_python([*rows])


def joined(rows: Iterable[Mapping[str, Any]]) -> str:
    """What `lines_text` of the lines of these fields is, without making them."""
    parts = [part for row in rows for part in ("\n\n" if row["starts_block"] else "\n", row["text"])]
    return "".join(parts[1:])
