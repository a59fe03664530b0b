"""Put the rows of a document's tables together, with typed columns, from the lines that its chunks keep.

Tables of sheets are rebuilt cell by cell over their pages; those of other documents are the rows between heads, also
over pages. Rows that only name a section and rows that sum up others are told apart, so that none counts twice.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rag import errors, tables, types
from rag.answering.field_values.units import SCALE_NAMES
from rag.answering.passages.table_text import declared_scales
from rag.answering.tables import cell_values
from rag.answering.tables.cell_values import POINT, Column, Mark
from rag.answering.tables.table_totals import Totals, find_totals
from rag.answering.text.measurement_units import currencies, measure_behind
from rag.messages import N_
from rag.parsing.sheets.cell_names import Area, area_name, column_letters, on_sheet
from rag.parsing.sheets.page_grid import Block, PageGrid

ROW = "row_no"
"""The column of queries with the number of the row in its table or on its sheet."""
SECTION = "section"
PAGE = "page_no"

MAX_NAME_CHARS = 60
MAX_ROW_CHARS = 500
SAMPLES = 3
MIN_COLUMNS = 2
MIN_EXPECTED = 0.2
"""Rows without any value that are expected from the share of empty cells, from which on they are no sections."""
MARK_SAMPLE = 500
"""Cells of each column that tell the decimal mark of columns without a cell that tells it."""


class TableRow(NamedTuple):
    """A row: its number, its cells by column from the left, the lines of print that it is made of, its section."""

    number: int
    cells: list[str]
    lines: tuple[types.Line, ...]
    section: str = ""


class TypedTable(NamedTuple):
    """A table with its columns read: `info` is what is told of it, `columns` belong to `info.columns`.

    It has no rows that sum up others. `doubts` say why a table that is not on a sheet may not have been read whole.
    """

    info: types.DataTable
    rows: list[TableRow]
    columns: list[Column]
    sheet: str | None = None
    places: Sequence[int] = ()
    doubts: tuple[str, ...] = ()
    may_be_totals: Sequence[int] = ()
    """The numbers of rows that may sum up others."""

    def cited(self, row: TableRow) -> types.UsedRow:
        """Return a row with its place: the boxes of its lines, on a sheet also the names of its cells."""
        page = row.lines[0].page_number
        filled = [place for place, cell in zip(self.places, row.cells, strict=False) if cell]
        cells = None
        if self.sheet is not None:
            cells = on_sheet(self.sheet, area_name(Area(row.number, filled[0], row.number, filled[-1])))
        rects = tuple(line.bbox for line in row.lines if line.page_number == page)
        region = types.Region(page_number=page, rects=rects, cells=cells)
        text = " · ".join(filter(None, row.cells))
        shown = text if len(text) <= MAX_ROW_CHARS else f"{text[:MAX_ROW_CHARS]}…"
        return types.UsedRow(number=row.number, text=shown, region=region)


def read_tables(
    lines: Iterable[types.Line],
    grids: Mapping[int, PageGrid],
    *,
    mark: Mark = POINT,
    month_first: bool = True,
    records: bool = False,
) -> list[TypedTable]:
    """Return the tables in `lines`, which stand in reading order; `grids` are those of pages of sheets.

    `mark` is the decimal mark, and `month_first` the order of dates, where the cells leave it open. Of `records`, as in
    a CSV file, a row with nothing but its first cell is data.

    Raises:
        errors.LimitError: a table has too many rows or columns.
    """
    whole = [*_joined(lines)]
    on_sheets = [line for line in whole if line.kind is types.BlockKind.TABLE and line.page_number in grids]
    others = [line for line in whole if line.page_number not in grids]
    found = [*_sheet_tables(on_sheets, grids, records=records), *_flowing_tables(others)]
    made = [table for table in found if table.rows and len(table.heads) > 1]
    return [
        _typed(number, table, [one for one in made if one is not table], mark, month_first)
        for number, table in enumerate(made, start=1)
    ]


def _joined(lines: Iterable[types.Line]) -> Iterator[types.Line]:
    """Yield each line once, those whole again that chunking has split."""
    fresh: dict[tuple[int, int, types.Rect, str], types.Line] = {}
    for line in lines:
        fresh.setdefault((line.page_number, line.number, line.bbox, line.text), line)
    before: types.TableRow | None = None
    for _, parts in itertools.groupby(fresh.values(), key=lambda line: (line.page_number, line.number, line.bbox)):
        line, *rest = parts
        if rest:
            text = line.text + "".join(part.text for part in rest)
            line = line.model_copy(update={"text": text, "row": _row_like(before, text.count("\t") + 1)})
        before = line.row
        yield line


def _row_like(before: types.TableRow | None, count: int) -> types.TableRow:
    """Return what a row with so many cells means that stands below another."""
    if before is not None and len(before.cells) == count and not before.is_head:
        return before
    return types.TableRow(cells=tuple(types.TableCell(index, index) for index in range(count)))


# --- rows ---------------------------------------------------------------------------------------------


class _Table:
    """A table that is put together line by line, on a sheet from its blocks on several pages."""

    def __init__(self, sheet: str | None = None) -> None:
        self.sheet = sheet
        self.caption = ""
        self.cells: dict[int, dict[int, str]] = {}
        """By the numbers of row and column."""
        self.lines: dict[int, list[types.Line]] = {}
        self.head_of: dict[int, str] = {}
        self.head_rows: set[int] = set()
        self.hidden: tuple[set[int], set[int]] = set(), set()
        """The numbers of rows and columns that the sheet hides."""
        self.is_merged = False
        """Whether a cell covers several columns."""
        self.doubts: list[str] = []
        """Why a table that is not on a sheet may not have been read as it is."""

    def add(self, number: int, line: types.Line, columns: Sequence[int], *, first: int = 0) -> None:
        """Add a row of data, or a part of one, by the columns of its cells, the `first` of which repeat labels."""
        row = line.row or types.TableRow(cells=())
        self.caption = self.caption or row.caption
        cells = self.cells.setdefault(number, {})
        parts = zip(columns, row.cells, line.text.split("\t"), strict=False)
        for column, cell, text in itertools.islice(parts, max(first, 0), None):
            if cell.head:
                self.head_of.setdefault(column, cell.head)
            if text.strip():
                self.is_merged |= cell.first < cell.last
                cells[column] = f"{cells[column]} {text.strip()}" if column in cells else text.strip()
        self.lines.setdefault(number, []).append(line)

    def merge(self, area: Area) -> None:
        """Give all rows of merged cells the text of the first."""
        text = self.cells.get(area.top, {}).get(area.left)
        for number in range(area.top + 1, area.bottom + 1):
            if text and number in self.cells:
                self.cells[number].setdefault(area.left, text)

    def finish(self, *, records: bool = False) -> "_Table":
        """Arrange the rows by columns, and leave out those that only name a section."""
        self.places = sorted({column for row in self.cells.values() for column in row} | self.head_of.keys())
        self.heads = [self.head_of.get(column, "") for column in self.places]
        rows = [
            TableRow(number, [row.get(column, "") for column in self.places], tuple(self.lines[number]))
            for number, row in sorted(self.cells.items())
            if row
        ]
        self.sections = _notes_behind(rows) | (set() if records else _sections(rows, self.heads))
        self.rows = [
            row._replace(section=row.lines[0].row.section if self.sections and row.lines[0].row else "")
            for row in rows
            if row.number not in self.sections
        ]
        return self

    @property
    def area(self) -> str | None:
        """The cells of a sheet."""
        if self.sheet is None:
            return None
        return on_sheet(
            self.sheet, area_name(Area(self.rows[0].number, self.places[0], self.rows[-1].number, self.places[-1]))
        )


def _notes_behind(rows: Sequence[TableRow]) -> set[int]:
    """Return the numbers of the rows behind the last empty row if only their first cells are filled."""
    numbers = [row.number for row in rows]
    gaps = [at for at, (before, number) in enumerate(itertools.pairwise(numbers), start=1) if number > before + 1]
    last = rows[gaps[-1] :] if gaps else ()
    return {row.number for row in last} if not any(cell for row in last for cell in row.cells[1:]) else set()


def _sections(rows: Sequence[TableRow], heads: Sequence[str]) -> set[int]:
    """Return the numbers of the rows with nothing but a first cell that names a section.

    In a list whose columns all have heads such rows lack their values if the other rows lack so many that this is to be
    expected, or if there is only one value.
    """
    alone = {row.number for row in rows if not any(row.cells[1:]) and not tables.is_amount(row.cells[0])}
    others = [row for row in rows if row.number not in alone]
    if all(heads) and others:
        empty = (sum(not row.cells[index] for row in others) / len(others) for index in range(1, len(heads)))
        if len(heads) <= MIN_COLUMNS or len(rows) * math.prod(empty) >= MIN_EXPECTED:
            return set()
    return alone


def _sheet_tables(lines: Sequence[types.Line], grids: Mapping[int, PageGrid], *, records: bool) -> Iterator[_Table]:
    by_page: dict[int, list[types.Line]] = {}
    for line in lines:
        by_page.setdefault(line.page_number, []).append(line)
    found: list[_Table] = []
    latest: dict[tuple[str, int], _Table] = {}
    first_columns: dict[str, set[int]] = {}
    for page in sorted(by_page):
        grid = grids[page]
        columns = {band.number for band in grid.columns[grid.repeated[1] :]}
        is_further = columns.isdisjoint(first_columns.setdefault(grid.sheet, columns))
        rows: dict[int, list[types.Line]] = {}
        for line in by_page[page]:
            index = grid.row_at((line.bbox.y0 + line.bbox.y1) / 2)
            if index is not None:
                rows.setdefault(index, []).append(line)
        for block in grid.blocks:
            if block.kind == "text":
                latest.clear()
                continue
            key = (grid.sheet, grid.columns[block.left].number)
            table = _beside(found, grid, block) if is_further else _above(latest.get(key), grid, block)
            if table is None:
                table = _Table(grid.sheet)
                found.append(table)
            latest[key] = table
            _add_block(table, grid, block, rows)
    yield from (table.finish(records=records) for table in found if table.lines)


def _numbers(grid: PageGrid, block: Block) -> list[int]:
    return [grid.rows[index].number for index in range(block.top, block.bottom + 1)]


def _above(latest: _Table | None, grid: PageGrid, block: Block) -> _Table | None:
    """Return the table of the last page that goes on with a block: at the top of its page, without heads of its own."""
    numbers = _numbers(grid, block)
    heads, rows = numbers[: block.heads], numbers[block.heads :]
    if latest is None or block.top or not rows or not latest.head_rows.issuperset(heads):
        return None
    return latest if max(latest.cells, default=0) <= rows[0] else None  # a long row has several parts


def _beside(found: Sequence[_Table], grid: PageGrid, block: Block) -> _Table | None:
    """Return the table of whose rows a block has further columns: the one whose labels it repeats, or else the last."""
    numbers = _numbers(grid, block)
    candidates = [table for table in found if table.sheet == grid.sheet and not table.cells.keys().isdisjoint(numbers)]
    first = grid.columns[block.left].number
    labelled = [
        table for table in candidates if block.left < grid.repeated[1] and min(table.head_of, default=0) == first
    ]
    return next(reversed(labelled or candidates), None)


def _add_block(table: _Table, grid: PageGrid, block: Block, rows: Mapping[int, Sequence[types.Line]]) -> None:
    """Add the cells of a block, but not those of heads and labels that its page repeats."""
    bands = grid.columns[block.left : block.right + 1]
    columns = [band.number for band in bands]
    for index in range(max(block.top, grid.repeated[0]), block.bottom + 1):
        row = grid.rows[index]
        for line in rows.get(index, ()):
            if line.text.count("\t") != len(columns) - 1 or not bands[0].start <= line.bbox.x0 <= bands[-1].end:
                continue  # of a table beside it
            if index < block.top + block.heads or (line.row and line.row.is_head):
                table.head_rows.add(row.number)
            else:
                table.add(row.number, line, columns, first=grid.repeated[1] - block.left)
    for part, bands_of in zip(table.hidden, (grid.rows, grid.columns), strict=True):
        part |= {band.number for band in bands_of if band.is_hidden}
    for area in grid.merged:
        table.merge(area)


def _flowing_tables(lines: Sequence[types.Line]) -> list[_Table]:
    """Return the tables of documents other than sheets: rows below the same heads, also on the next page."""
    runs: list[list[types.Line]] = []
    texts: dict[int, list[types.Line]] = {}
    for line in lines:
        if line.kind is not types.BlockKind.TABLE:
            texts.setdefault(line.page_number, []).append(line)
        elif not runs or _begins_anew(runs[-1], line):
            runs.append([line])
        else:
            runs[-1].append(line)
    made: list[_Table] = []
    for run in runs:
        table = _Table()
        data = ((line, line.row.cells) for line in run if line.row and not line.row.is_head)
        for number, (line, cells) in enumerate(data, start=1):
            table.add(number, line, [cell.first for cell in cells])
        made.append(table.finish())
    counts = Counter(tuple(table.heads) for table in made)
    for table, run, following in zip(made, runs, [*runs[1:], []], strict=False):
        parts = (part[0].row for part in (run, following) if part)
        full_heads = {
            line.text
            for line in run
            if line.row
            and line.row.is_head
            and sum(map(bool, map(str.strip, line.text.split("\t")))) == len(table.heads)
        }
        doubts = {
            N_("columns without a head of their own"): not all(table.heads) or len({*table.heads}) < len(table.heads),
            N_("heads that may be a row"): len(full_heads) > 1,
            N_("cells over several columns"): table.is_merged,
            N_("rows that may be parts of others"): table.sections or any(map(_is_partial, table.rows)),
            N_("text between its rows"): _has_text_within(run, texts),
            N_("a part without heads"): not all(row is not None and row.is_head for row in parts),
            N_("other tables with the same heads"): counts[tuple(table.heads)] > 1,
        }
        table.doubts = [doubt for doubt, holds in doubts.items() if holds]
    return made


def _is_partial(row: TableRow) -> bool:
    return not row.cells[0] or sum(map(bool, row.cells)) < MIN_COLUMNS


def _has_text_within(run: Sequence[types.Line], texts: Mapping[int, Sequence[types.Line]]) -> bool:
    """Whether a line of text may be a row of a table: between its rows, or with figures directly above or below."""
    for page, lines in itertools.groupby(run, key=lambda line: line.page_number):
        rows = [line.bbox for line in lines]
        left, right = min(box.x0 for box in rows), max(box.x1 for box in rows)
        top, bottom = min(box.y0 for box in rows), max(box.y1 for box in rows)
        height = max(box.y1 - box.y0 for box in rows)
        for text in texts.get(page, ()):
            middle = (text.bbox.y0 + text.bbox.y1) / 2
            margin = height if tables.is_data(text.text) else 0
            if text.bbox.x0 < right and text.bbox.x1 > left and top - margin < middle < bottom + margin:
                return True
    return False


def _begins_anew(run: Sequence[types.Line], line: types.Line) -> bool:
    """Whether another table begins: with other heads, or a block that does not go on with the last page's table."""
    last, row = run[-1], line.row
    if row is None or last.row is None:
        return line.starts_block
    follows = line.page_number == last.page_number + 1 and row.caption == last.row.caption
    if row.is_head:
        if last.row.is_head and not line.starts_block:
            return False
        is_known = any(other.text == line.text for other in run if other.row and other.row.is_head)
        return not is_known or (line.starts_block and not follows)
    if not line.starts_block or not follows:
        return line.starts_block
    known = {(cell.first, cell.head) for other in run if other.row for cell in other.row.cells if cell.head}
    named = {(cell.first, cell.head) for cell in row.cells if cell.head}
    return not named or not named <= known


