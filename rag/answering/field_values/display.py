"""Write typed values as people read them."""

import datetime as dt
import re

from babel.dates import format_date
from babel.numbers import format_decimal
from babel.units import format_unit

from rag.answering.field_values.units import parse_unit
from rag.types import FieldType

_DAY = {"en": "d MMMM y", "de": "d. MMMM y"}
_SCALES = {"de": {"thousand": "Tsd.", "million": "Mio.", "billion": "Mrd.", "trillion": "Bio."}}
_YES_NO = {"en": ("Yes", "No"), "de": ("Ja", "Nein")}
_COUNTED = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})
"""Units that are spelled with the number they have: "3 years"."""
_LENGTH = {"Y": "year", "M": "month", "W": "week", "D": "day", "H": "hour"}


def shown(value: str | float | bool | None, unit: str | None, kind: FieldType, language: str = "en") -> str:
    """Return a value with its unit in a language of the pages: "1,234.5 million USD", "31. Dezember 2023", "Ja"."""
    language = language if language in _DAY else "en"
    match value:
        case None:
            return ""
        case bool():
            return _YES_NO[language][not value]
        case int() | float():
            return _number(value, unit, language)
    if kind == "date":
        return _date(value, language)
    if kind == "period":
        return _period(value, unit, language)
    return value


def _number(value: float, unit: str | None, language: str) -> str:
    if unit is not None and parse_unit(unit).name in _COUNTED and parse_unit(unit).scale == 1:
        return format_unit(value, f"duration-{parse_unit(unit).name}", locale=language)
    written = format_decimal(value, "#,##0.#", locale=language, decimal_quantization=False)
    if unit is None:
        return written
    if unit == "%" and language == "en":
        return f"{written}%"
    scales = _SCALES.get(language, {})
    return f"{written} {' '.join(scales.get(word, word) for word in unit.split())}"


def _date(iso: str, language: str) -> str:
    parts = iso.split("-")
    pattern = {1: "y", 2: "MMMM y"}.get(len(parts), _DAY[language])
    try:
        day = dt.date(*map(int, [*parts, "1", "1"][:3]))
    except (TypeError, ValueError):
        return iso
    return format_date(day, pattern, locale=language)


def _period(iso: str, unit: str | None, language: str) -> str:
    if iso.startswith("P"):
        lengths = re.findall(r"(?<![\d.])([\d.]++)([YMWDH])", iso)
        if unit and len(lengths) == 1:
            return f"{format_decimal(float(lengths[0][0]), locale=language)} {unit}"
        return " ".join(format_unit(float(n), f"duration-{_LENGTH[letter]}", locale=language) for n, letter in lengths)
    if "/" in iso:
        first, last = iso.split("/")
        return first if first == last else f"{_date(first, language)} – {_date(last, language)}"
    if match := re.fullmatch(r"(\d{4})-([QH]\d)", iso):
        return f"{match[2]} {match[1]}"
    return _date(iso, language)
