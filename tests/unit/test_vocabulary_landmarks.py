"""The named parts of documents are found on their pages."""

import pytest

from rag.types import BlockKind, Landmark, Line, Rect
from rag.vocabulary import Landmarks, landmarks, own_pages
from rag.vocabulary.landmarks import CAPTION, HEADING, LISTED, TITLE_CHARACTERS
from rag.vocabulary.vocabulary import Place

SHEET = Place(
    name="balance sheet",
    terms=("balance sheet",),
    titles=("consolidated balance sheets", "statement of financial position"),
    marks=("total assets", "shareholders' equity", "accounts payable", "retained earnings"),
)
FOUND = Landmarks([SHEET])


def page(number: int, *texts: str, kind: BlockKind = BlockKind.TEXT) -> list[Line]:
    return [
        Line(number=number * 100 + place, page_number=number, bbox=Rect(0, 0, 1, 1), text=text, kind=kind)
        for place, text in enumerate(texts)
    ]


def strengths(lines: list[Line], name: str, found: Landmarks = FOUND) -> dict[int, float]:
    return {mark.page_number: mark.strength for mark in found.find(lines) if mark.name == name}


def test_a_page_with_the_title_and_all_marks_is_surely_the_place() -> None:
    lines = page(3, "CONSOLIDATED  BALANCE SHEETS", "Total\tassets 9", "Shareholders’ equity", "Accounts payable")
    lines += page(3, "Retained earnings", kind=BlockKind.TABLE)
    assert strengths(lines, "balance sheet") == {3: pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("texts", "strength"),
    [
        (["Total assets", "accounts payable"], 0.5 / 1.5),  # half of the marks
        (["Consolidated balance sheets"], 0.5 / 1.5),
        (["Statement of Financial Position", "Total assets"], 0.75 / 1.5),
        (["x" * TITLE_CHARACTERS, "Consolidated balance sheets", "Total assets", "retained earnings"], 0.5 / 1.5),
        (["Total assets"], None),
        (["the total of all assets, accounts to pay and earnings retained"], None),
        (["subtotal assets", "retained earningss"], None),
        (["12", ""], None),
    ],
)
def test_strength_is_the_share_of_marks_and_a_title_on_top(texts: list[str], strength: float | None) -> None:
    assert strengths(page(2, *texts), "balance sheet") == ({2: pytest.approx(strength)} if strength else {})


@pytest.mark.parametrize(
    ("strengths_by_page", "own"),
    [
        ({3: 0.4}, {3}),
        ({3: 0.7, 9: 0.4}, {3}),  # of an affiliate
        ({3: 0.7, 4: 0.3, 9: 0.4}, {3, 4}),  # it runs on
        ({3: 0.3, 4: 0.7, 5: 0.3, 6: 0.3}, {3, 4, 5}),
        ({3: 0.7, 9: 0.7}, {3, 9}),  # nothing says which
        ({}, None),
    ],
)
def test_the_documents_own_part_is_where_it_is_surest(
    strengths_by_page: dict[int, float], own: set[int] | None
) -> None:
    marks = [Landmark("balance sheet", page_number, strength) for page_number, strength in strengths_by_page.items()]
    assert own_pages([*marks, Landmark("page 9", 9, 1.0)]).get("balance sheet") == own


@pytest.mark.parametrize(
    ("title", "name"),
    [("INCOME STATEMENTS", "income statement"), ("Cash Flows Statements", "cash flow statement")],
)
def test_statements_are_also_titled_in_the_plural(title: str, name: str) -> None:
    assert strengths(page(2, "Part II", title), name, landmarks())


def test_every_page_is_a_landmark_by_its_number_from_both_ends() -> None:
    lines = page(1, "a") + page(2, "b") + page(5, "c")
    assert [strengths(lines, name) for name in ("page 1", "page 2", "page 5")] == [{1: 1.0}, {2: 1.0}, {5: 1.0}]
    assert [strengths(lines, name) for name in ("page -1", "page -4", "page -5")] == [{5: 1.0}, {2: 1.0}, {1: 1.0}]


def test_captions_and_headings_name_what_they_begin() -> None:
    lines = page(4, "Table 2: Sales by region", "as Table 3 shows", "Table 9 shows more")
    lines += page(5, "Note 7 – Leases", kind=BlockKind.HEADING) + page(6, "Table 8\t12", kind=BlockKind.TABLE)
    assert strengths(lines, "table 2") == {4: CAPTION}
    assert strengths(lines, "note 7") == {5: HEADING}
    assert not [mark for mark in FOUND.find(lines) if mark.name in ("table 3", "table 8", "table 9")]


def test_a_page_that_lists_captions_is_not_where_they_are() -> None:
    lines = page(1, *[f"Table {number}: Something" for number in range(1, 8)]) + page(9, "Table 3: Something")
    assert strengths(lines, "table 3") == {1: LISTED, 9: CAPTION}


def test_a_name_stands_once_for_a_page_at_its_strongest() -> None:
    lines = page(4, "Table 2: Sales") + page(4, "Table 2: Sales", kind=BlockKind.HEADING)
    found = FOUND.find(lines)
    assert [mark for mark in found if mark.name == "table 2"] == [Landmark("table 2", 4, HEADING)]


def test_a_document_without_text_has_none() -> None:
    assert FOUND.find([]) == []


def test_the_packaged_places_tell_statements_apart() -> None:
    lines = page(1, "Consolidated Balance Sheets", "Total assets", "Total liabilities", "Total current assets")
    lines += page(2, "Consolidated Statements of Cash Flows", "Net cash provided by operating activities")
    lines += page(2, "Net cash used in investing activities", "Purchases of property and equipment")
    sheets, flows = (strengths(lines, name, landmarks()) for name in ("balance sheet", "cash flow statement"))
    assert sheets[1] > sheets.get(2, 0)
    assert flows[2] > flows.get(1, 0)
