"""Statements of composed answers with the source spans that prove them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.passages.quotable_units import Unit
from rag.answering.text.sentences import CELL_SEPARATOR, one_line
from rag.vocabulary import years

MAX_CAPTION_CHARS = 60
"""Of longer captions only the bracketed unit is shown."""

_SCALE = re.compile(r"\([^()]*(?:thousand|million|billion|crore|lakh|000)[^()]*\)", re.IGNORECASE)

MIN_MERGED_WORDS, MIN_MERGED_WORDS_AND_YEAR = 3, 9
"""A head of as many words over several cells of a row is that of several columns, read as one; a period, which several
columns may have, is shorter than the second."""

_CHANGE = re.compile(r"\bchange[sd]?\b|\bgrowth\b|\bveränderung", re.IGNORECASE)
_TWO_PERIODS = re.compile(r"\b((?:19|20)\d\d)\s+(?:[^\W\d_]{1,12}\.?\s+){0,3}(?!\1)(?:19|20)\d\d\b")
"""Two years with at most a few words between them: "FISCAL 2023 FISCAL 2022"."""
_RELATES = re.compile(
    r"\b(?:to|vs?|versus|over|from|and|through|compared|against|since|bis|und|gegenüber)\b", re.IGNORECASE
)

_BESIDE_SIGN = re.compile(r"(?<![\d%)\]])\t|\t(?!\S*\d)")
"""A tab within a cell, between a figure and its sign."""


class Source(NamedTuple):
    """A span of a hit's passage."""

    hit: types.Hit
    span: types.Span


class Row(NamedTuple):
    """A quoted table row and its unit."""

    unit: Unit
    quoted: types.QuotedRow


class Statement(NamedTuple):
    """A sentence of an answer and its sources; with `row` it is nothing but that row."""

    text: str
    sources: tuple[Source, ...]
    row: Row | None = None

    @property
    def is_verbatim(self) -> bool:
        """Whether the text is a quote of its source: a row, or the words of a span."""
        said = self.text.replace(CELL_SEPARATOR, " ")
        quotes = (one_line(source.hit.passage.text[slice(*source.span)]) for source in self.sources)
        return self.row is not None or any(said in quote.replace(CELL_SEPARATOR, " ") for quote in quotes)


class Label(NamedTuple):
    """Text between statements, such as a name or heading, that states nothing about the documents."""

    text: str


def display_text(text: str, unit: Unit) -> str:
    """Return a sentence on one line, or a table row with its column names and unit."""
    row = quoted_row(text, unit)
    if row is None:
        return one_line(text[slice(*unit.span)])
    cells = [f"{name}: {cell}" if name else cell for name, cell in zip(row.columns, row.cells, strict=True) if cell]
    scale = f" ({row.caption})" if row.caption else ""
    return f"{row.label} – {'; '.join(cells)}{scale}" if row.label else f"{'; '.join(cells)}{scale}"


def quoted_row(text: str, unit: Unit) -> types.QuotedRow | None:
    """Return the table row that a unit is, or None."""
    if not unit.cells:
        return None
    columns = tuple(cell.column.rstrip(" :") for cell in unit.cells)  # shown with a colon behind it
    cells = tuple(one_line(_BESIDE_SIGN.sub(" ", text[slice(*cell.span)])) for cell in unit.cells)
    return types.QuotedRow(
        label=words_at(text, unit.label),
        columns=columns if are_told_apart(columns, cells) else ("",) * len(columns),
        cells=cells,
        caption=_scale(words_at(text, unit.caption)),
    )


def are_told_apart(heads: Sequence[str], cells: Sequence[str]) -> bool:
    """Return whether each of a row's cells has a head of its own, as far as the `heads` tell.

    Where the heads of several columns were read as one, a cell would be shown under another's head: one of them has two
    periods, the same words stand over several cells, or a change and another column's year are in percent and not.
    """
    merged = (match for head in heads for match in _TWO_PERIODS.finditer(head))
    if len(heads) > 1 and not all(_RELATES.search(match[0]) for match in merged):
        return False
    below: dict[str, list[str]] = {}
    for head, cell in zip(heads, cells, strict=True):
        below.setdefault(head, []).append(cell)
    return not any(
        len(under) > 1
        and (
            len(head.split()) >= (MIN_MERGED_WORDS_AND_YEAR if years(head) else MIN_MERGED_WORDS)
            or (_is_change_of_one_year(head) and len({"%" in cell for cell in under}) > 1)
        )
        for head, under in below.items()
    )


def _is_change_of_one_year(head: str) -> bool:
    """Return whether a head names a change and one year, unlike "Change 2022 vs. 2021" over an amount and its share."""
    return _CHANGE.search(head) is not None and len(years(head)) == 1 and not _RELATES.search(head)


def _scale(caption: str) -> str | None:
    """Return the part of a caption that gives the unit of figures."""
    bracketed = _SCALE.search(caption)
    if bracketed:
        return bracketed.group().strip("()")
    return caption if 0 < len(caption) <= MAX_CAPTION_CHARS and "(" not in caption and ")" not in caption else None


def words_at(text: str, span: types.Span | None) -> str:
    """Return the text at a span on one line, "" without a span."""
    return one_line(text[slice(*span)]) if span else ""
