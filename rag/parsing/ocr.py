"""Recognised text as an invisible layer on pages that are pictures."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag.parsing import text
from rag.parsing.mupdf import FAILURES, from_display, pymupdf, to_rect
from rag.parsing.pieces import TEXT_FLAGS
from rag.types import ParsingConfig

RESOLUTION_DPI = 300
"""What Tesseract's documentation asks for."""
MAX_PIXELS = 40_000_000
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
    """Recognises each page of `document` that has pictures but no text; returns the numbers of pages that now have.

    `on_recognised` is told how many pages are done, after each.
    """
    silent = [index for index in range(document.page_count) if _is_picture(document, index)]
    tessdata = find_tessdata(config.ocr_language) if silent else None
    if tessdata is None:
        return frozenset()
    numbers: set[int] = set()
    for done, index in enumerate(silent, start=1):
        if _recognise(document, index, config.ocr_language, tessdata):
            numbers.add(index + 1)
        on_recognised(done)
    return frozenset(numbers)


def _is_picture(document: Any, index: int) -> bool:
    try:
        page = document[index]
        return not text.is_readable(page.get_text("text", flags=TEXT_FLAGS)) and bool(page.get_image_info())
    except FAILURES:
        return False


def _recognise(document: Any, index: int, language: str, tessdata: str) -> bool:
    """Lays what is read on the displayed page under it, unseen; whether there was anything to read."""
    try:
        page = document[index]
        zoom = min(RESOLUTION_DPI / 72, (MAX_PIXELS / max(1.0, abs(page.rect))) ** 0.5)
        picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
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


def _drop_image(layer: Any) -> None:
    """Leaves only the text of a page made by `pdfocr_tobytes`: the picture is on the page already."""
    page = layer[0]
    content = page.get_contents()[0]
    layer.update_stream(content, _PAINT_IMAGE.sub(b"", page.read_contents()))
    layer.xref_set_key(page.xref, "Resources/XObject", "null")
