"""Find the tables of a sheet, their header rows, and the titles above them."""

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple

from rag.parsing.sheets.cell_names import Area
from rag.parsing.sheets.sheet import Cell, Sheet

MAX_HEADER_ROWS = 4
MAX_FROZEN_ROWS = 12
MIN_SHARE = 0.6
"""Least share of labels in the first column, and of figures in the others, of tables beside each other."""
_PERIOD = re.compile(
    r"(?:FY|CY)?\s*['’]?(?:19|20)\d\d[EAFP]?|[QH][1-4]\D{0,3}(?:\d\d){0,2}|\d{4}-\d\d-\d\d", re.IGNORECASE
)


class Region(NamedTuple):
    """A table, or a run of titles, which are text. `heads` are the rows of a table that name its columns."""

    kind: Literal["text", "table"]
    area: Area
    heads: tuple[int, ...] = ()


def regions(sheet: Sheet) -> list[Region]:
    """Return the regions of a sheet that has at least one cell, from top to bottom and from left to right."""
    return [region for part in _side_by_side(sheet) for region in _stacked(part)]


def titles(sheet: Sheet) -> set[int]:
    """Return rows with nothing but words in the first column."""
    first = sheet.columns[0]
    return {
        number for number, row in sheet.cells.items() if len(row) == 1 and first in row and not row[first].is_number
    }


# --- tables beside each other --------------------------------------------------------------------------------


def _side_by_side(sheet: Sheet) -> Iterator[Sheet]:
    """Yield parts of the sheet, divided at empty columns if these separate tables."""
    panels: list[tuple[list[int], list[int]]] = []
    for rows in _runs(sorted(sheet.cells)):
        starts = _table_columns(sheet, rows)
        if panels and panels[-1][1] == starts:
            panels[-1][0].extend(rows)
        else:
            panels.append((rows, starts))
    if len(panels) == 1 and len(panels[0][1]) == 1:
        yield sheet
        return
    for rows, starts in panels:
        for start, end in pairwise([*starts, 1 << 20]):
            part = {
                row: cells
                for row in rows
                if (cells := {column: cell for column, cell in sheet.cells[row].items() if start <= column < end})
            }
            if part:
                yield dataclasses.replace(sheet, cells=part)


def _table_columns(sheet: Sheet, rows: Sequence[int]) -> list[int]:
    """Return the first column of each of the tables beside each other in `rows`; the first one begins at 1."""
    used = sorted({column for row in rows for column in sheet.cells[row]})
    groups = list(_runs(used))
    starts = [1]
    for before, group in pairwise(groups):
        is_bridged = any(
            area.left <= before[-1] and area.right >= group[0] and rows[0] <= area.top <= rows[-1]
            for area in sheet.merged
            if len(sheet.cells.get(area.top, ())) > 1
        )
        if not is_bridged and _stands_alone(sheet, rows, groups[0]) and _stands_alone(sheet, rows, group):
            starts.append(group[0])
    return starts


def _stands_alone(sheet: Sheet, rows: Sequence[int], columns: Sequence[int]) -> bool:
    """Whether the columns are a table of their own: below its header there are labels, and figures beside them."""
    first, last = columns[0], columns[-1]
    filled = [
        cells for cells in map(sheet.cells.__getitem__, rows) if any(first <= column <= last for column in cells)
    ][1:]
    named = sum(first in cells and _is_name(cells[first]) for cells in filled)
    values = [cell for cells in filled for column, cell in cells.items() if first < column <= last]
    figures = sum(cell.is_number for cell in values)
    return bool(values) and named >= MIN_SHARE * len(filled) and figures >= MIN_SHARE * len(values)


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in numbers:
        if run and number > run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


# --- tables below each other ---------------------------------------------------------------------------------


def _stacked(sheet: Sheet) -> Iterator[Region]:
    numbers = sorted(sheet.cells)
    left, right = sheet.columns[0], sheet.columns[-1]
    headers = {header[0]: header for header in _headers(sheet, numbers)}
    texts = _texts(sheet, numbers, headers)
    run: list[int] = []
    for number, following in zip(numbers, [*numbers[1:], 0], strict=True):
        run.append(number)
        if following == 0 or following in headers or (following in texts) != (number in texts):
            kind: Literal["text", "table"] = "text" if number in texts else "table"
            yield Region(kind, Area(run[0], left, number, right), headers.get(run[0], ()))
            run = []


def _headers(sheet: Sheet, numbers: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the rows that name columns: the frozen ones, else rows of words and periods at the start of a table."""
    if 0 < sheet.frozen_rows <= MAX_FROZEN_ROWS:
        frozen = [row for row in numbers if row <= sheet.frozen_rows and len(sheet.cells[row]) > 1]
        if frozen and frozen[-1] < numbers[-1]:
            return [tuple(frozen[-MAX_HEADER_ROWS:])]
    headers: list[tuple[int, ...]] = []
    index = 0
    while index < len(numbers):
        end = _header_end(sheet, numbers, index)
        # A header stands at the start of a table: first, after a gap, or after a title.
        is_start = _follows_gap(numbers, index) or (
            len(sheet.cells[numbers[index - 1]]) == 1 and (not headers or _follows_gap(numbers, index - 1))
        )
        if end > index and is_start:
            headers.append(tuple(numbers[index:end]))
            index = end
        else:
            index += 1
    return headers


def _texts(sheet: Sheet, numbers: Sequence[int], tables: Iterable[int]) -> set[int]:
    """Return the titles directly above a table's header, or above its first row."""
    title_rows = titles(sheet)
    first = next((index for index, row in enumerate(numbers) if row not in title_rows), None)
    if first is None:
        return title_rows
    texts: set[int] = set()
    for start in (first, *(bisect_left(numbers, row) for row in tables)):
        texts.update(takewhile(title_rows.__contains__, (numbers[index] for index in range(start - 1, -1, -1))))
    return texts


def _follows_gap(numbers: Sequence[int], index: int) -> bool:
    return index == 0 or numbers[index - 1] < numbers[index] - 1


def _header_end(sheet: Sheet, numbers: Sequence[int], index: int) -> int:
    """Return the end of the consecutive header rows from `index` on, `index` if there are none.

    A further row of names belongs to the header if only one of the two rows names the first column, or if the upper
    one has names over several columns.
    """
    if not _names_columns(sheet, numbers[index]):
        return index
    labels = min(min(sheet.cells[number]) for number in numbers[index : index + 20])
    end = index + 1
    while end < min(len(numbers), index + MAX_HEADER_ROWS) and numbers[end] == numbers[end - 1] + 1:
        above, below = numbers[end - 1], numbers[end]
        is_same_header = labels not in sheet.cells[above] or labels not in sheet.cells[below] or _spans(sheet, above)
        if not (is_same_header and _names_columns(sheet, below)):
            break
        end += 1
    return end if end < len(numbers) else index


def _names_columns(sheet: Sheet, row: int) -> bool:
    cells = sheet.cells[row]
    return (len(cells) > 1 or _spans(sheet, row)) and all(map(_is_name, cells.values()))


def _spans(sheet: Sheet, row: int) -> bool:
    names = (column for column in sheet.cells[row] if column > sheet.columns[0])
    return any((area := sheet.spans.get((row, column))) is not None and area.right > column for column in names)


def _is_name(cell: Cell) -> bool:
    return not cell.is_number or _PERIOD.fullmatch(cell.text.strip()) is not None
