"""Text that has no pages of its own: it is laid out on A4."""

from pathlib import Path
from typing import Any

from rag.parsing import filetype
from rag.parsing.conversion.source import Conversion
from rag.parsing.encoding import decode
from rag.parsing.mupdf import pymupdf

PAGE_WIDTH_PT, PAGE_HEIGHT_PT = 595, 842
"""A4."""
FONT_SIZE_PT = 11
_FLOWING = {filetype.TEXT: "txt", filetype.MARKDOWN: "md", filetype.HTML: "html"}
_PACKED = {filetype.DOCX: "docx", filetype.EPUB: "epub"}


def to_pdf(source: Path, mime_type: str) -> Conversion:
    """The file at `source` on pages."""
    with _opened(source, mime_type) as document:
        if document.is_reflowable:
            document.layout(width=PAGE_WIDTH_PT, height=PAGE_HEIGHT_PT, fontsize=FONT_SIZE_PT)
        metadata = document.metadata or {}
        converted = pymupdf.open(stream=document.convert_to_pdf(), filetype="pdf")
    converted.set_metadata({"title": metadata.get("title") or "", "author": metadata.get("author") or ""})
    return Conversion(converted)


def _opened(source: Path, mime_type: str) -> Any:
    if mime_type in _PACKED:
        return pymupdf.open(source, filetype=_PACKED[mime_type])
    # Given as bytes, without a path: so nothing beside the file can be pulled into the rendition.
    # The last line gets an end: MuPDF's Markdown loses the last character of one that has none.
    content = f"{decode(source.read_bytes())}\n"
    if mime_type == filetype.TEXT:
        # A byte order mark keeps MuPDF from taking text that begins with a # for Markdown, whose marks it drops.
        content = f"\ufeff{content}"
    return pymupdf.open(stream=content.encode(), filetype=_FLOWING[mime_type])
