"""Whether something grew or declined, as a claim's own figures show it: "from 3 in 2021 to 5 in 2022"."""

import re

from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, plain_value

_AMOUNT = r"[\s(]*[$€£¥]?\s?$"
_FROM = re.compile(rf"\b(?:from|(?:as )?compared (?:with|to)|versus|against){_AMOUNT}", re.IGNORECASE)
_TO = re.compile(rf"\b(?:to|was|were|of|at|reached){_AMOUNT}", re.IGNORECASE)


def shown(claim: Text) -> int:
    """1 if its figures show growth, -1 if they show a decline, else 0; of figures in the same unit only."""
    figures = [number for number in claim.numbers if number.year is None]
    before = [number for number in figures if _FROM.search(claim.text[: number.start])]
    after = [number for number in figures if number not in before and _TO.search(claim.text[: number.start])]
    if len(before) != 1 or len(after) != 1 or _unit(before[0]) != _unit(after[0]):
        return 0
    first, last = plain_value(before[0]), plain_value(after[0])
    return (last > first) - (last < first)


def _unit(number: Number) -> tuple[str | None, bool]:
    return number.unit, number.scale is None
