"""Check a claim whose words all occur in the source for what small words change.

The checks compare quantifiers, numeric bounds, denials, conditions, semantic roles, hedging and mixed-up statements.
Each returns the words that speak against entailment.
"""

from collections.abc import Iterator

from rag.answering.text.analyzed_text import Text, read
from rag.answering.text.clauses import splits
from rag.answering.text.numbers import Scales
from rag.answering.verification import (
    conditions,
    hedging,
    mixed_statements,
    numeric_bounds,
    quantifiers,
    semantic_roles,
)


def doubts(claim: Text, own: Text, scales: Scales = None, *, is_row: bool = False) -> list[str]:
    """Return the words for which the source text `own` does not entail the claim.

    `scales` are the declared scales of its figures; `is_row` says that it is a row of a table.
    """
    if [word.text.casefold() for word in claim.words] == [word.text.casefold() for word in own.words]:
        return [] if is_row else _exchanged(claim, own)  # word for word
    clause = own if is_row else _clause(claim, own)
    return [
        *quantifiers.differing(claim, clause),
        *numeric_bounds.differing(claim, clause, scales),
        *_denied(claim, clause),
        *conditions.differing(claim, clause, own),
        *([] if is_row else _of_sentences(claim, clause, own)),
    ]


def _exchanged(claim: Text, own: Text) -> list[str]:
    """Return figures exchanged for others between otherwise equal words."""
    if len(claim.figures) != len(own.figures):
        return []
    return [
        one.text for one, other in zip(claim.figures, own.figures, strict=True) if one.values.isdisjoint(other.values)
    ]


def _of_sentences(claim: Text, clause: Text, own: Text) -> list[str]:
    return [
        *semantic_roles.differing(claim, clause),
        *hedging.differing(claim, clause),
        *mixed_statements.crossed(claim, own),
    ]


def _clause(claim: Text, own: Text) -> Text:
    """Return the shortest clause of `own` with all words and figures that it shares with the claim."""
    shared = claim.content_keys & own.keys
    for parts in splits(own.text):
        for part in map(read, parts):
            lost = claim.values & own.values - part.values
            if len(part.words) < len(own.words) and shared <= part.keys and not lost:
                return _clause(claim, part)
    return own


def _denied(claim: Text, own: Text) -> Iterator[str]:
    """Yield words of denial ("lacks") where the other text states the same without any."""
    for one, other in ((claim, own), (own, claim)):
        if other.negated or other.denied:
            continue
        for start, governed in one.denied.items():
            if not other.keys.isdisjoint(governed):
                yield next(word.text for word in one.words if word.start == start)
