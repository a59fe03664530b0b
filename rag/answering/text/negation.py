"""Detect negation, denial, antonyms and words of growth and decline."""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag.answering.text.term_weights import word_set

MAX_GOVERNED = 3
"""Maximum number of content words governed by a negation."""


NEGATIONS = word_set(
    "not no never without neither nor none cannot nobody nothing nowhere hardly barely "
    "nicht kein keine keinen keinem keiner keines nie niemals ohne weder pas jamais aucun aucune sans sin nunca "
    "ningún ninguna tampoco senza mai nessun nessuna não nem nunca geen niet nooit zonder"
)
NOT_NEGATING = re.compile(
    r"\bnot only\b|\bNo(?:\.\s?\d|s?\.?\sof\b)|"
    r"\bno(?:t)? (?:more|less|fewer|later|earlier|greater|higher|lower) than\b|\bno doubt\b",
    re.IGNORECASE,
)
"""Phrases with a negation word that bound or stress instead."""

_NEGATING = re.compile(
    r"\b(?:in no (?:event|case|way)|(?:on|under) no (?:account|circumstances?|conditions?)|at no time|"
    r"(?:in|auf) keine[mnr]? (?:fall|weise|umständen)|unter keinen umständen)\b",
    re.IGNORECASE,
)
"""Phrases that negate what comes after them: "in no event shall a transfer release the tenant"."""

CONTRACTED = re.compile(r"\b(\w+?)n['’]t\b", re.IGNORECASE)

DENIALS = word_set(
    "lack lacks lacked lacking fail fails failed failing failure refuse refuses refused refusing refusal avoid avoids "
    "avoided avoiding prohibit prohibits prohibited prohibiting forbid forbids forbade forbidden prevent prevents "
    "prevented preventing deny denies denied denying cease ceases ceased ceasing unable inability absence non"
)
"""Verbs and nouns that deny."""

_DENIAL = re.compile(
    rf"\b(?:(?!fail|unable|inability|absence|non\b)(?:{'|'.join(sorted(DENIALS))})|"
    r"(?:fail(?:s|ed|ing|ure)?|unable|inability|declin(?:e|es|ed|ing))"
    r"(?=\s+to\s+(?!about|around|approx|nearly|almost|just|under|over)[^\W\d])|absence(?=\s+of\b)|non(?=-))\b",
    re.IGNORECASE,
)
"""Contexts in which these words deny: not "declined an offer", but "declined to"."""

UP = word_set(
    "increase increases increased increasing rise rises rose risen rising grow grows grew grown growing growth climb "
    "climbed higher up expand expanded surge surged jump jumped upward upwards "
    "stieg stiegen gestiegen steigt erhöht erhöhte zunahm wuchs gewachsen augmenté augmente hausse aumentó aumento "
    "aumentaron creció"
)
DOWN = word_set(
    "decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen falling drop "
    "drops dropped lower down reduce reduced reduction shrink shrank shrunk downward downwards "
    "sank sanken gesunken sinkt fiel fielen gefallen verringert abnahm baisse baissé diminué diminue disminuyó "
    "disminución cayó bajó"
)

_OPPOSITES = (
    "increase/decrease rise/fall rose/fell up/down higher/lower high/low more/less more/fewer most/least "
    "greater/smaller larger/smaller above/below before/after maximum/minimum highest/lowest largest/smallest "
    "first/last earliest/latest early/late include/exclude includes/excludes included/excluded including/excluding "
    "with/without all/none always/never allow/prohibit allowed/prohibited permitted/prohibited accept/reject "
    "accepted/rejected approve/reject approved/rejected win/lose won/lost open/close opened/closed buy/sell "
    "bought/sold purchased/sold import/export imports/exports profit/loss gain/loss gains/losses income/loss "
    "asset/liability assets/liabilities internal/external domestic/foreign able/unable likely/unlikely "
    "possible/impossible legal/illegal lawful/unlawful positive/negative favorable/unfavorable "
    "favourable/unfavourable strong/weak stronger/weaker same/different long/short longer/shorter upper/lower "
    "agree/disagree agreed/disagreed appreciated/depreciated inflow/outflow inflows/outflows payable/receivable "
    "payables/receivables debit/credit success/failure begin/end begins/ends began/ended start/end started/ended "
    "add/remove added/removed male/female men/women senior/junior left/right true/false better/worse best/worst "
    "improved/worsened exceeded/missed minimum/maximum"
)


def _pairs(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in text.split():
        one, other = pair.split("/")
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = _pairs(_OPPOSITES)
"""The antonyms of each word."""


class Word(NamedTuple):
    """A word as written and as compared, its span, and whether it has content."""

    text: str
    key: str
    start: int
    end: int
    is_content: bool


def negated(text: str, words: Sequence[Word]) -> list[tuple[str, ...]]:
    """Return, for each negation, the keys of the content words that it governs."""
    idle = [match.span() for match in NOT_NEGATING.finditer(text)]
    phrases = [match.span() for match in _NEGATING.finditer(text)]
    found = []
    for word in words:
        is_negation = word.text.casefold() in NEGATIONS or CONTRACTED.fullmatch(word.text)
        if is_negation and not any(start <= word.start < end for start, end in idle):
            end = next((end for start, end in phrases if start <= word.start < end), word.end)
            found.append(tuple(_governed(text, [other for other in words if other.start >= end])))
    return found


def denied(text: str, words: Sequence[Word]) -> dict[int, tuple[str, ...]]:
    """Return the keys governed by each word of denial, by its position."""
    found = {}
    for match in _DENIAL.finditer(text):
        governed = _governed(text, [word for word in words if word.start >= match.end()])
        most = 1 if match.group().casefold() == "non" else MAX_GOVERNED
        found[match.start()] = tuple(itertools.islice(governed, most))
    return found


def _governed(text: str, following: Sequence[Word]) -> Iterable[str]:
    content = [word for word in following if word.is_content][:MAX_GOVERNED]
    for index, word in enumerate(content):
        if index and re.search(r"[.;:!?]", text[content[index - 1].end : word.start]):
            return
        yield word.key


def trend(word: str) -> int:
    """Return 1 for a word of growth, -1 for one of decline, else 0."""
    folded = word.casefold()
    return (folded in UP) - (folded in DOWN)
