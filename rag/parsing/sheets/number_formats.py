"""Format cell values by Excel number formats (ECMA-376, 18.8.30/31), with decimal points and thousands commas.

Locale-dependent short dates are written as 2023-12-31. Formats that are not supported (fractions, literals between
digits) show the plain number.
"""

import datetime as dt
import functools
import math
import operator
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

from xlrd.formatting import std_format_strings

GENERAL = "General"
MAX_PLAIN = 1e15
"""The format General writes larger numbers with an exponent."""
SHORT_DATE = "mm-dd-yy"
"""How files write the locale-dependent date format (number 14)."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|(?P<space>_.|\*.)|\[\$(?P<currency>[^\]-]{0,255}+)[^\]]{0,255}\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<condition>[<>=]+\s*-?\d+(?:\.\d+)?)\]|(?P<bracket>\[[^\]]{0,255}\])"
    r"|(?P<exponent>e[+-]0+)|(?P<general>general)|(?P<noon>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<digits>[0#?]|[.,])|(?P<percent>%)|(?P<text>@)|(?P<section>;)|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = frozenset({"quoted", "escaped", "currency"})
_IGNORED = frozenset({"space", "bracket"})
"""Spacing, colours and unknown modifiers."""
_EXACT = Context(prec=400)
"""Precision for all digits of any number that a cell can have."""
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
DAY_ZERO = dt.datetime(1899, 12, 31)  # noqa: DTZ001  # cells have no time zones
LEAP_DAY = 60
"""The serial number of 29 February 1900, which spreadsheets believe in."""
MAX_DAYS = 2_958_465
"""The serial number of 31 December 9999, where calendars end."""
DAYS_TO_1904 = 1462
"""The serial number of 1 January 1904, from which workbooks of old Macs count."""
BUILTIN = std_format_strings | {14: SHORT_DATE}
"""The formats that files name by number only (ECMA-376, 18.8.30)."""


class _UnsupportedFormatError(Exception):
    """The format has something else between its digits."""


class _Part(NamedTuple):
    """A token of a format: its kind and its characters."""

    kind: str
    text: str


class _Section(NamedTuple):
    """One of the up to four formats separated by semicolons: its tokens, and the condition if it has one."""

    parts: tuple[_Part, ...]
    condition: str = ""

    def has(self, *kinds: str) -> bool:
        return any(part.kind in kinds for part in self.parts)

    def applies_to(self, value: float) -> bool:
        sign, limit = re.findall(r"[<>=]+|[^<>=]+", self.condition)
        return sign in _COMPARE and _COMPARE[sign](value, float(limit))


def formatted(value: str | float, number_format: str = GENERAL, *, is_1904: bool = False) -> str:
    """Format a number, text or boolean as a spreadsheet displays it; dates and times are numbers of days.

    They are counted from 1900, or from 1904.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        section = _sections(number_format)[-1]
        return (
            "".join(value if part.kind == "text" else part.text for part in section.parts if section.has("text"))
            or value
        )
    if not math.isfinite(value):
        return "#NUM!"
    section, is_signed = _chosen(_sections(number_format), value)
    if section.has("elapsed"):
        return _elapsed(value, section) if abs(value) <= MAX_DAYS else _general(value)
    if section.has("date"):
        serial = value + DAYS_TO_1904 if is_1904 else value
        is_short = number_format.lower() == SHORT_DATE
        return _date(serial, section, is_short=is_short) if value >= 0 and serial <= MAX_DAYS else _general(value)
    if section.has("general") or not section.has("digits"):
        body = _general(value if is_signed else abs(value))
        whole = "".join(body if part.kind == "general" else part.text for part in section.parts if part.kind != "text")
        return whole.strip() or (_general(value) if section.has("text") else "")
    try:
        body = _filled(section.parts, abs(Decimal(repr(value))))
    except (ArithmeticError, _UnsupportedFormatError):  # hundreds of digits, fractions
        return _general(value)
    return f"-{body}" if is_signed and value < 0 and re.search("[1-9]", body) else body


@functools.lru_cache(maxsize=4096)
def _sections(number_format: str) -> tuple[_Section, ...]:
    sections = [_Section(())]
    for match in _TOKEN.finditer(number_format):
        kind, text = match.lastgroup or "literal", match.group(match.lastgroup or 0)
        if kind == "section":
            sections.append(_Section(()))
        elif kind == "condition":
            sections[-1] = sections[-1]._replace(condition=text)
        elif kind not in _IGNORED:
            part = _Part("literal" if kind in _LITERALS else kind, text)
            sections[-1] = sections[-1]._replace(parts=(*sections[-1].parts, part))
    return tuple(sections)


# --- numbers ---------------------------------------------------------------------------------------------------


