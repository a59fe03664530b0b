"""Tell a glyph's character by its name or its place in a symbol font."""

import functools
import re
from typing import Any

from rag.parsing.pdf.mupdf import pymupdf

_SYMBOL_FONTS = re.compile(r"(?P<Symbol>symbol)|(?P<ZapfDingbats>dingbats)|(?P<Wingdings2>wingdings ?2)|"
                           r"(?P<Wingdings>wingdings)(?! ?3)", re.IGNORECASE)  # fmt: skip
_CODE_AS_NAME = re.compile(r"[acC](\d{1,3})")
_DINGBAT = re.compile(r"a\d{1,3}")
_UNICODE = re.compile(r"uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6})")
_MATHEMATICAL_PI = re.compile(r"[HC]11?(\d{3})|H(9\d{3})")
_SIZED = re.compile(r"(display|text|big|bigg|Big|Bigg|tp|bt|ex|mid|small|oldstyle|superior|inferior)$")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_NO_CHARACTER = re.compile("[\x00-\x07\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffd-\uffff]")

_SIGNS = {1: "+", 2: "−", 3: "×", 4: "÷", 5: "=", 6: "±", 9: "∞", 11: "∼", 15: "≈", 21: "<", 22: ">", 32: "′", 33: "″",
          349: "≤", 350: "≥"}  # fmt: skip
"""Glyphs of the Mathematical Pi fonts by the end of their number: H11002, H1002 and C1002 are the minus."""
_GREEK_PI = dict(zip(range(9251, 9276), "αβγδεζηθικλμνξοπρσςτυφχψω", strict=True))
_GREEK_CAPITALS_PI = {9003: "Γ", 9004: "Δ", 9008: "Θ", 9011: "Λ", 9016: "Π", 9018: "Σ", 9021: "Φ", 9023: "Ψ", 9024: "Ω"}

