"""The text of flowing files, read by another way than the one that lays it out."""

import html
import html.parser
import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from rag.parsing.conversion.source import SourceText

_HIDDEN = frozenset(("head", "script", "style", "template", "title", "object"))
_WITHIN_A_LINE = re.compile(
    "a|abbr|b|bd[io]|big|cite|code|del|dfn|em|font|i|ins|kbd|label|mark|nobr|q|ruby|s|samp|small|span|strike|strong"
    "|su[bp]|tt|u|var|wbr"
)


def of_lines(text: str) -> Iterator[SourceText]:
    """The lines of plain text."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield SourceText(f"line {number}", line)


def of_html(text: str) -> list[SourceText]:
    """What HTML shows, paragraph by paragraph, cell by cell."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_piece()
    return reader.pieces


def of_markdown(tokens: Sequence[Token]) -> Iterator[SourceText]:
    """What Markdown shows, paragraph by paragraph, cell by cell."""
    line = 1
    for token in tokens:
        line = token.map[0] + 1 if token.map else line
        text = _token_text(token)
        if text.strip():
            yield SourceText(f"line {line}", text)


def _token_text(token: Token) -> str:
    """What a token shows; those of a paragraph are one text, so that tags within it go with what they enclose."""
    if token.type == "inline":
        inner = "".join(_inline_text(child) for child in token.children or ())
        return _plain(inner)
    if token.type in ("fence", "code_block"):
        return token.content
    return _plain(token.content) if token.type == "html_block" else ""


def _inline_text(token: Token) -> str:
    """As HTML."""
    if token.type == "html_inline":
        return token.content
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return html.escape(token.content, quote=False)


def _plain(text: str) -> str:
    return " ".join(piece.text for piece in of_html(text))


class _Reader(html.parser.HTMLParser):
    """Collects what is between tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[SourceText] = []
        self._texts: list[str] = []
        self._line = 1
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._boundary(tag)
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

    def handle_data(self, data: str) -> None:
        if not self._hidden and data:
            if not self._texts:
                self._line = self.getpos()[0]
            self._texts.append(data)

    def _boundary(self, tag: str) -> None:
        if not _WITHIN_A_LINE.fullmatch(tag):
            self.end_piece()
        if tag == "body":
            self._hidden.clear()

    def end_piece(self) -> None:
        """What comes now stands by itself."""
        text = "".join(self._texts)
        if text.strip():
            self.pieces.append(SourceText(f"line {self._line}", text))
        self._texts = []
