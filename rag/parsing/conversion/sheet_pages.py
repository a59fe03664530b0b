"""Sheets drawn on pages: a grid with the names of columns on each page, letters and numbers at its sides."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rag.parsing.addresses import Area, column_letters
from rag.parsing.conversion.canvas import Canvas
from rag.parsing.conversion.sheet import Cell, Sheet
from rag.parsing.conversion.sheet_plan import (
    FONT_SIZE_PT,
    MARGIN_PT,
    PADDING_X_PT,
    PADDING_Y_PT,
    PAGE_SIZES_PT,
    RULER_PT,
    Plan,
    plan,
)
from rag.parsing.conversion.type_setting import Faces, Line
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.sheet_grid import Band as PageBand
from rag.parsing.sheet_grid import PageGrid

LEADING_PT = 10.0
LETTERS_PT = 13.0
"""The height of the column letters above the grid."""
HEADING_PT, HEADING_HEIGHT_PT = 14.0, 26.0
NOTE_HEADING_PT, NOTE_PT = 10.0, 8.0
NOTE_GAP_PT = 18.0
GREY, PALE, HIDDEN, RULE, INK = 0.45, 0.93, 0.97, 0.78, 0.1
"""Shades between black (0) and white (1)."""
EMPTY = "This sheet is empty."
NOTES = "Comments and drawings"


class _Entry(NamedTuple):
    """A cell as it is set in one group of columns: as wide as the columns that it spans."""

    column: int
    last_column: int
    width: float
    lines: Sequence[Line]
    cell: Cell


def draw(sheets: Iterable[Sheet]) -> Any:
    """A PDF with the sheets one after the other (a `pymupdf.Document`)."""
    document = pymupdf.open()
    faces = Faces()
    for sheet in sheets:
        _SheetPages(document, faces, sheet).draw()
    document.subset_fonts()
    return document


class _SheetPages:
    """Draws one sheet."""

    def __init__(self, document: Any, faces: Faces, sheet: Sheet) -> None:
        self._document = document
        self._faces = faces
        self._sheet = sheet
        self._spans = {(area.top, area.left): area for area in sheet.merged}
        self._remark = _remark(sheet)
        self._is_first = True

    def draw(self) -> None:
        """All pages of the sheet, its comments at the end."""
        if self._sheet.cells:
            planned = plan(self._sheet, self._faces)
            for group in planned.groups[:-1]:
                self._draw_group(planned, group)[0].finish()
            canvas, y = self._draw_group(planned, planned.groups[-1])
        else:
            canvas, y = self._begin(PAGE_SIZES_PT[0])
            canvas.text(MARGIN_PT, y + LEADING_PT, EMPTY, FONT_SIZE_PT + 1, bold=False, grey=GREY)
            y += 2 * LEADING_PT
        self._draw_notes(canvas, y).finish()

    def _begin(self, size: tuple[float, float]) -> tuple[Canvas, float]:
        """A new page, and where its content begins."""
        canvas = Canvas(self._document, self._faces, size)
        name, remark = self._sheet.name, self._remark
        if remark:
            canvas.beside(size[0] - MARGIN_PT, MARGIN_PT + 8, remark, FONT_SIZE_PT, align=1.0, grey=GREY)
        if name and self._is_first:
            for line in self._faces.wrapped(name, HEADING_PT, size[0] - 2 * MARGIN_PT, bold=True)[:1]:
                canvas.text(MARGIN_PT, MARGIN_PT + HEADING_PT, line.text, HEADING_PT, bold=True, grey=INK)
        elif name:
            canvas.beside(MARGIN_PT, MARGIN_PT + 8, f"{name}, continued", FONT_SIZE_PT, align=0.0, grey=GREY)
        y = MARGIN_PT + (HEADING_HEIGHT_PT if name and self._is_first else LEADING_PT + 4 if name or remark else 0.0)
        self._is_first = False
        return canvas, y

    # --- the grid ---

    def _draw_group(self, planned: Plan, group: Sequence[int]) -> tuple[Canvas, float]:
        was_first = self._is_first
        canvas, y = self._begin(planned.page_size)
        grid = _Grid(canvas, self._sheet, planned, group, y, has_heading=was_first)
        for row in planned.rows:
            entries = self._entries(planned, group, row)
            while True:
                height = _height(entries)
                if grid.y + height <= grid.bottom:
                    grid.draw_row(row, entries, height)
                    break
                if grid.is_empty:  # higher than a page
                    fitting = max(1, int((grid.bottom - grid.y - 2 * PADDING_Y_PT) // LEADING_PT))
                    grid.draw_row(row, _first_lines(entries, fitting), _height(_first_lines(entries, fitting)))
                    entries = _other_lines(entries, fitting)
                grid.finish()
                canvas.finish()
                canvas, y = self._begin(planned.page_size)
                grid = _Grid(canvas, self._sheet, planned, group, y, has_heading=False)
                self._repeat_header(grid, planned, group, row)
        grid.finish()
        return canvas, grid.y

    def _repeat_header(self, grid: "_Grid", planned: Plan, group: Sequence[int], row: int) -> None:
        band = next((band for band in reversed(planned.bands) if band.first <= row), None)
        if band is None or row <= band.last:
            return
        header = [(number, self._entries(planned, group, number)) for number in range(band.first, band.last + 1)]
        if sum(_height(entries) for _, entries in header) <= (grid.bottom - grid.y) / 2:
            for number, entries in header:
                grid.draw_row(number, entries, _height(entries), repeated=True)

    def _entries(self, planned: Plan, group: Sequence[int], row: int) -> list[_Entry]:
        """The row's cells in a group of columns."""
        cells = self._sheet.cells.get(row, {})
        in_band = any(band.first <= row <= band.last for band in planned.bands)
        entries = []
        for column in group:
            if cell := cells.get(column):
                last, width = column, planned.widths[column]
                right = group[-1] if row in planned.titles else self._right(row, column)
                if right > column:
                    last = max(other for other in group if other <= right)
                    width = sum(planned.widths[other] for other in group if column <= other <= last)
                shown = cell._replace(bold=cell.bold or in_band)
                entries.append(self._entry(column, last, width - 2 * PADDING_X_PT, shown))
        return entries

    def _right(self, row: int, column: int) -> int:
        """The last column of a cell that may be merged with others."""
        span = self._spans.get((row, column))
        return max(span.right, column) if span else column

    def _entry(self, column: int, last: int, width: float, cell: Cell) -> _Entry:
        lines = self._faces.wrapped(cell.text, FONT_SIZE_PT, width, bold=cell.bold)
        return _Entry(column, last, width, lines, cell)

    # --- comments ---

    def _draw_notes(self, canvas: Canvas, y: float) -> Canvas:
        if not self._sheet.notes:
            return canvas
        y += NOTE_GAP_PT
        bottom = canvas.size[1] - MARGIN_PT
        width = min(canvas.size[0] - 2 * MARGIN_PT, PAGE_SIZES_PT[0][0])
        for text, size, bold in self._note_lines():
            for line in self._faces.wrapped(text, size, width, bold=bold):
                if y + size + 4 > bottom:
                    canvas.finish()
                    canvas, y = self._begin(canvas.size)
                y += size + 4
                canvas.text(MARGIN_PT, y, line.text, size, bold=bold, grey=INK)
            y += 3
        return canvas

    def _note_lines(self) -> Iterator[tuple[str, float, bool]]:
        yield NOTES, NOTE_HEADING_PT, True
        for note in self._sheet.notes:
            yield f"{note.place[0].upper()}{note.place[1:]}: {note.text}", NOTE_PT, False


