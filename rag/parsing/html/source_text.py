"""Read the text of HTML independently of the layout, to detect lost text."""

import html.parser
import re
from typing import NamedTuple

_HIDDEN = frozenset(("head", "ix:references", "ix:resources", "object", "script", "style", "template", "title"))
_HEADING = re.compile("h[1-6]")
_INLINE = re.compile(
    "a|abbr|b|bd[io]|big|cite|code|del|dfn|em|font|i|ins|kbd|label|mark|nobr|q|ruby|s|samp|small|span|strike|strong"
    "|su[bp]|tt|u|var|wbr"
)


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
