"""Evidence for a claim: quoted text, its context, word weights, and the columns and scale of a table row."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.answering.passages.table_text import declared_scales
from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.numbers import Number, Scales, find_numbers, is_month, is_same
from rag.answering.text.periods import normalize_periods
from rag.answering.text.term_weights import word_set

IsSame = Callable[[Number, Number], bool]

_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[QH][1-4]|\d+|[^\W\d_]+", re.IGNORECASE)
_TOTAL = "total"
_TOTALS = word_set("total totals totalled totaled totalling totaling consolidated combined overall altogether")
_PART_OF_YEAR = re.compile(r"\b[QH][1-4]\b|\bquarter|\bmonths?\b|\bhalf[\s-]year|\bhalf\b|\bweeks?\b", re.IGNORECASE)
_TWELVE_MONTHS = re.compile(r"\b(?:12|twelve)[\s-]months?\b", re.IGNORECASE)
_BOUNDARY = re.compile(r"[;,]\s|\b(?:and|but|while|whereas|from|to|compared|versus|against)\b", re.IGNORECASE)
"""Boundaries between the words of one figure and those of the next."""


def words_around(claim: Text, figures: Sequence[Number], boundary: re.Pattern[str]) -> list[str]:
    """Split a claim into the words around each figure, at the last `boundary` between two of them."""
    cuts = [0]
    for first, second in itertools.pairwise(figures):
        between = list(boundary.finditer(claim.text, first.end, second.start))
        cuts.append(between[-1].start() if between else first.end)
    return [claim.text[start:end] for start, end in itertools.pairwise([*cuts, len(claim.text)])]


class Column(NamedTuple):
    """A cell of a row and its column name."""

    name: str
    cell: Text


def wrong_columns(claim: Text, label: str, columns: Sequence[Column], is_same: IsSame) -> list[str]:
    """Return the columns that hold the claim's figures where the claim names other columns."""
    names = [_tokens(column.name) for column in columns]
    held = [number for number in claim.numbers if number.year is None and _columns_with(number, columns, is_same)]
    if sum(map(bool, names)) < 2 or not held:
        return []
    lead = _named_columns(claim.text[: held[0].start], label, names)
    found: list[str] = []
    for number, words in zip(held, words_around(claim, held, _BOUNDARY), strict=True):
        places = _columns_with(number, columns, is_same)
        # the columns with most of the words, and among them those with the fewest others
        named = _named_columns(words, label, names) or lead
        shared = [(len(named & name), -len(name - named)) for name in names]
        most = max(shared)
        best = {place for place, own in enumerate(shared) if own == most} if most[0] else set()
        if best and not best & set(places):
            found += [columns[place].name for place in places[:1]]
    return found


def unplaced_years(claim: Text, columns: Sequence[Column], header: Text | None, is_same: IsSame) -> list[str]:
    """Return the claim's years if its figures are in a row of which it cannot be told which cell is of which year."""
    years = {number.year for number in header.numbers if number.year is not None} if header else set()
    filled = [column for column in columns if column.cell.numbers]
    if len(years) < 2 or len(filled) < 2 or any(number.year for one in filled for number in find_numbers(one.name)):
        return []
    is_held = any(number.year is None and _columns_with(number, columns, is_same) for number in claim.numbers)
    return [number.text for number in claim.numbers if number.year in years] if is_held else []


def partial_periods(claim: Text, columns: Sequence[Column], is_same: IsSame) -> list[str]:
    """Return the columns of quarters or months whose figures the claim gives for the year."""
    if is_part_of_year(claim.text) or not any(number.year for number in claim.numbers):
        return []
    words: list[str] = []
    for number in claim.numbers:
        places = _columns_with(number, columns, is_same) if number.year is None else []
        if places and all(is_part_of_year(columns[place].name) for place in places):
            words.append(columns[places[0]].name)
    return words


def is_part_of_year(text: str) -> bool:
    """Return whether `text` names a period shorter than a year."""
    return _PART_OF_YEAR.search(_TWELVE_MONTHS.sub(" ", text)) is not None


def _columns_with(number: Number, columns: Sequence[Column], is_same: IsSame) -> list[int]:
    return [
        place for place, column in enumerate(columns) if any(is_same(number, other) for other in column.cell.numbers)
    ]


