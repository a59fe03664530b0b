"""Rewrite follow-up questions as standalone ones: "And in 2020?". By a language model, or by rules.

By the rules, a follow-up names what is new and omits the rest. What it names replaces its kind in the question before:
a period a period, a name a name, a measure a measure; without one of its kind it is added. Complete questions stay as
they are.
"""

import re
from collections.abc import Iterable, Sequence

from rag import prompts, providers, types
from rag.answering.text.markup import CITATION_MARK
from rag.answering.text.question_parts import (
    find_measure,
    find_owner,
    find_slots,
    find_topic,
    is_name,
    is_term,
    without_determiner,
    without_periods,
)
from rag.ingestion.language_detection import detect
from rag.retrieval import Completions
from rag.vocabulary import (
    any_of,
    find_periods,
    question_templates,
    reason_language,
    references,
    words,
    years,
    years_away,
)

CONDENSED_MESSAGES = 6
CONDENSED_MESSAGE_CHARS = 1500
"""Limits of the conversation that is read to understand a follow-up question."""

MAX_CONDENSED_CHARS = 1000
"""A longer model output is no standalone question."""

MAX_WORDS = 12
"""Maximum length of a follow-up question."""

MAX_FRAGMENT_WORDS = 6
"""Maximum length of a follow-up that is no sentence."""

MAX_RANGE_CHARS = 12
"""Maximum distance of the ends of a range: "2019 to 2020", "2019 and FY2020"."""

