"""Read the cells of a column as numbers with units, as dates, or as text.

A column has one kind, one decimal mark and one order of day and month: what a single cell leaves open, the others
decide. Values are exact decimals, as printed: 12.5 % is 12.5, (300) is −300, 1.2 million is 1,200,000.
"""

import datetime as dt
import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from rag import types
from rag.answering.field_values.dates import find_dates
from rag.answering.text.measurement_units import CURRENCY, PERCENT, currencies, measure_behind
from rag.answering.text.numbers import SCALES
from rag.messages import N_

MIN_READ_SHARE = 0.9
"""Minimum share of the filled cells of a column that are of its kind; the others are reported as unread."""
MAX_CELL_CHARS = 60
"""A longer cell is text."""
MAX_DIGITS = 28
CACHED = 50_000
"""Cells that are remembered: columns are looked at several times, and figures recur."""

_NOTHING = re.compile(r"[-–—−.…]*|n/?\.?a\.?|k\.?\s?a\.?|n\.?m\.?|null|none|nil|#n/a", re.IGNORECASE)
"""Cells that stand for no value."""
_DIGITS = re.compile(r"\d(?:[.,'’\u00a0\u2009\u202f ]?\d)*+|\.\d++")
_SIGNS = "-−–"
_BEFORE = re.compile(
    rf"(?P<open>\(?)\s?(?P<sign>[-+−–]?)\s?(?P<money>{CURRENCY})?\s?(?P<inner>\(?)(?P<other>[-−–]?)\s?"
)
SCALE = "|".join(sorted((re.escape(word) for word in SCALES if word != "hundred"), key=len, reverse=True))
"""Words of scale, the longest first."""
_AFTER = re.compile(
    rf"(?:[eE](?P<power>[+-]?\d{{1,2}}))?\s?(?:(?P<letter>[kKMB])(?![^\W\d_])|(?P<scale>(?i:{SCALE}))(?![^\W\d_])\.?)?"
    rf"(?P<inner>\)?)\s?(?P<unit>[%％]|(?i:percent|prozent)|{CURRENCY})?\s?(?P<close>\)?)\s?(?P<minus>[-−–]?)[*†‡§]{{0,3}}"
)
_LETTERS = {"k": 1000, "K": 1000, "M": 10**6, "B": 10**9}
_WITH_POINT = re.compile(r"\d+(?:\.\d+)?|\.\d+|\d{1,3}(?:([,'’\u00a0\u2009\u202f ])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_WITH_COMMA = re.compile(r"\d+(?:,\d+)?|\d{1,3}(?:([.'’\u00a0\u2009\u202f ])\d{3})(?:\1\d{3})*(?:,\d+)?")
_IN_LAKHS = re.compile(r"\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,17})(?P<decimals>\.(?:\d\d?|\d{4,9}))?")
"""Most figures: without thousands, units and three decimals, which might be thousands."""
_METRES = "m"
"""The unit, and its letter, which may also be that of millions."""
_LEADING_ZERO = re.compile(r"0\d+")

POINT, COMMA = ".", ","
Mark = str
"""The decimal mark."""

_TIME = re.compile(
    r"[T\s]\s?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d{1,6})?)?\s?(?P<noon>[AaPp][Mm])?Z?$"
)

DAY_FIRST, MONTH_FIRST = "en-GB", "en-US"
"""Languages that order the parts of dates so."""
DATE_SAMPLE = 50
"""Cells at the top of a column, few of which are dates if it has no dates."""

Value = Decimal | dt.date | dt.datetime | str | None


class Figure(NamedTuple):
    """A number in a cell: its value by decimal mark, None under a mark with which it is no number, and its unit.

    `has_scale` tells whether it is in thousands, millions or more.
    """

    by_mark: dict[Mark, Decimal | None]
    unit: str | None
    has_scale: bool = False

    @property
    def is_open(self) -> bool:
        """Whether both marks give a number, and different ones."""
        first, second = self.by_mark[POINT], self.by_mark[COMMA]
        return first is not None and second is not None and first != second


class Column(NamedTuple):
    """The values of a column, one for each cell, None for a cell without one.

    `units` are those of the figures if they differ, else (). `unread` are the indices of filled cells without a value
    of this kind. `note` says how figures or dates were read that can be read in two ways.
    """

    kind: types.ColumnKind
    values: list[Value]
    unit: str | None = None
    units: Sequence[str | None] = ()
    unread: tuple[int, ...] = ()
    note: str | None = None


def is_nothing(cell: str) -> bool:
    """Return whether a cell is empty or stands for no value."""
    return _NOTHING.fullmatch(cell.strip()) is not None


@functools.lru_cache(CACHED)
def read_figure(cell: str, *, has_millions: bool = False) -> Figure | None:
    """Return the number that a cell consists of, with its unit; None if it has anything else, or leading zeros.

    A small "m" is metres; millions with money, or with `has_millions`.
    """
    if plain := _PLAIN.fullmatch(cell):
        value = Decimal(cell)
        return Figure({POINT: value, COMMA: None if plain["decimals"] else value}, None)
    if cell[:1].isalpha() and not _DIGITS.search(cell):
        return None
    text = types.without_raised_marks(cell).strip()
    found = _DIGITS.search(text) if len(text) <= MAX_CELL_CHARS else None
    if found is None or _LEADING_ZERO.fullmatch(found[0]) or len(found[0]) > MAX_DIGITS:
        return None
    before = _BEFORE.fullmatch(text, 0, found.start())
    measure = measure_behind(text, found.end())
    rest = measure.end if measure else found.end()
    after = _AFTER.fullmatch(text, rest)
    millions = 1
    if measure and text[found.end() : rest].strip(" -") == _METRES:
        money = (before and before["money"]) or (after and after["unit"] not in {None, *"%％"})
        if has_millions or money:
            measure, millions = None, 10**6
    brackets = (before["open"] + before["inner"]) if before else ""
    if before is None or after is None or len(brackets) != len(after["inner"] + after["close"]):
        return None
    if measure and (before["money"] or after["unit"]):
        return None
    factor = Decimal(10) ** int(after["power"] or 0) * Decimal(str(_factor(after))) * millions
    is_negative = bool(brackets or before["other"] or after["minus"]) or before["sign"] in {*_SIGNS}
    money = before["money"] or after["unit"]
    unit = measure.name if measure else _unit(money) if money else None
    readings = {mark: _reading(found[0], mark) for mark in (POINT, COMMA)}
    sign = -1 if is_negative else 1
    values = {mark: None if value is None else sign * value * factor for mark, value in readings.items()}
    return Figure(values, unit, has_scale=factor >= min(_LETTERS.values()))


def _factor(after: re.Match[str]) -> float:
    if after["letter"]:
        return _LETTERS[after["letter"]]
    return SCALES[after["scale"].casefold()] if after["scale"] else 1


def _unit(text: str) -> str:
    return next(iter(currencies(text)), PERCENT)


def _reading(digits: str, mark: Mark) -> Decimal | None:
    pattern = _WITH_POINT if mark == POINT else _WITH_COMMA
    if not pattern.fullmatch(digits) and not (mark == POINT and _IN_LAKHS.fullmatch(digits)):
        return None
    head, _, tail = digits.partition(mark)
    plain = re.sub(r"\D", "", head)
    try:
        return Decimal(f"{plain or 0}.{tail or 0}") if tail else Decimal(plain)
    except InvalidOperation:
        return None


def decimal_mark(figures: Iterable[Figure]) -> Mark | None:
    """Return the decimal mark with which most figures are numbers; None if both do alike."""
    counts = Counter[Mark]()
    for figure in figures:
        counts.update(mark for mark, value in figure.by_mark.items() if value is not None)
    point, comma = counts[POINT], counts[COMMA]
    return None if point == comma else POINT if point > comma else COMMA


# --- columns ------------------------------------------------------------------------------------------


def read_column(cells: Sequence[str], *, mark: Mark = POINT, month_first: bool = True) -> Column:
    """Return the values of a column; `mark` and `month_first` decide what all its cells leave open."""
    filled = [index for index, cell in enumerate(cells) if not is_nothing(cell)]
    column = (_read_dates(cells, filled, month_first) or _read_figures(cells, filled, mark)) if filled else None
    return column or Column("text", [cell.strip() or None for cell in cells])


def _read_figures(cells: Sequence[str], filled: Sequence[int], mark: Mark) -> Column | None:
    figures = {index: figure for index in filled if (figure := read_figure(cells[index]))}
    units = {figure.unit for figure in figures.values()}
    if _METRES in units and len(units) > 1:
        has_millions = any(figure.has_scale or currencies(figure.unit or "") for figure in figures.values())
        if None in units and not has_millions:
            return None
        figures = {index: read_figure(cells[index], has_millions=has_millions) or figures[index] for index in figures}
    own_mark = decimal_mark(figures.values())
    values: list[Value] = [None] * len(cells)
    for index, figure in figures.items():
        values[index] = figure.by_mark[own_mark or mark]
    unread = tuple(index for index in filled if values[index] is None)
    has_codes = any(_LEADING_ZERO.fullmatch(cells[index].strip()) for index in unread)
    if has_codes or len(filled) - len(unread) < MIN_READ_SHARE * len(filled):
        return None
    units = {figure.unit for figure in figures.values()}
    is_mixed = len(units - {None}) > 1 or (PERCENT in units and len(units) > 1)
    unit = None if is_mixed else next(iter(units - {None}), None)
    each = [figures[index].unit if index in figures else None for index in range(len(cells))] if is_mixed else []
    # that "1,234" is a thousand and more goes without saying
    open_cells = (index for index, figure in figures.items() if figure.is_open and _has_decimals(values[index]))
    open_cell = next((cells[index].strip() for index in open_cells), None)
    if own_mark or open_cell is None:
        return Column("number", values, unit, each, unread)
    note = N_("“{cell}” is read with “{mark}” as the decimal mark.").format(cell=open_cell, mark=mark)
    return Column("number", values, unit, each, unread, note)


def _has_decimals(value: Value) -> bool:
    return isinstance(value, Decimal) and value != value.to_integral_value()


def _read_dates(cells: Sequence[str], filled: Sequence[int], month_first: bool) -> Column | None:
    parts = {index: _day_and_time(cells[index]) for index in filled}
    orders = (MONTH_FIRST, DAY_FIRST) if month_first else (DAY_FIRST, MONTH_FIRST)
    sample = {parts[index][0] for index in filled[:DATE_SAMPLE]}
    if len(_dates(sample, orders[0])) < len(sample) / 2:
        return None
    days, others = (_dates({day for day, _ in parts.values()}, order) for order in orders)
    moments = {index: dt.datetime.combine(days[day], time) for index, (day, time) in parts.items() if day in days}
    if len(moments) < MIN_READ_SHARE * len(filled):
        return None
    has_times = any(moment.time() != dt.time() for moment in moments.values())
    values: list[Value] = [None] * len(cells)
    for index, moment in moments.items():
        values[index] = moment if has_times else moment.date()
    unread = tuple(index for index in filled if index not in moments)
    is_open = next((index for index in moments if days[parts[index][0]] != others[parts[index][0]]), None)
    note = None
    if is_open is not None:
        note = N_("“{cell}” is read as {date}.").format(cell=cells[is_open], date=values[is_open])
    return Column("time" if has_times else "date", values, unread=unread, note=note)


def _day_and_time(cell: str) -> tuple[str, dt.time]:
    text = " ".join(cell.split()) if len(cell) <= MAX_CELL_CHARS else ""
    clock = _TIME.search(text) if ":" in text else None
    if clock is None:
        return text, dt.time()
    hour, noon = int(clock["hour"]), (clock["noon"] or "").lower()
    hour = hour % 12 + 12 * (noon == "pm") if noon else hour
    return text[: clock.start()], dt.time(hour, int(clock["minute"]), int(clock["second"] or 0))


def _dates(days: Collection[str], language: str) -> dict[str, dt.date]:
    """Return the date of each text that is one; numbers above 12 show the order of day and month in all of them."""
    ends = itertools.accumulate(len(day) + len(_BETWEEN) for day in days)
    places = {(end - len(day) - len(_BETWEEN), end - len(_BETWEEN)): day for day, end in zip(days, ends, strict=True)}
    found = find_dates(_BETWEEN.join(days), language)
    return {places[date[:2]]: date.bounds[0] for date in found if date.year and date.day and date[:2] in places}


_BETWEEN = " ; "
