"""Follow-up questions by rules: "And in 2020?" made whole from the question before it. Pure functions.

A follow-up names what is new and leaves out the rest, so what it names takes the place of what is of the same kind in
the question before: a period that of a period, a name that of a name, a measure that of a measure. Where there is
nothing of its kind it is added. A question that is whole stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rag.types import Span
from rag.vocabulary import find_periods, references, widener, years, years_away

MAX_WORDS = 12
"""A longer question says what it means."""

MAX_FRAGMENT_WORDS = 6
"""The same for one that is no sentence."""


def _any(words: str) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words.split("|"))


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OPENING = re.compile(
    rf"""[¿\s]*(?:(?:{_any("ok|okay|and|und|et|y|e|but|so|now|then|also|aber|mais|pero|or|oder|ou|well|thanks|please")})
    \b[\s,]*)*(?:(?:{
        _any(
            "what about|how about|what of|same for|the same for|do the same for|same question for|and for|as for|"
            "was ist mit|wie ist es mit|wie sieht es mit|wie steht es um|wie war es|"
            "qu'en est-il de|qu’en est-il de|qu'en est-il|quid de|et pour|qué hay de|que hay de|qué tal|qué pasa con"
        )
    })\b[\s,]*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(
    rf"""[¿\s]*(?:{
        _any(
            "what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|"
            "would|should|may|must|list|show|give|tell|find|explain|describe|compare|name|summarise|summarize|"
            "calculate|compute|wie|was|wer|wann|wo|warum|welche|welcher|welches|ist|sind|hat|haben|gibt|nenne|"
            "combien|quel|quelle|quels|quelles|qui|quand|où|pourquoi|comment|est|sont|cuánto|cuántos|cuál|cuáles|"
            "quién|cuándo|dónde|por qué|cómo|qué|es|son"
        )
    })\b""",
    re.IGNORECASE | re.VERBOSE,
)
_GERMAN = re.compile(r"\b(?:der|die|das|wie|wer|welche[rs]?|ist|war|und|wurde|hat|im|wann)\b", re.IGNORECASE)

_WHY = re.compile(
    r"[¿\s]*(?:but\s+)?(?:why(?:\s+(?:so|is\s+that|was\s+that|that))?|how\s+so|how\s+come|warum|wieso|pourquoi|por\s+qué)"
    r"[\s?!.]*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"[¿\s]*(?:when|where|who|by\s+whom|how(?:\s+(?:much|many|often|long))?|by\s+how\s+much|since\s+when|until\s+when|"
    r"wann|wo|wer|wie\s?viele?|seit\s+wann|quand|où|qui|combien|cuándo|dónde|quién|cuánto)[\s?!.]*",
    re.IGNORECASE,
)
_SUBJECT = r"it|they|he|she"
_PRONOUN = re.compile(
    rf"\b(?P<owner>its|their|his|her)\b|\b(?P<subject>{_SUBJECT})\b|\b(?P<object>them|him)\b"
    r"|\b(?P<pointer>that|this|these|those)\b"
    r"(?=\s*(?:[?.,!]|$|(?:is|are|was|were|compare|mean|change|come|in|as|by|of)\b|\w+[?.!]*$))",
    re.IGNORECASE,
)
_NO_REFERENCE = re.compile(
    r"\bit\s+(?:(?:take|takes|took|cost|costs|matter|matters|happen|rain|seem|seems)\b"
    r"|(?:possible|necessary|true|correct|important|allowed|likely|safe|legal|worth|required|mandatory)\b)"
    r"|\b(?:is|was)\s+it\s+\w+\s+(?:to|that|for)\b|\b(?:in|this|these|those|that)\s+(?:document|report|file|paper)s?\b",
    re.IGNORECASE,
)
_HELP = r"(?:is|are|was|were|do|does|did|has|have|had|can|will)"
_AFTER_HELP = re.compile(rf"\b{_HELP}\s+$", re.IGNORECASE)
_ASKED_THING = re.compile(
    rf"\s*(?:and\s+)?(?:what|which|how\s+many|how\s+much)(?:\s+\w+){{1,3}}\s+{_HELP}\s+", re.IGNORECASE
)
_BEYOND_PERIODS = re.compile(r"\s*(?:when|who|where|since|how\s+long|how\s+old)\b", re.IGNORECASE)
_DETERMINED = re.compile(r"\b(?:the|a|an|this|each|every|any|all|some|no|[A-Z][\w&.-]+['’]s)\s+\w{2,}")
_QUESTION_WORDS = _word_set(
    "what which who whom whose when where why how much many often long is are was were do does did has have had can "
    "could will would should of in for by to and or at on with about from as"
)

_PREPOSITIONS = "in|for|of|at|on|by|from|to|with|under|during|as of|until|since|before|after|without|per|than|into"
_PREPOSITION = re.compile(rf"(?:{_any(_PREPOSITIONS)}|im|für|bei|von|en|pour|de|chez|para)\b\s*", re.IGNORECASE)
_AGAINST = re.compile(r"(?:compared\s+(?:to|with)|versus|vs\.?|relative\s+to|than)\b", re.IGNORECASE)
_MANNER = re.compile(
    r"(?:as\s+an?\s|in\s+(?:percent|per\s+cent|total|words|euros?|dollars?|usd|%)|per\s)", re.IGNORECASE
)
_GLUE = re.compile(
    r"[\s?!.,;:¿]+|\b(?:in|for|of|at|on|during|as\s+of|and|to|the|year|years|then|instead|exactly|im|jahr|jahre|für|en|"
    r"l'année|pour|de|del|año|el|la|le|au|aus|bei|von|from|until|that|one|please)\b",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"\s+(?:in|for|of|at|on|during|as\s+of|im|für|von|en|and)$", re.IGNORECASE)
_DETERMINER = re.compile(
    r"(?:the|a|an|its|their|our|your|der|die|das|den|le|la|les|l['’]|el|los|las)\s+", re.IGNORECASE
)
_NAME = re.compile(
    r"(?<![\w'’])(?P<name>[A-ZÄÖÜÉ][\w&.-]*[\w&](?:\s+(?:of\s+|&\s+)?[A-ZÄÖÜÉ][\w&.-]*[\w&])*|[A-Z](?![\w'’]))"
)
_GERMAN_NAME = re.compile(
    r"\b(?:von|bei|für|hat|hatte|haben)\s+"
    r"(?P<name>[A-ZÄÖÜ][\w&.-]*[\w&](?:\s+[A-ZÄÖÜ][\w&.-]*[\w&])*)(?=\s|[?.!]|$)"
)
_OWNER = re.compile(r"(?<![\w'’])(?P<name>[\w&-]+)(?=['’]s\s)")
_NO_NAMES = _word_set(
    "i a what which who whom whose when where why how is are was were do does did has have had can could will would "
    "should may must list show give tell find explain describe compare name the in for of on at and or but as from to "
    "summarise summarize calculate compute page pages table tables figure figures note notes section sections item "
    "items chapter chapters appendix exhibit part slide january february march april june july august september "
    "october november december q1 q2 q3 q4 h1 h2 fy cy year total net gross it that let here there company year's "
    "jahr jahre januar februar märz mai juni juli oktober dezember today this last next ceo cfo coo cto chair chairman "
    "board usd eur gbp ok okay please yes no"
)

_DEVELOPS = "develop|change|grow|evolve|perform|compare|improve|increase|decrease|decline|fall|rise|move|look"
_IS = r"(?:['’]s|\s+(?:is|are|was|were|will\s+be|has\s+been|have\s+been))"
_HELPS = "did|does|do|is|are|was|were|has|have|had|will"
_ROMANCE_IS = r"(?:est|sont|était|étaient|fut|es|son|fue|era|fueron)"
_TOPICS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"how\s+(?:did|has|have|does|do)\s+(?P<topic>.+?)\s+(?:{_DEVELOPS})\w*\b",
        rf"(?:did|does|do|has|have)\s+(?P<topic>.+?)\s+(?:{_DEVELOPS}|fell|risen|go|gone)\w*\b",
        rf"(?:what|which|who|where|when|how\s+(?:high|large|big|strong|old|long)){_IS}\s+(?P<topic>.+)",
        rf"how\s+(?:much|many)\s+(?!(?:{_HELPS}|of)\b)(?P<topic>.+?)(?=\s+(?:{_HELPS})\b|$)",
        r"wie\s+(?:hoch|groß|viel|stark)\s+(?:ist|sind|war|waren)\s+(?P<topic>.+)",
        r"(?:was|wer|wo|wann)\s+(?:ist|sind|war|waren)\s+(?P<topic>.+)",
        rf"(?:quels?|quelles?|qui|cuál(?:es)?|quién|cuánto)\s+{_ROMANCE_IS}\s+(?P<topic>.+)",
        r"(?:show|give|tell|list|find|state|name)\s+(?:me\s+)?(?P<topic>.+)",
    )
)
"""What a question is about, in the ways in which questions are mostly put; the first that fits counts."""
_TOPIC_END = re.compile(
    rf"\s+(?:{_any(_PREPOSITIONS)}|between|through|according|that|which|im|für|bei|von|en|de|du|des|del|para)\b",
    re.IGNORECASE,
)


