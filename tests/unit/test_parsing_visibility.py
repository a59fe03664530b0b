"""What a person does not see, or sees struck out or raised, is read as such."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag import parsing
from rag.parsing.html.text_files import from_html
from rag.parsing.pdf import quote_boxes
from rag.parsing.pdf.character_cleaning import superscript
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, Line, Passage
from tests import pdfs

WHITE = (1, 1, 1)
DOCUMENT_ID = uuid.UUID(int=1)
LINE = "The term is 24 months."


def read(folder: Path, draw: Callable[[Any], object], *, rotation: int = 0) -> dict[BlockKind, list[str]]:
    """Return the lines by kind of a page with `LINE` and what `draw` adds."""
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, LINE)
    draw(page)
    page.set_rotation(rotation)
    return by_kind(parse(folder, pdfs.finish(document)))


def parse(folder: Path, content: bytes) -> list[Line]:
    path = folder / "rendition.pdf"
    path.write_bytes(content)
    return [line for block in parsing.parse_rendition(path).blocks for line in block.lines]


def by_kind(lines: list[Line]) -> dict[BlockKind, list[str]]:
    return {kind: [line.text for line in lines if line.kind is kind] for kind in {line.kind for line in lines}}


def white(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.", color=WHITE)


def pale(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.", color=(0.97, 0.97, 0.97))


def tiny(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.", fontsize=0.5)


def without_ink(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.", render_mode=3)


def transparent(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.", fill_opacity=0.01)


def below_a_bar(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.")
    page.draw_rect((70, 188, 200, 205), color=(0, 0, 0), fill=(0, 0, 0))


def below_white(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.")
    page.draw_rect((70, 188, 200, 205), color=WHITE, fill=WHITE)


def below_a_thick_line(page: Any) -> None:
    page.insert_text((72, 200), "It is 99 months.")
    page.draw_line((70, 196), (200, 196), width=18)


def black_on_black(page: Any) -> None:
    page.draw_rect((70, 188, 200, 205), color=(0, 0, 0), fill=(0, 0, 0))
    page.insert_text((72, 200), "It is 99 months.")


def below_a_bar_with_words(page: Any) -> None:
    below_a_bar(page)
    page.insert_text((72, 200), "REDACTED FOR NOW", color=WHITE)


def without_ink_over_other_words(page: Any) -> None:
    page.insert_text((72, 200), "An ordinary sentence.")
    page.insert_text((72, 200), "It is 99 months.", render_mode=3)


@pytest.mark.parametrize("rotation", [0, 90, 180])
@pytest.mark.parametrize(
    "draw",
    [
        white,
        pale,
        tiny,
        without_ink,
        transparent,
        below_a_bar,
        below_white,
        below_a_thick_line,
        black_on_black,
        below_a_bar_with_words,
        without_ink_over_other_words,
    ],
)
def test_words_that_nobody_sees_are_hidden(tmp_path: Path, draw: Callable[[Any], None], rotation: int) -> None:
    found = read(tmp_path, draw, rotation=rotation)
    assert found[BlockKind.HIDDEN] == ["It is 99 months."]
    assert LINE in [text for kind, texts in found.items() if kind is not BlockKind.HIDDEN for text in texts]


def white_on_a_bar(page: Any) -> None:
    page.draw_rect((70, 188, 200, 205), color=None, fill=(0.1, 0.1, 0.5))
    page.insert_text((72, 200), "It is 12 months.", color=WHITE)


def white_on_a_picture(page: Any) -> None:
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40), False)
    picture.set_rect(picture.irect, (10, 60, 10))
    page.insert_image((60, 180, 300, 220), pixmap=picture, keep_proportion=False)
    page.insert_text((72, 200), "It is 12 months.", color=WHITE)


def in_a_frame(page: Any) -> None:
    page.insert_text((72, 200), "It is 12 months.")
    page.draw_rect((70, 186, 200, 206), color=(0, 0, 0))


def with_a_marker(page: Any) -> None:
    page.insert_text((72, 200), "It is 12 months.")
    page.add_highlight_annot(page.search_for("12 months"))


def beside_an_arrow(page: Any) -> None:
    page.insert_text((72, 200), "It is 12 months.", color=(0.5, 0.5, 0.5))
    corners = ((60, 180), (220, 180), (220, 215), (218, 215), (218, 182), (60, 182))  # a bent line, as a shape
    page.draw_polyline([*corners, corners[0]], color=None, fill=(0, 0, 0))


def below_a_dark_glass(page: Any) -> None:
    page.insert_text((72, 200), "It is 12 months.")
    page.draw_rect((70, 188, 200, 205), color=None, fill=(0, 0, 0), fill_opacity=0.2)


def recognised(page: Any) -> None:
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40), False)
    picture.set_rect(picture.irect, (250, 250, 250))
    page.insert_image((60, 180, 300, 220), pixmap=picture, keep_proportion=False)
    page.insert_text((72, 200), "It is 12 months.", render_mode=3)


@pytest.mark.parametrize(
    "draw",
    [
        white_on_a_bar,
        white_on_a_picture,
        in_a_frame,
        with_a_marker,
        beside_an_arrow,
        below_a_dark_glass,
        recognised,
    ],
)
def test_words_that_are_seen_are_not_hidden(tmp_path: Path, draw: Callable[[Any], None]) -> None:
    found = read(tmp_path, draw)
    assert BlockKind.HIDDEN not in found
    assert "It is 12 months." in [text for texts in found.values() for text in texts]


REDLINE = "Each invoice is due within 30 days 60 days of receipt."


def strike(page: Any) -> None:
    page.insert_text((72, 200), REDLINE)
    box = page.search_for("30 days")[0]
    middle = (box.y0 + box.y1) / 2
    page.draw_line((box.x0, middle), (box.x1, middle), color=(1, 0, 0), width=0.8)


def strike_by_a_thin_box(page: Any) -> None:
    page.insert_text((72, 200), REDLINE)
    box = page.search_for("30 days")[0]
    middle = (box.y0 + box.y1) / 2
    page.draw_rect((box.x0, middle - 0.4, box.x1, middle + 0.4), color=None, fill=(0, 0, 0))


def strike_by_annotation(page: Any) -> None:
    page.insert_text((72, 200), REDLINE)
    page.add_strikeout_annot(page.search_for("30 days"))


@pytest.mark.parametrize("rotation", [0, 270])
@pytest.mark.parametrize("draw", [strike, strike_by_a_thin_box, strike_by_annotation])
def test_struck_out_words_are_apart_from_the_line(tmp_path: Path, draw: Callable[[Any], None], rotation: int) -> None:
    found = read(tmp_path, draw, rotation=rotation)
    assert found[BlockKind.STRUCK] == ["30 days"]
    visible = [text for kind, texts in found.items() if kind is not BlockKind.STRUCK for text in texts]
    assert "Each invoice is due within 60 days of receipt." in visible


def underline(page: Any) -> None:
    page.insert_text((72, 200), REDLINE)
    box = page.search_for("30 days")[0]
    page.draw_line((box.x0, box.y1 - 1), (box.x1, box.y1 - 1), width=0.8)


def grid_line(page: Any) -> None:
    page.insert_text((172, 200), REDLINE)
    page.draw_line((72, 196), (560, 196), width=0.5)


@pytest.mark.parametrize("draw", [underline, grid_line])
def test_other_lines_strike_nothing_out(tmp_path: Path, draw: Callable[[Any], None]) -> None:
    found = read(tmp_path, draw)
    assert BlockKind.STRUCK not in found
    assert REDLINE in [text for texts in found.values() for text in texts]


@pytest.mark.parametrize("tag", ["s", "del"])
def test_struck_out_html_is_struck_out_on_its_page(tmp_path: Path, tag: str) -> None:
    markup = f"<p>Each invoice is due within <{tag}>30 days</{tag}> 60 days of receipt.</p>"
    found = by_kind(parse(tmp_path, from_html(markup).document.tobytes()))
    assert found == {
        BlockKind.TEXT: ["Each invoice is due within 60 days of receipt."],
        BlockKind.STRUCK: ["30 days"],
    }


def test_a_quote_around_struck_out_words_leaves_them_unmarked(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    strike(page)
    (struck,) = page.search_for("30 days")
    path = tmp_path / "rendition.pdf"
    lines = parse(tmp_path, pdfs.finish(document))
    line = next(line for line in lines if line.kind is not BlockKind.STRUCK)
    passage = Passage(document_id=DOCUMENT_ID, lines=(line,))
    boxes = [box for region in quote_boxes.locate(path, passage, 0, len(line.text)) for box in region.rects]
    assert boxes
    assert min(box.x0 for box in boxes) < struck.x0
    assert max(box.x1 for box in boxes) > struck.x1
    other = next(line for line in lines if line.kind is BlockKind.STRUCK)
    ((region,),) = [quote_boxes.locate(path, Passage(document_id=DOCUMENT_ID, lines=(other,)), 0, len(other.text))]
    (box,) = region.rects
    assert (box.x0, box.x1) == pytest.approx((struck.x0, struck.x1), abs=1)


# --- raised marks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "following", "expected"),
    [
        ("8", " million", "⁸"),
        ("(4)", "", "⁽⁴⁾"),
        ("a", " employees", "ᵃ"),
        ("1,2", "", "¹,²"),
        ("-1", "", "⁻¹"),
        ("*", "", "*"),
        ("th", " floor", "th"),
        ("1", "/2", " 1"),
        ("Ж4", "", " Ж4 "),
    ],
)
def test_raised_text_is_never_one_with_what_stands_before_it(text: str, following: str, expected: str) -> None:
    assert superscript(text, following) == expected


def raised(page: Any, x: float, y: float, *parts: tuple[str, bool]) -> None:
    """Write parts behind one another, those with True raised and small."""
    for text, is_raised in parts:
        size = 6.5 if is_raised else 11
        page.insert_text((x, y - (4 if is_raised else 0)), text, fontsize=size)
        x += pymupdf.get_text_length(text, fontsize=size)


@pytest.mark.parametrize("rotation", [0, 90])
def test_raised_marks_in_a_pdf_are_superscripts(tmp_path: Path, rotation: int) -> None:
    def draw(page: Any) -> None:
        raised(page, 72, 200, ("Revenue was 812", False), ("8", True), (" million euro.", False))
        raised(page, 72, 230, ("It had 1,240", False), ("(4)", True))
        raised(
            page, 72, 260, ("on 10", False), ("6", True), (" m", False), ("2", True), (" on the 4", False), ("th", True)
        )

    found = read(tmp_path, draw, rotation=rotation)
    texts = [text for texts in found.values() for text in texts]
    assert texts[1:] == ["Revenue was 812⁸ million euro.", "It had 1,240⁽⁴⁾", "on 10⁶ m² on the 4th"]


def test_a_raised_mark_belongs_to_its_cell(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    for index, (label, first, mark, second) in enumerate(
        [("Assets", "5,234", "2", "4,987"), ("Borrowings", "1,120", "1", "980"), ("Equity", "2,310", "", "2,204")]
    ):
        y = 100 + 18 * index
        pdfs.write(page, 72, y, label)
        raised(page, 300, y, (first, False), (mark or " ", True))
        pdfs.write(page, 400, y, second)
    rows = [line.text for line in parse(tmp_path, pdfs.finish(document))]
    assert rows == ["Assets\t5,234²\t4,987", "Borrowings\t1,120¹\t980", "Equity\t2,310\t2,204"]


def test_a_raised_mark_of_html_is_a_superscript_and_has_its_box(tmp_path: Path) -> None:
    path = tmp_path / "rendition.pdf"
    (line,) = parse(tmp_path, from_html("<p>Revenue was 812<sup>8</sup> million.</p>").document.tobytes())
    assert line.text == "Revenue was 812⁸ million."
    start = line.text.index("812⁸")
    (region,) = quote_boxes.locate(path, Passage(document_id=DOCUMENT_ID, lines=(line,)), start, start + 4)
    (box,) = region.rects
    with pymupdf.open(path) as document:
        mark = document[0].search_for("8128")[-1]
    assert abs(box.x1 - mark.x1) < 1


# --- letters set wide ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"(B A L A N C E   S H E E T) Tj", "BALANCE SHEET"),
        (b"6 Tc (BALANCE SHEET) Tj", "BALANCE SHEET"),
        (b"5 Tc (Balance Sheet of 2024) Tj", "Balance Sheet of 2024"),
        (b"(A B C D E F G) Tj", "A B C D E F G"),
        (b"(Item a b) Tj", "Item a b"),
    ],
)
def test_words_whose_letters_are_set_wide_are_words(tmp_path: Path, content: bytes, expected: str) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, LINE)
    document.update_stream(page.get_contents()[-1], b"BT /helv 12 Tf 72 600 Td " + content + b" ET")
    assert [line.text for line in parse(tmp_path, pdfs.finish(document))] == [expected]
