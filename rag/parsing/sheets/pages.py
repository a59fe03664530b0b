"""Lay out sheets on PDF pages as tables with column letters and row numbers; headers are repeated on each page.

Pages grow with their rows, so a row is never divided. Each page keeps its grid (`rag.parsing.sheets.page_grid`).
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rag.parsing.html.layout import MARGIN_PT, PageWriter, Paper
from rag.parsing.html.line_breaks import BREAK
from rag.parsing.html.markup import escaped
from rag.parsing.sheets.cell_names import Area, column_letters
from rag.parsing.sheets.page_grid import CONTINUED_PT, Band, PageGrid
from rag.parsing.sheets.page_plan import (
    FONT_SIZE_PT,
    PADDING_X_PT,
    PAGE_SIZES_PT,
    ROW_NUMBERS_PT,
    Line,
    Plan,
    plan,
    text_width,
    wrapped,
)
from rag.parsing.sheets.sheet import Note, Sheet
from rag.types import Rect

PADDING_Y_PT, LINE_PT = 2.5, 9.6
LETTERS_PT, LABEL_SIZE_PT = 12.0, 6.5
MAX_LINES_OF_ROW = 60
"""Cells with more lines continue in a further table row of the same number."""
NOTES_PER_PAGE = 40
GREY, PALE, HIDDEN_GREY = 0.45, 0.93, 0.78
EMPTY = "This sheet is empty."
NOTES = "Comments and drawings"
_STYLE = f"""
body {{ margin: 0; font-family: sans-serif; font-size: {FONT_SIZE_PT}pt; line-height: {LINE_PT}pt }}
h1 {{ font-size: 14pt; line-height: 18pt; margin: 0 0 8pt 0 }}
h3 {{ font-size: 10pt; margin: 18pt 0 0 0 }}
p {{ margin: 3pt 0 0 0 }}
table {{ border-collapse: collapse }}
td, th {{ border: 0.5pt solid #c7c7c7; padding: {PADDING_Y_PT}pt {PADDING_X_PT}pt; text-align: left }}
td, th {{ white-space: nowrap }}
th {{ background-color: #ededed }}
.number {{ text-align: right }}
.hidden {{ background-color: #f7f7f7 }}
.letters {{ padding: {LETTERS_PT}pt 0 0 0 }}
.rows {{ padding: {LETTERS_PT}pt 0 0 0; width: {ROW_NUMBERS_PT}pt }}
"""


class _Cell(NamedTuple):
    """A filled cell on a page: its columns and its text in lines."""

    column: int
    last_column: int
    span: int
    lines: Sequence[Line]
    is_number: bool
    is_bold: bool


class _Row(NamedTuple):
    """A row on a page: its number in the sheet and its filled cells."""

    number: int
    cells: Sequence[_Cell]

    @property
    def height(self) -> float:
        """The height in points."""
        return LINE_PT * max((len(cell.lines) for cell in self.cells), default=1) + 2 * PADDING_Y_PT + 0.5


class _Page(NamedTuple):
    """A laid out page before it is written: its HTML, and what its grid consists of."""

    sheet: Sheet
    html: str
    size: tuple[float, float]
    columns: Sequence[int] = ()
    rows: Sequence[int] = ()
    spans: Sequence[Area] = ()
    blocks: Sequence[tuple[str, int, int]] = ()
    repeated: tuple[int, int] = (0, 0)


def draw(sheets: Iterable[Sheet]) -> Any:
    """Make a PDF (a `pymupdf.Document`) with the sheets one after the other."""
    grids: list[tuple[Sheet, PageGrid | None]] = []
    with PageWriter() as writer:
        for sheet in sheets:
            for page in _pages(sheet):
                boxes = writer.add_page(page.html, _STYLE, Paper(*page.size, FONT_SIZE_PT))
                grids.append((sheet, _grid(page, boxes) if page.rows else None))
    document = writer.document()
    for page, (sheet, grid) in zip(document, grids, strict=True):
        _draw_labels(document, page, sheet, grid)
        if grid is not None:
            grid.write(document, page)
    return document


def _pages(sheet: Sheet) -> Iterator[_Page]:
    pages = _grid_pages(sheet) if sheet.cells else iter([_Page(sheet, f"<p>{EMPTY}</p>", PAGE_SIZES_PT[0])])
    page = next(pages)
    if sheet.name:
        page = page._replace(html=f'<h1 id="heading">{escaped(sheet.name)}</h1>{page.html}')
    for following in pages:
        yield page
        page = following
    notes = [sheet.notes[start : start + NOTES_PER_PAGE] for start in range(0, len(sheet.notes), NOTES_PER_PAGE)]
    yield page._replace(html=f"{page.html}<h3>{NOTES}</h3>{_notes(notes[0])}") if notes else page
    yield from (_Page(sheet, _notes(some), PAGE_SIZES_PT[0]) for some in notes[1:])


def _notes(notes: Iterable[Note]) -> str:
    return "".join(f"<p>{escaped(note.place[0].upper() + note.place[1:])}: {escaped(note.text)}</p>" for note in notes)


# --- tables --------------------------------------------------------------------------------------------------


def _grid_pages(sheet: Sheet) -> Iterator[_Page]:
    planned = plan(sheet)
    room = planned.page_size[1] - 2 * MARGIN_PT - LETTERS_PT
    for group in planned.groups:
        rows: list[_Row] = []
        header: list[_Row] = []
        left = room
        for row in (part for number in planned.rows for part in _rows(sheet, planned, group, number)):
            height = row.height
            if rows and height > left:
                yield _table(sheet, planned, group, header, rows)
                header = _repeated_header(sheet, planned, group, row.number, room)
                rows, left = [], room - sum(one.height for one in header)
            rows.append(row)
            left -= height
        yield _table(sheet, planned, group, header, rows)


def _rows(sheet: Sheet, planned: Plan, group: Sequence[int], number: int) -> Iterator[_Row]:
    """Yield a row of the sheet, in several parts if its cells have many lines."""
    cells = [cell for column in group if (cell := _cell(sheet, planned, group, number, column)) is not None]
    while any(len(cell.lines) > MAX_LINES_OF_ROW for cell in cells):
        yield _Row(number, [cell._replace(lines=cell.lines[:MAX_LINES_OF_ROW]) for cell in cells])
        rest = [cell._replace(lines=cell.lines[MAX_LINES_OF_ROW:]) for cell in cells]
        cells = [cell for cell in rest if cell.lines]
    yield _Row(number, cells)


def _cell(sheet: Sheet, planned: Plan, group: Sequence[int], row: int, column: int) -> _Cell | None:
    cell = sheet.cells.get(row, {}).get(column)
    if cell is None:
        return None
    right = group[-1] if row in planned.titles else sheet.right_of(row, column)
    covered = [column]
    if right > column:
        following = group[group.index(column) + 1 :]
        covered += itertools.takewhile(lambda other: other <= right and other not in sheet.cells[row], following)
    width = sum(planned.widths[other] for other in covered)
    if row in planned.titles:
        width = max(width, PAGE_SIZES_PT[0][0] - 3 * MARGIN_PT)
    lines = wrapped(cell.text, width - 2 * PADDING_X_PT)
    return _Cell(column, covered[-1], len(covered), lines, cell.is_number, cell.bold)


def _repeated_header(sheet: Sheet, planned: Plan, group: Sequence[int], row: int, room: float) -> list[_Row]:
    """Return the rows that name the columns of `row`, unless they take half of the page."""
    band = next((band for band in reversed(planned.headers) if band.first <= row), None)
    if band is None or row in band:
        return []
    header = [part for number in range(band.first, band.last + 1) for part in _rows(sheet, planned, group, number)]
    return header if sum(row.height for row in header) <= room / 2 else []


def _table(sheet: Sheet, planned: Plan, group: Sequence[int], header: Sequence[_Row], rows: Sequence[_Row]) -> _Page:
    """Write a table. The cells of letters and row numbers stay empty; `_draw_labels` fills them."""
    letters = "".join(
        f'<td class="letters" id="c{column}" style="width:{planned.widths[column]:.1f}pt"></td>' for column in group
    )
    html = [f'<table><tr><td class="rows" id="corner"></td>{letters}</tr>']
    for index, row in enumerate((*header, *rows)):
        cells = "".join(_cells(sheet, planned, group, row))
        html.append(f'<tr><td class="rows" id="r{index}"></td>{cells}</tr>')
    html.append("</table>")
    numbers = [row.number for row in (*header, *rows)]
    spans = [
        Area(row.number, cell.column, row.number, cell.last_column)
        for row in (*header, *rows)
        for cell in row.cells
        if cell.span > 1
    ]
    repeated_columns = int(group is not planned.groups[0] and group[0] == planned.groups[0][0])
    blocks = _blocks(sheet, planned, numbers)
    return _Page(
        sheet, "".join(html), planned.page_size, group, numbers, spans, blocks, (len(header), repeated_columns)
    )


def _cells(sheet: Sheet, planned: Plan, group: Sequence[int], row: _Row) -> Iterator[str]:
    """Yield the cells of a row as HTML."""
    is_header = any(row.number in band for band in planned.headers)
    tag = "th" if is_header else "td"
    cells = {cell.column: cell for cell in row.cells}
    columns = iter(group)
    for column in columns:
        cell = cells.get(column)
        kinds = ["number"] if cell is not None and cell.is_number and cell.span == 1 else []
        if not is_header and (row.number in sheet.hidden_rows or column in sheet.hidden_columns):
            kinds.append("hidden")
        attributes = f' class="{" ".join(kinds)}"' if kinds else ""
        if cell is not None and cell.span > 1:
            attributes += f' colspan="{cell.span}"'
            for _ in range(cell.span - 1):
                next(columns)
        yield f"<{tag}{attributes}>{_content(cell) if cell is not None else ''}</{tag}>"


def _content(cell: _Cell) -> str:
    """Return a cell's lines as HTML; those that continue a cut word are indented, which `page_grid` recognizes."""
    written = [escaped(line.text).replace(BREAK, "") for line in cell.lines]
    content = written[0]
    for line, text in zip(cell.lines[1:], written[1:], strict=True):
        content += f'<div style="text-indent:{CONTINUED_PT}pt">{text}</div>' if line.continues else f"<div>{text}</div>"
    return f"<b>{content}</b>" if cell.is_bold else content


def _blocks(sheet: Sheet, planned: Plan, numbers: Sequence[int]) -> list[tuple[str, int, int]]:
    """Divide the rows into runs of text and tables; a table begins at its header."""
    blocks: list[tuple[str, int, int]] = []
    for index, row in enumerate(numbers):
        kind = "text" if row in planned.texts else "table"
        begins = any(band.first == row for band in planned.headers)
        if blocks and not begins and (blocks[-1][0] == kind or row not in sheet.cells):
            blocks[-1] = (blocks[-1][0], blocks[-1][1], index)
        else:
            blocks.append((kind, index, index))
    return blocks


# --- grids ---------------------------------------------------------------------------------------------------


def _grid(page: _Page, boxes: dict[str, Rect]) -> PageGrid:
    columns = [_band(column, boxes[f"c{column}"].x0, boxes[f"c{column}"].x1) for column in page.columns]
    rows = [
        _band(number, boxes[f"r{index}"].y0 - LETTERS_PT, boxes[f"r{index}"].y1)
        for index, number in enumerate(page.rows)
    ]
    shown = Area(min(page.rows), min(page.columns), max(page.rows), max(page.columns))
    merged = [area for area in page.sheet.merged if area.overlaps(shown)]
    heading = boxes["corner"].y0 - LETTERS_PT if "heading" in boxes else None
    return PageGrid(
        sheet=page.sheet.name,
        columns=tuple(columns),
        rows=tuple(rows),
        merged=tuple(dict.fromkeys([*merged, *page.spans])),
        blocks=tuple(page.blocks),
        heading=heading,
        repeated=page.repeated,
    )


def _band(number: int, start: float, end: float) -> Band:
    return Band(number, round(start, 2), round(end, 2))


def _draw_labels(document: Any, page: Any, sheet: Sheet, grid: PageGrid | None) -> None:
    """Draw column letters, row numbers and what is hidden, under a replacement text that makes readers skip them."""
    height = page.rect.height
    drawn: list[str] = []

    def write(x: float, y: float, text: str, *, align: float, grey: float = GREY) -> None:
        x -= align * text_width(text) * LABEL_SIZE_PT / FONT_SIZE_PT
        drawn.append(f"BT {grey} g /helv {LABEL_SIZE_PT} Tf {x:.2f} {height - y:.2f} Td ({text}) Tj ET")

    def shade(x0: float, y0: float, x1: float, y1: float) -> None:
        drawn.append(f"{PALE} g {x0:.2f} {height - y1:.2f} {x1 - x0:.2f} {y1 - y0:.2f} re f")

    write(page.rect.width - MARGIN_PT, MARGIN_PT / 2, _remark(sheet, grid), align=1.0)
    if grid is not None:
        left, top = grid.columns[0].start, grid.rows[0].start
        shade(left, top - LETTERS_PT, grid.columns[-1].end, top)
        shade(left - ROW_NUMBERS_PT, top, left, grid.rows[-1].end)
        for number, start, end in grid.columns:
            grey = HIDDEN_GREY if number in sheet.hidden_columns else GREY
            write((start + end) / 2, top - LETTERS_PT / 3, column_letters(number), align=0.5, grey=grey)
        for number, start, _ in grid.rows:
            grey = HIDDEN_GREY if number in sheet.hidden_rows else GREY
            write(left - 4, start + PADDING_Y_PT + FONT_SIZE_PT - 1, str(number), align=1.0, grey=grey)
    page.insert_font(fontname="helv")
    content = "\n".join(["q /Span <</ActualText ()>> BDC", *drawn, "EMC Q"])
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(xref, content.encode("ascii"))
    contents = " ".join(f"{one} 0 R" for one in (xref, *page.get_contents()))  # first: the page turns coordinates over
    document.xref_set_key(page.xref, "Contents", f"[{contents}]")


def _remark(sheet: Sheet, grid: PageGrid | None) -> str:
    """Return in words what the file hides of the sheet."""
    remarks = {
        "hidden sheet": sheet.hidden,
        "hidden rows are shaded": grid is not None and any(row.number in sheet.hidden_rows for row in grid.rows),
        "hidden columns are shaded": grid is not None
        and any(one.number in sheet.hidden_columns for one in grid.columns),
    }
    return ", ".join(remark for remark, applies in remarks.items() if applies)
