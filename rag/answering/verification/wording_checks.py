"""Check a claim whose words all occur in the source for what small words change.

The checks compare quantifiers, numeric bounds, denials, conditions, "and" and "or", semantic roles, hedging,
offices, pronouns and mixed-up statements. Each returns the words that speak against entailment.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from rag.answering.text.analyzed_text import Text, analyze, clause_splits, is_fragment
from rag.answering.text.numbers import Scales
from rag.answering.verification import (
    contradiction,
    mixed_statements,
    qualifications,
    quantities,
)

_HE = frozenset({"he", "him", "his", "himself"})
_SHE = frozenset({"she", "her", "hers", "herself"})
_CHIEF = re.compile(r"\bchief\s+(?:[^\W\d_]+\s+){1,3}?officer\b", re.IGNORECASE)
_OFFICE = re.compile(
    r"\b(?P<qualifier>(?:vice|deputy|assistant|associate|former|acting|interim|co|stellvertretend\w*|ehemalig\w*)[\s-]+)?"
    r"(?P<office>president|chair(?:man|woman|person)?|treasurer|controller|secretary"
    r"|(?:vorstands|aufsichtsrats)vorsitzende[rn]?|geschäftsführer(?:in)?)\b",
    re.IGNORECASE,
)


def failed_checks(claim: Text, own: Text, scales: Scales = None, *, is_row: bool = False) -> list[str]:
    """Return the words for which the source text `own` does not entail the claim.

    `scales` are the declared scales of its figures; `is_row` says that it is a row of a table.
    """
    if [word.text.casefold() for word in claim.words] == [word.text.casefold() for word in own.words]:
        if is_row or len(claim.figures) != len(own.figures):
            return []
        pairs = zip(claim.figures, own.figures, strict=True)  # word for word the same, but figures may be exchanged
        return [figure.text for figure, other in pairs if figure.values.isdisjoint(other.values)]
    if is_fragment(claim.text):  # the words of a name or figure must stand together in the source
        wanted, there = ([item.key for item in text.sequence] for text in (claim, own))
        places = range(len(there) - len(wanted) + 1)
        is_together = any(there[place : place + len(wanted)] == wanted for place in places)
        return [] if is_together else [item.text for item in claim.sequence]
    clause = own if is_row else _shortest_clause(claim, own)
    found = [
        *quantities.changed_quantifiers(claim, clause),
        *quantities.changed_bounds(claim, clause, scales),
        *_denials(claim, clause),
        *_conjunctions(claim, clause),
        *qualifications.dropped_conditions(claim, clause, own),
        *_other_offices(claim, own),
        *_other_pronouns(claim, own),
    ]
    if not is_row:  # only sentences have subjects, modality and coordination
        found += contradiction.mismatches(claim, clause)
        found += qualifications.changed_hedges(claim, clause)
        found += mixed_statements.mismatches(claim, own)
    return found


def _shortest_clause(claim: Text, own: Text) -> Text:
    """Return the shortest clause of `own` with all words and figures that it shares with the claim."""
    shared = claim.content_keys & own.keys
    for parts in clause_splits(own.text):
        for part in map(analyze, parts):
            lost = claim.values & own.values - part.values
            if len(part.words) < len(own.words) and shared <= part.keys and not lost:
                return _shortest_clause(claim, part)
    return own


def _denials(claim: Text, own: Text) -> Iterator[str]:
    """Yield words of denial ("lacks") where the other text states the same without any."""
    for one, other in ((claim, own), (own, claim)):
        if other.negated or other.denied:
            continue
        for start, governed in one.denied.items():
            if not other.keys.isdisjoint(governed):
                yield next(word.text for word in one.words if word.start == start)


def _other_pronouns(claim: Text, own: Text) -> list[str]:
    """Return pronouns of one gender where the source has only those of the other: they are of another person."""
    said, there = ({word.text.casefold() for word in text.words} for text in (claim, own))
    for one, other in ((_HE, _SHE), (_SHE, _HE)):
        if said & one and not said & other and there & other and not there & one:
            return sorted(said & one)
    return []


def _conjunctions(claim: Text, own: Text) -> Iterator[str]:
    """Yield an "and" of the claim where the source has "or" between the same words, and the reverse."""
    theirs = _joined_words(own)
    for words, ours in _joined_words(claim).items():
        if words in theirs and not ours & theirs[words]:
            yield from ours


def _joined_words(text: Text) -> Mapping[frozenset[str], set[str]]:
    """Return the conjunctions between each two successive words with content, by the keys of these words."""
    found = defaultdict(set)
    for one, other in pairwise(text.content):
        for word in text.text[one.end : other.start].casefold().split():
            if word in ("and", "or"):
                found[frozenset((one.key, other.key))].add(word)
    return found


def _other_offices(claim: Text, own: Text) -> Iterator[str]:
    """Yield offices of the claim that the source has not, though it may have all their words.

    A vice president and chief financial officer is neither chief executive officer nor president.
    """
    chiefs = {" ".join(match[0].casefold().split()) for match in _CHIEF.finditer(own.text)}
    for match in _CHIEF.finditer(claim.text):
        if " ".join(match[0].casefold().split()) not in chiefs:
            yield match[0]
    has_plain: dict[str, bool] = {}
    for match in _OFFICE.finditer(own.text):
        office = match["office"].casefold()
        has_plain[office] = has_plain.get(office, False) or not match["qualifier"]
    for match in _OFFICE.finditer(claim.text):
        if not match["qualifier"] and has_plain.get(match["office"].casefold()) is False:
            yield match["office"]
