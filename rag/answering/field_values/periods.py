"""Find periods: from one day to another, years and quarters, months that ended on a day, and durations."""

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from rag import types
from rag.answering.field_values.dates import CENTURY, Date, find_dates
from rag.answering.field_values.spelled_numbers import SpelledNumber, find_spelled_numbers
from rag.answering.text.numbers import plain_digits
from rag.answering.text.periods import find_quarters

_REACH = 80
"""Characters before a date that are searched for the months or year which end there."""
_TO = re.compile(
    r"\s{0,2}(?:[-–—]|,?\s?(?:up\s)?(?:to|through|thru|until|till|bis)\b(?:\s(?:and\sincluding|einschließlich|zum))?"
    r"|,?\s?(?:and\s)?ending(?:\son)?\b|(?P<and>and|und)\b)\s{0,2}",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:between|zwischen)\s(?:dem\s)?$", re.IGNORECASE)
_ENDED = re.compile(
    r"(?:(?<!\w)(?:(?:fiscal|financial|business)\s)?(?P<unit>months?|weeks?|years?|quarter|half[\s-]year)(?:\speriods?)?"
    r"(?:\sthen)?\s(?:ended|ending|ends|to)(?:\son)?"
    r"|(?<!\w)(?:geschäfts|wirtschafts|kalender)?(?P<german>(?:halb)?jahr|quartal)(?:e?s)?(?:\sendete?)?"
    r"\s(?:zum|am|per|bis(?:\szum)?))\s{1,2}$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s?(?:,|,?\s?(?:and|und))\s")
_MONTHS_PER = {"month": 1, "year": 12, "jahr": 12, "quarter": 3, "quartal": 3, "half year": 6, "halbjahr": 6}
_DIGITS_BEFORE = re.compile(r"(?<![\w.,])\(?(?P<count>\d{1,3})\)?[\s-]$")
_NAMED_FISCAL = r"(?:fiscal|financial)\s(?:years?\s)?|FY[\s-]?|(?:Geschäfts|Wirtschafts)jahr(?:e?s)?\s"
_FISCAL_BEFORE = re.compile(rf"(?<!\w)(?:{_NAMED_FISCAL})$", re.IGNORECASE)
_YEARS = re.compile(
    rf"(?<![\w./-])(?<!\d,)(?:FY\s?)?(?P<first>{CENTURY})\s?(?P<mark>[-–—/]|to\b|bis\b)\s?(?P<last>{CENTURY}|\d\d)"
    r"(?!\w|[-/.,]\d)"
)
_YEAR_BEHIND = re.compile(
    rf"(?:\s(?:of|des)|[,/-])?\s?(?:the\s)?(?P<fiscal>{_NAMED_FISCAL})?(?:(?P<year>{CENTURY})|(?:['’]|(?<=[QH]))(?P<short>\d\d))"
    r"(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(rf"(?<![\w./])(?P<fiscal>FY[\s-]?)?(?P<year>{CENTURY})[\s/-]{{0,2}}$", re.IGNORECASE)
_GERMAN_QUARTER = re.compile(r"(?<![\w.,])(?P<number>[1-4])\.\s?(?P<unit>Quartal|Halbjahr)s?(?!\w)", re.IGNORECASE)
_UNITS = {
    "years": "Y", "year": "Y", "yrs": "Y", "yr": "Y", "jahre": "Y", "jahr": "Y", "jahren": "Y",
    "quarters": "Q", "months": "M", "month": "M", "monate": "M", "monat": "M", "monaten": "M",
    "weeks": "W", "week": "W", "wochen": "W", "woche": "W",
    "days": "D", "day": "D", "tage": "D", "tag": "D", "tagen": "D",
    "hours": "H", "hour": "H", "stunden": "H", "stunde": "H",
}  # fmt: skip
_UNIT = re.compile(
    r"\)?[\s-]{1,2}(?:(?P<working>business|working|trading|bank)\s)?"
    r"(?:(?:full|whole|complete|consecutive|successive|calendar|lease|contract|additional|further|more|volle[nr]?)\s){0,2}"
    rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?<![\w.,$€£/])(?<![^\W\d_]-)(?:\d{1,3}[.,]\d{3}(?!\d)|\d{1,4}(?!\d)(?:[.,]\d{1,2}(?!\d))?)(?![.,]\d)"
)
_TO_COUNT = re.compile(r"\)?\s?(?:[-–—]|\b(?:to|or|bis|oder)\b)\s?\(?", re.IGNORECASE)
_JOINS = re.compile(r",?\s{1,2}(?:(?:and|und)\s)?")