# --- columns ------------------------------------------------------------------------------------------


def _typed(number: int, table: _Table, others: Sequence[_Table], mark: str, month_first: bool) -> TypedTable:
    if len(table.rows) > types.MAX_TABLE_ROWS or len(table.heads) > types.MAX_TABLE_COLUMNS:
        raise errors.LimitError(
            N_("A table has {rows} rows and {columns} columns; at most {most_rows} and {most_columns} are queried."),
            rows=f"{len(table.rows):,}",
            columns=len(table.heads),
            most_rows=f"{types.MAX_TABLE_ROWS:,}",
            most_columns=types.MAX_TABLE_COLUMNS,
        )
    columns = _columns(table.rows, mark, month_first)
    totals = find_totals([row.cells for row in table.rows], [row.section for row in table.rows], columns)
    numbers = Totals(*([table.rows[index].number for index in part] for part in totals))
    rows = [row for row in table.rows if row.number not in numbers.found]
    if numbers.found:
        columns = _columns(rows, mark, month_first)
    caption = table.caption
    if columns[0].kind == "text" and declared_scales(table.heads[0]):
        caption = f"{caption} {table.heads[0]}"  # "(in thousands)" stands where labels need no head
    names = _names([head or _place(table, index, columns[index]) for index, head in enumerate(table.heads)])
    described = [
        _described(name, head, column, [row.cells[index] for row in rows], caption)
        for index, (name, head, column) in enumerate(zip(names, table.heads, columns, strict=True))
    ]
    pages = [line.page_number for row in table.rows for line in row.lines]
    info = types.DataTable(
        number=number,
        name=(table.sheet or table.caption)[:MAX_NAME_CHARS].strip(),
        page_start=min(pages),
        page_end=max(pages),
        cells=table.area,
        columns=tuple(described),
        row_count=len(rows),
        totals=tuple(numbers.found),
        notes=(*_row_notes(table, numbers, others), *_column_notes(rows, columns, described)),
    )
    if numbers.odd:
        table.doubts.append(N_("a total that is not the sum of its rows"))
    return TypedTable(info, rows, columns, table.sheet, table.places, tuple(table.doubts), numbers.doubtful)


