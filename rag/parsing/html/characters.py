"""Prepare characters for MuPDF's layout, and correct what its fonts say about them.

Long runs without white space get line break opportunities. Characters that no font has are spelled out, or drawn as
boxes that keep their text; else all of them would be one empty glyph, which can stand for only one character.

MuPDF derives the ToUnicode tables, which map glyphs to characters, from the fonts. They lack the glyphs made by shaping
(Arabic, Devanagari, Thai), and are wrong for characters beyond U+FFFF. The layout knows which characters each glyph was
made from.
"""

import re
import struct
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from rag.parsing.pdf.mupdf import pymupdf

FAMILY = "missing"
"""Class and font family of the characters that are drawn as boxes."""
STYLE = "@font-face {{ font-family: {family}; src: url({file}) }} .{family} {{ font-family: {family} }}"
_COMMON = re.compile("[^\u0000-\u024f\u0370-\u052f\u2010-\u2027\u2030-\u205e\u4e00-\u9fa5\uac00-\ud7a3\ue000-\uf8ff]+")
"""Matches text with characters beyond the alphabets and signs that every layout has."""
_DRAWN = frozenset("LNPS")
"""First letters of the categories of characters with a glyph of their own."""
_BOXED = re.compile(f'<span class="{FAMILY}">(.)</span>')
_UNITS_PER_EM = 1000
_ADVANCE = 800
_OUTER, _INNER = (80, 0, 720, 700), (130, 50, 670, 650)
"""The frame of a box: left, bottom, right, top."""
_NEEDS_TABLE = re.compile(
    "[\u0300-\u036f\u0590-\u109f\u1780-\u17ff\u200c-\u200f\ufb00-\ufdff\ufe00-\ufeff\U00010000-\U0010ffff]"
)
_PRESENTATION_FORM = re.compile("[\ufb1d-\ufdff\ufe70-\ufefe]")
"""Presentation forms of Hebrew and Arabic letters, which nobody types or searches for."""
_ENTRY = re.compile(r"^<([0-9a-f]{4})> ?(?:<([0-9a-f]{4})> ?)?<([0-9a-f]{4})>\s*$", re.MULTILINE)
NO_TEXT = "\ufeff"
"""The meaning of a glyph that is not text; our text extraction drops this mark."""
_MAX_BLOCK_LINES = 100
"""Lines in one block of a character map, the maximum that the format allows."""

Glyphs = dict[str, dict[int, Counter[str]]]
"""How often each glyph stood for which characters, by font name and glyph number."""
BREAK = "\u200b"
"""Zero width space. MuPDF breaks a line there; its own `overflow-wrap: break-word` cuts off words of several fonts."""
LONGEST_RUN = 24
"""Longer runs, in characters, may be broken …"""
BREAK_EVERY = 8
"""… after every 8 characters, and after punctuation."""

