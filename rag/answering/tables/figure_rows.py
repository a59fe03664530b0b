"""Read table rows as amounts by year, where label and year are certain."""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from rag import types
from rag.answering.passages.quotable_units import Unit, split_passage
from rag.answering.passages.statements import Source
from rag.answering.passages.table_text import is_per_unit
from rag.answering.text.sentences import one_line
from rag.vocabulary import Figure, find_figure, is_labelled, years

MAX_HEAD_CHARS = 200
"""Maximum length of a line above a table's first row."""
PART_OF_YEAR = re.compile(
    r"\b(?:three|six|nine|3|6|9)[\s-]+months?\b|\bquarter|\b(?:13|26|39|thirteen|twenty[\s-]six|thirty[\s-]nine)[\s-]+weeks"
    r"|\bhalf[\s-]year\b|\bsix\s+months\b",
    re.IGNORECASE,
)
"""Names of parts of a year."""
_EARLY_MONTH = re.compile(r"\b(?:january|february|march|april|may|jan|feb|mar|apr)\b\.?\s+\d", re.IGNORECASE)
"""Fiscal year ends so early that companies disagree on which year they name."""

_SIGN = re.compile(r"(?:US|A|C|HK)?[$€£¥₹]")
_SCALE = re.compile(r"\b(thousand|million|billion|crore|lakh)s?\b|(?<=\s)000s\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?P<open>\()?\s*+(?:(?P<sign>[-–−])\s*+)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*+"
    r"(?:(?P<percent>%)\s*+)?\)?"
)
_NOTHING = re.compile(r"\s*[—–−-]{1,3}\s*+(?:%\s*)?")
_ONE_AMOUNT = re.compile(r"\(\s*[\d.,]+\s*\)|[-–−]?\d[\d.,]*\s*%?|(?<!\S)[—–−-]{1,3}(?!\S)")
_CURRENCY = re.compile(r"(?:US|A|C|HK)?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|Rs\.?)\s?", re.IGNORECASE)
_AROUND_PERIODS = re.compile(
    r"\b(?:(?:19|20)\d\d|\d{1,2}|FY|fiscal|(?:twelve\s+months|52\s+weeks|53\s+weeks|years?)(?:\s+end(?:ed|ing))?|as\s+of|at|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|in|millions|thousands|"
    r"\w{3}\.)(?!\w)|[\s,.$()*]",
    re.IGNORECASE,
)
"""What a header line may have beside years."""