class Period(NamedTuple):
    """A period in ISO 8601, its span, and what its days are, if not those of the calendar."""

    value: str
    start: int
    end: int
    unit: str | None = None


def find_periods(text: str, language: str | None = None) -> list[Period]:
    """Find the periods of `text` in order, none within another.

    Days are given wherever they are known: "2023" is 2023-01-01/2023-12-31. Of a fiscal year that is only named they
    are not: "fiscal 2023" is 2023, "FY 2022/23" is 2022/2023, "Q2 of fiscal 2023" is 2023-Q2. A year that ended on a
    day began a year before the next day, also if it had 53 weeks.
    """
    plain = plain_digits(types.without_raised_marks(text))
    dates = find_dates(plain, language)
    dated = [date for date in dates if date.year is not None]
    spelled = list(find_spelled_numbers(plain))
    kinds = (
        _between_dates(plain, dates),
        _ended(plain, dated, spelled),
        _between_years(plain),
        _quarters(plain),
        _durations(plain, spelled),
        _whole(plain, dated),
    )
    # Of those that begin together the one of the first kind says most.
    found = sorted((period.start, rank, period) for rank, kind in enumerate(kinds) for period in kind)
    free: list[Period] = []
    for _, _, period in found:
        if not free or period.start >= free[-1].end:
            free.append(period)
    return free


def interval(first: dt.date, last: dt.date) -> str:
    """Return the days from the first to the last in ISO 8601."""
    return f"{first.isoformat()}/{last.isoformat()}"


def _between_dates(text: str, dates: Sequence[Date]) -> Iterator[Period]:
    """Yield the periods from one date to the next; a beginning without year has that of the end, or the one before."""
    for first, last in pairwise(dates):
        link = _TO.fullmatch(text, first.end, last.start)
        if link is None or last.year is None or None in {first.month, last.month}:
            continue
        if link["and"] and not _BETWEEN.search(text, max(0, first.start - 20), first.start):
            continue
        is_of_year_before = (first.month or 0) > (last.month or 0)
        year = last.year - is_of_year_before if first.year is None else first.year
        begin, end = first._replace(year=year).bounds[0], last.bounds[1]
        if begin <= end:
            yield Period(interval(begin, end), first.start, last.end)


def _ended(text: str, dates: Sequence[Date], spelled: Sequence[SpelledNumber]) -> Iterator[Period]:
    """Yield the months, weeks or year that ended on a day, and those that ended on the same day of other years."""
    ends = {number.end: number for number in spelled}
    for index, date in enumerate(dates):
        match = _ENDED.search(text, max(0, date.start - _REACH), date.start) if date.month is not None else None
        if match is None:
            continue
        digits = _DIGITS_BEFORE.search(text, max(0, match.start() - 6), match.start())
        number = ends.get((digits or match).start() - 1)
        count = int(digits["count"]) if digits else int(number.value) if number else 1
        start = number.start if number else digits.start() if digits else match.start()
        unit = (match["unit"] or match["german"]).casefold().replace("-", " ").rstrip("s")
        for other in _with_years_behind(text, dates, index):
            try:
                days = _ended_on(other.bounds[1], unit, count)
            except (OverflowError, ValueError):  # before the first year
                continue
            yield Period(days, start if other == date else other.start, other.end)


def _with_years_behind(text: str, dates: Sequence[Date], index: int) -> Iterator[Date]:
    """Yield a date and, for the bare years listed behind it, the same day of these."""
    date = previous = dates[index]
    yield date
    for other in dates[index + 1 :]:
        if other.month is not None or not _LISTED.fullmatch(text, previous.end, other.start):
            return
        yield date._replace(start=other.start, end=other.end, year=other.year, day=_day_in(other.year, date))
        previous = other


def _day_in(year: int | None, date: Date) -> int | None:
    """Return the day of a date in another year: 28 for a 29 February."""
    last = calendar.monthrange(year or dt.MINYEAR, date.month or 12)[1]
    return date.day and min(date.day, last)


def _ended_on(last: dt.date, unit: str, count: int) -> str:
    if unit == "week":
        return interval(last - dt.timedelta(days=7 * count - 1), last)
    return interval(_months_before(last + dt.timedelta(days=1), count * _MONTHS_PER[unit]), last)


