"""The grid of a sheet on a PDF page: maps boxes on the page to cell references, and text to cells.

It is stored as private application data in the page's dictionary (ISO 32000-1, 14.5), so that the cells of one page can
be found without the others. Invalid data in PDFs of other origin is ignored.
"""

import functools
import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import pydantic

from rag import tables, types
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.text_lines import RawBlock, RawLine, bounds, join, make_rows
from rag.parsing.pdf.text_runs import Direction, Piece
from rag.parsing.sheets.cell_names import Area, area_name, column_letters, on_sheet

CONTINUED_PT = 3.0
"""Indent of a line that continues a word cut at the end of the previous line."""
INSET = 0.25
"""How far a box may extend out of its cell: vertically as a share of its height, horizontally in points."""
MAX_BYTES = 4_000_000
_KEY = "PieceInfo/Pagelight/Private"
REMARKS = ("hidden sheet", "hidden rows are shaded", "hidden columns are shaded")


class Band(NamedTuple):
    """A row or column on the page: its number in the sheet, its start and its end in points, if the sheet hides it."""

    number: int
    start: float
    end: float
    is_hidden: bool = False


class Block(NamedTuple):
    """A run of text or a table: its first and last row and column, and how many of the first rows name columns.

    Rows and columns are given by their indices on the page.
    """

    kind: Literal["text", "table"]
    top: int
    bottom: int
    left: int
    right: int
    heads: int = 0


class Parts(NamedTuple):
    """The parts of a page from top to bottom; tables have one line per row, its cells separated by tabs."""

    headings: list[RawBlock]
    above: list[Piece]
    cells: list[RawBlock]
    below: list[Piece]


