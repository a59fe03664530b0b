import io
import re
import uuid
import zipfile
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import xlwt
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font, PatternFill

from rag import errors, parsing
from rag.parsing import file_types
from rag.parsing.conversion import Conversion
from rag.parsing.pdf import quote_boxes
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.sheets import cell_names
from rag.parsing.sheets.pages import to_pdf
from rag.types import BlockKind, ParsedDocument, Passage, Rect
from tests import pdfs, sheets


def converted(folder: Path, content: bytes, mime_type: str = file_types.XLSX) -> tuple[Path, Conversion]:
    """The rendition of a file, and what the converter says."""
    source, rendition = folder / "source", folder / "rendition.pdf"
    source.write_bytes(content)
    result = to_pdf(source, mime_type)
    with result.document as document:
        document.save(rendition)
    return rendition, result


def read(folder: Path, content: bytes, mime_type: str = file_types.XLSX) -> ParsedDocument:
    return parsing.parse_rendition(converted(folder, content, mime_type)[0])


def texts(parsed: ParsedDocument, kind: BlockKind = BlockKind.TABLE) -> list[str]:
    return [block.text for block in parsed.blocks if block.kind is kind]


def lit(rendition: Path, words: str, parsed: ParsedDocument | None = None) -> list[str | None]:
    """The cells in which `words` stand, one name for each page."""
    parsed = parsed or parsing.parse_rendition(rendition)
    found = []
    for block in parsed.blocks:
        passage = Passage(document_id=uuid.uuid4(), lines=block.lines)
        start = passage.text.find(words)
        if start >= 0:
            found += [region.cells for region in parsing.locate(rendition, passage, start, start + len(words))]
    return found


# What a sheet becomes


def test_a_sheet_is_a_heading_its_titles_and_a_table_with_each_cell_in_its_place(tmp_path: Path) -> None:
    parsed = read(tmp_path, sheets.balance())
    assert [(block.kind, block.level) for block in parsed.blocks][:3] == [
        (BlockKind.HEADING, 1),
        (BlockKind.TEXT, None),
        (BlockKind.TABLE, None),
    ]
    assert parsed.blocks[0].text == "Balance"
    assert parsed.blocks[1].text == "Lindmark Harbour – balance sheet\nIn thousands of euros"
    assert parsed.blocks[2].text.split("\n") == [
        "\t2022\t2023\tNote",
        "Current assets\t\t\t",
        "Cash and cash equivalents\t1,204\t1,511\t4",
        "Trade receivables\t880\t\t5",
        "Inventories\t413\t398\t",
        "Total assets\t5,210\t6,145\t",
        "Total equity\t(300)\t2,250\t7",
    ]
    assert parsed.pages[0].label == "Balance!A1:D10"


def test_letters_and_numbers_beside_the_grid_are_seen_and_not_read(tmp_path: Path) -> None:
    rendition, _ = converted(tmp_path, sheets.balance())
    with pymupdf.open(rendition) as document:
        drawn = document[0].get_text()
    parsed = parsing.parse_rendition(rendition)
    words = {word for block in parsed.blocks for word in block.text.split()}
    assert "hidden rows are shaded" in drawn
    assert {"A", "B", "C", "D", "1", "2", "3", "8", "9", "10"} <= {*drawn.split()}
    assert not words & {"A", "B", "C", "D", "1", "2", "3", "8", "9", "10", "hidden"}


