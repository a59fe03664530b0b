"""Glyphs are read as the characters that they show, whatever the file's fonts tell."""

import struct
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag import parsing
from rag.parsing.html.text_files import from_html, from_text
from rag.parsing.pdf import glyph_names, line_characters, quote_boxes
from rag.parsing.pdf.character_cleaning import UNKNOWN
from rag.parsing.pdf.glyphs import name_glyphs
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.types import Passage
from tests import pdfs

BAR = "50 230 456 60 re f"
SQUARE = "100 100 600 600 re f"
TRIANGLE = "0 0 m 500 0 l 250 700 l f"
DISC = (
    "450 350 m 450 460 360 550 250 550 c 140 550 50 460 50 350 c 50 240 140 150 250 150 c 360 150 450 240 450 350 c f"
)


def with_font(font: str, text: str, *, charprocs: str = "", table: str = "") -> Any:
    """Return a page that says "Result", `text` in hexadecimal digits in another font, and "12.5 percent"."""
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    drawn = document.get_new_xref()
    document.update_object(drawn, "<<>>")
    document.update_stream(drawn, f"500 0 0 0 500 700 d1 {charprocs}".encode())
    mapped = document.get_new_xref()
    document.update_object(mapped, "<<>>")
    document.update_stream(mapped, f"begincmap 1 beginbfchar {table} endbfchar endcmap".encode())
    described = document.get_new_xref()
    document.update_object(described, font.replace("DRAWN", f"{drawn} 0 R").replace("MAPPED", f"{mapped} 0 R"))
    contents = document.get_new_xref()
    document.update_object(contents, "<<>>")
    document.update_stream(
        contents,
        f"BT /F1 11 Tf 72 700 Td (Result ) Tj /F2 11 Tf <{text}> Tj /F1 11 Tf (12.5 percent) Tj ET".encode(),
    )
    document.xref_set_key(page.xref, "Contents", f"{contents} 0 R")
    plain = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F1 {plain}/F2 {described} 0 R>>>>")
    return document


def type3(name: str, code: int) -> str:
    return (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/Resources<<>>"
        f"/CharProcs<</{name} DRAWN>>/Encoding<</Differences[{code}/{name}]>>/FirstChar {code}/LastChar {code}"
        "/Widths[500]>>"
    )


def standard(name: str, more: str = "") -> str:
    return f"<</Type/Font/Subtype/Type1/BaseFont/{name}{more}>>"


PRIVATE_LIGATURE = "/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/fi]>>/ToUnicode MAPPED"


def line_of(folder: Path, document: Any) -> str:
    path = folder / "file.pdf"
    path.write_bytes(pdfs.finish(document))
    parsed = parsing.read_file(path, name=path.name, rendition=folder / "rendition.pdf")
    return " ".join(line.text for block in parsed.blocks for line in block.lines)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (lambda: with_font(type3("a0", 0), "00", charprocs=BAR), "Result −12.5 percent"),
        (lambda: with_font(type3("g141", 141), "8D", charprocs=BAR), "Result −12.5 percent"),
        (lambda: with_font(type3("H11002", 33), "21", charprocs=TRIANGLE), "Result −12.5 percent"),
        (lambda: with_font(type3("C1", 2), "02", charprocs=DISC), "Result ●12.5 percent"),
        (lambda: with_font(type3("C1", 2), "02", charprocs=SQUARE), "Result ■12.5 percent"),
        (lambda: with_font(type3("C1", 2), "02", charprocs=TRIANGLE), f"Result {UNKNOWN}12.5 percent"),
        (lambda: with_font(standard("ZapfDingbats"), "34"), "Result ✔12.5 percent"),
        (lambda: with_font(standard("ZapfDingbats"), "6E"), "Result ■12.5 percent"),
        (lambda: with_font(standard("ABCDEF+Wingdings-Regular"), "FC"), "Result ✓12.5 percent"),
        (lambda: with_font(standard("Symbol", "/ToUnicode MAPPED"), "B7", table="<B7> <F0B7>"), "Result •12.5 percent"),
        (lambda: with_font(standard("Symbol", "/ToUnicode MAPPED"), "2D", table="<2D> <F02D>"), "Result −12.5 percent"),
        (
            lambda: with_font(standard("Helvetica", PRIVATE_LIGATURE), "4F6601", table="<01> <E000>"),
            "Result Offi12.5 percent",
        ),
        (
            lambda: with_font(standard("Helvetica", "/ToUnicode MAPPED"), "41", table="<41> <F761>"),
            "Result A12.5 percent",
        ),
    ],
    ids=[
        "TeX", "code", "name", "disc", "square", "unknown", "tick", "box", "Wingdings", "bullet", "minus", "ligature",
        "small capital",
    ],
)  # fmt: skip
def test_a_glyph_is_read_as_what_it_shows(tmp_path: Path, document: Callable[[], Any], text: str) -> None:
    assert line_of(tmp_path, document()) == text


