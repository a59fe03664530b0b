"""Rows of tables on pages are put together, and totals and sections are told apart."""

from collections.abc import Sequence
from decimal import Decimal

import pytest

from rag import errors, tables, types
from rag.answering.tables.data_tables import TypedTable, read_tables

Rows = Sequence[Sequence[str]]


def lines(rows: Rows, page: int = 1, first: int = 1) -> list[types.Line]:
    """The lines of a table on a page, with what their rows mean."""
    found = [
        types.Line(
            number=first + index,
            page_number=page,
            bbox=types.Rect(72, 20.0 + 12 * index, 500, 30.0 + 12 * index),
            text="\t".join(row),
            kind=types.BlockKind.TABLE,
            starts_block=index == 0,
        )
        for index, row in enumerate(rows)
    ]
    return [line.model_copy(update={"row": row}) for line, row in zip(found, tables.rows_of(found), strict=True)]


def read(*pages: Rows) -> list[TypedTable]:
    """The tables of pages with a table each."""
    made: list[types.Line] = []
    for number, rows in enumerate(pages, start=1):
        made += lines(rows, number, len(made) + 1)
    return read_tables(made, {})


HEADS = ("Item", "Price", "Sold")


def test_a_table_goes_on_on_the_next_page() -> None:
    (table,) = read([HEADS, ("Chairs", "10.50", "3"), ("Tables", "20.00", "4")], [HEADS, ("Lamps", "5.00", "9")])
    assert (table.info.row_count, table.info.page_start, table.info.page_end) == (3, 1, 2)
    assert [column.name for column in table.info.columns] == ["item", "price", "sold"]
    assert table.columns[1].values == [Decimal("10.50"), Decimal("20.00"), Decimal("5.00")]
    assert [row.number for row in table.rows] == [1, 2, 3]


def test_other_heads_begin_another_table() -> None:
    first, second = read([HEADS, ("Chairs", "10", "3"), ("Lamps", "5", "9")], [("City", "Rent"), ("Bonn", "700")])
    assert [column.head for column in second.info.columns] == ["City", "Rent"]
    assert (first.info.row_count, second.info.row_count) == (2, 1)
    assert len(read([HEADS, ("Chairs", "10", "3")], [], [HEADS, ("Lamps", "5", "9")])) == 2  # a page is between them


def test_rows_that_only_name_a_section_are_not_counted() -> None:
    rows = [HEADS, ("Wood", "", ""), ("Chairs", "10", "3"), ("Metal", "", ""), ("Lamps", "5", "9")]
    (table,) = read([("\t".join(row).strip(),) if not row[1] else row for row in rows])
    assert [(row.cells[0], row.section) for row in table.rows] == [("Chairs", "Wood"), ("Lamps", "Metal")]
    assert table.info.notes == ("Rows not counted that only name a section: 1, 3.",)


def test_a_list_of_two_columns_has_rows_without_a_value() -> None:
    (table,) = read([("Name", "Score"), ("Ann", "5"), ("Bob",), ("Cy", "7")])
    assert [row.cells for row in table.rows] == [["Ann", "5"], ["Bob", ""], ["Cy", "7"]]


@pytest.mark.parametrize(
    ("rows", "totals"),
    [
        ([("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Total", "15", "12")], (3,)),
        ([("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Total furniture", "15", "12")], (3,)),
        ([("Stühle", "10", "3"), ("Lampen", "5", "9"), ("Summe:", "15", "")], (3,)),
        ([("A", "1", "1"), ("B", "2", "2"), ("Subtotal", "3", "3"), ("C", "4", "4"), ("Total", "7", "7")], (3, 5)),
        ([("Chairs", "10.04", "3"), ("Lamps", "5.04", "9"), ("Total all", "15.1", "12")], (3,)),
        ([("North", "1", "2"), ("West", "4", "4"), ("North total", "5", "6"), ("Total", "5", "6")], (3, 4)),
        ([("Total Energies SE", "10", "3"), ("Shell", "5", "9"), ("Totalview Inc", "7", "2")], ()),
    ],
)
def test_totals_do_not_count(rows: Rows, totals: tuple[int, ...]) -> None:
    (table,) = read([HEADS, *rows])
    assert table.info.totals == totals
    assert table.info.row_count == len(rows) - len(totals)


def test_rows_that_are_only_named_like_totals_are_counted_and_told() -> None:
    (table,) = read([HEADS, ("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Total assets", "99", "99")])
    assert table.info.row_count == 3
    assert table.info.notes == ("Rows counted that may be totals of others: 3.",)


