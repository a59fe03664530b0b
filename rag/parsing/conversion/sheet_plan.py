"""How a sheet goes onto pages: which rows name its columns, how wide these are, and which of them share a page."""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.parsing.conversion.sheet import MAX_HEADER_ROWS, Cell, Sheet
from rag.parsing.conversion.type_setting import Faces

FONT_SIZE_PT = 8.0
PADDING_X_PT, PADDING_Y_PT = 4.5, 2.5
"""White between a cell's text and its edges. Two cells' texts are more than an em apart, so they are never one run."""
MIN_COLUMN_PT, MAX_COLUMN_PT, MAX_WORD_PT = 32.0, 190.0, 260.0
"""How narrow a column is; how wide, where its text can be wrapped; and where it would cut a word."""
EMPTY_COLUMN_PT = 20.0
MARGIN_PT = 34.0
RULER_PT = 26.0
"""The width of the row numbers at the left."""
PAGE_SIZES_PT = ((595.0, 842.0), (842.0, 595.0), (1191.0, 842.0))
"""A4 upright, A4 and A3 on their sides: the first that a sheet fits on is taken."""
MAX_LABEL_SHARE = 0.35
"""A first column wider than this share of the page is not repeated where columns go on another page."""
MAX_GAP = 3
"""So many empty rows or columns in a row are shown; of a wider gap only the numbers beside it tell."""
SAMPLED_ROWS = 2000
MAX_FROZEN_ROWS = 12

_PERIOD = re.compile(
    r"(?:FY|CY)?\s*['’]?(?:19|20)\d\d[EAFP]?|[QH][1-4]\D{0,3}(?:\d\d){0,2}|\d{4}-\d\d-\d\d", re.IGNORECASE
)


class Band(NamedTuple):
    """Rows that name columns, the first and the last of them."""

    first: int
    last: int


class Plan(NamedTuple):
    """What is shown, in order: `rows`, and `columns` in `groups`, each of which has pages of its own.

    `widths` in points are those of columns. `bands` are rows that name columns, `texts` those that are no part of a
    table, `titles` those whose words run on beyond their column.
    """

    rows: list[int]
    widths: dict[int, float]
    groups: list[list[int]]
    page_size: tuple[float, float]
    bands: list[Band]
    titles: set[int]
    texts: set[int]


def plan(sheet: Sheet, faces: Faces) -> Plan:
    """The plan of a sheet that has at least one cell."""
    rows = with_small_gaps(sorted(sheet.cells))
    columns = with_small_gaps(sorted({column for row in sheet.cells.values() for column in row}))
    widths = _widths(sheet, columns, faces)
    total = sum(widths[column] for column in columns)
    size = next((size for size in PAGE_SIZES_PT if total <= _room(size)), PAGE_SIZES_PT[-1])
    groups = _groups(columns, widths, _room(size))
    bands = header_bands(sheet)
    return Plan(rows, widths, groups, size, bands, titles(sheet), _texts(sheet, bands))


def _room(size: tuple[float, float]) -> float:
    return size[0] - 2 * MARGIN_PT - RULER_PT


def with_small_gaps(numbers: Sequence[int]) -> list[int]:
    """`numbers` in ascending order with those between them, where few are missing; from 1, if the first is near."""
    filled: list[int] = []
    before = 0
    for number in numbers:
        if number - before - 1 <= MAX_GAP:
            filled.extend(range(before + 1, number))
        filled.append(number)
        before = number
    return filled


# --- columns -------------------------------------------------------------------------------------------------


def _widths(sheet: Sheet, columns: Sequence[int], faces: Faces) -> dict[int, float]:
    """Each column as wide as its widest entry, within limits; wide enough for every number and for most words."""
    widths = dict.fromkeys(columns, EMPTY_COLUMN_PT)
    merged = {(area.top, area.left) for area in sheet.merged if area.right > area.left}
    running = titles(sheet)
    for row, column, cell in _sample(sheet):
        if (row, column) in merged or row in running:
            continue
        widths[column] = max(widths[column], MIN_COLUMN_PT, _natural(cell, faces) + 2 * PADDING_X_PT)
    if not any(width > EMPTY_COLUMN_PT for width in widths.values()):  # nothing but titles
        widest = max(faces.width(cell.text, FONT_SIZE_PT, bold=True) for _, _, cell in _sample(sheet))
        widths[columns[-1]] = min(max(widest + 2 * PADDING_X_PT, MAX_COLUMN_PT), _room(PAGE_SIZES_PT[0]))
    return widths


