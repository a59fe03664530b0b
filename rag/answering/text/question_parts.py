"""Parse a question: its periods, names, topic and measure."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rag import types
from rag.vocabulary import any_of, find_periods, widener, words

_CAPITALS = frozenset(words("capitals"))
_TOPICS = tuple(re.compile(f"^(?:{pattern})", re.IGNORECASE) for pattern in words("topics"))
"""Common forms of questions; the first that matches counts."""
_TOPIC_END = re.compile(rf"(?<!\s)\s+(?:{any_of(words('prepositions'), words('ends'))})\b", re.IGNORECASE)
_LEADING = re.compile(rf"(?<!\s)\s+(?:{any_of(words('prepositions'), words('ends'), ['and'])})\s*$", re.IGNORECASE)
_DETERMINER = re.compile(rf"(?:{any_of(words('determiners'))})\s+", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![\w'’])(?P<name>[A-ZÄÖÜÉ][\w&.-]*[\w&](?:\s+(?:of\s+|&\s+)?[A-ZÄÖÜÉ][\w&.-]*[\w&])*|[A-Z](?![\w'’]))"
)
_GERMAN = re.compile(rf"\b(?:{any_of(words('signs'))})\b", re.IGNORECASE)
_GERMAN_NAME = re.compile(
    rf"\b(?:{any_of(words('before_names'))})\s+"
    r"(?P<name>[A-ZÄÖÜ][\w&.-]*[\w&](?:\s+[A-ZÄÖÜ][\w&.-]*[\w&])*)(?=\s|[?.!]|$)"
)
"""In German names are found by the words before them, as every noun has a capital."""
_OWNER = re.compile(r"(?<![\w'’&-])(?P<name>[\w&-]+)(?=['’]s\s)")

_ASKS_WHETHER = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|may|might|must|will|would|should|shall)\b"
    r"(?!.*\bor\b)",
    re.IGNORECASE | re.DOTALL,
)


class Slots(NamedTuple):
    """The spans of periods and names in a question."""

    periods: list[types.Span]
    names: list[types.Span]


def find_slots(text: str, names: Sequence[str]) -> Slots:
    """Find periods and names; `names` are known in any spelling, others by their capitals."""
    periods = find_periods(text)
    known = [types.Span(*match.span()) for match in _known(names)(text)] if names else []
    pattern = _GERMAN_NAME if _GERMAN.search(text) else _NAME
    spelled: list[types.Span] = []
    for match in pattern.finditer(text):  # without capitalised question words: "What Acme", "Did Acme"
        start, end = match.span("name")
        words = re.finditer(r"\S+", text[start:end])
        offset = next((word.start() for word in words if word[0].lower() not in _CAPITALS), end - start)
        spelled.append(types.Span(start + offset, end))
    owners = [
        types.Span(*match.span("name")) for match in _OWNER.finditer(text) if match["name"].lower() not in _CAPITALS
    ]
    found: list[types.Span] = []
    for span in (*known, *spelled, *owners):
        taken = [*periods, *found]
        if span.start < span.end and not any(span.start < other.end and other.start < span.end for other in taken):
            found.append(span)
    capitals = {span: text[slice(*span)] for span in found}  # may be those of a term: EBITDA, R&D, Net Sales
    named = [s for s, name in capitals.items() if s in known or not (name.lower() in _CAPITALS or is_term(name))]
    return Slots(periods, sorted(named))


def _known(names: Sequence[str]) -> Callable[[str], Iterable[re.Match[str]]]:
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE).finditer


def is_term(text: str) -> bool:
    """Return whether `text` is a vocabulary term."""
    widened = widener().widen(text)
    found = [widening.found for widening in widened.widenings]
    return text in found


def is_name(word: str) -> bool:
    """Return whether a word is capitalised like a name."""
    return bool(_NAME.fullmatch(word)) and word.lower() not in _CAPITALS


def find_owner(text: str) -> types.Span | None:
    """Return the span of a possessor in any case: "acme" in "acme's revenue"."""
    owner = _OWNER.search(text)
    return types.Span(*owner.span("name")) if owner and owner["name"].lower() not in _CAPITALS else None


def without_determiner(text: str) -> str:
    """Drop a leading "the"."""
    return _DETERMINER.sub("", text, count=1) if _DETERMINER.match(text) else text


def find_topic(question: str) -> str:
    """Return the topic of a question with its modifiers, "the revenue of Acme in 2021"; "" if none is found."""
    match = next((match for pattern in _TOPICS if (match := pattern.match(question))), None)
    return question[match.start("topic") :].rstrip(" ?.!") if match else ""


def without_periods(topic: str) -> str:
    """Drop periods and the words that introduce them."""
    for span in reversed(find_periods(topic)):
        topic = topic[: span.start].rstrip() + topic[span.end :]
    return _LEADING.sub("", topic.rstrip())


def find_measure(question: str) -> types.Span | None:
    """Return the span of the measure asked for: "net income" in "What was Acme's net income in 2020"."""
    for pattern in _TOPICS:
        if match := pattern.match(question):
            start, text = match.start("topic"), match["topic"]
            end = _TOPIC_END.search(text)
            core = text[: end.start()] if end else text
            spans = find_periods(core)
            core = core[: spans[0].start].rstrip() if spans else core
            owner = re.match(r".*['’]s\s+", core)
            determiner = _DETERMINER.match(core)
            skipped = owner.end() if owner else determiner.end() if determiner else 0
            if core[skipped:].strip():
                return types.Span(start + skipped, start + len(core.rstrip()))
    found = [widening.found for widening in widener().widen(question).widenings]
    longest = max(found, key=len, default="")
    at = question.find(longest) if longest else -1
    return types.Span(at, at + len(longest)) if at >= 0 else None


def asks_whether(question: str) -> bool:
    """Return whether `question` wants yes or no."""
    return _ASKS_WHETHER.match(question.strip()) is not None
