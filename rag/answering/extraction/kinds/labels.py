"""Questions for a labelled value, a definition, a recurring date or the state of a check box."""

import re
from dataclasses import dataclass

from rag import types
from rag.answering.extraction.kinds.base import NO_WORDS, StatedKind, label_words, own_words
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.definitions import DEFINES
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import term_weights
from rag.answering.text.question_parts import asks_whether
from rag.answering.text.sentences import is_answered_by_box

MIN_TOPIC_SHARE = 1 / 3
"""Share of a label's words that a question must more than have."""

_MEANS = (
    re.compile(
        r"^what\s+(?:does|do|did)\s+(?:the\s+(?:term|word)\s+)?(?P<term>\S.*?)(?<!\s)\s+"
        r"(?:mean|refer\s+to|stand\s+for)\b",
        re.I,
    ),
    re.compile(r"what\s+is\s+meant\s+by\s+(?:the\s+(?:term\s+)?)?(?P<term>[^?]+)", re.I),
    re.compile(
        r"^how(?=[^?]*\?)\s+(?:is|are|does\s+\S+\s+define)\s+(?:the\s+term\s+)?(?P<term>\S.*?)"
        r"(?<!\s)\s*+(?:(?<=\s)defined\b[^?]*)?\?",
        re.I,
    ),
    re.compile(r"what\s+is\s+the\s+(?:definition|meaning)\s+of\s+(?P<term>[^?]+)", re.I),
    re.compile(r"was\s+(?:bedeutet|bezeichnet|versteht\s+man\s+unter)\s+(?P<term>[^?]+)", re.I),
    re.compile(r"^wie\s+(?:ist|sind|wird|werden)\s+(?P<term>\S.*?)(?<!\s)\s+definiert\b", re.I),
)
_WHAT_IS = re.compile(
    r"(?:what\s+(?:is|are)|was\s+(?:ist|sind))\s++(?:an?|the|eine?|der|die|das)?\s*+(?P<term>[^?]+)\??", re.I
)
_IN_PASSING = r"\((?:[^()]{{0,80}}\s)?[“\"„]{term}[”\"“](?:\s+or\s[^()]*)?\)"
"""A term that is defined by the sentence it stands in: "… of 5 May 2020 (the “Effective Date”)"."""
_CONSISTS = (
    r"\s+(?:consists?\s+of|comprises?|(?:is|are)\s+made\s+up\s+of|besteht\s+aus|bestehen\s+aus|umfass(?:t|en))\b"
)
"""What tells the parts of something: "The segments consist of Mail and Freight"."""
_RECURS = re.compile(
    r"(?:when|on\s+which\s+(?:date|day))\s+(?:does|do)\s++(?:the|our|its)?\s*+(?P<what>\S.*?)(?<!\s)\s+(?P<verb>end|close|begin|start)\s*+(?:\?\s*)?$"
    r"|(?:what|when)\s+is\s++(?:the|our|its|(?:[\w&.-]+\s+){0,3}[\w&.-]+['’]s?)?\s*+(?P<what_year>(?:fiscal|financial)\s+year)"
    r"[\s-]end(?:\s+date)?\s*+(?:\?\s*)?$"
    r"|wann\s+(?P<verb_de>endet|beginnt)\s++(?:das|der|die)?\s*+(?P<what_de>[^?]+)(?:\?\s*)?$",
    re.IGNORECASE,
)
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|may|june|july|august"
    r"|(?:septem|octo|novem|decem)ber|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|januar|februar|märz|mai|juni|juli"
    r"|oktober|dezember)"
)
_ENDS = re.compile(
    rf"\b(?:ends|end\s+on|ending|closes|close\s+on|enden|endet|year-end\s+is)\b[^.;:]{{0,60}}?\b{_DAY}\b(?!\s+\d{{1,2}},?\s+(?:19|20)\d\d)",
    re.I,
)
_BEGINS = re.compile(
    rf"\b(?:begins|begin\s+on|beginning|starts|start\s+on|beginnen|beginnt)\b[^.;:]{{0,60}}?\b{_DAY}\b(?!\s+\d{{1,2}},?\s+(?:19|20)\d\d)",
    re.I,
)
_ASKS_VALUE = re.compile(
    r"(?:what|which|where|in\s+(?:which|what)|was|wie|welche[rs]?|in\s+welche[rmn])\b", re.IGNORECASE
)


@dataclass(frozen=True)
class LabelledKind(StatedKind):
    """Asks for a value whose label has the words `topic`, the meaning of a term, or a check box.

    `checked` are the words of an item of a form whose check box says whether it applies.
    """

    topic: frozenset[str] = NO_WORDS
    checked: frozenset[str] = NO_WORDS

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit is such a value, sentence or check box."""
        if self.checked and is_answered_by_box(text):
            return self.checked <= {*term_weights.words(text)}
        return super().answers(hit, unit, text)

    def _is_label(self, label: str) -> bool:
        words = label_words(label)
        is_about = bool(self.topic) and self.topic <= {*words} and len(self.topic) > MIN_TOPIC_SHARE * len(words)
        return is_about and (len(self.topic) > 1 or words[:1] == [*self.topic])


def recurring_date(question: ParsedQuestion) -> StatedKind | None:
    """Return the kind of a question for when something ends or begins each year or week."""
    recurs = _RECURS.match(question.text.strip())
    if recurs is None:
        return None
    words = frozenset(term_weights.content_words(recurs["what"] or recurs["what_de"] or recurs["what_year"]))
    verb = (recurs["verb"] or recurs["verb_de"] or "end").lower()
    sentence = _ENDS if verb in ("end", "close", "endet") else _BEGINS
    return StatedKind(sentence, words, is_each_documents_own=bool(words))


def meaning(question: ParsedQuestion) -> StatedKind | None:
    """Return the kind of a question for the meaning of a term."""
    for pattern in _MEANS:
        if means := pattern.match(question.text.strip()):
            return StatedKind(_definition(means["term"]))
    return None


def labelled(question: ParsedQuestion) -> LabelledKind:
    """Return the kind of any other question: a label, the definition of a term, or a check box may answer it."""
    text = question.text.strip()
    asked = _WHAT_IS.fullmatch(text)
    topic = own_words(question) if _ASKS_VALUE.match(text) else NO_WORDS
    checked = own_words(question) if asks_whether(text) else NO_WORDS
    return LabelledKind(_definition(asked["term"]) if asked else None, topic=topic, checked=checked)


def _definition(term: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that defines `term`."""
    words = r"[\s-]+".join(map(re.escape, term.strip(" „“”\"'").split()))
    begun = rf"(?:^|[“\"„]|\bterms?\s+[“\"]?){words}{DEFINES}"
    return re.compile(rf"{begun}|{_IN_PASSING.format(term=words)}|\b{words}{_CONSISTS}", re.IGNORECASE)
