"""Presentations: every slide is one page, and none of its text is lost."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Inches, Pt

from rag import parsing
from rag.parsing import completeness, conversion, file_types
from rag.parsing.html.layout import MAX_SIDE_PT
from rag.parsing.office import charts
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.parsing.slides import powerpoint
from rag.parsing.slides.convert import add_notes
from rag.types import BlockKind, ParsedDocument, ParsingConfig
from tests import offices, pdfs

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
BUILTIN = ParsingConfig(office="builtin")
WIDTH, HEIGHT = 720, 540
"""Slides of python-pptx's default template have this size in points."""


def convert(folder: Path, content: bytes, kind: str = file_types.PPTX) -> conversion.Conversion:
    return offices.convert(folder, content, kind, BUILTIN)


def deck() -> tuple[Any, Any]:
    """A presentation and its only slide, which is empty."""
    presentation = pptx.Presentation()
    return presentation, presentation.slides.add_slide(presentation.slide_layouts[6])


def table_of(document: Any, index: int) -> list[str]:
    """The rows of the only table on a page, as our parser finds them by its grid: MuPDF's own search depends on what
    else was imported."""
    (table,) = [block for block in parse_page(document, index).blocks if block.kind is BlockKind.TABLE]
    return [line.text for line in table.lines]


def saved(presentation: Any) -> bytes:
    content = io.BytesIO()
    presentation.save(content)
    return content.getvalue()


def read(folder: Path, content: bytes) -> ParsedDocument:
    (folder / "source").write_bytes(content)
    return parsing.read_file(folder / "source", name="a.pptx", rendition=folder / "rendition.pdf", config=BUILTIN)


def missing(converted: conversion.Conversion) -> list[str]:
    found = completeness.measure(converted.texts, [page.get_text() for page in converted.document])
    return [place.text for place in found.missing]


def box(page: Any, words: str) -> Any:
    (found,) = page.search_for(words)
    return found


def test_a_slide_is_read_in_the_order_of_its_shapes_with_the_title_first(tmp_path: Path) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "First"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "Grouped"
    slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "Last"
    title = slide.shapes.title
    title.text_frame.text = "Harbour"
    slide.shapes._spTree.append(title._element)
    page = parse_page(convert(tmp_path, saved(presentation)).document, 0)
    assert [line.text for block in page.blocks for line in block.lines] == ["Harbour", "First", "Grouped", "Last"]
    assert page.blocks[0].size > page.blocks[-1].size


def test_paragraphs_of_placeholders_have_bullets_and_numbered_ones_numbers(tmp_path: Path) -> None:
    presentation, slide = deck()
    frame = slide.shapes.add_textbox(0, 0, Inches(4), Inches(2)).text_frame
    frame.text = "One\nTwo"
    for paragraph in frame.paragraphs:
        properties = paragraph._p.get_or_add_pPr()
        properties.append(properties.makeelement(f"{{{properties.nsmap['a']}}}buAutoNum", {"type": "arabicPeriod"}))
    assert convert(tmp_path, saved(presentation)).document[0].get_text().split() == ["1.", "One", "2.", "Two"]
    bulleted = convert(tmp_path, pdfs.presentation()).document[0]
    bullet = box(bulleted, "Quays were widened")
    assert "•" in bulleted.get_textbox(pymupdf.Rect(0, bullet.y0, bullet.x0, bullet.y1))


def test_text_of_the_master_is_there(tmp_path: Path) -> None:
    presentation, slide = deck()
    shape = slide.shapes.add_textbox(0, 0, Inches(4), Inches(1))
    shape.text_frame.text = "Harbour Board, secret"
    presentation.slide_master.element.find("{*}cSld/{*}spTree").append(shape._element)
    content = saved(presentation)
    assert "Harbour Board, secret" in convert(tmp_path, content).document[0].get_text()
    slide.element.set("showMasterSp", "0")
    assert "secret" not in convert(tmp_path, saved(presentation)).document[0].get_text()