def _columns(rows: Sequence[TableRow], mark: Mark, month_first: bool) -> list[Column]:
    cells = [[row.cells[index] for row in rows] for index in range(len(rows[0].cells))]
    samples = [cell for column in cells for cell in column[:MARK_SAMPLE]]
    figures = [figure for cell in samples if (figure := cell_values.read_figure(cell))]
    mark = cell_values.decimal_mark(figures) or mark
    return [cell_values.read_column(column, mark=mark, month_first=month_first) for column in cells]


def _place(table: _Table, index: int, column: Column) -> str:
    if index == 0 and column.kind == "text":
        return "label"
    return f"column {column_letters(table.places[index]) if table.sheet is not None else index + 1}"


def _names(heads: Iterable[str]) -> list[str]:
    """Return a name for each head that queries can use without quotes, no two alike."""
    names: list[str] = []
    taken = {ROW, SECTION, PAGE}
    for head in heads:
        name = re.sub(r"[\W_]+", "_", head.casefold()).strip("_")[:MAX_NAME_CHARS] or "column"
        name = f"c_{name}" if name[0].isdigit() else name
        numbered = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
        names.append(next(one for one in numbered if taken.isdisjoint({one, f"{one}_unit"})))
        taken |= {names[-1], f"{names[-1]}_unit"}
    return names