class _Slots(NamedTuple):
    """Where a question names periods and whom it is about."""

    periods: list[Span]
    names: list[Span]


def standalone(question: str, earlier: Iterable[str], names: Sequence[str] = ()) -> str:
    """`question` so that it can be understood without the user's `earlier` questions, which are given oldest first.

    `names` are known in any spelling, such as those of documents; others are known by their capital letters.
    """
    understood = ""
    for turn in (*earlier, question):
        asked = " ".join(turn.split())
        understood = (_completed(asked, understood, names) if understood else None) or asked
    return question if understood == " ".join(question.split()) else understood[0].upper() + understood[1:]


def _completed(question: str, before: str, names: Sequence[str]) -> str | None:
    """`question` with what it leaves out taken from the one before; None if it is whole."""
    if len(question.split()) > MAX_WORDS:
        return None
    before = before.rstrip(" ?.!")
    if _WHY.fullmatch(question):
        return _why(before)
    if _BARE.fullmatch(question):
        return f"{before} – {question.strip(' ¿')}"
    opening = _OPENING.match(question)
    rest = question[opening.end() if opening else 0 :].strip(" ,")
    is_opened = len(rest) < len(question.strip(" ¿"))
    if _SENTENCE.match(rest):
        return _referring(rest, before, names) or (_inheriting(rest, before, names) if is_opened else None)
    return _named_only(rest.rstrip(" ?.!"), before, names, is_opened=is_opened)


