"""Compare quantifiers: "all", "most", "only", "many"."""

import re
from collections.abc import Iterator, Mapping

from rag.answering.text.analyzed_text import Text
from rag.answering.text.term_weights import word_set

_QUANTIFIERS: Mapping[str, frozenset[str]] = {
    "all": word_set("all every each any entire entirely whole wholly completely throughout always"),
    "only": word_set("only solely exclusively"),
    "most": word_set("most mostly majority"),
    "many": word_set("many numerous"),
}
"""Quantifiers by strength; a claim may use any of a group if its source uses one of it."""

_NO_QUANTIFIER = re.compile(
    r"\bnot only\b|\bonly(?=\s+[$€£¥]?\d)|\bat all\b|\bthe most\b|\bat most\b|"
    r"\b(?:every|each|any|all|throughout|whole|entire)\s+(?:the\s+)?(?:days?|weeks?|months?|quarters?|years?)\b",
    re.IGNORECASE,
)
"""Uses of these words that quantify nothing: emphasis, bounds, comparisons and periods."""


def mismatches(claim: Text, own: Text) -> Iterator[str]:
    """Yield quantifiers of the claim that its source lacks: they make it more general."""
    claimed, there = _quantified(claim), _quantified(own)
    for words in _QUANTIFIERS.values():
        if not words & there:
            yield from sorted(words & claimed - {"any"})


def _quantified(text: Text) -> frozenset[str]:
    return Text(_NO_QUANTIFIER.sub(" ", text.text)).folded