def _described(name: str, head: str, column: Column, cells: Sequence[str], caption: str) -> types.TableColumn:
    unit, scale = column.unit, None
    if column.kind == "number" and not column.units:
        above = "" if _COUNTS.search(head) else caption  # what a caption says of amounts
        money = currencies(head) or (frozenset() if "%" in head else currencies(above))
        scales = declared_scales(head) or declared_scales(above)
        measure = measure_behind(named[1], 0) if (named := _MEASURED.search(head)) else None
        is_measured = named and measure and measure.end == len(named[1])
        unit = unit or (next(iter(money)) if len(money) == 1 else "%" if "%" in head else None)
        unit = unit or (measure.name if measure and is_measured else None)
        if unit != "%" and len(scales) == 1:
            scale = SCALE_NAMES.get(next(iter(scales)))
    return types.TableColumn(
        name=name,
        head=head,
        kind=column.kind,
        unit=unit,
        scale=scale,
        samples=tuple(sample[:MAX_NAME_CHARS] for sample in [*dict.fromkeys(filter(None, cells))][:SAMPLES]),
        unread=len(column.unread),
    )


_MEASURED = re.compile(r"(?:[(\[]|\bin\s)\s?(?!m[\s)\]])((?:[^\W\d_]|[²³. -]){1,20})[)\]]?$")
"""The unit at the end of a head; a lone "m" may be millions."""
_COUNTS = re.compile(
    r"\b(?:id|no|nr|notes?|number|nummer|count|qty|quantity|menge|year|jahr|shares?|anteile?|employees|headcount|staff|"
    r"fte|units?|per|eps|margins?|growth|rates?|ratios?|mitarbeiter\w*|beschäftigte|personal|stück\w*|einheiten|"
    r"aktien|je|pro|verhältnis)\b|(?:anzahl|zahl|marge|quote|wachstum)\b|#",
    re.IGNORECASE,
)
"""Heads of counts, numbers, shares, ratios, or amounts of each of something."""