class PageGrid(pydantic.BaseModel):
    """The cells on a page. `merged` are areas of the sheet that are one cell.

    `top` is the upper edge of the column letters, `heading` the lower edge of the sheet's name in points, None on
    further pages. `repeated` counts the first rows and columns that repeat headers and labels.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    sheet: str
    top: float
    columns: tuple[Band, ...] = pydantic.Field(min_length=1, max_length=1000)
    rows: tuple[Band, ...] = pydantic.Field(min_length=1, max_length=1000)
    merged: tuple[Area, ...] = ()
    blocks: tuple[Block, ...] = ()
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

    def row_at(self, y: float) -> int | None:
        """Return the index of the row at a height of the page, in points from its top."""
        return _index(self.rows, y)

    def without_labels(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Remove column letters, row numbers and remarks about hidden parts, which are not the sheet's own text."""

        def is_label(piece: Piece) -> bool:
            middle = (piece.bbox.y0 + piece.bbox.y1) / 2
            row, column = _index(self.rows, middle), _index(self.columns, (piece.bbox.x0 + piece.bbox.x1) / 2)
            if row is not None:
                return column is None and piece.text == str(self.rows[row].number)
            is_letter = column is not None and piece.text == column_letters(self.columns[column].number)
            is_remark = set(REMARKS).issuperset(piece.text.split(", "))
            return self.top <= middle <= self.rows[0].start and (is_letter or is_remark)

        return [piece for piece in pieces if not is_label(piece)]

    def split(self, pieces: Iterable[Piece]) -> "Parts":
        """Divide the pieces of a page, without its labels."""
        cells: dict[tuple[int, int], list[Piece]] = defaultdict(list)
        heading: list[Piece] = []
        above: list[Piece] = []
        below: list[Piece] = []
        merged = self._merged_cells()
        for piece in pieces:
            # A run of text belongs to the cell in which it begins.
            row = _index(self.rows, (piece.bbox.y0 + piece.bbox.y1) / 2)
            column = _index(self.columns, piece.bbox.x0 + INSET)
            if piece.direction is Direction.RIGHT and row is not None and column is not None:
                cells[merged.get((row, column), (row, column))].append(piece)
            elif self.heading is not None and piece.bbox.y0 < self.heading:
                heading.append(piece)
            else:
                (above if piece.bbox.y0 < self.top else below).append(piece)
        named = [RawLine(row.bbox, join(row.pieces)) for row in make_rows(heading)]
        headings = [RawBlock(types.BlockKind.HEADING, named, heading[0].size, True)] if named else []
        return Parts(headings, above, list(self._blocks(cells)), below)

    def _merged_cells(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return the first of merged cells for each of them, by their indices."""
        first: dict[tuple[int, int], tuple[int, int]] = {}
        for area in self.merged:
            rows = [index for index, row in enumerate(self.rows) if area.top <= row.number <= area.bottom]
            columns = [index for index, column in enumerate(self.columns) if area.left <= column.number <= area.right]
            first.update(
                dict.fromkeys(itertools.product(rows, columns), (rows[0], columns[0])) if rows and columns else {}
            )
        return first

    def _blocks(self, cells: dict[tuple[int, int], list[Piece]]) -> Iterator[RawBlock]:
        whole = Block("table", 0, len(self.rows) - 1, 0, len(self.columns) - 1)
        for block in (*self.blocks, whole):
            lines: list[RawLine] = []
            size = 0.0
            for row in range(block.top, block.bottom + 1):
                filled = [cells.pop((row, column), []) for column in range(block.left, block.right + 1)]
                pieces = [piece for cell in filled for piece in cell]
                if pieces:
                    texts = [_cell_text(cell) if cell else "" for cell in filled]
                    line = RawLine(bounds(piece.bbox for piece in pieces), " ".join(filter(None, texts)))
                    if block.kind == "table":
                        line = line._replace(
                            text="\t".join(texts),
                            cells=tuple(self._cell(block, row, index) for index in range(len(texts))),
                            is_head=row < block.top + block.heads,
                        )
                    lines.append(line)
                    size = max(size, *(piece.size for piece in pieces))
            if not lines:
                continue
            if block.kind == "table" and not block.heads:
                heads = tables.find_heads(lines)
                lines = [line._replace(is_head=is_head) for line, is_head in zip(lines, heads, strict=True)]
            extents = tuple((band.start, band.end) for band in self.columns[block.left : block.right + 1])
            yield RawBlock(types.BlockKind(block.kind), lines, size, False, extents)

    def _cell(self, block: Block, row: int, index: int) -> types.TableCell:
        """Return the columns of a block that a cell covers: several if it is merged."""
        number, column = self.rows[row].number, self.columns[block.left + index].number
        for area in self.merged:
            if area.top <= number <= area.bottom and area.left == column:
                width = sum(
                    area.left <= band.number <= area.right for band in self.columns[block.left : block.right + 1]
                )
                return types.TableCell(index, index + width - 1)
        return types.TableCell(index, index)

    # --- names ---

    def name(self, boxes: Iterable[types.Rect]) -> str | None:
        """Return references of the cells that `boxes` touch, as “Balance!A9:C9, A14”, None if they touch none."""
        areas: list[Area] = []
        for area in filter(None, map(self._area, boxes)):
            if areas and _are_neighbours(areas[-1], area):
                areas[-1] = areas[-1].union(area)
            elif area not in areas:
                areas.append(area)
        return on_sheet(self.sheet, ", ".join(map(area_name, areas))) if areas else None

    def _area(self, box: types.Rect) -> Area | None:
        margin = INSET * (box.y1 - box.y0)
        touched = [
            self._unmerged(row.number, column.number)
            for row in _touched(self.rows, box.y0 + margin, box.y1 - margin)
            for column in _touched(self.columns, box.x0 + INSET, box.x1 - INSET)
        ]
        return functools.reduce(Area.union, touched) if touched else None

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
    first, *others = make_rows(pieces)
    text, left = join(first.pieces), first.bbox.x0
    for line in others:
        continues = CONTINUED_PT / 2 < line.bbox.x0 - left < 2 * CONTINUED_PT
        text += join(line.pieces) if continues else f" {join(line.pieces)}"
    return text
