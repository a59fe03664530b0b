"""Whether something is said to be so, or to be expected, possible, owed or alleged: "will", "may", "must", "alleges".

Auxiliaries and verbs are those of the modal and evidential expressions in Palmer, *Mood and Modality* (2001), as far
as reports and contracts have them.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from rag.answering.text.analyzed_text import Text, read
from rag.answering.text.clauses import IRREGULAR_PASTS


class Modality(Enum):
    """In what way something is said, where it is not said to be so."""

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
_MARK = re.compile(
    r"(?<![^\W_])(?:" + "|".join(rf"(?P<{kind.name}>{words})" for kind, words in _VERBS.items()) + r")(?![^\W_])",
    re.IGNORECASE,
)
_OTHERWISE: Mapping[Modality, str] = {
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
"""What says the same of a statement in other words than a verb that governs it."""

_SAID_SO = {
    kind: re.compile(rf"(?<![^\W_])(?:{_VERBS[kind]}|{words})(?![^\W_])", re.IGNORECASE)
    for kind, words in _OTHERWISE.items()
}

_PROVES: Mapping[Modality, frozenset[Modality]] = {
    Modality.FUTURE: frozenset({Modality.FUTURE, Modality.EXPECTED, Modality.POSSIBLE, Modality.OBLIGED}),
    Modality.EXPECTED: frozenset({Modality.EXPECTED, Modality.FUTURE, Modality.POSSIBLE}),
    Modality.POSSIBLE: frozenset({Modality.POSSIBLE}),
    Modality.OBLIGED: frozenset({Modality.OBLIGED, Modality.FUTURE}),
    Modality.ALLEGED: frozenset({Modality.ALLEGED}),
}
"""To each way in which a source says something those in which a claim may."""

_TIMELESS = frozenset({Modality.FUTURE, Modality.OBLIGED})
"""What is told in the present tense, too: "the tenant pays" for "shall pay"."""
_INTENDED = frozenset({Modality.EXPECTED, Modality.OBLIGED})
"""What no fact proves: who did something need not have planned it, nor been obliged to."""

_OF_RIGHTS = frozenset({Modality.POSSIBLE, Modality.OBLIGED})
"""These say the same where they are denied: "may not", "shall not", "prohibits"."""
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
"""Up to here a verb governs what follows it."""

MIN_GOVERNED = 1 / 3
"""So much of what the claim has of its source must be governed, if none of it is a figure."""


class _Mark(NamedTuple):
    """A verb that makes what follows it something else than a fact."""

    text: str
    modality: Modality
    start: int
    governs: range


def differing(claim: Text, own: Text) -> list[str]:
    """The words for which its source `own` says of the claim something else than that it is so, or the claim does."""
    found = _dropped(claim, own) or _added(claim, own)
    return [found.text] if found else []


def _dropped(claim: Text, own: Text) -> _Mark | None:
    """What `own` has for the words of the claim, which has it not."""
    marks = [mark for mark in _marks(own) if _asserts(claim, own, mark)]
    if not marks:
        return None
    modalities = {mark.modality for mark in marks}
    if any(_is_said(claim, kind) for modality in modalities for kind in _PROVES[modality]):
        return None
    if modalities & _OF_RIGHTS and _forbids(claim) and _forbids(own):
        return None
    if modalities & _TIMELESS and not any(_marks(claim)) and not _PAST.search(claim.text):
        return None
    return marks[0]


def _added(claim: Text, own: Text) -> _Mark | None:
    """What the claim has, and `own` has not, for the words of `own`."""
    for mark in _marks(claim):
        if not _asserts(own, claim, mark) or any(_is_said(own, kind) for kind in _PROVES[mark.modality]):
            continue
        if mark.modality in _OF_RIGHTS and _forbids(claim) and _forbids(own):
            continue
        if mark.modality in _INTENDED or (mark.modality is Modality.POSSIBLE and _is_said(own, Modality.OBLIGED)):
            return mark
    return None


def _forbids(text: Text) -> bool:
    return _FORBIDS.search(text.text) is not None


def _is_said(text: Text, modality: Modality) -> bool:
    return _SAID_SO[modality].search(text.text) is not None


def _marks(text: Text) -> Iterator[_Mark]:
    """What is under one mark is not under another."""
    governs = range(0)
    for match in _MARK.finditer(text.text):
        if match.start() not in governs:
            end = _END.search(text.text, match.end())
            governs = range(match.end(), end.start() if end else len(text.text))
            yield _Mark(match.group(), Modality[match.lastgroup or ""], match.start(), governs)


def _asserts(claim: Text, own: Text, mark: _Mark) -> bool:
    """Whether what the claim says of `own` is what its `mark` governs."""
    governed = read(own.text[mark.governs.start : mark.governs.stop])
    rest = read(f"{own.text[: mark.start]} {own.text[mark.governs.stop :]}")
    shared = claim.content_keys & own.keys
    only = (shared & governed.keys) - rest.keys
    has_figure = bool(claim.values & governed.values - rest.values)
    return has_figure or (bool(only) and len(only) >= MIN_GOVERNED * len(shared))
