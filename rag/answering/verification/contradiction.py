"""Detect contradictions: negation, antonyms ("fell" for "rose", "after" for "before") and stated trends."""

import itertools
import math
import re
from collections.abc import Sequence

from rag.answering.text import negation
from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.negation import Word
from rag.answering.text.numbers import plain_value

_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


def negation_conflicts(claim: Text, quoted: Text, known: frozenset[str]) -> list[str]:
    """Return the words that only one of claim and quote negates; `known` has all words of the source and context.

    A "not" of the claim is another one if the quote has its first word without a "not", and most others as well.
    """
    claimed = frozenset[str]().union(*claim.negated, *claim.denied.values())
    there = frozenset[str]().union(*quoted.negated, *quoted.denied.values())
    found = []
    for governed in claim.negated:
        shared = known.intersection(governed)
        same = shared & there
        begins_anew = bool(governed) and governed[0] in quoted.keys and governed[0] not in there
        if shared and (not same or (begins_anew and 2 * len(same) < len(shared))):
            found.append("not")
    for governed in quoted.negated:
        first = next(iter(governed), "")
        negations = sum(first in others for others in quoted.negated)
        stands_only_negated = sum(word.key == first for word in quoted.words) <= negations
        if first in claim.keys and first not in claimed and stands_only_negated:
            found.append(next(word.text for word in claim.words if word.key == first))
    return found


def antonyms(claim: Text, own: Text) -> list[str]:
    """Return the claim's words that the source has only as an antonym, or has farther away than an antonym."""
    found = []
    for word in claim.words:
        folded = word.text.casefold()
        way = negation.trend(folded)
        same = {other for other in own.folded if other == folded or stem(other) == word.key}
        opposite = {other for other in own.folded if other in negation.OPPOSITES.get(folded, ())}
        if way:
            same |= {other for other in own.folded if negation.trend(other) == way}
            opposite |= {other for other in own.folded if negation.trend(other) == -way}
        opposite -= same | claim.folded
        if opposite and (not same or _are_nearer(word, claim, own, opposite, same)):
            found.append(word.text)
    return found


def compare_otherwise(claim: Text, own: Text) -> bool:
    """Return whether both texts compare, but with different things: "A is higher than B" and "B is lower than A"."""
    ours, theirs = _compared_with(claim), _compared_with(own)
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _compared_with(text: Text) -> set[str]:
    """Return the first content word or figure behind each "than"."""
    found = set()
    for match in _THAN.finditer(text.text):
        words = [(word.start, word.key) for word in text.content] + [(n.start, n.text) for n in text.numbers]
        found |= {key for _, key in sorted(one for one in words if one[0] >= match.end())[:1]}
    return found


def is_derived(figure: str, claim: Text, own: Text) -> bool:
    """Return whether a figure of the claim is the difference or sum of two of the source: it may be computed."""
    claimed = [plain_value(number) for number in claim.numbers if number.text == figure]
    there = [plain_value(number) for number in own.numbers if number.year is None]
    derived = [value for one, other in itertools.combinations(there, 2) for value in (abs(one - other), one + other)]
    return any(math.isclose(value, other) for value in claimed for other in derived)


def _are_nearer(word: Word, claim: Text, own: Text, ones: set[str], others: set[str]) -> bool:
    """Return whether the context of `word` in the claim is closer, in the source, to one of `ones` than of `others`."""
    anchors = _anchors(word, claim, own)
    if not anchors:
        return False
    leads = bool(negation.trend(word.text) and claim.numbers)
    return _distance(own, ones, anchors, leads=leads) < _distance(own, others, anchors, leads=leads)


def _anchors(word: Word, claim: Text, own: Text) -> list[int]:
    """Return the source positions of the figure nearest to `word`, or else of the word beside it."""
    figures = sorted(claim.numbers, key=lambda number: abs(number.start - word.start))
    for figure in figures[:1]:
        places = [number.start for number in own.numbers if number.values & figure.values]
        if places:
            return places
    beside = sorted(claim.content, key=lambda other: abs(other.start - word.start))
    keys = [other.key for other in beside if other is not word][:1]
    return [other.start for other in own.words if other.key in keys]


def _distance(own: Text, folded: set[str], anchors: Sequence[int], *, leads: bool) -> int:
    """Return the least distance of a word in `folded` to an anchor; with `leads`, later words count farther."""
    places = [word.start for word in own.words if word.text.casefold() in folded]
    return min(
        abs(place - anchor) + (len(own.text) if leads and place > anchor else 0)
        for place in places
        for anchor in anchors
    )


_AMOUNT = r"[\s(]*[$€£¥]?\s?$"
_FROM = re.compile(rf"\b(?:from|(?:as )?compared (?:with|to)|versus|against){_AMOUNT}", re.IGNORECASE)
_TO = re.compile(rf"\b(?:to|was|were|of|at|reached){_AMOUNT}", re.IGNORECASE)


def stated_trend(claim: Text) -> int:
    """Return 1 if the claim's own figures grow, -1 if they decline, else 0 ("from 3 in 2021 to 5 in 2022")."""
    figures = [number for number in claim.numbers if number.year is None]
    before = [number for number in figures if _FROM.search(claim.text[: number.start])]
    after = [number for number in figures if number not in before and _TO.search(claim.text[: number.start])]
    units = {(number.unit, number.scale is None) for number in (*before, *after)}
    if len(before) != 1 or len(after) != 1 or len(units) != 1:
        return 0
    first, last = plain_value(before[0]), plain_value(after[0])
    return (last > first) - (last < first)
