"""Compare the words of a page's blocks with MuPDF's own words: which were glued together, which were split.

Words are compared as a bag, so their order does not matter. MuPDF also ends a word where it ends a line, which it does
at superscripts; words that touch are therefore rightly read as one.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

TOUCH_EM = 0.12
"""Words with a narrower gap, in heights of their boxes, touch."""
MAX_CHARS = 200
"""Longer words are ignored."""

_MARK = re.compile(r"\[\w{1,4}\]")

Box = tuple[float, float, float, float]


class Word(NamedTuple):
    """A word read by MuPDF, and its box."""

    text: str
    box: Box


class WrongWord(NamedTuple):
    """A wrong word and MuPDF's reading: "ofthe" for "of the", or the reverse."""

    read: str
    expected: str


def glued_words(expected: Sequence[Word], lines: Sequence[Sequence[str]]) -> list[WrongWord]:
    """Return words of `lines` that join several `expected` words that do not touch; signs join figures at any gap."""
    lost, extra = _differences(expected, lines)
    boxes: dict[str, list[Box]] = {}
    for word in expected:
        if word.text in lost:
            boxes.setdefault(word.text, []).append(word.box)
    return [
        WrongWord(word, " ".join(parts))
        for word in extra.elements()
        if (parts := _parts(word, boxes))
        and all(any(map(str.isalnum, part)) for part in parts)
        and not all(_is_touching(first, second, boxes) for first, second in pairwise(parts))
    ]


def split_words(expected: Sequence[Word], lines: Sequence[Sequence[str]]) -> list[WrongWord]:
    """Return consecutive words of `lines` that are one of the `expected` words, but for marks in brackets ("[2]")."""
    lost, extra = _differences(expected, lines)
    if not extra:
        return []
    neighbours = {pair for line in lines for pair in pairwise(line)}
    return [
        WrongWord(" ".join(parts), word)
        for word in lost.elements()
        if (parts := _parts(word, extra))
        and all(pair in neighbours for pair in pairwise(parts))
        and not any(map(_MARK.fullmatch, parts[1:]))
    ]


def _differences(expected: Iterable[Word], lines: Iterable[Iterable[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return the words expected but not read, and the words read but not expected."""
    wanted, found = Counter(word.text for word in expected), Counter(word for line in lines for word in line)
    return wanted - found, found - wanted


def _parts(word: str, parts: Collection[str]) -> list[str] | None:
    """Split `word` into two or more of `parts`; None if impossible."""
    if len(word) > MAX_CHARS:
        return None
    best: list[list[str] | None] = [[], *[None] * len(word)]
    for end in range(1, len(word) + 1):
        for start in range(end):
            before = best[start]
            if before is not None and word[start:end] in parts:
                best[end] = [*before, word[start:end]]
                break
    found = best[-1]
    return found if found and len(found) > 1 else None


def _is_touching(first: str, second: str, boxes: Mapping[str, Sequence[Box]]) -> bool:
    """Whether the words `first` and `second` touch anywhere on the page."""
    long = min(len(first), len(second)) > 1  # a single letter is taller than wide in any text
    return any(_gap(one, other, long) < TOUCH_EM for one in boxes[first] for other in boxes[second])


def _gap(first: Box, second: Box, long: bool) -> float:
    """Return the gap between two words in text heights; infinite if they are on different lines or overlap widely."""
    if long and min(first[3] - first[1], second[3] - second[1]) > max(first[2] - first[0], second[2] - second[0]):
        first, second = ((y0, x0, y1, x1) for x0, y0, x1, y1 in (first, second))  # text that runs up or down
    height = max(first[3] - first[1], second[3] - second[1])
    gap = max(first[0], second[0]) - min(first[2], second[2])
    is_level = min(first[3], second[3]) > max(first[1], second[1])
    return gap / height if is_level and height and gap > -height else float("inf")
