"""Find the page numbers printed in headers and footers, for files without page labels.

They differ from page indices: covers are not counted, front matter has Roman numerals, excerpts begin at 4321, parts of
a filing have prefixes ("F-12"). A number counts only in a run: most of some consecutive pages must have the expected
number at the same height. Years, sums and section numbers do not grow by one with each page.
"""

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rag import types

MARGIN = 0.13
"""Height of headers and footers as a share of the page."""
MIN_SHARE = 0.8
"""Least share of a run's pages with the expected number: full-page figures have none."""
MIN_PAGES = 4
MIN_ROMAN_PAGES = 3
"""Shorter runs suffice, as Roman numerals are distinctive and front matter is short."""
MAX_GAP = 3
"""Consecutive pages of a run that may lack their number."""
MAX_SHIFT = 0.015
"""Largest distance from the usual place of a series' numbers, as a share of the page's height."""
MAX_LINE_CHARS = 160

_ALONE = re.compile(
    r"[\s\-–—|·•\[(]*(?:(?i:page|p\.|seite|página|pagina)\s*)?(?P<label>\d{1,4}|[ivxlc]{1,8}|[A-Z]-?\d{1,3})"
    r"(?:\s*(?:/|of|von|de|di|sur)\s*\d{1,4})?[\s\-–—|·•\])]*"
)
_AT_AN_END = re.compile(r"\d{1,4}|[ivxlc]{2,8}|[A-Z]-\d{1,3}")
_COUNTED = re.compile(
    r".*,|&|(?:items?|parts?|chapters?|sections?|articles?|notes?|tables?|figures?|appendix|annex|exhibits?|schedules?"
    r"|volumes?|vol\.|no\.|kapitel|teil|abschnitt|chapitre|cap[íi]tulo)",
    re.IGNORECASE,
)
"""Words before numbers of something else: a header may name the item or the chapter."""
_PREFIXED = re.compile(r"(?P<prefix>[A-Z]-?)(?P<number>\d+)")
_ROMAN = re.compile(r"(?P<hundreds>c{0,3})(?P<tens>xc|xl|l?x{0,3})(?P<ones>ix|iv|v?i{0,3})")
_LETTERS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_DIGITS = {"": 0, "i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class Series(NamedTuple):
    """Page numbers of one style and position; `offset` is their difference from the index counted from 1."""

    prefix: str
    is_roman: bool
    at_top: bool
    offset: int

    def label(self, page_number: int) -> str:
        """Return the series' label of a page."""
        number = page_number + self.offset
        return to_roman(number) if self.is_roman else f"{self.prefix}{number}"


class Run(NamedTuple):
    """Consecutive pages numbered by a series, and how many of them have their number."""

    series: Series
    first: int
    last: int
    present: int


def add_printed_labels(
    pages: Sequence[types.PageInfo], blocks: Iterable[types.TextBlock]
) -> tuple[types.PageInfo, ...]:
    """Label `pages` with their printed numbers unless the file has labels."""
    if any(page.label is not None for page in pages):
        return tuple(pages)
    heights = {page.number: page.height for page in pages}
    lines = (line for block in blocks if block.kind in types.PAGE_TEXT for line in block.lines)
    labels = find_printed_labels(heights, lines)
    return tuple(page.model_copy(update={"label": labels.get(page.number)}) for page in pages)


def find_printed_labels(heights: dict[int, float], lines: Iterable[types.Line]) -> dict[int, str]:
    """Return the printed labels by page number; `heights` of the pages are in points."""
    found: dict[Series, dict[int, float]] = defaultdict(dict)
    for line in lines:
        height = heights.get(line.page_number, 0.0)
        middle = (line.bbox.y0 + line.bbox.y1) / 2
        if height and not MARGIN * height <= middle <= (1 - MARGIN) * height:
            for prefix, is_roman, number in _numbers(line.text):
                series = Series(prefix, is_roman, middle < height / 2, number - line.page_number)
                found[series][line.page_number] = middle / height
    runs: list[Run] = []
    for series, places in found.items():
        usual = statistics.median_low(places.values())
        runs += _runs(series, sorted(page for page, place in places.items() if abs(place - usual) <= MAX_SHIFT))
    labels: dict[int, str] = {}
    for run in sorted(runs, key=lambda run: (-run.present, run.series.offset == 0, run.first)):
        for number in range(run.first, run.last + 1):
            labels.setdefault(number, run.series.label(number))
    return labels


def _numbers(text: str) -> Iterator[tuple[str, bool, int]]:
    """Yield possible page numbers in a header or footer line: prefix, whether it is Roman, value."""
    alone = _ALONE.fullmatch(text)
    words = text.split() if len(text) <= MAX_LINE_CHARS else []
    is_other_number = len(words) > 1 and bool(_COUNTED.fullmatch(words[-2]))
    outer = words[:1] if is_other_number else [*words[:1], *words[-1:]]
    ends = {word for word in outer if _AT_AN_END.fullmatch(word)}
    for label in dict.fromkeys([alone["label"]] if alone else sorted(ends)):
        prefixed = _PREFIXED.fullmatch(label)
        if prefixed:
            yield prefixed["prefix"], False, int(prefixed["number"])
        elif label.isdigit():
            yield "", False, int(label)
        elif number := _from_roman(label):
            yield "", True, number


def _runs(series: Series, numbers: Sequence[int]) -> Iterator[Run]:
    """Yield the runs of a series that has its number on these pages."""
    least = MIN_ROMAN_PAGES if series.is_roman else MIN_PAGES
    start = 0
    for place in range(1, len(numbers) + 1):
        if place < len(numbers) and numbers[place] - numbers[place - 1] <= MAX_GAP + 1:
            continue
        run = Run(series, numbers[start], numbers[place - 1], place - start)
        if run.present >= least and run.present >= MIN_SHARE * (run.last - run.first + 1):
            yield run
        start = place


def _from_roman(text: str) -> int | None:
    """Return the value of a Roman numeral; None if `text` is none."""
    if not _ROMAN.fullmatch(text):
        return None
    values = [_DIGITS[letter] for letter in text]
    followed = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in followed)


def to_roman(number: int) -> str:
    """Return a positive number as a Roman numeral in small letters."""
    text = ""
    for value, letters in _LETTERS:
        text += letters * (number // value)
        number %= value
    return text
