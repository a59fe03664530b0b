"""Give the glyphs of a PDF's fonts the characters that they show, as /ToUnicode maps.

Fonts tell characters by a map, glyph names or codes of a symbol font, and many tell none for signs such as the minus.
MuPDF then reads nothing, or another letter. The maps are completed in the file before anything reads it, so everybody
reads the same; glyphs that nothing tells are U+FFFD. What is drawn does not change.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby, islice
from typing import Any, NamedTuple

from rag.parsing.pdf import glyph_names
from rag.parsing.pdf.character_cleaning import UNKNOWN
from rag.parsing.pdf.glyph_names import is_character
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf

mupdf = pymupdf.mupdf

MAX_FONTS = 5_000
"""Fonts of a file that are looked at."""
MAX_DEPTH = 8
"""Nested drawings that are searched for fonts."""
MAX_GLYPHS = 65_536
MAX_UNMAPPED = 1_000
"""A map that lacks more glyphs is of a font whose glyphs are mostly unused."""
MAX_RANGES = 2_000
"""Ranges of codes in a map; each may have all codes."""
MAX_SHAPES = 256
"""Glyphs of a font whose shapes are looked at."""
MAX_PAIRS = 100
"""Characters in a block of a map."""
SHAPE_PX = 64
"""Size of type for looking at shapes."""
MIDDLE_EM = 0.15, 0.6
"""Height above the baseline of the middle of signs and bullets."""
MIN_SHAPE_EM, HYPHEN_EM, DASH_EM = 0.12, 0.4, 0.9
"""Least widths of a sign, of a minus and of a dash."""
MIN_BAR_RATIO, MIN_EVEN = 2.5, 0.85
MIN_FILLED, DISC_TOLERANCE = 0.9, 0.06
MIN_TEX_LETTERS = 8
"""Letters in a font of TeX that is for text."""
_TEX_LIGATURES = {11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl"}
"""Of TeX's old text encoding (OT1), in whose bitmap fonts codes are the names."""
_SYSTEM_KEYS = mupdf.PDF_ENUM_NAME_Registry, mupdf.PDF_ENUM_NAME_Ordering

_CID_MAPS = ("Adobe-GB1", "Adobe-CNS1", "Adobe-Japan1", "Adobe-Korea1")
"""Character collections whose characters MuPDF knows."""
_SUSPECT = re.compile(
    rb"<\s*(?:[eE][0-9a-fA-F]{3}|[fF][0-8][0-9a-fA-F]{2}|[fF]{3}[dD])\s*>"
    rb"|>\s*<\s*00(?:[01][0-9a-fA-F]|7[fF]|[89][0-9a-fA-F])\s*>[ \t]*[\r\n]"
)
"""A private character or U+FFFD in a map, or a control character at the end of a line there."""
_RANGE = re.compile(rb"<\s*([0-9a-fA-F]{1,4})\s*>\s*<\s*([0-9a-fA-F]{1,4})\s*>\s*[<\[]")
_PAIR = re.compile(rb"<\s*([0-9a-fA-F]{1,4})\s*>\s*<\s*[0-9a-fA-F\s]+>")


class Naming(NamedTuple):
    """Whether fonts were changed, and whether glyphs remain whose characters nothing tells."""

    changed: bool = False
    has_unknown: bool = False


class Misread(NamedTuple):
    """What a glyph shows. `is_left_out` tells that MuPDF reads U+FFFD anyway, and there is nothing better."""

    text: str
    is_left_out: bool = False


def name_glyphs(document: Any) -> Naming:
    """Complete the maps of the fonts of `document`, before any of its text is read."""
    changed = has_unknown = False
    for font in _fonts(document):
        try:
            misread = _misread_codes(document, font)
            if mapping := {code: glyph.text for code, glyph in misread.items() if not glyph.is_left_out}:
                _write_map(document, font, mapping)
                changed = True
        except MUPDF_ERRORS:
            continue  # MuPDF draws a font that it cannot load with another one
        has_unknown = has_unknown or any(glyph.text == UNKNOWN for glyph in misread.values())
    if changed:
        pymupdf.TOOLS.store_shrink(100)  # MuPDF keeps the fonts that it loaded
    return Naming(changed, has_unknown)


def _get(thing: Any, *keys: str) -> Any:
    for key in keys:
        thing = mupdf.pdf_dict_gets(thing, key)
    return thing


def _values(thing: Any) -> Iterator[Any]:
    for index in range(mupdf.pdf_dict_len(thing)):
        yield mupdf.pdf_dict_get_val(thing, index)


def _name(thing: Any) -> str:
    return str(mupdf.pdf_to_name(thing))


def _map_content(font: Any) -> bytes:
    stream = _get(font, "ToUnicode")
    return bytes(mupdf.pdf_load_stream(stream).fz_buffer_extract()) if mupdf.pdf_is_stream(stream) else b""


