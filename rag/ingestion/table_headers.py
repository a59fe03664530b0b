"""Find the header rows and captions of tables, for their parts in later chunks.

Rows are text with tab-separated cells. A row with an amount is data. The rows before the first data row are headers, up
to the last one that names columns; what follows is the label of a first group.
"""

import itertools
import re
from collections.abc import Sequence

from rag.types import Line

MAX_HEADER_ROWS = 8
MAX_CAPTION_CHARS = 200
MAX_CAPTION_BLOCKS = 4
MAX_LABEL_CHARS = 80
"""Maximum length of a label; a longer row without columns is a sentence."""
MIN_DATA_SHARE = 1 / 3
"""Minimum share of rows with amounts; with fewer, it is a table of words and amounts do not identify headers."""
INDENT = 0.15
"""Minimum indent, as a share of the width, of a row above the columns of numbers."""

_SIGNS = "$€£¥%()+−–—-"
_FOOTNOTES = r"(\(\w\)|[*†‡#§])*"
_AMOUNT = re.compile(rf"[{_SIGNS}]*\d[\d.,]*[%)x×]*{_FOOTNOTES}|[–—−-]+")
_SCALE = re.compile(r"(thousand|million|billion|trillion|percent|bps|years?)", re.IGNORECASE)
_YEAR = re.compile(rf"(FY|CY)?(19|20)\d\d{_FOOTNOTES},?", re.IGNORECASE)
_PLAIN_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ENDS_IN_AMOUNT = re.compile(r"\s[$€£¥(]*\s?(\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d+|\d+(\.\d+)?%|\(\d+\))[%)]*$")
_UNIT = re.compile(r"\b(thousands|millions|billions)\b|\bin (%|percent|[$€£¥]|dollars|euros)", re.IGNORECASE)
_CAPTION = re.compile(r"(?i:table|tab\.|exhibit|schedule)\s+(\d|[A-Z]{1,4}\b)")
_DATED = re.compile(r"[\d,:]$")


def header_rows(lines: Sequence[Line], caption: Sequence[str] = ()) -> list[str]:
    """Return the headers of the rows that follow `lines`: `caption`, column heads, and the year of the last group.

    `lines` begin a table. Column heads with years further down replace those at the top and the caption.
    """
    rows = [line.text for line in lines]
    data = [is_data(row) for row in rows]
    lead, end = _lead(data), head_length(lines)
    header = [*caption, *rows[:end]]
    if _is_of_words(rows[lead:]):
        return header
    group: list[str] = []
    run: list[str] = []
    for row, has_amount in zip(rows[end:], data[end:], strict=True):
        run = [] if has_amount or _is_sentence(row) else [*run, row]
        if run and _names_years(row):
            header, group = run, []
        elif run and _names_group(row):
            group = [row]
    return header + group


def head_length(lines: Sequence[Line]) -> int:
    """Return how many of the rows that begin a table name its columns."""
    rows = [line.text for line in lines]
    lead = _lead([is_data(row) for row in rows])
    is_plain = _is_of_words(rows[lead:]) or lead > MAX_HEADER_ROWS
    return min(lead, 1) if is_plain else _columns_end(lines[:lead])


def _lead(data: Sequence[bool]) -> int:
    """Return the number of rows before the first with an amount."""
    return data.index(True) if True in data else len(data)


def _is_of_words(rows: Sequence[str]) -> bool:
    amounts = sum(any(map(_is_amount, row.split("\t")[1:])) for row in rows)
    return amounts < max(1, MIN_DATA_SHARE * len(rows))


def _columns_end(lead: Sequence[Line]) -> int:
    """Return the number of header rows: up to the last that names columns, or is indented above them."""
    left, right = min((line.bbox.x0 for line in lead), default=0.0), max((line.bbox.x1 for line in lead), default=0.0)
    named = [index for index, line in enumerate(lead, start=1) if _names_columns(line.text)]
    over = [index for index, line in enumerate(lead, start=1) if line.bbox.x0 > left + INDENT * (right - left)]
    return max(named or over, default=0)


def is_data(row: str) -> bool:
    """Whether `row` has an amount: a number that is neither a year nor part of a date or name.

    Years after a label are amounts unless they are consecutive, as in column heads.
    """
    label, *entries = row.split("\t")
    if any(_is_amount(cell) or _ENDS_IN_AMOUNT.search(cell) for cell in (label, *entries)):
        return True
    years = [int(year[-4:]) for entry in entries for year in _PLAIN_YEAR.findall(entry)]
    if not years or not any(map(str.isalpha, label)) or len(years) < sum(len(entry.split()) for entry in entries):
        return False
    follow = max(years) - min(years) < len(years) and len(years) > 1
    return not (follow or _DATED.search(label) or _UNIT.search(label))


def caption_rows(above: Sequence[str]) -> list[str]:
    """Return the last texts `above` a table that describe it, its unit or its years.

    Other short texts may be between these and the table, such as a detached first row.
    """
    short = list(itertools.takewhile(lambda text: len(text) <= MAX_CAPTION_CHARS, reversed(above)))
    near = short[:MAX_CAPTION_BLOCKS]
    named = [index for index, text in enumerate(near) if _names_years(text) or _UNIT.search(text)]
    if near and not named and (near[0].endswith(":") or _CAPTION.match(near[0])):
        return near[:1]
    return [text for text in reversed(near[: max(named, default=-1) + 1]) if not is_data(text)]


def _is_amount(cell: str) -> bool:
    """Whether `cell` has only numbers, and not only years."""
    words = [word for word in cell.split() if word.strip(_SIGNS + ".") or word in "–—−-"]
    numbers = [word for word in words if not _SCALE.fullmatch(word)]
    return all(map(_AMOUNT.fullmatch, numbers)) and not all(map(_YEAR.fullmatch, numbers))


def _names_columns(row: str) -> bool:
    return "\t" in row or _names_years(row) or bool(_UNIT.search(row))


def _names_group(row: str) -> bool:
    """Whether `row` is a label that ends in a year, which applies to the rows below."""
    label = row.split()
    return "\t" not in row and bool(_YEAR.fullmatch(label[-1])) and (row[0].isupper() or len(label) == 1)


def _names_years(row: str) -> bool:
    return _years(row) > 1 and not _is_sentence(row)


def _is_sentence(row: str) -> bool:
    return len(row) > MAX_LABEL_CHARS and "\t" not in row


def _years(row: str) -> int:
    return sum(map(bool, map(_YEAR.fullmatch, row.split())))
