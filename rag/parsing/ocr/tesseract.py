"""Recognise words with MuPDF's Tesseract, and find its data."""

import re
from pathlib import Path
from typing import Any

from rag.parsing.ocr.pictures import drop_noise
from rag.parsing.pdf.mupdf import pymupdf

AUTO = "auto"
"""The setting that detects the language."""
_NO_LANGUAGES = frozenset({"osd", "equ", "snum"})
"""Data for page orientation, formulas and serial numbers."""
_PAINT_IMAGE = re.compile(rb"/\w+ Do\b")


def find_tessdata(language: str = AUTO) -> str | None:
    """Return the folder with Tesseract's data for `language` ("eng", "eng+deu", "auto" for any), or None."""
    try:
        folder = pymupdf.get_tessdata()
    except RuntimeError:
        return None
    if not folder:
        return None
    present = languages(folder)
    return str(folder) if (present if language == AUTO else present >= set(language.split("+"))) else None


def languages(tessdata: str) -> frozenset[str]:
    """Return Tesseract's codes of the languages with data in `tessdata`, such as "chi_sim"."""
    return frozenset(path.stem for path in Path(tessdata).glob("*.traineddata")) - _NO_LANGUAGES


def recognise(picture: Any, language: str, tessdata: str) -> bytes:
    """Return a one-page PDF of the size of `picture` (a `pymupdf.Pixmap`) with its text, invisible."""
    recognised = picture.pdfocr_tobytes(compress=False, language=language, tessdata=tessdata)
    with pymupdf.open(stream=recognised, filetype="pdf") as layer:
        page = layer[0]
        content = page.get_contents()[0]
        layer.update_stream(content, _PAINT_IMAGE.sub(b"", page.read_contents()))  # the page has the picture already
        layer.xref_set_key(page.xref, "Resources/XObject", "null")
        drop_noise(layer, has_letters)
        text_layer: bytes = layer.tobytes(garbage=3, deflate=True)
    return text_layer


def has_letters(text: str) -> bool:
    """Whether a line has a letter or digit; Tesseract reads rules, stamps and the paper's edge as "—_~ |"."""
    return any(map(str.isalnum, text))