def test_rows_with_the_sums_of_those_below_are_told() -> None:
    rows = [("Hardware", "300"), ("Laptops", "200"), ("Screens", "100"), ("Software", "50"), ("Licences", "50")]
    (table,) = read([("Item", "Cost"), *rows])
    assert table.may_be_totals == [1, 4]
    assert table.info.notes == ("Rows counted that may be totals of others: 1, 4.",)
    for other in (("Chairs", "7"), ("Lamps", "0")):
        (table,) = read([("Item", "Cost"), *rows, other])
        assert not table.may_be_totals


def test_a_last_row_of_sums_without_a_label_is_a_total() -> None:
    rows = [("1", "Chairs", "10"), ("2", "Lamps", "5"), ("", "", "15")]
    (table,) = read([("No", "Item", "Price"), *rows])
    assert table.info.totals == (3,)


def test_units_and_scales_are_those_of_heads() -> None:
    heads = ("Region", "Sales (EUR million)", "Growth in %", "Staff")
    (table,) = read([heads, ("North", "12.5", "3.1", "40"), ("South", "8", "1.0", "20")])
    assert [(column.unit, column.scale) for column in table.info.columns] == [
        (None, None),
        ("€", "million"),
        ("%", None),
        (None, None),
    ]


def test_the_head_of_labels_may_have_the_scale_of_the_figures() -> None:
    (table,) = read([("(In thousands)", "2023", "2022"), ("Revenue", "5,200", "4,800"), ("Costs", "3,100", "2,900")])
    assert [column.scale for column in table.info.columns] == [None, "thousand", "thousand"]


def test_names_of_columns_are_words_and_differ() -> None:
    (table,) = read([("Year", "2023", "Price (€)", "Price"), ("a", "1", "2", "3"), ("b", "1", "2", "3")])
    assert [column.name for column in table.info.columns] == ["year", "c_2023", "price", "price_2"]


def test_lines_that_chunking_has_split_are_whole_again() -> None:
    whole = lines([HEADS, ("Lamps", "5", "9"), ("Chairs of oak and ash", "10", "3")])
    text = whole[2].text
    parts = [whole[2].model_copy(update={"text": part, "row": None}) for part in (text[:7], text[7:])]
    (table,) = read_tables([whole[0], whole[0], whole[1], *parts], {})
    assert [row.cells for row in table.rows] == [["Lamps", "5", "9"], ["Chairs of oak and ash", "10", "3"]]


def test_too_large_tables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(types, "MAX_TABLE_ROWS", 2)
    with pytest.raises(errors.LimitError, match="3 rows"):
        read([HEADS, ("a", "1", "1"), ("b", "1", "1"), ("c", "1", "1")])


@pytest.mark.parametrize(
    ("rows", "totals"),
    [
        ([("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Average", "7.5", "6")], (3,)),
        ([("Durchschnitt", "7.5", "6"), ("Chairs", "10", "3"), ("Lamps", "5", "9")], (1,)),
        ([("All", "15", "12"), ("Chairs", "10", "3"), ("Lamps", "5", "9")], (1,)),
        ([("Total", "15", "12"), ("Chairs", "10", "3"), ("Lamps", "5", "9")], (1,)),
        ([("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Total", "15", "12"), ("Average", "7.5", "6")], (3, 4)),
        ([("Chairs", "10", "3"), ("Lamps", "5", "9"), ("Total", "99", "12"), ("Average", "7.5", "6")], (3, 4)),
        ([("A", "1", "1"), ("Subtotal", "1", "1"), ("C", "4", "4"), ("Total", "5", "5")], (2, 4)),
        ([("Chairs", "10%", "3%"), ("Lamps", "5%", "9%"), ("Average", "7.5%", "6%")], (3,)),
        ([("Chairs", "10%", "3%"), ("Lamps", "5%", "9%"), ("Desks", "15%", "12%")], ()),
    ],
)
def test_sums_and_averages_of_the_others_do_not_count(rows: Rows, totals: tuple[int, ...]) -> None:
    (table,) = read([HEADS, *rows])
    assert table.info.totals == totals


@pytest.mark.parametrize("label", ["Overall", "All", "Average", "Total"])
def test_rows_that_do_not_add_up_are_counted_and_told(label: str) -> None:
    (table,) = read([HEADS, ("Chairs", "10", "3"), (label, "99", "70"), ("Lamps", "5", "9")])
    assert table.info.row_count == 3
    assert table.info.notes == ("Rows counted that may be totals of others: 2.",)


def test_the_only_row_is_no_total() -> None:
    (table,) = read([HEADS, ("Total", "10", "3")])
    assert table.info.row_count == 1


