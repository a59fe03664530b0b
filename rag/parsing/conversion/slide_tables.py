"""Tables on slides: where each cell stands, how it is filled, and what is written in it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rag.parsing.conversion import slide_text
from rag.parsing.conversion.packages import local
from rag.parsing.conversion.slide_canvas import text_height
from rag.parsing.conversion.slide_styles import WHITE, Colour, TextStyle, mixed
from rag.parsing.pdf.mupdf import pymupdf

LINE: Colour = (0.5, 0.5, 0.5)
_MARGIN_X_PT, _MARGIN_Y_PT = 5.0, 3.0
_EMU_PER_POINT = 12_700
_MEDIUM_STYLE = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"
"""The style that office programs give to new tables: a head in the first accent colour over banded rows."""
_BAND_SHARE = 0.2
_ANCHORS = {"ctr": 0.5, "b": 1.0}


class Cell(NamedTuple):
    """A cell's box in points, and what is in it."""

    box: Any
    html: str
    fill: Colour | None
    anchor: float


def inner(box: Any) -> Any:
    """Where a cell's text stands."""
    return pymupdf.Rect(box.x0 + _MARGIN_X_PT, box.y0 + _MARGIN_Y_PT, box.x1 - _MARGIN_X_PT, box.y1 - _MARGIN_Y_PT)


def cells(table: Any, box: Any, bottom: float, style: TextStyle) -> Iterator[Cell]:
    """The cells of a table that begins where `box` does and may reach down to `bottom`.

    Rows are as high as their text needs, as programs draw them; in a table that is too high they are made lower.
    """
    widths = [_points(column.get("w")) for column in table.iterfind("{*}tblGrid/{*}gridCol")]
    rows = table.findall("{*}tr")
    lefts = _edges(box.x0, widths)
    contents = [
        [_content(table, number, cell, style) for cell in row.findall("{*}tc")] for number, row in enumerate(rows)
    ]
    tops = _edges(box.y0, _heights(rows, contents, widths, bottom - box.y0))
    for number, row in enumerate(rows):
        for column, cell in enumerate(row.findall("{*}tc")[: len(widths)]):
            if cell.get("hMerge") not in {"1", "true"} and cell.get("vMerge") not in {"1", "true"}:
                right = lefts[min(column + _span(cell, "gridSpan"), len(widths))]
                low = tops[min(number + _span(cell, "rowSpan"), len(rows))]
                place = pymupdf.Rect(lefts[column], tops[number], right, low)
                yield Cell(place, contents[number][column], _fill(table, number, cell, style), _anchor(cell))


def _heights(
    rows: Sequence[Any], contents: Sequence[Sequence[str]], widths: Sequence[float], room: float
) -> list[float]:
    drawn = zip(rows, contents, strict=True)
    heights = [max([_points(row.get("h")), *_needed(row, content, widths)]) for row, content in drawn]
    share = room / sum(heights) if 0 < room < sum(heights) else 1.0
    return [share * height for height in heights]


def _points(value: str | None) -> float:
    return max(int(value), 0) / _EMU_PER_POINT if value and value.lstrip("-").isdigit() else 0.0


def _span(cell: Any, name: str) -> int:
    value = cell.get(name, "1")
    return max(int(value), 1) if value.isdigit() else 1


def _edges(start: float, sizes: Sequence[float]) -> list[float]:
    edges = [start]
    for size in sizes:
        edges.append(edges[-1] + size)
    return edges


def _needed(row: Any, content: Sequence[str], widths: Sequence[float]) -> Iterator[float]:
    """How high the cells that stand in this row alone have to be."""
    for column, (cell, html) in enumerate(zip(row.findall("{*}tc"), content, strict=True)):
        if html and _span(cell, "rowSpan") == 1:
            width = sum(widths[column : column + _span(cell, "gridSpan")]) - 2 * _MARGIN_X_PT
            yield text_height(html, width) + 2 * _MARGIN_Y_PT if width > 1 else 0.0


def _content(table: Any, row: int, cell: Any, style: TextStyle) -> str:
    body = cell.find("{*}txBody")
    if not slide_text.has_text(body):
        return ""
    head = _is_head(table, row)
    content = slide_text.to_html(body, style, WHITE if head and _is_medium(table) and _own(cell) is None else None)
    return f"<b>{content}</b>" if head else content


def _is_head(table: Any, row: int) -> bool:
    properties = table.find("{*}tblPr")
    return row == 0 and properties is not None and properties.get("firstRow") in {"1", "true"}


def _is_medium(table: Any) -> bool:
    return any((style.text or "").upper() == _MEDIUM_STYLE for style in table.iterfind("{*}tblPr/{*}tableStyleId"))


def _own(cell: Any) -> Any:
    """The fill that a cell has of its own."""
    properties = cell.find("{*}tcPr")
    kinds = {"solidFill", "gradFill", "pattFill", "noFill"}
    return next((child for child in properties if local(child) in kinds), None) if properties is not None else None


def _fill(table: Any, row: int, cell: Any, style: TextStyle) -> Colour | None:
    own = _own(cell)
    if own is not None:
        return style.theme.colour(own)
    if not _is_medium(table):
        return None
    accent = style.theme.named("accent1")
    if _is_head(table, row):
        return accent
    return mixed(accent, WHITE, _BAND_SHARE if row % 2 else _BAND_SHARE / 2)


def _anchor(cell: Any) -> float:
    properties = cell.find("{*}tcPr")
    return _ANCHORS.get(properties.get("anchor", ""), 0.0) if properties is not None else 0.0
