"""The evidence of a report as a table of a spreadsheet. No cell is a formula, whatever stands in a document."""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rag.export.labels import Wording
from rag.export.report import Claim, Evidence, Report, Turn

COLUMNS = (
    ("Question", 32),
    ("Claim", 48),
    ("Verdict", 18),
    ("Not in the quotes", 18),
    ("Source", 8),
    ("Quote", 60),
    ("Quote verdict", 16),
    ("Document", 28),
    ("Version", 9),
    ("Page", 8),
    ("Printed page", 12),
    ("Cells", 16),
    ("Lines", 12),
    ("SHA-256", 20),
)
"""What stands above each column, and how wide it is, in characters."""
MOST_CHARS = 32_767
"""What a cell takes (ECMA-376 implementations)."""
LINE_PT = 13.5
LOOSE = 1.15
"""Lines break between words, so they are not full."""
MOST_HIGH_PT = 400.0
"""Rows take no more than 409."""
FORMULA = "=+-@＝＋－＠"
"""What a cell begins with that a spreadsheet would compute."""
_COMPUTED = re.compile(rf"(?:^|(?<=[;\t\r\n]))(\s*[{re.escape(FORMULA)}])")
"""Where such a cell begins; where lists are separated by semicolons, also within what is one cell elsewhere."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Sheet(NamedTuple):
    """A table: its title, what stands above each column and how wide that is, in characters, and its rows."""

    title: str
    columns: Sequence[tuple[str, int]]
    rows: Sequence[Sequence[object]]


def to_workbook(report: Report, words: Wording) -> bytes:
    """A row for each place that a claim rests on, and one for each claim that has none."""
    columns = [(words.say(heading), width) for heading, width in COLUMNS]
    rows = [row for turn in report.turns for row in _rows(turn, words)]
    return to_sheets([Sheet(words.say("Evidence"), columns, rows)])


def to_sheets(sheets: Sequence[Sheet]) -> bytes:
    """Tables as an XLSX file."""
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


def _rows(turn: Turn, words: Wording) -> Iterator[Sequence[object]]:
    for claim in turn.claims:
        for one in claim.evidence or (None,):
            yield [turn.question, claim.text, _verdict(claim, words), ", ".join(claim.missing), *_place(one, words)]


def _verdict(claim: Claim, words: Wording) -> str:
    return f"{words.verdict(claim)}, {words.say('left out')}" if claim.left_out else words.verdict(claim)


def _place(one: Evidence | None, words: Wording) -> Sequence[object]:
    if one is None:
        return [None] * 10
    lines = f"{one.line_start}–{one.line_end}" if one.line_end > one.line_start else str(one.line_start)
    label = one.page_label or str(one.page)
    return [
        *(one.label, one.quote, words.judged(one)),
        *(one.document, one.version, one.page, label, one.cells, lines, one.sha256),
    ]


def _put(cell: Any, value: object) -> None:
    """A number as a number, all else as text: also what begins like a formula, and stays text when it is edited."""
    if not isinstance(value, str):
        cell.value = value
        return
    cell.value = _NOT_XML.sub("", value)[:MOST_CHARS]
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
        sheet.row_dimensions[row[0].row].height = min(lines * LINE_PT, MOST_HIGH_PT)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="FFF1CC")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _lines(text: str, width: int) -> int:
    """How many lines a cell's text takes; not every program reckons a row's height itself. A wide letter is two."""
    letters = [
        sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line) for line in text.splitlines()
    ]
    return sum(math.ceil(count * LOOSE / width) or 1 for count in letters) or 1


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell with this text for a formula."""
    return text.lstrip().startswith(tuple(FORMULA))


def to_csv(rows: Iterable[Iterable[str]]) -> str:
    """Rows as CSV; an apostrophe stands before what would be computed (OWASP, CSV injection)."""
    written = io.StringIO()
    csv.writer(written).writerows([_COMPUTED.sub(r"'\1", text) for text in row] for row in rows)
    return written.getvalue()
