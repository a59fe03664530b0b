"""Write reports and matrices as XLSX and CSV tables; no cell becomes a formula, whatever its text."""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rag import types
from rag.export.labels import Labels
from rag.export.marks import Translate
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
"""Heading and width, in characters, of each column of a report."""
NOT_FOUND = N_("not found")
FAILED = N_("failed")
MATRIX_EVIDENCE = (
    (N_("Document"), 28),
    (N_("Question"), 40),
    (N_("Answer"), 48),
    (N_("Verdict"), 14),
    (N_("Conflict"), 28),
    (N_("State"), 14),
    (N_("Quote"), 60),
    (N_("Page"), 8),
    (N_("Printed page"), 12),
    (N_("Version"), 9),
    ("SHA-256", 20),
)
"""Heading and width of each column of the evidence of a matrix."""
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
        [turn.question, claim.text, claim.mark, claim.reason, *(_place(evidence) if evidence else [None] * 9)]
        for turn in report.turns
        for claim in turn.claims
        for evidence in claim.evidence or (None,)
    ]
    return to_sheets([Sheet(words.say(N_("Evidence")), columns, rows)])


def _place(evidence: Evidence) -> Sequence[object]:
    first, last, page = evidence.line_start, evidence.line_end, evidence.page or evidence.slide
    return [
        *(evidence.label, evidence.quote, evidence.file_name, evidence.version),
        *(page, evidence.page_label or str(page), evidence.cells),
        *(f"{first}–{last}" if last > first else str(first), evidence.sha256),
    ]


def to_sheets(sheets: Sequence[Sheet]) -> bytes:
    """Write sheets as an XLSX file; text stays text even if it looks like a formula and is edited."""
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for title, columns, rows in sheets:
        sheet: Any = workbook.create_sheet(title)
        for number, row in enumerate([[heading for heading, _ in columns], *rows], start=1):
            for column, value in enumerate(row, start=1):
                cell = sheet.cell(number, column)
                if isinstance(value, str):
                    cell.value = _NOT_XML.sub("", value)[:MAX_CELL_CHARS]
                    cell.data_type = "s"
                    cell.quotePrefix = value.lstrip().startswith(tuple(FORMULA))
                else:
                    cell.value = value
        _shape(sheet, columns)
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


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
    letters = [
        sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line) for line in text.splitlines()
    ]
    return sum(math.ceil(count * LOOSE / width) or 1 for count in letters) or 1


def to_csv(rows: Iterable[Iterable[str]]) -> str:
    """Write rows as CSV; formulas are prefixed with an apostrophe (OWASP, CSV injection)."""
    written = io.StringIO()
    csv.writer(written).writerows([_COMPUTED.sub(r"'\1", text) for text in row] for row in rows)
    return written.getvalue()


def matrix_xlsx(filled: types.FilledMatrix, say: Translate = str) -> bytes:
    """Write a workbook of two sheets: the matrix, and the evidence of each cell; `say` translates labels.

    The matrix has a row for each document and a column for each question.
    """
    questions = [(question.text, 36) for question in filled.matrix.questions]
    table = Sheet(say(N_("Matrix")), [(say(N_("Document")), 28), *questions], _matrix_rows(filled, say))
    columns = [(say(heading), width) for heading, width in MATRIX_EVIDENCE]
    evidence = [
        [document.name, question.text, *_cell_evidence(shown, say)]
        for document in filled.documents
        for number, question in enumerate(filled.matrix.questions)
        if (shown := filled.at(document, number)) is not None
    ]
    return to_sheets([table, Sheet(say(N_("Evidence")), columns, evidence)])


def matrix_csv(filled: types.FilledMatrix, say: Translate = str) -> bytes:
    """Write the matrix without evidence as CSV in UTF-8 with a byte order mark."""
    heading = [say(N_("Document")), *(question.text for question in filled.matrix.questions)]
    return to_csv([heading, *_matrix_rows(filled, say)]).encode("utf-8-sig", errors="replace")


def _matrix_rows(filled: types.FilledMatrix, say: Translate) -> list[list[str]]:
    numbers = range(len(filled.matrix.questions))
    return [
        [document.name, *(_cell_text(filled.at(document, number), say) for number in numbers)]
        for document in filled.documents
    ]


def _cell_text(shown: types.ShownCell | None, say: Translate) -> str:
    """Format a cell: the answer, its page and remarks; nothing while it waits."""
    if shown is None:
        return ""
    cell = shown.cell
    if cell.status == "not_found":
        text = say(NOT_FOUND)
    elif cell.status == "failed":
        text = f"{say(FAILED)}: {say(cell.reason or '')}"
    else:
        page = N_("p. {page}").format(page=cell.page_label or cell.page_number)
        text = f"{cell.answer} [{say(page)}]"
    notes = [say(shown.conflict)] if shown.conflict else []
    notes += [say(N_("the document has changed since"))] if shown.is_stale else []
    return f"{text} ({'; '.join(notes)})" if notes else text


def _cell_evidence(shown: types.ShownCell, say: Translate) -> Sequence[object]:
    cell = shown.cell
    return [
        cell.answer or (say(cell.reason) if cell.reason else None),
        say(cell.assurance) if cell.assurance else None,
        say(shown.conflict) if shown.conflict else None,
        say(N_("stale") if shown.is_stale else cell.status.replace("_", " ")),
        *(cell.quote, cell.page_number, cell.page_label or (str(cell.page_number) if cell.page_number else None)),
        *(cell.version, cell.sha256),
    ]
