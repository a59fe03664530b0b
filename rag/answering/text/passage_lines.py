"""The lines of a passage, and where each begins in its text."""

from collections.abc import Iterator

from rag.answering.text.sentences import trimmed
from rag.types import Line, Passage, Span

Placed = tuple[int, Line]
"""Where a line begins, and the line."""


def placed_lines(passage: Passage) -> Iterator[Placed]:
    """Each line with its offset in the passage's text."""
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        yield offset, line
        offset += len(line.text)


def trim_line(offset: int, line: Line) -> Span:
    """Where a line stands without the white space around it."""
    span = trimmed(line.text, Span(0, len(line.text)))
    return Span(offset + span.start, offset + span.end)