def test_notes_stand_below_the_slide(tmp_path: Path) -> None:
    document = convert(tmp_path, pdfs.presentation()).document
    assert document.page_count == 3
    assert box(document[0], "Remember the harbour.").y0 > box(document[0], "Quays were widened").y1
    assert document[1].rect.br == (WIDTH, HEIGHT)


def test_a_page_grows_with_its_slide_and_is_scaled_down_at_the_limit_of_pdf(tmp_path: Path) -> None:
    presentation, slide = deck()
    frame = slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame
    heights = []
    for count in (100, 2000):
        frame.text = "\n".join(f"Line {number} of many." for number in range(count))
        converted = convert(tmp_path, saved(presentation))
        assert missing(converted) == []
        page = converted.document[0]
        assert all(page.rect.contains(pymupdf.Rect(word[:4])) for word in page.get_text("words"))
        heights.append(page.rect.height)
    assert HEIGHT < heights[0] < heights[1] <= MAX_SIDE_PT


def test_a_table_has_a_grid(tmp_path: Path) -> None:
    converted = convert(tmp_path, pdfs.presentation())
    assert table_of(converted.document, 1) == ["Year\tShips", "2024\t1,812"]
    assert missing(converted) == []


def test_a_merged_cell_is_one(tmp_path: Path) -> None:
    presentation, slide = deck()
    grid = slide.shapes.add_table(3, 2, Inches(1), Inches(1), Inches(6), Inches(2)).table
    grid.cell(0, 0).merge(grid.cell(0, 1))
    grid.cell(0, 0).text = "Over both"
    for row in (1, 2):
        for column in (0, 1):
            grid.cell(row, column).text = f"Cell {row} {column}"
    converted = convert(tmp_path, saved(presentation))
    assert table_of(converted.document, 0)[1:] == ["Cell 1 0\tCell 1 1", "Cell 2 0\tCell 2 1"]
    assert missing(converted) == []


def test_a_chart_is_a_table_of_its_data(tmp_path: Path) -> None:
    presentation, slide = deck()
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["North", "South"]
    data.add_series("Units", (0.1 + 0.2, 95))  # type: ignore[no-untyped-call]
    place = Inches(1), Inches(1), Inches(6), Inches(4)
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    converted = convert(tmp_path, saved(presentation))
    (block,) = parse_page(converted.document, 0).blocks
    assert [line.text.split() for line in block.lines] == [["Units"], ["North", "0.3"], ["South", "95"]]


