"""Convert spreadsheets and delimited text (CSV, TSV) to PDF."""

import csv
import datetime as dt
import re
from pathlib import Path

import python_calamine

from rag import errors
from rag.parsing import file_types
from rag.parsing.conversion import Conversion, OnPages
from rag.parsing.encoding import decode
from rag.parsing.sheets import ods, pages, xlsx
from rag.parsing.sheets.delimited import find_delimiter, rows
from rag.parsing.sheets.number_formats import formatted
from rag.parsing.sheets.sheet import Budget, Cell, Sheet

ROWS_PER_PAGE = 45
_NUMBER = re.compile(r"[(\-+–−]?\s*+(?:[$€£¥]\s*+)?\d[\d.,\s’']*+(?:[%$€£¥]\s*+)?\)?|[–—-]")
"""Recognizes numbers in delimited text, to align them right."""


def to_pdf(source: Path, mime_type: str, on_pages: OnPages = lambda _: None) -> Conversion:
    """Convert the spreadsheet at `source` to PDF, each sheet on its own pages.

    `on_pages` receives the estimated number of pages.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    sheets, metadata = _read(source, mime_type)
    on_pages(sum(1 + len(sheet.cells) // ROWS_PER_PAGE for sheet in sheets))
    document = pages.draw(sheets)
    document.set_metadata({"title": metadata.get("title", ""), "author": metadata.get("author", "")})
    return Conversion(document, tuple(text for sheet in sheets for text in sheet.texts()))


def _read(source: Path, mime_type: str) -> tuple[list[Sheet], dict[str, str]]:
    if mime_type == file_types.XLSX:
        return xlsx.read(source)
    if mime_type == file_types.ODS:
        return ods.read(source)
    if mime_type == file_types.XLS:
        return _read_xls(source), {}
    return [_read_delimited(source, mime_type)], {}


def _read_xls(source: Path) -> list[Sheet]:
    """Read the values of an XLS workbook; calamine gives no number formats, formulas and comments."""
    try:
        with python_calamine.CalamineWorkbook.from_path(source) as book:
            budget = Budget()
            return [
                _sheet_of_values(book.get_sheet_by_name(info.name), info, budget)
                for info in book.sheets_metadata
                if info.typ is python_calamine.SheetTypeEnum.WorkSheet
            ]
    except python_calamine.CalamineError as error:
        raise errors.UnreadableFileError(
            f"The workbook is damaged or encrypted ({type(error).__name__}). Save it as XLSX in another program."
        ) from error


def _sheet_of_values(
    values: python_calamine.CalamineSheet, info: python_calamine.SheetMetadata, budget: Budget
) -> Sheet:
    sheet = Sheet(info.name, hidden=info.visible is not python_calamine.SheetVisibleEnum.Visible)
    for number, row in enumerate(values.iter_rows(), start=1):
        for column, value in enumerate(row, start=1):
            if str(value).strip():
                budget.take()
                sheet.cells.setdefault(number, {})[column] = Cell(_formatted(value), not isinstance(value, str))
    return sheet


def _formatted(value: object) -> str:
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return formatted(value, "mm-dd-yy")
    return formatted(value)


def _read_delimited(source: Path, mime_type: str) -> Sheet:
    text = decode(source.read_bytes())
    delimiter = find_delimiter(text) or ("\t" if mime_type == file_types.TSV else ",")
    sheet, budget = Sheet(""), Budget()
    try:
        for number, row in enumerate(rows(text, delimiter), start=1):
            for column, value in enumerate(row, start=1):
                if value.strip():
                    budget.take()
                    sheet.cells.setdefault(number, {})[column] = Cell(value, bool(_NUMBER.fullmatch(value.strip())))
    except csv.Error as error:
        raise errors.UnreadableFileError(f"The table is damaged: {error}. Save it again in another program.") from error
    return sheet
