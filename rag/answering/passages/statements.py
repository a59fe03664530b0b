"""Statements quoted from passages: sentences, rows of tables, and the words that prove them."""

import re
from typing import NamedTuple

from rag.answering.passages.quotable_units import Unit
from rag.answering.text.sentences import flowing
from rag.types import Hit, QuotedRow, Span

MAX_CAPTION_CHARS = 60
"""Of a longer line above a table only the brackets with the unit are shown."""

_SCALE = re.compile(r"\([^()]*(?:thousand|million|billion|crore|lakh|000)[^()]*\)", re.IGNORECASE)

_BESIDE_SIGN = re.compile(r"(?<![\d%)\]])\t|\t(?!\S*\d)")
"""Within a cell: between a figure and its sign, which are in fields of their own in the document."""


class Source(NamedTuple):
    """A place in the passage of a hit."""

    hit: Hit
    span: Span


class Row(NamedTuple):
    """A row of a table as it is quoted, and the unit of the passage that it is."""

    unit: Unit
    quoted: QuotedRow


class Statement(NamedTuple):
    """A sentence of an answer and the words that prove it; of one that is nothing but a `row` the row alone."""

    text: str
    sources: tuple[Source, ...]
    row: Row | None = None


class Label(NamedTuple):
    """What is said between statements: whose they are, and of what kind. It states nothing of the documents."""

    text: str


def shown_text(text: str, unit: Unit) -> str:
    """A sentence on one line; a table's row with the names of its columns and its unit."""
    row = quoted_row(text, unit)
    if row is None:
        return flowing(text[slice(*unit.span)])
    cells = [f"{name}: {cell}" if name else cell for name, cell in zip(row.columns, row.cells, strict=True) if cell]
    scale = f" ({row.caption})" if row.caption else ""
    return f"{row.label} – {'; '.join(cells)}{scale}" if row.label else f"{'; '.join(cells)}{scale}"


def quoted_row(text: str, unit: Unit) -> QuotedRow | None:
    """The row that a unit of the passage `text` is; None if it is none."""
    if not unit.cells:
        return None
    return QuotedRow(
        label=words_at(text, unit.label),
        columns=tuple(cell.column for cell in unit.cells),
        cells=tuple(flowing(_BESIDE_SIGN.sub(" ", text[slice(*cell.span)])) for cell in unit.cells),
        caption=_scale(words_at(text, unit.caption)),
    )


def _scale(caption: str) -> str | None:
    """The part of the line above a table that gives the unit of its figures."""
    bracketed = _SCALE.search(caption)
    if bracketed:
        return bracketed.group().strip("()")
    return caption if 0 < len(caption) <= MAX_CAPTION_CHARS and "(" not in caption and ")" not in caption else None


def words_at(text: str, span: Span | None) -> str:
    """Return the text at a span on one line, "" without a span."""
    return flowing(text[slice(*span)]) if span else ""
