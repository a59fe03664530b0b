"""Insert line break opportunities (zero width spaces) into long runs without white space."""

import re
import unicodedata

BREAK = "\u200b"
"""Zero width space. MuPDF breaks a line there; its own `overflow-wrap: break-word` cuts off words of several fonts."""
LONGEST_RUN = 24
"""Longer runs, in characters, may be broken …"""
PIECE = 8
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
        may_end = since >= PIECE or is_after_punctuation or _UNSPACED.match(character)
        if previous and may_end and not is_joined:
            written.append(BREAK)
            since = 0
        written.append(character)
        previous = character
        since += 1
    return "".join(written)
