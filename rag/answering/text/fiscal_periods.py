"""Quarters and halves of a year, in one spelling: "Q1" for the first quarter, "1Q", "Q1"."""

import re
from typing import NamedTuple

_ORDINALS = ("first", "second", "third", "fourth")
_PERIOD = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ORDINALS)})[\s-]+(?P<unit>quarter|half)\b|(?P<letter>[QH])(?P<number>[1-4])\b|"
    r"(?P<leading>[1-4])(?P<following>[QH])(?=\d\d\b|\b))",
    re.IGNORECASE,
)


class Period(NamedTuple):
    """A quarter or half, as "Q1", and where it stands."""

    code: str
    start: int
    end: int


def find_periods(text: str) -> list[Period]:
    """Those that a text names, in their order."""
    return [Period(_code(match), match.start(), match.end()) for match in _PERIOD.finditer(text)]


def in_one_spelling(text: str) -> str:
    """The text with its quarters and halves as codes."""
    return _PERIOD.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    if match["ordinal"]:
        return f"{match['unit'][0].upper()}{_ORDINALS.index(match['ordinal'].casefold()) + 1}"
    return f"{(match['letter'] or match['following']).upper()}{match['number'] or match['leading']}"
