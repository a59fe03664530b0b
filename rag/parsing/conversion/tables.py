"""Tables that are too wide for their page, in parts: each has some of the columns, and the first one again."""

import html as escaping
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from lxml import etree
from lxml import html as parser

MAX_CELLS = 200_000
"""A table with more cells, those that span others counted as often as they cover one, stays in one part."""


class _Cell(NamedTuple):
    """A cell of the table: its element, and the column that it begins in and those that it covers."""

    element: Any
    column: int
    span: int


Fits = Callable[[str], bool]


def in_parts(table: str, fits: Fits) -> Iterator[str]:
    """The markup `table` in parts that `fits` takes, if it takes two columns side by side at all.

    Every part has the first column, which names the rows, and all rows, the header's too.
    """
    root = parser.fragment_fromstring(table)
    rows = _grid(root)
    width = max((cell.column + cell.span for row in rows for cell in row), default=0)
    if width < 3 or sum(cell.span for row in rows for cell in row) > MAX_CELLS:
        yield table
        return
    start = 1
    while start < width:
        end = _furthest(rows, start, width, fits)
        yield _part(rows, start, end)
        start = end


def _furthest(rows: list[list[_Cell]], start: int, width: int, fits: Fits) -> int:
    """The end of the columns from `start` on that fit together; at least one does."""
    least, most = start + 1, width
    while least < most:
        middle = (least + most + 1) // 2
        if fits(_part(rows, start, middle)):
            least = middle
        else:
            most = middle - 1
    return least


def _grid(table: Any) -> list[list[_Cell]]:
    """The cells of each row, with the columns that they are in. Cells that hang down from rows above leave theirs."""
    rows: list[list[_Cell]] = []
    hanging: dict[int, int] = {}
    for row in table.iter("tr"):
        if next(row.iterancestors("table")) is not table:
            continue
        column = 0
        cells: list[_Cell] = []
        taken, hanging = hanging, {at: left - 1 for at, left in hanging.items() if left > 1}
        for element in row.iterchildren("td", "th"):
            while column in taken:
                column += 1
            span, down = _span(element, "colspan"), _span(element, "rowspan")
            cells.append(_Cell(element, column, span))
            if down > 1:
                hanging.update((at, down - 1) for at in range(column, column + span))
            column += span
        rows.append(cells)
    return rows


def _span(element: Any, name: str) -> int:
    value = element.get(name, "1")
    return min(max(int(value), 1), 1000) if value.isdigit() else 1


def _part(rows: list[list[_Cell]], start: int, end: int) -> str:
    """The table with its first column and those from `start` to before `end`."""
    return "<table>" + "".join(_row(row, start, end) for row in rows) + "</table>"


def _row(row: list[_Cell], start: int, end: int) -> str:
    written: list[str] = []
    for cell in row:
        last = cell.column + cell.span
        columns = (cell.column == 0) + max(0, min(last, end) - max(cell.column, start))
        if columns:
            written.append(_cell(cell.element, columns))
    return f"<tr>{''.join(written)}</tr>"


def _cell(element: Any, columns: int) -> str:
    content = escaping.escape(element.text or "") + "".join(
        etree.tostring(child, encoding="unicode", method="html") for child in element
    )
    down = f' rowspan="{_span(element, "rowspan")}"' if element.get("rowspan") else ""
    across = f' colspan="{columns}"' if columns > 1 else ""
    return f"<{element.tag}{across}{down}>{content}</{element.tag}>"