def test_pictures_are_shown(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_picture(io.BytesIO(offices.picture()), Inches(2), Inches(3), Inches(4), Inches(3))
    (info,) = convert(tmp_path, saved(presentation)).document[0].get_image_info()
    left, top, right, bottom = info["bbox"]
    assert (right - left, bottom - top) == pytest.approx((288, 216), abs=1)


def test_a_picture_that_cannot_be_shown_is_described(tmp_path: Path) -> None:
    presentation, slide = deck()
    picture = slide.shapes.add_picture(io.BytesIO(offices.picture()), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "A crane")
    picture.part.related_part(picture._element.blip_rId)._blob = b"no picture"
    assert "A crane" in convert(tmp_path, saved(presentation)).document[0].get_text()


def test_a_hidden_slide_is_there(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = "Not for the audience"
    slide.element.set("show", "0")
    assert "Not for the audience" in convert(tmp_path, saved(presentation)).document[0].get_text()


def test_a_show_is_a_presentation_too(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = "A show"
    show = "application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml"
    usual = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    with zipfile.ZipFile(io.BytesIO(saved(presentation))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    types = parts["[Content_Types].xml"].decode().replace(usual, show)
    assert show in types
    content = offices.archive({**parts, "[Content_Types].xml": types})
    assert "A show" in convert(tmp_path, content).document[0].get_text()


def test_an_open_presentation_has_a_page_for_each_slide(tmp_path: Path) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    rows = "".join(
        f"<table:table-row>{''.join(cell.format(one) for one in row)}</table:table-row>" for row in pdfs.TABLE
    )
    notes = "<presentation:notes>" + offices.frame("<draw:text-box><text:p>Say it loud.</text:p></draw:text-box>")
    image = offices.frame('<draw:image xlink:href="Pictures/a.png"/>', x=20, y=10, width=4, height=3)
    content = offices.odp(
        offices.frame("<draw:text-box><text:p>Harbour Review</text:p></draw:text-box>", x=3, y=5)
        + image
        + f"{notes}</presentation:notes>",
        offices.frame(f"<table:table>{rows}</table:table>", height=10),
        others={"Pictures/a.png": offices.picture()},
    )
    (tmp_path / "a.odp").write_bytes(content)
    assert parsing.detect_mime_type(tmp_path / "a.odp", "a") == file_types.ODP
    converted = convert(tmp_path, content, file_types.ODP)
    first = converted.document[0]
    assert missing(converted) == []
    assert first.rect.height / first.rect.width == pytest.approx(21 / 28, abs=0.01)
    assert box(first, "Say it loud.").y0 > box(first, "Harbour Review").y1
    assert len(first.get_image_info()) == 1
    assert table_of(converted.document, 1) == ["\t".join(row) for row in pdfs.TABLE]


def test_notes_and_missing_texts_are_added_to_slides_of_another_program(tmp_path: Path) -> None:
    (tmp_path / "deck.pptx").write_bytes(pdfs.presentation())
    deck = powerpoint.read(tmp_path / "deck.pptx")
    drawn = pymupdf.open()
    for slide in deck.slides:
        drawn.new_page(width=WIDTH, height=HEIGHT).insert_text((72, 72), "".join(slide.texts[:1]))
    document = add_notes(drawn, deck)
    assert document.page_count == 3
    assert box(document[0], "Outlook").y1 < 100
    for words in ("Remember the harbour.", "Quays were widened"):
        assert box(document[0], words).y0 > HEIGHT
    assert document[2].rect.br == (WIDTH, HEIGHT)
    texts = [page.get_text() for page in document]
    assert completeness.measure(deck.source_texts(), texts).is_complete


def test_raised_and_struck_out_text_and_kinds_of_numbers(tmp_path: Path) -> None:
    presentation, slide = deck()
    frame = slide.shapes.add_textbox(0, 0, Inches(6), Inches(3)).text_frame
    for texts in (
        [("Sales 812", {}), ("4", {"baseline": "30000"}), (" million", {})],
        [("Old 5", {"strike": "sngStrike"})],
    ):
        paragraph = frame.add_paragraph()
        for words, look in texts:
            run = paragraph.add_run()
            run.text = words
            for name, value in look.items():
                run._r.get_or_add_rPr().set(name, value)
    for kind, start in (
        ("alphaLcParenBoth", "3"),
        ("alphaLcParenBoth", "3"),
        ("romanUcPeriod", ""),
        ("arabicPlain", "9"),
    ):
        paragraph = frame.add_paragraph()
        paragraph.text = "Item"
        number = etree.SubElement(paragraph._p.get_or_add_pPr(), f"{DRAWING}buAutoNum", {"type": kind})
        number.set("startAt", start) if start else None
    blocks = read(tmp_path, saved(presentation)).blocks
    text = [line.text for block in blocks if block.kind is BlockKind.TEXT for line in block.lines]
    assert text == ["Sales 812⁴ million", "(c) Item", "(d) Item", "I. Item", "9 Item"]
    assert [block.text for block in blocks if block.kind is BlockKind.STRUCK] == ["Old 5"]


def test_a_hidden_shape_is_no_text_of_the_slide(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "Seen"
    secret = slide.shapes.add_textbox(0, 0, 99, 99)
    secret.text_frame.text = "Secret"
    secret._element.nvSpPr.cNvPr.set("hidden", "1")
    document = read(tmp_path, saved(presentation))
    kinds = {block.text: block.kind for block in document.blocks}
    assert kinds["Seen"] is not BlockKind.HIDDEN
    assert kinds["Secret"] is BlockKind.HIDDEN
    assert document.completeness is not None
    assert document.completeness.missing == ()


def test_white_tiny_and_distant_text_is_hidden_unless_it_stands_on_something(tmp_path: Path) -> None:
    presentation, slide = deck()
    boxes = {"White": (1, 1), "Tiny": (1, 2), "Away": (40, 1), "On a bar": (1, 4), "Black": (1, 5)}
    bar = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(1), Inches(4), Inches(2), Inches(1))
    bar.fill.solid()
    bar.fill.fore_color.theme_color = MSO_THEME_COLOR.TEXT_1
    for text, (x, y) in boxes.items():
        shape = slide.shapes.add_textbox(Inches(x), Inches(y), Inches(2), Inches(0.5))
        shape.text_frame.text = text
        font = shape.text_frame.paragraphs[0].runs[0].font
        if text in {"White", "On a bar"}:
            font.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1
        if text == "Tiny":
            font.size = Pt(1)
    document = read(tmp_path, saved(presentation))
    hidden = {line.text for block in document.blocks if block.kind is BlockKind.HIDDEN for line in block.lines}
    assert hidden & {*boxes} == {"White", "Tiny", "Away"}
    assert document.completeness is not None
    assert document.completeness.missing == ()


def test_embedded_files_are_parts(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "See the letter."
    slide.shapes.add_ole_object(io.BytesIO(pdfs.word_document()), "Word.Document.12", 0, 0)
    assert [part.reason for part in read(tmp_path, saved(presentation)).parts] == [None]


@pytest.mark.parametrize("backslashes", [False, True])
def test_the_names_of_parts_and_the_variant_of_the_format_do_not_matter(tmp_path: Path, backslashes: bool) -> None:
    presentation, slide = deck()
    slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "Here"
    other = {"presentation.xml": "show.xml"}
    content = offices.rewritten(offices.strict(saved(presentation)), other, backslashes=backslashes)
    (tmp_path / "a").write_bytes(content)
    assert parsing.detect_mime_type(tmp_path / "a", "a") == file_types.PPTX
    assert "Here" in convert(tmp_path, content).document[0].get_text()


def test_numbered_lists_of_open_presentations_have_their_numbers(tmp_path: Path) -> None:
    level = "<text:list-level-style-number text:level='1' style:num-format='i' style:num-suffix='.'/>"
    items = "".join(f"<text:list-item><text:p>{words}</text:p></text:list-item>" for words in ("One", "Two"))
    shape = offices.frame(f"<draw:text-box><text:list text:style-name='L'>{items}</text:list></draw:text-box>")
    style = f"<text:list-style style:name='L'>{level}</text:list-style>"
    automatic = {"<office:automatic-styles/>": f"<office:automatic-styles>{style}</office:automatic-styles>"}
    converted = convert(tmp_path, offices.rewritten(offices.odp(shape), automatic), file_types.ODP)
    assert converted.document[0].get_text().split() == ["i.", "One", "ii.", "Two"]


def test_a_newer_chart_is_a_table_of_its_data(tmp_path: Path) -> None:
    points = "".join(f'<cx:pt idx="{index}">{value}</cx:pt>' for index, value in enumerate((12, 7)))
    names = "".join(f'<cx:pt idx="{index}">{name}</cx:pt>' for index, name in enumerate(("Opening", "Sales")))
    root = etree.fromstring(
        f'<cx:chartSpace xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"><cx:chartData>'
        f'<cx:data id="3"><cx:strDim type="cat"><cx:lvl ptCount="2">{names}</cx:lvl></cx:strDim>'
        f'<cx:numDim type="val"><cx:lvl ptCount="2">{points}</cx:lvl></cx:numDim></cx:data></cx:chartData>'
        f"<cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series><cx:tx><cx:txData><cx:v>Cash</cx:v></cx:txData></cx:tx>"
        f'<cx:dataId val="3"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>'
    )
    assert charts.read(root).rows == (("", "Cash"), ("Opening", "12"), ("Sales", "7"))
