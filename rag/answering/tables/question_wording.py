"""Separate what a question asks from how to answer it: sources to use, rounding, the definition of a term."""

import re
from typing import NamedTuple

from rag.answering.text.sentences import split_sentences
from rag.vocabulary import find_figure, find_periods

MAX_TERM_CHARS = 80
"""Maximum length of a defined term."""

_INSTRUCTS = re.compile(
    r"(?:please\s+|kindly\s+)?(?:round|answer|state|give|provide|express|base|calculate|compute|use|utili[sz]e|rely|respond|report|show"
    r"|assume|consider|write|return|present|format|do\s+not|we\s+(?:need|want)\s+to|you\s+are|i\s+(?:need|want)"
    r"|runde|antworte|gib|verwende|nutze|rechne)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that says how to answer."""

_DEFINES = re.compile(
    rf"(?:define\s++(?P<of>[^:=?]{{2,{MAX_TERM_CHARS}}}?)(?<!\s)\s+(?:as|to\s+be)"
    rf"|(?P<term>[^:=?]{{2,{MAX_TERM_CHARS}}}?)(?<!\s)\s+(?:(?:is|are)\s+(?:here\s+)?(?:defined|calculated|computed)\s+(?:as|by)|equals|means|=))"
    r":?\s*+(?P<words>.+?)\.?",
    re.IGNORECASE | re.DOTALL,
)
_LEAD_IN = re.compile(
    r"(?:(?:based\s+(?:\w+\s+)?(?:up)?on|taking\s+into\s+account|considering|according\s+to|using|by\s+\w+ing|when\s+(?:\w+\s+)?\w+ing"
    r"|from|in|looking\s+at|given)\b[^?\d]{0,600}?,|(?<![^?\d])(?>[^?\d]*?\bquestion\b)[^?\d]*?:)\s+(?=(?:what|how|which|did|does|do|is|are|was|were|has|have)\b)",
    re.IGNORECASE,
)
"""What stands before the question itself and names no year."""

_SIGNS = (
    (re.compile(r"(?<!\s)\s+(?:divided\s+by|over)\s+|(?:(?<!\s)\s+)?÷\s*", re.IGNORECASE), " / "),
    (re.compile(r"(?<!\s)\s+(?:multiplied\s+by|times)\s+|(?:(?<!\s)\s+)?[×x]\s+(?=\d|\()", re.IGNORECASE), " * "),
    (re.compile(r"(?<!\s)\s+plus\s+", re.IGNORECASE), " + "),
    (re.compile(r"(?<!\s)\s+(?:minus|less|[–−])\s+", re.IGNORECASE), " - "),
)
_OPERATOR = re.compile(r"(?:(?<!\s)\s+)?([+*/()]|(?<=\s)-(?=\s))\s*")
_READINGS = (
    (re.compile(r"(?:the\s+)?(?:average|mean)\s+(?:of\s+)?", re.IGNORECASE), "average"),
    (re.compile(r"(?:the\s+)?(?:change|increase)\s+(?:in|of)\s+", re.IGNORECASE), "change"),
)
_LONE = re.compile(r"\( ((?:average|change)?\[[^\]]+\]) \)")
"""A line item in brackets of its own."""
_WHERE = re.compile(r"(?<!\s)\s+(?:between|from|for|in|at|as\s+of|during|on)\b.*", re.IGNORECASE | re.DOTALL)
_QUALIFIERS = re.compile(r"\b(?:the|unadjusted|reported|year[- ]end|fiscal|fy|net(?=\s+(?:of\b|$)))\b", re.IGNORECASE)


class StatedDefinition(NamedTuple):
    """A term that the question defines, and the words that it gives for it."""

    term: str
    words: str


class Wording(NamedTuple):
    """The sentence that asks, and the definition beside it."""

    question: str
    definition: StatedDefinition | None = None


def separate(text: str) -> Wording:
    """Return the sentence of `text` that asks; all of it if another one says more than how to answer."""
    text = re.sub(r"\?(?=\S)", "? ", text)
    sentences = [text[span.start : span.end] for span in split_sentences(text)]
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    if len(asking) != 1:
        return Wording(text)
    definition = None
    for sentence in sentences:
        if sentence is asking[0]:
            continue
        if defined := _DEFINES.fullmatch(sentence):
            definition = StatedDefinition((defined["of"] or defined["term"]).strip(), defined["words"])
        elif not _INSTRUCTS.match(sentence):
            return Wording(text)
    return Wording(_LEAD_IN.sub("", asking[0], count=1), definition)


def expression(words: str) -> str | None:
    """Return the expression of a formula in words, with line items in brackets; None if a part of it is unknown.

    "365 * average inventory / FY2021 COGS" is "365 * average[inventories] / [cost of sales]".
    """
    for pattern, sign in _SIGNS:
        words = pattern.sub(sign, words)
    parts = [part for part in _OPERATOR.split(words) if part.strip()]
    found = [part if re.fullmatch(r"[-+*/()]|\d+", part) else _operand(part) for part in parts]
    known = [part for part in found if part]
    has_operator = any(part in "+-*/" for part in known)
    is_known = len(known) == len(found) and has_operator
    return _LONE.sub(r"\1", " ".join(known)) if is_known else None


def _operand(words: str) -> str | None:
    """Return a line item with how it is read: its mean or its change over the year."""
    reading, words = "", words.strip(" ,.;")
    for pattern, name in _READINGS:
        if match := pattern.match(words):
            reading, words = name, words[match.end() :]
    words = _WHERE.sub("", words)
    for span in reversed(find_periods(words)):
        words = f"{words[: span.start]} {words[span.end :]}"
    figure = find_figure(" ".join(_QUALIFIERS.sub(" ", words).split()))
    return f"{reading}[{figure.name}]" if figure else None
