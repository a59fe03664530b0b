"""Turn words of a document into typed values, and compare values."""

import datetime as dt
import functools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from rag.answering.field_values.amounts import Amount, find_amounts
from rag.answering.field_values.dates import CENTURY, find_dates
from rag.answering.field_values.periods import find_periods
from rag.answering.field_values.units import FRACTION, PER_PERIOD, PERCENT_OF, TIME_RATIOS, Unit, parse_unit
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.analyzed_text import analyze
from rag.answering.text.measurement_units import DOLLARS, PERCENT, currencies, iso_code
from rag.answering.text.negation import NEGATIONS
from rag.answering.text.numbers import Scales, find_numbers, readings
from rag.types import FieldType

Scalar: TypeAlias = str | float | bool | None

MAX_VALUE_CHARS = 10_000
"""Longer texts of a language model are no values."""

MAX_NUMBER = 10**300
"""Larger numbers come near to what a float cannot hold."""

_NAMES: dict[FieldType, str] = {
    "number": "a number", "money": "an amount of money", "percentage": "a percentage", "date": "a date",
    "period": "a period", "yes_no": "yes or no", "choice": "one of the choices", "text": "a text", "records": "records",
}  # fmt: skip
_SHARE_NAMED = re.compile(r"[%％]|\bper ?cent|prozent", re.IGNORECASE)
_BOXES = re.compile(
    r"(?P<marked>[☑☒☓✓✔✗✘🗷🗹]|\[ ?[xX✓] ?\])|(?P<empty>[☐⬜□]|\[ ?\])|(?<!\w)(?:(?P<yes>yes|ja)|(?P<no>no|nein))(?!\w)",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"(?:(?<=[\t\n|:?])|\A)[^\S\t\n]{0,3}(?:(?P<yes>yes|ja|true)|(?P<no>no|nein|false))(?=[^\S\t\n]{0,3}(?:[\t\n|.,;!]|\Z))",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(\d{4}(?:-\d\d(?:-\d\d)?)?)(?:T[\d:.+Z-]{1,30})?")
_ISO_DURATION = re.compile(
    r"P(?=[\dT])(?:(?P<Y>\d{1,9}(?:\.\d{1,9})?)Y)?(?:(?P<M>\d{1,9}(?:\.\d{1,9})?)M)?(?:(?P<W>\d{1,9}(?:\.\d{1,9})?)W)?"
    r"(?:(?P<D>\d{1,9}(?:\.\d{1,9})?)D)?(?:T(?P<H>\d{1,9}(?:\.\d{1,9})?)H)?"
)
_LABEL = re.compile(rf"{CENTURY}-[QH][1-4]")
_SAYS_NOTHING = re.compile(r"the|a|on|approx(?:imately)?|about|circa|ca|der|die|das|den|am|rund|etwa", re.IGNORECASE)
"""Words beside a value that leave it as it is."""
_FROM = frozenset({"from", "von", "vom"})
_APART = r"[\W_]{1,3}"
_SPACED_DIGITS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3}){1,5}(?!\d)")


class Value(NamedTuple):
    """A value as stated: normalised, its unit, its verbatim words, and their place in the text.

    Numbers are floats, dates "2023-12-31", "2023-12" or "2023", periods as in `find_periods`. `unit` is that of `Unit`;
    None for a plain number, and for a figure of which the text does not say what it is in.
    """

    value: Scalar
    unit: str | None
    words: str
    start: int
    end: int