def test_comments_hidden_rows_and_formulas_without_a_value_are_not_lost(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book["Balance"]["D6"].value = "=C6/B6-1"
        book.create_sheet("Notes").sheet_state = "hidden"
        book["Notes"]["B2"].value = "Kept under lock"

    def all_of(book: Any) -> None:
        change(book)
        book["Balance"].row_dimensions[8].hidden = True
        book["Balance"]["B9"].comment = Comment("Restated.", "Auditor")

    parsed = read(tmp_path, sheets.workbook(all_of, Balance=sheets.BALANCE))
    everything = "\n".join(block.text for block in parsed.blocks)
    assert "\t=C6/B6-1" in everything
    assert "Inventories\t412.5\t398" in everything
    assert "B9: Restated. (Auditor)" in everything
    assert "Kept under lock" in everything


def test_a_formula_is_shown_by_its_value_where_it_has_one(tmp_path: Path) -> None:
    content = sheets.cells({(1, 1): "Sum", (1, 2): "=1+1", (2, 1): "None", (2, 2): '=IF(TRUE,"","x")'})

    def valued(xml: bytes) -> bytes:
        xml = xml.replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>").replace(b"<f>1+1</f><v/>", b"<f>1+1</f><v>2</v>")
        return xml.replace(b'<c r="B2">', b'<c r="B2" t="str">')

    assert texts(read(tmp_path, sheets.with_member(content, "xl/worksheets/sheet1.xml", valued))) == ["Sum\t2\nNone\t"]


def test_the_names_of_columns_stand_on_every_page(tmp_path: Path) -> None:
    rows = [("Ship", "Tonnes"), *((f"Ship {number}", number) for number in range(1, 151))]
    parsed = read(tmp_path, sheets.workbook(Fleet=rows))
    assert len(parsed.pages) > 2
    assert [block.text.split("\n")[0] for block in parsed.blocks if block.kind is BlockKind.TABLE] == [
        "Ship\tTonnes"
    ] * len(parsed.pages)
    labels = [page.label or "" for page in parsed.pages]
    rows_of_pages = [[int(part) for part in re.findall(r"[AB](\d+)", label)] for label in labels]
    assert [row for first, last in rows_of_pages for row in range(first, last + 1)] == [*range(1, 152)]
    assert [block.text for block in parsed.blocks if block.kind is BlockKind.HEADING] == ["Fleet"]


def test_a_wide_sheet_repeats_its_labels_beside_the_columns_that_go_on_another_page(tmp_path: Path) -> None:
    rows = [
        ("Ship", *(f"Measurement {n}" for n in range(1, 41))),
        *((f"Ship {r}", *range(r, r + 40)) for r in range(3)),
    ]
    parsed = read(tmp_path, sheets.workbook(Wide=rows))
    assert len(parsed.pages) > 1
    for table in texts(parsed):
        assert [line.split("\t")[0] for line in table.split("\n")] == ["Ship", "Ship 0", "Ship 1", "Ship 2"]
    named = [name for table in texts(parsed) for name in table.split("\n")[0].split("\t")[1:]]
    assert named == [f"Measurement {n}" for n in range(1, 41)]


def test_merged_cells_are_one_cell_by_the_name_of_the_first(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book["Data"].merge_cells("B1:D1")

    rows = [(None, "Sales in the three quarters"), ("Region", "Q1", "Q2", "Q3"), ("North", 1, 2, 3)]
    rendition, _ = converted(tmp_path, sheets.workbook(change, Data=rows))
    assert lit(rendition, "Sales in the three quarters") == ["Data!B1"]


def test_an_empty_sheet_is_said_to_be_empty(tmp_path: Path) -> None:
    parsed = read(tmp_path, sheets.workbook(Nothing=()))
    assert [block.text for block in parsed.blocks] == ["Nothing", "This sheet is empty."]


def test_many_sheets_of_like_names_keep_their_names(tmp_path: Path) -> None:
    names: dict[str, Any] = {f"Q{number}__2023": [("Region", "Sales"), ("North", number)] for number in range(1, 5)}
    parsed = read(tmp_path, sheets.workbook(**names))
    assert texts(parsed, BlockKind.HEADING) == ["Q1 2023", "Q2 2023", "Q3 2023", "Q4 2023"]
    assert parsed.pages[1].label == "'Q2 2023'!A1:B2"


def test_a_cell_higher_than_a_page_goes_on_on_the_next(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2500)]
    parsed = read(tmp_path, sheets.cells({(1, 1): "Text", (1, 2): " ".join(words)}))
    assert len(parsed.pages) > 1
    assert " ".join(" ".join(texts(parsed)).split()).split()[1:] == words


# Places


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("6,145", ["Balance!C9"]),
        ("Total assets\t5,210\t6,145", ["Balance!A9:C9"]),
        ("880\t\t5", ["Balance!B7, D7"]),
        ("Lindmark Harbour", ["Balance!A1"]),
    ],
)
def test_words_of_a_sheet_are_named_by_their_cells(tmp_path: Path, words: str, expected: list[str]) -> None:
    assert lit(converted(tmp_path, sheets.balance())[0], words) == expected


def test_boxes_on_pages_of_other_files_have_no_cells(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdfs.table(ruled=True))
    assert quote_boxes.cell_names(tmp_path / "a.pdf", 1, [Rect(0, 0, 500, 800)]) is None


