"""Find where the figures of a claim stand in its sources, and whether they stand there for the same thing.

A figure in a table belongs to its row, its column and their period; one in a sentence to the words around it. A claim
may round it, give it in another scale, or compute it from others.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.passages.table_text import declared_scales
from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import Text, analyze
from rag.answering.text.measurement_units import BASIS_POINTS, PERCENT, POINTS, TIMES, is_same_unit
from rag.answering.text.numbers import Number
from rag.answering.text.periods import find_quarters
from rag.answering.verification.evidence import Evidence, words_around
from rag.answering.verification.quote_matching import QuotablePassage

NEAR_CHARS = 70
"""Distance within which words of a sentence belong to a figure."""

MIN_ROUNDED_DIGITS = 2
"""Digits that a rounded figure needs at least: "3" is no rounded 2.7."""

MIN_SWAPPED = 1.0
"""Weight of words by which two figures must fit better the other way round, to be taken for exchanged."""

MAX_OPERANDS = 12
"""Figures from which another one may be computed; more of them give any result by chance."""

MAX_QUOTED = 6
"""The same of several rows that are quoted: of 4 figures random percentages follow in 1 of 100 cases, of 12 in 9."""

_BOUNDARY = re.compile(
    r"[;,]\s|\b(?:and|or|but|plus|while|whereas|from|to|compared|versus|vs|against|which)\b|[(–—]", re.IGNORECASE
)
"""Boundaries between the words of one figure and those of the next."""

_YEAR_BEFORE = re.compile(
    r"\b(?:year (?:earlier|ago|before)|(?:prior|previous|preceding|last|same period (?:of )?last)[- ]year)\b",
    re.IGNORECASE,
)
_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)\b", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,3}(?:[.)]\s|\s–\s)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = re.compile(rf"\b{_MONTH}\s\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?!\w)", re.IGNORECASE)
_DATE = re.compile(r"\b\d{1,2}/\d{1,2}/\d{2,4}\b")
"""Days of rows, whose numbers are nothing to compute with."""
_COLUMN_NAME = re.compile(r"(?<=[;–] )[^;–]{1,60}: ")
"""The name of a column in a row of the answer: "Fees – 2021: 4; 2022: 5"."""

LIKELY_SENTENCES = 3
"""Sentences of a source of whose figures a claim may silently compute its own."""

_WHOLE = tuple(numbers.find_numbers("100%"))

ANY_SCALE = (1e3, 1e6, 1e9)
"""The scales that a figure of a source may have that declares none."""

MAX_COUNT = 100
"""Largest number without a unit that may be the count of things that the source lists without counting them."""


class PlacedFigure(NamedTuple):
    """A figure of a source: its unit, its cell there if that is a table row, and the keys of the words it belongs to.

    `named` are those of its row and column, or those near it; `around` those of the whole sentence, or of the section.
    """

    unit: int
    cell: int | None
    number: Number
    named: frozenset[str]
    around: frozenset[str]
    years: frozenset[int]
    evidence: Evidence


class ClaimedFigure(NamedTuple):
    """A figure of a claim with the keys of the words and the year that it belongs to there."""

    number: Number
    words: frozenset[str]
    year: int | None


class FigureMatch(NamedTuple):
    """A figure of a claim and its place in a source."""

    figure: ClaimedFigure
    citation_id: str
    place: PlacedFigure
    score: float


class FigureCheck(NamedTuple):
    """What became of a claim's figures.

    `matches` have a place, `computed` follow from others, `absent` do neither; `counts` neither, but a reader may count
    or compute them. `misplaced` stand in the source for another row, column, period or thing, or are wrong results; of
    those, shares and changes are `computable` that follow from other figures.
    """

    matches: tuple[FigureMatch, ...] = ()
    computed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    computable: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The figures that the sources do not confirm."""
        return tuple(dict.fromkeys([*self.absent, *self.misplaced]))

    @property
    def confirmed(self) -> frozenset[str]:
        """The figures that have a place of their own or are computed, as they are written."""
        keys = [one.figure.number.text for one in self.matches]
        return frozenset([*keys, *self.computed]).difference(self.misplaced)

    def proved_in(self, claim: Text) -> Iterator[Number]:
        """Yield the figures of the claim that are found or computed."""
        yield from (one.figure.number for one in self.matches)
        yield from (number for number in claim.numbers if number.text in self.computed)