# --- questions that are sentences -------------------------------------------------------------------


def _why(before: str) -> str:
    topic = _topic(before)
    if re.match(r"(?:did|does|do|is|are|was|were|has|have)\b", before, re.IGNORECASE):
        return f"Why {before[0].lower()}{before[1:]}?"
    if re.match(r"how\s+(?:did|has|have|does|do)\b", before, re.IGNORECASE):
        return f"Why{before[3:]}?"
    return f"What explains {topic.strip()}?" if topic else f"{before} – why?"


def _referring(question: str, before: str, names: Sequence[str]) -> str | None:
    """A sentence with a pronoun for what the question before speaks of, which takes the pronoun's place."""
    if _NO_REFERENCE.search(question):
        return None
    pronoun = next((found for found in _PRONOUN.finditer(question) if not _has_antecedent(question, found)), None)
    if pronoun is None:
        return None
    topic, named = _topic(before), [before[span.start : span.end] for span in _slots(before, names).names]
    if find_periods(question):
        topic = _without_periods(topic)
    is_actor = pronoun["owner"] or _AFTER_HELP.search(question[: pronoun.start()])
    speaks_of = named[0] if is_actor and len(set(named)) == 1 else ""
    meant = speaks_of or topic
    is_person = pronoun[0].lower() in ("he", "she", "his", "her", "him")
    if not meant or is_person:
        return f"{question.rstrip(' ?.!')} ({before})?"
    if pronoun["owner"]:
        meant += "'s"
    whole = question[: pronoun.start()] + meant + question[pronoun.end() :]
    if find_periods(question) or not find_periods(before) or find_periods(whole) or _BEYOND_PERIODS.match(question):
        return whole
    return f"{whole.rstrip(' ?.!')}{_with_period(before)}?"


def _has_antecedent(question: str, pronoun: re.Match[str]) -> bool:
    """Whether what comes before the pronoun may be what it stands for."""
    before = question[: pronoun.start()]
    if _ASKED_THING.fullmatch(before):
        return False
    others = before.split()[1:]
    is_named = any(_NAME.fullmatch(word.strip(",.")) and word.lower() not in _NO_NAMES for word in others)
    is_plural = any(word.endswith("s") and word.lower() not in _QUESTION_WORDS for word in others)
    return (
        is_named or bool(_DETERMINED.search(before)) or (is_plural and pronoun[0].lower() in ("they", "their", "them"))
    )


def _inheriting(question: str, before: str, names: Sequence[str]) -> str | None:
    """A sentence that goes on with "and": the name and the period that it leaves open are those from before."""
    own, earlier = _slots(question, names), _slots(before, names)
    added = ""
    if earlier.names and not own.names:
        added += f" for {before[earlier.names[0].start : earlier.names[0].end]}"
    if earlier.periods and not own.periods:
        added += _with_period(before)
    return f"{question.rstrip(' ?.!')}{added}?" if added else None