@pytest.mark.parametrize("private", [b"{}", b"[1]", b'{"sheet": "a", "columns": [[1, 0]], "rows": 3}', b"\xff\x00"])
def test_what_makes_no_sense_as_a_grid_is_passed_over(tmp_path: Path, private: bytes) -> None:
    rendition, _ = converted(tmp_path, sheets.balance())
    with pymupdf.open(rendition) as document:
        _, reference = document.xref_get_key(document[0].xref, "PieceInfo/Pagelight/Private")
        document.update_stream(int(reference.split()[0]), private)
        document.save(tmp_path / "forged.pdf")
    parsed = parsing.parse_rendition(tmp_path / "forged.pdf")
    assert parsed.pages[0].error is None
    assert parsed.pages[0].label is None
    assert any("6,145" in block.text for block in parsed.blocks)


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [("Balance", "Balance!B1"), ("Q1 2023", "'Q1 2023'!B1"), ("Tom's", "'Tom''s'!B1"), ("A1", "'A1'!B1"), ("", "B1")],
)
def test_sheets_are_quoted_as_spreadsheets_quote_them(sheet: str, expected: str) -> None:
    assert cell_names.on_sheet(sheet, cell_names.cell_name(1, 2)) == expected


def test_columns_are_lettered() -> None:
    assert [cell_names.column_letters(number) for number in (1, 26, 27, 702, 703, 16384)] == [
        *("A", "Z", "AA", "ZZ", "AAA", "XFD")
    ]


LETTERS = st.sampled_from("abcXYZ éß—€ΩЖ日本語한ą")
WORDS = st.text(LETTERS, max_size=30) | st.text(LETTERS, min_size=80, max_size=300) | st.just("x" * 150)
PLACES = st.tuples(st.integers(1, 90), st.integers(1, 45))


@hypothesis.settings(
    max_examples=8, deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(found=st.dictionaries(PLACES, WORDS, min_size=1, max_size=25))
@hypothesis.example(found={(1, 1): "x" * 150, (1, 2): f"{'X' * 20} {'X' * 59}", (2, 1): f"{'y' * 59} {'z' * 61} of"})
def test_every_cell_s_text_stands_in_its_cell(tmp_path: Path, found: dict[tuple[int, int], str]) -> None:
    marked = {place: f"c{index}: {words} :{index}c" for index, (place, words) in enumerate(found.items())}
    rendition, result = converted(tmp_path, sheets.cells(marked))
    parsed = parsing.parse_rendition(rendition)
    for (row, column), words in marked.items():
        name = f"Data!{cell_names.cell_name(row, column)}"
        assert {*lit(rendition, " ".join(words.split()), parsed)} == {name}
        assert any(words in text.text for text in result.texts)


@pytest.mark.parametrize("words", ["مرحبا بالعالم", "שלום עולם", "สวัสดีชาวโลก", "हिन्दी में", "acțiuni și obligațiuni"])
def test_scripts_that_must_be_shaped_keep_their_letters(tmp_path: Path, words: str) -> None:
    assert texts(read(tmp_path, sheets.workbook(Data=[("Word", "Number"), (words, 1)]))) == [
        f"Word\tNumber\n{words}\t1"
    ]


# Other kinds of files


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        ("Region;Sales\nNorth;1.204,50\nSüd;\n".encode("cp1252"), file_types.CSV),
        ('Region,Sales\nNorth,"1.204,50"\nSüd,\n'.encode(), file_types.CSV),
        ("Region\tSales\nNorth\t1.204,50\nSüd\t\n".encode("utf-16"), file_types.TSV),
    ],
)
def test_delimited_values_are_a_sheet_without_a_name(tmp_path: Path, content: bytes, mime_type: str) -> None:
    rendition, _ = converted(tmp_path, content, mime_type)
    parsed = parsing.parse_rendition(rendition)
    assert texts(parsed) == ["Region\tSales\nNorth\t1.204,50\nSüd\t"]
    assert parsed.pages[0].label == "A1:B3"
    assert lit(rendition, "1.204,50") == ["B2"]


def test_line_breaks_in_quoted_fields_are_no_rows(tmp_path: Path) -> None:
    parsed = read(tmp_path, b'Name,Text\nA,"first\nsecond"\nB,third\n', file_types.CSV)
    assert texts(parsed) == ["Name\tText\nA\tfirst second\nB\tthird"]


