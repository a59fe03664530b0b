"""Detect claims that mix parts of different statements of their source, or of a list with "respectively".

"90% at Varna and 75% at Lodz" has all the words of "90% at Lodz", but does not entail it. A statement of coordinated
text inherits what it leaves out from the one before it (ellipsis and gapping: Huddleston and Pullum, *The Cambridge
Grammar of the English Language* (2002), chapter 15).
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import Text, analyze, finite_verb, is_bare_predicate, lead_in, stem
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Number, is_day, is_same

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


FAMILY_PREFIX_CHARS = 5
"""Length of the common prefix of related words: "produced", "production"."""

_RESPECTIVELY = re.compile(r"\b(?:respectively|beziehungsweise|bzw|respectivement|respectivamente)\b", re.IGNORECASE)
_BETWEEN_LABELS = re.compile(r",\s*(?:and\s+)?|(?<!\s)\s+and\s+", re.IGNORECASE)


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the claim's figures, or words of a claim without figures, that the source states of something else."""
    if _plain(claim.text) in _plain(own.text):
        return []
    if _RESPECTIVELY.search(own.text):
        values, claimed = _values(own), _values(claim)
        if len(values) < 2 or not any(_has(value, claimed) for value in values):
            return []
        # the years and subjects of the claim whose value in such a list it leaves out or exchanges
        return [label for label, value in _pairs(own, values, claim) if not _has(value, claimed)]
    stated = conjuncts(own.text)
    if len(stated) < 2:
        return []
    words: list[str] = []
    for said in conjuncts(claim.text):
        words += [figure.text for figure in said.own_figures if _is_mixed_up(figure, said, stated)]
        if not said.figures:
            words += _mixed_up_words(said, [member for member in stated if member.has_verb])
    return words


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .")


def _is_mixed_up(figure: StatedFigure, said: Conjunct, stated: Sequence[Conjunct]) -> bool:
    """Return whether, wherever the figure occurs, the claim has parts of another statement instead."""
    holders = [member for member in stated if figure.stands_in(member.own_figures)]
    return bool(holders) and all(
        any(
            _has_other_figure(said, holder, rival)
            or (
                _rival_keys(said, holder, rival)
                # a figure of the rival in the claim may explain the rival's words
                and not any(f.kind is not FigureKind.YEAR and f.stands_in(rival.own_figures) for f in said.figures)
            )
            for rival in _rival_conjuncts(figure, holder, stated)
        )
        for holder in holders
    )


def _rival_conjuncts(figure: StatedFigure, holder: Conjunct, stated: Iterable[Conjunct]) -> Iterator[Conjunct]:
    """Yield the statements with figures of the same kind as the holder's."""
    for member in stated:
        if member is holder or figure.stands_in(member.figures):
            continue
        is_alike = any(other.kind is figure.kind for other in member.own_figures)
        if is_alike or (figure.kind in {FigureKind.AMOUNT, FigureKind.SHARE} and member.has_verb and holder.is_clause):
            yield member


def _has_other_figure(said: Conjunct, holder: Conjunct, rival: Conjunct) -> bool:
    return any(
        other.kind is figure.kind and not other.stands_in(said.figures) and not other.stands_in(rival.figures)
        for figure in said.figures
        if figure.stands_in(rival.own_figures) and not figure.stands_in(holder.figures)
        for other in holder.own_figures
    )


def _rival_keys(said: Conjunct, holder: Conjunct, rival: Conjunct) -> list[str]:
    """Return the rival's words that the claim has in place of some of the holder's."""
    other = _unrelated(said.keys & rival.keys - holder.all_keys, holder.keys)
    own = holder.own_keys if holder.is_clause else holder.keys
    left_out = _unrelated(own - rival.own_keys - said.all_keys, said.keys)
    return other if left_out else []


def _unrelated(keys: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the keys that are related to none of `others`."""
    beginnings = {other[:FAMILY_PREFIX_CHARS] for other in others}
    return [key for key in keys if key[:FAMILY_PREFIX_CHARS] not in beginnings]


def _mixed_up_words(said: Conjunct, stated: Sequence[Conjunct]) -> list[str]:
    """Return the words of a claim without figures that belong to another statement than its other words."""
    words: list[str] = []
    for holder in stated:
        if said.keys.isdisjoint(holder.own_keys):
            continue
        others = [key for rival in stated if rival is not holder for key in _rival_keys(said, holder, rival)]
        if not others:
            return []
        words += others
    return [word.text for word in said.text.words if key_of(word) in words]


# --- values paired by their order: "815, 795 and 782 warehouses in 2021, 2020 and 2019, respectively" ---


def _pairs(own: Text, values: Sequence[Number], claim: Text) -> Iterator[tuple[str, Number]]:
    """Yield the labels that the claim names with their values."""
    years = [number for number in own.figures if number.year is not None]
    if len(years) == len(values):
        named = {number.year for number in claim.figures}
        yield from ((year.text, value) for year, value in zip(years, values, strict=True) if year.year in named)
        return
    labels = _labels(own, values)
    for index, (label, value) in enumerate(zip(labels, values, strict=False)):
        others = frozenset().union(*(other.content_keys for other in labels[:index] + labels[index + 1 :]))
        distinct = label.content_keys - others
        if distinct and distinct <= claim.content_keys:
            yield label.text.strip(), value


def _labels(own: Text, values: Sequence[Number]) -> list[Text]:
    """Return the subjects before a list of values, one for each; [] if they cannot be told apart."""
    gaps = [own.text[one.end : other.start] for one, other in itertools.pairwise(values)]
    if any(analyze(gap).content for gap in gaps):
        return []
    labels = [analyze(part) for part in _BETWEEN_LABELS.split(own.text[: values[0].start])]
    return labels[-len(values) :] if len(labels) >= len(values) else []


def _values(text: Text) -> list[Number]:
    """Return the figures that are neither years nor days of a month."""
    return [number for number in text.figures if number.year is None and not is_day(number, text.text)]


def _has(value: Number, claimed: Sequence[Number]) -> bool:
    return any(is_same(value, other, frozenset()) for other in claimed)
