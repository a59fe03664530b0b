import uuid
from pathlib import Path

import numpy as np
import pytest

from rag import errors, parsing
from rag.parsing.pdf import quote_boxes
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Highlight, Passage, Rect, Region
from tests import pdfs

QUOTE = "rose by 14 percent"


def passage_of(path: Path) -> Passage:
    blocks = parsing.parse_rendition(path).blocks
    return Passage(document_id=uuid.uuid4(), lines=tuple(line for block in blocks for line in block.lines))


def locate(path: Path, quote: str) -> tuple[Region, ...]:
    passage = passage_of(path)
    start = passage.text.index(quote)
    return parsing.locate(path, passage, start, start + len(quote))


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "rendition.pdf"
    path.write_bytes(content)
    return path


def width(text: str) -> float:
    """Points that `text` takes, by the font's own widths."""
    return float(pymupdf.get_text_length(text, fontname="helv", fontsize=11))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (40, 30, 560, 560)])
def test_a_quote_is_boxed_where_it_is_displayed(
    tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    (region,) = locate(saved(tmp_path, pdfs.turned(rotation, crop=crop)), QUOTE)
    (box,) = region.rects
    left, top = crop[:2] if crop else (0, 0)
    x0, x1 = (72 + width(before) for before in ("Copper prices ", f"Copper prices {QUOTE}"))
    assert box == pytest.approx((x0 - left, 104.2 - top, x1 - left, 119.3 - top), abs=0.2)


def test_a_quote_over_lines_has_a_box_for_each(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.plain())
    (region,) = locate(path, "tide at dawn.\nCopper prices")
    assert len(region.rects) == 2
    assert region.rects[0].x0 > region.rects[1].x1 > region.rects[1].x0


def test_a_quote_over_pages_has_a_region_for_each(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.pages(2))
    regions = locate(path, "records began.\n\nPage 2 speaks")
    assert [region.page_number for region in regions] == [1, 2]


def test_equal_cells_of_a_row_are_told_apart(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.table(ruled=True))
    passage = passage_of(path)
    start = passage.text.index("West\t120") + len("West\t")
    ((box,),) = (region.rects for region in parsing.locate(path, passage, start, start + 3))
    assert box.x0 == pytest.approx(72 + 150 + 5, abs=1)
    assert box.y0 < 110 + 3 * 20 + 13 < box.y1


def test_cells_are_boxed_apart(tmp_path: Path) -> None:
    (region,) = locate(saved(tmp_path, pdfs.table(ruled=False)), "South\t95")
    assert len(region.rects) == 2


def test_part_of_a_ligature_has_its_box(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.ligatures())
    ((whole,), (part,)) = (locate(path, quote)[0].rects for quote in ("ffi", "i"))
    assert part.x1 > part.x0
    assert whole.x0 - 0.1 <= part.x0 < part.x1 <= whole.x1 + 0.1


def test_right_to_left_words(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.right_to_left())
    first, last = (locate(path, word)[0].rects[0] for word in ("המגדלור", "שנה"))
    assert first.x0 > last.x1


def test_a_turned_bracket_has_its_box(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.right_to_left("<p dir=rtl>המגדלור (2023) נבנה</p>"))
    ((opening,), (year,), (whole,)) = (locate(path, quote)[0].rects for quote in ("(", "2023", "(2023)"))
    assert opening.x0 >= year.x1 - 0.5
    assert whole.x0 < year.x0
    assert whole.x1 == pytest.approx(opening.x1)


def test_text_that_is_not_there_has_no_box(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.plain())
    passage = passage_of(path)
    moved = [line.model_copy(update={"bbox": Rect(0, 0, 10, 10)}) for line in passage.lines]
    assert parsing.locate(path, passage.model_copy(update={"lines": tuple(moved)}), 0, 40) == ()
    assert parsing.locate(path, passage, 5, 5) == ()
    with pytest.raises(errors.NotFoundError):
        parsing.locate(tmp_path / "gone.pdf", passage, 0, 5)


def test_a_rendition_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.plain())
    before = locate(path, "Nobody")
    saved(tmp_path, pdfs.plain(["one more line", *pdfs.SENTENCES]))
    after = locate(path, "Nobody")
    assert after[0].rects[0].y0 == pytest.approx(before[0].rects[0].y0 + 16, abs=0.1)


