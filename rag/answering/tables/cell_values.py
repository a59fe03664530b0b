"""Read the cells of a column as numbers with units, as dates, or as text.

A column has one kind, one decimal mark and one order of day and month: what a single cell leaves open, the others
decide. Values are exact decimals, as printed: 12.5 % is 12.5, (300) is −300, 1.2 million is 1,200,000.
"""

import datetime as dt
import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from rag import types
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
_SCALE = "|".join(sorted((re.escape(word) for word in SCALES if word != "hundred"), key=len, reverse=True))
_AFTER = re.compile(
    rf"(?:[eE](?P<power>[+-]?\d{{1,2}}))?\s?(?:(?P<letter>[kKMB])(?![^\W\d_])|(?P<scale>(?i:{_SCALE}))(?![^\W\d_])\.?)?"
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

MONTHS = {
    name[:3].casefold(): number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
    )
    for number, name in enumerate(names.split(), start=1)
}
_TIME = r"(?:[T\s]\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d{1,6})?)?\s?(?P<noon>[AaPp][Mm])?Z?)?"
_NAME, _NTH = r"(?P<name>[^\W\d_]{3,9})\.?", r"(?:st|nd|rd|th)?"
_ISO = re.compile(rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){_TIME}")
_PARTED = re.compile(rf"(?P<first>\d{{1,2}})(?P<mark>[./-])(?P<other>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d\d){_TIME}")
_DAY_FIRST = re.compile(rf"(?P<day>\d{{1,2}})(?:\.|{_NTH})[\s-]?{_NAME},?[\s-](?P<year>\d{{4}}){_TIME}")
_MONTH_FIRST = re.compile(rf"{_NAME}\s(?P<day>\d{{1,2}}){_NTH},?\s(?P<year>\d{{4}}){_TIME}")

DAY_MONTH, MONTH_DAY = "day and month", "month and day"
CENTURY = 70
"""Two digits below mean a year after 2000."""

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
    if after is None and measure:  # "5 m" may be metres or millions; "5 M€" is millions
        measure, after = None, _AFTER.fullmatch(text, found.end())
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


# --- dates --------------------------------------------------------------------------------------------


def read_date(cell: str) -> dict[str, dt.datetime | None] | None:
    """Return the date that a cell consists of, by the order of day and month, with its time; None if it is none."""
    text = " ".join(cell.split())
    if len(text) > MAX_CELL_CHARS or not any(map(str.isdigit, text)):
        return None
    if match := _ISO.fullmatch(text):
        moment = _moment(match, int(match["month"]), int(match["day"]))
    elif match := _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text):
        month = MONTHS.get(match["name"][:3].casefold())
        moment = _moment(match, month, int(match["day"])) if month else None
    elif match := _PARTED.fullmatch(text):
        first, second = int(match["first"]), int(match["other"])
        readings = {DAY_MONTH: _moment(match, second, first), MONTH_DAY: _moment(match, first, second)}
        if match["mark"] == ".":  # is never month and day
            readings[MONTH_DAY] = readings[DAY_MONTH]
        return readings if any(readings.values()) else None
    else:
        return None
    return {DAY_MONTH: moment, MONTH_DAY: moment} if moment else None


def _moment(match: re.Match[str], month: int, day: int) -> dt.datetime | None:
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < CENTURY else 1900
    hour = int(match["hour"] or 0)
    if noon := (match["noon"] or "").lower():
        hour = hour % 12 + (12 if noon == "pm" else 0)
    try:
        return dt.datetime(year, month, day, hour, int(match["minute"] or 0), int(match["second"] or 0))  # noqa: DTZ001
    except ValueError:
        return None


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
    dates = {index: readings for index in filled if (readings := read_date(cells[index]))}
    if len(dates) < MIN_READ_SHARE * len(filled):
        return None
    counts = Counter(order for readings in dates.values() for order, moment in readings.items() if moment)
    is_open = counts[DAY_MONTH] == counts[MONTH_DAY]
    is_month_first = month_first if is_open else counts[MONTH_DAY] > counts[DAY_MONTH]
    order = MONTH_DAY if is_month_first else DAY_MONTH
    moments = [dates[index][order] if index in dates else None for index in range(len(cells))]
    unread = tuple(index for index in filled if moments[index] is None)
    if len(filled) - len(unread) < MIN_READ_SHARE * len(filled):
        return None
    has_times = any(moment and (moment.hour or moment.minute or moment.second) for moment in moments)
    values: list[Value] = [moment if has_times or moment is None else moment.date() for moment in moments]
    open_cell = next((cells[index] for index, found in dates.items() if found[DAY_MONTH] != found[MONTH_DAY]), None)
    note = None
    if is_open and open_cell is not None:
        note = N_("“{cell}” is read as {date}.").format(cell=open_cell, date=values[cells.index(open_cell)])
    return Column("time" if has_times else "date", values, unread=unread, note=note)
