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
_DAY_ZERO = dt.datetime(1899, 12, 31)  # noqa: DTZ001  # cells have no time zones


_LEAP_DAY = 60
"""The serial number of 29 February 1900, which spreadsheets believe in."""
BUILTIN = {
    **dict(enumerate(("General", "0", "0.00", "#,##0", "#,##0.00"))),
    **dict(enumerate(('"$"#,##0_);("$"#,##0)', '"$"#,##0_);[Red]("$"#,##0)'), start=5)),
    **dict(enumerate(('"$"#,##0.00_);("$"#,##0.00)', '"$"#,##0.00_);[Red]("$"#,##0.00)'), start=7)),
    **dict(
        enumerate(("0%", "0.00%", "0.00E+00", "# ?/?", "# ??/??", SHORT_DATE, "d-mmm-yy", "d-mmm", "mmm-yy"), start=9)
    ),
    **dict(enumerate(("h:mm AM/PM", "h:mm:ss AM/PM", "h:mm", "h:mm:ss", "m/d/yy h:mm"), start=18)),
    **dict(enumerate(("#,##0_);(#,##0)", "#,##0_);[Red](#,##0)", "#,##0.00_);(#,##0.00)"), start=37)),
    **dict(enumerate(("#,##0.00_);[Red](#,##0.00)", "#,##0_);(#,##0)", '"$"#,##0_);("$"#,##0)'), start=40)),
    **dict(enumerate(("#,##0.00_);(#,##0.00)", '"$"#,##0.00_);("$"#,##0.00)'), start=43)),
    **dict(enumerate(("mm:ss", "[h]:mm:ss", "mm:ss.0", "##0.0E+0", "@"), start=45)),
}
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


def formatted(value: object, number_format: str = GENERAL) -> str:
    """Format a number, text, date, time or boolean as a spreadsheet displays it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (dt.datetime, dt.date, dt.time, dt.timedelta)):
        return _moment(value, number_format)
    if isinstance(value, int | float):
        return _number(value, number_format)
    section = _sections(number_format)[-1]
    if not section.has("text"):
        return str(value)
    return "".join(str(value) if part.kind == "text" else part.text for part in section.parts)


def from_serial(
    value: float, number_format: str, *, is_1904: bool = False
) -> float | dt.datetime | dt.time | dt.timedelta:
    """Return the moment or duration that a number means in a format, the number itself if the format is for numbers."""
    section = _chosen(_sections(number_format), value)[0] if math.isfinite(value) else _Section(())
    try:
        if section.has("elapsed"):
            return dt.timedelta(days=value)
        if not section.has("date") or value < 0:
            return value
        if is_1904:
            return dt.datetime(1904, 1, 1) + _days(value)  # noqa: DTZ001
        moment = _DAY_ZERO + _days(value if value < _LEAP_DAY else value - 1)
        return moment if value >= 1 else moment.time()
    except OverflowError:
        return value


def _days(value: float) -> dt.timedelta:
    return dt.timedelta(milliseconds=round(value * 86_400_000))


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


def _number(value: float, number_format: str) -> str:
    if not math.isfinite(value):
        return "#NUM!"
    section, is_signed = _chosen(_sections(number_format), value)
    if section.has("date", "elapsed"):
        return _general(value)  # a date outside the calendar
    if section.has("general") or not section.has("digits"):
        body = _general(value if is_signed else abs(value))
        whole = "".join(body if part.kind == "general" else part.text for part in section.parts if part.kind != "text")
        return whole.strip() or (_general(value) if section.has("text") else "")
    try:
        body = _filled(section.parts, abs(Decimal(repr(value))))
    except (ArithmeticError, _UnsupportedFormatError):  # hundreds of digits, fractions
        return _general(value)
    return f"-{body}" if is_signed and value < 0 and re.search("[1-9]", body) else body


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
    """Put the digits of a non-negative `value` into a format."""
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


def _moment(value: dt.datetime | dt.date | dt.time | dt.timedelta, number_format: str) -> str:
    section = _sections(number_format)[0]
    if isinstance(value, dt.timedelta) or section.has("elapsed"):
        return _elapsed(value, section)
    if isinstance(value, dt.datetime | dt.time) and not any("." in part.text for part in section.parts):
        value = _whole_seconds(value)
    if number_format.lower() == SHORT_DATE or not section.has("date"):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1900, 1, 1), value)
    elif not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    parts, has_noon = section.parts, section.has("noon")
    return "".join(
        _date_part(part, value, _is_minutes(parts, index), has_noon) for index, part in enumerate(parts)
    ).strip()


def _whole_seconds(value: dt.datetime | dt.time) -> dt.datetime | dt.time:
    moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(dt.date(1900, 1, 1), value)
    moment = (moment + dt.timedelta(milliseconds=500)).replace(microsecond=0)
    return moment if isinstance(value, dt.datetime) else moment.time()


def _is_minutes(parts: Sequence[_Part], index: int) -> bool:
    """Return whether an m means minutes, which follow hours or precede seconds."""
    before = [part.text[0].lower() for part in parts[:index] if part.kind in ("date", "elapsed")]
    after = [part.text[0].lower() for part in parts[index + 1 :] if part.kind in ("date", "elapsed")]
    return before[-1:] == ["h"] or after[:1] == ["s"]


def _date_part(part: _Part, value: dt.datetime, is_minutes: bool, has_noon: bool) -> str:
    if part.kind == "noon":
        return f"{value:%p}"[: 1 if len(part.text) == 3 else 2]
    if part.kind != "date":
        return part.text
    size = len(part.text)
    whole, point, decimals = part.text.partition(".")
    written = {
        "y": f"{value.year:04d}" if size > 2 else f"{value:%y}",
        "m": _padded(value.minute, size) if is_minutes else _named(f"{value:%B}", value.month, size),
        "d": _named(f"{value:%A}", value.day, size),
        "h": _padded((value.hour % 12 or 12) if has_noon else value.hour, size),
        "s": _padded(value.second, len(whole)) + point + f"{value:%f}"[: len(decimals)],
    }
    return written[part.text[0].lower()]


def _padded(number: int, size: int) -> str:
    return f"{number:02d}" if size > 1 else str(number)


def _named(name: str, number: int, size: int) -> str:
    if size == 5:
        return name[0]
    return name if size > 3 else name[:3] if size == 3 else _padded(number, size)


def _elapsed(value: dt.datetime | dt.date | dt.time | dt.timedelta, section: _Section) -> str:
    """Format a duration, whose hours may exceed 24."""
    total = _total_seconds(value)
    sign, total = ("-", -total) if total < 0 else ("", total)
    whole = {"h": total // 3600, "m": total // 60, "s": total}
    rest = {"h": total // 3600, "m": total // 60 % 60, "s": total % 60}
    if not section.has("elapsed"):
        return f"{sign}{rest['h']}:{rest['m']:02d}:{rest['s']:02d}"
    return sign + "".join(
        _padded((whole if part.kind == "elapsed" else rest)[part.text[0].lower()], len(part.text))
        if part.kind in ("elapsed", "date") and part.text[0].lower() in whole
        else part.text
        for part in section.parts
    )


def _total_seconds(value: dt.datetime | dt.date | dt.time | dt.timedelta) -> int:
    if isinstance(value, dt.timedelta):
        return round(value.total_seconds())
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second
    moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
    return round((moment.replace(tzinfo=None) - _DAY_ZERO).total_seconds())
