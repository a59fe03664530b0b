"""Recognise units of figures: percentages, points, multiples, currencies and measures."""

import re
from typing import NamedTuple

PERCENT, POINTS, BASIS_POINTS, TIMES = "%", "percentage points", "basis points", "times"
SHARES = frozenset({PERCENT, POINTS, BASIS_POINTS})

_DOLLAR = "$"
"""A dollar without country: the table's dollar, else the US dollar."""


class _Currency(NamedTuple):
    """Patterns for a currency's sign, code and name."""

    signs: str = ""
    codes: str = ""
    names: str = ""


_CURRENCIES = {
    "US$": _Currency(r"(?:US|U\.S\.)\s?\$", "USD", r"(?:US|U\.S\.|American)\s+dollars?"),
    "C$": _Currency(r"(?:C\$|(?:CA|CDN|Cdn)\s?\$)", "CAD", r"Canadian\s+dollars?"),
    "A$": _Currency(r"(?:A\$|AU\s?\$)", "AUD", r"Australian\s+dollars?"),
    "HK$": _Currency(r"HK\s?\$", "HKD", r"Hong\s+Kong\s+dollars?"),
    "NZ$": _Currency(r"NZ\s?\$", "NZD", r"New\s+Zealand\s+dollars?"),
    "S$": _Currency(r"(?:S\$|SG\s?\$)", "SGD", r"Singapore\s+dollars?"),
    "NT$": _Currency(r"NT\s?\$", "TWD", r"(?:New\s+)?Taiwan\s+dollars?"),
    "R$": _Currency(r"R\$", "BRL", r"Brazilian\s+reais|Brazilian\s+real"),
    "MX$": _Currency(r"MX\s?\$", "MXN", r"Mexican\s+pesos?"),
    "€": _Currency("€", "EUR", r"euros?"),
    "£": _Currency("£", "GBP", r"pounds?\s+sterling|British\s+pounds?"),
    "¥": _Currency("¥", "JPY", r"(?:Japanese\s+)?yen"),
    "CNY": _Currency("", "CNY|RMB", r"(?:Chinese\s+)?yuan|renminbi"),
    "₹": _Currency(r"Rs\.?(?!\w)|₹", "INR", r"(?:Indian\s+)?rupees?"),
    "₩": _Currency("₩", "KRW", r"(?:South\s+)?Korean\s+won"),
    "CHF": _Currency("", "CHF", r"Swiss\s+francs?"),
    "SEK": _Currency("", "SEK", r"Swedish\s+kron(?:or|a)"),
    "NOK": _Currency("", "NOK", r"Norwegian\s+kroner?"),
    "DKK": _Currency("", "DKK", r"Danish\s+kroner?"),
    "PLN": _Currency("", "PLN", r"zloty|złoty"),
    "ZAR": _Currency("", "ZAR", r"South\s+African\s+rand"),
    _DOLLAR: _Currency(r"\$", "", r"dollars?"),
}
_NOT_BEHIND_LETTER, _NOT_BEFORE_LETTER = r"(?<![^\W\d_])", r"(?![^\W\d_])"


def _pattern(currency: _Currency) -> str:
    words = rf"{_NOT_BEHIND_LETTER}(?:{currency.codes or '(?!)'}|(?i:{currency.names})){_NOT_BEFORE_LETTER}"
    if not currency.signs:
        return words
    begins_with_letter = re.match(r"[(\w]", currency.signs) is not None
    return f"{_NOT_BEHIND_LETTER if begins_with_letter else ''}(?:{currency.signs})|{words}"


CURRENCY = "|".join(map(_pattern, _CURRENCIES.values()))
"""A pattern for any currency, without groups."""
CODE = "|".join(currency.codes for currency in _CURRENCIES.values() if currency.codes)
_EACH = {name: re.compile(_pattern(currency)) for name, currency in _CURRENCIES.items()}