def _natural(cell: Cell, faces: Faces) -> float:
    """The width that a cell asks for: numbers on one line, text in lines that are not too long."""
    if cell.is_number:
        return min(faces.width(cell.text, FONT_SIZE_PT, bold=True), MAX_WORD_PT)
    longest = max((faces.width(line, FONT_SIZE_PT, bold=True) for line in cell.text[:2000].split("\n")), default=0.0)
    if longest <= MAX_COLUMN_PT:
        return longest
    word = max(cell.text.split(), key=len)[:200]
    return max(MAX_COLUMN_PT, min(faces.width(word, FONT_SIZE_PT, bold=True), MAX_WORD_PT))


def _sample(sheet: Sheet) -> list[tuple[int, int, Cell]]:
    """Cells to measure: those of the first rows and of some further down, and the longest of each column."""
    numbers = sorted(sheet.cells)
    step = max(1, len(numbers) // SAMPLED_ROWS)
    chosen = dict.fromkeys([*numbers[:SAMPLED_ROWS], *numbers[::step]])
    longest: dict[int, tuple[int, Cell]] = {}
    if step > 1:
        for row in numbers:
            for column, cell in sheet.cells[row].items():
                if column not in longest or len(cell.text) > len(longest[column][1].text):
                    longest[column] = (row, cell)
    sampled = [(row, column, cell) for row in chosen for column, cell in sheet.cells[row].items()]
    return [*sampled, *((row, column, cell) for column, (row, cell) in longest.items())]


def titles(sheet: Sheet) -> set[int]:
    """Rows that have nothing but words in the first column, which run on over the empty cells beside them."""
    first = min(column for cells in sheet.cells.values() for column in cells)
    return {
        row for row, cells in sheet.cells.items() if len(cells) == 1 and first in cells and not cells[first].is_number
    }


def _groups(columns: Sequence[int], widths: dict[int, float], room: float) -> list[list[int]]:
    """Columns that share a page; the first one, with the labels, is on each."""
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


# --- rows ----------------------------------------------------------------------------------------------------


def header_bands(sheet: Sheet) -> list[Band]:
    """Rows that name columns: the frozen ones, else rows of words and periods that begin a table."""
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


def _texts(sheet: Sheet, bands: Sequence[Band]) -> set[int]:
    """Titles above a table: those before the names of its columns, or before its first row."""
    numbers, running = sorted(sheet.cells), titles(sheet)
    tables = [index for index, row in enumerate(numbers) if row not in running][:1]
    tables += [numbers.index(band.first) for band in bands]
    texts = set(numbers) if not tables else set[int]()
    for index in tables:
        texts.update(itertools.takewhile(running.__contains__, reversed(numbers[:index])))
    return texts


def _begins_table(sheet: Sheet, numbers: Sequence[int], index: int, *, is_first: bool) -> bool:
    """Whether a row that names columns stands where a table begins: after nothing, a gap or a title."""
    if index == 0 or numbers[index - 1] < numbers[index] - 1:
        return True
    return len(sheet.cells[numbers[index - 1]]) == 1 and (is_first or index == 1 or _is_after_gap(numbers, index - 1))


def _is_after_gap(numbers: Sequence[int], index: int) -> bool:
    return index == 0 or numbers[index - 1] < numbers[index] - 1


def _band_end(sheet: Sheet, numbers: Sequence[int], index: int) -> int | None:
    """The index of the last of the rows from `index` on that name columns together; None if that one names none."""
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
    following = sheet.cells[numbers[last + 1]] if last + 1 < len(numbers) else {}
    return last if following else None


def _names_columns(cells: dict[int, Cell]) -> bool:
    """Whether a row has two or more entries, all of them words or periods."""
    return len(cells) > 1 and all(not cell.is_number or _PERIOD.fullmatch(cell.text.strip()) for cell in cells.values())
