"""Compare quantifiers ("all", "most", "two of the five", "the second largest") and bounds of figures ("at least 5")."""

import itertools
import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from itertools import pairwise

from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.numbers import Number, Scales, is_same
from rag.answering.text.term_weights import word_set

_QUANTIFIERS: Mapping[str, frozenset[str]] = {
    "all": word_set("all every each any entire entirely whole wholly completely throughout always"),
    "only": word_set("only solely exclusively"),
    "most": word_set("most mostly majority"),
    "many": word_set("many numerous"),
}
"""Quantifiers by strength; a claim may use any of a group if its source uses one of it."""

_LIMITING = word_set("some certain several few portion part parts partly partially one number half many most majority")
"""Words that limit a claim to a part."""

_NO_QUANTIFIER = re.compile(
    r"\bnot only\b|\bonly(?=\s+[$€£¥]?\d)|\bat all\b|\bthe most\b|\bat most\b|"
    r"\b(?:every|each|any|all|throughout|whole|entire)\s+(?:the\s+)?(?:days?|weeks?|months?|quarters?|years?)\b",
    re.IGNORECASE,
)
"""Uses of these words that quantify nothing: emphasis, bounds, comparisons and periods."""

_PART_OF = re.compile(
    r"\b(?P<part>(?:some|certain|several|few)(?:\s+of)?|(?:part|(?<=a )(?:portion|part|number)) of)\s+"
    r"(?:(?:our|its|the|their|these|those|his|her)\s+)?(?P<what>[^\W\d_]+)",
    re.IGNORECASE,
)

_OUT_OF = re.compile(r"\s+(?:out of|of|in|from)\s+(?:(?:the|its|our|their|these|those|a total of)\s+)?", re.IGNORECASE)
"""Text between a part and its whole: "two of the five"."""

_RANKED = re.compile(
    r"\b(?P<rank>second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|next|one of the|one of its|one of our|"
    r"among the|a)[ -](?P<top>most|least|best|worst|largest|biggest|greatest|smallest|highest|lowest|longest|shortest|"
    r"oldest|newest|youngest|fastest|slowest|strongest|weakest|cheapest|leading)\b",
    re.IGNORECASE,
)
"""A superlative that is outranked or shared."""


_BOTH = re.compile(
    r"\bboth\s+(?:of\s+)?(?:(?:the|these|those|its|our|their)\s+)?(?P<plural>[^\W\d_]+s)\b", re.IGNORECASE
)
"""Two things of a kind: "both acquisitions"; "both the quay and the tolls" has no plural right after it."""


def changed_quantifiers(claim: Text, own: Text) -> list[str]:
    """Return the words that make the claim more, or less, general than its source."""
    words: list[str] = []
    claimed, there = _quantified(claim), _quantified(own)
    for quantifiers in _QUANTIFIERS.values():
        if not quantifiers & there:
            words += sorted(quantifiers & claimed - {"any"})
    for match in _BOTH.finditer(claim.text):  # where the source speaks of one of the things only
        plural = match["plural"].casefold()
        if plural not in own.folded and stem(plural) in own.keys and not own.folded & {"both", "each", "two"}:
            words.append(match.group()[: len("both")])
    if not claim.folded & _LIMITING:  # it may state the whole where the source limits it to a part
        matches = list(_PART_OF.finditer(own.text))
        nouns = [stem(match["what"].casefold()) for match in matches]
        for match, noun in zip(matches, nouns, strict=True):
            speaks_of_the_whole = sum(word.key == noun for word in own.words) > nouns.count(noun)
            if noun in claim.content_keys and not speaks_of_the_whole:
                words.append(match["part"])
    claimed_parts = list(_parts(claim))
    for part, whole in _parts(own):
        has_part, has_whole = (any(_is_same(count, other) for other in claim.figures) for count in (part, whole))
        is_exchanged = any(_is_same(part, second) and _is_same(whole, first) for first, second in claimed_parts)
        if (has_whole and not has_part) or is_exchanged:
            words.append(part.text)
    tops = {match["top"].casefold() for match in _RANKED.finditer(claim.text)}
    for match in _RANKED.finditer(own.text):  # "second largest" is not "largest"
        if match["top"].casefold() in claim.folded - tops:
            words.append(match["rank"])
    return list(dict.fromkeys(words))


def _quantified(text: Text) -> frozenset[str]:
    return Text(_NO_QUANTIFIER.sub(" ", text.text)).folded


def _is_same(one: Number, other: Number) -> bool:
    return is_same(one, other, frozenset())


def _parts(text: Text) -> Iterator[tuple[Number, Number]]:
    """Yield each count of a part with the count of its whole."""
    for part, whole in itertools.pairwise(text.figures):
        are_counts = "%" not in (part.unit, whole.unit) and part.year is None and whole.year is None
        if are_counts and not _is_same(part, whole) and _OUT_OF.fullmatch(text.text[part.end : whole.start]):
            yield part, whole


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


def changed_bounds(claim: Text, own: Text, scales: Scales) -> list[str]:
    """Return the claim's figures that the source bounds differently; years have no bound."""
    words = []
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
            words.append(figure.text)
    return words


def _other_ends(text: Text) -> Mapping[int, Number]:
    """Map the start of each figure in a range to the other end of the range."""
    ends = {}
    for first, last in pairwise(text.figures):
        link = _RANGE.fullmatch(text.text, first.end, last.start)
        before = text.text[: first.start]
        if first.is_share and not last.is_share:
            continue  # "rose 18% to $192 million"
        if link and first.year is None and (_BETWEEN if link["and"] else _NOT_FROM).search(before):
            ends[first.start], ends[last.start] = last, first
    return ends
