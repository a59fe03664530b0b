"""Write XLSX and CSV tables; no cell becomes a formula, whatever its text."""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rag.export.labels import Labels
from rag.export.report import Evidence, Report
from rag.messages import N_

COLUMNS = (
    (N_("Question"), 32),
    (N_("Claim"), 48),
    (N_("Verdict"), 18),
    (N_("Reason"), 32),
    (N_("Source"), 8),
    (N_("Quote"), 60),
    (N_("Document"), 28),
    (N_("Version"), 9),
    (N_("Page"), 8),
    (N_("Printed page"), 12),
    (N_("Cells"), 16),
    (N_("Lines"), 12),
    ("SHA-256", 20),
)
"""Heading and width, in characters, of each column."""
MAX_CELL_CHARS = 32_767
"""The limit of spreadsheet programs."""
LINE_PT = 13.5
LOOSE = 1.15
"""Factor for line breaks between words."""
MAX_ROW_PT = 400.0
"""The limit of spreadsheet programs is 409."""
FORMULA = "=+-@＝＋－＠"
"""First characters of a formula."""
_COMPUTED = re.compile(rf"(^\s*[{re.escape(FORMULA)}]|(?<=[;\t\r\n])[^\S\t\r\n]*[{re.escape(FORMULA)}])")
"""Matches the start of a formula, also after a semicolon, which separates cells in some locales."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Sheet(NamedTuple):
    """A sheet: its title, the heading and width in characters of each column, and its rows."""

    title: str
    columns: Sequence[tuple[str, int]]
    rows: Sequence[Sequence[object]]


def to_workbook(report: Report, words: Labels) -> bytes:
    """Write a workbook with a row for each piece of evidence, and for each claim without any."""
    columns = [(words.say(heading), width) for heading, width in COLUMNS]
    rows = [
        [turn.question, claim.text, claim.mark, claim.reason, *_place(evidence)]
        for turn in report.turns
        for claim in turn.claims
        for evidence in claim.evidence or (None,)
    ]
    return to_sheets([Sheet(words.say(N_("Evidence")), columns, rows)])


def to_sheets(sheets: Sequence[Sheet]) -> bytes:
    """Write sheets as an XLSX file."""
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for given in sheets:
        sheet: Any = workbook.create_sheet(given.title)
        for number, row in enumerate([[heading for heading, _ in given.columns], *given.rows], start=1):
            for column, value in enumerate(row, start=1):
                _put(sheet.cell(number, column), value)
        _shape(sheet, given.columns)
    written = io.BytesIO()
    workbook.save(written)
    return written.getvalue()


def _place(evidence: Evidence | None) -> Sequence[object]:
    if evidence is None:
        return [None] * 9
    first, last = evidence.line_start, evidence.line_end
    lines = f"{first}–{last}" if last > first else str(first)
    page_label = evidence.page_label or str(evidence.page)
    place = (evidence.page, page_label, evidence.cells, lines)
    return [evidence.label, evidence.quote, evidence.document, evidence.version, *place, evidence.sha256]


def _put(cell: Any, value: object) -> None:
    """Set a cell's value; text stays text even if it looks like a formula and is edited."""
    if not isinstance(value, str):
        cell.value = value
        return
    cell.value = _NOT_XML.sub("", value)[:MAX_CELL_CHARS]
    cell.data_type = "s"
    if is_formula(value):
        cell.quotePrefix = True


def _shape(sheet: Any, columns: Sequence[tuple[str, int]]) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    for number, (_, width) in enumerate(columns):
        sheet.column_dimensions[sheet.cell(1, number + 1).column_letter].width = width
    for row in sheet.iter_rows():
        for cell in row:
            cell.alignment = Alignment(vertical="top", wrap_text=True)
    for row in sheet.iter_rows(min_row=2):
        lines = max(_lines(str(cell.value or ""), width) for cell, (_, width) in zip(row, columns, strict=True))
        sheet.row_dimensions[row[0].row].height = min(lines * LINE_PT, MAX_ROW_PT)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="FFF1CC")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _lines(text: str, width: int) -> int:
    """Estimate the lines of a cell, since not every program computes row heights; wide letters count twice."""
    wide = [sum(unicodedata.east_asian_width(letter) in "WF" for letter in line) for line in text.splitlines()]
    counts = [len(line) + extra for line, extra in zip(text.splitlines(), wide, strict=True)]
    return sum(math.ceil(count * LOOSE / width) or 1 for count in counts) or 1


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell with this text for a formula."""
    return text.lstrip().startswith(tuple(FORMULA))


def to_csv(rows: Iterable[Iterable[str]]) -> str:
    """Write rows as CSV; formulas are prefixed with an apostrophe (OWASP, CSV injection)."""
    written = io.StringIO()
    csv.writer(written).writerows([_COMPUTED.sub(r"'\1", text) for text in row] for row in rows)
    return written.getvalue()