_CORPORATE = {
    **{0xF700 + code: chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x100))},  # small capitals, old figures
    **dict(zip(range(0xF6E9, 0xF6F4), "abdeilmorst", strict=True)),  # superior letters
    **dict(zip(range(0xF6DF, 0xF6E9), "¢¢,,$$--..", strict=True)),  # inferior and superior signs
    **dict(zip(range(0xF8E5, 0xF8FF), "‾⏐⎯®©™⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True)),
    0xF6BE: "ȷ",
    0xF6D9: "©", 0xF6DA: "®", 0xF6DB: "™", 0xF6DC: "1", 0xF6DE: "—", 0xF6F9: "ł", 0xF6FA: "œ", 0xF6FD: "š", 0xF6FF: "ž",
}  # fmt: skip
"""Private characters of Adobe's fonts (Adobe's corporate use subarea)."""

_WINGDINGS = {
    first + place: character
    for first, characters in {
        0x22: "✂✁", 0x29: "✆", 0x36: "⌛", 0x3E: "✇✍", 0x41: "✌", 0x45: "☜☞☝☟", 0x4A: "☺", 0x4C: "☹", 0x4E: "☠",
        0x51: "✈☼",
        0x54: "❄", 0x56: "✞", 0x58: "✠✡☪☯ॐ☸♈♉♊♋♌♍♎♏♐♑♒♓&&●❍■□□❑❒◆◆◆❖◆☒⍓⌘", 0x7D: "“”",
        0x80: "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿",
        0x9E: "·•▪○○○◉◎○▪☐", 0xAA: "✦★✶✴✹✵", 0xB1: "⌖✧", 0xB5: "✪✰", 0xD5: "⌫⌦", 0xD8: "➢", 0xDC: "➲",
        0xDF: "←→↑↓↖↗↙↘←➔↑↓↖↗↙↘⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂▭▫✗✓☒☑",
    }.items()
    for place, character in enumerate(characters)
}  # fmt: skip
_WINGDINGS_2 = {0x2A: "☐", 0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x96: "•", 0x97: "●",
                0x98: "●", 0xA2: "■", 0xA3: "☐"}  # fmt: skip


def is_character(text: str) -> bool:
    """Whether `text` means something outside of its font: no control or private character, no U+FFFD."""
    return bool(text) and not _NO_CHARACTER.search(text) and not _PRIVATE.search(text)


def by_name(name: str, code: int) -> str | None:
    """Return the characters that the glyph name means, such as "minus", "f_f_i" or "a20"; None if it means none.

    `code` is the glyph's code in its font, which many programs also use as a name.
    """
    number = _CODE_AS_NAME.fullmatch(name)
    if number and int(number[1]) == code and not listed(name):
        return chr(code) if 0x20 < code < 0x7F else None
    if _DINGBAT.fullmatch(name):
        return _dingbats().get(name)
    parts = [_part(part) for part in name.split(".", maxsplit=1)[0].split("_")]
    return "".join(part for part in parts if part) if all(parts) else None


def is_dingbat(name: str, code: int) -> bool:
    """Whether the name is one of ZapfDingbats, where a20 is "✔", and not the code as a name."""
    return _DINGBAT.fullmatch(name) is not None and int(name[1:]) != code and name in _dingbats()


def _part(name: str) -> str | None:
    if character := listed(name):
        return character
    if match := _UNICODE.fullmatch(name):
        digits = match[1] or match[2]
        values = [int(digits[place : place + 4], 16) for place in range(0, len(digits), 4)] if match[1] else [
            int(digits, 16)
        ]  # fmt: skip
        text = "".join(chr(value) for value in values if value < 0x110000)
        return private(text) if is_character(private(text)) else None
    if match := _MATHEMATICAL_PI.fullmatch(name):
        number = int(match[1] or match[2])
        return (_GREEK_PI | _GREEK_CAPITALS_PI).get(number) if match[2] else _SIGNS.get(number)
    shorter = _SIZED.sub("", name)
    return _part(shorter) if shorter and shorter != name else None


def listed(name: str) -> str | None:
    """Return the character of a name in the Adobe Glyph List; None if there is none, or a private one."""
    try:
        value = pymupdf.mupdf.fz_unicode_from_glyph_name_strict(name)
    except UnicodeError:
        return None  # a name with lone surrogates
    text = private(chr(value)) if value else ""
    return text if is_character(text) else None


def private(text: str) -> str:
    """Replace private characters of Adobe's fonts by what they show."""
    return text.translate(_CORPORATE)


def symbol_font(name: str) -> str | None:
    """Return the symbol font that a font's name tells: Symbol, ZapfDingbats, Wingdings or Wingdings2."""
    match = _SYMBOL_FONTS.search(name)
    return match.lastgroup if match else None


def by_code(font: str, code: int) -> str | None:
    """Return the character of a code in a symbol font, also as the private character U+F0xx."""
    code &= 0xFF
    match font:
        case "Wingdings":
            return _WINGDINGS.get(code)
        case "Wingdings2":
            return _WINGDINGS_2.get(code)
        case _:
            return _builtin_encoding(font).get(code)


def load_font(document: Any, font: Any) -> tuple[Any, Any]:
    """Load the font that MuPDF's object `font` describes, as MuPDF's PdfFontDesc and FzFont."""
    mupdf = pymupdf.mupdf
    pdf = mupdf.pdf_document_from_fz_document(document)
    resources = mupdf.pdf_resource_stack()  # MuPDF looks here for what the glyphs of a Type 3 font do not bring along
    loaded = mupdf.PdfFontDesc(mupdf.ll_pdf_load_font(pdf.m_internal, resources, font.m_internal))
    return loaded, mupdf.FzFont(mupdf.ll_fz_keep_font(loaded.m_internal.font))


@functools.cache
def _dingbats() -> dict[str, str]:
    """Return the characters of MuPDF's ZapfDingbats by their glyphs' names."""
    font = pymupdf.Font("zadb").this
    pairs = pymupdf.mupdf.fz_enumerate_font_cmap2(font)
    return {pymupdf.mupdf.fz_get_glyph_name2(font, pair.gid): chr(pair.ucs) for pair in pairs}


@functools.cache
def _builtin_encoding(font: str) -> dict[int, str]:
    """Return the characters of the standard font Symbol or ZapfDingbats by their codes."""
    mupdf = pymupdf.mupdf
    with pymupdf.open() as document:
        xref = document.get_new_xref()
        document.update_object(xref, f"<</Type/Font/Subtype/Type1/BaseFont/{font}>>")
        loaded, face = load_font(document, mupdf.pdf_load_object(mupdf.pdf_document_from_fz_document(document), xref))
        glyphs = {code: mupdf.pdf_font_cid_to_gid(loaded, code) for code in range(0x20, 0x100)}
        named = {code: by_name(mupdf.fz_get_glyph_name2(face, glyph), -1) for code, glyph in glyphs.items() if glyph}
    return {code: text for code, text in named.items() if text}
