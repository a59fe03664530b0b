"""Convert plain text, Markdown and HTML files to PDF, and read the text of HTML independently of the layout."""

import html as escaping
import html.parser
import re
from pathlib import Path
from typing import NamedTuple

import markdown_it

from rag.parsing import file_types
from rag.parsing.conversion import Conversion, SourceText
from rag.parsing.encoding import decode
from rag.parsing.html import markup
from rag.parsing.html.layout import lay_out
from rag.parsing.pdf.character_cleaning import is_right_to_left

_HIDDEN = frozenset(("head", "ix:references", "ix:resources", "object", "script", "style", "template", "title"))
_HEADING = re.compile("h[1-6]")
_INLINE = re.compile(
    "a|abbr|b|bd[io]|big|cite|code|del|dfn|em|font|i|ins|kbd|label|mark|nobr|q|ruby|s|samp|small|span|strike|strong"
    "|su[bp]|tt|u|var|wbr"
)


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
    parts = enumerate(read_html(html), start=1)
    return Conversion(lay_out(html), tuple(SourceText(f"paragraph {number}", part.text) for number, part in parts))


def from_html(text: str) -> Conversion:
    """Convert HTML."""
    title, author = markup.title_and_author(text)
    texts = (SourceText(f"line {part.line}", part.text) for part in read_html(text))
    return Conversion(lay_out(text, title=title, author=author), tuple(texts))


class HtmlText(NamedTuple):
    """A paragraph, heading or table cell of HTML, and the line of the file in which it begins."""

    line: int
    text: str
    is_heading: bool


def read_html(text: str) -> list[HtmlText]:
    """Return the visible text of HTML with line numbers and headings."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_part()
    return reader.parts


class _Reader(html.parser.HTMLParser):
    """Collects the text between block tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[HtmlText] = []
        self._texts: list[str] = []
        self._line = 1
        self._hidden: list[str] = []
        self._heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._boundary(tag)
        self._heading = self._heading or _HEADING.fullmatch(tag) is not None
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag == "img" and not self._hidden:
            values = dict(attrs)
            if not (values.get("src") or "").startswith("data:"):
                self.handle_data(values.get("alt") or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _HIDDEN:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        self._boundary(tag)
        self._heading = self._heading and _HEADING.fullmatch(tag) is None

    def handle_data(self, data: str) -> None:
        if not self._hidden and data:
            if not self._texts:
                self._line = self.getpos()[0]
            self._texts.append(data)

    def _boundary(self, tag: str) -> None:
        if not _INLINE.fullmatch(tag):
            self.end_part()
        if tag == "body":
            self._hidden.clear()

    def end_part(self) -> None:
        """End the current paragraph."""
        text = "".join(self._texts)
        if text.strip():
            self.parts.append(HtmlText(self._line, text, self._heading))
        self._texts = []
