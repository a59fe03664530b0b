"""Convert spreadsheets and delimited text (CSV, TSV) to PDF, as HTML tables with column letters and row numbers.

Headers are repeated on each page. Pages grow with their rows, so a row is never divided. Each page keeps its grid
(`rag.parsing.sheets.page_grid`).
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rag import types
from rag.parsing import file_types
from rag.parsing.archive.file_list import listed
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion, OnPages, SourceText
from rag.parsing.html.characters import BREAK
from rag.parsing.html.layout import MARGIN_PT, PageWriter, Paper
from rag.parsing.html.markup import HIDDEN_CLASS, escaped
from rag.parsing.office import embedded
from rag.parsing.pdf.mupdf import HIDDEN_COLOR
from rag.parsing.sheets import delimited, ods, xls, xlsx
from rag.parsing.sheets.cell_names import Area, column_letters
from rag.parsing.sheets.page_grid import CONTINUED_PT, REMARKS, Band, Block, PageGrid
from rag.parsing.sheets.sheet import Cell, Sheet, Tag, Workbook
from rag.parsing.sheets.tables import Region, regions, titles

FONT_SIZE_PT, LINE_PT = 8.0, 9.6
CHARACTER_PT, WIDE_CHARACTER_PT = 4.45, 7.0
"""Width of a digit, which is more than that of most texts, and of wide bold capitals."""
PADDING_X_PT, PADDING_Y_PT = 4.5, 2.5
"""Space between a cell's text and its edges. Texts of two cells are at least one em apart and never read as one run."""
MAX_LINE_CHARS = 42
"""Longer text is wrapped."""
MAX_WORD_CHARS = 60
"""Longer words may be broken."""
MAX_CELL_CHARS = 3000
"""Longer text continues in a further table row of the same number."""
PAGE_SIZES_PT = ((595.0, 842.0), (842.0, 595.0), (1191.0, 842.0))
"""A4 portrait, A4 and A3 landscape; the first one that is wide enough is used."""
ROW_NUMBERS_PT = 30.0
MIN_WIDTH_PT = 300.0
"""Least width for titles."""
MAX_LABEL_SHARE = 0.35
"""Columns on further pages repeat the first column if it takes at most this share of the page's width."""
MAX_GAP = 3
"""Longer runs of empty rows or columns are left out."""
NOTES_PER_PAGE = 40
EMPTY = "This sheet is empty."
NOTES = "Comments and drawings"
FILES = "Embedded files"
_LINE_END = re.compile(r"\r\n?|[\n\u2028\u2029]")
_CONTINUED = f'<div style="text-indent:{CONTINUED_PT}pt">'
_TAGS: dict[Tag, str] = {
    "": "{}", "sup": "<sup>{}</sup>", "sub": "<sub>{}</sub>", "s": "<s>{}</s>",
    "hidden": f'<span class="{HIDDEN_CLASS}">{{}}</span>',
}  # fmt: skip
_STYLE = f"""
body {{ margin: 0; font-family: sans-serif; font-size: {FONT_SIZE_PT}pt; line-height: {LINE_PT}pt }}
h1 {{ font-size: 14pt; line-height: 18pt; margin: 0 0 8pt 0 }}
h3 {{ font-size: 10pt; margin: 18pt 0 0 0 }}
p {{ margin: 3pt 0 4pt 0 }}
table {{ border-collapse: collapse }}
td, th {{ border: 0.5pt solid #c7c7c7; padding: {PADDING_Y_PT}pt {PADDING_X_PT}pt; text-align: left }}
td, th {{ white-space: nowrap }}
th {{ background-color: #ededed }}
.number {{ text-align: right }}
.wrapped {{ white-space: normal }}
.shaded {{ background-color: #f7f7f7 }}
.label {{ border: none; background-color: #ededed; color: #737373; font-size: 6.5pt; text-align: center }}
.pale {{ color: #c7c7c7 }}
.room {{ border: none }}
.{HIDDEN_CLASS} {{ color: #{HIDDEN_COLOR:06x} }}
"""
ROWS_PER_PAGE = 45


class _Plan(NamedTuple):
    """What all pages of a sheet share: its regions, the rows that are titles, and the width of columns in points."""

    sheet: Sheet
    regions: list[Region]
    titles: set[int]
    widths: dict[int, float]
    paper: tuple[float, float]


