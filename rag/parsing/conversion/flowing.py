"""Text that has no pages of its own: plain text, Markdown and HTML."""

import html as escaping
from pathlib import Path

import markdown_it

from rag.parsing import file_types
from rag.parsing.conversion import markup, texts
from rag.parsing.conversion.layout import lay_out
from rag.parsing.conversion.source import Conversion
from rag.parsing.encoding import decode

__all__ = ["decode", "lay_out", "to_pdf"]


def to_pdf(source: Path, mime_type: str) -> Conversion:
    """The file at `source` on pages, and its text."""
    text = decode(source.read_bytes(), is_html=mime_type == file_types.HTML)
    if mime_type == file_types.HTML:
        return from_html(text)
    return from_markdown(text) if mime_type == file_types.MARKDOWN else from_text(text)


def from_text(text: str) -> Conversion:
    """Plain text, its lines as they are; a form feed ends a page."""
    text = "\n".join(text.splitlines()) if "\r" in text else text
    pages = [page for page in text.split("\f") if page.strip()]
    ends = ['<pre style="page-break-after: always">'] * (len(pages) - 1) + ["<pre>"]
    html = "".join(f"{end}\n{escaping.escape(page, quote=False)}</pre>" for end, page in zip(ends, pages, strict=False))
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
