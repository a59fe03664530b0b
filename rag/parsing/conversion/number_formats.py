"""A cell's value as its number format shows it (ECMA-376, 18.8.30/31), with a decimal point and commas of thousands.

What depends on the reader's locale is shown in one way: the format that means “short date here” as 2023-12-31.
"""

import datetime as dt
import functools
import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

GENERAL = "General"
GENERAL_DIGITS = 10
"""Significant digits of a number with decimals whose format is General."""
MAX_PLAIN = 1e15
"""Larger numbers of the format General have an exponent."""
SHORT_DATE = "mm-dd-yy"
"""How the format that follows the locale (number 14) is written in files."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|(?P<space>_.)|(?P<fill>\*.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<exponent>[eE][+-]0+)|(?P<general>[gG]eneral)|(?P<noon>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<digits>[0#?]|[.,])|(?P<percent>%)|(?P<text>@)|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_CURRENCY = re.compile(r"\$([^-]*)(?:-.*)?")
_ELAPSED = re.compile(r"(h+|m+|s+)", re.IGNORECASE)
_EXACT = Context(prec=400)
"""Enough for all digits of any number that a cell can have."""
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, limit: value < limit,
    ">": lambda value, limit: value > limit,
    "<=": lambda value, limit: value <= limit,
    ">=": lambda value, limit: value >= limit,
    "=": lambda value, limit: value == limit,
    "<>": lambda value, limit: value != limit,
}
_DAY_ZERO = dt.date(1899, 12, 31)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class _Part(NamedTuple):
    """A part of a format: what kind it is, and its characters."""

    kind: str
    text: str


class _Section(NamedTuple):
    """One of the up to four formats that semicolons part: its parts, and the condition that it is for."""

    parts: tuple[_Part, ...]
    condition: tuple[str, float] | None
    kinds: frozenset[str]

    def has(self, kind: str) -> bool:
        return kind in self.kinds


def shown(value: object, number_format: str = GENERAL) -> str:
    """`value` (a number, text, date, time or truth) as a spreadsheet shows it; text stays as it is."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (dt.datetime, dt.date, dt.time, dt.timedelta)):
        return _moment(value, number_format)
    if isinstance(value, int | float):
        return _number(value, number_format)
    return _text(str(value), number_format)


