"""Parse which figure a question asks for: a line item, a formula or a change.

What it says of how to answer is set apart: sources to use, rounding, the definition of a term.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from rag import types
from rag.answering.text.sentences import split_sentences
from rag.answering.text.term_weights import word_set
from rag.vocabulary import (
    Figure,
    Formula,
    Operand,
    definitions,
    find_figure,
    find_periods,
    in_printed_terms,
    parse_expression,
    plain_label,
    years,
)

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


FILLER = word_set(
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
    figures = (figure for trade in definitions() for figure in trade.figures)
    return any(plain_label(label) in plain for figure in figures for label in (*figure.labels, *figure.terms))


def named_formula(words: str) -> Formula | None:
    """Return the formula that the words name."""
    return next((found[0] for trade in definitions() if (found := trade.formula(words))), None)


def line_item(question: str, names: Iterable[str] = ()) -> Figure | None:
    """Return the line item that the question plainly asks for; None if it asks for anything else.

    `names` are lower-case words that name the document.
    """
    named = _named_line_item(in_printed_terms(question), names)
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
    wording = separate(in_printed_terms(question))
    asked = _parse_request(wording.question, names)
    if asked is None:
        return None
    match = _PLACES.search(question)
    asked = replace(asked, places=_NUMBERS[match["places"].lower()] if match else None)
    return _as_defined(asked, wording.definition) if wording.definition else asked


def _as_defined(request: FigureRequest, definition: StatedDefinition) -> FigureRequest | None:
    """Return the request with the formula that the question defines; None if it defines it in unknown terms."""
    stated, own = expression(definition.words), named_formula(definition.term)
    if stated is None or own is None or request.formula is None:
        return None
    if own.name == request.formula.name:
        return replace(request, formula=replace(own, expressions=(stated,)))
    return request if parse_expression(stated) in own.parsed else None  # it defines a part of what is asked for


def _parse_request(question: str, names: Iterable[str]) -> FigureRequest | None:
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
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return [word for word in words if word not in FILLER and word.removesuffix("'s") not in names]


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
    return [word for word in plain_label(label).split() if word not in FILLER or word == "total"]
