"""Put the rows of a document's tables together, with typed columns, from the lines that its chunks keep.

Tables of sheets are rebuilt cell by cell over their pages; those of other documents are the rows between heads, also
over pages. Rows that only name a section and rows that sum up others are told apart, so that none counts twice.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from rag import errors, tables, types
from rag.answering.passages.table_text import declared_scales
from rag.answering.tables import cell_values
from rag.answering.tables.cell_values import POINT, Column, Mark
from rag.answering.text.measurement_units import currencies
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
MIN_TOTAL_TERMS = 2
MARK_SAMPLE = 500
"""Cells of each column that tell the decimal mark of columns without a cell that tells it."""
MAX_TRIES = 500
"""Rows of a table that are compared with the sums of those above."""
ROUNDING = Decimal("0.6")
"""How far a total may be from the sum of its rows for their being rounded, in units of their last digits."""

_SCALE_NAMES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}
_TOTAL = re.compile(
    r"(?:grand[\s-]|sub[\s-]?)?totals?|sums?|zwischensummen?|(?:gesamt)?summen?|gesamt|insgesamt|total général|totaux",
    re.IGNORECASE,
)
_BEGINS_WITH_TOTAL = re.compile(rf"(?:{_TOTAL.pattern})\b", re.IGNORECASE)
_SUMMARY = re.compile(
    r"(?:overall|grand )?(?:average|avg\.?|mean)|overall|all|(?:gesamt)?durchschnitt|mittelwert|schnitt|alle|[øØ⌀]",
    re.IGNORECASE,
)
"""Labels of rows that are totals or averages of the others only if their figures are."""
_AROUND_LABEL = " :.*=\t"


class TableRow(NamedTuple):
    """A row: its number, its cells by column from the left, the lines of print that it is made of, its section."""

    number: int
    cells: list[str]
    lines: tuple[types.Line, ...]
    section: str = ""


class RawTable(NamedTuple):
    """A table before its cells are read: the heads of its columns, its rows of data and what stands above."""

    heads: list[str]
    rows: list[TableRow]
    caption: str = ""
    sheet: str | None = None
    places: Sequence[int] = ()
    """On a sheet, the numbers of the columns."""
    sections: tuple[int, ...] = ()
    """The numbers of rows that only name a section."""


class TypedTable(NamedTuple):
    """A table with its columns read: `info` is what is told of it, `columns` belong to `info.columns`.

    It has no rows that sum up others.
    """

    info: types.DataTable
    rows: list[TableRow]
    columns: list[Column]
    sheet: str | None = None
    places: Sequence[int] = ()

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
    whole = [line for line in _joined(lines) if line.kind is types.BlockKind.TABLE]
    on_sheets = [line for line in whole if line.page_number in grids]
    others = [line for line in whole if line.page_number not in grids]
    raw = [*_sheet_tables(on_sheets, grids, records=records), *_flowing_tables(others)]
    made = [table for table in raw if table.rows and len(table.heads) > 1]
    typed = [_typed(number, table, mark, month_first) for number, table in enumerate(made, start=1)]
    return [_with_note(table, typed) for table in typed]


def _with_note(table: TypedTable, tables_of_document: Sequence[TypedTable]) -> TypedTable:
    """Add a note that the sheet has other tables: an empty row may have parted them where nobody means it."""
    others = [
        other.info.cells
        for other in tables_of_document
        if other.sheet is not None and other.sheet == table.sheet and other is not table
    ]
    if not others:
        return table
    note = N_("Other tables of the sheet are not included: {areas}.").format(areas=", ".join(filter(None, others)))
    return table._replace(info=table.info.model_copy(update={"notes": (*table.info.notes, note)}))


def _joined(lines: Iterable[types.Line]) -> Iterator[types.Line]:
    """Yield each line once, those whole again that chunking has split."""
    seen: set[tuple[int, int, types.Rect, str]] = set()
    fresh: list[types.Line] = []
    for line in lines:
        key = (line.page_number, line.number, line.bbox, line.text)
        if key not in seen:
            seen.add(key)
            fresh.append(line)
    before: types.TableRow | None = None
    for _, parts in itertools.groupby(fresh, key=lambda line: (line.page_number, line.number, line.bbox)):
        first, *rest = parts
        line = first
        if rest:
            text = first.text + "".join(part.text for part in rest)
            line = first.model_copy(update={"text": text, "row": _row_like(before, text.count("\t") + 1)})
        before = line.row
        yield line


def _row_like(before: types.TableRow | None, count: int) -> types.TableRow:
    """Return what a row with so many cells means that stands below another."""
    if before is not None and len(before.cells) == count and not before.is_head:
        return before
    return types.TableRow(cells=tuple(types.TableCell(index, index) for index in range(count)))


# --- sheets -------------------------------------------------------------------------------------------


class _SheetTable:
    """A table of a sheet, put together from its blocks on several pages."""

    def __init__(self, sheet: str) -> None:
        self.sheet = sheet
        self.cells: dict[int, dict[int, str]] = {}
        self.lines: dict[int, list[types.Line]] = {}
        self.heads: set[int] = set()
        self.spans: dict[tuple[int, int], int] = {}
        """The last column of merged cells, by their row and first column."""
        self.caption = ""

    @property
    def columns(self) -> list[int]:
        return sorted({column for row in self.cells.values() for column in row})

    def head_of(self, column: int) -> str:
        """Return the texts of the head rows over a column, from top to bottom."""
        texts = []
        for row in sorted(self.heads):
            over = [left for left in self.cells[row] if left <= column <= self.spans.get((row, left), left)]
            texts += [self.cells[row][left].strip() for left in over[-1:]]
        return tables.SEPARATOR.join(dict.fromkeys(filter(None, texts)))


def _sheet_tables(lines: Sequence[types.Line], grids: Mapping[int, PageGrid], *, records: bool) -> Iterator[RawTable]:
    by_page: dict[int, list[types.Line]] = {}
    for line in lines:
        by_page.setdefault(line.page_number, []).append(line)
    found: list[_SheetTable] = []
    latest: dict[tuple[str, int], _SheetTable] = {}
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
                table = _SheetTable(grid.sheet)
                found.append(table)
            latest[key] = table
            _add_block(table, grid, block, rows)
    yield from (_raw_of_sheet(table, records=records) for table in found if table.lines)


def _numbers(grid: PageGrid, block: Block) -> list[int]:
    return [grid.rows[index].number for index in range(block.top, block.bottom + 1)]


def _above(latest: _SheetTable | None, grid: PageGrid, block: Block) -> _SheetTable | None:
    """Return the table of the last page that goes on with a block: at the top of its page, without heads of its own."""
    numbers = _numbers(grid, block)
    heads, rows = numbers[: block.heads], numbers[block.heads :]
    goes_on = block.top == 0 and latest is not None and latest.heads.issuperset(heads) and rows
    return latest if goes_on and latest and max(latest.cells) <= rows[0] else None  # a long row has several parts


def _beside(found: Sequence[_SheetTable], grid: PageGrid, block: Block) -> _SheetTable | None:
    """Return the table of whose rows a block has further columns: the one whose labels it repeats, or else the last."""
    numbers = _numbers(grid, block)
    candidates = [table for table in found if table.sheet == grid.sheet and not table.cells.keys().isdisjoint(numbers)]
    first = grid.columns[block.left].number
    labelled = [table for table in candidates if block.left < grid.repeated[1] and table.columns[0] == first]
    return next(reversed(labelled or candidates), None)


def _add_block(table: _SheetTable, grid: PageGrid, block: Block, rows: Mapping[int, Sequence[types.Line]]) -> None:
    """Add the cells of a block, but not those of heads and labels that its page repeats."""
    columns = [band.number for band in grid.columns[block.left : block.right + 1]]
    table.spans |= {(area.top, area.left): area.right for area in grid.merged}
    for index in range(max(block.top, grid.repeated[0]), block.bottom + 1):
        number = grid.rows[index].number
        for line in rows.get(index, ()):
            texts = line.text.split("\t")
            if len(texts) != len(columns) or not _is_over(line, grid, block):
                continue
            if index < block.top + block.heads if block.heads else bool(line.row and line.row.is_head):
                table.heads.add(number)
            if line.row and not table.caption:
                table.caption = line.row.caption
            cells = table.cells.setdefault(number, {})
            for place, (column, text) in enumerate(zip(columns, texts, strict=True), start=block.left):
                if text.strip() and place >= grid.repeated[1]:
                    cells[column] = f"{cells[column]} {text.strip()}" if column in cells else text.strip()
            table.lines.setdefault(number, []).append(line)


def _is_over(line: types.Line, grid: PageGrid, block: Block) -> bool:
    left, right = grid.columns[block.left].start, grid.columns[block.right].end
    return left <= line.bbox.x0 <= right


def _raw_of_sheet(table: _SheetTable, *, records: bool) -> RawTable:
    columns = range(table.columns[0], table.columns[-1] + 1)
    used = [column for column in columns if any(column in row for row in table.cells.values())]
    heads = [table.head_of(column) for column in used]
    rows = [
        TableRow(number, [table.cells[number].get(column, "") for column in used], tuple(table.lines.get(number, ())))
        for number in sorted(set(table.cells) - table.heads)
    ]
    sections = set[int]() if records else _sections(rows, heads)
    filed: list[TableRow] = []
    section = ""
    for row in rows:
        if row.number in sections:
            section = row.cells[0]
        else:
            filed.append(row._replace(section=section))
    return RawTable(heads, filed, table.caption, table.sheet, used, tuple(sorted(sections)))


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


# --- other documents ----------------------------------------------------------------------------------


def _flowing_tables(lines: Sequence[types.Line]) -> Iterator[RawTable]:
    """Yield the tables of documents other than sheets: rows below the same heads, also on the next page."""
    run: list[types.Line] = []
    for line in lines:
        if run and _begins_anew(run, line):
            yield from _raw_of_lines(run)
            run = []
        run.append(line)
    yield from _raw_of_lines(run)


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


def _raw_of_lines(lines: Sequence[types.Line]) -> Iterator[RawTable]:
    data = [line for line in lines if line.row and not line.row.is_head]
    columns = sorted({cell.first for line in data if line.row for cell in line.row.cells})
    if not data or len(columns) < 2:
        return
    heads: dict[int, str] = {}
    for line in data:
        for cell in line.row.cells if line.row else ():
            if cell.head and (cell.first == cell.last or cell.first not in heads):
                heads.setdefault(cell.first, cell.head)
    rows: list[TableRow] = []
    for number, line in enumerate(data, start=1):
        if line.row is None:
            continue
        texts = dict.fromkeys(columns, "")
        for cell, text in zip(line.row.cells, line.text.split("\t"), strict=False):
            texts[cell.first] = f"{texts[cell.first]} {text.strip()}".strip()
        if any(texts.values()):
            rows.append(TableRow(number, [*texts.values()], (line,), line.row.section))
    names = [heads.get(column, "") for column in columns]
    sections = _sections(rows, names)
    caption = next((line.row.caption for line in data if line.row and line.row.caption), "")
    kept = [row for row in rows if row.number not in sections]
    yield RawTable(names, kept, caption, sections=tuple(sorted(sections)))


# --- columns ------------------------------------------------------------------------------------------


def _typed(number: int, table: RawTable, mark: str, month_first: bool) -> TypedTable:
    if len(table.rows) > types.MAX_TABLE_ROWS or len(table.heads) > types.MAX_TABLE_COLUMNS:
        raise errors.LimitError(
            N_("A table has {rows} rows and {columns} columns; at most {most_rows} and {most_columns} are queried."),
            rows=f"{len(table.rows):,}",
            columns=len(table.heads),
            most_rows=f"{types.MAX_TABLE_ROWS:,}",
            most_columns=types.MAX_TABLE_COLUMNS,
        )
    columns = _columns(table.rows, mark, month_first)
    is_total = _totals(table.rows, columns)
    if all(is_total):
        is_total = [False] * len(is_total)
    totals = tuple(row.number for row, total in zip(table.rows, is_total, strict=True) if total)
    rows = [row for row, total in zip(table.rows, is_total, strict=True) if not total]
    if totals:
        columns = _columns(rows, mark, month_first)
    names = _names([head or _place(table, index, columns[index]) for index, head in enumerate(table.heads)])
    described = [
        _described(name, head, column, [row.cells[index] for row in rows], table.caption)
        for index, (name, head, column) in enumerate(zip(names, table.heads, columns, strict=True))
    ]
    pages = [line.page_number for row in table.rows for line in row.lines]
    first, last = table.rows[0].number, table.rows[-1].number
    cells = None
    if table.sheet is not None:
        cells = on_sheet(table.sheet, area_name(Area(first, table.places[0], last, table.places[-1])))
    info = types.DataTable(
        number=number,
        name=(table.sheet or table.caption)[:MAX_NAME_CHARS].strip(),
        page_start=min(pages),
        page_end=max(pages),
        cells=cells,
        columns=tuple(described),
        row_count=len(rows),
        totals=totals,
        notes=tuple(_notes(table, rows, columns, described, totals)),
    )
    return TypedTable(info, rows, columns, table.sheet, table.places)


def _columns(rows: Sequence[TableRow], mark: Mark, month_first: bool) -> list[Column]:
    cells = [[row.cells[index] for row in rows] for index in range(len(rows[0].cells))]
    samples = [cell for column in cells for cell in column[:MARK_SAMPLE]]
    figures = [figure for cell in samples if (figure := cell_values.read_figure(cell))]
    mark = cell_values.decimal_mark(figures) or mark
    return [cell_values.read_column(column, mark=mark, month_first=month_first) for column in cells]


def _place(table: RawTable, index: int, column: Column) -> str:
    if index == 0 and column.kind == "text":
        return "label"
    return f"column {column_letters(table.places[index]) if table.places else index + 1}"


def _names(heads: Iterable[str]) -> list[str]:
    """Return a name for each head that queries can use without quotes, no two alike."""
    names: list[str] = []
    taken = {ROW, SECTION, PAGE}
    for head in heads:
        name = re.sub(r"[\W_]+", "_", head.casefold()).strip("_")[:MAX_NAME_CHARS] or "column"
        name = f"c_{name}" if name[0].isdigit() else name
        numbered = next(
            one
            for n in itertools.count(1)
            if (one := name if n == 1 else f"{name}_{n}")
            if taken.isdisjoint({one, f"{one}_unit"})
        )
        taken |= {numbered, f"{numbered}_unit"}
        names.append(numbered)
    return names


def _described(name: str, head: str, column: Column, cells: Sequence[str], caption: str) -> types.TableColumn:
    unit, scale = column.unit, None
    if column.kind == "number" and not column.units:
        above = "" if _COUNTS.search(head) else caption  # what a caption says of amounts
        money = currencies(head) or (frozenset() if "%" in head else currencies(above))
        scales = declared_scales(head) or declared_scales(above)
        unit = unit or (next(iter(money)) if len(money) == 1 else "%" if "%" in head else None)
        if unit != "%" and len(scales) == 1:
            scale = _SCALE_NAMES.get(next(iter(scales)))
    return types.TableColumn(
        name=name,
        head=head,
        kind=column.kind,
        unit=unit,
        scale=scale,
        samples=tuple(sample[:MAX_NAME_CHARS] for sample in [*dict.fromkeys(filter(None, cells))][:SAMPLES]),
        unread=len(column.unread),
    )


_COUNTS = re.compile(
    r"\b(?:id|no|nr|notes?|number|nummer|count|qty|quantity|menge|year|jahr|shares?|anteile?|employees|headcount|staff|"
    r"fte|units?|per|eps|margins?|growth|rates?|ratios?|mitarbeiter\w*|beschäftigte|personal|stück\w*|einheiten|"
    r"aktien|je|pro|verhältnis)\b|(?:anzahl|zahl|marge|quote|wachstum)\b|#",
    re.IGNORECASE,
)
"""Heads of counts, numbers, shares, ratios, or amounts of each of something."""


def _notes(
    table: RawTable,
    rows: Sequence[TableRow],
    columns: Sequence[Column],
    described: Sequence[types.TableColumn],
    totals: Sequence[int],
) -> Iterator[str]:
    if totals:
        yield N_("Rows left out as totals of others: {rows}.").format(rows=_listed(totals))
    labels = ((row.number, next(filter(None, row.cells), "")) for row in rows)
    if doubtful := [number for number, label in labels if _may_be_total(label)]:
        yield N_("Rows counted that may be totals of others: {rows}.").format(rows=_listed(doubtful))
    if table.sections:
        yield N_("Rows not counted that only name a section: {rows}.").format(rows=_listed(table.sections))
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


# --- totals -------------------------------------------------------------------------------------------


def _may_be_total(label: str) -> bool:
    return bool(_BEGINS_WITH_TOTAL.match(label) or _SUMMARY.fullmatch(label.strip(_AROUND_LABEL)))


def _totals(rows: Sequence[TableRow], columns: Sequence[Column]) -> list[bool]:
    """Return of each row whether it sums up others.

    Its label says nothing but that, at the end of the table or with a figure that is the sum of others; or it begins so
    and all its figures are sums, or is "average" and they are sums or means; or it is the last row and has such sums
    and no label.
    """
    numbers = [index for index, column in enumerate(columns) if column.kind == "number"]
    labels = [
        [cell.strip(_AROUND_LABEL) for at, cell in enumerate(row.cells) if at not in numbers and cell.strip()]
        for row in rows
    ]
    may_be = [bool(words) and _may_be_total(words[0]) for words in labels]
    last = max((index for index, named in enumerate(may_be) if not named), default=-1)
    sums = [index for index in numbers if columns[index].unit != "%"]
    totals: list[bool] = []
    tries = 0
    for index, words in enumerate(labels):
        is_plain = len(words) == 1 and _TOTAL.fullmatch(words[0]) is not None
        is_unnamed = index == len(rows) - 1 and not words and any(labels)
        if not (is_unnamed or may_be[index]):
            totals.append(False)
            continue
        tries += 1
        if is_plain:
            figures = [at for at in sums if columns[at].values[index]]
            is_sum = index > last or not figures or tries > MAX_TRIES
            is_sum = is_sum or any(_is_sum(index, rows, columns, [at], totals, least=1) for at in figures)
        else:
            is_sum = tries <= MAX_TRIES and _is_sum(index, rows, columns, sums, totals)
        if not is_sum and tries <= MAX_TRIES and len(words) == 1 and (is_plain or _SUMMARY.fullmatch(words[0])):
            others = [at for at, named in enumerate(may_be) if not named]
            is_sum = len(others) >= MIN_TOTAL_TERMS and (
                _is_made_of(others, index, columns, sums)
                or (not is_plain and _is_made_of(others, index, columns, numbers, is_mean=True))
            )
        totals.append(is_sum)
    return totals


def _is_sum(
    index: int,
    rows: Sequence[TableRow],
    columns: Sequence[Column],
    numbers: Sequence[int],
    totals: Sequence[bool],
    *,
    least: int = MIN_TOTAL_TERMS,
) -> bool:
    """Whether all figures of a row are sums of the rows above: of all, since the last total, or of its section."""
    plain = [at for at in range(index) if not totals[at]]
    before = max((at for at in range(index) if totals[at]), default=-1)
    since = [at for at in plain if at > before]
    section = [at for at in plain if rows[at].section == rows[index].section]
    candidates = (above for above in (since, plain, section) if len(above) >= least)
    return any(_is_made_of(above, index, columns, numbers) for above in candidates)


def _is_made_of(
    others: Sequence[int], index: int, columns: Sequence[Column], numbers: Sequence[int], *, is_mean: bool = False
) -> bool:
    """Whether a row has figures, and all are sums of those of `others`, or means."""
    has_figures = any(columns[number].values[index] for number in numbers)
    return has_figures and all(_adds_up(columns[number], others, index, is_mean=is_mean) for number in numbers)


def _adds_up(column: Column, others: Sequence[int], index: int, *, is_mean: bool) -> bool:
    total = column.values[index]
    if total is None:
        return True
    terms = [value for at in others if isinstance(value := column.values[at], Decimal)]
    if not terms or not isinstance(total, Decimal):
        return False
    unit = max(Decimal(1).scaleb(_exponent(term)) for term in terms)
    count = Decimal(len(terms)) if is_mean else Decimal(1)
    of_total = Decimal(1).scaleb(_exponent(total)) * count
    return abs(sum(terms) - total * count) <= ROUNDING * (of_total + unit * Decimal(len(terms)).sqrt())


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