def values_in(
    text: str,
    kind: FieldType,
    *,
    unit: str | None = None,
    choices: Sequence[str] = (),
    scales: Scales = None,
    language: str | None = None,
) -> list[Value]:
    """Return all values of a type in `text`, in order; both ends of a range.

    Amounts are converted to `unit` from other scales, and shares from per cent; another currency or measure keeps its
    own unit. `scales` are the scales that a table or page declares for figures without one, empty if it declares none:
    with them figures without a currency are money in the one asked for. If they are not given, such figures are money
    only as a cell or with a scale, and rows have figures of unknown scale, whose unit is None. Dates and decimal signs
    are read as in `language`, if the text does not show how.
    """
    match kind:
        case "number" | "money" | "percentage":
            return _amounts(text, kind, parse_unit(unit or ""), scales, language)
        case "date":
            dates = [date for date in find_dates(text, language) if date.year is not None]
            return [_value(text, date.iso, None, date.start, date.end) for date in dates]
        case "period":
            return [_value(text, *(p.value, p.unit, p.start, p.end)) for p in find_periods(text, language)]
        case "yes_no":
            return [_value(text, said, None, start, end) for said, start, end in _yes_or_no(text)]
        case "choice":
            return _choices(text, choices)
        case "text":
            start = len(text) - len(text.lstrip())
            return [_value(text, text.strip(), None, start, start + len(text.strip()))] if text.strip() else []
        case "records":  # their values are those of their own fields
            return []


def _value(text: str, value: Scalar, unit: str | None, start: int, end: int) -> Value:
    return Value(value, unit, text[start:end], start, end)


# --- amounts ---


def _amounts(text: str, kind: FieldType, asked: Unit, scales: Scales, language: str | None) -> list[Value]:
    if scales is None:
        scales = declared_scales(text) or None
    of_currency = frozenset[float]() if scales is None and "\t" not in text else scales
    if kind == "money" and asked.name == "pound":
        asked = Unit("GBP", asked.scale)
    dollars = {iso_code(name) for name in currencies(text) if name.endswith("$") and name != "$"}
    dollar = asked.currency if asked.currency in DOLLARS else dollars.pop() if len(dollars) == 1 else "USD"
    is_money = kind == "money" or asked.currency is not None
    names_share = _SHARE_NAMED.search(text) is not None
    names_unit = asked.name.casefold() in text.casefold()
    found = []
    for amount in find_amounts(text, language, dollar=dollar or "USD"):
        if amount.is_year and not (amount.is_cell and "\t" not in text) and not _counts(amount, asked):
            continue
        if kind == "percentage" or asked.is_share:
            converted = _share(amount, asked.name or PERCENT, names_share=names_share)
        elif is_money:
            converted = _money(amount, asked, of_currency if amount.unit.currency else scales, names_unit=names_unit)
        else:
            converted = _number(amount, asked, scales)
        if converted is not None:
            end = _end_of_noun(text, amount, asked) if not is_money else amount.end
            found.append(_value(text, float(f"{converted[0]:.15g}"), converted[1].text, amount.start, end))
    return found


_Converted: TypeAlias = tuple[float, Unit] | None


def _share(amount: Amount, asked: str, *, names_share: bool) -> _Converted:
    """Convert a share to per cent or what is asked; a bare cell is in it, if the text names shares at all."""
    name = amount.unit.name
    if name in PERCENT_OF and asked in PERCENT_OF:
        return amount.value * PERCENT_OF[name] / PERCENT_OF[asked], Unit(name=asked)
    if amount.unit.is_share:
        return amount.value, amount.unit
    if amount.unit != Unit() or amount.noun or amount.scale not in {None, 1.0} or not amount.is_cell:
        return None
    return amount.value, Unit(name=asked) if names_share or asked == FRACTION else Unit()


def _money(amount: Amount, asked: Unit, scales: Scales, *, names_unit: bool) -> _Converted:
    """Convert money to the scale asked; with `names_unit` the text names what it is per, as a row's label does."""
    own = amount.unit
    if own.currency and not own.name and names_unit:
        own = own._replace(name=asked.name)
    if own.currency is None and (
        own.name or amount.noun or (amount.scale is None and scales is None and not amount.is_cell)
    ):
        return None
    scale = amount.scale or (1.0 if own.name or asked.name else _declared(scales))
    if scale is None:
        return amount.value, Unit()
    if own.currency is None:
        own = asked if scales is not None else Unit()
    if own.name != asked.name:  # an amount per share or month
        return amount.value * scale, Unit(own.currency, 1.0, own.name)
    return amount.value * scale / asked.scale, Unit(own.currency, asked.scale, own.name)


