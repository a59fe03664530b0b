"""Find dates in any usual spelling: "31 December 2023", "Dec. 31, 2023", "31.12.2023", "2023-12-31", "March 2024"."""

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from babel import Locale

from rag import types
from rag.answering.text.numbers import plain_digits


def _month_numbers() -> dict[str, int]:
    """Return the names of months, and in English and German their abbreviations, by the Unicode CLDR."""
    names = {"mrz": 3, "jänner": 1}
    for language in ("es", "fr", "de", "en"):
        months = Locale(language).months
        forms = [("format", "wide"), ("stand-alone", "wide")]
        if language in {"de", "en"}:
            forms += [("format", "abbreviated"), ("stand-alone", "abbreviated")]
        for context, width in forms:
            names |= {name.casefold().rstrip("."): number for number, name in months[context][width].items()}
    return names | {"sept": 9}


MONTHS = _month_numbers()
CENTURY = r"(?:19|20)\d\d"
TWO_DIGIT_YEARS_FROM = 1970
"""What 70 means as a year; 69 is 2069."""

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"(?<![\w/-])(?<!\d[.,])(?:"
    rf"(?P<iso_year>{CENTURY})(?P<dash>[-/.])(?P<iso_month>\d{{1,2}})(?P=dash)(?P<iso_day>\d{{1,2}})"
    rf"|(?P<day_first>\d{{1,2}})(?:st|nd|rd|th|\.|er)?[\s-]{{0,2}}(?:(?:day\s)?of\s|de\s)?(?P<month_second>{_MONTH})(?![^\W\d_])"
    rf"(?:\.?,?[\s-]{{0,2}}(?:of\s|de\s)?(?P<year_third>{CENTURY}|['’]?\d\d(?=[\s,;.)]|$)))?"
    rf"|(?P<month_first>{_MONTH})\.?\s{{1,2}}(?P<day_second>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[.,]\d)(?:,?\s{{1,2}}(?P<year_last>{CENTURY}))?"
    rf"|(?P<month_alone>{_MONTH})\.?,?[\s-]{{1,2}}(?:of\s|de\s)?(?P<month_year>{CENTURY})(?!/\d)"
    rf"|(?P<one>\d{{1,2}})(?P<mark>[./-])\s?(?P<two>\d{{1,2}})(?P=mark)\s?(?P<three>{CENTURY}|\d\d)"
    rf"|(?P<day_alone>\d{{1,2}})\.\s?(?P<month_point>\d{{1,2}})\.(?=\s?(?:[-–—]|bis\b))"
    rf"|(?:(?:(?:FY|CY)[\s-]?)?(?P<year>{CENTURY})|(?:FY|CY)[\s-]?['’]?(?P<short_year>\d\d))(?!/\d)"
    rf")(?!\w|[.,]\d|/\d(?!\d?\s[^\W\d_])|\s?[%€$£])",
    re.IGNORECASE,
)
_MONEY_BEFORE = re.compile(r"(?:[$€£¥₹]|\b[A-Z]{3})\s?$")


class Date(NamedTuple):
    """A date as far as it is stated, and its span; only an end of a range can be without a year."""

    start: int
    end: int
    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def iso(self) -> str:
        """The date, month or year in ISO 8601."""
        parts = (f"{self.year:04}", self.month and f"{self.month:02}", self.day and f"{self.day:02}")
        return "-".join(part for part in parts if part)

    @property
    def bounds(self) -> tuple[dt.date, dt.date]:
        """The first and the last day that it includes."""
        year, month = self.year or dt.MINYEAR, self.month
        last_month = month or 12
        last_day = calendar.monthrange(year, last_month)[1]
        return dt.date(year, month or 1, self.day or 1), dt.date(year, last_month, self.day or last_day)


def find_dates(text: str, language: str | None = None) -> list[Date]:
    """Find dates, months, years and dates without a year.

    Of 03/04/2023 the order of day and month is that of the text's other dates, else that of the language: month first
    in "en-US", day first in all others but "en", which is written either way. If it stays open, only the year is sure.
    """
    matches = list(_DATE.finditer(plain_digits(types.without_raised_marks(text))))
    is_day_first = _is_day_first(matches, language)
    return [date for match in matches if (date := _date(match, is_day_first)) is not None]


def day_spans(text: str, language: str | None = None) -> Iterator[types.Span]:
    """Yield the spans of what names a month or day, whose digits are no amounts."""
    for date in find_dates(text, language):
        if date.month is not None or "/" in text[date.start : date.end]:
            yield types.Span(date.start, date.end)


def _is_day_first(matches: Sequence[re.Match[str]], language: str | None) -> bool | None:
    orders = set()
    for match in matches:
        if match["mark"] in {"/", "-"}:
            one, two = int(match["one"]), int(match["two"])
            orders |= {True} if 12 < one <= 31 and two <= 12 else {False} if 12 < two <= 31 and one <= 12 else set()
    if len(orders) == 1:
        return orders.pop()
    tag = (language or "").replace("_", "-").casefold()
    return None if tag in {"", "en"} else tag != "en-us"


def _date(match: re.Match[str], is_day_first: bool | None) -> Date | None:
    part = match.groupdict()
    start, end = match.span()
    year = (
        part["iso_year"]
        or part["year_third"]
        or part["year_last"]
        or part["month_year"]
        or part["year"]
        or part["short_year"]
    )
    month = part["month_second"] or part["month_first"] or part["month_alone"]
    digits = part["iso_month"] or part["month_point"]
    day = part["iso_day"] or part["day_first"] or part["day_second"] or part["day_alone"]
    if part["mark"]:
        return _numeric(match, is_day_first)
    if part["year"] and _MONEY_BEFORE.search(match.string, max(0, start - 4), start):
        return None
    if month and month == "may" and not day:  # the verb
        return None
    number = MONTHS[month.casefold()] if month else int(digits) if digits else None
    start += len(match[0]) - len(match[0].lstrip(" -"))
    return _valid(start, end, _year(year) if year else None, number, int(day) if day else None)


def _numeric(match: re.Match[str], is_day_first: bool | None) -> Date | None:
    """Return a date of three numbers; short ones with points may number a section, and are none."""
    one, two, three = int(match["one"]), int(match["two"]), match["three"]
    if len(three) == 2 and not (len(match["one"]) == len(match["two"]) == 2 or match["mark"] == "/"):
        return None
    if match["mark"] == ".":
        is_day_first = True
    year = _year(three)
    readings = [_valid(*match.span(), year, two, one), _valid(*match.span(), year, one, two)]
    day_first, month_first = readings
    if day_first is None or month_first is None or day_first == month_first:
        return day_first or month_first
    if is_day_first is None:
        return Date(*match.span(), year)
    return day_first if is_day_first else month_first


def _year(digits: str) -> int:
    number = int(digits.lstrip("'’"))
    if len(digits.lstrip("'’")) == 4:
        return number
    return (1900 if number >= TWO_DIGIT_YEARS_FROM % 100 else 2000) + number


def _valid(start: int, end: int, year: int | None, month: int | None, day: int | None) -> Date | None:
    try:
        dt.date(year or 2000, month or 1, day or 1)  # 2000 has a 29 February
    except ValueError:
        return None
    return Date(start, end, year, month, day)