class _Row(NamedTuple):
    """A row on a page: its number in the sheet and its filled cells."""

    number: int
    cells: dict[int, Cell]


class _Page(NamedTuple):
    """A page before it is laid out, and the table on it."""

    html: str
    paper: tuple[float, float] = PAGE_SIZES_PT[0]
    table: "_Table | None" = None


def to_pdf(
    source: Path, mime_type: str, unpacking: Unpacking | None = None, on_pages: OnPages = lambda _: None
) -> Conversion:
    """Convert the spreadsheet at `source` to PDF, each sheet on its own pages; store embedded files with `unpacking`.

    `on_pages` receives the estimated number of pages.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    readers = {file_types.XLSX: xlsx.read, file_types.XLS: xls.read, file_types.ODS: ods.read}
    if mime_type in readers:
        book = readers[mime_type](source)
    else:
        book = Workbook([delimited.read(source, is_tabbed=mime_type == file_types.TSV)])
    on_pages(sum(1 + len(sheet.cells) // ROWS_PER_PAGE for sheet in book.sheets))
    texts = [text for sheet in book.sheets for text in sheet.texts()]
    files: list[str] = []
    if unpacking is not None:
        embedded.store(book.files, unpacking)
        files = listed(unpacking.parts)
        texts += [SourceText("the list of files", line) for line in files]
    document = draw(book.sheets, files)
    book.about.set_on(document)
    return Conversion(document, tuple(texts))


def draw(sheets: Iterable[Sheet], files: Sequence[str] = ()) -> Any:
    """Make a PDF (a `pymupdf.Document`) with the sheets one after the other, and the list of the files in them."""
    grids: list[PageGrid | None] = []
    with PageWriter() as writer:
        for sheet in sheets:
            for page in _pages(sheet):
                boxes = writer.add_page(page.html, _STYLE, Paper(*page.paper, FONT_SIZE_PT))
                grids.append(page.table.grid(boxes) if page.table else None)
        if files:
            writer.add_page(f"<h1>{FILES}</h1>{_paragraphs(files)}", _STYLE, Paper(*PAGE_SIZES_PT[0], FONT_SIZE_PT))
            grids.append(None)
    document = writer.document()
    for page, grid in zip(document, grids, strict=True):
        if grid is not None:
            grid.write(document, page)
    return document


def _pages(sheet: Sheet) -> Iterator[_Page]:
    pages = _table_pages(sheet) if sheet.cells else iter([_Page(f"<p>{EMPTY}</p>")])
    heading = f'<h1 id="heading">{escaped(sheet.name)}</h1>' if sheet.name else ""
    page = next(pages)
    page = page._replace(html=heading + _paragraphs(sheet.header) + page.html)
    for following in pages:
        yield page
        page = following
    below = [f"<p>{escaped(note.place[0].upper() + note.place[1:])}: {escaped(note.text)}</p>" for note in sheet.notes]
    below += [chart.html() for chart in sheet.charts]
    title = f"<h3>{NOTES}</h3>" if below else ""
    yield page._replace(html=page.html + _paragraphs(sheet.footer) + title + "".join(below[:NOTES_PER_PAGE]))
    for start in range(NOTES_PER_PAGE, len(below), NOTES_PER_PAGE):
        yield _Page("".join(below[start : start + NOTES_PER_PAGE]))


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escaped(line)}</p>" for line in lines)


# --- rows and columns of a page ------------------------------------------------------------------------------


def _table_pages(sheet: Sheet) -> Iterator[_Page]:
    title_rows = titles(sheet)
    columns = _with_small_gaps(sheet.columns)
    widths = _widths(sheet, columns, title_rows)
    total = sum(widths.values())
    paper = next((paper for paper in PAGE_SIZES_PT if total <= _room(paper)), PAGE_SIZES_PT[-1])
    plan = _Plan(sheet, regions(sheet), title_rows, widths, paper)
    numbers = _with_small_gaps(sorted(sheet.cells))
    for group, repeated_columns in _groups(columns, widths, _room(paper)):
        for rows, repeated_rows in _divided(plan, group, numbers):
            table = _Table(plan, group, rows, (repeated_rows, repeated_columns))
            yield _Page(table.html, paper, table)


def _with_small_gaps(numbers: Iterable[int]) -> list[int]:
    """Fill short gaps in ascending `numbers`, also before the first."""
    filled: list[int] = []
    before = 0
    for number in numbers:
        if number - before - 1 <= MAX_GAP:
            filled.extend(range(before + 1, number))
        filled.append(number)
        before = number
    return filled


def _room(paper: tuple[float, float]) -> float:
    return paper[0] - 2 * MARGIN_PT - ROW_NUMBERS_PT


def _widths(sheet: Sheet, columns: Sequence[int], title_rows: set[int]) -> dict[int, float]:
    """Estimate the width of each column; the layout makes it wider if a word or number needs more."""
    longest = dict.fromkeys(columns, 3)
    for row, cells in sheet.cells.items():
        for column, cell in cells.items():
            if row not in title_rows and (row, column) not in sheet.spans:
                length = _length(cell.text)
                if length > MAX_LINE_CHARS:
                    length = max(MAX_LINE_CHARS, min(max(map(_length, cell.text.split())), 2 * MAX_WORD_CHARS))
                longest[column] = max(longest[column], length)
    for (row, column), area in sheet.spans.items():
        last = max((other for other in columns if column <= other <= area.right), default=None)
        if last is not None and column in sheet.cells.get(row, {}) and row not in title_rows:
            covered = sum(longest[other] for other in columns if column <= other <= area.right)
            longest[last] += max(0, min(_length(sheet.cells[row][column].text), MAX_LINE_CHARS) - covered)
    return {column: CHARACTER_PT * count + 2 * PADDING_X_PT for column, count in longest.items()}


def _groups(columns: Sequence[int], widths: dict[int, float], room: float) -> Iterator[tuple[list[int], int]]:
    """Divide columns among pages; further ones repeat the first column, which has the labels. Yield their number."""
    repeated = [columns[0]] if widths[columns[0]] <= MAX_LABEL_SHARE * room else []
    group, left = [columns[0]], room - widths[columns[0]]
    is_first = True
    for column in columns[1:]:
        if widths[column] > left and len(group) > len(repeated):
            yield group, 0 if is_first else len(repeated)
            group, left, is_first = [*repeated], room - sum(widths[other] for other in repeated), False
        group.append(column)
        left -= widths[column]
    yield group, 0 if is_first else len(repeated)


def _divided(plan: _Plan, group: Sequence[int], numbers: Sequence[int]) -> Iterator[tuple[list[_Row], int]]:
    """Divide rows among pages; yield the rows of each page and how many of them repeat headers."""
    room = plan.paper[1] - 2 * MARGIN_PT
    rows: list[_Row] = []
    repeated, left = 0, room
    for row in (part for number in numbers for part in _parts(plan.sheet, group, number)):
        height = _height(plan, row)
        if len(rows) > repeated and height > left:
            yield rows, repeated
            rows = _heads(plan, group, row.number, room / 2)
            repeated, left = len(rows), room - sum(_height(plan, head) for head in rows)
        rows.append(row)
        left -= height
    yield rows, repeated


def _parts(sheet: Sheet, group: Sequence[int], number: int) -> Iterator[_Row]:
    """Yield a row of the sheet, in several parts if it has a long text."""
    filled = sheet.cells.get(number, {})
    cells = {column: filled[column] for column in group if column in filled}
    while any(len(cell.text) > MAX_CELL_CHARS for cell in cells.values()):
        parts = {column: _cut(cell) for column, cell in cells.items()}
        yield _Row(number, {column: part for column, (part, _) in parts.items()})
        cells = {column: rest for column, (_, rest) in parts.items() if rest.text}
    yield _Row(number, cells)


def _cut(cell: Cell) -> tuple[Cell, Cell]:
    """Cut a long text, if possible at white space, and give up the marks of its parts."""
    if len(cell.text) <= MAX_CELL_CHARS:
        return cell, Cell("")
    end = cell.text.rfind(" ", 1, MAX_CELL_CHARS) + 1 or MAX_CELL_CHARS
    return cell._replace(text=cell.text[:end], runs=()), cell._replace(text=cell.text[end:], runs=())


def _height(plan: _Plan, row: _Row) -> float:
    lines = 1
    for column, cell in row.cells.items():
        room = plan.widths[column] - 2 * PADDING_X_PT
        if row.number in plan.titles or (row.number, column) in plan.sheet.spans:
            room = max(room, MIN_WIDTH_PT)
        if "\n" in cell.text or len(cell.text) * CHARACTER_PT > room:
            lines = max(lines, sum(1 + int(_length(line) * CHARACTER_PT / room) for line in cell.text.split("\n")))
    return lines * LINE_PT + 2 * PADDING_Y_PT + 0.5


def _heads(plan: _Plan, group: Sequence[int], number: int, room: float) -> list[_Row]:
    """Return the rows that name the columns of row `number`, unless they need more than `room` points."""
    heads = {
        head for region in plan.regions if region.area.top <= number <= region.area.bottom for head in region.heads
    }
    rows = [part for head in sorted(heads) for part in _parts(plan.sheet, group, head)]
    return rows if number not in heads and sum(_height(plan, row) for row in rows) <= room else []


# --- tables --------------------------------------------------------------------------------------------------


class _Table:
    """Some columns and rows of a sheet on one page, the first of them `repeated` from other pages, as HTML.

    Letters and row numbers have the ids that `grid` needs.
    """

    def __init__(self, plan: _Plan, columns: Sequence[int], rows: Sequence[_Row], repeated: tuple[int, int]) -> None:
        self._plan = plan
        self._sheet = plan.sheet
        self._columns = columns
        self._rows = rows
        self._repeated = repeated
        self._merged: list[Area] = []
        self._room = max(0.0, MIN_WIDTH_PT - sum(plan.widths[column] for column in columns))
        self._blocks: list[Block] = []
        numbers = [row.number for row in rows]
        for kind, area, heads in plan.regions:
            lines = [index for index, number in enumerate(numbers) if area.top <= number <= area.bottom]
            places = [place for place, column in enumerate(columns) if area.left <= column <= area.right]
            if lines and places and places[-1] >= repeated[1]:
                count = sum(numbers[index] in heads for index in lines)
                self._blocks.append(Block(kind, lines[0], lines[-1], places[0], places[-1], count))
        self.html = f'<table id="table">{"".join(self._lines())}</table>'

    def _lines(self) -> Iterator[str]:
        """Yield the table: a row that says what the file hides, the letters of the columns, and the rows."""
        sheet = self._sheet
        has_hidden_rows = any(row.number in sheet.hidden_rows for row in self._rows)
        hidden = (sheet.hidden, has_hidden_rows, not sheet.hidden_columns.isdisjoint(self._columns))
        if any(hidden):
            remark = ", ".join(itertools.compress(REMARKS, hidden))
            yield f'<tr><td class="label" colspan="{len(self._columns) + 1}">{remark}</td></tr>'
        yield '<tr><td class="label"></td>'
        for column in self._columns:
            yield (
                f'<td class="label{" pale" * (column in sheet.hidden_columns)}" id="c{column}"'
                f' style="width:{self._plan.widths[column]:.0f}pt">{column_letters(column)}</td>'
            )
        yield f'<td class="room" style="width:{self._room:.0f}pt"></td></tr>' if self._room else "</tr>"
        covered: set[tuple[int, int]] = set()
        heads = {
            (index, place)
            for block in self._blocks
            for index in range(block.top, block.top + block.heads)
            for place in range(block.left, block.right + 1)
        }
        for index, row in enumerate(self._rows):
            pale = " pale" * (row.number in sheet.hidden_rows)
            yield f'<tr><td class="label{pale}" id="r{index}">{row.number}</td>'
            for place in range(len(self._columns)):
                if (index, place) not in covered:
                    down, across = span = self._span(index, place)
                    if down > 1 or across > 1:
                        covered |= {(index + i, place + j) for i in range(down) for j in range(across)}
                    yield self._cell(row, self._columns[place], span, is_head=(index, place) in heads)
            yield "</tr>"

    def _span(self, index: int, place: int) -> tuple[int, int]:
        """Return how many rows and columns of the page a cell covers; it never covers others that have text."""
        row, column = self._rows[index], self._columns[place]
        is_title = row.number in self._plan.titles and column in row.cells
        area = self._sheet.spans.get((row.number, column))
        if is_title:
            area = Area(row.number, column, row.number, self._columns[-1])
        if area is None:
            return 1, 1
        following = itertools.takewhile(
            lambda other: other <= area.right and other not in row.cells, self._columns[place + 1 :]
        )
        covered = [column, *following]
        below = itertools.takewhile(
            lambda other: row.number < other.number <= area.bottom and other.cells.keys().isdisjoint(covered),
            self._rows[index + 1 :],
        )
        rows = [row, *below]
        self._merged.append(Area(row.number, column, rows[-1].number, covered[-1]))
        return len(rows), len(covered) + (is_title and self._room > 0)

    def _cell(self, row: _Row, column: int, span: tuple[int, int], *, is_head: bool) -> str:
        cell = row.cells.get(column)
        kinds = []
        if not is_head and (row.number in self._sheet.hidden_rows or column in self._sheet.hidden_columns):
            kinds.append("shaded")
        if cell is not None and cell.is_number and span == (1, 1):
            kinds.append("number")
        if cell is not None and cell.runs:
            kinds.append("wrapped")
        tag, attributes = ("th" if is_head else "td"), f' class="{" ".join(kinds)}"' if kinds else ""
        if span != (1, 1):
            attributes += f' rowspan="{span[0]}" colspan="{span[1]}"'
        room = (
            sum(self._plan.widths[other] for other in self._columns[: span[1]])
            if row.number in self._plan.titles
            else 0
        )
        content = _content(cell, max(MAX_LINE_CHARS, int(room / WIDE_CHARACTER_PT))) if cell is not None else ""
        return f"<{tag}{attributes}>{content}</{tag}>"

    def grid(self, boxes: dict[str, types.Rect]) -> PageGrid:
        """Make the page's grid from the boxes of elements with an id."""
        columns = [(column, boxes[f"c{column}"]) for column in self._columns]
        rows = [(row.number, boxes[f"r{index}"]) for index, row in enumerate(self._rows)]
        return PageGrid(
            sheet=self._sheet.name,
            top=boxes["table"].y0,
            columns=tuple(
                Band(column, box.x0 - PADDING_X_PT, box.x1 + PADDING_X_PT, column in self._sheet.hidden_columns)
                for column, box in columns
            ),
            rows=tuple(
                Band(number, box.y0 - PADDING_Y_PT, box.y1 + PADDING_Y_PT, number in self._sheet.hidden_rows)
                for number, box in rows
            ),
            merged=tuple(self._merged),
            blocks=tuple(self._blocks),
            heading=boxes["heading"].y1 if "heading" in boxes else None,
            repeated=self._repeated,
        )


