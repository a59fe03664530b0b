"""What heads the later parts of a table."""

import uuid

import pytest

from rag import tables
from rag.ingestion import split_blocks
from rag.ingestion.chunking import MAX_CONTEXT_CHARS
from rag.types import BlockKind, ChunkingOptions, Line, Rect, TextBlock

SMALL = ChunkingOptions(chunk_size_chars=200, chunk_overlap_chars=0, min_chunk_chars=40)
DATA = tuple(f"Revenue of shop {number}\t{number * 1000:,}\t{number * 900:,}" for number in range(1, 21))
WORDS = ("Fruit\tColour", *(f"fruit number {number}\tgreen" for number in range(1, 21)))


def heads(*rows: str, indent: dict[str, float] | None = None) -> list[str]:
    found = tables.find_heads(lines(*rows, indent=indent))
    return [row for row, is_head in zip(rows, found, strict=True) if is_head]


def lines(*rows: str, indent: dict[str, float] | None = None) -> list[Line]:
    return [
        Line(number=number, page_number=1, bbox=Rect((indent or {}).get(row, 0.0), 0, 100, 1), text=row)
        for number, row in enumerate(rows, start=1)
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("Total assets\t1,234\t987", True),
        ("Total assets\t$ 1,234", True),
        ("Net loss\t(12)\t—", True),
        ("Margin\t12.5%", True),
        ("Sales\t240 million", True),
        ("Cost of sales . . . . $ (1,380)", True),
        ("10.5*\tAgreement of June 5, 2009", True),
        ("Shops in total\t2019\t2005", True),
        ("Founded\t1998", True),
        ("2021\t2020\t2019", False),
        ("2021 2020", False),
        ("Year ended December 31,\t2021\t2020", False),
        ("Year ended December 31,\t2021", False),
        ("(in millions)\t2021(a)\t2020", False),
        ("Geschäftsjahr\t2021\t2020\t2021\t2020", False),
        ("June 30, 2021\tDecember 31, 2020", False),
        ("\tLevel 1\tLevel 2", False),
        ("Current assets:", False),
    ],
)
def test_rows_with_amounts_are_data(row: str, expected: bool) -> None:
    assert tables.is_data(row) is expected


@pytest.mark.parametrize(
    ("top", "header"),
    [
        (("(in millions)", "Year ended December 31,", "2021\t2020"), 3),
        (("Shops\t2021\t2020",), 1),
        (("As of December 31,", "2021\t2020", "ASSETS", "Current assets:"), 2),  # a group's label heads no column
        (("2021\t2020", "(in millions)", "Northern shops"), 2),
        (("Northern shops",), 0),
        ((), 0),
    ],
)
def test_all_rows_that_name_columns_are_header(top: tuple[str, ...], header: int) -> None:
    assert heads(*top, *DATA) == list(top[:header])


def test_rows_that_stand_over_the_numbers_name_columns_too() -> None:
    top = ("Revenue", "of shops", "Northern shops")
    assert heads(*top, *DATA, indent={"Revenue": 60.0, "of shops": 55.0}) == list(top[:2])


def test_the_year_of_the_last_group_is_its_section() -> None:
    head, first, second = "\tNorth\tSouth", "For the year ended May 31, 2021", "For the year ended May 31, 2020"
    rows = tables.rows_of(lines(head, first, *DATA[:5], second, *DATA[5:8]))
    assert [row.section for row in rows[2:7]] == [first] * 5
    assert [row.section for row in rows[8:]] == [second] * 3
    assert {cell.head for row in rows[2:7] for cell in row.cells[1:]} == {"North", "South"}


def test_columns_named_anew_take_the_place_of_the_first() -> None:
    rows = ["2021\t2020", *DATA[:5], "Six months ended", "June 2019\tJune 2018", "2019\t2018", *DATA[5:8]]
    explained = tables.rows_of(lines(*rows), "Sales of shops:")
    assert [cell.head for cell in explained[1].cells[1:]] == ["2021", "2020"]
    assert [cell.head for cell in explained[-1].cells[1:]] == ["June 2019 2019", "June 2018 2018"]
    assert {row.caption for row in explained} == {"Sales of shops:"}


def test_a_table_of_words_has_its_first_row_as_head() -> None:
    assert heads(*WORDS) == [WORDS[0]]
    assert heads("1.1\tA deed", *WORDS[1:]) == []


@pytest.mark.parametrize(
    ("above", "caption"),
    [
        (["Sales fell.", "The following table shows our shops:"], ["The following table shows our shops:"]),
        (["Table 4: Sales of shops"], ["Table 4: Sales of shops"]),
        (["(in millions)"], ["(in millions)"]),
        (
            ["(in millions)", "Six Months Ended", "June 30, 2021 2020"],
            ["(in millions)", "Six Months Ended", "June 30, 2021 2020"],
        ),
        (["2021 2020", "Cash at the beginning $ 24,977 $ 35,929"], ["2021 2020"]),
        (["Table of Contents"], []),
        (["Sales fell everywhere."], []),
        ([f"{'Sales fell. ' * 30} The following table shows our shops:"], []),
        ([], []),
    ],
)
def test_captions_say_what_in_which_unit_and_when(above: list[str], caption: list[str]) -> None:
    assert tables.caption_rows(above) == caption


def block(number: int, kind: BlockKind, *rows: str, page: int = 1) -> TextBlock:
    box = Rect(0, number, 100, number + len(rows))
    return TextBlock(
        page_number=page, bbox=box, line_start=number, line_end=number + len(rows) - 1, text="\n".join(rows), kind=kind
    )


def contexts(*blocks: TextBlock) -> list[str]:
    chunks = split_blocks(blocks, document_id=uuid.uuid4(), name="shops.pdf", title=None, options=SMALL)
    return [chunk.context.partition("\n")[2] for chunk in chunks if chunk.lines[0].kind is BlockKind.TABLE]


def test_later_chunks_of_a_table_carry_caption_unit_and_years() -> None:
    header = ("(in millions)", "Year ended December 31,", "2021\t2020")
    caption = block(1, BlockKind.TEXT, "Sales of our shops", "were as follows:")
    found = contexts(caption, block(3, BlockKind.TABLE, *header, *DATA))
    assert len(found) > 2
    assert set(found) == {"Sales of our shops were as follows: · (in millions)\nYear ended December 31,\t2021\t2020"}


def test_a_caption_stands_on_the_tables_own_page() -> None:
    elsewhere = block(1, BlockKind.TEXT, "(in thousands)")
    found = contexts(elsewhere, block(2, BlockKind.TABLE, "2021\t2020", *DATA, page=2))
    assert set(found[1:]) == {"\t2021\t2020"}


def test_of_long_heads_the_ends_next_to_the_data_stay() -> None:
    header = [f"{name} {'of all northern and southern shops ' * 3}\tcolumn" for name in ("first", "second", "third")]
    found = contexts(block(1, BlockKind.TABLE, *header, "2021\t2020", *DATA))
    assert [head.split()[-1] for head in found[-1].split("\t")[1:]] == ["2021", "2020"]
    assert len(found[-1]) <= MAX_CONTEXT_CHARS