def test_runs_are_laid_longest_first_at_ends_of_words() -> None:
    def run(text: str, x: float) -> quote_boxes.Run:
        boxes = tuple(Rect(x + n, 0, x + n + 1, 10) for n in range(len(text)))
        return quote_boxes.Run(Rect(x, 0, x + len(text), 10), text, boxes, False)

    boxes = quote_boxes.align_runs([run("1", 50), run("10", 70), run("1", 90)], "1101")
    assert [box and box.x0 for box in boxes] == [50, 70, 71, 90]
    boxes = quote_boxes.align_runs([run("1", 50), run("30", 70), run("13", 90)], "1\t30\t13")
    assert [box and box.x0 for box in boxes] == [50, 70, 71, 90, 91]
    boxes = quote_boxes.align_runs([run("p < 10−4,".replace(" ", ""), 50)], "p < 10⁻⁴,")
    assert None not in boxes
    assert quote_boxes.align_runs([run("b", 0)], "abc") == [None, Rect(0, 0, 1, 10), None]


def test_a_mark_in_a_gap_of_a_run_divides_it(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 100, "Trials in the 2   line")
    page.insert_text((72 + width("Trials in the 2"), 96), "nd", fontname="helv", fontsize=6)
    pdfs.write(page, 72, 400, "Loss  (69)  (70)")  # on pages with glued figures, runs are split at wide gaps
    path = saved(tmp_path, pdfs.finish(document))
    (region,) = locate(path, "Trials in the 2nd line")
    assert region.rects[0].x0 == pytest.approx(72, abs=0.2)


def test_boxes_merge_by_line_and_keep_cells_apart() -> None:
    boxes = [Rect(0, 0, 5, 10), Rect(5, 0, 9, 10), Rect(40, 0, 50, 10), Rect(0, 12, 5, 22)]
    assert quote_boxes.merge_boxes(boxes, False, gap_em=4) == [Rect(0, 0, 50, 10), Rect(0, 12, 5, 22)]
    assert quote_boxes.merge_boxes(boxes, False, gap_em=1) == [
        Rect(0, 0, 9, 10),
        Rect(40, 0, 50, 10),
        Rect(0, 12, 5, 22),
    ]
    swapped = [Rect(box.y0, box.x0, box.y1, box.x1) for box in boxes]
    assert quote_boxes.merge_boxes(swapped, True, gap_em=4)[0] == Rect(0, 0, 10, 50)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("crop", [None, (40, 30, 560, 560)])
def test_a_marked_copy_highlights_exactly_the_quote(
    tmp_path: Path, rotation: int, unit: int, crop: tuple[float, float, float, float] | None
) -> None:
    path = saved(tmp_path, pdfs.turned(rotation, crop=crop, user_unit=unit))
    (region,) = locate(path, QUOTE)
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(parsing.annotated_excerpt(path, [Highlight(region=region, note="S1 · verified")]))
    assert yellow_box(copy) == pytest.approx(region.rects[0], abs=3.5 * unit)  # its ends are drawn round
    with pymupdf.open(copy) as document:
        (annotation,) = document.xref_get_key(document[0].xref, "Annots")[1].strip("[]").split(" 0 R")[:-1]
        keys = {key: document.xref_get_key(int(annotation), key)[1] for key in ("Subtype", "Contents", "QuadPoints")}
    assert (keys["Subtype"], keys["Contents"]) == ("/Highlight", "S1 · verified")
    assert bounds(keys["QuadPoints"]) == pytest.approx(in_file(QUOTE, pdfs.turned(rotation)), abs=0.5)