def _content(cell: Cell, characters: int) -> str:
    """Return a cell's text as HTML. A line that continues a cut word is indented, which `page_grid` recognizes."""
    if cell.runs:
        content = "".join(
            _TAGS[run.tag].format("<br>".join(map(_escaped, _LINE_END.split(run.text)))) for run in cell.runs
        )
    elif _length(cell.text) <= characters and _LINE_END.search(cell.text) is None:
        content = _escaped(cell.text)
    else:
        content = "".join(
            f"{_CONTINUED if continues else '<div>'}{_escaped(line)}</div>"
            for line, continues in _lines(cell.text, characters)
        )
    return f"<b>{content}</b>" if cell.bold else content


def _escaped(text: str) -> str:
    """Escape the text of a line, which stays on one line: only firm spaces make the layout widen the column."""
    return escaped(text.replace(" ", "\u00a0")).replace(BREAK, "")


def _lines(text: str, characters: int) -> Iterator[tuple[str, bool]]:
    """Divide text at white space into lines of about as many characters; tell which continue a word that is cut."""
    line, continues = "", False
    for words in map(str.split, _LINE_END.split(text)):
        for word in words:
            if line and _length(line) + 1 + _length(word) > characters:
                yield line, continues
                line, continues = "", False
            rest = word
            while len(rest) > MAX_WORD_CHARS:
                if line:
                    yield line, continues
                yield rest[:MAX_WORD_CHARS], False if line else continues
                line, rest, continues = "", rest[MAX_WORD_CHARS:], True
            line = f"{line} {rest}" if line else rest
        if line:
            yield line, continues
        line, continues = "", False


def _length(text: str) -> int:
    """Return the length of the longest line in digits; capitals and East Asian characters are wider."""
    if "\n" in text:
        return max(map(_length, text.split("\n")))
    if text.isascii() and text == text.lower():
        return len(text)
    wide = sum(character >= "\u2e80" for character in text)
    return len(text) + wide + (sum(map(str.isupper, text)) + 1) // 2
