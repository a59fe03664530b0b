"""The characters that the glyphs of a rendition stand for.

MuPDF writes into a PDF what each glyph stands for by the font's own table, which knows none of the glyphs that shaping
puts together (Arabic, Devanagari, Thai), and writes characters beyond U+FFFF wrongly. The layout knows all of them.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rag.parsing.conversion.breaks import BREAK

_NEEDS_TABLE = re.compile(
    "[\u0300-\u036f\u0590-\u109f\u1780-\u17ff\u200c-\u200f\ufb00-\ufdff\ufe00-\ufeff\U00010000-\U0010ffff]"
)
_FORM = re.compile("[\ufb1d-\ufdff\ufe70-\ufefe]")
"""Shapes of Hebrew and Arabic letters, which nobody writes or looks for."""
_ENTRY = re.compile(r"^<([0-9a-f]{4})> ?(?:<([0-9a-f]{4})> ?)?<([0-9a-f]{4})>\s*$", re.MULTILINE)
NO_TEXT = "\ufeff"
"""What a glyph stands for that is no text: every reader of ours drops this mark."""
_BLOCK = 100
"""Lines in one block of a character map; the most that the format allows."""

Glyphs = dict[str, dict[int, Counter[str]]]
"""By a font's name and a glyph's number, what the glyph stood for, and how often."""


def collect(pages: Iterable[Any], text: str, glyphs: Glyphs) -> None:
    """Counts into `glyphs` what the glyphs of laid out `pages` (`pymupdf.Page`) stand for.

    It takes as long as the layout, so it is done only as far as their `text` has characters for which a font's own
    table may not do; of the places to break at one is enough.
    """
    if _NEEDS_TABLE.search(text) is None:
        if BREAK in text:
            _collect_break(pages, glyphs)
        return
    for page in pages:
        for span in page.get_texttrace():
            font = glyphs.setdefault(span["font"], defaultdict(Counter))
            for number, characters in _clusters(span["chars"]):
                font[number][characters] += 1


def _collect_break(pages: Iterable[Any], glyphs: Glyphs) -> None:
    for page in pages:
        for span in page.get_texttrace():
            for number, characters in _clusters(span["chars"]):
                if characters == BREAK:
                    glyphs.setdefault(span["font"], defaultdict(Counter))[number][BREAK] += 1
                    return


def _clusters(characters: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, str]]:
    """Glyphs and what they stand for.

    A character without a glyph belongs to the one before. Of a character with several glyphs each gets its part, where
    it has as many (Thai sara am); else the first one stands for it.
    """
    glyphs: list[int] = []
    text = ""
    for code, number, *_ in characters:
        character = chr(code) if 0 < code < 0x110000 else ""
        if glyphs and number >= 0 and character:
            yield from _shared(glyphs, text)
            glyphs, text = [], ""
        if number >= 0:
            glyphs.append(number)
        text += character
    yield from _shared(glyphs, text)


def _shared(glyphs: Sequence[int], text: str) -> Iterator[tuple[int, str]]:
    parts = unicodedata.normalize("NFKD", text) if len(glyphs) > 1 else ""
    yield from zip(glyphs, parts if len(parts) == len(glyphs) else [text] + [""] * len(glyphs[1:]), strict=False)


def write_tables(document: Any, glyphs: Mapping[str, Mapping[int, Counter[str]]]) -> None:
    """Tells in the PDF `document` what the glyphs of its fonts stand for."""
    fonts = {font[0]: font[3] for page in document for font in page.get_fonts()}
    for number, name in fonts.items():
        kind, value = document.xref_get_key(number, "ToUnicode")
        if kind != "xref" or name not in glyphs:
            continue
        stream = int(value.split()[0])
        own = _own(document.xref_stream(stream).decode("latin-1"))
        seen = {glyph: _meaning(counts, own.get(glyph)) for glyph, counts in glyphs[name].items()}
        document.update_stream(stream, _table({**own, **seen}))


def _own(table: str) -> dict[int, str]:
    """What MuPDF wrote of a font: the characters that its glyphs are made for."""
    own: dict[int, str] = {}
    for first, last, code in _ENTRY.findall(table):
        start, end = int(first, 16), int(last or first, 16)
        own.update((glyph, chr(int(code, 16) + glyph - start)) for glyph in range(start, min(end, 0xFFFF) + 1))
    return own


def _table(meanings: Mapping[int, str]) -> bytes:
    """A character map (ISO 32000-1, 9.10.3)."""
    lines = [f"<{glyph:04x}> <{text.encode('utf-16-be').hex()}>" for glyph, text in sorted(meanings.items())]
    blocks = [lines[start : start + _BLOCK] for start in range(0, len(lines), _BLOCK)]
    written = "\n".join("\n".join((f"{len(block)} beginbfchar", *block, "endbfchar")) for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo <</Registry(Adobe)/Ordering(UCS)/Supplement 0>> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        f"1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n{written}\n"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode()


def _meaning(counts: Counter[str], own: str | None) -> str:
    """What a glyph stands for.

    If it is made for one character it is that one, as syllables are laid out in another order than they are written in;
    else what it stood for most often. It is a place to break at only if it is never anything else.
    """
    meanings = [text for text, _ in counts.most_common() if text and text != BREAK]
    if not meanings:
        return NO_TEXT
    if own is None or own.isspace() or max(meanings[0]) > "\uffff":
        return meanings[0]
    return unicodedata.normalize("NFKC", own) if _FORM.fullmatch(own) else own
