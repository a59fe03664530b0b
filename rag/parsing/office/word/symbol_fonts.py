"""Unicode characters for those of symbol fonts in Word documents."""

import re

_SYMBOL_LOW = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑"
_FONTS = {
    "symbol": {**dict(enumerate(_SYMBOL_LOW, 0x21)), **dict(enumerate(_SYMBOL_HIGH, 0xA1))},
    "wingdings": {
        0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x75: "◆", 0x76: "❖", 0x78: "☒",
        0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨",
        0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    },
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x2A: "☐"},
}  # fmt: skip
"""Characters of symbol fonts by their codes: all of Symbol (PDF 32000-1, D.5), and marks of forms and lists."""
_CODE = re.compile("[fF0]0([0-9a-fA-F]{2})")
_PRIVATE = re.compile("[\uf000-\uf0ff]")
"""Where Word puts the codes of symbol fonts in Unicode."""


def character(font: str, code: str) -> str | None:
    """Return the character with a hexadecimal code such as "F0FE" in a symbol font, None if it is not known."""
    digits = _CODE.fullmatch(code)
    return _FONTS.get(font.lower(), {}).get(int(digits[1], 16)) if digits else None


def in_unicode(font: str, text: str) -> str:
    """Replace the codes of a symbol font in a text."""
    characters = _FONTS.get(font.lower())
    return _PRIVATE.sub(lambda code: characters.get(ord(code[0]) - 0xF000, code[0]), text) if characters else text