def _number(amount: Amount, asked: Unit, scales: Scales) -> _Converted:
    own = amount.unit
    if own.currency or own.is_share:
        return None
    if ratio := TIME_RATIOS.get((own.name, asked.name)):
        return amount.value * (amount.scale or 1.0) * ratio, asked
    is_asked = _counts(amount, asked) or own.name == asked.name or (own == Unit() and not amount.noun)
    scale = amount.scale or ((_declared(scales) if scales else 1.0) if is_asked else 1.0) or 1.0
    if is_asked:
        return amount.value * scale / asked.scale, asked
    return amount.value * scale, own


def _declared(scales: Scales) -> float | None:
    """Return the scale of a figure without one; None if it is unknown."""
    if not scales:
        return None if scales is None else 1.0
    return next(iter(scales)) if len(scales) == 1 else None


def _counts(amount: Amount, asked: Unit) -> bool:
    return amount.unit == Unit() and bool(amount.noun) and _noun(amount, asked) is not None


def _noun(amount: Amount, asked: Unit) -> int | None:
    """Return where the last word of the asked unit ends among the first words behind a figure."""
    wanted = analyze(asked.name).words[-1:]
    words = analyze(amount.noun).words[:4]
    return next((word.end for word in words if wanted and word.key == wanted[0].key), None)


def _end_of_noun(text: str, amount: Amount, asked: Unit) -> int:
    end = _noun(amount, asked) if amount.noun and asked.name else None
    return amount.end if end is None else text.find(amount.noun[:end], amount.end) + end


# --- yes or no, choices ---


def _yes_or_no(text: str) -> Iterator[tuple[bool, int, int]]:
    """Yield what is said, or marked among boxes: "☒ Yes ☐ No"."""
    parts = list(_BOXES.finditer(text))
    if any(part["marked"] for part in parts):
        is_box_first = parts[0]["yes"] is None and parts[0]["no"] is None
        for one, other in pairwise(parts):
            box, word = (one, other) if is_box_first else (other, one)
            if box["marked"] and (word["yes"] or word["no"]):
                yield word["yes"] is not None, one.start(), other.end()
        return
    if any(part["empty"] for part in parts):
        return
    for match in _YES_NO.finditer(text):
        yield match["yes"] is not None, *match.span("yes" if match["yes"] else "no")