def _fonts(document: Any) -> Iterator[Any]:
    """Yield each font of the pages, also of the drawings, patterns and annotations on them."""
    pdf = mupdf.pdf_document_from_fz_document(document)
    seen: set[int] = set()
    found = 0
    for index in range(document.page_count):
        try:
            page = mupdf.pdf_lookup_page_obj(pdf, index)
            resources = mupdf.pdf_dict_gets_inheritable(page, "Resources")
            appearances = _appearances(_get(page, "Annots"))
            for font in (*_fonts_of(resources, seen, 0), *_fonts_inside(appearances, seen, 0)):
                yield font
                found += 1
                if found == MAX_FONTS:
                    return
        except MUPDF_ERRORS:
            continue


def _appearances(annotations: Any) -> Iterator[Any]:
    for index in range(mupdf.pdf_array_len(annotations)):
        normal = _get(mupdf.pdf_array_get(annotations, index), "AP", "N")
        if mupdf.pdf_is_stream(normal):
            yield normal
        else:
            yield from _values(normal)


def _fonts_of(resources: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if _is_seen(resources, seen):
        return
    for font in _values(_get(resources, "Font")):
        if not _is_seen(font, seen):
            yield font
            if _name(_get(font, "Subtype")) == "Type3":
                yield from _fonts_inside((font,), seen, depth)
    for kind in ("XObject", "Pattern"):
        yield from _fonts_inside(_values(_get(resources, kind)), seen, depth)


def _fonts_inside(drawings: Iterable[Any], seen: set[int], depth: int) -> Iterator[Any]:
    if depth < MAX_DEPTH:
        for drawing in drawings:
            yield from _fonts_of(_get(drawing, "Resources"), seen, depth + 1)


def _is_seen(thing: Any, seen: set[int]) -> bool:
    number = mupdf.pdf_to_num(thing)
    if number in seen:
        return True
    if number:
        seen.add(number)
    return False


def _misread_codes(document: Any, font: Any) -> dict[int, Misread]:
    """Return what those codes of a font show that MuPDF would misread."""
    table = _map_content(font)
    if _name(_get(font, "Subtype")) == "Type0":
        return _composite_glyphs(document, font, table)
    differences = dict(_differences(_get(font, "Encoding", "Differences")))
    if not _may_misread(font, differences, table):
        return {}
    loaded = _Font(document, font, table)
    is_tex = sum(name == f"a{code}" for code, name in differences.items() if 0x61 <= code <= 0x7A) >= MIN_TEX_LETTERS
    misread: dict[int, Misread] = {}
    for code in range(256):
        glyph = mupdf.pdf_font_cid_to_gid(loaded.described, code)
        if (glyph and not loaded.is_type3) or code in differences or loaded.has_pictures:
            found = _simple_glyph(loaded, code, glyph, differences.get(code) or loaded.name(glyph), is_tex)
            if found:
                misread[code] = found
    return misread


def _may_misread(font: Any, differences: Mapping[int, str], table: bytes) -> bool:
    """Whether a simple font has codes that MuPDF may misread, told without loading it."""
    if glyph_names.symbol_font(_name(_get(font, "BaseFont"))) not in (None, "Symbol") or _SUSPECT.search(table):
        return True
    if any(glyph_names.listed(name) is None for name in differences.values()):
        return True
    encoding = _get(font, "Encoding")
    is_named = mupdf.pdf_is_name(encoding) or mupdf.pdf_is_name(_get(encoding, "BaseEncoding"))
    return not table and not is_named and mupdf.pdf_is_dict(_get(font, "FontDescriptor"))


def _differences(array: Any) -> Iterator[tuple[int, str]]:
    """Yield the codes and glyph names of an encoding's differences (ISO 32000-1, 9.6.6.1)."""
    code = 0
    for index in range(min(mupdf.pdf_array_len(array), 2 * MAX_GLYPHS)):
        item = mupdf.pdf_array_get(array, index)
        if not mupdf.pdf_is_name(item):
            code = mupdf.pdf_to_int(item)
            continue
        if 0 <= code < 256 and (name := _name(item)) != ".notdef":
            yield code, name
        code += 1


class _Font:
    """A font as MuPDF loads it. `listed` are the codes that its map has."""

    def __init__(self, document: Any, font: Any, table: bytes) -> None:
        self.described, self.face = glyph_names.load_font(document, font)
        self.symbols = glyph_names.symbol_font(_name(_get(font, "BaseFont")))
        self.has_pictures = self.symbols not in (None, "Symbol")
        self.is_type3 = _name(_get(font, "Subtype")) == "Type3"
        self.listed = _listed_codes(table)
        pointer = self.described.m_internal.to_unicode
        self._map = mupdf.PdfCmap(mupdf.ll_pdf_keep_cmap(pointer)) if pointer else None
        self._looked_at = 0

    def mapped(self, code: int) -> str | None:
        """Return the character that the font's map gives; None if it gives none or several."""
        value = mupdf.pdf_lookup_cmap(self._map, code) if self._map is not None else -1
        return chr(value) if 0 <= value < 0x110000 else None

    def name(self, glyph: int) -> str:
        """Return the name of a glyph in the font program; without names there MuPDF gives the glyph's number."""
        name = str(mupdf.fz_get_glyph_name2(self.face, glyph))
        return "" if name == ".notdef" or name.isdigit() else name

    @cached_property
    def characters(self) -> dict[int, str]:
        """The characters of the glyphs by the font program's own table."""
        pairs = [(pair.gid, chr(pair.ucs)) for pair in mupdf.fz_enumerate_font_cmap2(self.face)]
        return {glyph: text for glyph, text in reversed(pairs) if is_character(text)}

    def shape(self, glyph: int) -> str | None:
        """Return the character that the glyph's shape tells, for some glyphs of the font."""
        self._looked_at += 1
        return _by_shape(self.face, glyph) if self._looked_at <= MAX_SHAPES else None


def _listed_codes(table: bytes) -> set[int]:
    listed = {int(match[1], 16) for match in _PAIR.finditer(table)}
    ranges = {(int(match[1], 16), int(match[2], 16)) for match in islice(_RANGE.finditer(table), MAX_RANGES)}
    for first, last in ranges:
        listed.update(range(first, last + 1))
    return listed


def _simple_glyph(font: _Font, code: int, glyph: int, name: str, is_tex: bool) -> Misread | None:
    """Return what a code of a simple font shows; None if MuPDF reads it rightly."""
    mapped = font.mapped(code)
    if mapped is None and code in font.listed:
        return None  # several characters
    if mapped and is_character(mapped) and not (font.has_pictures and ord(mapped) < 0x100):
        return None
    read = chr(mupdf.fz_unicode_from_glyph_name(name)) if name else ""
    if mapped is None and not font.has_pictures:
        if not name or (is_character(read) and not glyph_names.is_dingbat(name, code)):
            return None
        if is_tex and code in _TEX_LIGATURES:
            return Misread(_TEX_LIGATURES[code])
    text = (
        _by_symbol_font(font, mapped or chr(code))
        or glyph_names.by_name(name, code)
        or _known(glyph_names.private(mapped or ""))
        or _known(read)
        or font.shape(glyph)
        or UNKNOWN
    )
    return Misread(text, is_left_out=mapped is None and read == UNKNOWN and text in (UNKNOWN, " "))


def _by_symbol_font(font: _Font, mapped: str) -> str | None:
    """Return what a symbol font shows for a code, or for the private character U+F0xx that stands for it."""
    is_code = ord(mapped) < 0x100 or 0xF000 <= ord(mapped) < 0xF100
    return glyph_names.by_code(font.symbols, ord(mapped)) if font.symbols and is_code else None


def _known(text: str) -> str | None:
    return text if is_character(text) else None


def _composite_glyphs(document: Any, font: Any, table: bytes) -> dict[int, Misread]:
    """Return what those codes of a composite font show that have no character, or a private one.

    Only fonts whose codes are the numbers of their characters (CIDs) can be told.
    """
    descendant = mupdf.pdf_array_get(_get(font, "DescendantFonts"), 0)
    if not _name(_get(font, "Encoding")).startswith("Identity-"):
        return {}
    system = _get(descendant, "CIDSystemInfo")
    collection = "-".join(mupdf.pdf_dict_get_text_string(system, key) for key in _SYSTEM_KEYS)
    program = _get(descendant, "FontDescriptor")
    is_embedded = any(mupdf.pdf_is_stream(_get(program, key)) for key in ("FontFile2", "FontFile3"))
    if not table and (collection in _CID_MAPS or not is_embedded):
        return {}
    codes = _used_codes(_get(descendant, "W"))
    listed = _listed_codes(table)
    missing = [code for code in codes if code not in listed]
    if table and not _SUSPECT.search(table) and not 0 < len(missing) <= MAX_UNMAPPED:
        return {}
    loaded = _Font(document, font, table)
    if not table:
        missing = [*range(1, min(loaded.face.m_internal.glyph_count, MAX_GLYPHS))]
    elif len(missing) > MAX_UNMAPPED:
        missing = []
    suspects = listed if _SUSPECT.search(table) else ()
    private = [code for code in suspects if (text := loaded.mapped(code)) and not is_character(text)]
    has_wrong_map = mupdf.pdf_is_name(_get(font, "ToUnicode"))
    found = {code: _composite_character(loaded, code) for code in (*missing, *private)}
    return {
        code: Misread(text, code not in listed and not has_wrong_map and text in ((UNKNOWN, " ") if table else UNKNOWN))
        for code, text in found.items()
        if text
    }


def _used_codes(widths: Any) -> list[int]:
    """Return the codes that have widths (ISO 32000-1, 9.7.4.3), which are mostly those that the file uses."""
    codes: list[int] = []
    index, length = 0, mupdf.pdf_array_len(widths)
    while index + 1 < length and len(codes) < MAX_GLYPHS:
        first = mupdf.pdf_to_int(mupdf.pdf_array_get(widths, index))
        second = mupdf.pdf_array_get(widths, index + 1)
        if mupdf.pdf_is_array(second):
            last, step = first + mupdf.pdf_array_len(second) - 1, 2
        else:
            last, step = mupdf.pdf_to_int(second), 3
        codes += range(max(first, 1), min(last, MAX_GLYPHS - 1) + 1)
        index += step
    return codes[:MAX_GLYPHS]


def _composite_character(font: _Font, code: int) -> str | None:
    glyph = mupdf.pdf_font_cid_to_gid(font.described, code)
    if glyph <= 0:
        return None
    mapped = (font.mapped(code) if font.listed else None) or ""
    return (
        (mapped and _by_symbol_font(font, mapped))
        or _known(glyph_names.private(mapped))
        or font.characters.get(glyph)
        or glyph_names.by_name(font.name(glyph), -1)
        or font.shape(glyph)
        or UNKNOWN
    )


def _by_shape(face: Any, glyph: int) -> str | None:
    """Return the character of a glyph that is blank, or a bar, square or disc at the height of the minus."""
    window = mupdf.FzIrect(-SHAPE_PX, -SHAPE_PX, 2 * SHAPE_PX, 2 * SHAPE_PX)
    picture = mupdf.fz_render_glyph_pixmap(face, glyph, mupdf.fz_scale(SHAPE_PX, SHAPE_PX), window, 8)
    if not picture.m_internal:  # the font program has no such glyph, or a damaged one
        return None
    width = mupdf.fz_pixmap_width(picture)
    pixels = bytes(mupdf.fz_pixmap_samples_memoryview(picture))
    inked = [divmod(place, width) for place, ink in enumerate(pixels) if ink > 127]
    if not inked:
        return None if any(pixels) else " "
    rows, columns = [row for row, _ in inked], [column for _, column in inked]
    wide, high = max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
    middle = (mupdf.fz_pixmap_y(picture) + (max(rows) + min(rows) + 1) / 2) / SHAPE_PX
    filled, em, ratio = len(inked) / (wide * high), wide / SHAPE_PX, wide / high
    if not MIDDLE_EM[0] < middle < MIDDLE_EM[1] or em < MIN_SHAPE_EM:
        return None
    if ratio > MIN_BAR_RATIO and filled > MIN_FILLED:
        return "-" if em < HYPHEN_EM else "−" if em < DASH_EM else "—"
    if MIN_EVEN < ratio < 1 / MIN_EVEN and filled > MIN_FILLED:
        return "▪" if em < HYPHEN_EM else "■"
    lines = [[column for _, column in row] for _, row in groupby(inked, key=lambda place: place[0])]
    is_solid = all(line[-1] - line[0] + 1 == len(line) for line in lines)  # each row has one run of ink
    if MIN_EVEN < ratio < 1 / MIN_EVEN and abs(filled - math.pi / 4) < DISC_TOLERANCE and is_solid:
        return "•" if em < HYPHEN_EM else "●"
    return None


def _write_map(document: Any, font: Any, mapping: Mapping[int, str]) -> None:
    """Add `mapping` to the font's map (Adobe Technical Note 5411)."""
    old = _map_content(font)
    digits = 4 if _name(_get(font, "Subtype")) == "Type0" else 2
    head, _, tail = old.rpartition(b"endcmap") if b"endcmap" in old else (old, b"", b"")
    if not old:
        limits = f"<{'0' * digits}> <{'F' * digits}>"
        head = f"begincmap 1 begincodespacerange {limits} endcodespacerange".encode()
    lines = [f"<{code:0{digits}X}> <{text.encode('utf-16-be').hex()}>" for code, text in mapping.items()]
    blocks = [lines[start : start + MAX_PAIRS] for start in range(0, len(lines), MAX_PAIRS)]
    added = "".join(f"\n{len(block)} beginbfchar\n{chr(10).join(block)}\nendbfchar" for block in blocks)
    content = head + added.encode() + b"\nendcmap" + tail
    pdf = mupdf.pdf_document_from_fz_document(document)
    buffer = mupdf.fz_new_buffer_from_copied_data(content)
    stream = mupdf.pdf_add_stream(pdf, buffer, mupdf.PdfObj(), 0)
    mupdf.pdf_dict_puts(font, "ToUnicode", stream)