NO_FIGURES = FigureCheck()


class FigureIndex:
    """The figures of a passage with what they belong to."""

    def __init__(self, passage: QuotablePassage) -> None:
        """Index the figures of all sentences and cells of `passage`."""
        self.passage = passage
        self.weight = passage.word_weights.of
        self.places = [place for index in range(len(passage.units)) for place in self._places(index)]

    def _places(self, index: int) -> Iterator[PlacedFigure]:
        unit, evidence = self.passage.units[index], self.passage.unit_evidence[index]
        if not unit.cells:
            text = evidence.quoted
            years = years_of(text.text)
            for number in text.figures:
                start, end = number.start - NEAR_CHARS, number.end + NEAR_CHARS
                near = frozenset(word.key for word in text.content if start <= word.start < end)
                yield PlacedFigure(index, None, number, near, text.content_keys, years, evidence)
            return
        label = self._content(unit.label)
        around = self._content(unit.section) | self._content(unit.caption)
        for number in analyze(self.passage.read(unit.label)).numbers if unit.label else ():
            yield PlacedFigure(index, -1, number, label, around, frozenset(), evidence)
        for cell, column in enumerate(evidence.columns):
            years = years_of(column.name)
            named = label | analyze(column.name).content_keys
            for number in column.cell.numbers:
                yield PlacedFigure(index, cell, number, named, around, years, evidence)

    def _content(self, span: types.Span | None) -> frozenset[str]:
        return analyze(self.passage.read(span)).content_keys if span else frozenset()


def check_figures(
    claim: str,
    indexes: Mapping[str, FigureIndex],
    quoted: Mapping[str, Sequence[types.Span]],
    known: Sequence[Number] = (),
    asked: str = "",
) -> FigureCheck:
    """Look up the figures of `claim` in its sources.

    `quoted` are the sentences and rows that the claim quotes, which are preferred. A figure may also be computed from
    `known` ones, those of other sentences. The only year of `asked`, the question, is meant where the claim names none.
    """
    text = analyze(claim)
    found: list[FigureMatch] = []
    left: list[ClaimedFigure] = []
    results = numbers.results_of_equations(claim)
    for figure in _figures(text, years_of(asked)):
        matches = () if figure.number.text in results else _matches(figure, text, indexes, quoted)
        if best := max(matches, key=lambda match: match.score, default=None):
            found.append(best)
        else:
            left.append(figure)
    beside = [  # the other figures of the rows, of which a change may be computed
        number
        for match in found
        if match.place.cell is not None
        for column in match.place.evidence.columns
        for number in column.cell.numbers
        if number.year is None
    ]
    operands = [*(match.figure.number for match in found), *known, *beside]
    computed: list[ClaimedFigure] = []
    for _ in range(2):  # a result may be an operand of the next one
        new = [figure for figure in left if figure not in computed and _is_computed(figure.number, text, operands)]
        computed += new
        operands = [*(figure.number for figure in new), *operands]
    misplaced = [*numbers.wrong_results(claim)]
    for match in found:  # of another period than the claim names, or of another row or column than it names in full
        is_named = match.place.cell is not None and _is_named_otherwise(match, text, indexes[match.citation_id])
        if is_named or _year_fit(match.figure, match.place) < 0 or _has_other_sign(match, text):
            misplaced.append(match.figure.number.text)
    misplaced += [*_exchanged(found, indexes), *_turned(found, text)]
    is_change = any(negation.trend(word.text) for word in text.words)
    elsewhere = [
        match.figure.number
        for match in found
        if match.figure.number.text in misplaced and (is_change or match.figure.number.is_share)
    ]
    unknown = [figure.number for figure in left if figure not in computed]
    implied = {number for number in unknown if _is_count(number) or _may_follow(number, claim, indexes, quoted)}
    return FigureCheck(
        matches=tuple(found),
        computed=tuple(figure.number.text for figure in computed),
        absent=tuple(number.text for number in unknown if number not in implied),
        counts=tuple(number.text for number in unknown if number in implied),
        misplaced=tuple(dict.fromkeys(misplaced)),
        computable=tuple(number.text for number in elsewhere if _may_follow(number, claim, indexes, quoted)),
    )