ODS_ROWS = (
    "<table:table-column/><table:table-column table:visibility='collapse'/>"
    "<table:table-row><table:table-cell><text:p>Account</text:p></table:table-cell>"
    "<table:table-cell><text:p>2023</text:p></table:table-cell></table:table-row>"
    "<table:table-row table:number-rows-repeated='2'/>"
    "<table:table-row><table:table-cell office:value-type='string'><office:annotation><text:p>Checked twice.</text:p>"
    "</office:annotation><text:p>Cash<text:s text:c='2'/>at bank</text:p></table:table-cell>"
    "<table:table-cell office:value-type='currency'><text:p>1,204.50 €</text:p></table:table-cell>"
    "</table:table-row><table:table-row table:number-rows-repeated='1048570'>"
    "<table:table-cell table:number-columns-repeated='16384'/></table:table-row>"
)


def test_opendocument_shows_what_was_shown_with_comments_and_hidden_columns(tmp_path: Path) -> None:
    rendition, _ = converted(tmp_path, sheets.opendocument(ODS_ROWS), file_types.ODS)
    parsed = parsing.parse_rendition(rendition)
    assert texts(parsed) == ["Account\t2023\nCash at bank\t1,204.50 €"]
    assert lit(rendition, "1,204.50 €") == ["Ledger!B4"]
    assert "A4: Checked twice." in [block.text for block in parsed.blocks]


def test_a_table_below_titles_and_above_notes_is_a_table(tmp_path: Path) -> None:
    content = b"Sales report\nCompany: Birch\n\nItem,2024,2023\nCash,120,98\nDebt,45,50\nEquity,310,290\n\nUnaudited\n"
    (tmp_path / "a.csv").write_bytes(content)
    assert file_types.detect_mime_type(tmp_path / "a.csv", "a.csv") == file_types.CSV
    parsed = read(tmp_path, content, file_types.CSV)
    assert texts(parsed, BlockKind.TEXT) == ["Sales report\nCompany: Birch"]
    assert texts(parsed)[0].split("\n")[:2] == ["Item\t2024\t2023", "Cash\t120\t98"]


def test_the_line_that_names_the_separator_is_obeyed_and_not_shown(tmp_path: Path) -> None:
    content = b"sep=^\nItem^2024\nCash, at bank^120\n"
    (tmp_path / "a.csv").write_bytes(content)
    assert file_types.detect_mime_type(tmp_path / "a.csv", "a.csv") == file_types.CSV
    assert texts(read(tmp_path, content, file_types.CSV)) == ["Item\t2024\nCash, at bank\t120"]


@pytest.mark.parametrize("value", ["10000", "25000", "00123", "99999.99", "MAXIMUM-WIDTH"])
def test_the_widest_cell_of_a_column_is_not_cut(tmp_path: Path, value: str) -> None:
    assert texts(read(tmp_path, f"Region,Code\nNorth,{value}\nSouth,1\n".encode(), file_types.CSV)) == [
        f"Region\tCode\nNorth\t{value}\nSouth\t1"
    ]


def test_old_workbooks_show_numbers_and_times_as_formatted(tmp_path: Path) -> None:
    assert texts(read(tmp_path, sheets.old_workbook(), file_types.XLS)) == [
        "Item\tValue\nRate\t2.5 %\nStart\t6:15 AM\nDay\t2024-02-29"
    ]


