"""What the rows of a table mean: which are heads and sections, the column head of each cell, and the caption.

A row with an amount is data. The rows before the first data row are heads, up to the last one that names columns; what
follows is the label of a first section.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from rag import types

MAX_HEADER_ROWS = 8
MAX_CAPTION_CHARS = 200
MAX_CAPTION_BLOCKS = 4
MAX_LABEL_CHARS = 80
"""Maximum length of a label; a longer row without columns is a sentence."""
MIN_DATA_SHARE = 1 / 3
"""Minimum share of rows with amounts; with fewer, it is a table of words and amounts do not identify headers."""
INDENT = 0.15
"""Minimum indent, as a share of the width, of a row above the columns of numbers."""
INDENT_PT = 1.5
"""A row that begins further left than a section by more than this is not below it."""
MIN_NAME_LETTERS = 4
"""Among figures words are no heads if all are shorter: n.m., N/A."""
CACHED = 4096
"""Texts of a page that are looked at several times."""
SEPARATOR = " · "

_SIGNS = "$€£¥%()+−–—-"
_FOOTNOTES = r"(\(\w\)|[*†‡#§⁰¹²³⁴⁵⁶⁷⁸⁹])*"
_AMOUNT = re.compile(rf"[{_SIGNS}]*\d(?:[\d.,]*[\d.])?[%)x×]*{_FOOTNOTES}|[–—−-]+")
_SCALE = re.compile(r"(thousand|million|billion|trillion|percent|bps|years?)", re.IGNORECASE)
_YEAR = re.compile(rf"(FY|CY)?(19|20)\d\d{_FOOTNOTES},?", re.IGNORECASE)
_PLAIN_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ENDS_IN_AMOUNT = re.compile(r"\s[$€£¥(]*\s?(\d{1,3}(,\d{3})+(\.\d+)?|\d+\.\d+|\d+(\.\d+)?%|\(\d+\))[%)]*$")
_UNIT = re.compile(r"\b(thousands|millions|billions)\b|\bin (%|percent|[$€£¥]|dollars|euros)", re.IGNORECASE)
_CAPTION = re.compile(r"(?i:table|tab\.|exhibit|schedule)\s+(\d|[A-Z]{1,4}\b)")
_LETTERS = re.compile(r"[^\W\d_]")
_DATED = re.compile(r"[\d,:]$")


class Row(Protocol):
    """A line of a table: its text with tab-separated cells, and its box."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def bbox(self) -> types.Rect:
        """Its box."""


def find_heads(rows: Sequence[Row]) -> list[bool]:
    """Return for each row of a table whether it is a head row.

    Further down, rows with several years or names are heads anew, together with the rows without amounts above them.
    """
    texts = [row.text for row in rows]
    data = list(map(is_data, texts))
    lead = data.index(True) if True in data else len(data)
    rows_below = texts[lead:]
    amounts = sum(any(map(is_amount, row.split("\t")[1:])) for row in rows_below)
    of_words = amounts < max(1, MIN_DATA_SHARE * len(rows_below))
    end = min(lead, 1) if of_words or lead > MAX_HEADER_ROWS else _columns_end(rows[:lead])
    heads = [index < end for index in range(len(rows))]
    run: list[int] = []
    for index in range(end, 0 if of_words else len(rows)):
        run = [] if data[index] or _is_sentence(texts[index]) else [*run, index]
        if run and (_names_years(texts[index]) or _names_anew(texts[index])):
            for above in run:
                heads[above] = True
    return heads


def _columns_end(lead: Sequence[Row]) -> int:
    """Return the number of head rows: up to the last that names columns, or is indented above them."""
    left, right = min((row.bbox.x0 for row in lead), default=0.0), max((row.bbox.x1 for row in lead), default=0.0)
    named = [
        index
        for index, row in enumerate(lead, start=1)
        if "\t" in row.text.strip() or _names_years(row.text) or _UNIT.search(row.text)
    ]
    over = [index for index, row in enumerate(lead, start=1) if row.bbox.x0 > left + INDENT * (right - left)]
    return max(named or over, default=0)


@functools.lru_cache(CACHED)
def is_data(row: str) -> bool:
    """Whether `row` has an amount: a number that is neither a year nor part of a date or name.

    Years after a label are amounts unless they are consecutive, as in column heads.
    """
    label, *entries = row.split("\t")
    if any(is_amount(cell) or _ENDS_IN_AMOUNT.search(cell) for cell in (label, *entries)):
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


@functools.lru_cache(CACHED)
def is_amount(cell: str) -> bool:
    """Whether `cell` has only numbers, and not only years."""
    words = [word for word in cell.split() if word.strip(_SIGNS + ".") or word in "–—−-"]
    numbers = [word for word in words if not _SCALE.fullmatch(word)]
    return bool(words) and all(map(_AMOUNT.fullmatch, numbers)) and not all(map(_YEAR.fullmatch, numbers))


def _names_years(row: str) -> bool:
    return sum(map(bool, map(_YEAR.fullmatch, row.split()))) > 1 and not _is_sentence(row)


