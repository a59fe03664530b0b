"""Plan how a sheet is laid out on pages: which rows are headers, how wide columns are, and which share a page."""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rag.parsing.html.layout import MARGIN_PT
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.sheets.page_grid import CONTINUED_PT
from rag.parsing.sheets.sheet import MAX_HEADER_ROWS, Cell, Sheet

FONT_SIZE_PT = 8.0
PADDING_X_PT = 4.5
"""Space between a cell's text and its edges. Texts of two cells are at least one em apart and never read as one run."""
MIN_COLUMN_PT, MAX_COLUMN_PT, MAX_WORD_PT = 32.0, 190.0, 260.0
"""Minimum width of a column, maximum width of text that can be wrapped, and width at which words are cut."""
EMPTY_COLUMN_PT = 20.0
ROW_NUMBERS_PT = 26.0
PAGE_SIZES_PT = ((595.0, 842.0), (842.0, 595.0), (1191.0, 842.0))
"""A4 portrait, A4 and A3 landscape; the first one that is wide enough is used."""
MAX_LABEL_SHARE = 0.35
"""Columns on further pages repeat the first column if it takes at most this share of the page's width."""
MAX_GAP = 3
"""Longer runs of empty rows or columns are left out."""
MAX_MEASURED_CHARS = 2000
MAX_FROZEN_ROWS = 12
BOLD_FACTOR = 1.1
_FONT = pymupdf.Font("helv")
_LINE_END = re.compile(r"\r\n?|\u2028")

_PERIOD = re.compile(
    r"(?:FY|CY)?\s*['’]?(?:19|20)\d\d[EAFP]?|[QH][1-4]\D{0,3}(?:\d\d){0,2}|\d{4}-\d\d-\d\d", re.IGNORECASE
)


class Band(NamedTuple):
    """A run of header rows: the first and the last."""

    first: int
    last: int

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and self.first <= row <= self.last


class Plan(NamedTuple):
    """The `rows` to show in order, and the columns in `groups` that each have pages of their own.

    `widths` are those of columns in points. `headers` are rows that name columns, `texts` rows outside of tables,
    `titles` rows whose only text may extend over the other columns.
    """

    rows: list[int]
    widths: dict[int, float]
    groups: list[list[int]]
    page_size: tuple[float, float]
    headers: list[Band]
    titles: set[int]
    texts: set[int]


def plan(sheet: Sheet) -> Plan:
    """Plan the layout of a sheet that has at least one cell."""
    rows = with_small_gaps(sorted(sheet.cells))
    columns = with_small_gaps(sorted({column for row in sheet.cells.values() for column in row}))
    title_rows = titles(sheet)
    widths = _widths(sheet, columns, title_rows)
    total = sum(widths.values())
    size = next((size for size in PAGE_SIZES_PT if total <= _room(size)), PAGE_SIZES_PT[-1])
    headers = header_bands(sheet)
    groups = _groups(columns, widths, _room(size))
    return Plan(rows, widths, groups, size, headers, title_rows, _texts(sheet, headers, title_rows))


def _room(size: tuple[float, float]) -> float:
    return size[0] - 2 * MARGIN_PT - ROW_NUMBERS_PT


def with_small_gaps(numbers: Iterable[int]) -> list[int]:
    """Fill short gaps in ascending `numbers`, also before the first."""
    filled: list[int] = []
    before = 0
    for number in numbers:
        if number - before - 1 <= MAX_GAP:
            filled.extend(range(before + 1, number))
        filled.append(number)
        before = number
    return filled


# --- columns -------------------------------------------------------------------------------------------------


@functools.cache
def _advance(character: str) -> float:
    return BOLD_FACTOR * float(_FONT.text_length(character, FONT_SIZE_PT))


def text_width(text: str) -> float:
    """Return the width of `text` on one line in points, at least as wide as it is in bold type."""
    return sum(map(_advance, text))


def _widths(sheet: Sheet, columns: Sequence[int], title_rows: set[int]) -> dict[int, float]:
    """Make each column as wide as its widest cell, within limits."""
    widths = dict.fromkeys(columns, EMPTY_COLUMN_PT)
    for row, cells in sheet.cells.items():
        for column, cell in cells.items():
            if sheet.right_of(row, column) == column and row not in title_rows:
                widths[column] = max(widths[column], MIN_COLUMN_PT, _cell_width(cell) + 2 * PADDING_X_PT)
    if max(widths.values()) == EMPTY_COLUMN_PT:  # nothing but titles
        widths[columns[-1]] = MAX_COLUMN_PT
    return widths


def _cell_width(cell: Cell) -> float:
    """Return the width that a cell needs: numbers on one line, text in lines of moderate length."""
    longest = max(map(text_width, cell.text[:MAX_MEASURED_CHARS].split("\n")), default=0.0)
    if cell.is_number or longest <= MAX_COLUMN_PT:
        return min(longest, MAX_WORD_PT)
    return max(MAX_COLUMN_PT, min(text_width(max(cell.text.split(), key=len)), MAX_WORD_PT))


