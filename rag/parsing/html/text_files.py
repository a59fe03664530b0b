"""Convert plain text, Markdown and HTML files to PDF."""

import html as escaping
from pathlib import Path

import markdown_it

from rag.parsing import file_types
from rag.parsing.conversion import Conversion, SourceText
from rag.parsing.encoding import decode
from rag.parsing.html import markup, source_text
from rag.parsing.html.layout import lay_out
from rag.parsing.pdf.character_cleaning import is_right_to_left


def to_pdf(source: Path, mime_type: str) -> Conversion:
    """Convert the file at `source` to PDF."""
    text = decode(source.read_bytes(), is_html=mime_type == file_types.HTML)
    if mime_type == file_types.HTML:
        return from_html(text)
    return from_markdown(text) if mime_type == file_types.MARKDOWN else from_text(text)


def from_text(text: str) -> Conversion:
    """Convert plain text, keeping its line breaks; a form feed ends a page."""
    text = "\n".join(text.splitlines()) if "\r" in text else text
    pages = [page for page in text.split("\f") if page.strip()]
    side = ' dir="rtl"' if is_right_to_left(text) else ""
    ends = [f'<pre{side} style="page-break-after: always">'] * (len(pages) - 1) + [f"<pre{side}>"]
    html = "".join(f"{end}\n{escaping.escape(page, quote=False)}</pre>" for end, page in zip(ends, pages, strict=False))
    lines = enumerate(text.split("\n"), start=1)
    return Conversion(
        lay_out(html), tuple(SourceText(f"line {number}", line) for number, line in lines if line.strip())
    )


def from_markdown(text: str) -> Conversion:
    """Convert Markdown (CommonMark with tables and strikethrough); embedded HTML is treated as in HTML files."""
    html = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    parts = enumerate(source_text.read_html(html), start=1)
    return Conversion(lay_out(html), tuple(SourceText(f"paragraph {number}", part.text) for number, part in parts))


def from_html(text: str) -> Conversion:
    """Convert HTML."""
    title, author = markup.title_and_author(text)
    texts = (SourceText(f"line {part.line}", part.text) for part in source_text.read_html(text))
    return Conversion(lay_out(text, title=title, author=author), tuple(texts))
