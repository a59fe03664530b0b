"""Raised characters: which superscript stands for which character, and which of them are marks of notes."""

import re
import unicodedata

SUPERSCRIPTS = {
    character: unicodedata.normalize("NFKC", character)
    for character in map(chr, range(0xAA, 0x2100))
    if re.fullmatch("<super> [0-9A-F]+", unicodedata.decomposition(character))
}
"""The character on the line for each superscript that Unicode has."""

RAISED = str.maketrans({plain: raised for raised, plain in SUPERSCRIPTS.items()} | {"-": "⁻"})
"""Translates characters to superscripts; "a" and "o" to letters, not to the ordinal signs ª and º."""

_SUPERSCRIPT = f"[{''.join(set(RAISED.values()))}]"
_KEPT = rf"(?:(?<![^\W\d_])(?:[kcdmµnhG]?m|ft|in|yd|mi|s|g|kg|L|l)|(?<![\d.,])10){_SUPERSCRIPT}+"
_MARK = re.compile(rf"{_KEPT}|(?P<mark>{_SUPERSCRIPT}+)")


def without_raised_marks(text: str) -> str:
    """Replace raised marks by spaces: those of notes say nothing about the word or figure that they stand at.

    Powers of ten ("10⁶") and of units ("m²", "s⁻¹") stay.
    """
    return _MARK.sub(lambda match: " " * len(match[0]) if match["mark"] else match[0], text)