@functools.lru_cache(maxsize=4096)
def _sections(number_format: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    parts: list[_Part] = []
    condition: tuple[str, float] | None = None
    for match in _TOKEN.finditer(number_format):
        kind, text = match.lastgroup or "literal", match.group(match.lastgroup or 0)
        if kind == "literal" and text == ";":
            sections.append(_section(parts, condition))
            parts, condition = [], None
        elif kind == "bracket" and (found := _CONDITION.fullmatch(text)):
            condition = (found[1], float(found[2]))
        else:
            parts += _part(kind, text)
    return (*sections, _section(parts, condition))


def _section(parts: Sequence[_Part], condition: tuple[str, float] | None) -> _Section:
    return _Section(tuple(parts), condition, frozenset(part.kind for part in parts))


def _part(kind: str, text: str) -> list[_Part]:
    """A token's part; none of one that only moves or colours what is shown."""
    if kind in ("space", "fill"):
        return []
    if kind == "bracket":
        if currency := _CURRENCY.fullmatch(text):
            return [_Part("literal", currency[1])] if currency[1] else []
        return [_Part("elapsed", text.lower())] if _ELAPSED.fullmatch(text) else []
    if kind in ("quoted", "escaped", "literal"):
        return [_Part("literal", text)]
    return [_Part(kind, text)]


def _text(value: str, number_format: str) -> str:
    """Text; a format with an @ may put words around it."""
    section = _sections(number_format)[-1]
    if not section.has("text"):
        return value
    return "".join(value if part.kind == "text" else part.text for part in section.parts)


# --- numbers ---------------------------------------------------------------------------------------------------


def _number(value: float, number_format: str) -> str:
    if not math.isfinite(value):
        return "#NUM!"
    try:
        return _formatted(value, number_format)
    except ArithmeticError:  # a format of hundreds of digits
        return _general(value)


def _formatted(value: float, number_format: str) -> str:
    section, is_signed = _chosen(_sections(number_format), float(value))
    if section.has("date") or section.has("elapsed"):
        return _general(value)  # a date beyond the calendar
    magnitude = Decimal(repr(value))
    if section.has("general") or not section.has("digits"):
        body = _general(value if is_signed else abs(value)) if section.has("general") else ""
        whole = "".join(body if part.kind == "general" else part.text for part in section.parts if part.kind != "text")
        return whole.strip() or (_general(value) if section.has("text") else "")
    body = _filled(section.parts, abs(magnitude))
    has_digit = any(character in "123456789" for character in body)
    return f"-{body}" if is_signed and magnitude < 0 and has_digit else body


def _chosen(sections: Sequence[_Section], value: float) -> tuple[_Section, bool]:
    """The section for a number, and whether the number's sign is shown: a section for negative ones shows it itself."""
    conditional = [section for section in sections if section.condition]
    if conditional:
        for section in conditional:
            operator, limit = section.condition or ("=", 0.0)
            if _COMPARE[operator](value, limit):
                return section, True
        rest = [section for section in sections if not section.condition]
        return (rest or conditional)[0], True
    if value < 0 and len(sections) > 1:
        return sections[1], False
    return (sections[2] if value == 0 and len(sections) > 2 else sections[0]), True


def _general(value: float) -> str:
    if value == int(value) and abs(value) < MAX_PLAIN:
        return str(int(value))
    plain = f"{value:.{GENERAL_DIGITS}g}"
    mantissa, _, exponent = plain.partition("e")
    if not exponent:
        return plain
    if -GENERAL_DIGITS < int(exponent) < 0:
        return f"{value:.{GENERAL_DIGITS - 1}f}".rstrip("0")
    return f"{mantissa}E{exponent}"


def _filled(parts: Sequence[_Part], value: Decimal) -> str:
    """A format's parts with the digits of `value`, which is not negative, in them."""
    value = value.scaleb(2 * sum(part.kind == "percent" for part in parts), _EXACT)
    places = [index for index, part in enumerate(parts) if part.kind == "digits"]
    first, last = places[0], places[-1]
    before = "".join(part.text for part in parts[:first] if part.kind != "text")
    after = "".join(part.text for part in parts[last + 1 :] if part.kind not in ("exponent", "text"))
    pattern = parts[first : last + 1]
    exponent = next((part.text for part in parts if part.kind == "exponent"), None)
    if exponent:
        body = _scientific(pattern, exponent, value)
    elif any(part.text == "/" for part in pattern):
        body = _fraction(pattern, value)
    else:
        body = _decimal(pattern, value)
    return f"{before}{body}{after}".strip()


def _decimal(pattern: Sequence[_Part], value: Decimal) -> str:
    digits = "".join(part.text for part in pattern if part.kind == "digits")
    scale = len(digits) - len(digits.rstrip(","))
    whole, point, decimals = digits.rstrip(",").partition(".")
    decimals = decimals.replace(".", "").replace(",", "")
    value = value.scaleb(-3 * scale, _EXACT).quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, _EXACT)
    integer, _, rest = f"{value:f}".partition(".")
    shown_rest = _without_optional(rest, decimals)
    return _integer(pattern, whole, integer) + (point + shown_rest if point else "")


def _without_optional(rest: str, decimals: str) -> str:
    """The decimals without the zeros at their end that a # or ? leaves out."""
    needed = len(decimals.rstrip("#?"))
    return rest[:needed] + rest[needed:].rstrip("0")


def _integer(pattern: Sequence[_Part], whole: str, integer: str) -> str:
    least = whole.count("0")
    integer = integer.lstrip("0").zfill(least)
    if "," in whole:
        integer = _grouped(integer)
    end = next((index for index, part in enumerate(pattern) if part.text == "."), len(pattern))
    between = [part for part in pattern[:end] if part.text != ","]
    if all(part.kind == "digits" for part in between):
        return integer
    return _interspersed(between, integer)


def _grouped(integer: str) -> str:
    head = len(integer) % 3
    groups = [integer[:head]] if head else []
    return ",".join([*groups, *(integer[index : index + 3] for index in range(head, len(integer), 3))])


def _interspersed(pattern: Sequence[_Part], integer: str) -> str:
    """Digits with what stands between them in the format: 12-3456."""
    digits = list(integer)
    placed: list[str] = []
    leftmost = next(index for index, part in enumerate(pattern) if part.kind == "digits")
    for index in range(len(pattern) - 1, -1, -1):
        if pattern[index].kind != "digits":
            placed.append(pattern[index].text)
        elif index == leftmost:
            placed.append("".join(digits))
            digits = []
        elif digits:
            placed.append(digits.pop())
    return "".join(reversed(placed))


def _scientific(pattern: Sequence[_Part], exponent: str, value: Decimal) -> str:
    decimals = "".join(part.text for part in pattern if part.kind == "digits").partition(".")[2]
    mantissa, _, power = f"{value:.{len(decimals)}E}".partition("E")
    sign = "-" if int(power) < 0 else "+" if exponent[1] == "+" else ""
    return f"{mantissa}E{sign}{abs(int(power)):0{len(exponent) - 2}d}"


