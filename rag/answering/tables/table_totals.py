"""Find the rows of a table that sum up others, so that none counts twice."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from rag.answering.tables.cell_values import Column
from rag.answering.text.measurement_units import PERCENT

MIN_TOTAL_TERMS = 2
MIN_TERMS_UNNAMED = 3
"""The same of a last row that is not named so: it must be the exact sum of at least so many."""
MAX_TRIES = 500
"""Rows of a table that are compared with the sums of those above."""
ROUNDING = Decimal("0.6")
"""How far a total may be from the sum of its rows for their being rounded, in units of their last digits."""


_TOTAL = re.compile(
    r"(?:grand[\s-]|sub[\s-]?)?totals?|sums?|zwischensummen?|(?:gesamt)?summen?|gesamt|insgesamt|total général|totaux",
    re.IGNORECASE,
)
_AT_AN_END = re.compile(rf"^(?:{_TOTAL.pattern})\b|\b(?:{_TOTAL.pattern})$", re.IGNORECASE)
_SUMMARY = re.compile(
    r"(?:overall|grand )?(?:average|avg\.?|mean)|overall|all|(?:gesamt)?durchschnitt|mittelwert|schnitt|alle|[øØ⌀]",
    re.IGNORECASE,
)
"""Labels of rows that are totals or averages of the others only if their figures are."""
_AROUND_LABEL = " :.*=\t"


class Totals(NamedTuple):
    """The indices of rows that sum up others, of those among them that are no sums, and of rows that may sum up."""

    found: list[int]
    odd: list[int]
    doubtful: list[int]


def _may_be_total(label: str) -> bool:
    return bool(_AT_AN_END.search(label) or _SUMMARY.fullmatch(label.strip(_AROUND_LABEL)))


def find_totals(rows: Sequence[Sequence[str]], sections: Sequence[str], columns: Sequence[Column]) -> Totals:
    """Find the rows that sum up others; none if all do. `rows` are their cells, each with its section.

    The label says nothing but that, at the end of the table or with a figure that is the sum of others; or it begins so
    and all figures are sums, or is "average" and they are means; or it is the last row, whose figures are all sums.
    """
    numbers = [index for index, column in enumerate(columns) if column.kind == "number"]
    labels = [
        [cell.strip(_AROUND_LABEL) for at, cell in enumerate(row) if at not in numbers and cell.strip()] for row in rows
    ]
    may_be = [bool(words) and _may_be_total(words[0]) for words in labels]
    data = [index for index, named in enumerate(may_be) if not named]
    totals = Totals([], [], [])
    candidates = (at for at in range(len(rows)) if may_be[at] or (at + 1 == len(rows) and any(labels)))
    for tries, index in enumerate(candidates):
        label = labels[index][0] if len(labels[index]) == 1 else ""
        is_plain, is_named = _TOTAL.fullmatch(label) is not None, may_be[index] or not labels[index]
        figures = [columns[at] for at in numbers if columns[at].values[index] is not None]
        sums = [column for column in figures if column.unit != "%"]
        is_sum = is_mean = False
        if figures and tries < MAX_TRIES:
            others = data if may_be[index] else data[:-1]
            above = sorted({*range(index)}.difference(totals.found))
            since = [at for at in above if at > max(totals.found, default=-1)]
            section = [at for at in above if sections[at] == sections[index]]
            enough, least = (any, 1) if is_plain else (all, MIN_TOTAL_TERMS if is_named else MIN_TERMS_UNNAMED)
            is_sum = bool(sums) and any(
                len(group) >= least and enough(_adds_up(column, group, index, is_exact=not is_named) for column in sums)
                for group in (since, above, section, others)
            )
            is_mean = _SUMMARY.fullmatch(label) is not None and len(others) >= MIN_TOTAL_TERMS
            is_mean = is_mean and all(_adds_up(column, others, index, is_mean=True) for column in figures)
        is_last = is_plain and (index > max(data[-1:], default=-1) or not sums)
        if is_last or is_mean or (is_sum and (is_named or len(sums) > 1)):
            totals.found.append(index)
            totals.odd.extend([index] if sums and not (is_sum or is_mean) else [])
        elif is_sum or may_be[index]:
            totals.doubtful.append(index)
    if len(totals.found) == len(rows):
        return Totals([], [], [])
    return totals._replace(doubtful=totals.doubtful or _parents([columns[at] for at in numbers], data))


def _parents(columns: Sequence[Column], data: Sequence[int]) -> list[int]:
    """Return the rows that are each the sum of those below up to the next, if all rows are such or below one."""
    values = [column.values for column in columns if column.unit != PERCENT]
    rows = [[value if isinstance(value := of[index], Decimal) else Decimal() for of in values] for index in data]
    parents: list[int] = []
    at, has_sum = 0, False
    while at < len(rows):
        parents.append(data[at])
        left = rows[at]
        for end in range(at + 1, len(rows)):
            left = [total - value for total, value in zip(left, rows[end], strict=True)]
            if not any(left):
                break
        else:
            return []
        has_sum |= end > at + 1
        at = end + 1
    return parents if has_sum else []


def _adds_up(
    column: Column, others: Sequence[int], index: int, *, is_mean: bool = False, is_exact: bool = False
) -> bool:
    """Whether a figure is the sum or mean of those of `others`, but for rounding."""
    total = column.values[index]
    terms = [value for at in others if isinstance(value := column.values[at], Decimal)]
    if not terms or not isinstance(total, Decimal):
        return False
    unit = max(Decimal(1).scaleb(_exponent(term)) for term in terms)
    count = Decimal(len(terms)) if is_mean else Decimal(1)
    rounding = ROUNDING * (Decimal(1).scaleb(_exponent(total)) * count + unit * Decimal(len(terms)).sqrt())
    return abs(sum(terms) - total * count) <= (0 if is_exact else rounding)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0
