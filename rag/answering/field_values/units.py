"""Units of field values: a currency, a scale and a name, as people and documents write them."""

import functools
import re
from typing import NamedTuple

from babel.numbers import is_currency

from rag.answering.passages.table_text import BEFORE_CURRENCY, BEHIND_CURRENCY, SCALE_WORDS
from rag.answering.text.measurement_units import (
    BASIS_POINTS,
    CODE,
    CURRENCY,
    PERCENT,
    SHARES,
    iso_code,
    measure_behind,
    named_currency,
    share_behind,
)

FRACTION = "fraction"
"""The unit of a share of one: .12 for 12 %."""
PERCENT_OF = {PERCENT: 1.0, BASIS_POINTS: 0.01, FRACTION: 100.0}
"""Comparable shares, in per cent; percentage points are differences, and stay apart."""
TIME_RATIOS = {("year", "month"): 12.0, ("month", "year"): 1 / 12, ("week", "day"): 7.0, ("day", "week"): 1 / 7}
"""Units of time that hold a fixed number of others; months have no fixed number of days."""
SCALE_NAMES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}

MAX_UNIT_CHARS = 80
_FRACTIONS = frozenset({"fraction", "ratio", "decimal"})
_CONNECTORS = frozenset({"in", "of", "de", "von", "d'", "the", "number", "count", "anzahl", "der", "#"})
_THREE_ZEROS = re.compile(r"['’]?000['’]?s?")
_CURRENCY = re.compile(CURRENCY)
_PER = re.compile(r"(?<!\S)(?:per|pro|je)\s|/\s?(?=[^\W\d])")
PER_PERIOD = re.compile(
    r"(?<!\w)(?:(?P<month>monthly|monatliche?[nrs]?|p\.\s?m\.|(?:(?:per|a|each|every|pro|je|im)\s|/\s?)(?:calendar\s)?(?:month|monat))"
    r"|(?P<quarter>quarterly|vierteljährliche?[nrs]?|(?:(?:per|a|each|every|pro|je|im)\s|/\s?)(?:quarter|quartal))"
    r"|(?P<week>weekly|wöchentliche?[nrs]?|(?:(?:per|a|each|every|pro|je)\s|/\s?)(?:week|woche))"
    r"|(?P<day>daily|tägliche?[nrs]?|(?:(?:per|a|each|every|pro|je)\s|/\s?)(?:day|tag))"
    r"|(?P<year>annual(?:ly)?|yearly|jährliche?[nrs]?|p\.\s?a\.|(?:(?:per|a|each|every|pro|je|im)\s|/\s?)(?:year|annum|jahr)))"
    r"(?!\w)",
    re.IGNORECASE,
)
_CODES = re.compile(CODE)
LETTERS = BEFORE_CURRENCY | BEHIND_CURRENCY | {"mn": 1e6, "bn": 1e9}
"""Scales only beside a currency, in any case: "€m", "TEUR", "USDbn"."""


class Unit(NamedTuple):
    """A unit: the ISO 4217 code of its currency, if any, its scale, and its name: "%", "employees", "per share"."""

    currency: str | None = None
    scale: float = 1.0
    name: str = ""

    @property
    def text(self) -> str | None:
        """The normalised text: "million USD", "%", None for a plain number."""
        scale = "" if self.scale == 1 else SCALE_NAMES.get(self.scale, f"{self.scale:g}")
        return " ".join(filter(None, (scale, self.currency, self.name))) or None

    @property
    def is_share(self) -> bool:
        """Whether it is a percentage, a fraction, or in points."""
        return self.name in SHARES or self.name == FRACTION

    @property
    def is_per(self) -> bool:
        """Whether it is an amount per something."""
        return self.name.startswith("per ")

    @property
    def is_measure(self) -> bool:
        """Whether its name is that of a measure or share, not of what is counted, which has many names."""
        return _canonical(self.name) is not None


