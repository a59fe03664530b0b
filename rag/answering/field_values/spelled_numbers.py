"""Read numbers spelled in English and German: "thirty", "twenty-five", "two hundred thousand", "fünfundzwanzig"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.answering.text.numbers import SCALES

_BELOW_TWENTY = (
    "zero null|one eine ein einen einem einer eins|two zwei|three drei|four vier|five fünf|six sechs|seven sieben|"
    "eight acht|nine neun|ten zehn|eleven elf|twelve zwölf|thirteen dreizehn|fourteen vierzehn|fifteen fünfzehn|"
    "sixteen sechzehn|seventeen siebzehn|eighteen achtzehn|nineteen neunzehn"
)
_TENS = (
    "twenty zwanzig|thirty dreißig dreissig|forty vierzig|fifty fünfzig|sixty sechzig|seventy siebzig|"
    "eighty achtzig|ninety neunzig"
)
_UNITS = {word: number for number, group in enumerate(_BELOW_TWENTY.split("|")) for word in group.split()}
_ROUND = {word: 10 * number for number, group in enumerate(_TENS.split("|"), 2) for word in group.split()}
_JOINED = {
    f"{unit}und{tens}": _ROUND[tens] + number
    for unit, number in _UNITS.items()
    for tens in _ROUND
    if 0 < number < 10 and unit != "eins"
}
_VALUES = _UNITS | _ROUND | _JOINED
_FACTORS = {word: scale for word, scale in SCALES.items() if word in {"hundred", "thousand", "million", "billion"}} | {
    "hundert": 1e2, "tausend": 1e3, "million": 1e6, "millionen": 1e6, "milliarde": 1e9, "milliarden": 1e9,
}  # fmt: skip

_WORDS = "|".join(sorted(_VALUES, key=len, reverse=True))
_RUN = re.compile(
    rf"(?<![\w-])(?:{_WORDS})(?!\w)(?:(?:[\s-]|\s?-\s?|\sand\s)(?:{_WORDS}|{'|'.join(_FACTORS)})(?!\w)){{0,9}}",
    re.IGNORECASE,
)
_TENS_ALONE = frozenset(_ROUND.values())
_ONES = frozenset({1.0, 0.0})
"""What articles and "no" spell too; alone these are no figures."""


class SpelledNumber(NamedTuple):
    """A number in words: its value and span."""

    value: float
    start: int
    end: int

    @property
    def is_clear(self) -> bool:
        """Whether its words count, unlike "one of them"."""
        return self.value not in _ONES


def find_spelled_numbers(text: str) -> Iterator[SpelledNumber]:
    """Yield the numbers in words; a series that makes no number, "two three", is left out."""
    for match in _RUN.finditer(text):
        value = _value(re.findall(r"[^\W\d_]+", match[0].casefold()))
        if value is not None:
            yield SpelledNumber(value, *match.span())


def _value(words: list[str]) -> float | None:
    total, group, last = 0.0, 0.0, 100.0
    for word in words:
        if word == "and":
            continue
        if word in _VALUES:
            number = _VALUES[word]
            if number >= last or (number > 9 and last < 100):  # "two three", "twenty eleven"
                return None
            group, last = group + number, 10.0 if number in _TENS_ALONE else 0.0
        elif _FACTORS[word] == 100:
            group, last = (group or 1) * 100, 100.0
        else:
            total, group, last = total + (group or 1) * _FACTORS[word], 0.0, 100.0
    return total + group