def bounds(quad: str) -> tuple[float, ...]:
    """The box around the points of a quad as a file has it."""
    numbers = [float(number) for number in quad.strip("[]").split()]
    xs, ys = numbers[::2], numbers[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def in_file(quote: str, content: bytes) -> tuple[float, ...]:
    """Where words stand in a file's own coordinates: from the lower left, whatever is displayed, turned or scaled."""
    with pymupdf.open(stream=content) as document:
        page = document[0]
        (found,) = page.search_for(quote)
        height = page.mediabox.height
    return found.x0, height - found.y1, found.x1, height - found.y0


def yellow_box(path: Path) -> tuple[float, float, float, float]:
    """The bounds of the first page's pixels in the colour of a highlight, a pixel being a point."""
    return bounds_of_colour(parsing.page_image(path, 1, zoom=1))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("origin", [(0, 0), (100, 200), (-300, -400)])
@pytest.mark.parametrize("unit", [1, 2])
@pytest.mark.parametrize("crop", [None, (40, 30, 560, 560)])
def test_every_picture_marks_the_words_where_they_are_drawn(
    tmp_path: Path,
    rotation: int,
    origin: tuple[float, float],
    unit: int,
    crop: tuple[float, float, float, float] | None,
) -> None:
    path = saved(tmp_path, pdfs.moved(pdfs.turned(rotation, crop=crop), *origin, user_unit=unit))
    (region,) = locate(path, "Copper prices rose by 14 percent in the second quarter.")
    ((x0, y0, x1, y1),) = region.rects
    outline = bounds_of_colour(parsing.page_image(path, 1, regions=[region]))
    assert outline == pytest.approx((x0 - 1, y0 - 1, x1 + 1, y1 + 1), abs=1.5 * unit)
    ink = dark_pixels(parsing.page_image(path, 1))[round(y0) : round(y1), round(x0) : round(x1)]
    rows, columns = np.nonzero(ink)
    assert np.ptp(columns) > 0.98 * ink.shape[1]
    assert np.ptp(rows) > 0.5 * ink.shape[0]
    for copied in (parsing.annotated_pdf, parsing.annotated_excerpt):
        copy = tmp_path / "copy.pdf"
        copy.write_bytes(copied(path, [Highlight(region=region, note="")]))
        assert yellow_box(copy) == pytest.approx((x0, y0, x1, y1), abs=3.5 * unit)
    top = max(0, y0 - 40)
    strip = bounds_of_colour(parsing.region_image(path, region, zoom=1))
    assert strip == pytest.approx((x0, y0 - top, x1, y1 - top), abs=3.5 * unit)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_crop_box_beyond_the_page_moves_nothing(tmp_path: Path, rotation: int) -> None:
    with pymupdf.open(stream=pdfs.turned(rotation)) as document:
        document.xref_set_key(document[0].xref, "CropBox", "[-50 -90 2000 2000]")
        path = saved(tmp_path, document.tobytes())
    (region,) = locate(path, QUOTE)
    (upright,) = locate(saved(tmp_path, pdfs.turned(0)), QUOTE)
    assert region.rects[0] == pytest.approx(upright.rects[0], abs=0.1)


def bounds_of_colour(image: bytes) -> tuple[float, float, float, float]:
    """The bounds of the pixels of a PNG that are coloured, a pixel being a point."""
    picture = pymupdf.Pixmap(image)
    pixels = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width, 3).astype(int)
    ys, xs = np.nonzero(pixels[..., 0] - pixels[..., 2] > 60)
    return float(xs.min()), float(ys.min()), float(xs.max() + 1), float(ys.max() + 1)


def dark_pixels(image: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Which pixels of a PNG are dark."""
    picture = pymupdf.Pixmap(image)
    pixels = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width, 3)
    return pixels[..., 0] < 128


def test_a_marked_copy_has_the_marked_pages_alone_each_named_by_its_bookmark(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.pages(9))
    regions = [Region(page_number=n, rects=(Rect(72, top, 200, top + 14),)) for n, top in ((6, 90), (2, 90), (6, 120))]
    highlights = [Highlight(region=region, note=f"S{n}") for n, region in enumerate(regions, start=1)]
    with pymupdf.open(stream=parsing.annotated_excerpt(path, highlights)) as copy:
        assert [page.get_text().split("\n")[0] for page in copy] == [
            f"Page {n} speaks of topic number {n}." for n in (2, 6)
        ]
        assert [[annotation.info["content"] for annotation in page.annots()] for page in copy] == [["S2"], ["S1", "S3"]]
        assert copy.get_toc() == [[1, "Page 2 of 9", 1], [1, "Page 6 of 9", 2]]
    missing = Highlight(region=Region(page_number=10, rects=()), note="")
    for highlights in ([missing], []):
        with pytest.raises(errors.NotFoundError):
            parsing.annotated_excerpt(path, highlights)


def test_pictures_of_pages(tmp_path: Path) -> None:
    path = saved(tmp_path, pdfs.turned(90))
    assert parsing.page_size(path, 1) == (pdfs.WIDTH, pdfs.HEIGHT)
    plain, outlined = (
        parsing.page_image(path, 1, zoom=2, regions=regions)
        for regions in ((), [Region(page_number=1, rects=(Rect(100, 300, 200, 400),))])
    )
    picture = pymupdf.Pixmap(plain)
    assert (picture.width, picture.height) == (2 * pdfs.WIDTH, 2 * pdfs.HEIGHT)
    assert picture.pixel(300, 599) == (255, 255, 255)
    assert pymupdf.Pixmap(outlined).pixel(300, 599) != (255, 255, 255)
    with pytest.raises(errors.NotFoundError):
        parsing.page_size(path, 2)