def test_glyphs_drawn_by_a_font_without_resources_are_read(tmp_path: Path) -> None:
    font = type3("g141", 141).replace("/Resources<<>>", "")
    assert line_of(tmp_path, with_font(font, "8D", charprocs=BAR)) == "Result −12.5 percent"


def test_unknown_glyphs_are_counted() -> None:
    document = with_font(type3("C1", 2), "020202", charprocs=TRIANGLE)
    assert name_glyphs(document).has_unknown
    assert parse_page(document, 0).unknown_glyphs == 3


def test_a_file_whose_fonts_tell_their_characters_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file.pdf"
    path.write_bytes(pdfs.plain())
    parsing.read_file(path, name=path.name, rendition=tmp_path / "rendition.pdf")
    assert (tmp_path / "rendition.pdf").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("minus", "−"),
        ("H11002", "−"),
        ("H9262", "μ"),
        ("a20", "✔"),
        ("f_f_i", "ffi"),
        ("Asmall", "a"),
        ("seven.oldstyle", "7"),
        ("uni00410042", "AB"),
        ("u1F600", "😀"),
        ("summationdisplay", "∑"),
        ("parenleftBig", "("),
        ("afii10017", "А"),  # the Cyrillic letter
        ("cid123", None),
        ("g141", None),
    ],
)
def test_names_of_glyphs(name: str, text: str | None) -> None:
    assert glyph_names.by_name(name, -1) == text


@pytest.mark.parametrize("table", ["null", "/Identity-H"])
def test_glyphs_of_a_font_without_a_map_are_named_by_its_own_table(tmp_path: Path, table: str) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 300), "<p>The quay was widened in 1898.</p>")
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "ToUnicode")[0] == "xref":
            document.xref_set_key(xref, "ToUnicode", table)
    assert line_of(tmp_path, document) == "The quay was widened in 1898."


def truetype(glyph: bytes) -> bytes:
    """Return a TrueType font whose glyph 1 has this outline, without names and a table of characters."""
    tables = {
        b"glyf": glyph,
        b"head": struct.pack(
            ">4I2H2q4h2H3h", 0x10000, 0, 0, 0x5F0F3CF5, 0, 1000, 0, 0, 0, 0, 1000, 1000, 0, 8, 2, 1, 0
        ),
        b"hhea": struct.pack(">I3hH11hH", 0x10000, 800, -200, 0, 500, *[0] * 11, 2),
        b"hmtx": struct.pack(">HhHh", 500, 0, 500, 0),
        b"loca": struct.pack(">3I", 0, 0, len(glyph)),
        b"maxp": struct.pack(">I14H", 0x10000, 2, 4, 1, 0, 0, 2, *[0] * 8),
    }
    directory, content = struct.pack(">I4H", 0x10000, len(tables), 64, 2, 32), b""
    for name, table in tables.items():
        directory += struct.pack(">4s3I", name, 0, 12 + 16 * len(tables) + len(content), len(table))
        content += table + bytes(-len(table) % 4)
    return directory + content


BAR_OUTLINE = (
    struct.pack(">h4h", 1, 50, 230, 506, 290) + struct.pack(">2H4B", 3, 0, 1, 1, 1, 1)
    + struct.pack(">8h", 50, 456, 0, -456, 230, 0, 60, 0)
)  # fmt: skip