@functools.lru_cache(maxsize=4096)
def parse_unit(text: str, *, dollar: str = "USD") -> Unit:
    """Parse a unit in any spelling: "million USD", "$m", "EUR in thousands", "Tsd. €", "TEUR", "%", "sq ft".

    `dollar` is what a dollar without country means. What is neither a currency nor a scale is the name.
    """
    plain = " ".join(re.sub(r"[()\[\]]", " ", text[: 2 * MAX_UNIT_CHARS]).split()).strip(" ,;:")[:MAX_UNIT_CHARS]
    if name := _canonical(plain.rstrip(".")):
        return Unit(name=name)
    per = _PER.search(plain)
    main, behind = (plain[: per.start()], plain[per.end() :]) if per else (plain, "")
    behind = f"per {_canonical(behind) or behind}" if behind else ""
    code, main, letters = _without_currency(main, dollar)
    scale = 1.0
    names: list[str] = [letters] if letters and code is None else []
    if code and letters:
        scale = LETTERS[letters.casefold()]
    for token in main.split():
        word = token.strip(".,").casefold()
        if not names and _THREE_ZEROS.fullmatch(word):
            scale *= 1e3
        elif not names and (word in SCALE_WORDS or (code and word in LETTERS)):
            scale *= SCALE_WORDS.get(word) or LETTERS[word]
        elif names or word not in _CONNECTORS:
            names.append(token.strip(",;"))
    name = " ".join(filter(None, (*names, behind)))
    if code and len(periods := per_periods(name)) == 1 and not PER_PERIOD.sub("", name).strip(" .,"):
        name = periods.pop()
    return Unit(code, scale, _canonical(name) or name)


def per_periods(text: str) -> set[str]:
    """Return the periods that a text says something is per, as names of units: {"per month"} of "the monthly rent"."""
    return {f"per {match.lastgroup}" for match in PER_PERIOD.finditer(text)}


def _without_currency(text: str, dollar: str) -> tuple[str | None, str, str]:
    """Return the code of the currency that `text` names, the text without it, and the letters of scale beside it."""
    for token in text.split():
        for letters, rest in _split_letters(token.strip(".,")):
            if _CURRENCY.fullmatch(rest) and (letters or not rest.isalpha() or rest.isupper()):
                return _iso(rest, dollar), text.replace(token, " ", 1), letters
    if found := _CURRENCY.search(text):
        return _iso(found[0], dollar), f"{text[: found.start()]} {text[found.end() :]}", ""
    for token in text.split():
        code = token.strip(".,")
        is_code = code.isascii() and len(code) == 3 and code.isalpha()
        if is_code and (_CODES.fullmatch(code.upper()) or (code.isupper() and is_currency(code))):
            upper = code.upper()
            iso = _iso(upper, dollar) if _CODES.fullmatch(upper) else upper
            return iso, text.replace(token, " ", 1), ""
    return None, text, ""


def _split_letters(token: str) -> list[tuple[str, str]]:
    """Return the ways to read a token as a currency with letters of scale before or behind it."""
    ways = [("", token)]
    for count in (1, 2):
        ways += [(token[:count], token[count:])] if token[:count].casefold() in LETTERS else []
        ways += [(token[-count:], token[:-count])] if token[-count:].casefold() in LETTERS else []
    return ways


def _iso(spelling: str, dollar: str) -> str:
    name = named_currency(spelling)
    return dollar if name == "$" else iso_code(name)


def _canonical(name: str) -> str | None:
    """Return the canonical name of a share or measure, None for other names."""
    if name.casefold() in _FRACTIONS:
        return FRACTION
    figure = f"1{name}"
    share = share_behind(figure, 1)
    if share and (share.end == len(figure) or figure[share.end] == " "):  # "% of revenue"
        return share.name
    measure = measure_behind(figure, 1)
    return measure.name if measure and measure.end == len(figure) else None
