"""Detect dropped conditions and exceptions: "if", "subject to", "unless", "except"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.answering.text.analyzed_text import Text, analyze

_NO_CONDITION = (
    r"(?<!even )(?<!as )(?<!what )(?<!determine )(?<!determines )(?<!determined )(?<!ask )(?<!asked )(?<!see )"
    r"(?<!know )(?<!assess )"
)
"""Lookbehinds: words after which "if" introduces no condition."""

_KINDS = {
    "if_clause": (
        rf"{_NO_CONDITION}if(?! (?:any|applicable|needed|necessary|required|appropriate)\b)|provided that|^provided|"
        r"provided(?<=, provided)|in the event (?:of|that)|(?:so|as) long as|only when|on condition that|assuming|^had"
    ),
    "if_phrase": (
        r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )subject to|in case of|contingent (?:up)?on|"
        r"condition(?:al|ed) (?:up)?on"
    ),
    "unless_clause": r"unless|had it not been for|save as",
    "unless_phrase": (
        r"except(?:ed)?(?: for| that| as)?|other than|with the exception of|but for|apart from|aside from|excluding|"
        r"exclusive of|save for"
    ),
}
_MARK = re.compile(
    r"(?:^|(?<![^\W_]))(?:" + "|".join(rf"(?P<{kind}>{words})" for kind, words in _KINDS.items()) + r")(?![^\W_])",
    re.IGNORECASE,
)
_EQUIVALENTS = {
    "if": re.compile(
        r"\b(?:when|whenever|where|subject to|upon|once|pending|depend(?:s|ed|ing)? on|would)\b", re.IGNORECASE
    ),
    "unless": re.compile(r"\b(?:without|absent|exclud(?:e|es|ed)|otherwise)\b", re.IGNORECASE),
}
"""Words that may replace a condition or an exception in a claim."""

_UNCONDITIONAL = re.compile(
    r"\b(?:whether or not|even if|regardless|irrespective|unconditional(?:ly)?|without exception|always|definitely|"
    r"in (?:all|any|every) (?:cases?|events?)|under (?:all|any) circumstances)\b",
    re.IGNORECASE,
)
"""Words that rule out any condition or exception."""


class _Mark(NamedTuple):
    """A word that introduces a condition ("if") or an exception ("unless"), and the text under it."""

    text: str
    start: int
    kind: str
    is_clause: bool
    what: Text


def mismatches(claim: Text, clause: Text, own: Text) -> list[str]:
    """Return the conditions and exceptions of the source clause that the claim drops, or rules out.

    A condition at the beginning of the sentence `own` holds for all its clauses.
    """
    leading = [mark for mark in _marks(own) if mark.start == 0]
    required = {mark.text: mark for mark in (*_marks(clause), *leading)}
    dropped = [mark.text for mark in required.values() if _is_dropped(mark, claim, own)]
    if not _UNCONDITIONAL.search(own.text):
        dropped += [match.group() for match in _UNCONDITIONAL.finditer(claim.text)]
    return dropped


def is_conditional(text: Text) -> bool:
    """Return whether the text may hold only under a condition or with an exception."""
    return any(_marks(text)) or any(words.search(text.text) for words in _EQUIVALENTS.values())


def _marks(text: Text) -> Iterator[_Mark]:
    for match in _MARK.finditer(text.text):
        kind, _, form = (match.lastgroup or "").partition("_")
        what = analyze(re.split(r"[,.;]\s", text.text[match.end() :], maxsplit=1)[0])
        if what.content or what.numbers:
            yield _Mark(match.group(), match.start(), kind, form == "clause", what)


def _is_dropped(mark: _Mark, claim: Text, own: Text) -> bool:
    """Return whether the claim repeats what the condition governs, or what depends on it, without a condition."""
    if any(other.kind == mark.kind for other in _marks(claim)) or _EQUIVALENTS[mark.kind].search(claim.text):
        return False
    elsewhere = {word.key for word in own.content} - mark.what.content_keys
    return mark.is_clause or not elsewhere.isdisjoint(claim.content_keys)
