"""What a document is about, learned from its file name, title and text."""

import pytest

from rag import types
from rag.ingestion.subjects import learn_subject


def lines(*pages: str) -> list[types.Line]:
    """Return the lines of pages, whose lines are separated by line breaks."""
    box = types.Rect(x0=0, y0=0, x1=100, y1=10)
    texts = [(number, text) for number, page in enumerate(pages, start=1) for text in page.splitlines()]
    return [
        types.Line(number=place, page_number=number, text=text, bbox=box)
        for place, (number, text) in enumerate(texts, start=1)
    ]


REPORT = (
    "FORM 10-K\nFor the fiscal year ended December 31, 2022\nHarbour Lights Corporation\nThe Pier Stock Exchange LLC",
    *["Harbour Lights Corporation\nHarbour Lights sells lamps. Smaller reporting company: no."] * 5,
)
PAPER = (
    "HERON: Nesting Habits of Birds by the Water\nAda Miller¹, Bo Smith²\nAbstract\nWe present HERON. See references.",
    "HERON is compared with related work. HERON wins. HERON is public.",
)
MANUAL = ("User Manual\nCoffee machine\nBREWCO 500", *["Switch the BREWCO on. The BREWCO gets warm."] * 8)
LEASE = (
    "LEASE AGREEMENT\nby and between Quay Holdings Ltd and Mill Street Bakery Inc.",
    *["Quay Holdings Ltd lets. Mill Street Bakery Inc. pays. In witness whereof."] * 4,
)


@pytest.mark.parametrize(
    ("name", "title", "pages", "expected"),
    [
        (
            "x1.pdf",
            None,
            REPORT,
            types.Subject(names=("Harbour Lights Corporation",), kind="annual_report", period="December 31, 2022"),
        ),
        (
            "HARBOUR_2021Q3_10Q.pdf",
            None,
            REPORT,
            types.Subject(names=("Harbour",), kind="annual_report", period="third quarter 2021"),
        ),
        (
            "2401.01234.pdf",
            "HERON: Nesting Habits of Birds by the Water",
            PAPER,
            types.Subject(names=("HERON", "Miller et al."), kind="paper"),
        ),
        ("scan.pdf", "User Manual", MANUAL, types.Subject(names=("BREWCO", "Coffee machine"), kind="manual")),
        (
            "lease.pdf",
            None,
            LEASE,
            types.Subject(names=("Quay Holdings Ltd", "Mill Street Bakery Inc."), kind="contract"),
        ),
        ("3fa9c1.pdf", "Report", ("Nobody came.",), types.Subject()),
    ],
)
def test_names_kind_and_period_are_learned(
    name: str, title: str | None, pages: tuple[str, ...], expected: types.Subject
) -> None:
    subject = learn_subject(name, title, lines(*pages))
    assert {*expected.names} <= {*subject.names}
    assert (subject.kind, subject.period) == (expected.kind, expected.period)


def test_stock_exchanges_and_descriptions_are_no_names() -> None:
    names = learn_subject("x1.pdf", None, lines(*REPORT)).names
    assert not any("Exchange" in name or "Reporting" in name for name in names)


def test_the_case_is_named_by_its_parties() -> None:
    subject = learn_subject("op.pdf", None, lines("Ann ROE, Plaintiff, v. Ben WADE, Defendant.\nOpinion of the court."))
    assert {"Ann ROE v. Ben WADE", "Ann ROE", "Ben WADE"} <= {*subject.names}
