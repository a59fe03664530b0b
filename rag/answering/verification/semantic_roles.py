"""Compare semantic roles: what prepositions point at, and who acts on whom."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.negation import Word
from rag.answering.text.numbers import find_numbers, plain_value

_ROLES: Mapping[str, str] = {
    "from": "source",
    "by": "source",
    "to": "goal",
    "into": "goal",
    "against": "opponent",
}
"""The role of a name after a preposition."""

_NO_ROLE = (
    r"(?<!subject )(?<!according )(?<!due )(?<!prior )(?<!compared )(?<!respect )(?<!relating )(?<!related )"
    r"(?<!relative )(?<!equal )(?<!up )"
)
"""Lookbehinds: words after which a preposition sets no role."""

_POINTED = re.compile(
    rf"{_NO_ROLE}\b(?P<preposition>{'|'.join(_ROLES)})\s+(?:(?:the|an?|its|their|our|his|her|any|all|certain)\s+)*"
    r"(?P<what>(?:[A-Z]{0,3}[$€£¥]\s?)?[\w’'-]+(?:[.,]\d+)*)",
    re.IGNORECASE,
)

_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+|also\s+)?(?P<verb>[^\W\d_]+)\b[^.;]*?\bby\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby\b", re.IGNORECASE)

MAX_ACTOR_DISTANCE = 4
"""Content words before and behind a verb that may name its subject and object."""

MAX_NAMES = 2

_Actors = tuple[frozenset[str], frozenset[str]]
"""The names of the subject and of the object."""


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the words whose role in the claim differs from that in the source."""
    return [*_changed_roles(claim, own), *_exchanged_actors(claim, own)]


def _changed_roles(claim: Text, own: Text) -> Iterator[str]:
    there = _prepositional_roles(own)
    for key, (text, roles) in _prepositional_roles(claim).items():
        if key in there and not roles & there[key][1]:
            yield text


def _prepositional_roles(text: Text) -> dict[str, tuple[str, set[str]]]:
    """Return the roles of each word or figure after a preposition; with figures "by" marks a change."""
    found: dict[str, tuple[str, set[str]]] = {}
    for match in _POINTED.finditer(text.text):
        what, preposition = match["what"], match["preposition"].casefold()
        figures = find_numbers(what)
        key = f"{plain_value(figures[0]):g}" if figures else stem(what.casefold())
        role = preposition if figures else _ROLES[preposition]
        found.setdefault(key, (what, set()))[1].add(role)
    return found


def _exchanged_actors(claim: Text, own: Text) -> Iterator[str]:
    """Yield verbs whose subject and object are exchanged."""
    there = _verbs_with_actors(own)
    for word, (agent, object_) in _verbs_with_actors(claim):
        others = [actors for other, actors in there if other.key == word.key]
        is_straight = any(agent & one or object_ & other for one, other in others)
        if not is_straight and any(agent & other and object_ & one for one, other in others):
            yield word.text


def _verbs_with_actors(text: Text) -> list[tuple[Word, _Actors]]:
    """Return possible verbs with the names of subject and object, the agent first also in the passive."""
    passive = {match.start("verb") for match in _PASSIVE.finditer(text.text)}
    found = []
    for index, word in enumerate(text.content):
        around = [
            other
            for other in text.content[max(0, index - MAX_ACTOR_DISTANCE) : index + 1 + MAX_ACTOR_DISTANCE]
            if _joined(text, word, other)
        ]
        before = _names([other for other in around if other.start < word.start])[-MAX_NAMES:]
        behind = _names([other for other in around if other.start > word.start])[:MAX_NAMES]
        if word.start in passive:
            by = _BY.search(text.text, word.end)
            agents = [other for other in text.content if by and other.start > by.end()]
            before, behind = _names(agents[:MAX_NAMES]), before
        if before and behind and not word.text[0].isupper():
            found.append((word, (_keys(before), _keys(behind))))
    return found


def _joined(text: Text, one: Word, other: Word) -> bool:
    """Return whether no semicolon separates the words."""
    start, end = sorted((one.start, other.start))
    return ";" not in text.text[start:end]


def _names(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.text[0].isupper()]


def _keys(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.key for word in words)
