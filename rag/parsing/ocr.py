"""Recognised text as an invisible layer on pages that are pictures, with or without a stamp in digital text."""

import enum
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.parsing import text
from rag.parsing.mupdf import FAILURES, display_matrix, from_display, pymupdf, to_rect
from rag.parsing.pieces import TEXT_FLAGS
from rag.types import ParsingConfig

RESOLUTION_DPI = 300
"""What Tesseract's documentation asks for."""
MAX_PIXELS = 40_000_000
MIN_PICTURE_SHARE = 0.7
"""Where pictures cover less of the page, it is set in type and has figures; scans leave no more than a margin."""
MAX_STAMP_SHARE = 0.05
"""Lines that cover more of the page are its own text: a stamp covers 1 %, a printed page more than 20 %."""
LEVEL_COSINE = 0.99
GRID_POINTS = 20
_UNSEEN = 3
"""The text rendering mode of recognised text (ISO 32000-1, table 106)."""
_PAINT_IMAGE = re.compile(rb"/\w+ Do\b")


def find_tessdata(language: str) -> str | None:
    """The folder with Tesseract's data for `language` (such as "eng" or "eng+deu"), or None."""
    try:
        folder = pymupdf.get_tessdata()
    except RuntimeError:
        return None
    if not folder or not all(Path(folder, f"{part}.traineddata").is_file() for part in language.split("+")):
        return None
    return str(folder)


def add_text_layers(document: Any, config: ParsingConfig, on_recognised: Callable[[int], None]) -> frozenset[int]:
    """Recognises each page of `document` whose text is in its pictures; returns the numbers of pages with more text.

    These are pages with pictures but no text and, in half of the document's time, scans with no more than a stamp:
    their digital text stays, and words are added where it does not stand.
    `on_recognised` is told how many pages are done, after each.
    """
    stop = time.monotonic() + config.timeout_seconds(document.page_count) / 2
    scans = [_find_scan(document, index) for index in range(document.page_count)]
    silent = [index for index, scan in enumerate(scans) if scan is _Scan.SILENT]
    stamped = [index for index, scan in enumerate(scans) if scan is _Scan.STAMPED]
    tessdata = find_tessdata(config.ocr_language) if silent or stamped else None
    if tessdata is None:
        return frozenset()
    numbers: set[int] = set()
    for done, index in enumerate((*silent, *stamped), start=1):
        if done > len(silent) and time.monotonic() > stop:
            break
        if _recognise(document, index, config.ocr_language, tessdata):
            numbers.add(index + 1)
        on_recognised(done)
    return frozenset(numbers)


class _Scan(enum.Enum):
    """A page whose text is in its pictures: all of it, or all but a stamp."""

    SILENT = enum.auto()
    STAMPED = enum.auto()


def _find_scan(document: Any, index: int) -> _Scan | None:
    """What kind of scan a page is, if it is one."""
    try:
        page = document[index]
        lines = _readable_lines(page)
        if lines:
            return _Scan.STAMPED if _is_stamped(page, lines) else None
        return _Scan.SILENT if page.get_image_info() else None
    except FAILURES:
        return None


def _readable_lines(page: Any) -> list[Mapping[str, Any]]:
    """The page's lines of text, as PyMuPDF gives them."""
    lines = [line for block in page.get_text("dict", flags=TEXT_FLAGS)["blocks"] for line in block.get("lines", ())]
    return [line for line in lines if text.is_readable("".join(span["text"] for span in line["spans"]))]


def _is_stamped(page: Any, lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether pictures fill the page, and `lines` on them are no more than a court's header, a number, a watermark.

    A page with unseen text has been recognised before.
    """
    stamps = _level_boxes(lines)
    if sum(map(abs, stamps)) > MAX_STAMP_SHARE * abs(page.rect):  # so it is on most pages
        return False
    pictures = [pymupdf.Rect(picture["bbox"]) for picture in page.get_image_info()]
    if _share(pictures, page) < MIN_PICTURE_SHARE:
        return False
    return not any(span["type"] == _UNSEEN or span["opacity"] == 0 for span in page.get_texttrace())


def _level_boxes(lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The boxes of `lines`, except those set at a slant, which are marks over other content."""
    return [pymupdf.Rect(line["bbox"]) for line in lines if max(map(abs, line["dir"])) > LEVEL_COSINE]


def _share(boxes: Sequence[Any], page: Any) -> float:
    """The share of the page that `boxes` cover together, by a grid of points: scans may come in strips and layers."""
    visible = from_display(to_rect(page.rect), page)
    places = [(step + 0.5) / GRID_POINTS for step in range(GRID_POINTS)]
    points = [
        pymupdf.Point(visible.x0 + x * visible.width, visible.y0 + y * visible.height) for x in places for y in places
    ]
    return sum(any(point in box for box in boxes) for point in points) / len(points)


def _recognise(document: Any, index: int, language: str, tessdata: str) -> bool:
    """Lays what is read on the displayed page under it, unseen; whether there was anything to read."""
    try:
        page = document[index]
        zoom = min(RESOLUTION_DPI / 72, (MAX_PIXELS / max(1.0, abs(page.rect))) ** 0.5)
        picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
        _blank_lines(picture, page, zoom)
        recognised = picture.pdfocr_tobytes(compress=False, language=language, tessdata=tessdata)
        with pymupdf.open(stream=recognised, filetype="pdf") as layer:
            if not text.is_readable(layer[0].get_text()):
                return False
            _drop_image(layer)
            page.show_pdf_page(
                from_display(to_rect(page.rect), page), layer, 0, rotate=page.rotation, keep_proportion=False
            )
    except FAILURES:
        return False
    return True


def _blank_lines(picture: Any, page: Any, zoom: float) -> None:
    """Whitens the page's own text in its `picture`, so that it is not read a second time."""
    matrix = display_matrix(page)
    for box in _level_boxes(_readable_lines(page)):
        displayed = to_rect(box if matrix is None else box * matrix)
        picture.set_rect((pymupdf.Rect(displayed) * zoom).irect, (255, 255, 255))


def _drop_image(layer: Any) -> None:
    """Leaves only the text of a page made by `pdfocr_tobytes`: the picture is on the page already."""
    page = layer[0]
    content = page.get_contents()[0]
    layer.update_stream(content, _PAINT_IMAGE.sub(b"", page.read_contents()))
    layer.xref_set_key(page.xref, "Resources/XObject", "null")
