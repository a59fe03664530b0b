"""Type for tables drawn by the thousand cells: widths, line breaks and operators of PDF, without a library call each.

Most text is Windows-1252 and needs no embedded font; other letters come from fonts that MuPDF has with it. What none
of these has, or what must be shaped, such as Arabic and Thai, is left to MuPDF's own typesetting of HTML.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rag.parsing.pdf.mupdf import pymupdf

_UNPRINTABLE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\ufeff]")
_ESCAPED = re.compile(rb"[()\\]")
_WORDS = re.compile(r"\S+\s*|\s+")
UNITS_PER_EM = 1000
GUESSED_EM = 0.62
"""The width of a character that no font here has."""
MIXED = 1.1
"""Text that is left to MuPDF may be so much wider than its letters are here."""


class Line(NamedTuple):
    """A line of a cell. One that `continues` a word which was cut is set in a little."""

    text: str
    continues: bool = False


class _Outline(pymupdf.mupdf.FzPathWalker2):  # type: ignore[misc, name-defined]  # untyped
    """Takes down the outline of a glyph as operators of PDF, in thousandths of an em."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[str] = []
        self.use_virtual_moveto()
        self.use_virtual_lineto()
        self.use_virtual_curveto()
        self.use_virtual_closepath()

    def moveto(self, _context: Any, *point: float) -> None:
        self._take("m", point)

    def lineto(self, _context: Any, *point: float) -> None:
        self._take("l", point)

    def curveto(self, _context: Any, *points: float) -> None:
        self._take("c", points)

    def closepath(self, _context: Any) -> None:
        self._take("h", ())

    def _take(self, operator: str, numbers: Sequence[float]) -> None:
        self.operators.append(" ".join([*(str(round(UNITS_PER_EM * number)) for number in numbers), operator]))


class Face:
    """A font: `name` in the page's resources; `embedded` ones are written by the numbers of their glyphs."""

    def __init__(self, name: str, font_name: str, *, embedded: bool) -> None:
        self.name = name
        self.embedded = embedded
        self._font = pymupdf.Font(font_name)
        self._font_name = font_name
        self._glyphs: dict[str, int] = {}
        self._widths: dict[str, float] = {}
        self._outlines: dict[str, bytes] = {}

    def insert(self, page: Any) -> None:
        """Puts the font among the page's."""
        if self.embedded:
            page.insert_font(fontname=self.name, fontbuffer=self._font.buffer)
        else:
            page.insert_font(fontname=self._font_name)

    def can_set(self, text: str) -> bool:
        """Whether it has all the characters."""
        if self.embedded:
            return all(map(self._glyph, text))
        if text.isascii():
            return True
        try:
            text.encode("cp1252")
        except UnicodeEncodeError:
            return False
        return True

    def width(self, text: str, size: float) -> float:
        """The width of `text`, in points."""
        widths = self._widths
        total = 0.0
        for character in text:
            width = widths.get(character)
            if width is None:
                width = widths[character] = self._font.glyph_advance(ord(character))
            total += width
        return total * size

    def operand(self, text: str) -> bytes:
        """`text` as a string of a content stream."""
        if self.embedded:
            return b"<" + "".join(f"{self._glyph(character):04x}" for character in text).encode() + b">"
        return b"(" + _ESCAPED.sub(rb"\\\g<0>", text.encode("cp1252")) + b")"

    def outline(self, character: str) -> bytes:
        """A character as a filled shape, an em being `UNITS_PER_EM`."""
        if character not in self._outlines:
            mupdf, outline = pymupdf.mupdf, _Outline()
            path = mupdf.fz_outline_glyph(self._font.this, self._glyph(character), mupdf.FzMatrix())
            mupdf.fz_walk_path(path, outline, outline.m_internal)
            self._outlines[character] = " ".join([*outline.operators, "f"]).encode()
        return self._outlines[character]

    def _glyph(self, character: str) -> int:
        if character not in self._glyphs:
            self._glyphs[character] = self._font.has_glyph(ord(character))
        return self._glyphs[character]


class Faces:
    """The fonts of a document, light and bold, from the plainest to the one with most characters."""

    def __init__(self) -> None:
        wide = Face("Wide", "cjk", embedded=True)
        self._light = (Face("helv", "helv", embedded=False), Face("Nimbus", "helv", embedded=True), wide)
        self._bold = (Face("hebo", "hebo", embedded=False), Face("NimbusBold", "hebo", embedded=True), wide)

    @property
    def plain(self) -> Face:
        """The one that needs not be embedded."""
        return self._light[0]

    def of(self, text: str, *, bold: bool) -> Face | None:
        """The face that sets `text`; None if it is to be set as HTML."""
        return next((face for face in (self._bold if bold else self._light) if face.can_set(text)), None)

    def width(self, text: str, size: float, *, bold: bool) -> float:
        """The width of `text` on one line, in points."""
        face = self.of(text, bold=bold)
        if face is not None:
            return face.width(text, size)
        return MIXED * sum(self._one_width(character, size, bold) for character in text)

    def _one_width(self, character: str, size: float, bold: bool) -> float:
        face = self.of(character, bold=bold)
        return face.width(character, size) if face else GUESSED_EM * size

    def wrapped(self, text: str, size: float, width: float, *, bold: bool) -> list[Line]:
        """`text` in lines no wider than `width`; a word that is wider is cut."""
        if text.isprintable() and self.width(text, size, bold=bold) <= width:
            return [Line(text.strip())]
        text = _UNPRINTABLE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n"))
        if "\n" not in text and self.width(text, size, bold=bold) <= width:
            return [Line(text.strip())]
        return [
            line for part in text.split("\n") if part.strip() for line in self._broken(part.strip(), size, width, bold)
        ]

    def _broken(self, text: str, size: float, width: float, bold: bool) -> Iterator[Line]:
        current, continues = "", False
        for word in _WORDS.findall(text):
            if current and self.width((current + word).rstrip(), size, bold=bold) > width:
                yield Line(current.rstrip(), continues)
                current, continues = "", False
            current += word
            while len(current.rstrip()) > 1 and self.width(current.rstrip(), size, bold=bold) > width:
                fitting = self._fitting(current, size, width, bold)
                yield Line(current[:fitting], continues)
                current, continues = current[fitting:], True
        if current.strip():
            yield Line(current.rstrip(), continues)

    def _fitting(self, text: str, size: float, width: float, bold: bool) -> int:
        """How many characters of a word fit on a line, at least one."""
        total = 0.0
        for index, character in enumerate(text):
            total += self.width(character, size, bold=bold)
            if total > width:
                return max(1, index)
        return len(text)
