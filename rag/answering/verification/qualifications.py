"""Detect what changes how far a claim holds: dropped conditions ("if", "unless") and hedges ("will", "may", "must").

Auxiliaries and verbs follow the modal and evidential expressions in Palmer, *Mood and Modality* (2001), as far as
reports and contracts use them.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from rag.answering.text.analyzed_text import IRREGULAR_PASTS, Text, analyze

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
_CONDITION = re.compile(
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


class _Condition(NamedTuple):
    """A word that introduces a condition ("if") or an exception ("unless"), and the text under it."""

    text: str
    start: int
    kind: str
    is_clause: bool
    what: Text


def dropped_conditions(claim: Text, clause: Text, own: Text) -> list[str]:
    """Return the conditions and exceptions of the source clause that the claim drops, or rules out.

    A condition at the beginning of the sentence `own` holds for all its clauses.
    """
    leading = [mark for mark in _conditions(own) if mark.start == 0]
    required = {mark.text: mark for mark in (*_conditions(clause), *leading)}
    dropped = [mark.text for mark in required.values() if _is_dropped(mark, claim, own)]
    if not _UNCONDITIONAL.search(own.text):
        dropped += [match.group() for match in _UNCONDITIONAL.finditer(claim.text)]
    return dropped


def is_conditional(text: Text) -> bool:
    """Return whether the text may hold only under a condition or with an exception."""
    return any(_conditions(text)) or any(words.search(text.text) for words in _EQUIVALENTS.values())


def _conditions(text: Text) -> Iterator[_Condition]:
    for match in _CONDITION.finditer(text.text):
        kind, _, form = (match.lastgroup or "").partition("_")
        what = analyze(re.split(r"[,.;]\s", text.text[match.end() :], maxsplit=1)[0])
        if what.content or what.numbers:
            yield _Condition(match.group(), match.start(), kind, form == "clause", what)


def _is_dropped(mark: _Condition, claim: Text, own: Text) -> bool:
    """Return whether the claim repeats what the condition governs, or what depends on it, without a condition."""
    if any(other.kind == mark.kind for other in _conditions(claim)) or _EQUIVALENTS[mark.kind].search(claim.text):
        return False
    elsewhere = {word.key for word in own.content} - mark.what.content_keys
    return mark.is_clause or not elsewhere.isdisjoint(claim.content_keys)


class Modality(Enum):
    """How a statement is hedged."""

    FUTURE = auto()
    EXPECTED = auto()
    POSSIBLE = auto()
    OBLIGED = auto()
    ALLEGED = auto()


_BE = r"(?:is|are|was|were|be|been|being)"

_VERBS: Mapping[Modality, str] = {
    Modality.FUTURE: r"will|would|won't",
    Modality.EXPECTED: (
        r"expects?|expect(?:ed|ing)(?= to\b| that\b)|anticipat(?:es?|ing)|anticipated(?= to\b| that\b)|"
        r"(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|aim(?:s|ed|ing)?|seek(?:s|ing)?|sought|hop(?:es?|ed|ing)|"
        r"propos(?:es?|ed|ing)|offer(?:s|ed|ing)?|recommend(?:s|ed|ing)?) (?:to|that)\b|recommends?|"
        rf"{_BE} (?:projected|scheduled|slated|proposed|set) to|forecasts?|forecasted|estimat(?:es?|ed) that"
    ),
    Modality.POSSIBLE: r"(?-i:may)|might|could|(?:un)?likely|possibly|(?:the|a) right(?:, but not the obligation,)? to",
    Modality.OBLIGED: (
        rf"must|shall|{_BE} (?:required|obliged|obligated) to|(?:has|have|had|needs?|needed) to|"
        r"order(?:s|ed) [\w\s.]{1,40}? to"
    ),
    Modality.ALLEGED: r"alleg(?:es?|ed|ing)|contends?|contended|asserts?|asserted|argu(?:es?|ed)|accus(?:es?|ed)|"
    r"claim(?:s|ed)? that|believes?|believed",
}
_HEDGE = re.compile(
    r"(?<![^\W_])(?:" + "|".join(rf"(?P<{kind.name}>{words})" for kind, words in _VERBS.items()) + r")(?![^\W_])",
    re.IGNORECASE,
)
_OTHER_WORDS: Mapping[Modality, str] = {
    Modality.FUTURE: r"future|upcoming|shall|going to|to be|scheduled|due|planned",
    Modality.EXPECTED: (
        r"guid(?:ance|es?|ed)|outlook|target(?:s|ed|ing)?|plan(?:s|ned)?|estimat\w*|expect\w*|anticipat\w*|"
        r"project(?:ion|ions|s|ed)|intention|goals?|objective|budget(?:ed)?|pending|propos(?:es?|ed|ing)|on track|"
        r"to be|scheduled|recommend\w*|offer\w*|hop(?:es?|ed)|due"
    ),
    Modality.POSSIBLE: (
        r"can|cannot|potential(?:ly)?|possib\w+|risks?|if|unless|permit\w*|allow(?:s|ed)?|rights?|entitle[sd]?|options?|"
        r"optional|authori[sz]\w+|eligible|discretion|able|probab\w+|chance|likelihood|threat\w*|perhaps|subject to|"
        r"in case|uncertain\w*"
    ),
    Modality.OBLIGED: (
        r"requir\w*|oblig\w*|needs?|needed|mandatory|liable|responsible|agree[sd]?|agreement|covenants?|is to|are to|"
        r"due|payable|should|ought|order\w*|duty|bound"
    ),
    Modality.ALLEGED: (
        r"alleg\w*|according|accus\w*|lawsuits?|complaints?|suits?|claim(?:s|ed)|sa(?:ys|id)|stat(?:es|ed)|view|opinion|"
        r"consider(?:s|ed)?|belie(?:fs?|ve[sd]?)|think|thinks|thought|suspect\w*|expect\w*|estimat\w*"
    ),
}
"""Other words that hedge a statement."""

_HEDGED = {
    kind: re.compile(rf"(?<![^\W_])(?<!\bas )(?:{_VERBS[kind]}|{words})(?![^\W_])", re.IGNORECASE)
    for kind, words in _OTHER_WORDS.items()
}

_PROVES: Mapping[Modality, frozenset[Modality]] = {
    Modality.FUTURE: frozenset({Modality.FUTURE, Modality.EXPECTED, Modality.POSSIBLE, Modality.OBLIGED}),
    Modality.EXPECTED: frozenset({Modality.EXPECTED, Modality.FUTURE, Modality.POSSIBLE}),
    Modality.POSSIBLE: frozenset({Modality.POSSIBLE}),
    Modality.OBLIGED: frozenset({Modality.OBLIGED, Modality.FUTURE}),
    Modality.ALLEGED: frozenset({Modality.ALLEGED}),
}
"""The modalities a claim may have, by the modality of its source."""

_PRESENT_TENSE = frozenset({Modality.FUTURE, Modality.OBLIGED})
"""Modalities that the present tense can express, too: "the tenant pays" for "shall pay"."""
_INTENDED = frozenset({Modality.EXPECTED, Modality.OBLIGED})
"""Modalities that no fact proves: who did something need not have planned it, nor been obliged to."""

_DEONTIC = frozenset({Modality.POSSIBLE, Modality.OBLIGED})
"""Modalities that mean the same when negated: "may not", "shall not", "prohibits"."""
_FORBIDS = re.compile(
    r"\b(?:may|shall|must|can) ?not\b|\b(?:prohibit|forbid|preclud|restrict)|\b(?:no|neither|nor|none|never)\b",
    re.IGNORECASE,
)

_PAST = re.compile(
    r"\b(?:was|were|has|have|had|did|(?<!\bis )(?<!\bare )(?<!\bbe )(?:(?!need|exceed|proceed|succeed|feed)[a-z]{2,}ed|"
    rf"{IRREGULAR_PASTS}))\b"
)
_END = re.compile(
    r"[.;:]\s|,\s(?:and|but|while|whereas|although|though|which|who|whereby)\b|\b(?:but|whereas|although)\b"
)
"""The end of what a verb governs."""

MIN_GOVERNED = 1 / 3
"""Minimum share of the words shared by claim and source that must be governed, if no figure is."""


class _Hedge(NamedTuple):
    """A hedging verb and the range of text that it governs."""

    text: str
    modality: Modality
    start: int
    governs: range


def changed_hedges(claim: Text, own: Text) -> list[str]:
    """Return the word that hedges the source but not the claim, or the claim but not the source."""
    found = _dropped(claim, own) or _added(claim, own)
    return [found.text] if found else []


def hedged_spans(text: Text) -> list[tuple[int, int]]:
    """Return where `text` has words that hedge a statement; whether they may differ is for `changed_hedges` to say."""
    return [match.span() for match in _HEDGE.finditer(text.text)]


def _dropped(claim: Text, own: Text) -> _Hedge | None:
    """Return a hedge of the source that the claim drops."""
    marks = [mark for mark in _hedges(own) if _governs_shared(claim, own, mark)]
    if not marks:
        return None
    modalities = {mark.modality for mark in marks}
    if any(_has_modality(claim, kind) for modality in modalities for kind in _PROVES[modality]):
        return None
    if modalities & _DEONTIC and _forbids(claim) and _forbids(own):
        return None
    if modalities & _PRESENT_TENSE and not any(_hedges(claim)) and not _PAST.search(claim.text):
        return None
    return marks[0]


def _added(claim: Text, own: Text) -> _Hedge | None:
    """Return a hedge of the claim that the source does not have."""
    for mark in _hedges(claim):
        if not _governs_shared(own, claim, mark) or any(_has_modality(own, kind) for kind in _PROVES[mark.modality]):
            continue
        if mark.modality in _DEONTIC and _forbids(claim) and _forbids(own):
            continue
        if mark.modality in _INTENDED or (mark.modality is Modality.POSSIBLE and _has_modality(own, Modality.OBLIGED)):
            return mark
    return None


def _forbids(text: Text) -> bool:
    return _FORBIDS.search(text.text) is not None


def _has_modality(text: Text, modality: Modality) -> bool:
    return _HEDGED[modality].search(text.text) is not None


def _hedges(text: Text) -> Iterator[_Hedge]:
    """Yield the hedges of a text; they are not nested."""
    governs = range(0)
    for match in _HEDGE.finditer(text.text):
        if match.start() not in governs:
            end = _END.search(text.text, match.end())
            governs = range(match.end(), end.start() if end else len(text.text))
            yield _Hedge(match.group(), Modality[match.lastgroup or ""], match.start(), governs)


def _governs_shared(claim: Text, own: Text, mark: _Hedge) -> bool:
    """Return whether what the claim shares with `own` is what the hedge governs."""
    governed = analyze(own.text[mark.governs.start : mark.governs.stop])
    rest = analyze(f"{own.text[: mark.start]} {own.text[mark.governs.stop :]}")
    shared = claim.content_keys & own.keys
    only = (shared & governed.keys) - rest.keys
    has_figure = bool(claim.values & governed.values - rest.values)
    return has_figure or (bool(only) and len(only) >= MIN_GOVERNED * len(shared))
