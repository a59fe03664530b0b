"""Compare the bounds of figures: "at least 5", "up to 5", "5 or more"."""

import re
from collections.abc import Mapping
from enum import Enum, auto
from itertools import pairwise

from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, Scales, is_same


class Bound(Enum):
    """How a phrase beside a figure bounds its value."""

    NONE = auto()
    EXACT = auto()
    ABOUT = auto()
    NEARLY = auto()
    PAST = auto()
    LEAST = auto()
    MORE = auto()
    MOST = auto()
    LESS = auto()


_PHRASES: Mapping[Bound, str] = {
    Bound.PAST: r"(?:just|slightly) (?:over|above|more than)",
    Bound.NEARLY: r"nearly|almost|close to|just (?:under|below)|slightly (?:under|below|less than)",
    Bound.EXACT: r"exactly|precisely|=",
    Bound.ABOUT: r"about|approximately|approx\.|around|roughly|circa|ca\.|some|estimated|[~≈]",
    Bound.LEAST: (
        r"at least|(?:no|not) (?:less|fewer|lower|earlier) than|(?:a )?minimum of|"
        r"(?:not|never) (?:fall |be )?(?:below|under)|≥"
    ),
    Bound.MOST: (
        r"at most|up to|(?:no|not) (?:more|greater|higher|later) than|(?:a )?maximum of|within|"
        r"(?:not|never|without)(?:,? \w+){0,4}?,? exceed(?:ing)?|(?:not|never) be (?:above|over)|≤"
    ),
    Bound.MORE: (
        r"(?:more|greater|higher|larger|longer|later|older) than|over|above|in excess of|upwards? of|"
        r"exceed(?:s|ed|ing)?|>"
    ),
    Bound.LESS: r"(?:less|fewer|lower|smaller|shorter|earlier|younger) than|under|below|<",
}

_BEFORE = re.compile(
    r"(?:^|(?<![^\W_]))(?:"
    + "|".join(rf"(?P<{bound.name}>{phrases})" for bound, phrases in _PHRASES.items())
    + r")\s*(?:(?:the|an?)\s+)?(?:[A-Z]{2,3}\s?)?[A-Z]{0,2}[$€£¥(]?\s?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?:\s?[%\w]++){0,3}?\s(?:or|and)\s(?:(?P<LEAST>more|above|over|higher|greater|older|longer|later)|"
    r"(?P<MOST>less|fewer|below|under|lower|younger|shorter|earlier))\b",
    re.IGNORECASE,
)
_DURATION = re.compile(r"[\s-]?(?:days?|weeks?|months?|quarters?|years?|hours?)\b", re.IGNORECASE)
_OVER = re.compile(r"\bover\s+(?:the\s+)?$", re.IGNORECASE)
"""Before a duration "over" means during: "over 5 years"."""

_RANGE = re.compile(r"[\s%]*(?:\s(?P<and>and)\s|\sto\s|[–—-])\s*[$€£¥]?\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+[$€£¥]?\s?$", re.IGNORECASE)
_NOT_FROM = re.compile(r"(?<!\bfrom)\s[$€£¥(]?\s?$", re.IGNORECASE)

MAX_PHRASE_CHARS = 50

_PROVED_BY: Mapping[Bound, frozenset[Bound]] = {
    Bound.NONE: frozenset({Bound.NONE, Bound.EXACT, Bound.ABOUT, Bound.NEARLY, Bound.PAST}),
    Bound.EXACT: frozenset({Bound.NONE, Bound.EXACT}),
    Bound.ABOUT: frozenset({Bound.NONE, Bound.EXACT, Bound.ABOUT, Bound.NEARLY, Bound.PAST}),
    Bound.NEARLY: frozenset({Bound.NEARLY}),
    Bound.PAST: frozenset({Bound.PAST}),
    Bound.LEAST: frozenset({Bound.LEAST, Bound.MORE, Bound.PAST}),
    Bound.MORE: frozenset({Bound.MORE, Bound.PAST}),
    Bound.MOST: frozenset({Bound.MOST, Bound.LESS, Bound.NEARLY}),
    Bound.LESS: frozenset({Bound.LESS, Bound.NEARLY}),
}
"""The bounds of a source that prove a claim, by the claim's bound."""

EXACT_BOUNDS = _PROVED_BY[Bound.EXACT] | {Bound.ABOUT}
"""Bounds beside which another figure is a contradiction."""


def bound(text: str, number: Number) -> Bound:
    """Return the bound set by the phrase right before or behind a figure."""
    start = max(0, number.start - MAX_PHRASE_CHARS)
    before = _BEFORE.search(text[start : number.start])
    if before and not (_OVER.search(text[start : number.start]) and _DURATION.match(text, number.end)):
        return Bound[before.lastgroup or ""]
    behind = _BEHIND.match(text, number.end)
    return Bound[behind.lastgroup or ""] if behind else Bound.NONE


def mismatches(claim: Text, own: Text, scales: Scales) -> list[str]:
    """Return the claim's figures that the source bounds differently; years have no bound."""
    found = []
    ends = _other_ends(own)
    for figure in claim.figures:
        there = [other for other in own.figures if is_same(figure, other, scales)]
        proving = _PROVED_BY[bound(claim.text, figure)]
        if not there or figure.year is not None:
            continue
        halves = [ends[other.start] for other in there if other.start in ends]
        is_half = len(halves) == len(there) and bound(claim.text, figure) in _PROVED_BY[Bound.NONE]
        if not any(bound(own.text, other) in proving for other in there) or (
            is_half and not any(is_same(half, other, scales) for half in halves for other in claim.figures)
        ):
            found.append(figure.text)
    return found


def _other_ends(text: Text) -> Mapping[int, Number]:
    """Map the start of each figure in a range to the other end of the range."""
    found = {}
    for first, last in pairwise(text.figures):
        link = _RANGE.fullmatch(text.text, first.end, last.start)
        before = text.text[: first.start]
        if first.is_share and not last.is_share:
            continue  # "rose 18% to $192 million"
        if link and first.year is None and (_BETWEEN if link["and"] else _NOT_FROM).search(before):
            found[first.start], found[last.start] = last, first
    return found
