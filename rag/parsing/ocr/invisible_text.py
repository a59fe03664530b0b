"""Write recognised words as a page of invisible text, like Tesseract's PDFs."""

import base64
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rag.parsing.pdf.mupdf import pymupdf

FONT = "GlyphLessFont"
"""The name of Tesseract's font for invisible text, by which recognised text is known."""
_GLYPH_WIDTH = 500
"""The width of every glyph in thousandths of the font size."""
_ASCENT = 1350
"""The height of every glyph in thousandths of the font size: boxes of recognised lines are so much higher than the type
is large, as the boxes of lines in other documents are."""
_FONT_FILE = base64.b64decode(
    "AAEAAAAKAIAAAwAgT1MvMlbeyJQAAAEoAAAAYGNtYXAACgA0AAABkAAAAB5nbHlmFSJBJAAAAbgAAAAYaGVhZAt48WUAAACsAAAA"
    "NmhoZWEMAgQCAAAA5AAAACRobXR4BAAAAAAAAYgAAAAIbG9jYQAMAAAAAAGwAAAABm1heHAABAAFAAABCAAAACBuYW1l8usW2gAA"
    "AdAAAABLcG9zdAABAAEAAAIcAAAAIAABAAAAAQAAsJRxEF8PPPUEBwgAAAAAAM+a/G4AAAAA1MOn8gAAAAAEAAgAAAAAEAACAAAA"
    "AAAAAAEAAAgA//8AAAQAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAACAAEAAAACAAQAAQAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAwAA"
    "AZAABQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAUAAQABAAAAAAAAAAAAAAAAAAAAAAAAAAAAR09PRwBAAAAAAAAB//8AAAABAAGA"
    "AAAAAAAAAAAAAAAAAAABAAAAAAAABAAAAAAAAAIAAQAAAAAAFAADAAAAAAAUAAYACgAAAAAAAAAAAAAAAAAMAAAAAQAAAAAEAAgA"
    "AAMAADEhESEEAPwACAAAAAADACoAAAADAAAABQAWAAAAAQAAAAAABQALABYAAwABBAkABQAWAAAAVgBlAHIAcwBpAG8AbgAgADEA"
    "LgAwVmVyc2lvbiAxLjAAAAEAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAA="
)
"""Tesseract's pdf.ttf (Apache-2.0): one empty glyph."""
_TO_UNICODE = b"""/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identify-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
1 beginbfrange
<0000> <FFFF> <0000>
endbfrange
endcmap
CMapName currentdict /CMap defineresource pop
end
end
"""


class Word(NamedTuple):
    """A recognised word and where it starts and ends along its line, in the unit of the line."""

    text: str
    start: float
    end: float


class Line(NamedTuple):
    """A recognised line: the left end of its lower edge, the unit vector along it, its height and its words.

    The origin is the upper left corner of the picture; words are placed along the lower edge.
    """

    x: float
    y: float
    direction: tuple[float, float]
    height: float
    words: Sequence[Word]


def write_layer(width: float, height: float, lines: Iterable[Line]) -> bytes:
    """Return a one-page PDF of `width` x `height` points with the text of `lines`, invisible."""
    with pymupdf.open() as layer:
        page = layer.new_page(width=width, height=height)
        layer.xref_set_key(page.xref, "Resources", f"<< /Font << /F0 {_add_font(layer)} 0 R >> >>")
        content = layer.get_new_xref()
        layer.update_object(content, "<<>>")
        layer.update_stream(content, b"BT 3 Tr\n" + b"".join(_show(line, height) for line in lines) + b"ET\n")
        page.set_contents(content)
        written: bytes = layer.tobytes(garbage=3, deflate=True)
    return written


def _add_font(layer: Any) -> int:
    """Add the font without glyphs, whose codes are UTF-16; return its number."""
    file, glyphs, to_unicode, descriptor, descendant, font = (layer.get_new_xref() for _ in range(6))
    for stream, content in (
        (file, _FONT_FILE),
        (glyphs, b"\0\1" * 0x10000),  # every code shows glyph 1, which is empty
        (to_unicode, _TO_UNICODE),
    ):
        layer.update_object(stream, "<<>>")
        layer.update_stream(stream, content)
    layer.xref_set_key(file, "Length1", str(len(_FONT_FILE)))
    layer.update_object(
        descriptor,
        f"<< /Type /FontDescriptor /FontName /{FONT} /Flags 5 /FontBBox [0 0 {_GLYPH_WIDTH} {_ASCENT}] /ItalicAngle 0 "
        f"/Ascent {_ASCENT} /Descent -1 /CapHeight {_ASCENT} /StemV 80 /FontFile2 {file} 0 R >>",
    )
    layer.update_object(
        descendant,
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{FONT} /DW {_GLYPH_WIDTH} /CIDToGIDMap {glyphs} 0 R "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        f"/FontDescriptor {descriptor} 0 R >>",
    )
    layer.update_object(
        font,
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{FONT} /Encoding /Identity-H /DescendantFonts [{descendant} 0 R] "
        f"/ToUnicode {to_unicode} 0 R >>",
    )
    return int(font)


def _show(line: Line, page_height: float) -> bytes:
    """Return the operators that show a line, each word stretched to its box and followed by a space."""
    dx, dy = line.direction
    size = line.height * 1000 / _ASCENT
    shown = [f"/F0 {size:.2f} Tf"]
    ends = [*(word.start for word in line.words[1:]), None]
    for word, following in zip(line.words, ends, strict=True):
        parts = [(word.text, word.start, word.end)]
        if following is not None and following > word.end:
            parts.append((" ", word.end, following))
        for text, start, end in parts:
            codes = "".join(text).encode("utf-16-be")
            stretch = 100 * (end - start) / (size * _GLYPH_WIDTH / 1000 * (len(codes) // 2))
            x, y = line.x + start * dx, page_height - (line.y + start * dy)
            shown.append(f"{dx:.5f} {-dy:.5f} {dy:.5f} {dx:.5f} {x:.2f} {y:.2f} Tm {stretch:.2f} Tz <{codes.hex()}> Tj")
    return "\n".join(shown).encode() + b"\n"
