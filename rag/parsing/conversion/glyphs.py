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
    f"[{BREAK}\u0300-\u036f\u0590-\u109f\u1780-\u17ff\u200c-\u200f\ufb00-\ufdff\ufe00-\ufeff\U00010000-\U0010ffff]"
)
NO_TEXT = "\ufeff"
"""What a glyph stands for that is no text: every reader of ours drops this mark."""
_BLOCK = 100
"""Lines in one block of a character map; the most that the format allows."""

Glyphs = dict[str, dict[int, Counter[str]]]
"""By a font's name and a glyph's number, what the glyph stood for, and how often."""


def collect(pages: Iterable[Any], glyphs: Glyphs) -> None:
    """Counts into `glyphs` what the glyphs of laid out `pages` (`pymupdf.Page`) stand for."""
    for page in pages:
        for span in page.get_texttrace():
            font = glyphs.setdefault(span["font"], defaultdict(Counter))
            for number, characters in _clusters(span["chars"]):
                font[number][characters] += 1


def need_table(text: str) -> bool:
    """Whether `text` has characters for which a font's own table may not do."""
    return _NEEDS_TABLE.search(text) is not None


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
        if kind == "xref" and name in glyphs:
            document.update_stream(int(value.split()[0]), _table(glyphs[name]))


def _table(font: Mapping[int, Counter[str]]) -> bytes:
    """A character map (ISO 32000-1, 9.10.3)."""
    lines = [
        f"<{number:04x}> <{_meaning(counts).encode('utf-16-be').hex()}>" for number, counts in sorted(font.items())
    ]
    blocks = [lines[start : start + _BLOCK] for start in range(0, len(lines), _BLOCK)]
    written = "\n".join("\n".join((f"{len(block)} beginbfchar", *block, "endbfchar")) for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo <</Registry(Adobe)/Ordering(UCS)/Supplement 0>> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        f"1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n{written}\n"
        "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode()


def _meaning(counts: Counter[str]) -> str:
    """What a glyph stands for most often; places to break at only if it is never anything else."""
    meanings = [text for text, _ in counts.most_common() if text and text != BREAK]
    return meanings[0] if meanings else NO_TEXT
