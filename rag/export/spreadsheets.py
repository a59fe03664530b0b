"""Write tables as XLSX and CSV, and reports as such; no cell becomes a formula, whatever its text."""

import csv
import decimal
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
"""Heading and width, in characters, of each column of a report."""
MAX_CELL_CHARS = 32_767
"""The limit of spreadsheet programs."""
LINE_PT = 13.5
LOOSE = 1.15
"""Factor for line breaks between words."""
MAX_ROW_PT = 400.0
"""The limit of spreadsheet programs is 409."""
MAX_TITLE_CHARS = 31
MAX_TIP_CHARS = 255
MAX_NOTE_CHARS = 2000
NOTE_WIDTH_PX, NOTE_LINE_PX = 320, 18
NOTE_CHARS = 50
"""Characters of a note's line."""
LINK_COLOR = "FF0563C1"
FORMULA = "=+-@＝＋－＠"
"""First characters of a formula."""
_COMPUTED = re.compile(rf"(^\s*[{re.escape(FORMULA)}]|(?<=[;\t\r\n])[^\S\t\r\n]*[{re.escape(FORMULA)}])")
"""Matches the start of a formula, also after a semicolon, which separates cells in some locales."""
_NOT_IN_TITLE = re.compile(r"[\\/*?:\[\]]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Link(NamedTuple):
    """A link to a cell of the same workbook; `tip` is shown when the pointer rests on it."""

    sheet: str
    cell: str
    tip: str


class Cell(NamedTuple):
    """A value that is shown in a format or colour (as RRGGBB), or has a note or link."""

    value: object
    number_format: str | None = None
    color: str | None = None
    note: str = ""
    link: Link | None = None


class Sheet(NamedTuple):
    """A sheet: its title, the heading and width in characters of each column, and its rows.

    Values may be texts, numbers, truth values, dates, or each of these as a `Cell`.
    """

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
                _write(sheet.cell(number, column), value if isinstance(value, Cell) else Cell(value))
        _shape(sheet, columns)
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def _write(cell: Any, content: Cell) -> None:
    from openpyxl.comments import Comment
    from openpyxl.styles import Font, PatternFill
    from openpyxl.worksheet.hyperlink import Hyperlink

    if not isinstance(content.value, str):
        cell.value = content.value
    elif text := _NOT_XML.sub("", content.value)[:MAX_CELL_CHARS]:
        cell.value, cell.data_type = text, "s"
        cell.quotePrefix = text.lstrip().startswith(tuple(FORMULA))
    if content.number_format:
        cell.number_format = content.number_format
    if content.color:
        cell.fill = PatternFill("solid", fgColor=f"FF{content.color}")
    if content.note:
        note = _NOT_XML.sub("", content.note)[:MAX_NOTE_CHARS]
        height = NOTE_LINE_PX * (_lines(note, NOTE_CHARS) + 1)
        cell.comment = Comment(note, "Pagelight", width=NOTE_WIDTH_PX, height=height)
    if content.link and cell.value is not None:  # the link of an empty cell would be read as its value
        sheet, place, tip = content.link
        location = "'{}'!{}".format(sheet.replace("'", "''"), place)
        tip = _NOT_XML.sub("", tip)[:MAX_TIP_CHARS]
        cell.hyperlink = Hyperlink(ref=cell.coordinate, location=location, tooltip=tip)
        cell.font = Font(color=LINK_COLOR)


def plain_number(number: float) -> int | float:
    """Return a whole number as an integer, which is written without a decimal point."""
    return int(number) if float(number).is_integer() else number


def sheet_titles(names: Iterable[str]) -> list[str]:
    """Return a title for each sheet: the name without what titles may not have, shortened, and numbered if taken."""
    titles: dict[str, str] = {}
    for name in names:
        base = " ".join(_NOT_IN_TITLE.sub(" ", _NOT_XML.sub("", name)).split()).strip("'") or "-"
        title, number = base[:MAX_TITLE_CHARS].strip(" '"), 1
        while title.casefold() in titles:
            number += 1
            title = f"{base[: MAX_TITLE_CHARS - 4].strip()} {number}"
        titles[title.casefold()] = title
    return [*titles.values()]


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


def to_csv(rows: Iterable[Iterable[object]]) -> str:
    """Write rows as CSV; formulas are prefixed with an apostrophe (OWASP, CSV injection)."""
    written = io.StringIO()
    csv.writer(written).writerows(map(_csv_text, row) for row in rows)
    return written.getvalue()


def _csv_text(value: object) -> str:
    """Return text that is no formula. Numbers have neither separators nor exponents, dates are in the form of ISO."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return format(decimal.Decimal(repr(plain_number(value))), "f")
    return "" if value is None else _COMPUTED.sub(r"'\1", str(value))