def _groups(columns: Sequence[int], widths: dict[int, float], room: float) -> list[list[int]]:
    """Divide columns among pages; each page repeats the first column, which has the labels."""
    repeated = [columns[0]] if widths[columns[0]] <= MAX_LABEL_SHARE * room else []
    groups: list[list[int]] = [[]]
    left = room
    for column in columns:
        if groups[-1] and widths[column] > left:
            groups.append([*repeated])
            left = room - sum(widths[other] for other in repeated)
        groups[-1].append(column)
        left -= widths[column]
    return groups


class Line(NamedTuple):
    """A line of a cell; `continues` tells that it continues a word cut at the end of the previous line."""

    text: str
    continues: bool = False


def wrapped(text: str, width: float) -> list[Line]:
    """Wrap `text` at white space into lines of at most `width` points; cut words that are wider."""
    text = _LINE_END.sub("\n", text).strip()
    if "\n" not in text and text_width(text) <= width:
        return [Line(text)]
    return [line for part in text.split("\n") for line in _wrapped(part.split(), width)] or [Line("")]


def _wrapped(words: Sequence[str], width: float) -> Iterator[Line]:
    current, used, continues = "", 0.0, False
    for word in words:
        size = text_width(word)
        if current and used + text_width(" ") + size > width:
            yield Line(current, continues)
            current, used, continues = "", 0.0, False
        current, used = f"{current} {word}" if current else word, used + text_width(" ") + size
        while used - text_width(" ") > width and len(current) > 1:
            fitting = _fitting(current, width - CONTINUED_PT)
            yield Line(current[:fitting], continues)
            current, continues = current[fitting:], True
            used = text_width(" ") + text_width(current)
    if current:
        yield Line(current, continues)


def _fitting(word: str, width: float) -> int:
    """Return how many characters of a word fit on a line, at least one."""
    ends = itertools.accumulate(map(_advance, word))
    return max(1, sum(1 for _ in itertools.takewhile(lambda end: end <= width, ends)))


# --- rows ----------------------------------------------------------------------------------------------------


def titles(sheet: Sheet) -> set[int]:
    """Return rows with nothing but words in the first column."""
    first = min(column for cells in sheet.cells.values() for column in cells)
    return {
        row for row, cells in sheet.cells.items() if len(cells) == 1 and first in cells and not cells[first].is_number
    }


def header_bands(sheet: Sheet) -> list[Band]:
    """Return the rows that name columns: the frozen ones, else rows of words and periods at the start of a table."""
    numbers = sorted(sheet.cells)
    if 0 < sheet.frozen_rows <= MAX_FROZEN_ROWS:
        frozen = [row for row in numbers if row <= sheet.frozen_rows and len(sheet.cells[row]) > 1]
        if frozen and frozen[-1] < numbers[-1]:
            return [Band(frozen[-MAX_HEADER_ROWS:][0], frozen[-1])]
    bands: list[Band] = []
    index = 0
    while index < len(numbers):
        last = _band_end(sheet, numbers, index)
        if last is not None and _begins_table(sheet, numbers, index, is_first=not bands):
            bands.append(Band(numbers[index], numbers[last]))
            index = last
        index += 1
    return bands


def _texts(sheet: Sheet, headers: Sequence[Band], title_rows: set[int]) -> set[int]:
    """Return the titles directly above a table's header, or above its first row."""
    numbers = sorted(sheet.cells)
    tables = [index for index, row in enumerate(numbers) if row not in title_rows][:1]
    tables += [numbers.index(band.first) for band in headers]
    texts = set(numbers) if not tables else set[int]()
    for index in tables:
        texts.update(itertools.takewhile(title_rows.__contains__, reversed(numbers[:index])))
    return texts


def _begins_table(sheet: Sheet, numbers: Sequence[int], index: int, *, is_first: bool) -> bool:
    """Return whether a header row stands at the start of a table: first, after a gap, or after a title."""
    if _follows_gap(numbers, index):
        return True
    return len(sheet.cells[numbers[index - 1]]) == 1 and (is_first or _follows_gap(numbers, index - 1))


def _follows_gap(numbers: Sequence[int], index: int) -> bool:
    return index == 0 or numbers[index - 1] < numbers[index] - 1


def _band_end(sheet: Sheet, numbers: Sequence[int], index: int) -> int | None:
    """Return the index of the last of consecutive header rows from `index` on, None if that row is not a header."""
    if not _names_columns(sheet.cells[numbers[index]]):
        return None
    labels = min(min(sheet.cells[number]) for number in numbers[index : index + 20])
    last = index
    while (
        last + 1 < len(numbers)
        and last + 1 - index < MAX_HEADER_ROWS
        and numbers[last + 1] == numbers[last] + 1
        and _names_columns(sheet.cells[numbers[last + 1]])
        and (labels not in sheet.cells[numbers[last]] or labels not in sheet.cells[numbers[last + 1]])
    ):
        last += 1
    return last if last + 1 < len(numbers) else None


def _names_columns(cells: dict[int, Cell]) -> bool:
    """Return whether a row has two or more entries, all of them words or periods."""
    return len(cells) > 1 and all(not cell.is_number or _PERIOD.fullmatch(cell.text.strip()) for cell in cells.values())