@pytest.mark.parametrize(
    ("outline", "text"), [(BAR_OUTLINE, "−"), (BAR_OUTLINE[:14], UNKNOWN)], ids=["whole", "cut off"]
)
def test_a_glyph_that_a_damaged_font_cannot_draw_is_unknown(tmp_path: Path, outline: bytes, text: str) -> None:
    font = (
        "<</Type/Font/Subtype/Type0/BaseFont/Own/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2"
        "/BaseFont/Own/CIDToGIDMap/Identity/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/W[1[500]]"
        "/FontDescriptor<</Type/FontDescriptor/FontName/Own/Flags 4/FontBBox[0 0 1000 1000]/FontFile2 DRAWN>>>>]>>"
    )
    document = with_font(font, "0001")
    streams = [xref for xref in range(1, document.xref_length()) if document.xref_is_stream(xref)]
    drawn = next(xref for xref in streams if document.xref_stream(xref).startswith(b"500 0 0 0"))
    document.update_stream(drawn, truetype(outline))
    assert line_of(tmp_path, document) == f"Result {text}12.5 percent"


@pytest.mark.needs_tesseract
def test_a_page_of_unknown_glyphs_is_recognised(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 300), f"<p>{' '.join(pdfs.SENTENCES)}</p>")
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "ToUnicode")[0] == "xref":
            document.xref_set_key(xref, "ToUnicode", "null")
        if document.xref_is_stream(xref) and b"cmap" in (program := document.xref_stream(xref))[:400]:
            document.update_stream(xref, program.replace(b"cmap", b"xmap", 1).replace(b"post", b"xost", 1))
    assert "lighthouse" in line_of(tmp_path, document).lower()


def visual(text: str, *, gap_after: str = "", size: float = 10) -> list[dict[str, Any]]:
    """Return a page's blocks with one line whose characters stand as in `text` from left to right."""
    chars, x = [], 0.0
    for character in text:
        chars.append({"c": character, "bbox": (x, 0.0, x + 5, size), "origin": (x, size)})
        x += 40 if gap_after and character in gap_after else 5
    span = {"chars": chars, "size": size, "bbox": (0, 0, x, size), "origin": (0, size)}
    return [{"type": 0, "lines": [{"dir": (1.0, 0.0), "bbox": (0, 0, x, size), "spans": [span]}]}]


def corrected(blocks: list[dict[str, Any]]) -> list[str]:
    line_characters.correct(blocks)
    return ["".join(char["c"] for span in line["spans"] for char in span["chars"]) for line in blocks[0]["lines"]]


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (".2024 תנשב לקש 412 ויה", "היו 412 שקל בשנת 2024."),
        ("(2019 תנשב) רואיב", "ביאור (בשנת 2019)"),
        (")2019 תנשב( רואיב", "ביאור (בשנת 2019)"),
        ("%.12.5 רועיש", "שיעור 12.5.%"),
        ("12.5% רועיש", "שיעור 12.5%"),
        ("%12.5 ةبسن", "نسبة 12.5%"),
        ("15/03/2024 ךיראת", "תאריך 15/03/2024"),
        ("iPhone 15 תא הנק תיבה לעב", "בעל הבית קנה את iPhone 15"),
        ("Windows 11 (Pro) תא הנק תיבה לעב", "בעל הבית קנה את Windows 11 (Pro)"),
        ("The word םולש means (2024)", "The word שלום means (2024)"),
        ("١٢٣٤ غلب", "بلغ ١٢٣٤"),
        ("۱۲۳۴ دمآرد", "درآمد ۱۲۳۴"),
        ("ﺕﻼﻗ", "قلات"),
    ],
)
def test_right_to_left_text_is_read_in_logical_order(drawn: str, text: str) -> None:
    assert corrected(visual(drawn)) == [text]


def test_cells_of_right_to_left_rows_are_apart() -> None:
    assert corrected(visual("987|١٢٣٤|حبر", gap_after="|")) == ["|987", "|١٢٣٤", "ربح"]


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("<p dir=rtl>بلغت ١٢٣٤ مليون دينار في عام ٢٠٢٤.</p>", ["بلغت ١٢٣٤ مليون دينار في عام ٢٠٢٤."]),
        ("<p dir=rtl>النسبة ١٢٫٥٪ والتاريخ ٠٣/٠٥/٢٠٢٤.</p>", ["النسبة ١٢٫٥٪ والتاريخ ٠٣/٠٥/٢٠٢٤."]),
        ("<p dir=rtl>المبلغ 1,234.56 والنسبة 12.5%.</p>", ["المبلغ 1,234.56 والنسبة 12.5%."]),
        ("<p dir=rtl>درآمد ۱۲۳۴ میلیون تومان بود.</p>", ["درآمد ۱۲۳۴ میلیون تومان بود."]),
        ("<p dir=rtl>لا إله إلا الله</p>", ["لا إله إلا الله"]),
    ],
)
def test_arabic_text_of_converted_files(tmp_path: Path, markup: str, lines: list[str]) -> None:
    path = tmp_path / "rendition.pdf"
    from_html(markup).document.save(path)
    assert [line.text for block in parsing.parse_rendition(path).blocks for line in block.lines] == lines