def _chosen(sections: Sequence[_Section], value: float) -> tuple[_Section, bool]:
    """Return the section for a number, and whether to add a minus sign, which a section for negatives has itself."""
    conditional = [section for section in sections if section.condition]
    if conditional:
        fitting = [section for section in conditional if section.applies_to(value)]
        return (*fitting, *(section for section in sections if not section.condition), *conditional)[0], True
    if value < 0 and len(sections) > 1:
        return sections[1], False
    return (sections[2] if value == 0 and len(sections) > 2 else sections[0]), True


def _general(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < MAX_PLAIN else f"{value:.10G}"


def _filled(parts: Sequence[_Part], value: Decimal) -> str:
    value = value.scaleb(2 * sum(part.kind == "percent" for part in parts), _EXACT)
    places = [index for index, part in enumerate(parts) if part.kind == "digits"]
    pattern = parts[places[0] : places[-1] + 1]
    if any(part.kind != "digits" for part in pattern):
        raise _UnsupportedFormatError
    before = "".join(part.text for part in parts[: places[0]] if part.kind != "text")
    after = "".join(part.text for part in parts[places[-1] + 1 :] if part.kind not in ("exponent", "text"))
    digits = "".join(part.text for part in pattern)
    exponent = next((part.text for part in parts if part.kind == "exponent"), None)
    body = _scientific(digits, exponent, value) if exponent else _decimal(digits, value)
    return f"{before}{body}{after}".strip()


def _decimal(digits: str, value: Decimal) -> str:
    scale = len(digits) - len(digits.rstrip(","))  # each comma at the end divides by a thousand
    whole, point, decimals = digits.rstrip(",").partition(".")
    decimals = re.sub("[.,]", "", decimals)
    value = value.scaleb(-3 * scale, _EXACT).quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, _EXACT)
    integer, _, rest = f"{value:f}".partition(".")
    integer = ("" if integer == "0" else integer).zfill(whole.count("0"))
    if "," in whole:
        first = len(integer) % 3
        groups = [integer[:first], *(integer[place : place + 3] for place in range(first, len(integer), 3))]
        integer = ",".join(group for group in groups if group)
    required = len(decimals.rstrip("#?"))
    return integer + (point + rest[:required] + rest[required:].rstrip("0") if point else "")


def _scientific(digits: str, exponent: str, value: Decimal) -> str:
    decimals = digits.partition(".")[2]
    mantissa, _, power = f"{value:.{len(decimals)}E}".partition("E")
    sign = "-" if int(power) < 0 else "+" if exponent[1] == "+" else ""
    return f"{mantissa}E{sign}{abs(int(power)):0{len(exponent) - 2}d}"


# --- dates and times -------------------------------------------------------------------------------------------


def _date(serial: float, section: _Section, *, is_short: bool) -> str:
    # Times without a date are on the first day.
    days = serial + 1 if serial < 1 else serial - (serial >= LEAP_DAY)
    moment = DAY_ZERO + dt.timedelta(milliseconds=round(days * 86_400_000))
    if not any("." in part.text for part in section.parts):
        moment = (moment + dt.timedelta(milliseconds=500)).replace(microsecond=0)
    if is_short:
        return str(moment.time() if serial < 1 else moment).removesuffix(" 00:00:00")
    letters = [part.text[0].lower() if part.kind == "date" else "" for part in section.parts]
    written = ""
    for index, part in enumerate(section.parts):
        before = next(filter(None, reversed(letters[:index])), "")
        after = next(filter(None, letters[index + 1 :]), "")
        size = len(part.text)
        whole, point, decimals = part.text.partition(".")
        match letters[index]:
            case "y":
                written += f"{moment.year:04d}" if size > 2 else f"{moment:%y}"
            case "m" if before == "h" or after == "s":  # minutes
                written += _padded(moment.minute, size)
            case "m":
                written += _named(f"{moment:%B}", moment.month, size)
            case "d":
                written += _named(f"{moment:%A}", moment.day, size)
            case "h":
                written += _padded((moment.hour % 12 or 12) if section.has("noon") else moment.hour, size)
            case "s":
                written += _padded(moment.second, len(whole)) + point + f"{moment:%f}"[: len(decimals)]
            case _:
                written += f"{moment:%p}"[: 1 if size == 3 else 2] if part.kind == "noon" else part.text
    return written.strip()


def _padded(number: int, size: int) -> str:
    return f"{number:02d}" if size > 1 else str(number)


def _named(name: str, number: int, size: int) -> str:
    if size == 5:
        return name[0]
    return name if size > 3 else name[:3] if size == 3 else _padded(number, size)


def _elapsed(days: float, section: _Section) -> str:
    """Format a duration, whose hours may exceed 24."""
    total = abs(round(days * 86_400))
    whole = {"h": total // 3600, "m": total // 60, "s": total}
    rest = {"h": total // 3600, "m": total // 60 % 60, "s": total % 60}
    return "-" * (days < 0 < total) + "".join(
        _padded((whole if part.kind == "elapsed" else rest)[part.text[0].lower()], len(part.text))
        if part.kind in ("elapsed", "date") and part.text[0].lower() in whole
        else part.text
        for part in section.parts
    )
