"""Split coordinated text into its statements: "90% at Varna and 75% at Lodz".

A statement inherits what it leaves out from the one before it (ellipsis and gapping: Huddleston and Pullum, *The
Cambridge Grammar of the English Language* (2002), chapter 15).
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import Text, analyze, stem
from rag.answering.text.clauses import finite_verb, is_bare_predicate, lead_in
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Number

_AMOUNT = r"[$€£(]?\s?\d"
_BREAK = re.compile(
    r"(?P<new>[.;]\s+(?=\S))|"
    rf"(?P<to>(?<!\s)\s+to\s+(?={_AMOUNT}))|"
    r"(?:,|(?<!\s))\s+(?:but|while|whereas|although|though|so that)\s+|,\s+(?:of which|and)\s+"
    r"|(?<!\bboth)(?<!\s)\s+and\s+|"
    rf"(?:,|(?<!\s))\s+(?:(?:as )?compared (?:with|to)|versus|up from|down from|(?P<range>from))\s+(?={_AMOUNT})|"
    r",\s+(?=(?:(?:in|at|by|to|of|for|about|approximately|nearly|just|over|under|almost|only)\s+){0,2}"
    rf"(?!(?:19|20)\d\d\b){_AMOUNT})",
    re.IGNORECASE,
)
"""Possible boundaries between statements; "to" only after "from"."""
_BETWEEN = re.compile(r"\bbetween\s[^.;]{1,40}$", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]*\)|,\s(?:which|who|whose)\b[^,;.]*(?:,\s(?!and|but)|(?=[;.]))", re.IGNORECASE)
"""Parentheses and relative clauses, which end within their statement."""
_IN_BRACKETS = re.compile(r"\s\([^()\d]*\)")
"""Parentheses without figures, which may be left out."""
_BEGINS_WITH_FIGURE = re.compile(rf"\s*{_AMOUNT}")

_NOUNS = frozenset(map(stem, ("notes", "states", "records", "reports", "shows")))
"""Words that are light verbs, except after an article."""
_DETERMINER = re.compile(r"\b(?:the|these|those|our|its|their|an?|each|all|both)\s+$", re.IGNORECASE)


class FigureKind(Enum):
    """The kind of a figure; only figures of one kind can be exchanged."""

    AMOUNT = auto()
    SHARE = auto()
    YEAR = auto()
    DAY = auto()


class StatedFigure(NamedTuple):
    """A figure as printed, with its kind and its possible values."""

    text: str
    kind: FigureKind
    values: frozenset[float]

    def stands_in(self, figures: tuple["StatedFigure", ...]) -> bool:
        """Return whether one of `figures` may be the same."""
        return any(self.kind is other.kind and self.values & other.values for other in figures)


@dataclass(frozen=True)
class Conjunct:
    """One statement of a text; `inherited` is what it takes over from earlier ones.

    `has_verb` says whether it has a verb of its own, `is_clause` whether also a subject.
    """

    text: Text
    inherited: Text
    has_verb: bool
    is_clause: bool

    @functools.cached_property
    def all_keys(self) -> frozenset[str]:
        """The keys of all its words."""
        return frozenset(key_of(word) for text in (self.text, self.inherited) for word in text.words)

    @functools.cached_property
    def own_keys(self) -> frozenset[str]:
        """The keys of its own content words."""
        return _content_keys(self.text)

    @functools.cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its own and inherited content words."""
        return self.own_keys | _content_keys(self.inherited)

    @functools.cached_property
    def own_figures(self) -> tuple[StatedFigure, ...]:
        """Its own figures."""
        return _figures(self.text)

    @functools.cached_property
    def figures(self) -> tuple[StatedFigure, ...]:
        """Its own and inherited figures."""
        return (*self.own_figures, *_figures(self.inherited))


def key_of(word: Word) -> str:
    """Return the comparison key of a word; all words of growth share one key, and so do those of decline."""
    way = negation.trend(word.text)
    return f"{way:+d}" if way else word.key


def _content_keys(text: Text) -> frozenset[str]:
    """Return the keys of the words with content, names of light words included: "United States"."""
    return frozenset(
        key_of(word)
        for place, word in enumerate(text.words)
        if word.is_content
        or (place and word.text[0].isupper())
        or (word.key in _NOUNS and _DETERMINER.search(text.text[: word.start]))
    )


def _figures(text: Text) -> tuple[StatedFigure, ...]:
    return tuple(StatedFigure(number.text, _kind(number, text), number.values) for number in text.figures)


def _kind(number: Number, text: Text) -> FigureKind:
    if number.year is not None:
        return FigureKind.YEAR
    if numbers.is_day(number, text.text):
        return FigureKind.DAY
    return FigureKind.SHARE if number.is_share else FigureKind.AMOUNT


@functools.lru_cache(maxsize=256)
def conjuncts(text: str) -> tuple[Conjunct, ...]:
    """Return the statements of a text in order."""
    found: list[Conjunct] = []
    for part, is_new in _parts(_IN_BRACKETS.sub(" ", text)):
        is_bare = is_bare_predicate(part)
        has_verb = is_bare or finite_verb(part) is not None
        is_clause = is_new or (has_verb and not is_bare)
        before = found[-1] if found else None
        inherited = "" if before is None else lead_in(before.text.text) if is_clause else _inherited(before, part)
        found.append(Conjunct(analyze(part), analyze(inherited), has_verb, is_clause))
    return tuple(found)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text between boundaries, with whether each part begins a sentence.

    A part that says nothing by itself stays with the next: "sales" of "sales and marketing costs".
    """
    asides = [range(*match.span()) for match in _ASIDE.finditer(text)]
    start, is_new, is_range = 0, True, False
    for match in _BREAK.finditer(text):
        part = text[start : match.start()]
        is_inside = any(match.start() in aside for aside in asides) or _BETWEEN.search(part)
        says_something = is_bare_predicate(part) or finite_verb(part) or analyze(part).figures
        if is_inside or (match["to"] and not is_range) or not says_something:
            continue
        yield part, is_new
        start, is_new, is_range = match.end(), bool(match["new"]), bool(match["range"])
    yield text[start:], is_new


def _inherited(before: Conjunct, part: str) -> str:
    """Return what a part without a subject or verb inherits from the statement before it."""
    whole = f"{before.inherited.text} {before.text.text}".strip()
    verb = finite_verb(whole)
    if is_bare_predicate(part) and not _BEGINS_WITH_FIGURE.match(part):
        return whole[: verb.start()] if verb else before.inherited.text
    figures = [number for number in analyze(whole).figures if number.year is None]
    first = next(iter(analyze(part).figures), None)
    if first and verb and analyze(part[: first.start]).content:
        return whole[: verb.end()]
    return whole[: figures[0].start] if figures else whole
