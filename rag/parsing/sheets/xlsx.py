"""Read XLSX workbooks: formatted values, formulas without a stored value, comments, text boxes and hidden parts."""

import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.comments.comment_sheet import CommentSheet
from openpyxl.packaging.relationship import get_dependents, get_rels_path
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula
from openpyxl.xml.constants import SHEET_MAIN_NS
from openpyxl.xml.functions import fromstring

from rag import errors
from rag.parsing.sheets.cell_names import Area
from rag.parsing.sheets.number_formats import formatted
from rag.parsing.sheets.sheet import Budget, Cell, Note, Sheet
from rag.parsing.zips import MAX_UNPACKED_BYTES

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
FAILURES = (
    InvalidFileException,
    zipfile.BadZipFile,
    zlib.error,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""Exceptions of openpyxl and its parsers for damaged files."""
_FORMULA, _VALUE = (f"{{{SHEET_MAIN_NS}}}{tag}" for tag in "fv")
_PARAGRAPH, _RUN = (f"{{http://schemas.openxmlformats.org/drawingml/2006/main}}{tag}" for tag in "pt")


def read(source: Path) -> tuple[list[Sheet], dict[str, str]]:
    """Read the sheets of the workbook at `source`, and its title and author.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    try:
        # openpyxl checks the suffix of a path, but not of an open file.
        with warnings.catch_warnings(), source.open("rb") as file:
            warnings.simplefilter("ignore")  # about unknown extensions, which have no text
            _check_size(source)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            try:
                budget = Budget()
                sheets = [_read_sheet(book, sheet, budget) for sheet in book.worksheets]
            finally:
                book.close()
    except FAILURES as error:
        raise errors.UnreadableFileError(
            f"The workbook is damaged ({type(error).__name__}). Open it in another program and save it again."
        ) from error
    properties = book.properties
    return sheets, {"title": properties.title or "", "author": properties.creator or ""}


def _check_size(source: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > MAX_UNPACKED_BYTES:
        raise errors.UnreadableFileError(
            f"The workbook unpacks to {unpacked / (1 << 30):.1f} GB; the limit is {MAX_UNPACKED_BYTES >> 30} GB. "
            "Split it into smaller files."
        )


class _SheetParser(WorkSheetParser):
    """openpyxl's sheet parser, which also returns the formula of a cell without a stored value.

    Workbooks written by scripts have no values until a spreadsheet program has saved them. openpyxl's public readers
    return either values or formulas, and need too much memory for large sheets with comments and merged cells.
    """

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if element.find(_FORMULA) is None:
            return cell
        # Also for cells with a value, since others may share their formula.
        formula: object = self.parse_formula(element)  # type: ignore[no-untyped-call]
        is_empty_text = element.get("t") == "str" and element.find(_VALUE) is not None
        if cell["value"] is None and not is_empty_text:
            cell["value"], cell["data_type"] = _formula_text(formula), "f"
        return cell


def _formula_text(formula: object) -> str:
    if isinstance(formula, ArrayFormula):
        return str(formula.text)
    if isinstance(formula, DataTableFormula):
        return f"=TABLE({formula.r1 or ''},{formula.r2 or ''})"
    return str(formula)


def _read_sheet(book: Any, worksheet: Any, budget: Budget) -> Sheet:
    sheet = Sheet(worksheet.title, hidden=worksheet.sheet_state != "visible")
    styles = _Styles(worksheet)
    with worksheet._get_source() as source:  # as openpyxl's read-only mode does
        parser = _SheetParser(
            source,
            worksheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for number, row in parser.parse():
            cells = dict(_filled(row, styles, budget))
            if cells and number <= MAX_ROWS:
                sheet.cells[number] = cells
    _take_properties(sheet, parser)
    sheet.notes = [*_comments(book, worksheet), *_drawn_texts(book, worksheet)]
    return sheet


class _Styles:
    """Caches number format and boldness by style number."""

    def __init__(self, worksheet: Any) -> None:
        self._worksheet = worksheet
        self._known: dict[int, tuple[str, bool]] = {}

    def of(self, style: int) -> tuple[str, bool]:
        if style not in self._known:
            cell = ReadOnlyCell(self._worksheet, 1, 1, None, "n", style)
            self._known[style] = (cell.number_format, bool(cell.font.b))
        return self._known[style]


def _filled(row: Iterable[dict[str, Any]], styles: _Styles, budget: Budget) -> Iterator[tuple[int, Cell]]:
    for cell in row:
        if cell["value"] is None or cell["column"] > MAX_COLUMNS:
            continue
        number_format, bold = styles.of(cell["style_id"])
        is_text = cell["data_type"] in ("s", "f")
        text = str(cell["value"]) if cell["data_type"] in ("f", "e") else formatted(cell["value"], number_format)
        if not text.strip() and cell["value"]:  # the format ;;; hides a value
            text = formatted(cell["value"])
        if text.strip():
            budget.take()
            yield cell["column"], Cell(text, not is_text, bold)


def _take_properties(sheet: Sheet, parser: Any) -> None:
    """Read merged cells, hidden rows and columns, and frozen rows."""
    if parser.merged_cells is not None:
        sheet.merged = [
            Area(area.min_row, area.min_col, area.max_row, area.max_col) for area in parser.merged_cells.mergeCell
        ]
    sheet.hidden_rows = {
        int(number) for number, row in parser.row_dimensions.items() if row.get("hidden") in ("1", "true")
    }
    for column in parser.column_dimensions.values():
        if column.get("hidden") in ("1", "true"):
            sheet.hidden_columns |= {*range(int(column["min"]), min(int(column["max"]), MAX_COLUMNS) + 1)}
    for view in getattr(getattr(parser, "views", None), "sheetView", ()):
        if view.pane is not None and view.pane.state in ("frozen", "frozenSplit"):
            sheet.frozen_rows = int(view.pane.ySplit or 0)


def _related(book: Any, path: str, kind: str) -> Iterator[str]:
    """Yield the names of the parts to which the part at `path` has relations of a kind."""
    archive: zipfile.ZipFile = book._archive
    members = set(archive.namelist())
    relations: str = get_rels_path(path)  # type: ignore[no-untyped-call]
    if relations not in members:
        return
    for relation in get_dependents(archive, relations):
        if relation.Type.endswith(f"/{kind}") and relation.TargetMode != "External" and relation.target in members:
            yield relation.target


def _comments(book: Any, worksheet: Any) -> Iterator[Note]:
    path = worksheet._worksheet_path
    for part in _related(book, path, "comments"):
        comments = CommentSheet.from_tree(fromstring(book._archive.read(part)))
        for reference, comment in comments.comments if comments else ():
            text = " ".join(str(comment.text or "").split())
            author = str(comment.author or "").strip()
            if text:
                yield Note(reference, f"{text} ({author})" if author and author not in text else text)


def _drawn_texts(book: Any, worksheet: Any) -> Iterator[Note]:
    """Yield the texts of text boxes and charts."""
    for drawing in _related(book, worksheet._worksheet_path, "drawing"):
        yield from (Note("text box", text) for text in _paragraphs(book, drawing))
        for chart in _related(book, drawing, "chart"):
            yield from (Note("chart", text) for text in _paragraphs(book, chart))


def _paragraphs(book: Any, part: str) -> Iterator[str]:
    for paragraph in fromstring(book._archive.read(part)).iter(_PARAGRAPH):
        text = "".join(run.text or "" for run in paragraph.iter(_RUN)).strip()
        if text:
            yield text