def test_headers_and_footers_stand_around_the_table(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book["Data"].oddHeader.left.text = "In thousands of Swiss francs"
        book["Data"].oddHeader.right.text = "&D"
        book["Data"].oddFooter.center.text = "Unaudited, page &P"

    found = {
        file_types.XLSX: sheets.workbook(change, Data=[("Item", "2024"), ("Cash", 120)]),
        file_types.XLS: sheets.old_workbook(),
    }
    for mime_type, content in found.items():
        blocks = [(block.kind, block.text) for block in read(tmp_path, content, mime_type).blocks]
        kinds = [kind for kind, _ in blocks]
        assert kinds == [BlockKind.HEADING, BlockKind.TEXT, BlockKind.TABLE, BlockKind.TEXT]
        assert blocks[1][1] == "In thousands of Swiss francs"
        assert blocks[3][1].startswith("Unaudited")


REFUSED_BY_LIBRARIES: dict[str, tuple[str, bytes, bytes]] = {
    "font family": ("xl/styles.xml", b'<family val="2"', b'<family val="99"'),
    "empty fill": ("xl/styles.xml", b"<fills", b"<fills><fill/></fills><fills"),
    "bad date": ("docProps/core.xml", b"</dcterms:created>", b"never</dcterms:created>"),
    "broken properties": ("docProps/core.xml", b"</cp:coreProperties>", b""),
    "strict": (
        "xl/worksheets/sheet1.xml",
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        b"http://purl.oclc.org/ooxml/spreadsheetml/main",
    ),
}


@pytest.mark.parametrize("name", REFUSED_BY_LIBRARIES)
def test_workbooks_that_spreadsheet_programs_open_are_read(tmp_path: Path, name: str) -> None:
    member, before, after = REFUSED_BY_LIBRARIES[name]
    content = sheets.with_member(sheets.balance(), member, lambda xml: xml.replace(before, after))
    assert "Total assets\t5,210\t6,145\t" in texts(read(tmp_path, content))[0]


def _colored(*, is_old: bool) -> bytes:
    """A workbook with a white figure on white, and one on blue."""
    if is_old:
        old = xlwt.Workbook()
        sheet = old.add_sheet("Data")
        looks = "font: color white", "font: color white; pattern: pattern solid, fore_color dark_blue"
        for row, (value, look) in enumerate(zip((991, 12), looks, strict=True)):
            sheet.write(row, 0, "Rent")
            sheet.write(row, 1, value, xlwt.easyxf(look))
        return sheets.saved(old)

    def change(book: Any) -> None:
        cells = book["Data"]
        cells["B1"].font = cells["B2"].font = Font(color="FFFFFFFF")
        cells["B2"].fill = PatternFill("solid", fgColor="FF000080")
        cells["B3"].number_format = ";;;"

    return sheets.workbook(change, Data=[["Rent", 991], ["Rent", 12], ["Rent", 994]])


@pytest.mark.parametrize("name", ["a.xlsx", "a.xls", "a.ods"])
def test_figures_in_the_colour_of_their_cell_are_hidden(tmp_path: Path, name: str) -> None:
    if name == "a.ods":
        cells = "".join(
            "<table:table-row><table:table-cell><text:p>Rent</text:p></table:table-cell>"
            f'<table:table-cell table:style-name="{look}">'
            f"<text:p>{value}</text:p></table:table-cell></table:table-row>"
            for look, value in (("white", 991), ("blue", 12))
        )
        color = 'fo:color="#ffffff"'
        fill = f'{color} fo:background-color="#000080"'
        style = '<style:style style:name="{}" style:family="table-cell"><style:text-properties {}/></style:style>'
        content = sheets.opendocument(cells, styles=style.format("white", color) + style.format("blue", fill))
    else:
        content = _colored(is_old=name == "a.xls")
    (tmp_path / name).write_bytes(content)
    document = parsing.read_file(tmp_path / name, name=name, rendition=tmp_path / "r.pdf")
    words = {kind: " ".join(b.text for b in document.blocks if b.kind is kind).split() for kind in BlockKind}
    assert words[BlockKind.HIDDEN] == (["991", "994"] if name == "a.xlsx" else ["991"])
    assert "12" in words[BlockKind.TABLE] + words[BlockKind.TEXT]


def test_struck_out_and_raised_parts_of_cells_are_kept_apart(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        small = InlineFont(vertAlign="superscript")
        book["Data"]["A2"].value = CellRichText("Revenue", TextBlock(small, "8"))
        book["Data"]["A3"].value = CellRichText("Notice: ", TextBlock(InlineFont(strike=True), "30 days"), " 60 days")
        book["Data"]["B4"].font = Font(strike=True)

    rows = [("Item", "2024"), (None, 812), (None, 1), ("Old", 77)]
    parsed = read(tmp_path, sheets.workbook(change, Data=rows))
    assert texts(parsed) == ["Item\t2024\nRevenue⁸\t812\nNotice: 60 days\t1\nOld\t"]
    assert " ".join(texts(parsed, BlockKind.STRUCK)).split() == ["30", "days", "77"]


def test_tables_beside_each_other_are_two_and_heads_of_two_levels_one_header(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book["Data"].merge_cells("B1:C1")

    rows = [
        ("Region", 2024, None, None, "Site", "People"),
        (None, "H1", "H2", None, "Varberg", 120),
        ("North", 10, 12, None, "Malmo", 80),
        ("South", 7, 9, None, "Lund", 60),
    ]
    assert texts(read(tmp_path, sheets.workbook(change, Data=rows))) == [
        "Region\t2024\t\n\tH1\tH2\nNorth\t10\t12\nSouth\t7\t9",
        "Site\tPeople\nVarberg\t120\nMalmo\t80\nLund\t60",
    ]


def test_the_data_of_charts_is_read(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        chart = BarChart()
        chart.title = "Sales by quarter"
        chart.add_data(Reference(book["Data"], min_col=2, min_row=1, max_row=3), titles_from_data=True)
        book["Data"].add_chart(chart, "D1")

    content = sheets.workbook(change, Data=[("Quarter", "Sales"), ("Q1", 10), ("Q2", 12)])
    cache = b"<c:numCache><c:ptCount val='1'/><c:pt idx='0'><c:v>4711</c:v></c:pt></c:numCache></c:numRef></c:val>"
    drawn = sheets.with_member(
        content,
        "xl/charts/chart1.xml",
        lambda xml: re.sub(rb"</(\w*:?)numRef></\w*:?val>", cache.replace(b"c:", rb"\1"), xml),
    )
    everything = "\n".join(block.text for block in read(tmp_path, drawn).blocks)
    assert "Sales by quarter" in everything
    assert "4711" in everything


# Hostile files


def test_a_few_cells_far_apart_take_few_pages(tmp_path: Path) -> None:
    rendition, _ = converted(
        tmp_path, sheets.cells({(1, 1): "first", (500_000, 2): "middle", (1_048_576, 16_384): "last"})
    )
    assert len(parsing.parse_rendition(rendition).pages) == 1
    assert lit(rendition, "middle") == ["Data!B500000"]
    assert lit(rendition, "last") == ["Data!XFD1048576"]


@pytest.mark.long
def test_sixteen_thousand_columns_are_all_there(tmp_path: Path) -> None:
    parsed = read(tmp_path, sheets.workbook(Wide=[[f"c{number}" for number in range(16_384)]]))
    found = "\t".join(texts(parsed) + texts(parsed, BlockKind.TEXT)).split("\t")
    assert {*found} == {f"c{number}" for number in range(16_384)}


def test_links_to_other_files_are_shown_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other.xlsx").write_bytes(sheets.workbook(Secrets=[("Secret", "hunter2")]))
    parsed = read(tmp_path, sheets.workbook(Data=[("Value", f"='[{tmp_path}/other.xlsx]Secrets'!B1")]))
    everything = "".join(block.text for block in parsed.blocks)
    assert "Secrets'!B1" in "".join(everything.split())
    assert "hunter2" not in everything


def laughing(xml: bytes) -> bytes:
    """XML that unfolds to billions of letters."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<?xml version="1.0"?><!DOCTYPE worksheet [<!ENTITY e0 "ha">{entities}]>'.encode()
    body = xml.partition(b"?>")[2] if xml.startswith(b"<?xml") else xml
    return head + body.replace(b"<sheetData>", b'<sheetData><row r="9"><c r="A9" t="str"><v>&e11;</v></c></row>')


DAMAGED = {
    "bomb": sheets.said_to_unpack_to(sheets.balance(), 0xFFFF_FFF0),
    "cut off": sheets.balance()[:-400],
    "no sheet": sheets.with_member(sheets.balance(), "xl/worksheets/sheet1.xml", lambda _: b""),
    "broken sheet": sheets.with_member(sheets.balance(), "xl/worksheets/sheet1.xml", lambda xml: xml[:-200]),
    "laughs": sheets.with_member(sheets.balance(), "xl/worksheets/sheet1.xml", laughing),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_or_a_trap_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(errors.UnreadableFileError):
        read(tmp_path, DAMAGED[name])


@pytest.mark.parametrize("xml", [b"", b"<office", b"<a/>"])
def test_damaged_opendocument_is_refused_or_has_no_sheets(tmp_path: Path, xml: bytes) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", file_types.ODS)
        archive.writestr("content.xml", xml)
    path = tmp_path / "a.ods"
    path.write_bytes(content.getvalue())
    with pytest.raises(errors.UnreadableFileError):
        parsing.read_file(path, name="a.ods", rendition=tmp_path / "a.pdf")


def test_an_old_workbook_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError):
        read(
            tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000) + "Workbook".encode("utf-16-le"), file_types.XLS
        )
