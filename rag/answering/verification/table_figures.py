"""Whether a claim's figures stand in the columns of a table's row that the claim speaks of."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rag.answering.passages.captions import declared_scales
from rag.answering.text import negation
from rag.answering.text.analyzed_text import Text, stem
from rag.answering.text.numbers import Number, Scales, is_month, is_same
from rag.answering.text.periods import in_one_spelling
from rag.answering.text.term_weights import word_set

IsSame = Callable[[Number, Number], bool]

_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[QH][1-4]|\d+|[^\W\d_]+", re.IGNORECASE)
_TOTAL = "total"
_TOTALS = word_set("total totals totalled totaled totalling totaling consolidated combined overall altogether")
_PART_OF_YEAR = re.compile(r"\b[QH][1-4]\b|\bquarter|\bmonths?\b|\bhalf[\s-]year|\bhalf\b|\bweeks?\b", re.IGNORECASE)
_TWELVE_MONTHS = re.compile(r"\b(?:12|twelve)[\s-]months?\b", re.IGNORECASE)
_CUT = re.compile(r"[;,]\s|\b(?:and|but|while|whereas|from|to|compared|versus|against)\b", re.IGNORECASE)
"""Where the words of one figure end and those of the next begin."""


class Column(NamedTuple):
    """A cell of a row and the name above it."""

    name: str
    cell: Text


def other_columns(claim: Text, label: str, columns: Sequence[Column], is_same: IsSame) -> list[str]:
    """The names of columns in which figures of the claim stand, where the claim speaks of others."""
    names = [_tokens(column.name) for column in columns]
    held = [number for number in claim.numbers if number.year is None and _holding(number, columns, is_same)]
    if sum(map(bool, names)) < 2 or not held:
        return []
    lead = _chosen(claim.text[: held[0].start], label, names)
    found: list[str] = []
    for number, words in zip(held, _segments(claim, held), strict=True):
        places = _holding(number, columns, is_same)
        best = _best(_chosen(words, label, names) or lead, names)
        if best and not best & set(places):
            found += [columns[place].name for place in places[:1]]
    return found


def parts_of_year(claim: Text, columns: Sequence[Column], is_same: IsSame) -> list[str]:
    """The names of columns of a part of a year, where the claim gives their figures for the year."""
    if is_part_of_year(claim.text) or not any(number.year for number in claim.numbers):
        return []
    found: list[str] = []
    for number in claim.numbers:
        places = _holding(number, columns, is_same) if number.year is None else []
        if places and all(is_part_of_year(columns[place].name) for place in places):
            found.append(columns[places[0]].name)
    return found


def is_part_of_year(text: str) -> bool:
    """Whether a period is named that is shorter than a year: a quarter, a half, so many months."""
    return _PART_OF_YEAR.search(_TWELVE_MONTHS.sub(" ", text)) is not None


def _holding(number: Number, columns: Sequence[Column], is_same: IsSame) -> list[int]:
    """Which columns have a figure."""
    return [
        place for place, column in enumerate(columns) if any(is_same(number, other) for other in column.cell.numbers)
    ]


def _segments(claim: Text, held: Sequence[Number]) -> list[str]:
    """The words around each figure: to the last place before the next one where something new may begin."""
    cuts = [0]
    for one, other in itertools.pairwise(held):
        between = list(_CUT.finditer(claim.text, one.end, other.start))
        cuts.append(between[-1].start() if between else one.end)
    return [claim.text[start:end] for start, end in zip(cuts, [*cuts[1:], len(claim.text)], strict=False)]


def _chosen(words: str, label: str, names: Sequence[frozenset[str]]) -> frozenset[str]:
    """The words of columns that `words` has, and the row's label has not."""
    known = frozenset[str]().union(*names)
    return (_tokens(words) & known) - _tokens(label)


def _best(chosen: frozenset[str], names: Sequence[frozenset[str]]) -> set[int]:
    """The columns whose names have most of the chosen words; of these the ones that have the fewest others."""
    shared = [(len(chosen & name), -len(name - chosen)) for name in names]
    most = max(shared)
    return {place for place, own in enumerate(shared) if own == most} if most[0] else set()


def _tokens(text: str) -> frozenset[str]:
    """What names of columns are compared by: stems, numbers, and quarters and halves in one spelling."""
    text = _SHORT_YEAR.sub(r"20\1", in_one_spelling(text))
    content = {word.text.casefold() for word in Text(text).content}
    found = set()
    for token in _TOKEN.findall(text):
        folded = token.casefold()
        if folded in _TOTALS:
            found.add(_TOTAL)
        elif any(map(str.isdigit, folded)):
            found.add(folded)
        elif is_month(folded):
            found.add(folded[:3])
        elif folded in content and not negation.direction(folded):
            found.add(stem(folded))
    return frozenset(found)


SCALE_NAMES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}
"""What the scale of a caption is called behind a figure."""
_PRINTED = frozenset[float]()
"""No scale: a figure is what its digits say."""


def not_shown(claim: Text, source: Text, scales: Scales) -> list[str]:
    """Words of scale in the claim where the source has the figure bare and nothing says what it is in."""
    if scales is not None:
        return []
    return [
        _scale_word(number)
        for number in claim.numbers
        if number.scale is not None
        and any(is_same(number, other, None) for other in source.numbers)
        and not any(is_same(number, other, _PRINTED) for other in source.numbers)
    ]


def left_out(claim: Text, row: Text, cells: Iterable[Text], declared: Scales) -> list[str]:
    """The scale of a row's table where the claim gives a cell's amount without it, and is no copy of the row."""
    if not declared or declared_scales(claim.text) or claim.folded <= row.folded:
        return []
    amounts = [number for number in claim.numbers if number.scale is None and number.is_money]
    bare = [number for cell in cells for number in cell.numbers if number.scale is None]
    is_bare = any(is_same(amount, other, _PRINTED) for amount in amounts for other in bare)
    return [SCALE_NAMES.get(scale, f"{scale:,.0f}") for scale in sorted(declared)] if is_bare else []


def _scale_word(number: Number) -> str:
    return re.sub(r"^[\d.,'’\s-]+", "", number.text) or number.text