def _with_period(before: str) -> str:
    """The periods of a question with the words that lead to them: " from 2019 to 2020"."""
    spans = find_periods(before)
    led = re.search(
        r"\b(?:in|for|from|between|as of|at|during|since|of)(?:\s+the)?(?:\s+(?:end|close|year)\s+of)?\s+$",
        before[: spans[0].start],
    )
    start = led.start() if led else spans[0].start
    return f" {'' if led else 'in '}{before[start : spans[-1].end]}"


# --- fragments --------------------------------------------------------------------------------------


def _named_only(rest: str, before: str, names: Sequence[str], *, is_opened: bool) -> str | None:
    """A fragment, which only names what is new; None if it is nothing, or a new search for a few words."""
    if not rest or len(rest.split()) > MAX_FRAGMENT_WORDS or not (is_opened or _stands_alone(rest, before, names)):
        return None
    if any(pronoun.start() == 0 for pronoun in _PRONOUN.finditer(rest) if pronoun["owner"]):
        rest = _PRONOUN.sub("", rest, count=1).strip()
    return _merged(rest, before, names)


def _stands_alone(rest: str, before: str, names: Sequence[str]) -> bool:
    """Whether a fragment without an opening is a follow-up, and no new search for a few words."""
    if _AGAINST.match(rest) or _PREPOSITION.match(rest) or _MANNER.match(rest):
        return True
    slots = _slots(rest, names)
    left = _left(rest, [*slots.periods, *slots.names])
    if not left:
        return bool(slots.periods or (slots.names and _slots(before, names).names) or references(rest))
    return left == rest and _is_term(rest) and bool(_measure(before))


def _merged(rest: str, before: str, names: Sequence[str]) -> str:
    """`before` with what the fragment names in the place of what is of its kind."""
    if _AGAINST.match(rest) or _MANNER.match(rest):
        return f"{before}, {rest}?"
    whole, slots = before, _slots(rest, names)
    if places := references(rest):
        earlier = references(before)
        if len(places) == len(earlier) == 1 and places[0].kind == earlier[0].kind:
            return f"{_renumbered(before, earlier[0].label, places[0].label)}?"
        return f"{before} {rest}?"
    if slots.periods:
        whole = _in_period(whole, rest, slots.periods)
    if slots.names:
        named = [rest[span.start : span.end] for span in slots.names]
        whole = _in_name(whole, " and ".join(named), rest, names)
    left = _left(rest, [*slots.periods, *slots.names])
    return f"{_in_measure(whole, left)}?" if left else f"{whole}?"


def _renumbered(before: str, label: str, other: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(label)}(?!\w)", other, before, count=1, flags=re.IGNORECASE)


def _left(rest: str, spans: Iterable[Span]) -> str:
    """What is left of a fragment beside the spans, without the words that only lead to them."""
    kept = list(rest)
    for span in spans:
        kept[span.start : span.end] = "\0" * (span.end - span.start)
    left = re.sub("\0+(?:['’]s)?", "\0", "".join(kept))
    parts = [_TRAILING.sub("", part.strip()) for part in left.split("\0")]
    return " ".join(part for part in parts if part and _GLUE.sub("", part)).strip(" ,?")


def _in_period(before: str, rest: str, spans: Sequence[Span]) -> str:
    """`before` in the periods of the fragment."""
    asked, earlier = rest[spans[0].start : spans[-1].end], find_periods(before)
    away = years_away(asked)
    if away and len(years(before)) == 1:
        year = years(before)[0]
        return re.sub(rf"{year}", str(year + away), before) if str(year) in before else f"{before}, {asked}"
    if not earlier:
        led = rest[: spans[0].start].strip()
        led = led if _PREPOSITION.fullmatch(f"{led} ") else "in"
        return f"{before} {led} {asked}"
    first, last = earlier[0], earlier[-1]
    if last.start - first.end > MAX_RANGE_CHARS:  # two that have nothing to do with each other
        first = last
    old = before[first.start : last.end]
    if (
        len(earlier) == len(spans) == 1
        and re.fullmatch(r"\d{4}", asked)
        and len(years(old)) == 1
        and str(years(old)[0]) in old
    ):
        asked = old.replace(str(years(old)[0]), asked)
    elif len(earlier) == len(spans) == 1 and not years(asked) and not away and years(old):
        asked = f"{asked} {years(old)[0]}"
    return before[: first.start] + asked + before[last.end :]


MAX_RANGE_CHARS = 12
"""Between the two ends of a range stand a few letters: "2019 to 2020", "2019 and FY2020"."""


