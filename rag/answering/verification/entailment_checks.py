"""Why evidence that has all the words of a claim may still not prove it: what the small words between them say."""

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
    """The words of either for which `own`, where the words of the claim stand, does not prove it.

    `scales` are those that are declared around it; `is_row`, whether it is a row of a table.
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
    """The figures that stand in the place of others; the words are the same."""
    if len(claim.figures) != len(own.figures):
        return []
    return [
        one.text for one, other in zip(claim.figures, own.figures, strict=True) if one.values.isdisjoint(other.values)
    ]


def _of_sentences(claim: Text, clause: Text, own: Text) -> list[str]:
    """What only sentences have: who does it, whether it is done, and several statements in one."""
    return [
        *semantic_roles.differing(claim, clause),
        *hedging.differing(claim, clause),
        *mixed_statements.crossed(claim, own),
    ]


def _clause(claim: Text, own: Text) -> Text:
    """The shortest clause of `own` that has all that the claim has of it."""
    shared = claim.content_keys & own.keys
    for parts in splits(own.text):
        for part in map(read, parts):
            lost = claim.values & own.values - part.values
            if len(part.words) < len(own.words) and shared <= part.keys and not lost:
                return _clause(claim, part)
    return own


def _denied(claim: Text, own: Text) -> Iterator[str]:
    """Words that deny, where the other says the same and has nothing that denies: "lacks"."""
    for one, other in ((claim, own), (own, claim)):
        if other.negated or other.denied:
            continue
        for start, governed in one.denied.items():
            if not other.keys.isdisjoint(governed):
                yield next(word.text for word in one.words if word.start == start)
