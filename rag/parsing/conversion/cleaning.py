"""HTML from strangers: its text, its tables and its own pictures are kept; nothing else, and nothing from outside."""

import html
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import NamedTuple

_SILENT = frozenset({"script", "style", "title"})
"""What stands in these is no text. The parser ends each at its end tag."""
_INLINE = frozenset({"b", "code", "em", "i", "s", "strong", "sub", "sup", "u"})
_EMPTY = frozenset({"br", "hr"})
_LISTS = frozenset({"dd", "dl", "dt", "li", "ol", "ul"})
_TABLES = frozenset({"caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _EMPTY | _LISTS | _TABLES | _HEADINGS | {"blockquote", "center", "div", "p", "pre"}
_KEPT = _INLINE | _BLOCKS
_SPANS = ("colspan", "rowspan")
_MAX_SPAN = 100
_SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/bmp", "image/tiff"})


class Cleaned(NamedTuple):
    """Safe HTML, its text, and the ids of the pictures that it shows."""

    html: str
    text: str
    shown: frozenset[str]


def clean(content: str, pictures: Mapping[str, str]) -> Cleaned:
    """HTML without scripts, styles, links, forms and addresses; of pictures those that `pictures` has MIME types of."""
    parser = _Cleaner(pictures)
    parser.feed(content)
    parser.close()
    return Cleaned("".join(parser.html), "".join(parser.text), frozenset(parser.shown))


def from_plain(text: str) -> Cleaned:
    """Plain text with its lines, indents and paragraphs as HTML."""
    paragraphs = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4))
    return Cleaned(
        "".join(f"<p>{'<br>'.join(map(_line, paragraph.split(chr(10))))}</p>" for paragraph in paragraphs),
        text,
        frozenset(),
    )


def _line(line: str) -> str:
    """Runs of spaces keep their width."""
    return re.sub(r" (?= )|^ ", "\N{NO-BREAK SPACE}", html.escape(_printable(line)))


def _printable(text: str) -> str:
    """Without the control characters that no HTML may have."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "", text)


class _Cleaner(HTMLParser):
    """Goes through HTML once, from the beginning to the end; what is not closed stays open."""

    def __init__(self, pictures: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=True)
        self.html: list[str] = []
        self.text: list[str] = []
        self.shown: set[str] = set()
        self._pictures = pictures
        self._silent: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it, if it is of a kind that only arranges text."""
        self._silent = tag if tag in _SILENT else None
        if tag == "img":
            self._picture(dict(attrs))
        if tag in _KEPT:
            self.html.append(f"<{tag}{''.join(_span(name, value) for name, value in attrs)}>")
        self._part(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """The slash means nothing in HTML."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Close what was kept."""
        self._silent = None
        if tag in _KEPT - _EMPTY:
            self.html.append(f"</{tag}>")
        self._part(tag)

    def handle_data(self, data: str) -> None:
        """Text."""
        if self._silent is None:
            printable = _printable(data)
            self.html.append(html.escape(printable))
            self.text.append(printable)

    def _part(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.text.append("\n")

    def _picture(self, attributes: Mapping[str, str | None]) -> None:
        source = attributes.get("src") or ""
        content_id = source[4:].strip().strip("<>") if source[:4].lower() == "cid:" else ""
        if self._pictures.get(content_id) in _SHOWN_TYPES:
            self.shown.add(content_id)
            self.html.append(f'<img src="cid:{html.escape(content_id)}">')
        else:
            self.handle_data(f" {attributes.get('alt') or ''} ")


def _span(name: str, value: str | None) -> str:
    if name in _SPANS and value and value.isdecimal() and value.isascii() and len(value) <= 3:
        return f' {name}="{min(int(value), _MAX_SPAN)}"'
    return ""
