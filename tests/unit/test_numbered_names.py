"""Things that are named by a number: one of them is not another."""

from pathlib import Path

import pytest

from rag import parsing
from rag.answering.extraction.extractive_answer import Choice, choose
from rag.answering.text.names import NumberedName, find_numbered_names
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind
from tests import pdfs, sources


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


@pytest.mark.parametrize(
    "question", ["Which stations sold 500?", "Who employed 63 pilots?", "Who bought lot 3?", "What does port 0-3 do?"]
)
def test_what_may_be_a_quantity_or_a_range_is_not_sure_to_be_a_name(question: str) -> None:
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


@pytest.mark.parametrize("label", ["Station {}", "{}"])
def test_a_row_of_a_table_that_goes_on_on_the_next_page_has_the_columns_of_its_head(tmp_path: Path, label: str) -> None:
    document = pymupdf.open()
    rows = [("Station", "2023", "2022")]
    rows += [(label.format(n), str(1000 + 7 * n), str(900 + 5 * n)) for n in range(1, 61)]
    for begins in (0, 36):
        page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
        for place, row in enumerate(rows[begins : begins + 36]):
            for x, cell in zip((72, 250, 350), row, strict=True):
                pdfs.write(page, x, 80 + 16 * place, cell, bold=row is rows[0])
    path = tmp_path / "stations.pdf"
    path.write_bytes(pdfs.finish(document))
    lines = [line for block in parsing.parse_rendition(path).blocks for line in block.lines]
    pages = []
    for number in (1, 2):
        own = tuple(line for line in lines if line.page_number == number)
        hit = sources.hit("", document_id=ITEMS.passage.document_id)
        parts = {"passage": hit.passage, "chunk": hit.chunk}
        pages.append(hit.model_copy(update={key: one.model_copy(update={"lines": own}) for key, one in parts.items()}))
    best = choose("How many passengers did Station 50 have in 2023?", pages).extracts[0]
    assert best.candidate.page_number == 2
    assert best.row is not None
    assert (best.row.cells, best.row.columns, best.row.asked) == (("1350", "1150"), ("2023", "2022"), 0)
