"""Read XLS workbooks (BIFF): formatted values, comments, headers and hidden parts."""

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import olefile
import xlrd
from xlrd.biffh import XLRDError
from xlrd.compdoc import CompDocError

from rag import errors
from rag.messages import N_
from rag.parsing.office.package import Metadata
from rag.parsing.sheets.cell_names import Area, cell_name
from rag.parsing.sheets.number_formats import GENERAL, SHORT_DATE, formatted
from rag.parsing.sheets.sheet import Budget, Cell, Run, Sheet, Tag, Workbook, comments, header_lines, marked

_FAILURES = (XLRDError, CompDocError, struct.error, ValueError, LookupError, AssertionError, ArithmeticError, TypeError)
"""Exceptions of xlrd and olefile for damaged files."""
_SHORT_DATE_KEY = 14
_POSITIONS: dict[int, Tag] = {1: "sup", 2: "sub"}
_WHITES = (1, 9)
_BOUND_SHEET, _HEADER, _FOOTER, _BOF, _EOF = 0x85, 0x14, 0x15, 0x809, 0x0A
_WORKSHEET = 0


def read(source: Path) -> Workbook:
    """Read the workbook at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged, encrypted, or too large.
    """
    try:
        with xlrd.open_workbook(
            str(source), formatting_info=True, ragged_rows=True, ignore_workbook_corruption=True, logfile=io.StringIO()
        ) as book:
            budget = Budget()
            sheets = [_read_sheet(book, sheet, budget) for sheet in book.sheets()]
            for sheet, (header, footer) in zip(sheets, _margins(source, book.encoding or "cp1252"), strict=False):
                sheet.header, sheet.footer = header_lines(header, sheet.name), header_lines(footer, sheet.name)
            return Workbook(sheets, Metadata(author=book.user_name.strip()))
    except _FAILURES as error:
        raise errors.UnreadableFileError(
            N_("The workbook is damaged or encrypted ({error}). Save it as XLSX in another program."),
            error=type(error).__name__,
        ) from error


def _read_sheet(book: Any, source: Any, budget: Budget) -> Sheet:
    sheet = Sheet(source.name, hidden=source.visibility != 0)
    for row in range(source.nrows):
        for column in range(source.row_len(row)):
            cell = _cell(book, source, row, column)
            if cell is not None and cell.text.strip():
                budget.take()
                sheet.cells.setdefault(row + 1, {})[column + 1] = cell
    sheet.merged = [Area(top + 1, left + 1, bottom, right) for top, bottom, left, right in source.merged_cells]
    sheet.hidden_rows = {row + 1 for row, about in source.rowinfo_map.items() if about.hidden}
    sheet.hidden_columns = {column + 1 for column, about in source.colinfo_map.items() if about.hidden}
    sheet.frozen_rows = source.horz_split_pos if source.panes_are_frozen else 0
    for (row, column), note in sorted(source.cell_note_map.items()):
        sheet.notes += comments(cell_name(row + 1, column + 1), note.text, note.author or "")
    return sheet


def _cell(book: Any, sheet: Any, row: int, column: int) -> Cell | None:
    source = sheet.cell(row, column)
    if source.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
        return None
    style = book.xf_list[source.xf_index]
    font = book.font_list[style.font_index]
    if source.ctype == xlrd.XL_CELL_TEXT:
        runs = _runs(book, source.value, sheet.rich_text_runlist_map.get((row, column), ()), font)
        if _is_hidden(style, font):
            runs = (Run(source.value, "hidden"),)
        return Cell(source.value, bold=bool(font.bold), runs=runs)
    if source.ctype == xlrd.XL_CELL_ERROR:
        text = xlrd.error_text_from_code.get(source.value, "#N/A")
    elif source.ctype == xlrd.XL_CELL_BOOLEAN:
        text = formatted(bool(source.value))
    else:
        about = book.format_map.get(style.format_key)
        code = SHORT_DATE if style.format_key == _SHORT_DATE_KEY else about.format_str if about else GENERAL
        text = formatted(source.value, code, is_1904=book.datemode == 1) or formatted(source.value)
    tag: Tag = "s" if font.struck_out else "hidden" if _is_hidden(style, font) else ""
    return Cell(text, True, bool(font.bold), marked([Run(text, tag)]))


def _is_hidden(style: Any, font: Any) -> bool:
    fill = style.background
    papers = {0: _WHITES, 1: (fill.pattern_colour_index,)}
    return font.colour_index in papers.get(fill.fill_pattern, ())


def _runs(book: Any, text: str, changes: Any, font: Any) -> tuple[Run, ...]:
    """Return the runs of a text, whose font changes at some characters."""
    starts = [(0, font), *((start, book.font_list[index]) for start, index in changes)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    tags: list[Tag] = ["s" if font.struck_out else _POSITIONS.get(font.escapement, "") for _, font in starts]
    return marked(Run(text[start:end], tag) for (start, _), end, tag in zip(starts, ends, tags, strict=True))


def _margins(source: Path, encoding: str) -> Iterator[tuple[str, str]]:
    """Yield header and footer of each worksheet, which xlrd leaves out ([MS-XLS] 2.4.136, 2.4.124)."""
    with olefile.OleFileIO(str(source)) as file:
        stream = next((name for name in ("Workbook", "Book") if file.exists(name)), None)
        content = file.openstream(stream).read() if stream else b""
    for kind, data, _ in _records(content, 0):
        if kind == _BOUND_SHEET and data[5] == _WORKSHEET:
            texts = {_HEADER: "", _FOOTER: ""}
            for field, value, depth in _records(content, struct.unpack_from("<I", data)[0]):
                if field in texts and value and depth == 1:
                    texts[field] = _string(value, encoding)
            yield texts[_HEADER], texts[_FOOTER]


def _records(content: bytes, position: int) -> Iterator[tuple[int, bytes, int]]:
    """Yield kind, data and depth of the records of a substream; charts are substreams inside it."""
    depth = 0
    while position + 4 <= len(content):
        kind, size = struct.unpack_from("<HH", content, position)
        depth += (kind == _BOF) - (kind == _EOF)
        if depth <= 0:
            return
        yield kind, content[position + 4 : position + 4 + size], depth
        position += 4 + size


def _string(data: bytes, encoding: str) -> str:
    """Decode a string with its length before it: of two bytes and with flags since Excel 97, else of one byte."""
    if (
        len(data) > 3
        and struct.unpack_from("<H", data)[0] in (len(data) - 3, (len(data) - 3) // 2)
        and data[2] in (0, 1)
    ):
        return data[3:].decode("utf-16-le" if data[2] else "latin-1", errors="replace")
    return data[1:].decode(encoding, errors="replace")