def test_arabic_plain_text_begins_at_the_right(tmp_path: Path) -> None:
    path = tmp_path / "rendition.pdf"
    from_text("بلغت الأرباح 5678 مليون دينار في عام 2023.\n").document.save(path)
    (line,) = [line for block in parsing.parse_rendition(path).blocks for line in block.lines]
    assert line.text == "بلغت الأرباح 5678 مليون دينار في عام 2023."
    passage = Passage(document_id=uuid.uuid4(), lines=(line,))
    start = line.text.index("5678")
    ((box,),) = [region.rects for region in quote_boxes.locate(path, passage, start, start + 4)]
    with pymupdf.open(path) as document:
        (drawn,) = document[0].search_for("5678")
    assert abs(box.x0 - drawn.x0) < 1
    assert abs(box.x1 - drawn.x1) < 1


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (r"Europe 2024: \255127", "Europe 2024: -127"),
        (r"The part 01\2552301\255XXX", "The part 01-2301-XXX"),
        (r"The light\255", "The light\u00ad"),
    ],
)
def test_a_soft_hyphen_that_is_drawn_in_a_line_is_a_hyphen(tmp_path: Path, drawn: str, text: str) -> None:
    font = standard("Helvetica", "/Encoding/WinAnsiEncoding/ToUnicode MAPPED")
    document = with_font(font, "", table="<AD> <00AD>")
    document.update_stream(document[0].get_contents()[0], f"BT /F2 11 Tf 72 700 Td ({drawn}) Tj ET".encode())
    assert line_of(tmp_path, document) == text


@pytest.mark.parametrize("drawn", ["", "Profit fell to "])
def test_a_minus_that_is_drawn_as_a_bar_is_read(tmp_path: Path, drawn: str) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, drawn)
    x = 72 + pymupdf.get_text_length(drawn, fontsize=11)
    page.draw_rect(pymupdf.Rect(x, 96.5, x + 6, 97.1), fill=(0, 0, 0), color=None)
    pdfs.write(page, x + 7, 100, "12.5 percent")
    assert line_of(tmp_path, document) == f"{drawn}−12.5 percent"


def test_a_bar_that_strikes_out_a_figure_is_no_minus(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, "The rate is")
    pdfs.write(page, 130, 100, "5")
    page.draw_rect(pymupdf.Rect(130, 96.5, 136.1, 97.1), fill=(0, 0, 0), color=None)
    pdfs.write(page, 136.2, 100, "6")
    pdfs.write(page, 146, 100, "percent.")
    assert "−" not in line_of(tmp_path, document)


def test_dashes_of_a_line_are_no_minus(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, "Page")
    for x in range(110, 180, 9):
        page.draw_rect(pymupdf.Rect(x, 96.5, x + 6, 97.1), fill=(0, 0, 0), color=None)
    pdfs.write(page, 181, 100, "12")
    assert "−" not in line_of(tmp_path, document)


def test_a_soft_hyphen_that_is_not_drawn_is_left_out() -> None:
    blocks = visual("light\u00adhouse")
    for char in blocks[0]["lines"][0]["spans"][0]["chars"][6:]:
        x0, y0, x1, y1 = char["bbox"]
        char |= {"bbox": (x0 - 5, y0, x1 - 5, y1), "origin": (x0 - 5, y1)}
    assert corrected(blocks) == ["lighthouse"]


def test_a_bullet_is_apart_from_its_text(tmp_path: Path) -> None:
    document = with_font(standard("ZapfDingbats"), "6C")
    contents = document[0].get_contents()[0]
    document.update_stream(
        contents, b"BT /F2 8 Tf 72 700 Td (l) Tj ET BT /F1 11 Tf 86 700 Td (The excess is 500 euro.) Tj ET"
    )
    assert line_of(tmp_path, document) == "● The excess is 500 euro."
