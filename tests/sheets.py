"""Small generated spreadsheets. All functions return the file's bytes."""

import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl
import xlwt
from openpyxl.comments import Comment

Rows = Sequence[Sequence[object]]

BALANCE: Rows = (
    ("Lindmark Harbour – balance sheet",),
    ("In thousands of euros",),
    (),
    (None, 2022, 2023, "Note"),
    ("Current assets",),
    ("Cash and cash equivalents", 1204, 1511, 4),
    ("Trade receivables", 880, None, 5),
    ("Inventories", 412.5, 398, None),
    ("Total assets", 5210, 6145, None),
    ("Total equity", -300, 2250, 7),
)
"""A sheet with an empty cell: trade receivables have no figure for 2023."""


def workbook(change: Callable[[Any], None] | None = None, **sheets: Rows) -> bytes:
    """An XLSX file with the given `sheets`; `change` may modify it before it is saved."""
    book: Any = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name.replace("__", " "))
        for row in rows:
            sheet.append(list(row))
    if change:
        change(book)
    return saved(book)


def saved(book: Any) -> bytes:
    """Return a workbook's bytes."""
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def balance() -> bytes:
    """A workbook with a balance sheet: thousands separators, negatives in parentheses, a comment, a hidden row."""

    def change(book: Any) -> None:
        sheet = book["Balance"]
        for row in sheet.iter_rows(min_row=5, min_col=2, max_col=3):
            for cell in row:
                cell.number_format = "#,##0_);(#,##0)"
        sheet["B9"].comment = Comment("Restated after the northern pier was sold.", "Auditor")
        sheet.row_dimensions[8].hidden = True

    return workbook(change, Balance=BALANCE)


def old_workbook() -> bytes:
    """An XLS file with formatted numbers, a header and a footer."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Data")
    sheet.header_str = b"&LIn thousands of Swiss francs&R&D"
    sheet.footer_str = b"&CUnaudited, page &P"
    rows = (("Rate", 0.025, "0.0 %"), ("Start", 33967.2604246, "h:mm AM/PM"), ("Day", 45351, "M/D/YY"))
    for column, text in enumerate(("Item", "Value")):
        sheet.write(0, column, text)
    for row, (label, value, number_format) in enumerate(rows, start=1):
        sheet.write(row, 0, label)
        sheet.write(row, 1, value, xlwt.easyxf(num_format_str=number_format))
    return saved(book)


def cells(found: Mapping[tuple[int, int], object]) -> bytes:
    """A workbook with one sheet, “Data”, with values at these rows and columns only."""
    book: Any = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data"
    for (row, column), value in found.items():
        sheet.cell(row, column).value = value
    return saved(book)


def with_member(content: bytes, member: str, changed: Callable[[bytes], bytes]) -> bytes:
    """An archive with one of its members replaced."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for info in source.infolist():
            own = source.read(info)
            archive.writestr(info.filename, changed(own) if info.filename == member else own)
    return target.getvalue()


def said_to_unpack_to(content: bytes, size: int) -> bytes:
    """An archive whose directory declares `size` bytes for its first member (APPNOTE, 4.3.12)."""
    entry = content.index(b"PK\x01\x02")
    return content[: entry + 24] + struct.pack("<I", size) + content[entry + 28 :]


def opendocument(table_rows: str, *, styles: str = "", attributes: str = 'table:name="Ledger"') -> bytes:
    """An ODS file with one sheet of these rows, given as XML."""
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in {
            "office": "office",
            "table": "table",
            "text": "text",
            "style": "style",
            "fo": "xsl-fo-compatible",
            "draw": "drawing",
        }.items()
    )
    xml = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet><table:table {attributes}>{table_rows}</table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", xml)
    return content.getvalue()