def _in_name(before: str, name: str, rest: str, names: Sequence[str]) -> str:
    """`before` asked of `name`: that of several whose preposition is the same, or the owner, or the last."""
    spans = _slots(before, names).names
    preposition = (led[0].strip() if (led := _PREPOSITION.match(rest)) else "").lower()
    if not spans:
        owner = _OWNER.search(before)
        if owner is None or owner["name"].lower() in _NO_NAMES:
            return f"{before} {preposition or 'for'} {name}"
        spans = [Span(*owner.span("name"))]
    alike = [
        span
        for span in spans
        if preposition and re.search(rf"\b{re.escape(preposition)}\s+$", before[: span.start], re.IGNORECASE)
    ]
    owners = [span for span in spans if re.match(r"['’]", before[span.end :])]
    if preposition in ("in", "at") and not alike:
        return f"{before} {preposition} {name}"
    chosen = next(iter([*alike, *owners, *spans[-1:]]))
    return before[: chosen.start] + name + before[chosen.end :]


def _in_measure(before: str, asked: str) -> str:
    """`before` asked for another measure, or with another phrase of the same preposition."""
    if led := _PREPOSITION.match(asked):
        phrase = re.search(
            rf"\b{re.escape(led[0].strip())}\s+.+?(?=\s+(?:{_any(_PREPOSITIONS)})\b|$)", before, re.IGNORECASE
        )
        if phrase and not find_periods(phrase[0]) and led[0].strip().lower() not in ("of", "de", "von"):
            return before[: phrase.start()] + asked + before[phrase.end() :]
        return f"{before} {asked}"
    span = _measure(before)
    if span is None:
        return f"{before} – {asked}"
    return before[: span.start] + _DETERMINER.sub("", asked, count=1) + before[span.end :]


# --- what a question is made of ---------------------------------------------------------------------


def _slots(text: str, names: Sequence[str]) -> _Slots:
    periods = find_periods(text)
    known = [Span(*match.span()) for match in _known(names)(text)] if names else []
    is_german = bool(_GERMAN.search(text))
    pattern = _GERMAN_NAME if is_german else _NAME  # every German noun has a capital
    spelled = [Span(*match.span("name")) for match in pattern.finditer(text)]
    owners = [Span(*match.span("name")) for match in _OWNER.finditer(text) if match["name"].lower() not in _NO_NAMES]
    found: list[Span] = []
    for span in (*known, *map(_trimmed(text), spelled), *owners):
        taken = [*periods, *found]
        if span.start < span.end and not any(span.start < other.end and other.start < span.end for other in taken):
            found.append(span)
    named = [span for span in found if span in known or not _is_no_name(text[span.start : span.end])]
    return _Slots(periods, sorted(named))


def _trimmed(text: str) -> Callable[[Span], Span]:
    """Takes words off the beginning of a span that are capital for another reason: "What Acme", "Did Acme"."""

    def trim(span: Span) -> Span:
        words = list(re.finditer(r"\S+", text[span.start : span.end]))
        kept = next((word.start() for word in words if word[0].lower() not in _NO_NAMES), span.end - span.start)
        return Span(span.start + kept, span.end)

    return trim


def _known(names: Sequence[str]) -> Callable[[str], Iterable[re.Match[str]]]:
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE).finditer


def _is_no_name(text: str) -> bool:
    """Terms are written with capitals, too: EBITDA, R&D, Net Sales."""
    return text.lower() in _NO_NAMES or _is_term(text)


def _is_term(text: str) -> bool:
    """Whether all of `text` is a term of a trade."""
    widened = widener().widen(text)
    found = [widening.found for widening in widened.widenings]
    return text in found


def _topic(question: str) -> str:
    """What the question is about, and all that is said of it: "the revenue of Acme in 2021"; "" if that is not seen."""
    match = next((match for pattern in _TOPICS if (match := pattern.match(question))), None)
    return question[match.start("topic") :].rstrip(" ?.!") if match else ""


def _without_periods(topic: str) -> str:
    for span in reversed(find_periods(topic)):
        topic = topic[: span.start].rstrip() + topic[span.end :]
    return re.sub(r"\s+(?:in|for|of|from|to|at|as of|during|between|and)\s*$", "", topic.rstrip(), flags=re.IGNORECASE)


def _measure(question: str) -> Span | None:
    """The measure that a question asks for: "net income" in "What was Acme's net income in 2020"."""
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
                return Span(start + skipped, start + len(core.rstrip()))
    found = [widening.found for widening in widener().widen(question).widenings]
    longest = max(found, key=len, default="")
    at = question.find(longest) if longest else -1
    return Span(at, at + len(longest)) if at >= 0 else None