_SHARE_BEHIND = {
    POINTS: r"(?:percentage|%)[\s-]?(?:age\s)?points?\b|pp\b|p\.p\.|ppts?\b|prozentpunkte?n?\b|"
    r"points? de pourcentage\b|puntos? porcentuales\b",
    BASIS_POINTS: r"basis[\s-]points?\b|bps?\b|basispunkte?n?\b|points? de base\b|puntos? básicos\b",
    PERCENT: r"[%％]|percent\b|per cent\b|prozent\b|pour cent\b|por ciento\b",
    TIMES: r"times\b|(?<=\d)[x×](?!\w|\s?\d)",
}
_BEHIND = re.compile(
    r"\)?[\s-]{0,4}(?:"
    + "|".join(f"(?P<{name.split()[0].replace('%', 'percent')}>{words})" for name, words in _SHARE_BEHIND.items())
    + ")",
    re.IGNORECASE,
)
_BY_GROUP = {"percent": PERCENT, "percentage": POINTS, "basis": BASIS_POINTS, "times": TIMES}
_MONEY_BEFORE = re.compile(rf"({CURRENCY})\.?\s?[(\[]?\s?[-–−]?$")
_MONEY_BEHIND = re.compile(rf"[)\]]?\s?({CURRENCY})(?!\s?\d)")
_SIGN_BEFORE = re.compile(r"([$€£¥₹₩])[\s(]?$")
_SIGN_BEHIND = re.compile(r"\s?([$€£¥₹₩])(?!\s?\w)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_REACH = 24
"""Characters before a figure that are searched for its currency."""


class Measure(NamedTuple):
    """A measure or share behind a figure: its canonical name, and where it ends."""

    name: str
    end: int


def share_behind(text: str, end: int) -> Measure | None:
    """Return the percentage, points or multiple that a figure which ends at `end` is in."""
    match = _BEHIND.match(text, end)
    return Measure(_BY_GROUP[match.lastgroup or ""], match.end()) if match else None


def unit_at(text: str, start: int, end: int) -> str | None:
    """Return the canonical unit of the figure at `start` to `end`.

    A year only takes an adjacent sign: "2023 EUR" names a column.
    """
    if share := share_behind(text, end):
        return share.name
    is_year = _YEAR.fullmatch(text, start, end) is not None
    before, behind = (_SIGN_BEFORE, _SIGN_BEHIND) if is_year else (_MONEY_BEFORE, _MONEY_BEHIND)
    money = before.search(text, max(0, start - _REACH), start) or behind.match(text, end)
    return named_currency(money[1]) if money else None


def iso_code(currency: str) -> str:
    """Return the ISO 4217 code of a canonical currency; a dollar without country is the US dollar."""
    return _CURRENCIES[currency].codes.split("|")[0] or iso_code("US$")


DOLLARS = frozenset(iso_code(name) for name in _CURRENCIES if name.endswith("$"))
"""The ISO 4217 codes of currencies that a bare dollar sign may mean."""


def is_same_unit(claimed: str | None, given: str | None, declared: str | None = None) -> bool:
    """Return whether both units can be the same; an unknown unit can be any, bare money is in the declared currency."""
    if given is None and claimed in _CURRENCIES:
        given = declared
    return None in (claimed, given) or _resolved(claimed, declared) == _resolved(given, declared)


def _resolved(unit: str | None, declared: str | None) -> str | None:
    """Return the country's dollar that a bare dollar sign means."""
    if unit != _DOLLAR:
        return unit
    return declared if declared and declared.endswith("$") and declared != _DOLLAR else "US$"


def currencies(text: str) -> frozenset[str]:
    """Return the canonical currencies that `text` names."""
    return frozenset(map(named_currency, re.findall(CURRENCY, text)))


def named_currency(spelling: str) -> str:
    """Return the canonical currency of a sign, code or name that `CURRENCY` matches."""
    return next(name for name, pattern in _EACH.items() if pattern.fullmatch(spelling))


_MEASURES = {
    "second": r"s|secs?|seconds?",
    "millisecond": r"ms|milliseconds?",
    "minute": r"mins?|minutes?",
    "hour": r"h|hrs?|hours?",
    "day": r"days?",
    "week": r"weeks?",
    "month": r"months?",
    "quarter": r"quarters?",
    "year": r"years?|yrs?",
    "mm": r"mm|millimet(?:re|er)s?",
    "cm": r"cm|centimet(?:re|er)s?",
    "m": r"m|met(?:re|er)s?",
    "km": r"km|kilomet(?:re|er)s?",
    "inch": r"inch(?:es)?",
    "foot": r"ft|foot|feet",
    "mile": r"miles?",
    "m²": r"m²|sqm|qm|square met(?:re|er)s?",
    "km²": r"km²|square kilomet(?:re|er)s?",
    "square foot": r"square f(?:oo|ee)t|sq\.?\s?ft|ft²",
    "square mile": r"square miles?",
    "hectare": r"ha|hectares?",
    "acre": r"acres?",
    "mg": r"mg|milligram(?:me)?s?",
    "g": r"g|gram(?:me)?s?",
    "kg": r"kg|kilogram(?:me)?s?|kilos?",
    "tonne": r"t|tonnes?|metric tons?",
    "ton": r"tons?",
    "pound": r"lbs?|pounds?",
    "ounce": r"oz|ounces?",
    "litre": r"l|lit(?:re|er)s?",
    "gallon": r"gallons?",
    "barrel": r"barrels?|bbls?",
    "kW": r"kW|kilowatts?",
    "MW": r"MW|megawatts?",
    "GW": r"GW|gigawatts?",
    "kWh": r"kWh|kilowatt[- ]hours?",
    "MWh": r"MWh|megawatt[- ]hours?",
    "GWh": r"GWh|gigawatt[- ]hours?",
}
_MEASURE_BEHIND = re.compile(
    r"[\s-]?(?:"
    + "|".join(f"(?P<m{number}>{words})" for number, words in enumerate(_MEASURES.values()))
    + r")(?![\w²])"
)


def measure_behind(text: str, end: int) -> Measure | None:
    """Return the measure behind a figure that ends at `end`: km for "11 kilometres"."""
    match = _MEASURE_BEHIND.match(text, end)
    return Measure([*_MEASURES][int((match.lastgroup or "m0")[1:])], match.end()) if match else None