class _Grid:
    """The grid of one page, drawn from top to bottom."""

    def __init__(
        self, canvas: Canvas, sheet: Sheet, planned: Plan, group: Sequence[int], y: float, *, has_heading: bool
    ) -> None:
        repeated_columns = int(group is not planned.groups[0] and group[0] == planned.groups[0][0])
        self._canvas = canvas
        self._sheet = sheet
        self._plan = planned
        self._heading = y if has_heading and sheet.name else None
        self._columns = _column_bands(planned, group)
        self._x = {band.number: band for band in self._columns}
        self._repeated_columns = repeated_columns
        self._repeated_rows = 0
        self._rows: list[PageBand] = []
        self._blocks: list[tuple[str, int, int]] = []
        self._spans: list[Area] = []
        self.y = y + LETTERS_PT
        self.bottom = canvas.size[1] - MARGIN_PT
        self._draw_letters(y)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but repeated names of columns has been drawn."""
        return len(self._rows) == self._repeated_rows

    def _draw_letters(self, y: float) -> None:
        for column, start, end in self._columns:
            self._canvas.fill(start, y, end - start, LETTERS_PT, PALE)
            letters = column_letters(column)
            grey = RULE if column in self._sheet.hidden_columns else GREY
            self._canvas.beside(
                (start + end) / 2, y + LETTERS_PT - 4, letters, FONT_SIZE_PT - 1.5, align=0.5, grey=grey
            )

    def draw_row(self, row: int, entries: Sequence[_Entry], height: float, *, repeated: bool = False) -> None:
        """A row of the sheet, with its lines and the number at its side."""
        self._repeated_rows += repeated
        band = PageBand(row, round(self.y, 2), round(self.y + height, 2))
        self._add_to_blocks(row)
        self._rows.append(band)
        self._shade(row, band)
        self._draw_rules(row, entries, band)
        for entry in entries:
            self._draw_entry(row, entry, band)
        is_hidden = row in self._sheet.hidden_rows
        left = self._columns[0].start
        self._canvas.fill(left - RULER_PT, band.start, RULER_PT, height, PALE)
        grey = RULE if is_hidden else GREY
        baseline = band.start + PADDING_Y_PT + FONT_SIZE_PT - 0.5
        self._canvas.beside(left - 4, baseline, str(row), FONT_SIZE_PT - 1.5, align=1.0, grey=grey)
        self.y += height

    def _add_to_blocks(self, row: int) -> None:
        kind, index = "text" if row in self._plan.texts else "table", len(self._rows)
        begins = any(band.first == row for band in self._plan.bands)
        if self._blocks and not begins and (self._blocks[-1][0] == kind or row not in self._sheet.cells):
            kind, first, _ = self._blocks[-1]
            self._blocks[-1] = (kind, first, index)
        else:
            self._blocks.append((kind, index, index))

    def _shade(self, row: int, band: PageBand) -> None:
        """Names of columns stand on a tint; so does what is hidden, a paler one."""
        left, right = self._columns[0].start, self._columns[-1].end
        if any(header.first <= row <= header.last for header in self._plan.bands):
            self._canvas.fill(left, band.start, right - left, band.end - band.start, PALE)
        elif row in self._sheet.hidden_rows:
            self._canvas.fill(left, band.start, right - left, band.end - band.start, HIDDEN)
        else:
            for column, start, end in self._columns:
                if column in self._sheet.hidden_columns:
                    self._canvas.fill(start, band.start, end - start, band.end - band.start, HIDDEN)

    def _draw_rules(self, row: int, entries: Sequence[_Entry], band: PageBand) -> None:
        """Lines around the cells, none inside merged ones."""
        spanning = [entry for entry in entries if entry.column < entry.last_column]
        inside = {
            column for entry in spanning for column, _, _ in self._columns if entry.column < column <= entry.last_column
        }
        above: set[int] = set()
        for area in self._sheet.merged:
            if area.top < row <= area.bottom:
                above |= {column for column, _, _ in self._columns if area.left <= column <= area.right}
                inside |= {column for column, _, _ in self._columns if area.left < column <= area.right}
        for column, start, end in self._columns:
            if column not in above:
                self._canvas.rule(start, band.start, end, band.start)
            if column not in inside:
                self._canvas.rule(start, band.start, start, band.end)
        right = self._columns[-1].end
        self._canvas.rule(right, band.start, right, band.end)

    def _draw_entry(self, row: int, entry: _Entry, band: PageBand) -> None:
        left = self._x[entry.column].start + PADDING_X_PT
        if entry.last_column != entry.column:
            self._spans.append(Area(row, entry.column, row, entry.last_column))
        for index, line in enumerate(entry.lines):
            baseline = band.start + PADDING_Y_PT + FONT_SIZE_PT - 0.5 + index * LEADING_PT
            self._canvas.cell_line(
                left, baseline, line, FONT_SIZE_PT, entry.width, bold=entry.cell.bold, right=entry.cell.is_number
            )

    def finish(self) -> None:
        """Ends the grid, and keeps it in the page."""
        left, right = self._columns[0].start, self._columns[-1].end
        self._canvas.rule(left, self.y, right, self.y)
        numbers, columns = {row.number for row in self._rows}, {column.number for column in self._columns}
        merged = [
            area
            for area in self._sheet.merged
            if any(area.top <= row <= area.bottom for row in numbers)
            and any(area.left <= column <= area.right for column in columns)
        ]
        grid = PageGrid(
            sheet=self._sheet.name,
            columns=tuple(self._columns),
            rows=tuple(self._rows),
            merged=tuple(dict.fromkeys([*merged, *self._spans])),
            blocks=tuple(self._blocks),
            heading=self._heading,
            repeated=(self._repeated_rows, self._repeated_columns),
        )
        grid.write(self._canvas.document, self._canvas.page)


def _remark(sheet: Sheet) -> str:
    """What of the sheet is hidden in its file."""
    remarks = ["hidden sheet"] if sheet.hidden else []
    if rows := sheet.hidden_rows & sheet.cells.keys():
        remarks.append(f"hidden rows: {_ranges(rows, str)}")
    if columns := sheet.hidden_columns & {column for cells in sheet.cells.values() for column in cells}:
        remarks.append(f"hidden columns: {_ranges(columns, column_letters)}")
    return " · ".join(remarks)


def _column_bands(planned: Plan, group: Sequence[int]) -> list[PageBand]:
    bands: list[PageBand] = []
    x = MARGIN_PT + RULER_PT
    for column in group:
        bands.append(PageBand(column, round(x, 2), round(x + planned.widths[column], 2)))
        x += planned.widths[column]
    return bands


def _height(entries: Sequence[_Entry]) -> float:
    return 2 * PADDING_Y_PT + LEADING_PT * max((len(entry.lines) for entry in entries), default=1)


def _first_lines(entries: Sequence[_Entry], count: int) -> list[_Entry]:
    return [entry._replace(lines=entry.lines[:count]) for entry in entries]


def _other_lines(entries: Sequence[_Entry], count: int) -> list[_Entry]:
    return [entry._replace(lines=entry.lines[count:]) for entry in entries if len(entry.lines) > count]


def _ranges(numbers: Iterable[int], named: Any) -> str:
    """Numbers in short: 3–5, 9."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [named(first) if first == last else f"{named(first)}–{named(last)}" for first, last in runs[:10]]
    return ", ".join(shown) + (" …" if len(runs) > 10 else "")
