"""Normalise text so that quotes are found in it, whatever white space, hyphens and signs a copy changes."""

import bisect
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from rag import types


class NormalizedText(NamedTuple):
    """Text reduced for comparison, and the original offset of each of its characters."""

    text: str
    offsets: tuple[int, ...]


_SAME = str.maketrans(
    {"⟦": "[", "⟧": "]", "⟨": "<", "⟩": ">", "…": "..."}
    | dict.fromkeys('‘’‚‛`´′ʼ＇“”„‟«»″＂"', "'")
    | dict.fromkeys("‐‑‒–—―−﹣－", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")
)
_WORD_HYPHEN = re.compile(r"(?<=[^\W\d_])-+(?=[^\W\d_])|(?<=-)-+|(?<=')'+")
_IN_NUMBER = re.compile(r"\d[.,]?$")
_OMISSIBLE = re.compile(
    r"[|•▪◦‣∙●▸►➢·\uf0a7\uf0b7]|(?:\.[ \t]?){4,}|(?<=[^\W\d_])[*†‡§]+|"
    r"(?P<sign>[$€£¥₹])|(?<![^\s|])(?P<dash>[-–—−])(?![^\s|])"
)
"""What a quote may leave out: bullets, leaders, cell borders, notes, signs of currencies and empty cells."""


def normalize(text: str, left_out: Collection[int] = frozenset()) -> NormalizedText:
    """Remove white space, case, ligatures, typographic quotes and dashes, and hyphens between letters.

    Quotes then match across line breaks, hyphenation and spaces that PDFs lose. Between digits a space is kept: "5 3"
    is not 53. The characters at the offsets `left_out` count as white space.
    """
    characters: list[str] = []
    offsets: list[int] = []
    space: int | None = None
    for offset, character in enumerate(text):
        parts = "" if offset in left_out else _fold(character)
        if not parts or parts.isspace():
            space = offset if space is None and (parts or offset in left_out) else space
            continue
        if space is not None and parts[0].isdigit() and _IN_NUMBER.search("".join(characters[-2:])):
            characters.append(" ")
            offsets.append(space)
        space = None
        for part in parts:
            if not part.isspace():
                characters.append(part)
                offsets.append(offset)
    joined = "".join(characters)
    dropped = {index for match in _WORD_HYPHEN.finditer(joined) for index in range(*match.span())}
    if dropped:
        joined = "".join(c for i, c in enumerate(joined) if i not in dropped)
        offsets = [o for i, o in enumerate(offsets) if i not in dropped]
    return NormalizedText(joined, tuple(offsets))


class Undecorated(NamedTuple):
    """A text without what a quote may leave out; the signs left out before its characters, by the characters' index."""

    normalized: NormalizedText
    signs: dict[int, str]
    needed: frozenset[int]
    """Where a sign may not be missing in a quote."""


def undecorated(text: str, left_out: Iterable[int] = (), tables: Sequence[types.Span] = ()) -> Undecorated:
    """Return `text` without its decoration and the offsets `left_out`; dashes in `tables` may be missing in a quote."""
    offsets = {*left_out, *(n for n, kept in enumerate(types.without_raised_marks(text)) if kept != text[n])}
    signs: list[tuple[int, str]] = []
    for match in _OMISSIBLE.finditer(text):
        offsets.update(range(*match.span()))
        if match["sign"] or match["dash"]:
            signs.append((match.start(), match["sign"] or "-"))
    normalized = normalize(text, offsets)
    found: dict[int, str] = {}
    needed = set()
    for offset, sign in signs:
        index = bisect.bisect_left(normalized.offsets, offset)
        index += normalized.text[index : index + 1] == " "
        found[index] = found.get(index, "") + sign
        if sign == "-" and not any(table.start <= offset < table.end for table in tables):
            needed.add(index)
    return Undecorated(normalized, found, frozenset(needed))


@functools.lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character in types.SUPERSCRIPTS:  # "812⁸" is not "8128"
        return character
    return unicodedata.normalize("NFKC", character.translate(_SAME)).translate(_SAME).casefold()


def has_signs(wanted: Undecorated, text: Undecorated, start: int, end: int) -> bool:
    """Return whether the signs of a quote stand at `start` to `end` of `text`, and those needed there in the quote."""
    return all(not Counter(s) - Counter(text.signs.get(start + i, "")) for i, s in wanted.signs.items()) and all(
        "-" in wanted.signs.get(index - start, "") for index in text.needed if start < index < end
    )