def _named_columns(words: str, label: str, names: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the words of column names in `words` that are not in the row's label."""
    known = frozenset[str]().union(*names)
    return (_tokens(words) & known) - _tokens(label)


def _tokens(text: str) -> frozenset[str]:
    """Return the comparison tokens of a column name: stems, numbers, normalised quarters and halves."""
    text = _SHORT_YEAR.sub(r"20\1", normalize_periods(text))
    content = {word.text.casefold() for word in Text(text).content}
    keys = set()
    for token in _TOKEN.findall(text):
        folded = token.casefold()
        if folded in _TOTALS:
            keys.add(_TOTAL)
        elif any(map(str.isdigit, folded)):
            keys.add(folded)
        elif is_month(folded):
            keys.add(folded[:3])
        elif folded in content and not negation.trend(folded):
            keys.add(stem(folded))
    return frozenset(keys)


SCALE_NAMES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}
"""Names of the scales."""
_NO_SCALE = frozenset[float]()
"""The scale of figures that mean what their digits say."""


def undeclared_scales(claim: Text, source: Text, scales: Scales) -> list[str]:
    """Return words of scale in the claim where the source has the bare figure and declares no scale."""
    if scales is not None:
        return []
    return [
        re.sub(r"^[\d.,'’\s-]+", "", number.text) or number.text
        for number in claim.numbers
        if number.scale is not None
        and any(is_same(number, other, None) for other in source.numbers)
        and not any(is_same(number, other, _NO_SCALE) for other in source.numbers)
    ]


def omitted_scale(claim: Text, row: Text, cells: Iterable[Text], declared: Scales) -> list[str]:
    """Return the scale of the row's table if the claim omits it without copying the row."""
    if not declared or declared_scales(claim.text) or claim.folded <= row.folded:
        return []
    amounts = [number for number in claim.numbers if number.scale is None and number.is_money]
    bare = [number for cell in cells for number in cell.numbers if number.scale is None]
    is_bare = any(is_same(amount, other, _NO_SCALE) for amount in amounts for other in bare)
    return [SCALE_NAMES.get(scale, f"{scale:,.0f}") for scale in sorted(declared)] if is_bare else []


class WordWeights:
    """Word weights of a collection; unknown words weigh as much as the rarest one."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        self._rarity = rarity
        self._unseen = max(rarity.values(), default=1.0)

    def of(self, key: str) -> float:
        """Return the weight of a word."""
        return self._rarity.get(key, self._unseen)


@dataclass(frozen=True)
class Evidence:
    """A quote and its context, as compared with a claim.

    `row` is the quoted table row with its column names, `columns` its cells. `around` are headings, titles and, for a
    sentence that refers back, the sentence before. `scales` are the possible scales of bare figures, `declared` those
    from the caption of its own table, `currency` their currency.
    """

    quoted: Text
    row: Text | None = None
    columns: tuple[Column, ...] = ()
    header: Text | None = None
    around: tuple[Text, ...] = ()
    scales: numbers.Scales = None
    declared: numbers.Scales = None
    currency: str | None = None
    weights: WordWeights | None = None

    @property
    def own(self) -> Text:
        """The quoted words as they are compared."""
        return self.row or self.quoted

    @functools.cached_property
    def own_keys(self) -> frozenset[str]:
        """The word keys of the quote and its column names."""
        return self.quoted.keys | (self.header.keys if self.header else frozenset())

    @functools.cached_property
    def all_keys(self) -> frozenset[str]:
        """The word keys of the quote, its column names and its context."""
        return self.own_keys.union(*(text.keys for text in self.around))

    @functools.cached_property
    def texts(self) -> list[str]:
        """The texts that may hold figures: quote and column names; years also from the context if these have none."""
        own = [self.own.text, *([self.header.text] if self.header else [])]
        has_year = any(number.year for text in (self.own, self.header) if text for number in text.numbers)
        return (
            own
            if has_year
            else [*own, *(number.text for text in self.around for number in text.numbers if number.year)]
        )


def combine(pieces: Sequence[Evidence]) -> Evidence:
    """Several pieces as one, for a figure that is computed from all of them."""
    headers = [piece.header.text for piece in pieces if piece.header]
    return Evidence(
        Text("\n".join(piece.quoted.text for piece in pieces)),
        header=Text("\n".join(headers)) if headers else None,
        around=tuple(dict.fromkeys(text for piece in pieces for text in piece.around)),
        scales=numbers.union_scales(piece.scales for piece in pieces),
        weights=pieces[0].weights,
    )
