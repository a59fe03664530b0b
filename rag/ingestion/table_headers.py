"""What names the columns of a table, for its parts that stand in later chunks.

Rows come as text with tabs between cells. A row with an amount is data. The rows before the first one name the
columns, as far as the last of them that says something of columns: what follows it is the label of a first group.
"""

import itertools
import re
from collections.abc import Sequence

from rag.types import Line

MAX_HEADER_ROWS = 8
MAX_CAPTION_CHARS = 200
MAX_CAPTION_BLOCKS = 4
MAX_LABEL_CHARS = 80
"""A longer row without columns is a sentence in which a year happens to stand."""
MIN_DATA_SHARE = 1 / 3
"""A table in which fewer rows have amounts is one of words, whose header cannot be told from its data by them."""
INDENT = 0.15
"""Rows that begin so far to the right, as a share of the width, stand over the columns of numbers."""

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
    """The rows that head what follows `lines`, the first of a table: `caption`, column heads, the last group's year.

    Columns that are named anew further down, with years, take the place of those at the top and their caption.
    """
    rows = [line.text for line in lines]
    data = [is_data(row) for row in rows]
    lead = data.index(True) if True in data else len(rows)
    end = min(lead, 1) if _is_of_words(rows[lead:]) or lead > MAX_HEADER_ROWS else _columns_end(lines[:lead])
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


def _is_of_words(rows: Sequence[str]) -> bool:
    amounts = sum(any(map(_is_amount, row.split("\t")[1:])) for row in rows)
    return amounts < max(1, MIN_DATA_SHARE * len(rows))


def _columns_end(lead: Sequence[Line]) -> int:
    """How many of the rows before the data name columns: up to the last that says so, or stands over them."""
    left, right = min((line.bbox.x0 for line in lead), default=0.0), max((line.bbox.x1 for line in lead), default=0.0)
    named = [index for index, line in enumerate(lead, start=1) if _names_columns(line.text)]
    over = [index for index, line in enumerate(lead, start=1) if line.bbox.x0 > left + INDENT * (right - left)]
    return max(named or over, default=0)


def is_data(row: str) -> bool:
    """Whether there is an amount in `row`: a number that is neither a year nor part of a date or a name.

    Years after a label are amounts if they do not follow each other as the years of columns do.
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
    """The last of the texts `above` a table that say what it shows, and in which unit or for which years.

    Other short texts may stand between these and the table, such as a first row that is set apart.
    """
    short = list(itertools.takewhile(lambda text: len(text) <= MAX_CAPTION_CHARS, reversed(above)))
    near = short[:MAX_CAPTION_BLOCKS]
    named = [index for index, text in enumerate(near) if _names_years(text) or _UNIT.search(text)]
    if near and not named and (near[0].endswith(":") or _CAPTION.match(near[0])):
        return near[:1]
    return [text for text in reversed(near[: max(named, default=-1) + 1]) if not is_data(text)]


def _is_amount(cell: str) -> bool:
    """Whether there are only numbers in `cell`, and not only years."""
    words = [word for word in cell.split() if word.strip(_SIGNS + ".") or word in "–—−-"]
    numbers = [word for word in words if not _SCALE.fullmatch(word)]
    return all(map(_AMOUNT.fullmatch, numbers)) and not all(map(_YEAR.fullmatch, numbers))


def _names_columns(row: str) -> bool:
    return "\t" in row or _names_years(row) or bool(_UNIT.search(row))


def _names_group(row: str) -> bool:
    """Whether `row` is a label that ends in a year: what follows is of that year."""
    label = row.split()
    return "\t" not in row and bool(_YEAR.fullmatch(label[-1])) and (row[0].isupper() or len(label) == 1)


def _names_years(row: str) -> bool:
    return _years(row) > 1 and not _is_sentence(row)


def _is_sentence(row: str) -> bool:
    return len(row) > MAX_LABEL_CHARS and "\t" not in row


def _years(row: str) -> int:
    return sum(map(bool, map(_YEAR.fullmatch, row.split())))
