"""Generated documents of an analyst: annual reports, contracts and minutes."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import material
from rag.parsing.pdf.mupdf import pymupdf

PLACES = ("Arden", "Birch", "Corran", "Dunmore", "Eskdale", "Fenwick", "Glenhurst", "Hartley", "Inver", "Jarrow")
TRADES = ("Freight", "Foods", "Textiles", "Energy", "Ceramics", "Optics")
SECOND_TRADES = ("Paper", "Glass", "Timber", "Salt")
YEARS = (2021, 2022, 2023)
LAWS = ("Norway", "Portugal", "Scotland", "Estonia")
NOTICE_DAYS = (30, 45, 60, 90, 120)
SIZE_PT, LEADING_PT = 10.5, 16
COLUMNS_PT = (340, 430)
REPORT = (
    "{name} makes and ships {trade} for customers in {markets} countries.",
    "In {year} two warehouses were closed and one was opened, closer to the largest customers.",
    "Freight rates fell in the second half of {year}, which helped the margin.",
    "The company hedges a part of what it earns in foreign currencies for up to twelve months.",
    "The board proposes to keep the dividend as it is and to repay a part of the debt that falls due next year.",
    "Demand is expected to grow slowly, and prices of raw material to stay where they are.",
)
CONTRACT = (
    ("Supply", "{seller} supplies {buyer} with {trade} as ordered in writing, within 20 working days of each order."),
    ("Prices", "Prices are those of the list of {seller} on the day of the order; invoices are due within 45 days."),
    ("Term", "This agreement begins on 1 March {year} and is renewed each year unless it is terminated."),
    ("Termination", "Either party may terminate this agreement by giving {notice} days' written notice."),
    ("Liability", "The liability of {seller} under this agreement is limited to ${cap} million in any year."),
    ("Confidentiality", "What the parties learn of each other is kept confidential for five years."),
    ("Law", "This agreement is governed by the law of {law}."),
)
MINUTES = (
    "The chair opened the meeting at nine and thanked those who had come from far away.",
    "Members discussed the budget of the coming year at some length and asked for a second draft.",
    "It was agreed that the archive moves to the cellar as soon as that is dry.",
    "The treasurer reported that {count} invoices were still open, fewer than a year ago.",
    "The next meeting takes place in the usual room.",
)

Page = tuple[str, Sequence[str]]
"""A heading and its paragraphs."""


@dataclass(frozen=True)
class Report:
    """An annual report; figures are in millions of dollars."""

    company: str
    year: int

    @property
    def name(self) -> str:
        return f"{self.company} annual report {self.year}.pdf"

    def revenue(self, year: int) -> str:
        """Return a company's revenue in a year."""
        return f"{200 + _number(self.company) * 3.7 + (year - YEARS[0]) * (9.3 + _number(self.company) % 7):.1f}"

    def content(self) -> bytes:
        """Return three pages: business, the year's performance, and the figures of two years."""
        known = {"name": self.company, "trade": self.company.split()[-1].lower(), "year": self.year}
        told = [line.format(**known, markets=_number(self.company) % 30 + 3) for line in REPORT]
        own, before = self.revenue(self.year), self.revenue(self.year - 1)
        result = (
            f"Revenue of {self.company} was ${own} million in {self.year}, and ${before} million in {self.year - 1}."
        )
        rows = (("", str(self.year), str(self.year - 1)), ("Revenue", own, before), ("Employees", *self._employees()))
        return _pdf(
            ((f"{self.company} · Annual report {self.year}", told[:3]), ("Results", [result, *told[3:]])),
            ("Figures of two years (in millions of dollars, but for employees)", rows),
        )

    def _employees(self) -> tuple[str, str]:
        now = 400 + 11 * _number(self.company) + 13 * (self.year - YEARS[0])
        return f"{now:,}", f"{now - 13:,}"


@dataclass(frozen=True)
class Contract:
    """A supply agreement."""

    seller: str
    buyer: str

    @property
    def name(self) -> str:
        return f"Supply agreement {self.seller} – {self.buyer}.pdf"

    @property
    def notice_days(self) -> int:
        return NOTICE_DAYS[_number(self.seller) % len(NOTICE_DAYS)]

    def content(self) -> bytes:
        """Return two pages of clauses."""
        number = _number(self.seller)
        said = {
            "seller": self.seller,
            "buyer": self.buyer,
            "trade": self.seller.split()[-1].lower(),
            "year": YEARS[number % len(YEARS)],
            "notice": self.notice_days,
            "cap": 1.5 + number % 9,
            "law": LAWS[number % len(LAWS)],
        }
        clauses = [f"{place}. {title}. {text}".format(**said) for place, (title, text) in enumerate(CONTRACT, 1)]
        return _pdf(((f"Supply agreement between {self.seller} and {self.buyer}", clauses[:4]), ("", clauses[4:])))


@dataclass(frozen=True)
class Minutes:
    """The minutes of an association's meeting."""

    number: int

    @property
    def name(self) -> str:
        return f"Minutes of meeting {self.number}.pdf"

    def content(self) -> bytes:
        """Return one page."""
        told = [line.format(count=self.number + 12) for line in MINUTES]
        return _pdf(((f"Minutes of the harbour association's meeting {self.number}", told),))


Filing = Report | Contract | Minutes


def companies() -> list[str]:
    """Return a hundred companies with mixed trades."""
    return [f"{place} {trade}" for trade in (*TRADES, *SECOND_TRADES) for place in PLACES]


def filings(count: int) -> list[Filing]:
    """Return `count` documents: of five, three are annual reports, one is a contract, and one minutes."""
    return list(itertools.islice(_endless(), count))


def _endless() -> Iterator[Filing]:
    names = companies()
    for number in itertools.count():
        company = names[number % len(names)]
        yield from (Report(company, year) for year in YEARS)
        yield Contract(company, names[(number + 3) % len(names)])
        yield Minutes(number + 1)


def _number(company: str) -> int:
    return companies().index(company)


def _pdf(pages: Sequence[Page], table: tuple[str, Sequence[tuple[str, ...]]] | None = None) -> bytes:
    document: Any = pymupdf.open()
    for heading, paragraphs in pages:
        _write(document, heading, paragraphs)
    if table:
        title, rows = table
        page = _write(document, title, ())
        for y, cells in enumerate(rows):
            for x, cell in zip((material.MARGIN, *COLUMNS_PT), cells, strict=False):
                page.insert_text((x, 110 + y * LEADING_PT), cell, fontsize=SIZE_PT)
    content: bytes = document.tobytes(deflate=True)
    document.close()
    return content


def _write(document: Any, heading: str, paragraphs: Sequence[str]) -> Any:
    page = document.new_page(width=material.PAGE_WIDTH, height=material.PAGE_HEIGHT)
    top = material.MARGIN + LEADING_PT
    if heading:
        page.insert_text((material.MARGIN, top), heading, fontsize=15, fontname="hebo")
    for paragraph in paragraphs:
        top += 1.75 * LEADING_PT
        for line in material.lines(paragraph):
            page.insert_text((material.MARGIN, top), line, fontsize=SIZE_PT)
            top += LEADING_PT
    return page