def _months_before(day: dt.date, months: int) -> dt.date:
    """Return the day some months before; the last one of a month that has fewer days."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return dt.date(year, month + 1, min(day.day, last))


def _between_years(text: str) -> Iterator[Period]:
    for match in _YEARS.finditer(text):
        first = int(match["first"])
        last = int(match["last"]) if len(match["last"]) == 4 else first // 100 * 100 + int(match["last"])
        if first < last:
            is_fiscal = len(match["last"]) == 2 or match["mark"] == "/"
            days = interval(dt.date(first, 1, 1), dt.date(last, 12, 31))
            yield Period(f"{first}/{last}" if is_fiscal else days, *match.span())


def _quarters(text: str) -> Iterator[Period]:
    """Yield the quarters and halves of a stated year."""
    named = [(quarter.code, quarter.start, quarter.end) for quarter in find_quarters(text)]
    named += [
        (f"{'Q' if german['unit'][0] in 'Qq' else 'H'}{german['number']}", *german.span())
        for german in _GERMAN_QUARTER.finditer(text)
    ]
    for code, start, end in named:
        behind = _YEAR_BEHIND.match(text, end)
        year = behind or _YEAR_BEFORE.search(text, max(0, start - 12), start)
        months = 3 if code[0] == "Q" else 6
        first_month = (int(code[1]) - 1) * months + 1
        if year is None or first_month > 12:
            continue
        written = year["year"] or f"20{year['short']}"
        span = min(start, year.start()), max(end, year.end())
        fiscal = _FISCAL_BEFORE.search(text, max(0, start - 20), start)
        if year["fiscal"] or fiscal:
            yield Period(f"{written}-{code}", *span)
        else:
            first, last = (Date(0, 0, int(written), month) for month in (first_month, first_month + months - 1))
            yield Period(interval(first.bounds[0], last.bounds[1]), *span)


def _durations(text: str, spelled: Sequence[SpelledNumber]) -> Iterator[Period]:
    """Yield durations; one in words and digits is one, and so are "two years and six months"."""
    before = {number.end: number for number in spelled}
    counts = [(number.value, number.start, number.end) for number in spelled]
    for match in _COUNT.finditer(text):
        thousands = re.fullmatch(r"(\d+)[.,](\d{3})", match[0])
        value = float("".join(thousands.groups()) if thousands else match[0].replace(",", "."))
        words = before.get(match.start() - 2) if text[match.start() - 2 : match.start()] == " (" else None
        counts.append((value, words.start if words else match.start(), match.end()))
    last: Period | None = None
    ordered = sorted(counts, key=lambda count: count[1])
    for (value, start, end), after in zip_longest(ordered, ordered[1:]):
        unit = _UNIT.match(text, end)
        if unit is None and after and _TO_COUNT.fullmatch(text, end, after[1]):  # "24 to 36 months"
            further = _UNIT.match(text, after[2])
            if further:
                yield Period(_duration(value, _UNITS[further["unit"].casefold()]), start, end)
        if unit is None:
            continue
        letter = _UNITS[unit["unit"].casefold()]
        duration = _duration(value, letter)
        kind = f"{unit['working'].casefold()} days" if unit["working"] and letter == "D" else None
        if last and last.value[-1] in "YM" and letter in "MD" and _JOINS.fullmatch(text, last.end, start):
            last = Period(last.value + duration.removeprefix("P"), last.start, unit.end(), kind)
            continue
        if last:
            yield last
        last = Period(duration, start, unit.end(), kind)
    if last:
        yield last


def _duration(count: float, letter: str) -> str:
    """Return a duration in ISO 8601; parts of a year as months."""
    if letter == "Q" or (letter == "Y" and not count.is_integer() and (12 * count).is_integer()):
        count, letter = count * (3 if letter == "Q" else 12), "M"
    return f"{'PT' if letter == 'H' else 'P'}{count:.15g}{letter}"


def _whole(text: str, dates: Sequence[Date]) -> Iterator[Period]:
    """Yield months and years."""
    for date in dates:
        fiscal = _FISCAL_BEFORE.search(text, max(0, date.start - 24), date.start)
        if date.month is None and (fiscal or text[date.start : date.start + 2].upper() == "FY"):
            yield Period(date.iso, fiscal.start() if fiscal else date.start, date.end)
        elif date.day is None:
            yield Period(interval(*date.bounds), date.start, date.end)
