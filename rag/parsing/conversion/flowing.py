"""Text that has no pages of its own: plain text, Markdown, HTML and packed documents of it."""

import html as escaping
from pathlib import Path
from typing import Any

import markdown_it

from rag.parsing import filetype
from rag.parsing.conversion import markup, texts
from rag.parsing.conversion.layout import lay_out
from rag.parsing.conversion.source import Conversion
from rag.parsing.encoding import decode
from rag.parsing.mupdf import pymupdf

__all__ = ["decode", "lay_out", "to_pdf"]

PAGE_WIDTH_PT, PAGE_HEIGHT_PT = 595, 842
"""A4."""
FONT_SIZE_PT = 11
_PACKED = {filetype.DOCX: "docx", filetype.EPUB: "epub"}


def to_pdf(source: Path, mime_type: str) -> Conversion:
    """The file at `source` on pages, and its text."""
    if mime_type in _PACKED:
        return _from_packed(source, _PACKED[mime_type])
    text = decode(source.read_bytes(), is_html=mime_type == filetype.HTML)
    if mime_type == filetype.HTML:
        return from_html(text)
    return from_markdown(text) if mime_type == filetype.MARKDOWN else from_text(text)


def from_text(text: str) -> Conversion:
    """Plain text, its lines as they are; a form feed ends a page."""
    text = "\n".join(text.splitlines()) if "\r" in text else text
    pages = [page for page in text.split("\f") if page.strip()]
    html = "".join(
        f'<pre style="page-break-after: always">\n{escaping.escape(page, quote=False)}</pre>' for page in pages
    )
    return Conversion(lay_out(html), tuple(texts.of_lines(text)))


def from_markdown(text: str) -> Conversion:
    """Markdown (CommonMark, with tables and struck out text). HTML within it is taken as in HTML files."""
    reader = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    html = str(reader.renderer.render(tokens, reader.options, {}))
    return Conversion(lay_out(html), tuple(texts.of_markdown(tokens)))


def from_html(text: str) -> Conversion:
    """HTML, as `lay_out` takes it."""
    title, author = markup.title_and_author(text)
    return Conversion(lay_out(text, title=title, author=author), tuple(texts.of_html(text)))


def _from_packed(source: Path, kind: str) -> Conversion:
    with pymupdf.open(source, filetype=kind) as document:
        if document.is_reflowable:
            document.layout(width=PAGE_WIDTH_PT, height=PAGE_HEIGHT_PT, fontsize=FONT_SIZE_PT)
        metadata: dict[str, Any] = document.metadata or {}
        converted = pymupdf.open(stream=document.convert_to_pdf(), filetype="pdf")
    converted.set_metadata({"title": metadata.get("title") or "", "author": metadata.get("author") or ""})
    return Conversion(converted)