def _choices(text: str, choices: Sequence[str]) -> list[Value]:
    """Return the choices that `text` names, unless a negation stands before them; of overlapping ones the longest."""
    patterns = []
    for number, choice in sorted(enumerate(choices), key=lambda item: -len(item[1])):
        words = re.findall(r"[^\W_]+", choice)
        if words:
            patterns.append(rf"(?P<choice{number}>{_APART.join(map(re.escape, words))})")
    if not patterns:
        return []
    found = []
    for match in re.finditer(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", text, re.IGNORECASE):
        before = re.findall(r"[^\W_]+", text[max(0, match.start() - 20) : match.start()].casefold())
        if not before or before[-1] not in NEGATIONS or "non" in match[0].casefold():
            choice = choices[int((match.lastgroup or "")[6:])]
            found.append(_value(text, choice, None, *match.span()))
    return found


# --- values of a language model ---


def normalised(
    raw: object,
    kind: FieldType,
    unit: str | None = None,
    choices: Sequence[str] = (),
    *,
    language: str | None = None,
    is_whole: bool = False,
) -> Scalar:
    """Return the normalised form of a value as a language model gave it in JSON, or as a person wrote it.

    A number, and a figure in a text that states no scale, is in `unit` already. If the text `is_whole`, nothing but
    the value may stand in it. Raises ValueError with a message for people.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        raise ValueError("There is no value.")
    if kind == "yes_no" and isinstance(raw, bool):
        return raw
    if kind in {"number", "money", "percentage"} and isinstance(raw, int | float) and not isinstance(raw, bool):
        if abs(raw) > MAX_NUMBER or not math.isfinite(raw):
            raise ValueError("The number is not finite.")
        return float(raw)
    if isinstance(raw, bool) or not isinstance(raw, str | int | float) or kind == "records":
        raise ValueError(f"{str(raw)[:80]!r} is not {_NAMES[kind]}.")
    text = " ".join(str(raw).split())
    if len(text) > MAX_VALUE_CHARS:
        raise ValueError(f"The value is longer than {MAX_VALUE_CHARS:,} characters.")
    if kind == "text":
        return text
    iso = _iso(text, kind)
    if iso is not None:
        return iso
    if kind in {"number", "money", "percentage"}:
        text = _SPACED_DIGITS.sub(lambda match: match[0].replace(" ", ""), text)
    found = _only(text, kind, unit, choices, language)
    if is_whole and kind not in {"yes_no", "choice"}:
        _refuse_others(text, found, kind, unit, language)
    return found.value


def _iso(text: str, kind: FieldType) -> str | None:
    """Return a date or period that is in ISO 8601 already."""
    if kind == "date" and (date := _ISO_DATE.fullmatch(text)) and _is_date(date[1]):
        return date[1]
    if kind == "period":
        ends = text.split("/")
        is_interval = len(ends) == 2 and all(_ISO_DATE.fullmatch(end) and _is_date(end) for end in ends)
        if is_interval and ends[0] > ends[1]:
            raise ValueError("The period ends before it begins.")
        if is_interval or _ISO_DURATION.fullmatch(text) or _LABEL.fullmatch(text):
            return text
    return None


def is_bare(text: str) -> bool:
    """Return whether a figure in a text stands without scale and unit."""
    return not any(char.isalpha() or unicodedata.category(char) == "Sc" for char in text)


def _is_date(iso: str) -> bool:
    try:
        dt.date.fromisoformat(f"{iso}-01-01"[:10] if len(iso) < 8 else iso)
    except ValueError:
        return False
    return True


def _only(text: str, kind: FieldType, unit: str | None, choices: Sequence[str], language: str | None) -> Value:
    """Return the only value of a type in `text`."""
    if not any(map(str.isalnum, text)):
        raise ValueError("There is no value.")
    scales = frozenset({parse_unit(unit or "").scale})
    found = values_in(text, kind, unit=unit, choices=choices, scales=scales, language=language)
    quoted = _quoted(text)
    for date in find_dates(text, language) if kind in {"date", "period"} else ():
        if date.month is None and len(re.findall(r"\d+", text[date.start : date.end])) > 1:  # only the year is sure
            raise ValueError(f"“{text[date.start : date.end]}” may be two different days. Write it like 2023-12-31.")
    if not found:
        if kind == "choice":
            raise ValueError(f"“{quoted}” is none of: {', '.join(choices)}.")
        raise ValueError(f"“{quoted}” is not {_NAMES[kind]}.")
    first = found[0]
    if any(value[:2] != first[:2] for value in found):
        raise ValueError(f"“{quoted}” is more than one value.")
    asked, own = parse_unit(unit or ""), parse_unit(first.unit or "")
    if asked.currency and own.currency and own.currency != asked.currency:
        raise ValueError(f"“{quoted}” is in {own.currency}, not in {asked.currency}.")
    if asked.name and own.name and own.name != asked.name:
        raise ValueError(f"“{quoted}” is in {own.name}, not in {asked.name}.")
    return first


def _quoted(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _refuse_others(text: str, value: Value, kind: FieldType, unit: str | None, language: str | None) -> None:
    """Raise ValueError if a text has words or figures beside its value, or if it is open what scale that has."""
    asked = parse_unit(unit or "")
    before, behind = text[: value.start], text[value.end :]
    if kind == "money" and not asked.name:  # "4,200 EUR per month" is an amount in EUR
        behind = PER_PERIOD.sub("", behind, count=1)
    others = [word for word in re.findall(r"[^\W_]+", f"{before} {behind}") if not _SAYS_NOTHING.fullmatch(word)]
    is_between = kind == "period" and len(find_dates(value.words)) == 2
    if [word for word in others if not (is_between and word.casefold() in _FROM)]:
        raise ValueError(f"“{_quoted(text)}” is not only {_NAMES[kind]}.")
    if kind in {"number", "money"} and asked.scale != 1 and not is_bare(text):
        plain = _only(text, kind, asked._replace(scale=1.0).text, (), language)
        if plain.value == value.value != 0:
            raise ValueError(f"“{_quoted(text)}” names no scale. Write the figure alone, in {asked.text}.")


# --- the same value ---


def same(one: Value | Scalar, other: Value | Scalar, kind: FieldType) -> bool:
    """Return whether two values are the same, as precisely as the coarser one is stated.

    1.2 billion is 1,234 million, but only as a `Value`, whose words show the precision. "2023" is "2023-12-31", and a
    fiscal year by its name is one by its days that ends or begins in it. Texts are the same with the same words.
    """
    first, second = (side if isinstance(side, Value) else Value(side, None, "", 0, 0) for side in (one, other))
    if isinstance(first.value, bool) or isinstance(second.value, bool):
        return first.value is second.value
    if isinstance(first.value, int | float) and isinstance(second.value, int | float):
        return _is_same_amount(first, second)
    if first.value is None or second.value is None:
        return first.value is second.value
    left, right = str(first.value), str(second.value)
    if kind == "date":
        return left.startswith(right) or right.startswith(left)
    if kind == "period":
        return first.unit == second.unit and _is_same_period(left, right)
    return re.findall(r"[^\W_]+", left.casefold()) == re.findall(r"[^\W_]+", right.casefold())


def _is_same_amount(one: Value, other: Value) -> bool:
    first, second = parse_unit(one.unit or ""), parse_unit(other.unit or "")
    if None not in {one.unit, other.unit} and (
        first.currency != second.currency
        or (first.name != second.name and not {first.name, second.name} <= PERCENT_OF.keys())
    ):
        return False
    if None in {one.unit, other.unit} and math.isclose(float(one.value or 0), float(other.value or 0), rel_tol=1e-9):
        return True
    left, right = _plain(one, first), _plain(other, second)
    tolerance = max(abs(left) * _precision(one.words), abs(right) * _precision(other.words))
    return abs(left - right) <= 1.0001 * tolerance or math.isclose(left, right, rel_tol=1e-9)


def _plain(value: Value, unit: Unit) -> float:
    return float(value.value or 0) * unit.scale * PERCENT_OF.get(unit.name, 1.0)


@functools.lru_cache(maxsize=1024)  # a column of a matrix is compared value by value
def _precision(words: str) -> float:
    """Return half a unit of the last digit of a value's words as a share of their number; 0 if they have none."""
    numbers = find_numbers(words)
    if len(numbers) != 1:
        return 0.0
    reading, half_unit = next(readings(numbers[0]))
    return half_unit / abs(reading) if reading else 0.0


def _is_same_period(one: str, other: str) -> bool:
    if one == other:
        return True
    durations = [_ISO_DURATION.fullmatch(side) for side in (one, other)]
    if all(durations):
        lengths = [_length(match) for match in durations if match]
        return lengths[0] == lengths[1]
    return _names_year(one, other) or _names_year(other, one)


def _length(duration: re.Match[str]) -> tuple[float, float, float]:
    """Return the months, days and hours of a duration."""
    count = {name: float(number or 0) for name, number in duration.groupdict().items()}
    return 12 * count["Y"] + count["M"], 7 * count["W"] + count["D"], count["H"]


def _names_year(name: str, days: str) -> bool:
    """Return whether `name`, "2023" or "2022/2023", can be the year that the other period gives by its days."""
    ends = days.split("/")
    if len(ends) != 2 or len(name) not in {4, 9} or not all(len(end) == 10 and _is_date(end) for end in ends):
        return False
    first, last = map(dt.date.fromisoformat, ends)
    if not 350 <= (last - first).days <= 380:
        return False
    years = str(first.year), str(last.year)
    return name in years if len(name) == 4 else tuple(name.split("/")) == years
