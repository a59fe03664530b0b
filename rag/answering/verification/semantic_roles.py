"""Compare semantic roles: what prepositions point at, who acts on whom, and what comes before what."""

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
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+|not\s+|also\s+)?(?P<verb>[^\W\d_]+)\b[^.;]{0,400}?\bby\b",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby\b", re.IGNORECASE)
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

_LISTED = re.compile(r"\s*+(?:,|&|and\b|or\b)\s*+(?:(?:and\b|or\b)\s*)?")
"""What stands between the members of a list, whose order says nothing."""

MAX_ACTOR_DISTANCE = 4
"""Content words before and behind a verb that may name its subject and object."""

MAX_NAMES = 2

_Actors = tuple[frozenset[str], frozenset[str]]
"""The names of the subject and of the object."""


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the words whose role in the claim differs from that in the source."""
    return [
        *_changed_roles(claim, own),
        *_exchanged_actors(claim, own),
        *_unstated_agents(claim, own),
        *_exchanged_sides(claim, own),
        *_exchanged_targets(claim, own),
    ]


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


def _unstated_agents(claim: Text, own: Text) -> Iterator[str]:
    """Yield the agents of the claim's passive verbs that are not the agents of these verbs in the source.

    There they stand behind a "by" after the verb, or before it in the active.
    """
    for match in _AGENT.finditer(claim.text):
        agents = {word.text for word in _names([*Text(match["agent"]).words]) if word.is_content}
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


def _exchanged_targets(claim: Text, own: Text) -> Iterator[str]:
    """Yield a name behind a preposition in whose place the source has another name of the claim."""
    ours, theirs = _targets(claim), _targets(own)
    for preposition in ours.keys() & theirs.keys():
        target, other = ours[preposition], theirs[preposition]
        are_exchanged = other.key in claim.content_keys and target.key in own.content_keys
        if target.key == other.key or not are_exchanged:
            continue
        elsewhere = {word.key for role, word in theirs.items() if role != preposition}
        between = [own.text[other.end : word.start] for word in own.content if word.key == target.key]
        if not elsewhere & {target.key, other.key} and not any(map(_LISTED.fullmatch, between)):
            yield target.text


def _targets(text: Text) -> Mapping[str, Word]:
    """Return the name behind each preposition that occurs once before a name."""
    found: dict[str, list[Word]] = {}
    for one, word in zip(text.words, text.words[1:], strict=False):
        if one.text in _ROLES and word.text[0].isupper():
            found.setdefault(one.text, []).append(word)
    return {preposition: words[0] for preposition, words in found.items() if len(words) == 1}


def _joined(text: Text, one: Word, other: Word) -> bool:
    """Return whether no semicolon separates the words."""
    start, end = sorted((one.start, other.start))
    return ";" not in text.text[start:end]


def _names(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.text[0].isupper()]


def _keys(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.key for word in words)
