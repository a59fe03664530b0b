"""Compare what was read on a page with what another program reads there: PDFium, which shares no code with MuPDF.

Reading every page twice would double the time, so each tenth page is compared, and all of them once one differs.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from rag.parsing.pdf.character_cleaning import normalize_drawing
from rag.types import Missing

EVERY = 10
"""One page in so many is compared."""
MIN_LOST = 3
"""Fewer characters may differ by the way in which a program splits ligatures or joins hyphenated words."""
EXCERPT_CHARS = 80
_NO_LETTERS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Zs"})


class SecondReading:
    """Compares pages of the PDF at `path` with PDFium's reading; what PDFium cannot read is not compared."""

    def __init__(self, path: Path) -> None:
        self.missing: list[Missing] = []
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
            text = page.get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            return
        self.compared_pages += 1
        lost = Counter(_letters(text)) - Counter(_letters("".join(lines)))
        if lost.total() >= MIN_LOST:
            read = Counter(_letters(word) for line in lines for word in line.split())
            words = [word for word in text.split() if _letters(word) not in read]
            excerpt = " ".join(words)[:EXCERPT_CHARS]
            self.missing.append(Missing(place=f"page {number}", characters=lost.total(), text=excerpt))


def _letters(text: str) -> str:
    """Return the characters with a glyph of their own, in one form whatever their height and direction."""
    plain = unicodedata.normalize("NFKD", normalize_drawing(text))
    return "".join(char for char in plain if unicodedata.category(char) not in _NO_LETTERS and not char.isspace())
