"""Clean HTML of any origin for layout by MuPDF.

Only text, tables and pictures are kept. Of styles, it is kept what is struck out or raised; text that nobody sees is
moved to the end, below a heading that says so. Scripts are dropped. Long runs without white space get line break
opportunities.
"""

import base64
import binascii
import contextlib
import html as escaping
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lxml import etree
from lxml import html as parser

from rag.parsing.html import characters
from rag.parsing.html.characters import breakable
from rag.parsing.html.styles import Style, Styles

MAX_DEPTH = 40
"""Tags nested deeper are dropped (their text is kept), because MuPDF recurses into nested elements."""
MAX_INDENTS = 8
"""Lists and quotations nested deeper are not indented further."""
HIDDEN_CLASS = "hidden"
"""Class of elements with text that nobody sees in the original; its colour tells the parser."""
HIDDEN_HEADING = "Not visible in the original"
MAX_PICTURE_PX = 600
"""Larger width and height attributes are ignored; the layout then fits the picture to the page."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INLINE = _names("a abbr b br cite code del dfn em i img ins kbd mark q s samp span strike strong sub sup tt u var")
_TABLE = _names("caption tbody td tfoot th thead tr")
_BLOCKS = _TABLE | _names("blockquote center dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre table ul")
_LIKE_A_BLOCK = _names(
    "address article aside body button details dialog dir fieldset footer form header hgroup html label legend listing"
    " main math menu nav noscript optgroup option plaintext search section select summary svg textarea xmp"
)
_DROPPED = _names("base head ix:references ix:resources link meta object script style template title")
"""Elements whose content is no text; those of inline XBRL describe its facts."""
_EMPTY = frozenset(("br", "hr"))
_TICKED, _UNTICKED = "☒", "☐"
_TYPED_FIELDS = _names("date datetime-local email month number search tel text time url week")
_END = "\0"
"""Ends a paragraph of hidden text; no text has this character."""
_INDENTING = frozenset(("blockquote", "dd", "ol", "ul"))
_ATTRIBUTES = frozenset(("align", "colspan", "dir", "lang", "rowspan", "start", "type", "value"))
_STYLE = re.compile(r"(?:^|;)\s*((?:text-align|font-weight|font-style|page-break-after)\s*:\s*[\w-]+)\s*(?=;|$)")
_DATA_URI = re.compile(r"data:image/[^,]*;base64,", re.IGNORECASE)
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_REFERENCE = re.compile("&amp;(?=[#A-Za-z])")
_DIGITS = re.compile(r"\d{1,4}")


class Part(NamedTuple):
    """A table, or the markup between two tables.

    `reopened` has the start tags of the enclosing elements, for a part that begins a page.
    """

    html: str
    is_table: bool
    reopened: str


class Markup(NamedTuple):
    """Cleaned markup in order, and its pictures by their file names in the markup."""

    parts: list[Part]
    pictures: dict[str, bytes]


def read(html: str) -> Any:
    """Parse HTML to an lxml element. No external resource is loaded."""
    reader = parser.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, no_network=True)
    content = _NOT_TEXT.sub("", html).encode()
    return parser.document_fromstring(content if content.strip() else b"<p></p>", parser=reader)


def title_and_author(html: str) -> tuple[str, str]:
    """Return the title and the author given in the head of `html`, each "" if missing."""
    root = read(html)
    title = root.findtext(".//title") or ""
    authors = [meta.get("content", "") for meta in root.iter("meta") if meta.get("name", "").lower() == "author"]
    return " ".join(title.split()), " ".join(authors[0].split()) if authors else ""


def clean(fragments: Iterable[str], images: Mapping[str, bytes]) -> Markup:
    """Clean HTML fragments, each parsed by itself so that an unclosed tag in one cannot swallow the next.

    `images` maps the `src` values of pictures to their content.
    """
    writer = _Writer(images)
    for fragment in fragments:
        root = read(fragment)
        writer.begin(Styles(root))
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "end":
                writer.end(element)
            elif not writer.start(element):
                walk.skip_subtree()
    writer.end_part(is_table=False)
    writer.add_hidden()
    return Markup([part for part in writer.parts if part.html.strip()], writer.pictures)


class _Writer:
    """Serialize the elements that are kept."""

    def __init__(self, images: Mapping[str, bytes]) -> None:
        self.parts: list[Part] = []
        self.pictures: dict[str, bytes] = {}
        self._images = images
        self._written: list[str] = []
        self._reopened = ""
        self._open: list[tuple[str, str]] = []
        """Name and start tag of each open element; both empty if its tag is dropped."""
        self._hidden: list[str] = []
        """Text that nobody sees, and `_END` between its paragraphs."""

    def begin(self, styles: Styles) -> None:
        """Begin another HTML tree."""
        self._styles = styles
        self._style = [styles.initial]
        self._hidden.append(_END)

    def start(self, element: Any) -> bool:
        """Write the start of an element. Return whether its content is kept."""
        name = element.tag.lower() if isinstance(element.tag, str) else ""
        if name in _DROPPED or not name:
            return False
        style = self._styles.of(element, name, self._style[-1])
        if name == "ix:header":
            style = style._replace(is_gone=True)
        if name == "img":
            self._picture(element, style)
            return True
        self._style.append(style)
        self._end_hidden(name, style)
        if not style.is_gone:
            self._start_shown(element, name, style)
        elif name.startswith("ix:") and (fact := element.get("name")):
            self._hidden.append(f"{fact}: ")
        text = _field(element) if name == "input" else element.text
        if text:
            self._text(text)
        return True

    def _start_shown(self, element: Any, name: str, style: Style) -> None:
        name = self._known(name, element)
        if name == "table":
            self.end_part(is_table=False)
        if style.shift and name in _INLINE and not self._inside("sup", "sub"):
            name = "sup" if style.shift > 0 else "sub"
        is_flat = name in _INDENTING and self._inside(*_INDENTING) >= MAX_INDENTS
        is_struck = style.is_struck and not self._style[-2].is_struck
        tag = f"<{name}{_attributes(element, is_flat=is_flat, is_struck=is_struck)}>" if name else ""
        self._written.append(tag or " ")
        self._open.append((name, tag))

    def _end_hidden(self, name: str, style: Style) -> None:
        """End a paragraph of hidden text where an element begins or ends that is no part of a line."""
        if style.is_hidden and name not in _INLINE:
            self._hidden.append(_END)

    def end(self, element: Any) -> None:
        """Write the end of an element and the text after it."""
        name = element.tag.lower() if isinstance(element.tag, str) else ""
        if name and name not in _DROPPED and name != "img":
            style = self._style.pop()
            self._end_hidden(name, style)
            if not style.is_gone:
                name, _ = self._open.pop()
                self._written.append(" " if not name else "" if name in _EMPTY else f"</{name}>")
                if name == "table":
                    self.end_part(is_table=True)
        if element.tail:
            self._text(element.tail)

    def add_hidden(self) -> None:
        """Add the text that nobody sees as the last part."""
        texts = [" ".join(text.split()) for text in "".join(self._hidden).split(_END)]
        if any(texts):
            content = "".join(f"<p>{escaped(text)}</p>" for text in texts if text)
            html = f'<div class="{HIDDEN_CLASS}"><h3>{HIDDEN_HEADING}</h3>{content}</div>'
            self.parts.append(Part(html, is_table=False, reopened=""))

    def end_part(self, *, is_table: bool) -> None:
        """Begin a new part."""
        self.parts.append(Part("".join(self._written), is_table, self._reopened))
        self._written = []
        self._reopened = "".join(tag for _, tag in self._open)

    def _known(self, name: str, element: Any) -> str:
        """Return the name under which an element is written; "" to keep only its content.

        Of nested tables, the innermost have the data and the outer ones are layout.
        """
        if len(self._open) >= MAX_DEPTH:
            return ""
        if name == "table":
            return name if element.find(".//table") is None else "div"
        if name in _TABLE:
            return name if self._inside("table") else "div"
        if name in ("plaintext", "xmp", "listing", "textarea"):
            return "pre"
        if name in _INLINE or name in _BLOCKS:
            return name
        return "div" if name in _LIKE_A_BLOCK else "span"

    def _inside(self, *names: str) -> int:
        return sum(name in names for name, _ in self._open)

    def _text(self, text: str) -> None:
        if self._style[-1].is_hidden:
            self._hidden.append(text)
            return
        if self._hidden[-1] != _END:
            self._hidden.append(_END)
        if self._inside("pre"):
            text = text.expandtabs(8)
        self._written.append(escaped(text))

    def _picture(self, element: Any, style: Style) -> None:
        """Write a picture, or its alternative text if it cannot be shown."""
        address, words = element.get("src") or "", element.get("alt", "")
        content = self._images.get(address)
        if not content and (start := _DATA_URI.match(address)):
            with contextlib.suppress(binascii.Error, ValueError):
                content = base64.b64decode(address[start.end() :])
        if style.is_gone or style.is_invisible:
            self._hidden.append("" if content else words)
        elif content:
            name = f"picture-{len(self.pictures) + 1}"
            self.pictures[name] = content
            sizes = {key: element.get(key, "") for key in ("width", "height")}
            if any(size and not (_DIGITS.fullmatch(size) and int(size) <= MAX_PICTURE_PX) for size in sizes.values()):
                sizes = {}
            self._written.append(f'<img src="{name}"' + "".join(f' {k}="{v}"' for k, v in sizes.items() if v) + ">")
        elif words.strip():
            self._written.append(f"<i>{escaped(words)}</i>")


def _field(element: Any) -> str:
    kind = element.get("type", "text").lower()
    if kind in {"checkbox", "radio"}:
        return f"{_TICKED if 'checked' in element.attrib else _UNTICKED} "
    return str(element.get("value", "")) if kind in _TYPED_FIELDS else ""


def escaped(text: str) -> str:
    """Escape text for MuPDF, which decodes character references twice unless an element interrupts them."""
    text = breakable(_NOT_TEXT.sub("", text).replace("\x85", " "))  # the next-line sign of mainframes has no glyph
    return characters.marked(_REFERENCE.sub("&amp;<span></span>", escaping.escape(text, quote=False)))


def table(rows: Iterable[Iterable[str]], *, has_names: bool = False) -> str:
    """Return texts as a table, "" without rows; `has_names` tells that the first column names the others."""
    html = ""
    for row in rows:
        first, *others = (escaped(text).replace("\n", "<br>") for text in row)
        tag = "th" if has_names else "td"
        html += f"<tr><{tag}>{first}</{tag}>{''.join(f'<td>{cell}</td>' for cell in others)}</tr>"
    return f"<table>{html}</table>" if html else ""


def _attributes(element: Any, *, is_flat: bool, is_struck: bool) -> str:
    style = _STYLE.findall(element.get("style", ""))
    if is_flat:
        style.append("margin-left: 0; padding-left: 0")
    if is_struck:
        style.append("text-decoration: line-through")
    kept = {key: value for key, value in element.attrib.items() if key in _ATTRIBUTES and len(value) < 20}
    if element.get("class") == HIDDEN_CLASS:
        kept["class"] = HIDDEN_CLASS
    if style:
        kept["style"] = "; ".join(style)
    return "".join(f' {key}="{escaping.escape(value)}"' for key, value in kept.items())