def _names_anew(row: str) -> bool:
    """Whether a row among figures has words in several columns, which differ."""
    _, *names = (field.strip() for field in row.split("\t"))
    filled = [name for name in names if name]
    letters = [len(_LETTERS.findall(name)) for name in filled]
    are_words = all(letters) and max(letters, default=0) >= MIN_NAME_LETTERS
    return are_words and len(set(filled)) > 1 and not any(map(str.isdigit, "".join(filled)))


def _is_sentence(row: str) -> bool:
    return len(row) > MAX_LABEL_CHARS and "\t" not in row


# --- meaning ------------------------------------------------------------------------------------------


class PlacedRow(NamedTuple):
    """A row of a table whose cells have columns."""

    text: str
    bbox: types.Rect
    cells: tuple[types.TableCell, ...]
    is_head: bool
    label: str = ""
    """A label that spans the row from above."""


class Heading:
    """The heads, sections and caption that apply to the next row of a table; another page may go on with it."""

    def __init__(self, caption: str = "") -> None:
        self.caption = caption
        self.heads: list[tuple[types.TableCell, str]] = []
        self._sections: list[tuple[float, str]] = []
        self._was_head = False

    def explain(self, row: PlacedRow) -> types.TableRow:
        """Return what `row` means, and apply it to those that follow if it is a head or a section."""
        texts = row.text.split("\t")
        if row.is_head:
            found = [(cell, text.strip()) for cell, text in zip(row.cells, texts, strict=True) if text.strip()]
            if len(found) == 1 and found[0][1][0] == "(" and found[0][1][-1] == ")":
                # a remark on all columns: "(in millions)", "(Rs. in crores)"
                found = [(types.TableCell(0, max(found[0][0].last, 1)), found[0][1])]
            if not set(found) <= set(self.heads):  # else they are repeated on another page
                if not self._was_head:
                    self.heads, self._sections = [], []
                self.heads += found
                self._was_head = True
            return types.TableRow(cells=row.cells, is_head=True, caption=self._full_caption())
        self._was_head = False
        filled = [text.strip() for text in texts if text.strip()]
        left = row.bbox.x0
        is_section = len(filled) == 1 and row.cells[0].first == 0 and _is_name(filled[0])
        self._sections = [
            entry
            for entry in self._sections
            if left > entry[0] - INDENT_PT and not (is_section and left < entry[0] + INDENT_PT)
        ]
        section = SEPARATOR.join(filter(None, (*(text for _, text in self._sections), row.label)))
        if is_section:
            self._sections.append((left, filled[0]))
        cells = tuple(cell._replace(head=self.head_of(cell)) for cell in row.cells)
        return types.TableRow(cells=cells, section=section, caption=self._full_caption())

    def head_of(self, cell: types.TableCell) -> str:
        """Return the heads above a cell, from top to bottom; one above both the labels and columns is a caption."""
        parts: list[tuple[types.TableCell, str]] = []
        for head, text in self.heads:
            if head.first <= cell.last and cell.first <= head.last and not _is_across(head):
                if parts and parts[-1][0] == head:  # one head on several lines
                    parts[-1] = (head, f"{parts[-1][1]} {text}")
                else:
                    parts.append((head, text))
        return SEPARATOR.join(text for _, text in parts)

    def _full_caption(self) -> str:
        across = [text for head, text in self.heads if _is_across(head)]
        return SEPARATOR.join(filter(None, (self.caption, *across)))


def _is_across(head: types.TableCell) -> bool:
    return head.first == 0 < head.last


def _is_name(text: str) -> bool:
    """Whether the only text of a row names a section."""
    return len(text) <= MAX_LABEL_CHARS and not is_data(text) and any(map(str.isalpha, text)) and text[-1:] not in ".;"


def rows_of(lines: Sequence[types.Line], caption: str = "") -> list[types.TableRow]:
    """Return what the lines of a table mean, where it is not known from their texts alone, below `caption`."""
    known = [line.row for line in lines if line.row is not None]
    if len(known) == len(lines):
        return known
    heading = Heading(caption)
    return [heading.explain(row) for row in _number_cells(lines)]


def with_rows(blocks: Iterable[types.TextBlock]) -> Iterator[types.TextBlock]:
    """Explain the rows of tables in blocks that were not made by our parser."""
    above: list[types.TextBlock] = []
    for block in blocks:
        made = block
        if block.kind is types.BlockKind.TABLE:
            lines = block.to_lines()
            near = [text.text.replace("\n", " ") for text in above if text.page_number == block.page_number]
            rows = rows_of(lines, SEPARATOR.join(caption_rows(near)))
            made = block.model_copy(
                update={
                    "lines": tuple(line.model_copy(update={"row": row}) for line, row in zip(lines, rows, strict=True))
                }
            )
        above = [*above[-MAX_CAPTION_BLOCKS:], block] if block.kind is types.BlockKind.TEXT else []
        yield made


def _number_cells(placed: Sequence[Row]) -> Iterator[PlacedRow]:
    """Number the cells of rows of which only the texts are known, from left to right."""
    count = max((row.text.count("\t") for row in placed), default=0)
    for row, is_head in zip(placed, find_heads(placed), strict=True):
        fields = row.text.count("\t")
        first = 1 if is_head and fields == count - 1 > 0 else 0  # the labels have no head
        cells = tuple(types.TableCell(first + index, first + index) for index in range(fields + 1))
        yield PlacedRow(row.text, row.bbox, cells, is_head)