_OF_SHARE = re.compile(r"\bper\s+(?:\w+\s+){0,2}share\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


Statements = Mapping[str, Collection[int]]
"""The pages of a document's financial statements, by name."""


class Amount(NamedTuple):
    """A cell as printed, without currency, and its value."""

    text: str
    value: Decimal
    is_percent: bool


@dataclass(frozen=True)
class FigureRow:
    """A table row with its amounts by year, under the heading `section`.

    `currency` is the sign beside its own amounts, if any; `statements` are all those of its document.
    """

    hit: types.Hit
    page: int
    unit: Unit
    label: str
    section: str
    amounts: Mapping[int, Amount]
    periods: Mapping[int, str]
    scale: str
    currency: str
    ends_early: bool
    statements: Statements

    def stands_in(self, place: str | None) -> bool:
        """Return whether the row is on a page of that statement."""
        return self.page in self.statements.get(place or "", ())

    def may_stand_in(self, place: str | None) -> bool:
        """Return whether the row is on a page of that statement, or the document has no such statement."""
        return self.stands_in(place) or not self.statements.get(place or "")

    def label_rank(self, figure: Figure) -> int | None:
        """Return the rank of the figure's label that the row has, or None.

        Per-share figures are often named by their heading ("Earnings per share: diluted"), under which no row is a
        total.
        """
        if not self.is_under_share:
            return is_labelled(figure, self.label)
        if not figure.per_share:
            return None
        names = [self.label, f"{self.label} {self.section}"]
        if (earned := find_figure("net income")) and is_labelled(earned, self.label) is not None:
            names.append(self.section)
        return next((rank for name in names if (rank := is_labelled(figure, name)) is not None), None)

    @property
    def is_under_share(self) -> bool:
        """Whether only its heading says that it is per share."""
        return is_of_share(self.section) and not is_of_share(self.label)

    @property
    def is_per_unit(self) -> bool:
        """Whether its label or heading says that it is per share or another unit, so that no scale is meant for it."""
        return is_per_unit(self.label) or is_per_unit(self.section)

    @property
    def name(self) -> str:
        """Its label, with a heading that is part of its name."""
        return f"{self.section.rstrip(': ')}: {self.label}" if self.is_under_share else self.label

    @property
    def in_statement(self) -> bool:
        """Whether it is in any financial statement."""
        return any(map(self.stands_in, self.statements))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The spans quoted: row, column names, and a heading that is part of its name."""
        heading = self.unit.section if self.is_under_share else None
        return tuple(Source(self.hit, span) for span in (self.unit.span, self.unit.header, heading) if span)


def is_of_share(words: str) -> bool:
    """Return whether the words mean per-share figures; "(in millions, except per share)" does not."""
    return _OF_SHARE.search(words) is not None and "except" not in words.lower()


def figure_rows(hits: Iterable[types.Hit], statements: Statements) -> list[FigureRow]:
    """Return the rows with amounts of single years in `hits`, each line once; no quarters or months."""
    seen: set[tuple[object, int]] = set()
    rows: list[FigureRow] = []
    for hit in hits:
        text, units = hit.passage.text, split_passage(hit.passage)
        for place, unit in enumerate(units):
            lines = hit.passage.lines_of(*unit.span)
            if unit.label is None or not unit.cells or not lines:
                continue
            page, key = lines[0].page_number, (hit.passage.document_id, lines[0].number)
            head = _lines_above(text, units, place)
            # the rows without cells right above are the row's heading
            above = itertools.takewhile(lambda unit: unit.kind is types.BlockKind.TABLE, reversed(units[:place]))
            below_heading = itertools.dropwhile(lambda unit: unit.cells, above)
            headings = [*itertools.takewhile(lambda unit: not unit.cells and unit.label, below_heading)]
            heading = " ".join(one_line(text[slice(*line.span)]) for line in reversed(headings))
            row = _row(hit, unit, head, heading, page=page, statements=statements)
            if row and key not in seen:
                seen.add(key)
                rows.append(row)
    return rows


def _lines_above(text: str, units: Sequence[Unit], place: int) -> list[Unit]:
    """Return the short lines above the first row with cells."""
    first = place
    for index in range(place - 1, -1, -1):
        unit = units[index]
        is_text = unit.kind is types.BlockKind.TEXT and (
            unit.span.end - unit.span.start > MAX_HEAD_CHARS or text[unit.span.end - 1] in ".;"
        )
        if is_text:
            break
        first = index
    run = units[first:place]
    return list(itertools.takewhile(lambda unit: not _has_amounts(text, unit), run))


def _has_amounts(text: str, unit: Unit) -> bool:
    cells = [text[cell.span.start : cell.span.end] for cell in unit.cells]
    return unit.label is not None and any(_amount(cell) and not _YEAR.fullmatch(cell) for cell in cells)


def _row(
    hit: types.Hit, unit: Unit, head: Sequence[Unit], section: str, *, page: int, statements: Statements
) -> FigureRow | None:
    text = hit.passage.text
    above = "\n".join(text[one.span.start : one.span.end] for one in head)
    above += "".join(f"\n{text[span.start : span.end]}" for span in (unit.header, unit.caption) if span)
    if PART_OF_YEAR.search(above):
        return None
    amounts, periods = {}, {}
    ends_early = _EARLY_MONTH.search(above) is not None
    cells = _cells(text, unit, above)
    named = [found[0] if len(found := years(column)) == 1 else None for column, _ in cells]
    for (column, amount), year in zip(cells, named, strict=True):
        if year is not None and amount and named.count(year) == 1 and "%" not in column:
            amounts[year] = amount
            periods[year] = column if ends_early else str(year)
    if not amounts or unit.label is None:
        return None
    scales = {match[0].lower().removesuffix("s") for match in _SCALE.finditer(above)}
    label = one_line(text[unit.label.start : unit.label.end])
    scale = scales.pop() if len(scales) == 1 else "?" if scales else ""
    signs = {*_SIGN.findall(text[unit.label.end : unit.span.end])}
    currency = signs.pop() if len(signs) == 1 else ""
    return FigureRow(hit, page, unit, label, section, amounts, periods, scale, currency, ends_early, statements)


def _cells(text: str, unit: Unit, above: str) -> list[tuple[str, Amount | None]]:
    """Return column names with amounts; [] if the assignment is uncertain."""
    printed = [text[cell.span.start : cell.span.end] for cell in unit.cells]
    amounts = [_amount(cell) for cell in printed]
    if any(cell.column for cell in unit.cells) and all(
        amount or _NOTHING.fullmatch(cell) for amount, cell in zip(amounts, printed, strict=True)
    ):
        return [(cell.column, amount) for cell, amount in zip(unit.cells, amounts, strict=True)]
    rest = _CURRENCY.sub(" ", text[unit.label.end if unit.label else unit.span.start : unit.span.end])
    if _ONE_AMOUNT.sub("", rest).strip():
        return []
    tokens = [match[0] for match in _ONE_AMOUNT.finditer(rest)]
    for line in reversed(above.split("\n")):
        found = _YEAR.findall(line)
        if len(found) == len(tokens) == len(set(found)) and not _AROUND_PERIODS.sub("", line).strip():
            return [(year, _amount(token)) for year, token in zip(found, tokens, strict=True)]
    return []


def _amount(text: str) -> Amount | None:
    match = _AMOUNT.fullmatch(_CURRENCY.sub("", text).strip())
    if match is None:
        return None
    is_negative = bool(match["open"] or match["sign"])
    value = Decimal(match["digits"].replace(",", ""))
    return Amount(match["digits"], -value if is_negative else value, bool(match["percent"]))
