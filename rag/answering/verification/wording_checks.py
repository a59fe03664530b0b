"""Check a claim for what small words change: negation, antonyms, quantifiers, bounds, conditions, hedging, roles.

`failed_checks` checks a claim whose words all occur in the source; it returns the words that speak against entailment.
Roles are what prepositions point at, who acts on whom, and what comes before what.
"""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rag.answering.text import negation
from rag.answering.text.analyzed_text import Text, analyze, clause_splits, is_fragment, stem
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Scales, find_numbers, plain_value
from rag.answering.verification import mixed_statements, qualifications, quantities

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
        found += _role_mismatches(claim, clause)
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
    for one, other in itertools.pairwise(text.content):
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


# --- contradictions ---

_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


def negation_conflicts(claim: Text, quoted: Text, known: frozenset[str]) -> list[str]:
    """Return the words that only one of claim and quote negates; `known` has all words of the source and context.

    A "not" of the claim is another one if the quote has its first word without a "not", and most others as well.
    """
    claimed = frozenset[str]().union(*claim.negated, *claim.denied.values())
    there = frozenset[str]().union(*quoted.negated, *quoted.denied.values())
    words = []
    for governed in claim.negated:
        shared = known.intersection(governed)
        same = shared & there
        begins_anew = bool(governed) and governed[0] in quoted.keys and governed[0] not in there
        if shared and (not same or (begins_anew and 2 * len(same) < len(shared))):
            words.append("not")
    for governed in quoted.negated:
        first = next(iter(governed), "")
        negations = sum(first in others for others in quoted.negated)
        stands_only_negated = sum(word.key == first for word in quoted.words) <= negations
        if first in claim.keys and first not in claimed and stands_only_negated:
            words.append(next(word.text for word in claim.words if word.key == first))
    return words


def antonyms(claim: Text, own: Text) -> list[str]:
    """Return the claim's words that the source has only as an antonym, or has farther away than an antonym."""
    words = []
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
            words.append(word.text)
    return words


def compare_otherwise(claim: Text, own: Text) -> bool:
    """Return whether both texts compare, but with different things: "A is higher than B" and "B is lower than A"."""
    ours, theirs = _compared_with(claim), _compared_with(own)
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _compared_with(text: Text) -> set[str]:
    """Return the first content word or figure behind each "than"."""
    keys = set()
    for match in _THAN.finditer(text.text):
        words = [(word.start, word.key) for word in text.content] + [(n.start, n.text) for n in text.numbers]
        keys |= {key for _, key in sorted(one for one in words if one[0] >= match.end())[:1]}
    return keys


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


def _role_mismatches(claim: Text, own: Text) -> list[str]:
    """Return the words whose role in the claim differs from that in the source."""
    there = _prepositional_roles(own)
    roles_by_key = _prepositional_roles(claim).items()
    words = [text for key, (text, roles) in roles_by_key if key in there and not roles & there[key][1]]
    words += _exchanged_actors(claim, own)
    for match in _AGENT.finditer(claim.text):  # of the claim's passive verbs
        agents = {word.text for word in _names([*Text(match["agent"]).words]) if word.is_content}
        verbs = [word for word in own.content if word.key == stem(match["verb"].casefold())]
        if verbs and not any(agents <= _possible_agents(own, verb) for verb in verbs):
            words += agents
    return [*words, *_exchanged_sides(claim, own), *_exchanged_targets(claim, own)]


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
    """Yield verbs whose subject and object are exchanged: "Norrtug succeeded Ada Vinter", "Ada Vinter … Norrtug"."""
    if "by" in claim.folded | own.folded:  # in the passive, the agent is compared
        return
    there = {verb.key: names for verb, names in _verbs_with_names(own)}
    for verb, (subject, object_) in _verbs_with_names(claim):
        before, behind = there.get(verb.key, (subject, object_))
        is_straight = subject & before or object_ & behind
        if not is_straight and subject & behind and object_ & before:
            yield verb.text


def _verbs_with_names(text: Text) -> Iterator[tuple[Word, tuple[set[str], set[str]]]]:
    """Yield possible verbs with the keys of the names near before and behind them."""
    for index, word in enumerate(text.content):
        if not word.text[0].isupper():
            before, behind = text.content[max(0, index - MAX_ACTOR_DISTANCE) : index], text.content[index + 1 :]
            subject, object_ = ({name.key for name in _names(part)} for part in (before, behind[:MAX_ACTOR_DISTANCE]))
            yield word, (subject, object_)


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


def _names(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.text[0].isupper()]
