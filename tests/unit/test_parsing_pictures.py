"""Words in pictures of pages that have text of their own."""

import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag import parsing
from rag.parsing.ocr import pictures
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.text_runs import Direction, page_content
from rag.types import BlockKind, Line, ParsedDocument, ParsingConfig, Passage, Rect
from tests import pdfs


def read(
    folder: Path, content: bytes, settings: Mapping[str, object] | None = None, *, again: bool = True
) -> ParsedDocument:
    """`again` is the second reading, with pictures."""
    source = folder / "source.pdf"
    source.write_bytes(content)
    config = ParsingConfig.model_validate({"ocr_language": "eng", **(settings or {})})
    return parsing.read_file(source, name="a.pdf", rendition=folder / "rendition.pdf", config=config, pictures=again)


def drawn(document: ParsedDocument) -> list[Line]:
    return [line for block in document.blocks if block.kind is BlockKind.PICTURE for line in block.lines]


def test_the_first_reading_tells_where_pictures_are_and_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    document = read(tmp_path, content := pdfs.charts(), again=False)
    assert document.picture_pages == (1,)
    assert drawn(document) == []
    assert (tmp_path / "rendition.pdf").read_bytes() == content


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_words_of_a_chart_are_lines_where_they_are_seen(tmp_path: Path, rotation: int) -> None:
    document = read(tmp_path, pdfs.charts(rotation))
    assert document.picture_pages == ()
    lines = drawn(document)
    assert [line.text for line in lines] == list(pdfs.CHART)
    passage = Passage(document_id=uuid.uuid4(), lines=tuple(lines))
    start = passage.text.index("Ostrand")
    ((box,),) = (r.rects for r in parsing.locate(tmp_path / "rendition.pdf", passage, start, start + 7))
    x, y = pdfs.CHART["Ostrand 1730"]
    assert box.x0 == pytest.approx(100 + x, abs=2)
    assert box.y0 < 300 + y - 18 < box.y1 < 300 + y - 8


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("origin", [(0, 0), (100, 200), (-300, -400)])
@pytest.mark.parametrize("unit", [1, 2])
def test_a_layer_is_where_it_is_to_be_displayed(rotation: int, origin: tuple[float, float], unit: int) -> None:
    content = pdfs.moved(pdfs.turned(rotation, crop=(40, 30, 560, 560)), *origin, user_unit=unit)
    with pymupdf.open(stream=content) as document, pymupdf.open() as layer:
        layer.new_page(width=200, height=40).insert_text((10, 30), "Recognised", fontsize=20)
        pictures.insert_text_layer(document[0], layer, Rect(300, 350, 500, 390))
        pieces, *_ = page_content(document[0])
    (piece,) = [piece for piece in pieces if piece.text == "Recognised"]
    assert piece.direction is Direction.RIGHT
    assert piece.bbox.x0 == pytest.approx(310, abs=0.1)
    assert piece.bbox.y0 < 365
    assert piece.bbox.y1 > 380


def test_the_text_around_stays_as_it_was(tmp_path: Path) -> None:
    before = read(tmp_path, pdfs.charts(pages=2), again=False)
    after = read(tmp_path, pdfs.charts(pages=2))
    own = [block.text for block in after.blocks if block.kind is not BlockKind.PICTURE]
    assert own == [block.text for block in before.blocks]
    assert parsing.page_image(tmp_path / "rendition.pdf", 1) == parsing.page_image(tmp_path / "source.pdf", 1)


@pytest.mark.parametrize(
    "content",
    [pdfs.charts(pages=3, logo=True), pdfs.charts(icon=True), pdfs.recognised_before()],
    ids=["logo", "icon", "recognised before"],
)
def test_pictures_that_are_not_worth_reading(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content, again=False).picture_pages == ()
    assert drawn(read(tmp_path, content)) == []


def test_a_logo_on_two_pages_may_be_a_figure(tmp_path: Path) -> None:
    assert read(tmp_path, pdfs.charts(pages=2, logo=True), again=False).picture_pages == (1, 2)


def test_text_over_a_picture_is_not_read_a_second_time(tmp_path: Path) -> None:
    with pymupdf.open(stream=pdfs.charts(), filetype="pdf") as document:
        x, y = pdfs.CHART["Velby 960"]
        pdfs.write(document[0], 100 + x, 300 + y - 14, "Velby 960", size=12)
        content = document.tobytes()
    document = read(tmp_path, content)
    assert [line.text for line in drawn(document)] == ["Lindmark 4812", "Ostrand 1730"]
    assert [line.text for block in document.blocks for line in block.lines].count("Velby 960") == 1


@pytest.mark.parametrize("settings", [{"pictures": False}, {"ocr": False}, {"ocr_language": "xyz"}])
def test_switched_off_or_not_installed(tmp_path: Path, settings: dict[str, object]) -> None:
    assert read(tmp_path, pdfs.charts(), settings, again=False).picture_pages == ()
    assert drawn(read(tmp_path, pdfs.charts(), settings)) == []


def test_reading_pictures_again_changes_nothing(tmp_path: Path) -> None:
    once = read(tmp_path, pdfs.charts())
    again = read(tmp_path, (tmp_path / "rendition.pdf").read_bytes())
    assert again == once


def test_strips_of_one_picture_are_read_as_one() -> None:
    strips = [Rect(100, 300 + 20 * n, 500, 320 + 20 * n) for n in range(13)]
    assert pictures.join_touching([*strips[::2], Rect(20, 20, 60, 60), *strips[1::2]]) == [
        Rect(20, 20, 60, 60),
        Rect(100, 300, 500, 560),
    ]


@pytest.mark.parametrize(
    ("text", "is_word"),
    [("Revenue 2019", True), ("14%", True), ("—_~ |", False), ("a ) .", False), ("营收", True), ("| | 1 .", False)],
)
def test_noise_is_no_writing(text: str, is_word: bool) -> None:
    assert pictures.is_word_like(text) is is_word