def years_of(text: str) -> frozenset[int]:
    """Return the years that `text` names, also as "FY19"."""
    found = numbers.find_numbers(_SHORT_YEAR.sub(r"20\1", text))
    return frozenset(number.year for number in found if number.year is not None)


# --- what the claim says ---


def _figures(claim: Text, asked: frozenset[int] = frozenset()) -> Iterator[ClaimedFigure]:
    """Yield the figures of a claim, without years, days, quarters, and the numbers of list items and of columns."""
    numbered = _LIST_NUMBER.match(claim.text)
    left_out = [numbered.span()] if numbered else []
    left_out += [(period.start, period.end) for period in find_quarters(claim.text)]
    for pattern in (_DAY, _SHORT_YEAR, _COLUMN_NAME):
        left_out += [match.span() for match in pattern.finditer(claim.text)]
    own = [
        number
        for number in claim.numbers
        if number.year is None and not any(start <= number.start < end for start, end in left_out)
    ]
    scales = declared_scales(claim.text)
    years = years_of(claim.text)
    operands = numbers.operands(claim.text)  # each may be of a year of its own: "by 953 − 1,204 = −251 in 2024"
    for number, segment in zip(own, words_around(claim, own, _BOUNDARY), strict=False):
        named = years_of(segment)
        if not named and len(own) == 1:
            named = years or asked
        is_of_year = len(named) == 1 and number.start not in operands and not _YEAR_BEFORE.search(segment)
        year = next(iter(named)) if is_of_year else None
        is_scaled = len(scales) == 1 and number.scale is None and not number.is_share
        scaled = number._replace(scale=next(iter(scales))) if is_scaled else number
        yield ClaimedFigure(scaled, analyze(segment).content_keys, year)


def _is_count(number: Number) -> bool:
    value = numbers.plain_value(number)
    return number.unit is None and number.scale is None and value <= MAX_COUNT and value == int(value)


# --- where it stands ---


def _matches(
    figure: ClaimedFigure, claim: Text, indexes: Mapping[str, FigureIndex], quoted: Mapping[str, Sequence[types.Span]]
) -> Iterator[FigureMatch]:
    is_operand = numbers.shows_computation(claim.text) or bool(numbers.values_in_brackets(claim.text))
    for citation_id, index in indexes.items():
        preferred = quoted.get(citation_id, ())
        for place in index.places:
            if is_same_figure(figure.number, place, is_operand=is_operand):
                is_quoted = index.passage.units[place.unit].span in preferred
                score = _fit(figure, claim.content_keys, place, index) + (0.5 if is_quoted else 0.0)
                yield FigureMatch(figure, citation_id, place, score)


