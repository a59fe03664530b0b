"""What a PDF has beside the text of its pages: comments, form fields, attached files."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from rag import parsing
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, Line, ParsedDocument, ParsingConfig, Passage, Rect
from tests import pdfs

MB = 1 << 20
PRICE = "The delivery time is six weeks. The price is 88,000 euro."


def read(folder: Path, content: bytes, **settings: int) -> ParsedDocument:
    source, parts = folder / "offer.pdf", folder / "parts"
    source.write_bytes(content)
    parts.mkdir(exist_ok=True)
    return parsing.read_file(
        source, name="offer.pdf", rendition=folder / "r.pdf", config=ParsingConfig(**settings), parts_folder=parts
    )


def lines(document: ParsedDocument, kind: BlockKind | None = None) -> list[Line]:
    return [line for block in document.blocks for line in block.lines if kind in (None, line.kind)]


def texts(document: ParsedDocument, kind: BlockKind | None = None) -> list[str]:
    return [line.text for line in lines(document, kind)]


def offer() -> Any:
    """A page with a sentence, to be commented on."""
    document = pymupdf.open()
    pdfs.write(document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT), 72, 130, PRICE)
    return document


def box_of(page: Any, words: str) -> Any:
    (found,) = page.search_for(words)
    return found


# --- comments ---


def test_comments_say_what_they_are_whose_and_on_which_words(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    note = page.add_text_annot((400, 100), "The price was agreed at 79,000 euro.\nAsk Mr Weber.")
    note.set_info(title="Ann Berg")
    marked = page.add_highlight_annot(box_of(page, "six weeks"))
    marked.set_info(title="Ann Berg", content="Please change to four weeks.")
    page.add_highlight_annot(box_of(page, "delivery"))  # without a note it says nothing
    underlined = page.add_underline_annot(box_of(page, "price"))
    underlined.set_info(content="Net or gross?")
    page.add_caret_annot((300, 400)).set_info(title="Bo", content="plus freight")
    page.add_rect_annot((100, 500, 200, 520)).set_info(content="Sign here.")
    read_document = read(tmp_path, document.tobytes())
    assert texts(read_document, BlockKind.NOTE) == [
        "Comment (Ann Berg): The price was agreed at 79,000 euro.",
        "Ask Mr Weber.",
        "Highlight (Ann Berg) on “six weeks”: Please change to four weeks.",
        "Underline on “price”: Net or gross?",
        "Insertion (Bo): plus freight",
        "Comment: Sign here.",
    ]
    assert texts(read_document, BlockKind.TEXT) == [PRICE]
    assert read_document.completeness is not None
    assert read_document.completeness.is_complete


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("unit", [1, 2])
def test_a_comment_is_cited_at_its_place(tmp_path: Path, rotation: int, unit: int) -> None:
    with pymupdf.open(stream=pdfs.turned(rotation)) as document:
        page = document[0]
        page.add_highlight_annot(page.search_for("14 percent")[0]).set_info(content="Check this.")
        content = pdfs.moved(document.tobytes(), 0, 0, user_unit=unit)
    document = read(tmp_path, content)
    (line,) = lines(document, BlockKind.NOTE)
    assert line.text == "Highlight on “14 percent”: Check this."
    words = Passage(document_id=uuid.uuid4(), lines=tuple(lines(document)))
    start = words.text.index("14 percent")
    ((printed,),) = (region.rects for region in parsing.locate(tmp_path / "r.pdf", words, start, start + 10))
    assert line.bbox == pytest.approx(printed, abs=2 * unit)
    start = words.text.index("Check")
    assert parsing.locate(tmp_path / "r.pdf", words, start, start + 5)[0].rects == (line.bbox,)


def test_replies_follow_what_they_reply_to(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    first = page.add_text_annot((400, 100), "Is this right?")
    page.add_text_annot((400, 300), "Another comment.")
    reply = page.add_text_annot((400, 100), "Yes, since May.")
    reply.set_info(title="Bo")
    second = page.add_text_annot((400, 100), "Thanks.")
    for answer, asked in ((reply, first), (second, reply)):
        answer.set_irt_xref(asked.xref)
        document.xref_set_key(answer.xref, "F", "30")  # hidden on the page, shown below what it replies to
    assert texts(read(tmp_path, document.tobytes()), BlockKind.NOTE) == [
        "Comment: Is this right?",
        "Reply (Bo): Yes, since May.",
        "Reply: Thanks.",
        "Comment: Another comment.",
    ]


def test_hidden_comments_are_not_read_and_comments_beyond_the_page_are_at_its_edge(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    document.xref_set_key(page.add_text_annot((400, 100), "Nobody sees it.").xref, "F", "2")
    page.add_text_annot((700, 100), "Beside the page.")
    (line,) = lines(read(tmp_path, document.tobytes()), BlockKind.NOTE)
    assert line.text == "Comment: Beside the page."
    assert line.bbox.x1 == pdfs.WIDTH
    assert line.bbox.x0 < line.bbox.x1


def test_typed_comments_are_notes_and_what_is_typed_into_a_page_is_its_text(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    page.add_freetext_annot((72, 200, 400, 230), "Payment after delivery.")
    typed = page.add_freetext_annot((72, 300, 400, 330), "Filled in: Gothenburg")
    document.xref_set_key(typed.xref, "IT", "/FreeTextTypewriter")
    found = read(tmp_path, document.tobytes())
    assert texts(found, BlockKind.NOTE) == ["Comment: Payment after delivery."]
    assert texts(found, BlockKind.TEXT) == [PRICE, "Filled in: Gothenburg"]


def test_icons_hide_no_text_and_boxes_over_text_do(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    page.add_text_annot(box_of(page, "delivery").tl, "About the time.")
    cover = page.add_rect_annot(box_of(page, "88,000 euro."))
    cover.set_colors(stroke=(1, 1, 1), fill=(1, 1, 1))
    cover.update()
    found = read(tmp_path, document.tobytes())
    assert texts(found, BlockKind.NOTE) == ["Comment: About the time."]
    assert texts(found, BlockKind.HIDDEN) == ["88,000 euro."]
    assert texts(found, BlockKind.TEXT) == ["The delivery time is six weeks. The price is"]


def test_words_with_a_strikeout_are_struck(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    page.add_strikeout_annot(box_of(page, "88,000 euro")).set_info(content="Now 79,000.")
    found = read(tmp_path, document.tobytes())
    assert texts(found, BlockKind.STRUCK) == ["88,000 euro"]
    assert texts(found, BlockKind.NOTE) == ["Strikeout on “88,000 euro”: Now 79,000."]
    assert "88,000" not in " ".join(texts(found, BlockKind.TEXT))


def test_the_target_of_a_link_is_no_text(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    page.insert_link({"kind": pymupdf.LINK_URI, "from": box_of(page, "price"), "uri": "https://example.org/prices"})
    assert texts(read(tmp_path, document.tobytes())) == [PRICE]


def test_redactions_that_were_not_applied_are_told(tmp_path: Path) -> None:
    document = offer()
    page = document[0]
    page.add_redact_annot(box_of(page, "88,000 euro"), fill=(0, 0, 0))
    found = read(tmp_path, document.tobytes())
    assert found.note is not None
    assert "redactions that were not applied" in found.note
    assert " ".join(texts(found)) == PRICE
    page.apply_redactions()
    applied = read(tmp_path, document.tobytes())
    assert applied.note is None
    assert "88,000" not in " ".join(texts(applied))


# --- form fields ---


def objects(*entries: str) -> bytes:
    """A PDF of these objects, the first of them its catalog."""
    numbered = [f"{number} 0 obj\n{entry}\nendobj\n" for number, entry in enumerate(entries, start=1)]
    return ("%PDF-1.7\n" + "".join(numbered) + f"trailer<</Root 1 0 R/Size {len(entries) + 1}>>\n").encode("latin-1")


def stream(content: str, entries: str = "") -> str:
    return f"<<{entries}/Length {len(content)}>>\nstream\n{content}\nendstream"


FIELDS = (
    ("Applicant", "/FT/Tx/V(Petra Olsen)", "Petra Olsen"),
    ("Fire cover", "/FT/Btn/V/Yes/AS/Yes", "☒"),
    ("Flood cover", "/FT/Btn/V/Off/AS/Off", "☐"),
    ("Theft cover", "/FT/Btn/V/Ja/AS/Ja/AP<</N<</Ja 5 0 R/Off 5 0 R>>>>", "☒"),
    ("Storm cover", "/FT/Btn/AP<</N<</Ja 5 0 R/Off 5 0 R>>>>", "☐"),
    ("Yearly", "/FT/Btn/Ff 49152/V/B/AS/B/AP<</N<</B 5 0 R/Off 5 0 R>>>>", "☒"),
    ("Payment", "/FT/Ch/Ff 131072/V(y)/Opt[[(m)(monthly)][(y)(yearly)]]", "yearly"),
    ("Countries", "/FT/Ch/Ff 2097152/V[(s)(n)]/Opt[[(s)(Sweden)][(n)(Norway)][(d)(Denmark)]]", "Sweden Norway"),
    ("Policy", "/FT/Tx/Ff 16777216/MaxLen 8/V(8812)", "8812"),
    ("Remarks", "/FT/Tx/V(Two engines.)/AP<</N 5 0 R>>", "Two engines."),
    ("Secret", "/FT/Tx/Ff 8192/V(sesame)", "******"),
    ("Hidden", "/FT/Tx/F 2/V(unseen)", ""),
    ("Empty", "/FT/Tx", ""),
)
FIELD_X, FIELD_STEP = 220, 34


def form(*, needs_appearances: bool = False, rotation: int = 0, with_symbol: bool = False) -> bytes:
    """A form with `FIELDS` below each other; `with_symbol` draws their states as a letter of a symbol font."""
    labels = "".join(f"1 0 0 1 72 {730 - FIELD_STEP * n} Tm ({label}) Tj " for n, (label, *_) in enumerate(FIELDS))
    symbol = stream(
        "BT /ZaDb 11 Tf 2 2 Td (4) Tj ET" if with_symbol else "",
        "/Type/XObject/Subtype/Form/BBox[0 0 14 14]"
        "/Resources<</Font<</ZaDb<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>>>>>",
    )
    first = 7
    references = " ".join(f"{first + n} 0 R" for n in range(len(FIELDS)))
    widgets = [
        f"<</Type/Annot/Subtype/Widget/P 3 0 R/T(f{n})/DA(/Helv 11 Tf 0 g)"
        f"/Rect[{FIELD_X} {726 - FIELD_STEP * n} {FIELD_X + (14 if '/Btn' in entries else 200)} {740 - FIELD_STEP * n}]"
        f"{'' if '/F 2' in entries else '/F 4'}{entries}>>"
        for n, (_, entries, _) in enumerate(FIELDS)
    ]
    return objects(
        f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{references}]/DA(/Helv 0 Tf 0 g)/DR<</Font<</Helv 6 0 R>>>>"
        f"/NeedAppearances {str(needs_appearances).lower()}>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Rotate {rotation}/Contents 4 0 R"
        f"/Resources<</Font<</F1 6 0 R>>>>/Annots[{references}]>>",
        stream(f"BT /F1 11 Tf {labels}ET"),
        symbol,
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        *widgets,
    )


@pytest.mark.parametrize("needs_appearances", [False, True])
@pytest.mark.parametrize("with_symbol", [False, True])
def test_fields_are_read_by_their_state(tmp_path: Path, needs_appearances: bool, with_symbol: bool) -> None:
    document = read(tmp_path, form(needs_appearances=needs_appearances, with_symbol=with_symbol))
    words = " ".join(" ".join(texts(document)).split())
    if with_symbol:
        words = words.replace("Remarks 4", "Remarks Two engines.").replace("Remarks ✔", "Remarks Two engines.")
    assert words == " ".join(f"{label} {shown}".strip() for label, _, shown in FIELDS)
    assert document.completeness is not None
    assert document.completeness.is_complete


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_tick_is_where_its_box_is(tmp_path: Path, rotation: int) -> None:
    document = read(tmp_path, form(rotation=rotation))
    passage = Passage(document_id=uuid.uuid4(), lines=tuple(lines(document)))
    start = passage.text.index("☒", passage.text.index("Fire"))
    (region,) = parsing.locate(tmp_path / "r.pdf", passage, start, start + 1)
    upright = pymupdf.Rect(FIELD_X, 792 - 740 + FIELD_STEP, FIELD_X + 14, 792 - 726 + FIELD_STEP)
    turned = {
        0: upright,
        90: pymupdf.Rect(792 - upright.y1, upright.x0, 792 - upright.y0, upright.x1),
        180: pymupdf.Rect(612 - upright.x1, 792 - upright.y1, 612 - upright.x0, 792 - upright.y0),
        270: pymupdf.Rect(upright.y0, 612 - upright.x1, upright.y1, 612 - upright.x0),
    }[rotation]
    assert region.rects == (Rect(*turned),)


def test_a_formatted_value_is_read_as_it_is_drawn(tmp_path: Path) -> None:
    drawn = stream("BT /Helv 11 Tf 2 2 Td (1,234.50 euro) Tj ET", "/Type/XObject/Subtype/Form/BBox[0 0 200 20]"
        "/Resources<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>")  # fmt: skip
    content = objects(
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Annots[4 0 R]>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/F 4/T(sum)/V(1234.5)/Rect[100 600 300 620]/AP<</N 5 0 R>>>>",
        drawn,
    )
    assert texts(read(tmp_path, content)) == ["1,234.50 euro"]


def test_a_dynamic_form_says_that_it_is_not_read(tmp_path: Path) -> None:
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    pages = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    for number, (catalog, shown, is_told) in enumerate(
        (
            ("/NeedsRendering true/AcroForm<</Fields[]/XFA 6 0 R>>", "Loading", True),
            ("/AcroForm<</Fields[]/XFA 6 0 R>>", "Please wait...", True),
            ("/AcroForm<</Fields[]/XFA 6 0 R>>", "Name of the applicant", False),
            ("/AcroForm<</Fields[]>>", "Please wait...", False),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        words = stream(f"BT /F1 11 Tf 72 700 Td ({shown}) Tj ET")
        content = objects(f"<</Type/Catalog/Pages 2 0 R{catalog}>>", pages, page, words, font, stream("<xdp/>"))
        assert ("dynamic XFA form" in (read(folder, content).note or "")) is is_told


# --- attached files ---


def specification(name: str, number: int) -> str:
    return f"<</Type/Filespec/F({name})/UF({name})/EF<</F {number} 0 R>>>>"


def with_files(*, collection: str = "", cover: str = "See the attached files.") -> bytes:
    """A PDF with a file in its tree of names, one attached to its page, one of the document and one of the page."""
    return objects(
        f"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Kids[8 0 R]>>>>/AF[12 0 R 9 0 R]{collection}>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>"
        "/Annots[6 0 R]/AF[13 0 R]>>",
        stream(f"BT /F1 11 Tf 72 700 Td ({cover}) Tj ET"),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Type/Annot/Subtype/FileAttachment/Rect[300 700 316 716]/Contents(Costs of 2024)"
        f"/FS{specification('costs.csv', 7)}>>",
        stream("Item,Cost\nDredging,730000\n", "/Type/EmbeddedFile"),
        "<</Limits[(a)(z)]/Names[(prices)9 0 R(outside)<</Type/Filespec/F(outside.txt)>>]>>",
        specification("../prices.txt", 10),
        stream("A pump costs 1,250 euro.", "/Type/EmbeddedFile"),
        stream("The terms are net 30 days.", "/Type/EmbeddedFile"),
        specification("terms.txt", 11),
        specification("program.exe", 14),
        stream("MZ\x00\x01\x02\x03", "/Type/EmbeddedFile"),
    )


def test_attached_files_are_taken_out_once_each(tmp_path: Path) -> None:
    document = read(tmp_path, with_files())
    assert {part.name: part.reason for part in document.parts} == {
        "prices.txt": None,
        "terms.txt": None,
        "program.exe": "of a kind that cannot be read (a program)",
        "costs.csv": None,
    }
    assert {part.file.read_text() for part in document.parts if part.file} == {
        "A pump costs 1,250 euro.",
        "The terms are net 30 days.",
        "Item,Cost\nDredging,730000\n",
    }
    assert texts(document) == ["See the attached files.", "Attached file: Costs of 2024"]
    assert document.note is None


def test_attached_files_keep_the_limits(tmp_path: Path) -> None:
    document = pymupdf.open(stream=pdfs.plain())
    for number in range(4):
        document.embfile_add(f"{number}.txt", f"text number {number}".encode())
    document.embfile_add("bomb.txt", b"a" * 40 * MB)
    found = read(tmp_path, document.tobytes(deflate=True), max_parts=3)
    assert [part.reason for part in found.parts] == [None] * 3 + ["more than 3 files"] * 2
    found = read(tmp_path, document.tobytes(deflate=True), max_parts_mb=1)
    assert [part.reason for part in found.parts] == [None] * 4 + ["more than 1 MB unpacked"]


def test_a_damaged_attachment_is_told(tmp_path: Path) -> None:
    content = with_files().replace(b"/EF<</F 7 0 R>>", b"/EF<</F 5 0 R>>")
    assert "costs.csv" not in [part.name for part in read(tmp_path, content).parts]


@pytest.mark.parametrize("cover", ["Open this portfolio in another program.", ""])
def test_a_portfolio_says_that_its_page_is_only_a_cover(tmp_path: Path, cover: str) -> None:
    document = read(tmp_path, with_files(collection="/Collection<</View/T>>", cover=cover))
    assert document.note is not None
    assert document.note.startswith("It is a PDF portfolio")
    assert len(document.parts) == 4
    listed = [line.text for line in lines(document) if line.page_number == 2]
    assert listed[0] == "Attached files"
    assert any(line.startswith("prices.txt") and line.endswith("a document of its own") for line in listed)
    again = read(tmp_path, (tmp_path / "r.pdf").read_bytes())
    assert (texts(again), len(again.pages)) == (texts(document), 2)


def test_files_in_a_pdf_without_text_are_read(tmp_path: Path) -> None:
    found = texts(read(tmp_path, with_files(cover="")))
    assert found[:2] == ["Attached file: Costs of 2024", "Attached files"]


# --- text drawn twice ---


@pytest.mark.parametrize("shift", [(0, 0), (0.3, 0), (0.8, 0.8), (1.5, 1.5)])
def test_text_drawn_twice_is_not_missing(tmp_path: Path, shift: tuple[float, float]) -> None:
    document = pymupdf.open(stream=pdfs.plain())
    for index, sentence in enumerate(pdfs.SENTENCES):
        pdfs.write(document[0], 72 + shift[0], 100 + 16 * index + shift[1], sentence)
    found = read(tmp_path, document.tobytes())
    assert texts(found) == list(pdfs.SENTENCES)
    assert found.completeness is not None
    assert found.completeness.is_complete
    assert found.completeness.missing == ()