def _row_notes(table: _Table, totals: Totals, others: Sequence[_Table]) -> Iterator[str]:
    hidden_rows, hidden_columns = table.hidden
    for note, numbers in (
        (N_("Rows left out as totals of others: {rows}."), totals.found),
        (N_("Totals that are not the sums of the rows counted: {rows}."), totals.odd),
        (N_("Rows counted that may be totals of others: {rows}."), totals.doubtful),
        (N_("Rows not counted that only name a section: {rows}."), sorted(table.sections)),
        (N_("Rows counted that the sheet hides: {rows}."), [r.number for r in table.rows if r.number in hidden_rows]),
    ):
        if numbers:
            yield note.format(rows=_listed(numbers))
    if hidden := [head for head, place in zip(table.heads, table.places, strict=True) if place in hidden_columns]:
        yield N_("Columns that the sheet hides: {columns}.").format(columns=", ".join(hidden))
    # an empty row may have parted them where nobody means it
    if areas := [other.area for other in others if other.area and other.sheet == table.sheet]:
        yield N_("Other tables of the sheet are not included: {areas}.").format(areas=", ".join(areas))


def _column_notes(
    rows: Sequence[TableRow], columns: Sequence[Column], described: Sequence[types.TableColumn]
) -> Iterator[str]:
    for column, about in zip(columns, described, strict=True):
        name = (about.head or about.name)[:MAX_NAME_CHARS]
        if column.unread:
            unread = _listed([rows[index].number for index in column.unread])
            yield N_("Rows without a value of “{column}” that can be read: {rows}.").format(column=name, rows=unread)
        own = _described(about.name, about.head, column, (), "")
        if said := " ".join(filter(None, (about.scale if not own.scale else "", about.unit if not own.unit else ""))):
            yield N_("“{column}” is in {unit} only according to the title of the table.").format(column=name, unit=said)
        if column.note:
            yield f"{name}: {column.note}"
        if column.units:
            units = ", ".join(dict.fromkeys(filter(None, column.units)))
            yield N_("“{column}” has several units: {units}.").format(column=name, units=units)


def _listed(numbers: Sequence[int], most: int = 10) -> str:
    shown = ", ".join(map(str, numbers[:most]))
    more = f" … ({len(numbers)})" if len(numbers) > most else ""
    return f"{shown}{more}"
