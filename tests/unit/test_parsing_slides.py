"""Presentations: every slide is a page that looks like it, and nothing that it says is lost."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import PP_ALIGN
from pptx.util import Emu, Inches, Pt

from rag import errors, parsing
from rag.parsing import completeness, conversion, file_types
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.types import BlockKind, ParsingConfig
from tests import offices, pdfs

BUILTIN = ParsingConfig(office="builtin")
WIDTH, HEIGHT = 720, 540
"""Of python-pptx's own template, in points."""


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


def missing(converted: conversion.Conversion) -> list[str]:
    found = completeness.measure(converted.texts, [page.get_text() for page in converted.document])
    return [place.text for place in found.missing]


def box(page: Any, words: str) -> Any:
    (found,) = page.search_for(words)
    return found


def test_shapes_and_texts_stand_at_their_places(tmp_path: Path) -> None:
    presentation, slide = deck()
    shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(1), Inches(2), Inches(3), Inches(1))
    shape.fill.solid()
    shape.fill.fore_color.rgb = RGBColor(0xFF, 0x80, 0x00)  # type: ignore[no-untyped-call]
    text = slide.shapes.add_textbox(Inches(6), Inches(5), Inches(3), Inches(1)).text_frame
    text.text = "Harbour"
    run = text.paragraphs[0].runs[0]
    run.font.size, run.font.bold = Pt(30), True
    run.font.color.rgb = RGBColor(0, 0, 0xFF)  # type: ignore[no-untyped-call]
    text.paragraphs[0].alignment = PP_ALIGN.RIGHT
    page = convert(tmp_path, saved(presentation)).document[0]
    assert (page.rect.width, page.rect.height) == (WIDTH, HEIGHT)
    assert page.get_pixmap().pixel(72 * 2, 72 * 2 + 36) == (255, 128, 0)
    (span,) = (span for block in page.get_text("dict")["blocks"] for line in block["lines"] for span in line["spans"])
    assert (round(span["size"]), span["color"]) == (30, 0x0000FF)
    assert "Bold" in span["font"]
    where = box(page, "Harbour")
    assert where.x1 == pytest.approx(72 * 9 - 7.2, abs=3)
    assert 72 * 5 - 3 < where.y0 < where.y1 < 72 * 6


def test_a_group_moves_and_scales_what_is_in_it(tmp_path: Path) -> None:
    presentation, slide = deck()
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(0), Inches(0), Inches(4), Inches(2)).text_frame.text = "Grouped"
    group.left, group.top, group.width, group.height = (Emu(Inches(side)) for side in (5, 4, 4, 2))
    where = box(convert(tmp_path, saved(presentation)).document[0], "Grouped")
    assert 72 * 5 < where.x0 < 72 * 5.3
    assert 72 * 4 < where.y0 < 72 * 4.3


def test_placeholders_take_place_and_bullets_from_the_layout(tmp_path: Path) -> None:
    page = convert(tmp_path, pdfs.presentation()).document[0]
    title, bullet = box(page, "Outlook"), box(page, "Quays were widened")
    assert title.y1 < 140 < bullet.y0
    assert "•" in page.get_textbox(pymupdf.Rect(0, bullet.y0, bullet.x0, bullet.y1))


def test_notes_stand_below_the_slide(tmp_path: Path) -> None:
    document = convert(tmp_path, pdfs.presentation()).document
    assert document.page_count == 3
    assert document[0].rect.height > HEIGHT
    assert box(document[0], "Remember the harbour.").y0 > HEIGHT
    assert document[1].rect.height == HEIGHT


def test_a_table_has_a_grid(tmp_path: Path) -> None:
    converted = convert(tmp_path, pdfs.presentation())
    assert table_of(converted.document, 1) == ["Year\tShips", "2024\t1,812"]
    assert missing(converted) == []


def test_a_table_too_high_for_its_slide_loses_no_row(tmp_path: Path) -> None:
    presentation, slide = deck()
    grid = slide.shapes.add_table(40, 2, Inches(1), Inches(1), Inches(6), Inches(12)).table
    for row in range(40):
        grid.cell(row, 0).text = f"Row number {row}"
    converted = convert(tmp_path, saved(presentation))
    assert missing(converted) == []
    page = converted.document[0]
    assert all(box(page, f"Row number {row}").y1 <= page.rect.height for row in range(10, 40))


def test_a_merged_cell_is_one(tmp_path: Path) -> None:
    presentation, slide = deck()
    grid = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(6), Inches(2)).table
    grid.cell(0, 0).merge(grid.cell(0, 1))
    grid.cell(0, 0).text = "Over both"
    page = convert(tmp_path, saved(presentation)).document[0]
    words = box(page, "Over both")
    around = [
        path["rect"].width for path in page.get_drawings() if pymupdf.Point(words.x0 + 5, words.y0 + 5) in path["rect"]
    ]
    assert max(width for width in around if width < WIDTH) == pytest.approx(72 * 6, abs=1)


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
    assert len(converted.document[0].get_drawings()) >= 3


def test_pictures_are_shown(tmp_path: Path) -> None:
    presentation, slide = deck()
    slide.shapes.add_picture(io.BytesIO(offices.picture()), Inches(2), Inches(3), Inches(4), Inches(3))
    (info,) = convert(tmp_path, saved(presentation)).document[0].get_image_info()
    assert info["bbox"] == pytest.approx((144, 216, 432, 432), abs=0.5)


@pytest.mark.parametrize(
    ("left", "top", "width", "height"),
    [(1, 1, 1, 0.3), (-3, 2, 2, 1), (12, 9, 2, 1), (1, 1, 0, 0)],
    ids=["too small", "left of the slide", "beyond the slide", "no size"],
)
def test_text_that_has_no_room_is_not_lost(
    tmp_path: Path, left: float, top: float, width: float, height: float
) -> None:
    presentation, slide = deck()
    frame = slide.shapes.add_textbox(*(Inches(side) for side in (left, top, width, height))).text_frame
    frame.word_wrap = True
    frame.text = "\n".join(pdfs.SENTENCES * 3)
    converted = convert(tmp_path, saved(presentation))
    assert missing(converted) == []
    page = converted.document[0]
    assert all(page.rect.contains(pymupdf.Rect(word[:4])) for word in page.get_text("words"))


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


def test_a_damaged_presentation(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError):
        convert(tmp_path, pdfs.presentation()[:5000])


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
    assert first.rect.width == pytest.approx(28 / 2.54 * 72)
    assert box(first, "Harbour Review").y0 == pytest.approx(5 / 2.54 * 72, abs=15)
    assert box(first, "Say it loud.").y0 > 21 / 2.54 * 72
    assert len(first.get_image_info()) == 1
    assert table_of(converted.document, 1) == ["\t".join(row) for row in pdfs.TABLE]
