"""Cells of a column are read as numbers with units, as dates, or as text."""

import datetime as dt
from decimal import Decimal

import pytest

from rag.answering.tables.cell_values import COMMA, POINT, is_nothing, read_column, read_figure

FIGURES = [
    ("1,234.50", "1234.50", None),
    ("(300)", "-300", None),
    ("$ (1,250.00)", "-1250.00", "$"),
    ("-$5", "-5", "$"),
    ("5-", "-5", None),
    ("−7.5", "-7.5", None),
    ("12.5 %", "12.5", "%"),
    ("€ 3.5 million", "3500000", "€"),
    ("1.5 Mio. EUR", "1500000", "€"),
    ("3.4k", "3400", None),
    ("30,000 USD", "30000", "US$"),
    ("5 kg", "5", "kg"),
    ("1,23,456", "123456", None),
    ("10’000.50", "10000.50", None),
    ("1 234 567", "1234567", None),
    ("1,234 *", "1234", None),
]


@pytest.mark.parametrize(("cell", "value", "unit"), FIGURES)
def test_figures_have_exact_values_and_units(cell: str, value: str, unit: str | None) -> None:
    figure = read_figure(cell)
    assert figure is not None
    assert (figure.by_mark[POINT], figure.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    "cell", ["00123", "(A)", "Q1", "12/03/2024", "100 items", "3x", "1.2.3", "(5", "5 kg €", "x" * 99 + "1"]
)
def test_what_has_anything_else_is_no_figure(cell: str) -> None:
    figure = read_figure(cell)
    assert figure is None or not any(figure.by_mark.values())


@pytest.mark.parametrize("cell", ["", " ", "-", "–", "n/a", "N/A", "k.A.", "n.m."])
def test_some_cells_stand_for_no_value(cell: str) -> None:
    assert is_nothing(cell)


def test_numbers_with_leading_zeros_make_a_column_of_names() -> None:
    assert read_column(["01067", *["50667"] * 20]).kind == "text"


def test_the_decimal_mark_is_that_of_the_whole_column() -> None:
    assert read_column(["1.234", "5.678", "9,5"]).values == [Decimal(1234), Decimal(5678), Decimal("9.5")]
    thousands = read_column(["1,234", "5,678"])
    assert (thousands.values, thousands.note) == ([Decimal(1234), Decimal(5678)], None)
    open_column = read_column(["1.234", "5.678"], mark=POINT)
    assert open_column.values[0] == Decimal("1.234")
    assert open_column.note == "“1.234” is read with “.” as the decimal mark."
    assert read_column(["1.234", "5.678"], mark=COMMA).values[0] == Decimal(1234)


def test_units_that_differ_are_told_and_cells_that_cannot_be_read_are_counted() -> None:
    assert read_column(["$5", "€6", "–"]).units == ["$", "€", None]
    column = read_column([*(str(n) for n in range(19)), "tbd"])
    assert (column.kind, column.unread, column.values[-1]) == ("number", (19,), None)
    assert read_column(["1", "2", "three", "4"]).kind == "text"
    assert read_column(["0012", "0107", "1203"]).kind == "text"


DATES = [
    ("2024-03-01", "2024-03-01"),
    ("01.03.2024", "2024-03-01"),
    ("13/4/24", "2024-04-13"),
    ("March 12, 2024", "2024-03-12"),
    ("12. März 2024", "2024-03-12"),
    ("12-Mar-2024", "2024-03-12"),
    ("2024-03-01 12:30", "2024-03-01T12:30"),
    ("28/4/2024 1:05 PM", "2024-04-28T13:05"),
]


@pytest.mark.parametrize(("cell", "moment"), DATES)
def test_dates_are_read(cell: str, moment: str) -> None:
    expected = dt.datetime.fromisoformat(moment)
    assert read_column([cell]).values == [expected if expected.time() != dt.time() else expected.date()]


@pytest.mark.parametrize("cell", ["31.02.2024", "1.2.3", "March", "Section 4.5.2024b"])
def test_anything_else_is_no_date(cell: str) -> None:
    assert read_column([cell]).kind == "text"


def test_the_order_of_day_and_month_is_that_of_the_whole_column() -> None:
    assert read_column(["3/4/2024", "13/4/2024"]).values[0] == dt.date(2024, 4, 3)
    open_column = read_column(["3/4/2024", "5/6/2024"])
    assert open_column.values[0] == dt.date(2024, 3, 4)
    assert open_column.note == "“3/4/2024” is read as 2024-03-04."
    assert read_column(["3/4/2024", "5/6/2024"], month_first=False).values[0] == dt.date(2024, 4, 3)
    assert read_column(["2024-03-01 10:00", "2024-03-02"]).kind == "time"


@pytest.mark.parametrize(
    ("cells", "kind", "unit", "values"),
    [
        (["$3m", "$4.5m"], "number", "$", ["3000000", "4500000"]),
        (["€1.2bn", "€3.4m"], "number", "€", ["1200000000", "3400000"]),
        (["2 m €", "5 Mio. €"], "number", "€", ["2000000", "5000000"]),
        (["3m", "400k"], "number", None, ["3000000", "400000"]),
        (["$5", "3m"], "number", "$", ["5", "3000000"]),
        (["3 m", "5 metres"], "number", "m", ["3", "5"]),
        (["3m", "700"], "text", None, None),
    ],
)
def test_a_small_m_is_millions_with_money_and_other_scales(
    cells: list[str], kind: str, unit: str | None, values: list[str] | None
) -> None:
    column = read_column(cells)
    assert (column.kind, column.unit) == (kind, unit)
    assert values is None or column.values == [Decimal(value) for value in values]