_OPENING = re.compile(
    rf"[¿\s]*(?:(?:{any_of(words('joins'))})\b[\s,]*)*(?:(?:{any_of(words('leads'))})\b[\s,]*)?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rf"[¿\s]*(?:{any_of(words('starts'))})\b", re.IGNORECASE)
_DETAIL = re.compile(rf"[¿\s]*(?:{any_of(words('details'))})[\s?!.]*", re.IGNORECASE)
_GLUE = re.compile(rf"[\s?!.,;:¿]+|\b(?:{any_of(words('glue'))})\b", re.IGNORECASE)
_PREPOSITIONS = any_of(words("prepositions"))
_PREPOSITION = re.compile(rf"(?:{_PREPOSITIONS})\b\s*", re.IGNORECASE)
_TRAILING = re.compile(rf"(?<!\s)\s+(?:{any_of(words('prepositions'), ['and'])})$", re.IGNORECASE)

_SAME_PERIOD = re.compile(
    r"\b(?:the\s+)?same\s+(?:(?:fiscal|financial)\s+)?(?:year|quarter|period)\b"
    r"(?!\s+(?:(?:of|in|a|the)\s+){0,2}(?:last|previous|prior|preceding|before|earlier)\b)",
    re.IGNORECASE,
)
_LED = re.compile(
    rf"\b(?:{any_of(words('prepositions'), ['between'])})\s+"
    rf"(?:(?:{any_of(words('glue'), ['end', 'close'])})\s+){{0,6}}$",
    re.IGNORECASE,
)
"""Words that introduce a period: "from", "as of the end of"."""

_PRONOUN = re.compile(
    r"\b(?P<owner>its|their|his|her)\b|\b(?P<subject>it|they|he|she)\b|\b(?P<object>them|him)\b"
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
_DETERMINED = re.compile(r"\b(?:the|a|an|this|each|every|any|all|some|no|[A-Z][\w&.-]{1,60}['’]s)\s+\w{2,}")
_NO_PLURALS = frozenset(("whose", "is", "was", "does", "has", "as"))
_AGAINST = re.compile(r"(?:compared\s+(?:to|with)|versus|vs\.?|relative\s+to|than)\b", re.IGNORECASE)
_MANNER = re.compile(
    r"(?:as\s+an?\s|in\s+(?:percent|per\s+cent|total|words|euros?|dollars?|usd|%)|per\s)", re.IGNORECASE
)


def condense(
    question: str, history: Sequence[types.Message], completions: Completions | None, names: Sequence[str] = ()
) -> str:
    """Rewrite `question` as a standalone question that needs no `history`.

    Without a model, rules do it; they recognise `names` in any spelling.
    """
    if not history:
        return question
    if completions is None:
        whole = standalone(question, [turn.content for turn in history if turn.role == "user"], names)
        return whole if len(whole) <= MAX_CONDENSED_CHARS else question
    turns = conversation_turns(history, CONDENSED_MESSAGE_CHARS)
    while True:
        prompt = prompts.CONDENSE_QUESTION.format(history="\n".join(turns), question=question)
        if len(turns) <= 1 or providers.remaining_tokens(completions.llm, prompt) >= 0:
            break
        turns = turns[1:]
    condensed = " ".join(completions.complete("rewrites", prompt).split()).strip("\"'“”")
    return condensed if 0 < len(condensed) <= MAX_CONDENSED_CHARS else question


def conversation_turns(history: Sequence[types.Message], chars: int) -> list[str]:
    """Return the last turns of a conversation as a model reads them, each cut to `chars`."""
    return [
        f"{message.role}: {CITATION_MARK.sub('', message.content)[:chars]}" for message in history[-CONDENSED_MESSAGES:]
    ]


def refers_back(question: str) -> bool:
    """Return whether a pronoun of `question` may stand for something in an earlier one."""
    return _PRONOUN.search(question) is not None and _NO_REFERENCE.search(question) is None


def standalone(question: str, earlier: Iterable[str], names: Sequence[str] = ()) -> str:
    """Rewrite `question` so that it needs none of the user's `earlier` questions (oldest first).

    `names`, such as those of documents, are known in any spelling; others by their capitals.
    """
    understood, dated = "", ""  # the last question, and the last that has a period
    for turn in (*earlier, question):
        asked = " ".join(turn.split())
        same = _SAME_PERIOD.search(asked) if dated and len(asked.split()) <= MAX_WORDS else None
        if same and not find_periods(asked[: same.start()]):
            asked = f"{asked[: same.start()]}{dated[slice(*find_periods(dated)[-1])]}{asked[same.end() :]}"
        understood = (_completed(asked, understood, names) if understood else None) or asked
        dated = understood if find_periods(understood) else dated
    return question if understood == " ".join(question.split()) else understood[0].upper() + understood[1:]


def _completed(question: str, before: str, names: Sequence[str]) -> str | None:
    """Complete `question` from the one before; None if it is complete."""
    if len(question.split()) > MAX_WORDS:
        return None
    before = before.rstrip(" ?.!")
    if language := reason_language(question):
        return _reason_question(before, question.strip(" ¿?!."), language)
    if _DETAIL.fullmatch(question):
        return f"{before} – {question.strip(' ¿')}"
    opening = _OPENING.match(question)
    rest = question[opening.end() if opening else 0 :].strip(" ,")
    is_opened = len(rest) < len(question.strip(" ¿"))
    if _SENTENCE.match(rest):
        return _resolve_pronoun(rest, before, names) or (_inherit_slots(rest, before, names) if is_opened else None)
    rest = rest.rstrip(" ?.!")
    # nothing, or a new search for keywords, unless it speaks of "they"
    if not rest or len(rest.split()) > MAX_FRAGMENT_WORDS or not (is_opened or _stands_alone(rest, before, names)):
        refers = any(
            pronoun["owner"] or pronoun["subject"] for pronoun in _PRONOUN.finditer(rest) if pronoun[0] != "IT"
        )
        return _resolve_pronoun(rest, before, names) if refers else None
    if any(pronoun.start() == 0 for pronoun in _PRONOUN.finditer(rest) if pronoun["owner"]):
        rest = _PRONOUN.sub("", rest, count=1).strip()
    return _merged(rest, before, names)


# --- questions that are sentences -------------------------------------------------------------------


def _reason_question(before: str, asked: str, language: str) -> str:
    if re.match(r"(?:did|does|do|is|are|was|were|has|have)\b", before, re.IGNORECASE) and language == types.ENGLISH:
        return f"Why {before[0].lower()}{before[1:]}?"
    if re.match(r"how\s+(?:did|has|have|does|do)\b", before, re.IGNORECASE):
        return f"Why{before[3:]}?"
    topic = find_topic(before).strip()
    return question_templates(language).reason.format(topic=topic) if topic else f"{before} – {asked}?"


def _resolve_pronoun(question: str, before: str, names: Sequence[str]) -> str | None:
    """Replace a pronoun by what the question before speaks of."""
    if _NO_REFERENCE.search(question):
        return None
    pronoun = next((found for found in _PRONOUN.finditer(question) if not _has_antecedent(question, found)), None)
    if pronoun is None:
        return None
    topic, named = find_topic(before), [before[span.start : span.end] for span in find_slots(before, names).names]
    if find_periods(question):
        topic = without_periods(topic)
    # "What share was that?" points at a measure rather than at whose it is
    is_actor = pronoun["owner"] or (not pronoun["pointer"] and _AFTER_HELP.search(question[: pronoun.start()]))
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
    """Return whether the pronoun may refer to something within the question."""
    before = question[: pronoun.start()]
    if _ASKED_THING.fullmatch(before):
        return False
    others = before.split()[1:]
    is_named = any(is_name(word.strip(",.")) for word in others)
    is_plural = any(word.endswith("s") and word.lower() not in _NO_PLURALS for word in others)
    return (
        is_named or bool(_DETERMINED.search(before)) or (is_plural and pronoun[0].lower() in ("they", "their", "them"))
    )


def _inherit_slots(question: str, before: str, names: Sequence[str]) -> str | None:
    """Add the name and period of the question before to a sentence that continues with "and"."""
    own, earlier = find_slots(question, names), find_slots(before, names)
    added = ""
    if earlier.names and not own.names:
        name = before[earlier.names[0].start : earlier.names[0].end]
        added += f" {question_templates(detect(before)).of_whom} {name}"
    if earlier.periods and not own.periods:
        added += _with_period(before)
    return f"{question.rstrip(' ?.!')}{added}?" if added else None


def _with_period(before: str) -> str:
    """Return the periods of a question with their introducing words: " from 2019 to 2020"."""
    spans = find_periods(before)
    led = _LED.search(before[: spans[0].start])
    start = led.start() if led else spans[0].start
    return f" {'' if led else f'{question_templates(detect(before)).when} '}{before[start : spans[-1].end]}"


# --- fragments --------------------------------------------------------------------------------------


def _stands_alone(rest: str, before: str, names: Sequence[str]) -> bool:
    """Return whether a fragment without an opening is a follow-up rather than a keyword search."""
    if _AGAINST.match(rest) or _PREPOSITION.match(rest) or _MANNER.match(rest):
        return True
    slots = find_slots(rest, names)
    left = _remainder(rest, [*slots.periods, *slots.names])
    if not left:
        return bool(slots.periods or (slots.names and find_slots(before, names).names) or references(rest))
    return left == rest and is_term(rest) and bool(find_measure(before))


def _merged(rest: str, before: str, names: Sequence[str]) -> str:
    """Replace parts of `before` by those of the same kind in the fragment."""
    if _AGAINST.match(rest) or _MANNER.match(rest):
        return f"{before}, {rest}?"
    whole, slots = before, find_slots(rest, names)
    if places := references(rest):
        earlier = references(before)
        if len(places) == len(earlier) == 1 and places[0].kind == earlier[0].kind:
            return f"{_renumbered(before, earlier[0].label, places[0].label)}?"
        return f"{before} {rest}?"
    if slots.periods:
        whole = _replace_period(whole, rest, slots.periods)
    if slots.names:
        named = [rest[span.start : span.end] for span in slots.names]
        whole = _replace_name(whole, " and ".join(named), rest, names)
    left = _remainder(rest, [*slots.periods, *slots.names])
    return f"{_replace_measure(whole, left)}?" if left else f"{whole}?"


def _renumbered(before: str, label: str, other: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(label)}(?!\w)", other, before, count=1, flags=re.IGNORECASE)


def _remainder(rest: str, spans: Iterable[types.Span]) -> str:
    """Return what remains of a fragment without the spans and their introducing words."""
    kept = list(rest)
    for span in spans:
        kept[span.start : span.end] = "\0" * (span.end - span.start)
    left = re.sub("\0+(?:['’]s)?", "\0", "".join(kept))
    parts = [_TRAILING.sub("", part.strip()) for part in left.split("\0")]
    return " ".join(part for part in parts if part and _GLUE.sub("", part)).strip(" ,?")


def _replace_period(before: str, rest: str, spans: Sequence[types.Span]) -> str:
    """Ask `before` for the fragment's periods."""
    asked, earlier = rest[spans[0].start : spans[-1].end], find_periods(before)
    away = years_away(asked)
    if away and len(years(before)) == 1:
        year = years(before)[0]
        return re.sub(rf"{year}", str(year + away), before) if str(year) in before else f"{before}, {asked}"
    if not earlier:
        led = rest[: spans[0].start].strip()
        led = led if _PREPOSITION.fullmatch(f"{led} ") else question_templates(detect(before)).when
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


def _replace_name(before: str, name: str, rest: str, names: Sequence[str]) -> str:
    """Ask `before` of `name`, in place of a name with the same preposition, the owner, or the last name."""
    spans = find_slots(before, names).names
    preposition = (led[0].strip() if (led := _PREPOSITION.match(rest)) else "").lower()
    if not spans:
        owner = find_owner(before)
        if owner is None:
            return f"{before} {preposition or question_templates(detect(before)).of_whom} {name}"
        spans = [owner]
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


def _replace_measure(before: str, asked: str) -> str:
    """Ask `before` for another measure, or with another phrase of the same preposition."""
    if led := _PREPOSITION.match(asked):
        phrase = re.search(
            rf"\b{re.escape(led[0].strip())}\s+.+?(?=(?<!\s)\s+(?:{_PREPOSITIONS})\b|$)", before, re.IGNORECASE
        )
        if phrase and not find_periods(phrase[0]) and led[0].strip().lower() not in ("of", "de", "von"):
            return before[: phrase.start()] + asked + before[phrase.end() :]
        return f"{before} {asked}"
    span = find_measure(before)
    if span is None:
        return f"{before} – {asked}"
    return before[: span.start] + without_determiner(asked) + before[span.end :]
