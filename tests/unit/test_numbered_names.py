"""Things that are named by a number: one of them is not another."""

import pytest

from rag.answering.extraction.extractive_answer import Choice, choose
from rag.answering.text.numbered_names import NumberedName, find_numbered_names
from rag.ingestion.chunking import split_blocks
from rag.types import BlockKind, ChunkingOptions, Rect, TextBlock
from tests import sources


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is item 7?", ["item 7"]),
        ("How many passengers did Station 50 have in 2023?", ["Station 50"]),
        ("What does clause 4.3 say?", ["clause 4.3"]),
        ("What does Exhibit 10.5 contain?", ["Exhibit 10.5"]),
        ("What does Annex B say about pilots?", ["Annex B"]),
        ("Was kostet Position 7?", ["Position 7"]),
        ("What is the fee for lot no. 3?", ["lot 3"]),
        ("What should I do?", []),
        ("How many people were there after 30 days?", []),
        ("What happened on May 5?", []),
        ("Who are the top 10 customers?", []),
        ("What was revenue in fiscal 2023?", []),
        ("Did sales grow 4.3 percent?", []),
        ("What stands on page 12?", []),
    ],
)
def test_names_of_a_word_and_a_number(question: str, names: list[str]) -> None:
    assert [name.text for name in find_numbered_names(question) if name.is_sure] == names


@pytest.mark.parametrize("question", ["Which stations sold 500?", "Who employed 63 pilots?", "Who bought lot 3?"])
def test_what_may_be_a_quantity_is_not_sure_to_be_a_name(question: str) -> None:
    assert [name.is_sure for name in find_numbered_names(question)] == [False]


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("Item 7 costs 600 euro.", True),
        ("Items 4, 5 and 7 are sold.", True),
        ("ITEM VII", True),
        ("item no. 07", True),
        ("Item 17", False),
        ("Item 7.2", False),
        ("Item 4 costs 7 euro.", False),
        ("7 items", False),
    ],
)
def test_where_a_name_stands(text: str, *, stands: bool) -> None:
    assert NumberedName("item", "7").stands_in(text) is stands


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("4.3 Payment", True),
        ("4.3. Payment", True),
        ("§ 4.3 Payment", True),
        ("4.31 Fees", False),
        ("14.3 Fees", False),
    ],
)
def test_a_numbered_clause_begins_with_its_number(text: str, *, begins: bool) -> None:
    assert NumberedName("clause", "4.3").begins(text) is begins
    assert not NumberedName("item", "7").begins("7 months later it closed.")
    assert NumberedName("item", "7").begins("(7) The pier")


def texts(choice: Choice) -> list[str]:
    return [extract.candidate.text for extract in choice.extracts]


ITEMS = sources.hit("Item 4 costs 500 euro.\nItem 5 costs 600 euro.", name="items.txt")
CONTRACT = sources.hit(
    (BlockKind.HEADING, "4.2 Term"),
    "This agreement ends after two years.",
    (BlockKind.HEADING, "4.3 Payment"),
    "The buyer pays each invoice within 60 days.",
    name="contract.pdf",
)
STATIONS = "\n".join(["Station\t2023\t2022", *(f"Station {n}\t{1000 + 7 * n}\t{900 + 5 * n}" for n in range(1, 61))])
NUMBERS = "\n".join(["Station\t2023\t2022", *(f"{n}\t{1000 + 7 * n}\t{900 + 5 * n}" for n in range(1, 61))])


def test_another_item_is_no_answer() -> None:
    assert texts(choose("What is item 4?", [ITEMS])) == ["Item 4 costs 500 euro."]
    assert texts(choose("What are item 4 and item 7?", [ITEMS])) == ["Item 4 costs 500 euro."]
    refused = choose("What is item 7?", [ITEMS])
    assert not refused.extracts
    assert refused.hint
    assert refused.hint.startswith("“item 7” does not occur in the passages read.")
    assert refused.nearest is ITEMS


def test_a_clause_is_found_by_the_number_that_it_begins_with() -> None:
    assert texts(choose("What does clause 4.3 say about invoices?", [CONTRACT]))[:1] == [
        "The buyer pays each invoice within 60 days."
    ]
    assert not choose("What does clause 4.7 say about invoices?", [CONTRACT]).extracts


@pytest.mark.parametrize("table", [STATIONS, NUMBERS])
def test_a_row_is_answered_by_its_own_row(table: str) -> None:
    hit = sources.hit((BlockKind.TABLE, table))
    best = choose("How many passengers did Station 50 have in 2023?", [hit]).extracts[0]
    assert best.row is not None
    assert (*best.row.label.split(), *best.row.cells)[-3:] == ("50", "1350", "1150")
    assert not choose("How many passengers did Station 77 have in 2023?", [hit]).extracts


def test_a_figure_is_still_found_by_its_value() -> None:
    hit = sources.hit("Station 5 sold 500 tickets. Station 6 sold 40 tickets.")
    assert "Station 5 sold 500 tickets." in texts(choose("Which station sold 500 tickets?", [hit]))[0]


def test_a_table_that_goes_on_on_the_next_page_has_its_head_in_the_context() -> None:
    def block(rows: list[str], page: int, first: int) -> TextBlock:
        return TextBlock(
            page_number=page,
            bbox=Rect(0.0, 0.0, 300.0, 10.0),
            line_start=first,
            line_end=first + len(rows) - 1,
            text="\n".join(rows),
            kind=BlockKind.TABLE,
        )

    rows = STATIONS.split("\n")
    options = ChunkingOptions(chunk_size_chars=2000, chunk_overlap_chars=0, min_chunk_chars=100)

    def context(*second: str) -> str:
        blocks = [block(rows[:36], 1, 1), block([*second, *rows[36:]], 2, 37)]
        chunks = split_blocks(blocks, document_id=ITEMS.passage.document_id, name="s.pdf", title=None, options=options)
        return next(chunk.context for chunk in chunks if chunk.main_page == 2)

    assert "Station\t2023\t2022" in context()
    assert "2023" not in context("Harbour\tShips\tBoats")  # another table
