"""Correct the ToUnicode tables of a PDF, which map glyphs to characters.

MuPDF derives these tables from the fonts. They lack the glyphs made by shaping (Arabic, Devanagari, Thai), and are
wrong for characters beyond U+FFFF. The layout knows which characters each glyph was made from.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rag.parsing.html.line_breaks import BREAK

_NEEDS_TABLE = re.compile(
    "[\u0300-\u036f\u0590-\u109f\u1780-\u17ff\u200c-\u200f\ufb00-\ufdff\ufe00-\ufeff\U00010000-\U0010ffff]"
)
_FORM = re.compile("[\ufb1d-\ufdff\ufe70-\ufefe]")
"""Presentation forms of Hebrew and Arabic letters, which nobody types or searches for."""
_ENTRY = re.compile(r"^<([0-9a-f]{4})> ?(?:<([0-9a-f]{4})> ?)?<([0-9a-f]{4})>\s*$", re.MULTILINE)
NO_TEXT = "\ufeff"
"""The meaning of a glyph that is not text; our text extraction drops this mark."""
_BLOCK = 100
"""Lines in one block of a character map, the maximum that the format allows."""

Glyphs = dict[str, dict[int, Counter[str]]]
"""How often each glyph stood for which characters, by font name and glyph number."""


def is_needed(text: str) -> bool:
    """Return whether laid out `text` may have glyphs that MuPDF maps wrongly, or line break opportunities."""
    return BREAK in text or _NEEDS_TABLE.search(text) is not None


def collect(pages: Iterable[Any], text: str, glyphs: Glyphs) -> None:
    """Count into `glyphs` what the glyphs on laid out `pages` (`pymupdf.Page`) stand for.

    This takes as long as the layout, so it is done only where `text` needs it.
    """
    if not is_needed(text):
        return
    needs_all = _NEEDS_TABLE.search(text) is not None
    for span in (span for page in pages for span in page.get_texttrace()):
        for number, characters in _clusters(span["chars"]):
            if needs_all or characters == BREAK:
                glyphs.setdefault(span["font"], defaultdict(Counter))[number][characters] += 1
            if not needs_all and characters == BREAK:  # one line break opportunity is enough
                return


def _clusters(characters: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, str]]:
    """Yield glyph numbers with the characters they stand for.

    A character without a glyph belongs to the previous glyph. If one character has several glyphs, each gets a part of
    its decomposition where the numbers match (Thai sara am), otherwise the first glyph gets it.
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
    """Write ToUnicode tables into the fonts of the PDF `document`."""
    fonts = {font[0]: font[3] for page in document for font in page.get_fonts()}
    for number, name in fonts.items():
        kind, value = document.xref_get_key(number, "ToUnicode")
        if kind != "xref" or name not in glyphs:
            continue
        stream = int(value.split()[0])
        table = _parse(document.xref_stream(stream).decode("latin-1"))
        seen = {glyph: _meaning(counts, table.get(glyph)) for glyph, counts in glyphs[name].items()}
        document.update_stream(stream, _table({**table, **seen}))


def _parse(table: str) -> dict[int, str]:
    """Parse the ToUnicode table that MuPDF wrote for a font."""
    own: dict[int, str] = {}
    for first, last, code in _ENTRY.findall(table):
        start, end = int(first, 16), int(last or first, 16)
        own.update((glyph, chr(int(code, 16) + glyph - start)) for glyph in range(start, min(end, 0xFFFF) + 1))
    return own


def _table(meanings: Mapping[int, str]) -> bytes:
    """Format a ToUnicode character map (ISO 32000-1, 9.10.3)."""
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


def _meaning(counts: Counter[str], mapped: str | None) -> str:
    """Return the characters that a glyph stands for.

    A glyph that the font made for one character stands for it, since syllables are laid out in another order than they
    are written. Others stand for what they stood for most often, for a line break only if never for anything else.
    """
    meanings = [text for text, _ in counts.most_common() if text and text != BREAK]
    if not meanings:
        return NO_TEXT
    if mapped is None or mapped.isspace() or max(meanings[0]) > "\uffff":
        return meanings[0]
    return unicodedata.normalize("NFKC", mapped) if _FORM.fullmatch(mapped) else mapped