def _fraction(pattern: Sequence[_Part], value: Decimal) -> str:
    """A number as whole and fraction: 1 1/4."""
    slash = next(index for index, part in enumerate(pattern) if part.text == "/")
    size = sum(part.kind == "digits" for part in pattern[slash + 1 :]) or 1
    near = Fraction(value).limit_denominator(10**size - 1)
    whole, rest = divmod(near.numerator, near.denominator)
    if not rest:
        return str(whole)
    return f"{whole} {rest}/{near.denominator}" if whole else f"{rest}/{near.denominator}"


# --- dates and times -------------------------------------------------------------------------------------------


def _moment(value: dt.datetime | dt.date | dt.time | dt.timedelta, number_format: str) -> str:
    parts = _sections(number_format)[0].parts
    if isinstance(value, dt.timedelta) or any(part.kind == "elapsed" for part in parts):
        return _elapsed(value, parts)
    if number_format.lower() == SHORT_DATE or not any(part.kind == "date" for part in parts):
        return _iso(value)
    if isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1900, 1, 1), value)
    elif not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    has_noon = any(part.kind == "noon" for part in parts)
    return "".join(
        _date_part(part, value, _is_minutes(parts, index), has_noon) for index, part in enumerate(parts)
    ).strip()


def _iso(value: dt.datetime | dt.date | dt.time) -> str:
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return value.isoformat(sep=" ") if isinstance(value, dt.datetime) else value.isoformat()


def _is_minutes(parts: Sequence[_Part], index: int) -> bool:
    """Whether an m means minutes: it follows hours or stands before seconds."""
    before = [part.text[0].lower() for part in parts[:index] if part.kind in ("date", "elapsed")]
    after = [part.text[0].lower() for part in parts[index + 1 :] if part.kind in ("date", "elapsed")]
    return before[-1:] == ["h"] or after[:1] == ["s"]


def _date_part(part: _Part, value: dt.datetime, is_minutes: bool, has_noon: bool) -> str:
    if part.kind == "noon":
        return ("AM" if value.hour < 12 else "PM")[: 1 if len(part.text) == 3 else 2]
    if part.kind != "date":
        return part.text
    letter, size = part.text[0].lower(), len(part.text)
    hour = (value.hour % 12 or 12) if has_noon else value.hour
    written = {
        "y": f"{value.year:04d}" if size > 2 else f"{value.year % 100:02d}",
        "m": _padded(value.minute, size) if is_minutes else _named(_MONTHS[value.month - 1], value.month, size),
        "d": _named(_DAYS[value.weekday()], value.day, size),
        "h": _padded(hour, size),
        "s": _seconds(value.second, value.microsecond, part.text),
    }
    return written[letter]


def _padded(number: int, size: int) -> str:
    return f"{number:02d}" if size > 1 else str(number)


def _named(name: str, number: int, size: int) -> str:
    if size == 5:
        return name[0]
    return name if size > 3 else name[:3] if size == 3 else _padded(number, size)


def _seconds(second: int, microsecond: int, text: str) -> str:
    whole, _, decimals = text.partition(".")
    shown_second = _padded(second, len(whole))
    return f"{shown_second}.{f'{microsecond:06d}'[: len(decimals)]}" if decimals else shown_second


def _elapsed(value: dt.datetime | dt.date | dt.time | dt.timedelta, parts: Sequence[_Part]) -> str:
    """A length of time: hours may be more than 24."""
    total = _length(value)
    sign, total = ("-", -total) if total < 0 else ("", total)
    hours, minutes, seconds = total // 3600, total // 60 % 60, total % 60
    if not any(part.kind == "elapsed" for part in parts):
        return f"{sign}{hours}:{minutes:02d}:{seconds:02d}"
    whole = {"h": hours, "m": total // 60, "s": total}
    rest = {"h": hours, "m": minutes, "s": seconds}
    return sign + "".join(
        _padded((whole if part.kind == "elapsed" else rest)[part.text[0].lower()], len(part.text))
        if part.kind in ("elapsed", "date") and part.text[0].lower() in whole
        else part.text
        for part in parts
    )


def _length(value: dt.datetime | dt.date | dt.time | dt.timedelta) -> int:
    if isinstance(value, dt.timedelta):
        return round(value.total_seconds())
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second
    moment = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
    return round((moment.replace(tzinfo=None) - dt.datetime.combine(_DAY_ZERO, dt.time())).total_seconds())