def is_same_figure(claimed: Number, place: PlacedFigure, *, is_operand: bool = False) -> bool:
    """Return whether a figure of a source is the claimed one, exactly or rounded as the claim writes it.

    An operand of an equation may leave out its scale.
    """
    evidence, given = place.evidence, place.number
    if numbers.is_same(claimed, given, evidence.scales, evidence.currency):
        return True
    if is_operand and claimed.scale is None:
        is_share = given.is_share and claimed.unit is None
        is_fraction = is_share and math.isclose(numbers.plain_value(claimed), numbers.plain_value(given) / 100)
        if claimed.values & given.values or is_fraction:
            return True
    if claimed.year or given.year or not is_same_unit(claimed.unit, given.unit, evidence.currency):
        return False
    if len(re.sub(r"\D", "", claimed.text).lstrip("0")) < MIN_ROUNDED_DIGITS:
        return False
    unknown = ANY_SCALE if claimed.scale is not None and evidence.scales is None else ()
    scales = (given.scale,) if given.scale is not None else (1.0, *(evidence.scales or unknown))
    value = numbers.plain_value(given, with_scale=False)
    return any(numbers.is_rounded(claimed, value * scale) for scale in scales)


def _fit(figure: ClaimedFigure, claim: frozenset[str], place: PlacedFigure, index: FigureIndex) -> float:
    """Return how well the words and the year of a figure fit a place."""
    score = _share(place.named, claim, index) + 0.7 * _share(place.named, figure.words, index)
    score += 0.5 * _share(place.around, claim, index)
    if place.cell is None:
        score += _share(figure.words, place.around, index)
    return score + 1.2 * _year_fit(figure, place)


def _year_fit(figure: ClaimedFigure, place: PlacedFigure) -> float:
    if figure.year is None or not place.years:
        return 0.0
    return 1.0 if figure.year in place.years else -1.0


def _share(part: frozenset[str], whole: frozenset[str], index: FigureIndex) -> float:
    total = sum(map(index.weight, part))
    return sum(index.weight(key) for key in part if key in whole) / total if total else 0.0


def _is_named_otherwise(match: FigureMatch, claim: Text, index: FigureIndex) -> bool:
    """Return whether the words of a figure name another cell of its table in full, and the claim not its own cell."""
    if match.place.named <= claim.content_keys:
        return False
    header = index.passage.units[match.place.unit].header
    return any(
        other.cell is not None
        and bool(other.named)
        and index.passage.units[other.unit].header == header
        and other[:2] != match.place[:2]
        and other.named <= match.figure.words
        and not other.named < match.place.named
        and _year_fit(match.figure, other) >= 0
        and not is_same_figure(match.figure.number, other)
        for other in index.places
    )


def _has_other_sign(match: FigureMatch, claim: Text) -> bool:
    """Return whether the claim writes a minus sign where the source has a positive figure."""
    if match.place.cell is None or match.place.cell < 0:
        return False
    before = claim.text[: match.figure.number.start].rstrip("$€£¥ ")
    is_negative = before[-1:] in ("-", "−", "–") and not before[:-1].rstrip()[-1:].isalnum()
    cell = match.place.evidence.columns[match.place.cell].cell.text
    return is_negative and not cell[: match.place.number.start].strip("$€£¥ ")


def _exchanged(matches: Sequence[FigureMatch], indexes: Mapping[str, FigureIndex]) -> Iterator[str]:
    """Yield pairs of figures whose words fit clearly better the other way round."""
    for one, other in itertools.combinations(matches, 2):
        if one.citation_id != other.citation_id or one.figure.number.values == other.figure.number.values:
            continue
        ours, theirs = one.figure.words - other.figure.words, other.figure.words - one.figure.words
        here, there = one.place.named - other.place.named, other.place.named - one.place.named
        weigh = indexes[one.citation_id].weight
        kept = sum(map(weigh, (ours & here) | (theirs & there)))
        turned = sum(map(weigh, (ours & there) | (theirs & here)))
        is_mutual = bool(ours & there) and bool(theirs & here)
        if is_mutual and turned >= 2 * kept + MIN_SWAPPED:
            yield from (one.figure.number.text, other.figure.number.text)


_FROM = re.compile(r"\bfrom\b[^\d]{0,40}$", re.IGNORECASE)
_TO = re.compile(r"\bto\b[^\d]{0,40}$", re.IGNORECASE)