def test_units_of_the_caption_are_those_of_amounts() -> None:
    heads = ("Region", "Sales", "Growth in %", "Employees", "EPS", "Umsatz je Aktie", "Gross margin")
    rows = [(name, "12.5", "3", "40", "1.2", "2.5", "30") for name in ("North", "South")]
    given = [
        line.model_copy(update={"row": line.row and line.row.model_copy(update={"caption": "Figures in EUR million"})})
        for line in lines([heads, *rows])
    ]
    (table,) = read_tables(given, {})
    units = [(column.unit, column.scale) for column in table.info.columns[1:]]
    assert units == [("€", "million"), ("%", None), *[(None, None)] * 4]
    assert table.info.notes == ("“Sales” is in million € only according to the title of the table.",)


def test_names_of_columns_differ_from_those_of_units() -> None:
    (table,) = read([("Name", "A_unit", "A"), ("x", "1", "$2"), ("y", "2", "€3")])
    assert [column.name for column in table.info.columns] == ["name", "a_unit", "a_2"]


@pytest.mark.parametrize(
    ("rows", "totals", "note"),
    [
        ([("a", "10", "3"), ("b", "5", "9"), ("c", "7", "2"), ("Accrued expenses", "22", "14")], (4,), "left out"),
        ([("a", "10", "3"), ("b", "5", "9"), ("c", "7", "2"), ("d", "22", "15")], (), None),
        ([("a", "10", "x"), ("b", "5", "x"), ("c", "7", "y"), ("d", "22", "z")], (), "may be totals"),
        ([("a", "10", "3"), ("b", "5", "9"), ("d", "15", "12")], (), None),
        ([("a", "10", "3"), ("b", "5", "9"), ("Total", "26", "99")], (3,), "not the sums of the rows counted: 3"),
    ],
)
def test_a_last_row_of_exact_sums_is_a_total_by_any_name(rows: Rows, totals: tuple[int, ...], note: str | None) -> None:
    (table,) = read([HEADS, *rows])
    assert table.info.totals == totals
    assert any(note in told for told in table.info.notes) if note else not table.info.notes


@pytest.mark.parametrize(
    ("pages", "doubt"),
    [
        ([[HEADS, ("Chairs", "10", "3"), ("Lamps", "5", "9")]], None),
        ([[HEADS, ("Chairs", "10", "3")], [HEADS, ("Lamps", "5", "9")]], None),
        ([[("Item", "Price", "Price"), ("Chairs", "10", "3")]], "columns without a head of their own"),
        ([[("", "Price", "Sold"), ("Chairs", "10", "3")]], "columns without a head of their own"),
        ([[HEADS, ("Stools", "n.a.", "none"), ("Chairs", "10", "3"), ("Lamps", "5", "9")]], "heads that may be a row"),
        ([[HEADS, ("Chairs", "10", "3"), ("", "5", "9")]], "rows that may be parts of others"),
        ([[HEADS, ("Chairs", "10", "3"), ("of oak", "", ""), ("Lamps", "5", "9")]], "rows that may be parts of others"),
        ([[HEADS, ("Chairs", "10", "3")], [("Lamps", "5", "9"), ("Desks", "6", "1")]], "a part without heads"),
        ([[HEADS, ("Chairs", "10", "3")], [], [HEADS, ("Lamps", "5", "9")]], "other tables with the same heads"),
        ([[HEADS, ("Chairs", "10", "3"), ("Total", "99", "99")]], "a total that is not the sum of its rows"),
    ],
)
def test_tables_on_pages_may_be_read_in_part(pages: Sequence[Rows], doubt: str | None) -> None:
    first, *_ = read(*pages)
    assert doubt in first.doubts if doubt else not first.doubts


@pytest.mark.parametrize(
    ("text", "top", "is_doubted"), [("A note", 34.0, True), ("A note", 56.0, False), ("Desks 12,000", 56.0, True)]
)
def test_text_at_a_table_may_be_one_of_its_rows(text: str, top: float, *, is_doubted: bool) -> None:
    rows = lines([HEADS, ("Chairs", "10", "3"), ("Lamps", "5", "9")])
    beside = types.Line(number=9, page_number=1, bbox=types.Rect(80, top, 300, top + 8), text=text)
    (table,) = read_tables([*rows, beside], {})
    assert ("text between its rows" in table.doubts) is is_doubted


def test_units_at_the_end_of_heads_are_those_of_figures() -> None:
    heads = ("River", "Length (km)", "Term in months", "Width (m)", "Hours (h worked)")
    (table,) = read([heads, ("Elbe", "1094", "3", "5", "8"), ("Isar", "295", "4", "2", "7")])
    assert [column.unit for column in table.info.columns] == [None, "km", "month", None, None]
