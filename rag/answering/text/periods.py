"""Assign years to figures, and find quarters and halves of years."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag.answering.text.numbers import Number, find_numbers

MAX_YEAR_DISTANCE_CHARS = 30
"""Maximum distance of a year behind its figure: "5 million in fiscal 2020"."""

_SEPARATES = re.compile(r"[;,]|\b(?:and|und|et|y|while|whereas|from|compared|versus|vs)\b", re.IGNORECASE)

NO_AMOUNT = re.compile(
    r"\b(?:notes?|items?|sections?|tables?|figures?|pages?|form|exhibits?|jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|"
    r"october|november|december)\.?\s*$",
    re.IGNORECASE,
)
"""Words after which a number is a day or a reference."""


def figure_years(text: str) -> Mapping[int, int]:
    """Map the start of each figure to its year; figures without a clear year are left out."""
    found = find_numbers(text)
    years = [number for number in found if number.year is not None]
    amounts = [
        number
        for number in found
        if number.year is None
        and not NO_AMOUNT.search(text, 0, number.start)
        and not (len(number.text) <= 2 and text[number.start - 1 : number.end + 1] == f"({number.text})")
    ]
    if not years or not amounts:
        return {}
    # All years precede all amounts or follow them, as in a row under its header.
    are_apart = years[-1].start < amounts[0].start or amounts[-1].start < years[0].start
    if len(years) == len(amounts) > 1 and (are_apart or re.search(r"\brespectively\b", text)):
        return {amount.start: year.year or 0 for amount, year in zip(amounts, years, strict=True)}
    year_first = years[0].start < amounts[0].start
    bound: dict[int, int] = {}
    for amount in amounts:
        year = (  # "2020: 5"
            next((y for y in years if re.fullmatch(r"\s*[:=][$€£¥(\s]*", text[y.end : amount.start])), None)
            or _close_behind(text, amount, found)
            or _year_of(amount, years, amounts, before=year_first)
        )
        if year is not None and year.year is not None:
            bound[amount.start] = year.year
    return bound


def _close_behind(text: str, amount: Number, found: Sequence[Number]) -> Number | None:
    following = next((number for number in found if number.start >= amount.end), None)
    if following is None or following.year is None or following.start - amount.end > MAX_YEAR_DISTANCE_CHARS:
        return None
    return None if _SEPARATES.search(text[amount.end : following.start]) else following


def _year_of(amount: Number, years: Sequence[Number], amounts: Sequence[Number], *, before: bool) -> Number | None:
    if before:
        earlier = [year for year in years if year.end <= amount.start]
        return earlier[-1] if earlier else None
    later = [year for year in years if year.start >= amount.end]
    if not later:
        return None
    between = [other for other in amounts if amount.end <= other.start < later[0].start]
    return None if between else later[0]


_ORDINALS = ("first", "second", "third", "fourth")
_PERIOD = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ORDINALS)})[\s-]+(?P<unit>quarter|half)\b|(?P<letter>[QH])(?P<number>[1-4])\b|"
    r"(?P<leading>[1-4])(?P<following>[QH])(?=\d\d\b|\b))",
    re.IGNORECASE,
)


class Period(NamedTuple):
    """A quarter or half year as a code like "Q1", and its span."""

    code: str
    start: int
    end: int


def find_quarters(text: str) -> list[Period]:
    """Return the quarters and halves that a text names."""
    return [Period(_code(match), match.start(), match.end()) for match in _PERIOD.finditer(text)]


def normalize_periods(text: str) -> str:
    """Replace quarters and halves by their codes."""
    return _PERIOD.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    if match["ordinal"]:
        return f"{match['unit'][0].upper()}{_ORDINALS.index(match['ordinal'].casefold()) + 1}"
    return f"{(match['letter'] or match['following']).upper()}{match['number'] or match['leading']}"