def _turned(matches: Sequence[FigureMatch], claim: Text) -> Iterator[str]:
    """Yield the figures of a change whose first figure is of the later period."""
    first = [match for match in matches if _FROM.search(claim.text[: match.figure.number.start])]
    last = [match for match in matches if _TO.search(claim.text[: match.figure.number.start])]
    if len(first) != 1 or len(last) != 1 or first[0].place.unit != last[0].place.unit:
        return
    before, after = first[0].place.years, last[0].place.years
    if len(before) == len(after) == 1 and min(before) > min(after):
        yield from (first[0].figure.number.text, last[0].figure.number.text)


# --- what is computed ---


def _is_computed(figure: Number, claim: Text, operands: Sequence[Number]) -> bool:
    """Return whether a figure is that of another sentence, or the result of an expression in the claim.

    An expression need not be written out: a figure may be the sum of all others of the claim, one of them rounded, or
    the sum, difference, ratio or change of two.
    """
    if any(figure.values & known.values and figure.unit == known.unit for known in operands):
        return True
    bare = figure._replace(scale=None)
    own = {number.start: numbers.plain_value(number, with_scale=False) for number in claim.numbers if not number.year}
    own.pop(figure.start, None)
    factors = (1.0, 100.0) if figure.is_share else (1.0, *ANY_SCALE)
    in_brackets = [value * factor for value in numbers.values_in_brackets(claim.text) for factor in factors]
    return (
        numbers.is_shown_by_equation(claim.text, figure, operands)
        or any(numbers.is_rounded(figure, value) for value in in_brackets)
        or any(numbers.is_rounded(bare, value) for start, value in own.items() if start < figure.start)
        or (len(own) > 2 and numbers.is_rounded(bare, sum(own.values())))
        or any(numbers.is_rounded(bare, value) for value in _results_of_two(figure, operands))
    )


def _may_follow(
    figure: Number, claim: str, indexes: Mapping[str, FigureIndex], quoted: Mapping[str, Sequence[types.Span]]
) -> bool:
    """Return whether a figure may be computed from two of those that are quoted, or of a likely sentence or row.

    The result may be in units of one where its table is in thousands or millions.
    """
    bare = figure._replace(scale=None)
    for citation_id, index in indexes.items():
        likely = index.passage.likely_spans(claim)[:LIKELY_SENTENCES]
        scales = (1.0,) if figure.is_share or figure.scale else (1.0, *(index.passage.scales or ()))
        for spans, most in ((quoted.get(citation_id, ()), MAX_QUOTED), *(([span], MAX_OPERANDS) for span in likely)):
            texts = [_DATE.sub(" ", index.passage.read(span)) for span in dict.fromkeys(spans)]
            there = [
                one
                for text in texts
                for one in numbers.find_numbers(text)
                if one.year is None and one.values.isdisjoint(figure.values)
            ][:MAX_OPERANDS]
            if len(there) > most:
                continue
            values = [(one, numbers.plain_value(one, with_scale=False)) for one in there]
            parts = (
                percent * whole / 100
                for (share, percent), (_, whole) in itertools.permutations(values, 2)
                if share.is_share
            )
            results = itertools.chain(_results_of_two(figure, [*there, *_WHOLE]), parts)
            if any(numbers.is_rounded(bare, value * scale) for value in results for scale in scales):
                return True
    return False


def _results_of_two(figure: Number, operands: Sequence[Number]) -> Iterator[float]:
    """Yield what two operands give by an operation that yields a figure of that unit."""
    values = list(dict.fromkeys(numbers.plain_value(number, with_scale=False) for number in operands))[:MAX_OPERANDS]
    is_share = figure.unit in (PERCENT, POINTS)
    for one, other in itertools.permutations(values, 2):
        yield one - other
        if figure.unit == BASIS_POINTS:
            yield 100 * (one - other)
        if not is_share:
            yield one + other
        if other and is_share:
            yield from (100 * one / other, 100 * (one - other) / other)
        elif other and figure.unit in (None, TIMES):
            yield one / other