_BROKEN_BY_ITSELF = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
"""Chinese, Japanese and Korean characters, between which MuPDF breaks lines anyway."""
_RUN = re.compile(rf"[^\s{BREAK}{_BROKEN_BY_ITSELF}]{{{LONGEST_RUN + 1},}}")
_PUNCTUATION = frozenset("/\\-_.,;:?&=+)]}>|")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer are written without white space between words."""
_PREVIOUS_JOINS = frozenset("\u200d\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4")
"""The zero width joiner, and vowels written before their consonant."""
_JOINS = frozenset("\u0e30\u0e32\u0e33\u0e45\u0e2f\u0e46\u0eb0\u0eb2\u0eb3\u0ec6")
_MARKS = frozenset(("Mn", "Mc", "Me", "Cf"))
_VIRAMA = 9


def marked(text: str) -> str:
    """Spell out words in a square ("㎡") that no font has, and mark other characters that none has, in escaped text."""
    return text if text.isascii() else _COMMON.sub(lambda part: "".join(map(_marked_character, part[0])), text)


def marked_characters(html: str) -> str:
    """Return the different characters that `marked` has marked in `html`.

    U+FFFD is the first, as MuPDF reads its glyph by its number, and the first is no letter.
    """
    return "".join(sorted(set(_BOXED.findall(html)), key=lambda character: (character != "\ufffd", character)))


@cache
def _marked_character(character: str) -> str:
    if unicodedata.category(character)[0] not in _DRAWN or (_has_glyph(character) and character != "\ufffd"):
        return character
    form, *parts = unicodedata.decomposition(character).split() or [""]
    spelled = "".join(chr(int(code, 16)) for code in parts)
    if form == "<square>" and all(map(_has_glyph, spelled)):
        return spelled
    return f'<span class="{FAMILY}">{character}</span>'


def _has_glyph(character: str) -> bool:
    """Return whether a font of MuPDF has the character. They map U+FFFD to another one, which must not be used."""
    return bool(_font().has_glyph(ord(character), fallback=1))


@cache
def _font() -> Any:
    return pymupdf.Font("tiro")


def font(name: str, characters: str) -> bytes:
    """Return a TrueType font that draws each of `characters` as a box, with a glyph of its own."""
    count = len(characters) + 1
    glyph = _glyph()
    # Each character has a group of its own in the character map (format 12).
    codes = sorted((ord(character), number) for number, character in enumerate(characters, start=1))
    groups = b"".join(struct.pack(">III", code, code, number) for code, number in codes)
    texts = [(number, text.encode("utf-16-be")) for number, text in ((1, name), (2, "Regular"), (4, name), (6, name))]
    names, strings = b"", b""
    for number, text in texts:
        names += struct.pack(">6H", 3, 1, 0x409, number, len(text), len(strings))
        strings += text
    tables = {
        b"cmap": struct.pack(">4HI2H3I", 0, 1, 3, 10, 12, 12, 0, 16 + len(groups), 0, len(characters)) + groups,
        b"glyf": glyph * count,
        b"head": struct.pack(
            ">IIIIHHQQhhhhHHhhh", 0x10000, 0x10000, 0, 0x5F0F3CF5, 0, _UNITS_PER_EM, 0, 0, *_OUTER, 0, 8, 2, 1, 0
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhQhH", 0x10000, 800, -200, 0, _ADVANCE, 80, 80, 720, 1, 0, 0, 0, 0, count),
        b"hmtx": struct.pack(">Hh", _ADVANCE, _OUTER[0]) * count,
        b"loca": struct.pack(f">{count + 1}I", *range(0, len(glyph) * (count + 1), len(glyph))),
        b"maxp": struct.pack(">IH13H", 0x10000, count, 8, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": struct.pack(">3H", 0, len(texts), 6 + len(names)) + names + strings,
        b"post": struct.pack(">IIhhIIIII", 0x30000, 0, 0, 0, 0, 0, 0, 0, 0),
    }
    directory, contents = b"", b""
    for key, table in tables.items():
        padded = table + bytes(-len(table) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory += key + struct.pack(">III", checksum, 12 + 16 * len(tables) + len(contents), len(table))
        contents += padded
    search = 1 << len(tables).bit_length() - 1
    ranges = (search * 16, search.bit_length() - 1, (len(tables) - search) * 16)
    return struct.pack(">I4H", 0x10000, len(tables), *ranges) + directory + contents


def _glyph() -> bytes:
    """Return the outline of a box (OpenType, glyf): a frame and, in the other direction, what is cut out of it."""
    corners: list[tuple[int, int]] = []
    for (left, bottom, right, top), step in ((_OUTER, 1), (_INNER, -1)):
        corners += [(left, bottom), (left, top), (right, top), (right, bottom)][::step]
    steps = [(x - before_x, y - before_y) for (before_x, before_y), (x, y) in pairwise([(0, 0), *corners])]
    xs, ys = zip(*steps, strict=True)
    head = struct.pack(">h4hHHH", 2, *_OUTER, 3, 7, 0)
    return head + b"\1" * 8 + struct.pack(">8h8h", *xs, *ys)


def needs_table(text: str) -> bool:
    """Return whether laid out `text` may have glyphs that MuPDF maps wrongly, or line break opportunities."""
    return BREAK in text or _NEEDS_TABLE.search(text) is not None


def collect_glyphs(pages: Iterable[Any], text: str, glyphs: Glyphs) -> None:
    """Count into `glyphs` what the glyphs on laid out `pages` (`pymupdf.Page`) stand for.

    This takes as long as the layout, so it is done only where `text` needs it.
    """
    if not needs_table(text):
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
    own: dict[int, str] = {}
    for first, last, code in _ENTRY.findall(table):
        start, end = int(first, 16), int(last or first, 16)
        own.update((glyph, chr(int(code, 16) + glyph - start)) for glyph in range(start, min(end, 0xFFFF) + 1))
    return own


def _table(meanings: Mapping[int, str]) -> bytes:
    lines = [f"<{glyph:04x}> <{text.encode('utf-16-be').hex()}>" for glyph, text in sorted(meanings.items())]
    blocks = [lines[start : start + _MAX_BLOCK_LINES] for start in range(0, len(lines), _MAX_BLOCK_LINES)]
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
    return unicodedata.normalize("NFKC", mapped) if _PRESENTATION_FORM.fullmatch(mapped) else mapped


def breakable(text: str) -> str:
    """Insert zero width spaces into the long runs of `text`, never inside a grapheme."""
    return _RUN.sub(lambda match: _break_run(match[0]), text)


def _break_run(run: str) -> str:
    written: list[str] = []
    since = 0
    previous = ""
    for character in run:
        is_joined = (
            character in _JOINS
            or previous in _PREVIOUS_JOINS
            or unicodedata.category(character) in _MARKS
            or unicodedata.combining(previous or " ") == _VIRAMA
        )
        is_after_punctuation = previous in _PUNCTUATION and character not in _PUNCTUATION
        may_end = since >= BREAK_EVERY or is_after_punctuation or _UNSPACED.match(character)
        if previous and may_end and not is_joined:
            written.append(BREAK)
            since = 0
        written.append(character)
        previous = character
        since += 1
    return "".join(written)
