"""Compare who does what, and what stands before and behind a "before", a "because" or an "if"."""

import re
from collections.abc import Iterator

from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.negation import Word

_BY_IN_CLAUSE = re.compile(r"[^.;,]*?\bby\b", re.IGNORECASE)
_AGENT = re.compile(
    r"\b(?P<verb>[^\W\d_A-Z]+)\s+by:?\s+(?:(?:the|an?|its|their|our|his|her)\s+)?"
    r"(?P<agent>[^\W\d_a-z]\S*(?:\s+[^\W\d_a-z]\S*)*)"
)
"""A verb with a named agent: "audited by the PCAOB", "seconded by Mr. Rao"."""
_LINKS = tuple(
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (
        "before|prior to|until",
        "after|following|once",
        "because|due to|as a result of|caused by",
        "so|therefore|thus|hence",
        "if|provided that",
        "exceeds?|exceeded|outnumbers?|outnumbered|surpass(?:es|ed)?",
    )
)
"""Words of time, cause, condition and comparison: exchanging what stands around them changes what is said."""


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the words whose role in the claim differs from that in the source."""
    return [*_unstated_agents(claim, own), *_exchanged_sides(claim, own)]


def _unstated_agents(claim: Text, own: Text) -> Iterator[str]:
    """Yield the agents of the claim's passive verbs that are not the agents of these verbs in the source.

    There they stand behind a "by" after the verb, or before it in the active.
    """
    for match in _AGENT.finditer(claim.text):
        agents = {word.text for word in Text(match["agent"]).content if word.text[0].isupper()}
        verbs = [word for word in own.content if word.key == stem(match["verb"].casefold())]
        if verbs and not any(agents <= _possible_agents(own, verb) for verb in verbs):
            yield from agents


def _possible_agents(own: Text, verb: Word) -> set[str]:
    """Return the words behind the "by" of a verb or, in the active, before the verb."""
    by = _BY_IN_CLAUSE.match(own.text, verb.end)
    return {word.text for word in own.words if (word.start >= by.end() if by else word.end <= verb.start)}


def _exchanged_sides(claim: Text, own: Text) -> Iterator[str]:
    """Yield "before", "because" or "if" where claim and source have what stands around it in opposite order."""
    for link in _LINKS:
        ours, theirs = link.search(claim.text), link.search(own.text)
        if ours and theirs:
            first, second = (_around(text, match) for text, match in ((claim, ours), (own, theirs)))
            straight, crossed = (
                sum(len(one & other) for one, other in zip(first, order, strict=True))
                for order in (second, second[::-1])
            )
            if crossed > straight:
                yield ours.group()


def _around(text: Text, match: re.Match[str]) -> tuple[set[str], set[str]]:
    """Return the keys of the content words before and behind a match; of one that leads, those behind its clause."""
    before = {word.key for word in text.content if word.end <= match.start()}
    end = text.text.find(",", match.end())
    if before or end < 0:
        return before, {word.key for word in text.content if word.start >= match.end()}
    return (
        {word.key for word in text.content if word.start >= end},
        {word.key for word in text.content if match.end() <= word.start < end},
    )
