"""Compare quantifiers: "all", "most", "only", "some of", "two of the five", "the second largest"."""

import itertools
import re
from collections.abc import Iterator, Mapping

from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.numbers import Number, is_same
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


def mismatches(claim: Text, own: Text) -> list[str]:
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
