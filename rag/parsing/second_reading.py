"""Compare what was read on a page with what another program reads there: PDFium, which shares no code with MuPDF.

Reading every page twice would double the time, so each tenth page is compared, and all of them once one differs.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from rag import types
from rag.parsing.pdf.character_cleaning import normalize_drawing
from rag.parsing.pdf.visibility import MIN_CONTRAST

EVERY = 10
"""One page in so many is compared."""
MIN_LOST = 3
"""Fewer characters may differ by the way in which a program splits ligatures or joins hyphenated words."""
EXCERPT_CHARS = 80
ZOOM = 2.0
"""Pixels per point when looking for ink."""
MAX_CODES = 0.02
"""Share of control and private-use characters from which PDFium's reading of a page says nothing."""
_NO_CHARACTERS = frozenset({"Cc", "Co", "Cs"})
_NO_LETTERS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Zs"})


class SecondReading:
    """Compares pages of the PDF at `path` with PDFium's reading; what PDFium cannot read is not compared."""

    def __init__(self, path: Path) -> None:
        self.missing: list[types.Missing] = []
        self.compared_pages = 0
        self._skipped: list[tuple[int, Sequence[str]]] = []
        try:
            self._document: Any = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError:
            self._document = None

    def add(self, number: int, lines: Sequence[str]) -> None:
        """Compare page `number` (from 1), of which `lines` were read, if its turn has come."""
        if self._document is None:
            return
        if number % EVERY != 1 and not self.missing:
            self._skipped.append((number, lines))
            return
        self._compare(number, lines)
        if self.missing:
            for skipped in self._skipped:
                self._compare(*skipped)
            self._skipped.clear()

    def _compare(self, number: int, lines: Sequence[str]) -> None:
        try:
            page = self._document[number - 1]
            text = page.get_textpage().get_text_range()
        except pypdfium2.PdfiumError:
            return
        counts = Counter("".join(text.split()))
        codes = sum(count for char, count in counts.items() if unicodedata.category(char) in _NO_CHARACTERS)
        if codes > MAX_CODES * len(text):
            return  # PDFium knows the characters of this page less than MuPDF
        self.compared_pages += 1
        lost = Counter(_letters(text)) - Counter(_letters("".join(lines)))
        if lost.total() < MIN_LOST:
            return
        read = Counter(_letters(word) for line in lines for word in line.split())
        places = [match for match in re.finditer(r"\S+", text) if _letters(match[0]) not in read]
        words = [match[0] for match in places if _has_ink(page, match.span())]
        characters = min(lost.total(), sum(len(_letters(word)) for word in words))
        if characters >= MIN_LOST:
            excerpt = " ".join(words)[:EXCERPT_CHARS]
            self.missing.append(types.Missing(place=f"page {number}", characters=characters, text=excerpt))


def _has_ink(page: Any, span: tuple[int, int]) -> bool:
    """Whether PDFium draws anything where it reads `span`, unlike text in hidden layers and clipped text."""
    text_page = page.get_textpage()
    lefts, bottoms, rights, tops = zip(*map(text_page.get_charbox, range(*span)), strict=True)
    page_left, _, _, page_top = page.get_cropbox()
    picture = _rendered(page)
    rows = range(int((page_top - max(tops)) * ZOOM), int((page_top - min(bottoms)) * ZOOM) + 1)
    columns = slice(max(0, int((min(lefts) - page_left) * ZOOM)), max(0, int((max(rights) - page_left) * ZOOM) + 1))
    pixels = b"".join(picture[row][columns] for row in rows if 0 <= row < len(picture))
    return bool(pixels) and max(pixels) - min(pixels) >= MIN_CONTRAST


@functools.lru_cache(maxsize=1)
def _rendered(page: Any) -> list[bytes]:
    """Return the rows of the page drawn in grey, not rotated."""
    bitmap = page.render(scale=ZOOM, rotation=-page.get_rotation() % 360, grayscale=True)
    pixels = bytes(bitmap.buffer)
    return [pixels[row * bitmap.stride : row * bitmap.stride + bitmap.width] for row in range(bitmap.height)]


def _letters(text: str) -> str:
    """Return the characters with a glyph of their own, in one form whatever their height and direction."""
    plain = unicodedata.normalize("NFKD", normalize_drawing(text))
    return "".join(filter(_is_letter, plain))


@functools.lru_cache(maxsize=4096)
def _is_letter(char: str) -> bool:
    return unicodedata.category(char) not in _NO_LETTERS and not char.isspace()
