"""Characters that no font of the layout has: found, spelled out, or drawn as boxes that keep their text.

Without this, all of them would be one empty glyph, which can stand for only one character.
"""

import re
import struct
import unicodedata
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
_BOX = re.compile(f'<span class="{FAMILY}">(.)</span>')
_UNITS_PER_EM = 1000
_ADVANCE = 800
_OUTER, _INNER = (80, 0, 720, 700), (130, 50, 670, 650)
"""The frame of a box: left, bottom, right, top."""


def marked(text: str) -> str:
    """Spell out words in a square ("㎡") that no font has, and mark other characters that none has, in escaped text."""
    return text if text.isascii() else _COMMON.sub(lambda part: "".join(map(_marked_character, part[0])), text)


def marked_characters(html: str) -> str:
    """Return the different characters that `marked` has marked in `html`.

    U+FFFD is the first, as MuPDF reads its glyph by its number, and the first is no letter.
    """
    return "".join(sorted(set(_BOX.findall(html)), key=lambda character: (character != "\ufffd", character)))


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
