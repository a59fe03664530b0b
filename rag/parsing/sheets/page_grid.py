"""The grid of a sheet on a PDF page: maps boxes on the page to cell references, and text to cells.

It is stored as private application data in the page's dictionary (ISO 32000-1, 14.5), so that the cells of one page can
be found without the others. Invalid data in PDFs of other origin is ignored.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import pydantic

from rag import tables
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.text_lines import RawBlock, RawLine, bounds, join, make_rows
from rag.parsing.pdf.text_runs import Direction, Piece
from rag.parsing.sheets.cell_names import Area, area_name, on_sheet
from rag.types import BlockKind, Rect, TableCell

CONTINUED_PT = 3.0
"""Indent of a line that continues a word cut at the end of the previous line."""
INSET = 0.25
"""How far a box may extend out of its cell: vertically as a share of its height, horizontally in points."""
MAX_BYTES = 4_000_000
_KEY = "PieceInfo/Pagelight/Private"
_KINDS = {"text": BlockKind.TEXT, "table": BlockKind.TABLE}


class Band(NamedTuple):
    """A row or column on the page: its number in the sheet, its start and its end in points."""

    number: int
    start: float
    end: float


class PageGrid(pydantic.BaseModel):
    """The cells on a page. `blocks` are runs of `rows`, by their indices: running text, or a table.

    `heading` is the lower edge of the sheet's name in points, None on further pages. `repeated` counts the first rows
    and columns that repeat headers and labels.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    sheet: str
    columns: tuple[Band, ...] = pydantic.Field(min_length=1, max_length=1000)
    rows: tuple[Band, ...] = pydantic.Field(min_length=1, max_length=1000)
    merged: tuple[Area, ...] = ()
    blocks: tuple[tuple[Literal["text", "table"], int, int], ...] = ()
    heading: float | None = None
    repeated: tuple[int, int] = (0, 0)

    @property
    def label(self) -> str:
        """The area of cells on the page, such as Balance!A1:H40."""
        repeated_rows, repeated_columns = self.repeated
        rows = [band.number for band in self.rows[repeated_rows:] or self.rows]
        columns = [band.number for band in self.columns[repeated_columns:] or self.columns]
        return on_sheet(self.sheet, area_name(Area(min(rows), min(columns), max(rows), max(columns))))

    # --- in the file ---

    def write(self, document: Any, page: Any) -> None:
        """Store the grid in a page of `document`."""
        xref = document.get_new_xref()
        document.update_object(xref, "<<>>")
        document.update_stream(xref, self.model_dump_json(exclude_defaults=True).encode())
        document.xref_set_key(page.xref, "PieceInfo", f"<</Pagelight<</Private {xref} 0 R>>>>")

    @classmethod
    def read(cls, document: Any, page: Any) -> "PageGrid | None":
        """Read the grid of a page; return None if there is none, or invalid data."""
        kind, value = document.xref_get_key(page.xref, _KEY)
        if kind != "xref":
            return None
        try:
            content = document.xref_stream(int(value.split()[0]))
            return cls.model_validate_json(content) if content and len(content) <= MAX_BYTES else None
        except (ValueError, RuntimeError, pymupdf.mupdf.FzErrorBase):
            return None

    # --- text ---

    def split(self, pieces: Sequence[Piece]) -> tuple[list[RawBlock], list[Piece]]:
        """Return heading, texts and tables (one line per row, cells separated by tabs), and the pieces outside."""
        cells: dict[int, dict[int, list[Piece]]] = defaultdict(lambda: defaultdict(list))
        heading: list[Piece] = []
        rest: list[Piece] = []
        for piece in pieces:
            place = self._place(piece)
            if place is not None:
                cells[place[0]][place[1]].append(piece)
            elif self.heading is not None and piece.bbox.y1 < self.heading:
                heading.append(piece)
            else:
                rest.append(piece)
        named = [RawLine(row.bbox, join(row.pieces)) for row in make_rows(heading)]
        found = [RawBlock(BlockKind.HEADING, named, heading[0].size, True)] if named else []
        return [*found, *self._blocks(cells)], rest

    def _place(self, piece: Piece) -> tuple[int, int] | None:
        """Return the indices of the row and column in which a run of text begins."""
        box = piece.bbox
        if piece.direction is not Direction.RIGHT:
            return None
        row, column = _index(self.rows, (box.y0 + box.y1) / 2), _index(self.columns, box.x0 + INSET)
        return None if row is None or column is None else (row, column)

    def _blocks(self, cells: dict[int, dict[int, list[Piece]]]) -> Iterator[RawBlock]:
        for kind, first, last in self.blocks or (("table", 0, len(self.rows) - 1),):
            filled = [cells[row] for row in range(first, last + 1) if row in cells]
            if not filled:
                continue
            numbers = [self.rows[row].number for row in range(first, last + 1) if row in cells]
            lines = [self._line(columns, kind, number) for columns, number in zip(filled, numbers, strict=True)]
            if kind == "table":
                heads = tables.find_heads(lines)
                lines = [line._replace(is_head=is_head) for line, is_head in zip(lines, heads, strict=True)]
            size = max(piece.size for columns in filled for cell in columns.values() for piece in cell)
            extents = tuple((band.start, band.end) for band in self.columns)
            yield RawBlock(_KINDS[kind], lines, size, False, extents)

    def _line(self, columns: dict[int, list[Piece]], kind: str, number: int) -> RawLine:
        texts = [_cell_text(columns[index]) if index in columns else "" for index in range(len(self.columns))]
        box = bounds(piece.bbox for cell in columns.values() for piece in cell)
        if kind != "table":
            return RawLine(box, " ".join(filter(None, texts)))
        return RawLine(box, "\t".join(texts), cells=tuple(self._cell(number, index) for index in range(len(texts))))

    def _cell(self, row: int, index: int) -> TableCell:
        """Return the columns on the page that a cell covers: several if it is merged."""
        column = self.columns[index].number
        for area in self.merged:
            if area.top <= row <= area.bottom and area.left == column:
                covered = [place for place, band in enumerate(self.columns) if area.left <= band.number <= area.right]
                return TableCell(index, covered[-1])
        return TableCell(index, index)

    # --- names ---

    def name(self, boxes: Iterable[Rect]) -> str | None:
        """Return references of the cells that `boxes` touch, as “Balance!A9:C9, A14”, None if they touch none."""
        areas: list[Area] = []
        for area in filter(None, map(self._area, boxes)):
            if areas and _are_neighbours(areas[-1], area):
                areas[-1] = areas[-1].union(area)
            elif area not in areas:
                areas.append(area)
        return on_sheet(self.sheet, ", ".join(map(area_name, areas))) if areas else None

    def _area(self, box: Rect) -> Area | None:
        margin = INSET * (box.y1 - box.y0)
        touched = [
            self._unmerged(row.number, column.number)
            for row in _touched(self.rows, box.y0 + margin, box.y1 - margin)
            for column in _touched(self.columns, box.x0 + INSET, box.x1 - INSET)
        ]
        if not touched:
            return None
        area, *others = touched
        for other in others:
            area = area.union(other)
        return area

    def _unmerged(self, row: int, column: int) -> Area:
        """Return a cell as an area, the first one for merged cells."""
        for area in self.merged:
            if area.top <= row <= area.bottom and area.left <= column <= area.right:
                return Area(area.top, area.left, area.top, area.left)
        return Area(row, column, row, column)


def _index(bands: Sequence[Band], position: float) -> int | None:
    index = bisect_right([band.start for band in bands], position) - 1
    return index if index >= 0 and position <= bands[index].end else None


def _touched(bands: Sequence[Band], start: float, end: float) -> list[Band]:
    return [band for band in bands if band.start < end and start < band.end]


def _are_neighbours(area: Area, following: Area) -> bool:
    """Return whether two areas form one: cells side by side, or rows of the same columns below one another."""
    if (area.top, area.bottom) == (following.top, following.bottom):
        return area.left <= following.left <= area.right + 1
    if (area.left, area.right) == (following.left, following.right):
        return area.top <= following.top <= area.bottom + 1
    return False


def _cell_text(pieces: Sequence[Piece]) -> str:
    """Return the text of a cell, joining words that were cut at the end of a line."""
    lines = make_rows(pieces)
    text, left = join(lines[0].pieces), lines[0].bbox.x0
    for line in lines[1:]:
        continues = CONTINUED_PT / 2 < line.bbox.x0 - left < 2 * CONTINUED_PT
        text += ("" if continues else " ") + join(line.pieces)
    return text
