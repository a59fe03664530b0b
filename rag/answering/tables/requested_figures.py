"""Parse which figure a question asks for: a line item, a formula or a change."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rag import types
from rag.answering.tables.question_wording import StatedDefinition, expression, separate
from rag.answering.text.sentences import split_sentences
from rag.answering.text.term_weights import word_set
from rag.vocabulary import (
    Figure,
    Formula,
    Operand,
    definitions,
    find_figure,
    find_periods,
    parse_expression,
    plain_label,
    years,
)

MAX_YEARS = 3
"""Maximum number of years; more want a table."""

MAX_MEASURE_WORDS = 6
"""Maximum length of a measure; row labels are short."""

_OTHER_TERMS = re.compile(
    r"\bdefin|\baverage\b|\b(?<!un)adjusted\b|\bnon-?gaap\b|\borganic|\bconstant[- ]currency|\bforecast|\bexpect"
    r"|\bbudget|\bquarter|\b[QH][1-4]\b|\bmonth|\bper\s+(?:share|employee)|\bsegment|\bhow\s+is\b",
    re.IGNORECASE,
)
"""Questions that define their terms, or want something else than a whole year's figure."""

_PER_SHARE = re.compile(r"\bper\s+share\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"(?<!\s)\s+or\s+", re.IGNORECASE)
_AUXILIARIES = word_set("is are was were be been do does did has have had")
_PLACES = re.compile(r"\b(?P<places>one|two|three|four|[1-4])\s+decimals?\b", re.IGNORECASE)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_STATEMENTS = re.compile(
    r"\b(?:(?:consolidated\s+)?(?:balance\s+sheets?|income\s+statements?|cash\s+flow\s+statements?"
    r"|statements?\s+of\s+(?:income|operations|earnings|cash\s+flows?|financial\s+position|profit\s+or\s+loss)"
    r"|p\s?&\s?l(?:\s+statement)?|profit\s+and\s+loss(?:\s+(?:statement|account))?|10-?[kq]))\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:changes?|changed|growth|grow|grew|grown|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)"
    r"|ris(?:e|es|en|ing)|rose|falls?|fell|fallen|falling|drop(?:s|ped)?|differences?|year[- ](?:over|on)[- ]year|yoy"
    r"|improv(?:e|ed|ing)|higher|lower)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;.?!]|\band\b", re.IGNORECASE)
_SHARE = re.compile(
    r"(?<!\s)\s+(?:as\s+an?\s+(?:percentage|percent|%|share|proportion)\s+of|divided\s+by|relative\s+to|to)\s+",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"%|\bpercent|\bshare\s+of|\bproportion", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[&'’/-][^\W_]+)*", re.UNICODE)


_FILLER = word_set(
    "a an the of in for at and or on to its their this that these as from by with between within is was are were be "
    "been do did does has have had what how much many high low big large it they them we you our your please tell me "
    "show give find calculate compute determine state company company's companies firm firm's corporation group "
    "business fiscal financial calendar annual yearly year years year-end end ended ending fy total overall ratio rate "
    "value figure figures amount number percentage percent % terms round rounded answer answers decimal decimals place "
    "places one two three nearest usd us dollars eur euros million millions thousand thousands billion billions unit "
    "latest recent most spend spent unadjusted "
    "units using use used based basis base only information provided primarily shown line items report document filing "
    "compare compared comparison versus vs relative there so any over during"
)
"""Words that do not change what is asked."""

_FISCAL = re.compile(r"\b(?:FY|fiscal)", re.IGNORECASE)


@dataclass(frozen=True)
class FigureRequest:
    """The figure asked for: a formula, or without one the change of `measure`, for `years` or the latest.

    `measure` is what the question calls it. `is_fiscal` says that the question says fiscal year, `places` how many
    decimals it wants. With `is_level` the line item `measure` itself is wanted, with `with_level` also itself: "What
    was revenue, and how did it change?"
    """

    formula: Formula | None
    measure: str
    years: tuple[int, ...]
    is_fiscal: bool = False
    places: int | None = None
    is_level: bool = False
    with_level: bool = False

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The known line items it needs."""
        parsed = self.formula.parsed if self.formula else ()
        names = [part.figure for expression in parsed for part in expression if isinstance(part, Operand)]
        found = (find_figure(name) for name in dict.fromkeys([*names, self.measure]))
        return tuple(figure for figure in found if figure)

    @property
    def searches(self) -> tuple[str, ...]:
        """The queries that find them: their statements, or the measure itself."""
        by_place: dict[str, list[str]] = {}
        for figure in self.figures:
            by_place.setdefault(figure.place or "", []).append(figure.name)
        return tuple(", ".join([place, *names]).strip(" ,") for place, names in by_place.items()) or (self.measure,)


def may_request_figure(question: str) -> bool:
    """Return whether the question may ask for a figure; a cheap check that needs no documents."""
    if _CHANGE.search(question) or any(trade.formula(question) for trade in definitions()):
        return True
    plain = " ".join(word for word in plain_label(question).split() if word not in _AUXILIARIES)
    labels = (plain_label(label) for trade in definitions() for figure in trade.figures for label in figure.labels)
    return any(label in plain for label in labels)


def named_formula(words: str) -> Formula | None:
    """Return the formula that the words name."""
    return next((found[0] for trade in definitions() if (found := trade.formula(words))), None)


def line_item(question: str, names: Iterable[str] = ()) -> Figure | None:
    """Return the line item that the question plainly asks for; None if it asks for anything else.

    `names` are lower-case words that name the document.
    """
    named = _named_line_item(question, names)
    return named[0] if named else None


def _named_line_item(question: str, names: Iterable[str]) -> tuple[Figure, str] | None:
    """Return the line item that the question plainly asks for, and what it calls it; its name if in several ways."""
    rest = _STATEMENTS.sub(" ", _without(question, find_periods(question)))
    if _CHANGE.search(rest) or any(trade.formula(rest) for trade in definitions()):
        return None
    called = [_named_item(part, frozenset(names)) for part in _ALTERNATIVES.split(rest)]
    items = {named and named[0] for named in called}
    if len(items) != 1 or called[0] is None or _wants_other(question, called[0][0]):
        return None
    return called[0] if len(called) == 1 else (called[0][0], called[0][0].name)


def _wants_other(question: str, item: Figure | None) -> bool:
    """Return whether the question wants something else than a whole year's figure of `item`."""
    return _OTHER_TERMS.search(_PER_SHARE.sub(" ", question) if item and item.per_share else question) is not None


def _named_item(part: str, names: frozenset[str]) -> tuple[Figure, str] | None:
    """Return the line item that all the words name, and these: "cash was provided by operating activities"."""
    words = (word for word in _core(part, names).split() if word.lower() not in _AUXILIARIES)
    called = (" ".join(words), " ".join(_content(part, names)))
    return next(((figure, name) for name in called if (figure := find_figure(name))), None)


def parse_request(question: str, names: Iterable[str] = ()) -> FigureRequest | None:
    """Parse what the question wants calculated; None unless all of its words are understood.

    `names` are lower-case words that name the document. A formula that the question defines is taken as it says.
    """
    wording = separate(question)
    asked = _parse_request(wording.question, names)
    if asked is None:
        return None
    match = _PLACES.search(question)
    asked = replace(asked, places=_NUMBERS[match["places"].lower()] if match else None)
    return _as_defined(asked, wording.definition) if wording.definition else asked


def _as_defined(asked: FigureRequest, definition: StatedDefinition) -> FigureRequest | None:
    """Return the request with the formula that the question defines; None if it defines it in unknown terms."""
    stated, own = expression(definition.words), named_formula(definition.term)
    if stated is None or own is None or asked.formula is None:
        return None
    if own.name == asked.formula.name:
        return replace(asked, formula=replace(own, expressions=(stated,)))
    return asked if parse_expression(stated) in own.parsed else None  # it defines a part of what is asked for


def _parse_request(question: str, names: Iterable[str]) -> FigureRequest | None:
    """Parse what the question wants of one year, or as a change."""
    asked = years(question)[:MAX_YEARS]
    is_fiscal = _FISCAL.search(question) is not None
    if named := _named_line_item(question, names):
        return FigureRequest(None, named[1], asked, is_fiscal, is_level=True)
    rest, known = _without(question, find_periods(question)), frozenset(names)
    rest = re.sub(r"\byear[- ](?:over|on)[- ]year\b", " increase ", _STATEMENTS.sub(" ", rest), flags=re.IGNORECASE)
    measure = _phrase(_CHANGE.sub(" ", rest), known) if _CHANGE.search(rest) else ""
    if _wants_other(question, find_figure(measure)):
        return None
    found = next((found for trade in definitions() if (found := trade.formula(rest))), None)
    if found and not _said_beside(*found, rest, known):
        return FigureRequest(found[0], "", asked, is_fiscal)
    if share := _share(rest, known):
        return FigureRequest(share, "", asked, is_fiscal)
    if found:
        return None
    # One part names the figure and another asks for its change alone: "and how did it change".
    parts = _PARTS.split(rest)
    changes = [part for part in parts if _CHANGE.search(part)]
    names_it = any(_content(part, known) for part in parts if part not in changes)
    with_level = names_it and bool(changes) and not any(_content(_CHANGE.sub(" ", part), known) for part in changes)
    return FigureRequest(None, measure, asked, is_fiscal, with_level=with_level) if measure else None


def _said_beside(formula: Formula, words: str, question: str, names: frozenset[str]) -> list[str]:
    """Return the significant words of the sentence that names the formula by `words`, without these."""
    sentence = next(
        question[span.start : span.end]
        for span in split_sentences(question)
        if words in question[span.start : span.end]
    )
    shorts = {term.lower() for term in formula.terms}
    return _content(_CHANGE.sub(" ", sentence.replace(words, " ")), names | shorts)


def _without(text: str, spans: Sequence[types.Span]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text


def _content(text: str, names: frozenset[str]) -> list[str]:
    """Return the significant words of `text` without `names`."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return [word for word in words if word not in _FILLER and word.removesuffix("'s") not in names]


def _phrase(text: str, names: frozenset[str]) -> str:
    """Return the one short phrase with content; "" if there are several."""
    said = _content(text, names)
    core = _core(text, names).lower().replace("’", "'")
    words = [word for word in core.split() if word.removesuffix("'s") not in names]
    is_one = len(words) - len(said) <= sum(word in ("of", "and", "in", "for", "total") for word in words)
    return " ".join(words) if said and is_one and len(words) <= MAX_MEASURE_WORDS else ""


def _share(rest: str, names: frozenset[str]) -> Formula | None:
    """Return a formula for one line item as a share of another: "current liabilities to total liabilities"."""
    parts = _SHARE.split(rest, maxsplit=1)
    spelled = [(" ".join(_content(part, names)), _core(part, names)) for part in parts]
    called = [next((_as_printed(name) for name in ways if find_figure(name)), None) for ways in spelled]
    if len(called) != 2 or not called[0] or not called[1] or _CHANGE.search(rest):
        return None
    first, second = called
    unit: Literal["percent", "ratio"] = "percent" if _PERCENT.search(rest) else "ratio"
    name = f"{first} to {second}"
    return Formula(name, (name,), (f"[{first}] / [{second}]",), unit)


def _as_printed(name: str) -> str:
    """Return a line item's name with the apostrophes that its label has."""
    figure = find_figure(name)
    labels = figure.labels if figure else ()
    return next((label for label in labels if plain_label(label) == plain_label(name)), name.lower())


def _core(text: str, names: frozenset[str]) -> str:
    """Return `text` from its first significant word to its last, including "total"."""
    words = _WORD.findall(text)
    said = [place for place, word in enumerate(words) if _content(word, names)]
    if not said:
        return ""
    start = said[0] - 1 if said[0] and words[said[0] - 1].lower() == "total" else said[0]
    return " ".join(words[start : said[-1] + 1]).removesuffix("'s")


def identifying_words(label: str) -> list[str]:
    """Return the identifying words of a row label or measure."""
    return [word for word in plain_label(label).split() if word not in _FILLER or word == "total"]
