"""Typed values of fields: read from words of documents, normalised, compared and shown."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from rag.answering.field_values import Unit, Value, normalised, parse_unit, same, shown, values_in
from rag.types import FieldType

MILLIONS = frozenset({1e6})


def read(text: str, kind: FieldType, **options: Any) -> list[tuple[object, str | None]]:
    """Return values and units; the words of each must stand at its place."""
    found = values_in(text, kind, **options)
    assert all(value.words == text[value.start : value.end] and value.words for value in found)
    assert [value.start for value in found] == sorted(value.start for value in found)
    return [(value.value, value.unit) for value in found]


def words(text: str, kind: FieldType, **options: Any) -> list[str]:
    return [value.words for value in values_in(text, kind, **options)]


# --- units ---


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        *(
            (text, Unit("USD", 1e6))
            for text in ("million USD", "$m", "$ millions", "US$m", "in millions of US dollars")
        ),
        *(
            (text, Unit("EUR", 1e3))
            for text in ("TEUR", "T€", "k€", "Tsd. €", "thousand euros", "EUR '000", "EUR 000s")
        ),
        *((text, Unit("EUR", 1e6)) for text in ("Mio. EUR", "EURm", "m€", "€ million", "MEUR", "(€ in millions)")),
        ("USD in thousands", Unit("USD", 1e3)),
        ("RMB billion", Unit("CNY", 1e9)),
        ("Rs. crore", Unit("INR", 1e7)),
        ("usd", Unit("USD")),
        ("CZK", Unit("CZK")),
        ("Swiss francs", Unit("CHF")),
        ("$", Unit("USD")),
        ("A$", Unit("AUD")),
        ("USD per share", Unit("USD", name="per share")),
        *((text, Unit("EUR", name="per month")) for text in ("EUR per month", "EUR p.m.", "EUR monthly")),
        ("EUR p.a.", Unit("EUR", name="per year")),
        ("EUR per annum", Unit("EUR", name="per year")),
        ("GBP per sq ft", Unit("GBP", name="per square foot")),
        ("EUR/m²", Unit("EUR", name="per m²")),
        ("thousand", Unit(scale=1e3)),
        *((text, Unit(name="%")) for text in ("%", "per cent", "percent", "Prozent", "% of revenue")),
        ("bps", Unit(name="basis points")),
        ("percentage points", Unit(name="percentage points")),
        ("ratio", Unit(name="fraction")),
        ("x", Unit(name="times")),
        ("sq ft", Unit(name="square foot")),
        ("years", Unit(name="year")),
        ("million tonnes", Unit(scale=1e6, name="tonne")),
        ("employees", Unit(name="employees")),
        ("number of employees", Unit(name="employees")),
        ("", Unit()),
    ],
)
def test_a_unit_is_parsed_in_any_spelling(written: str, unit: Unit) -> None:
    assert parse_unit(written) == unit
    assert parse_unit(unit.text or "") == unit


def test_a_bare_dollar_is_the_one_meant() -> None:
    assert parse_unit("$m", dollar="AUD") == Unit("AUD", 1e6)


# --- money ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a fee of $1.2 billion", 1200.0),
        ("$1.2bn", 1200.0),
        ("$1,234.5 million", 1234.5),
        ("US$ 3.4 million", 3.4),
        ("USD 1.2 bn", 1200.0),
        ("USD 5m", 5.0),
        ("USD 500k", 0.5),
        ("USD 5b", 5000.0),
        ("$m 12", 12.0),
        ("$5 m", 5.0),
        ("12 million of US dollars", 12.0),
        ("five million dollars", 5.0),
        ("a loss of $(1.2) billion", -1200.0),
        ("$(1,234) million", -1234.0),
        ("−$350 million", -350.0),
        ("-$350,000", -0.35),
        ("minus $2 million", -2.0),
        ("$１２ million", 12.0),
        ("$1,234¹ million", 1234.0),
    ],
)
def test_money_is_converted_to_the_scale_asked_for(text: str, value: float) -> None:
    assert read(text, "money", unit="million USD") == [(value, "million USD")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.234,5 Mio. EUR", 1_234_500_000.0),
        ("Tsd. €  350", 350_000.0),
        ("TEUR 1.250", 1_250_000.0),
        ("T€ 1.250,5", 1_250_500.0),
        ("1.250 TEUR", 1_250_000.0),
        ("3,5 Mrd. €", 3_500_000_000.0),
        ("€ 1.234", 1_234.0),
        ("EUR 1.234.567", 1_234_567.0),
        ("1 234,5\u00a0€".replace(" ", "\u202f"), 1_234.5),
        ("12,50 €", 12.5),
        ("200.000,- EUR", 200_000.0),
        ("€ 1 500 000", 1_500_000.0),
        ("1 500 000 €", 1_500_000.0),
    ],
)
@pytest.mark.parametrize("language", ["de", None])
def test_money_is_read_as_germans_write_it(text: str, value: float, language: str | None) -> None:
    assert read(text, "money", unit="EUR", language=language) == [(value, "EUR")]


def test_a_point_before_three_digits_is_read_by_the_language_and_the_other_figures() -> None:
    assert read("1.234 Mio. €", "money", unit="million EUR", language="de") == [(1234.0, "million EUR")]
    assert read("€1.234 million", "money", unit="million EUR", language="en") == [(1.234, "million EUR")]
    assert read("5.000 people, 3.5 jobs", "number", language="de")[0] == (5.0, None)
    assert read("5.000 Leute, 3,5 Stellen", "number", language="en")[0] == (5000.0, None)


def test_another_currency_keeps_its_own_unit() -> None:
    assert read("€5 million or CZK 120", "money", unit="million USD") == [
        (5.0, "million EUR"),
        (0.00012, "million CZK"),
    ]
    assert read("CHF 1'234.50", "money") == [(1234.5, "CHF")]


def test_ends_of_a_range_share_what_one_of_them_states() -> None:
    for text in ("$5 to 10 million", "$5–10 million", "$5 million to 10", "between $5 and $10 million", "USD 5m–10m"):
        assert read(text, "money", unit="million USD") == [(5.0, "million USD"), (10.0, "million USD")]
    assert read("from $500 to $1 million", "money") == [(500.0, "USD"), (1_000_000.0, "USD")]
    assert read("up 12% to $3 million", "money") == [(3_000_000.0, "USD")]
    assert read("5 EUR and 7", "money") == [(5.0, "EUR")]


def test_a_bare_dollar_is_that_of_the_text_or_the_one_asked_for() -> None:
    assert read("A$5 and $7", "money") == [(5.0, "AUD"), (7.0, "AUD")]
    assert read("$7", "money", unit="CAD") == [(7.0, "CAD")]
    assert read("$7", "money", unit="EUR") == [(7.0, "USD")]


def test_figures_of_a_row_have_the_declared_scale_and_the_currency_asked_for() -> None:
    row = "Net revenue (1)\t$ 1,234\t(5)\t—"
    expected = [(1234.0, "million USD"), (-5.0, "million USD"), (0.0, "million USD")]
    assert read(row, "money", unit="million USD", scales=MILLIONS) == expected
    assert read(row, "money", unit="USD", scales=MILLIONS)[0] == (1_234_000_000.0, "USD")
    assert read("(in thousands) Revenue\t1,234", "money", unit="USD") == [(1_234_000.0, "USD")]


def test_a_row_of_unknown_scale_says_no_unit() -> None:
    assert read("Revenue\t1,234\t1,100", "money", unit="million USD") == [(1234.0, None), (1100.0, None)]
    assert read("Revenue\t1,234", "money", unit="million USD", scales=frozenset({1e3, 1e6})) == [(1234.0, None)]


def test_amounts_per_unit_have_no_scale_of_the_table() -> None:
    row = "Net earnings per share\t$2.13\t1.99"
    assert read(row, "money", unit="USD per share", scales=MILLIONS) == [
        (2.13, "USD per share"),
        (1.99, "USD per share"),
    ]
    assert read("$2.13 per diluted share", "money", unit="million USD") == [(2.13, "USD per share")]
    assert read("£25 per sq ft", "money", unit="GBP per square foot") == [(25.0, "GBP per square foot")]


def test_counts_and_shares_are_no_money() -> None:
    assert read("5 million shares, 12 %, 3 years", "money", unit="USD", scales=frozenset()) == []
    assert read("a fee of 1,234 million", "money", unit="million USD") == [(1234.0, "million")]


def test_a_header_of_years_is_no_money_but_a_rent_of_2000_is() -> None:
    assert read("EUR 2023\tEUR 2022", "money", unit="EUR", scales=MILLIONS) == []
    assert read("a rent of USD 2000 a month", "money") == [(2000.0, "USD")]
    assert read("$2000", "money") == [(2000.0, "USD")]


# --- numbers ---


@pytest.mark.parametrize(
    ("text", "unit", "values"),
    [
        ("450 full-time employees in 12 countries in 2023", "employees", [(450.0, "employees"), (12.0, None)]),
        ("2000 employees", "employees", [(2000.0, "employees")]),
        ("Employees\t450\t430", "employees", [(450.0, "employees"), (430.0, "employees")]),
        ("sold 3 million tonnes", "thousand tonnes", [(3000.0, "thousand tonne")]),
        ("5,000 sq. ft.", "sq ft", [(5000.0, "square foot")]),
        ("5,000 square feet", "sq ft", [(5000.0, "square foot")]),
        ("12 km", "sq ft", [(12.0, "km")]),
        ("5m deep", None, [(5.0, "m")]),
        ("5k users", None, [(5000.0, None)]),
        ("two subsidiaries", None, [(2.0, None)]),
        ("one of the two firms", None, [(2.0, None)]),
        ("two hundred and fifty thousand units", None, [(250_000.0, None)]),
        ("twenty-five (25) vessels", "vessels", [(25.0, "vessels")]),
        ("fünfundzwanzig Schiffe", "Schiffe", [(25.0, "Schiffe")]),
        ("1.5 × 10⁶ cells", None, [(1_500_000.0, None)]),
        ("12,34,567", None, [(1_234_567.0, None)]),
        ("10½ hours", "hours", [(10.5, "hour")]),
        ("(350)", None, [(-350.0, None)]),
        ("-350", None, [(-350.0, None)]),
        ("nil", None, [(0.0, None)]),
        ("between 5 and 10 km", "km", [(5.0, "km"), (10.0, "km")]),
        ("5–10 km", "km", [(5.0, "km"), (10.0, "km")]),
        ("12.5x", None, [(12.5, "times")]),
    ],
)
def test_numbers_are_read_with_what_they_count(
    text: str, unit: str | None, values: list[tuple[float, str | None]]
) -> None:
    assert read(text, "number", unit=unit) == values


@pytest.mark.parametrize(
    "text",
    ["Form 10-K", "COVID-19", "Note 3", "Section 4.2.1", "§ 5", "the 3rd", "Q3 2023", "May 5, 2023", "31.12.2023",
     "In 2023", "Assets (1)", "v1.2.3", "$5", "5 %", "one of them", "no more", "n/a", "12:30", "INV-0456",
     "2.1 Employees"],
)  # fmt: skip
def test_names_references_notes_and_dates_are_no_numbers(text: str) -> None:
    assert read(text, "number") == []


def test_the_mark_of_a_note_is_no_figure_but_a_negative_cell_is() -> None:
    assert read("Assets\t1,234 (2)\t1,100", "number") == [(1234.0, None), (1100.0, None)]
    assert read("Other\t35\t(2)", "number") == [(35.0, None), (-2.0, None)]


def test_words_say_the_figure_with_its_unit_and_sign() -> None:
    assert words("about 450 full-time employees", "number", unit="employees") == ["450 full-time employees"]
    assert words("loss ($5 million) and (350)", "money") == ["$5 million"]
    assert words("a loss of $ (5) million.", "money") == ["$ (5) million"]
    assert words("thirty (30) days", "number", unit="days") == ["thirty (30) days"]
    assert words("1.234,5 Mio. EUR.", "money") == ["1.234,5 Mio. EUR"]


# --- percentages ---


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4.25 % plus 25 bps", [(4.25, "%"), (0.25, "%")]),
        ("12 per cent", [(12.0, "%")]),
        ("3,5 Prozent", [(3.5, "%")]),
        ("between 5 and 10 %", [(5.0, "%"), (10.0, "%")]),
        ("5-10%", [(5.0, "%"), (10.0, "%")]),
        ("-5 %", [(-5.0, "%")]),
        ("Change\t(12%)", [(-12.0, "%")]),
        ("a majority (51%) of votes", [(51.0, "%")]),
        ("up 2 percentage points", [(2.0, "percentage points")]),
        ("Margin (%)\t21.5\t(3)", [(21.5, "%"), (-3.0, "%")]),
        ("Tax rate\t21", [(21.0, None)]),
        ("12 employees, $5", []),
    ],
)
def test_percentages_are_read(text: str, values: list[tuple[float, str | None]]) -> None:
    assert read(text, "percentage") == values


def test_percentages_are_converted_to_the_share_asked_for() -> None:
    assert read("4.25 %", "percentage", unit="fraction") == [(0.0425, "fraction")]
    assert read("4.25 %", "percentage", unit="bps") == [(425.0, "basis points")]


# --- dates and periods ---


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        *((text, ["2023-12-31"]) for text in (
            "31 December 2023", "31. Dezember 2023", "Dec. 31, 2023", "December 31st, 2023",
            "31st day of December, 2023", "31-Dec-2023", "31-Dec-23", "2023-12-31", "2023/12/31", "31.12.2023",
            "31.12.23", "31. 12. 2023", "31/12/2023", "12/31/2023",
            "31 décembre 2023", "31 de diciembre de 2023", "２０２３-12-31",
        )),
        ("March 2024", ["2024-03"]),
        ("in 1998.", ["1998"]),
        ("Signed: 2024-02-15; sent (on 2024-03-01)", ["2024-02-15", "2024-03-01"]),
        ("FY2023 and FY24", ["2023", "2024"]),
        ("we may 2023", []),
        ("31 February 2023", []),
        ("29 February 2024", ["2024-02-29"]),
        ("2,023 or $2023 or 2023 %", []),
        ("2023/24 financial year", []),
        ("FY 2023/24", []),
        ("years 2019/20 and", []),
        ("section 1.2.23", []),
        ("December 31, 2023 and 2022", ["2023-12-31", "2022"]),
    ],
)  # fmt: skip
def test_dates_are_read_in_any_spelling(text: str, dates: Sequence[str]) -> None:
    assert read(text, "date") == [(date, None) for date in dates]


def test_the_order_of_day_and_month_is_that_of_the_other_dates_or_the_language() -> None:
    assert read("03/04/2023", "date") == read("03/04/2023", "date", language="en") == [("2023", None)]
    assert read("03/04/2023", "date", language="de") == [("2023-04-03", None)]
    assert read("03/04/2023", "date", language="en-GB") == [("2023-04-03", None)]
    assert read("03/04/2023", "date", language="en-US") == [("2023-03-04", None)]
    assert read("03/04/2023 to 03/15/2023", "date", language="de")[0] == ("2023-03-04", None)
    assert read("25/04/2023 to 03/05/2023", "date")[1] == ("2023-05-03", None)
    assert read("03/03/2023", "date") == [("2023-03-03", None)]


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("fiscal year ended December 31, 2023", "2023-01-01/2023-12-31"),
        ("year ended 28 February 2023", "2022-03-01/2023-02-28"),
        ("three months ended March 31, 2024", "2024-01-01/2024-03-31"),
        ("twelve (12) months ended 30 June 2023", "2022-07-01/2023-06-30"),
        ("52 weeks ended September 28, 2024", "2023-10-01/2024-09-28"),
        ("Geschäftsjahr zum 31. Dezember 2023", "2023-01-01/2023-12-31"),
        ("1 January 2020 to 31 December 2024", "2020-01-01/2024-12-31"),
        ("January 1 to December 31, 2023", "2023-01-01/2023-12-31"),
        ("November 1 to January 31, 2024", "2023-11-01/2024-01-31"),
        ("1. Januar bis 31. Dezember 2023", "2023-01-01/2023-12-31"),
        ("1.1.–31.12.2023", "2023-01-01/2023-12-31"),
        ("between March 2023 and May 2024", "2023-03-01/2024-05-31"),
        ("Q2 2023", "2023-04-01/2023-06-30"),
        ("2Q23", "2023-04-01/2023-06-30"),
        ("2. Quartal 2023", "2023-04-01/2023-06-30"),
        ("first half of 2024", "2024-01-01/2024-06-30"),
        ("second quarter of fiscal 2023", "2023-Q2"),
        ("2020-2024", "2020-01-01/2024-12-31"),
        ("Geschäftsjahr 2022/23", "2022/2023"),
        ("fiscal 2023", "2023"),
        ("in 2023", "2023-01-01/2023-12-31"),
        ("December 2023", "2023-12-01/2023-12-31"),
        ("three years", "P3Y"),
        ("five (5) years", "P5Y"),
        ("a 10-year term", "P10Y"),
        ("1.5 years", "P18M"),
        ("18 months' notice", "P18M"),
        ("thirty (30) days", "P30D"),
        ("sixty-six (66) full calendar months", "P66M"),
        ("1,000 days", "P1000D"),
        ("two years and six months", "P2Y6M"),
        ("two quarters", "P6M"),
        ("24 hours", "PT24H"),
        ("drei Jahre", "P3Y"),
        ("mit einer Frist von 36 Monaten", "P36M"),
    ],
)
def test_periods_are_read(text: str, period: str) -> None:
    assert read(text, "period") == [(period, None)]


def test_years_listed_behind_a_day_end_on_it_too() -> None:
    assert read("years ended September 30, 2023 and 2022", "period") == [
        ("2022-10-01/2023-09-30", None),
        ("2021-10-01/2022-09-30", None),
    ]


def test_periods_say_what_their_days_are_and_stand_apart() -> None:
    assert read("within ten business days", "period") == [("P10D", "business days")]
    assert words("five (5) years from 2023", "period") == ["five (5) years", "2023"]
    assert (
        read("a term of 12-18 months", "period")
        == read("12 to 18 months", "period")
        == [("P12M", None), ("P18M", None)]
    )
    assert read("31 December 2023", "period") == []
    assert read("31 December 2024 to 1 January 2020", "period") == []
    assert read("ten million years ended December 31, 2023", "period") == [("P10000000Y", None)]


# --- yes or no, choices, texts ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("☒ Yes ☐ No", [True]),
        ("Yes ☐ No ☒", [False]),
        ("[ ] Ja [x] Nein", [False]),
        ("☐ Yes ☐ No", []),
        ("Assignable: No", [False]),
        ("Is it assignable? Yes", [True]),
        ("Assignable\tYes", [True]),
        ("Ja.", [True]),
        ("no material change, No. 5", []),
        ("Yesterday", []),
    ],
)
def test_yes_and_no_are_read_where_they_stand_alone(text: str, said: Sequence[bool]) -> None:
    assert read(text, "yes_no") == [(value, None) for value in said]


def test_choices_are_found_in_other_spellings_but_not_denied_ones() -> None:
    choices = ["fixed rate", "exclusive", "non-exclusive"]
    text = "a Fixed-Rate, non-exclusive licence, which is not exclusive"
    assert read(text, "choice", choices=choices) == [("fixed rate", None), ("non-exclusive", None)]
    assert read("fixed rates, exclusively", "choice", choices=choices) == []
    assert read("C++ (a.b)", "choice", choices=["a.b", "(", "C++"]) == [("C++", None), ("a.b", None)]
    assert read("anything", "choice") == []


def test_a_text_is_itself_and_records_have_no_value_of_their_own() -> None:
    assert words("  Acme Ltd \n", "text") == ["Acme Ltd"]
    assert read(" ", "text") == read("a", "records") == []


# --- values of a language model ---


@pytest.mark.parametrize(
    ("raw", "kind", "unit", "value"),
    [
        (1234.5, "number", None, 1234.5),
        ("1,234.5", "number", None, 1234.5),
        ("1 234,5", "number", None, 1234.5),
        ("(350)", "number", None, -350.0),
        ("2023", "number", None, 2023.0),
        ("about 450 employees", "number", "employees", 450.0),
        ("$1.2bn", "money", "million USD", 1200.0),
        ("1.2", "money", "million USD", 1.2),
        ("1,234 thousand", "money", "USD", 1_234_000.0),
        ("USD 5 million", "money", "$m", 5.0),
        (12, "percentage", None, 12.0),
        ("12 %", "percentage", None, 12.0),
        ("12", "percentage", None, 12.0),
        ("31 December 2023", "date", None, "2023-12-31"),
        ("2023-12-31T00:00:00Z", "date", None, "2023-12-31"),
        ("2023-12", "date", None, "2023-12"),
        (2023, "date", None, "2023"),
        ("three (3) years", "period", None, "P3Y"),
        ("P2Y6M", "period", None, "P2Y6M"),
        ("2023-01-01/2023-12-31", "period", None, "2023-01-01/2023-12-31"),
        ("2022/2023", "period", None, "2022/2023"),
        ("2023-Q2", "period", None, "2023-Q2"),
        (True, "yes_no", None, True),
        ("Yes, subject to consent", "yes_no", None, True),
        ("nein", "yes_no", None, False),
        ("FALSE", "yes_no", None, False),
        (" Acme\n Ltd ", "text", None, "Acme Ltd"),
        (5, "text", None, "5"),
    ],
)
def test_a_value_of_a_model_is_normalised(raw: object, kind: FieldType, unit: str | None, value: object) -> None:
    result = normalised(raw, kind, unit)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("raw", "kind", "unit", "message"),
    [
        (None, "text", None, "There is no value."),
        ("  ", "number", None, "There is no value."),
        ("—", "number", None, "There is no value."),
        ("many", "number", None, "“many” is not a number."),
        (True, "number", None, "'True' is not a number."),
        ([1], "text", None, "is not a text."),
        (float("nan"), "number", None, "The number is not finite."),
        (10**400, "number", None, "The number is not finite."),
        ("9" * 400, "number", None, "is not a number."),
        ("5-10 %", "percentage", None, "“5-10 %” is more than one value."),
        ("€5", "money", "USD", "“€5” is in EUR, not in USD."),
        ("5 km", "number", "m²", "“5 km” is in km, not in m²."),
        ("2023-02-30", "date", None, "is not a date."),
        ("2023-12-31/2023-01-01", "period", None, "The period ends before it begins."),
        ("maybe", "yes_no", None, "“maybe” is not yes or no."),
        ([], "records", None, "is not records."),
        ("x" * 20_000, "text", None, "longer than 10,000 characters"),
    ],
)
def test_what_is_no_value_is_refused(raw: object, kind: FieldType, unit: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        normalised(raw, kind, unit)


def test_a_choice_is_given_as_listed_or_refused() -> None:
    assert normalised("FIXED-RATE", "choice", choices=["fixed rate", "floating"]) == "fixed rate"
    with pytest.raises(ValueError, match="“other” is none of: fixed rate, floating"):
        normalised("other", "choice", choices=["fixed rate", "floating"])


# --- the same ---


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("$1.2 billion", "$1,234 million", True),
        ("$1.2 billion", "$1,300 million", False),
        ("$1,200 million", "$1,234 million", False),
        ("$1,234 million", "US$1,234,000,000", True),
        ("$1,234", "€1,234", False),
        ("$1,234", "$(1,234)", False),
        ("1,23 Mio. €", "TEUR 1.234", True),
        ("$0", "$5", False),
    ],
)
def test_amounts_are_the_same_as_precisely_as_the_coarser_one(one: str, other: str, is_same: bool) -> None:
    (first,), (second,) = values_in(one, "money"), values_in(other, "money")
    assert same(first, second, "money") is same(second, first, "money") is is_same


@pytest.mark.parametrize(
    ("one", "other", "kind", "is_same"),
    [
        (12.0, 12.0, "number", True),
        (1200.0, 1234.0, "number", False),
        ("2023-12-31", "2023", "date", True),
        ("2023-12-31", "2023-12", "date", True),
        ("2023-12-31", "2023-11", "date", False),
        ("P3Y", "P36M", "period", True),
        ("P2W", "P14D", "period", True),
        ("P1Y", "P365D", "period", False),
        ("2023", "2022-10-01/2023-09-30", "period", True),
        ("2022/2023", "2022-10-01/2023-09-30", "period", True),
        ("2021", "2022-10-01/2023-09-30", "period", False),
        ("2023", "2023-01-01/2023-03-31", "period", False),
        ("Acme, Inc.", "ACME Inc", "text", True),
        ("Acme", "Acme Two", "text", False),
        (True, True, "yes_no", True),
        (True, False, "yes_no", False),
        (None, None, "text", True),
        (None, "a", "text", False),
    ],
)
def test_plain_values_are_compared(one: Any, other: Any, kind: FieldType, is_same: bool) -> None:
    assert same(one, other, kind) is same(other, one, kind) is is_same


def test_shares_are_the_same_in_per_cent_and_as_a_fraction() -> None:
    fraction = Value(0.12, "fraction", "0.12", 0, 4)
    assert same(fraction, Value(12.0, "%", "12 %", 0, 4), "percentage")
    assert not same(fraction, Value(13.0, "%", "13 %", 0, 4), "percentage")


# --- shown ---


@pytest.mark.parametrize(
    ("value", "unit", "kind", "english", "german"),
    [
        (1234.5, "million USD", "money", "1,234.5 million USD", "1.234,5 Mio. USD"),
        (12.5, "%", "percentage", "12.5%", "12,5 %"),
        (450.0, "employees", "number", "450 employees", "450 employees"),
        (3.0, "year", "number", "3 years", "3 Jahre"),
        (1e22, None, "number", "10,000,000,000,000,000,000,000", "10.000.000.000.000.000.000.000"),
        ("2023-12-31", None, "date", "31 December 2023", "31. Dezember 2023"),
        ("2023-12", None, "date", "December 2023", "Dezember 2023"),
        ("2023", None, "date", "2023", "2023"),
        ("2023-01-01/2023-03-31", None, "period", "1 January 2023 – 31 March 2023", "1. Januar 2023 – 31. März 2023"),
        ("P2Y6M", None, "period", "2 years 6 months", "2 Jahre 6 Monate"),
        ("P10D", "business days", "period", "10 business days", "10 business days"),
        ("2023-Q2", None, "period", "Q2 2023", "Q2 2023"),
        (True, None, "yes_no", "Yes", "Ja"),
        (False, None, "yes_no", "No", "Nein"),
        ("fixed rate", None, "choice", "fixed rate", "fixed rate"),
        (None, None, "text", "", ""),
    ],
)  # fmt: skip
def test_a_value_is_shown_in_the_language(
    value: Any, unit: str | None, kind: FieldType, english: str, german: str
) -> None:
    assert shown(value, unit, kind) == english
    assert shown(value, unit, kind, "de") == german


# --- hostile texts ---

REPEATED = (
    "1 ", "(1) ", "$1 ", "five ", "twenty-", "1,234", "9", "five (5) ", "12/", "12/12/", "January 1 to ", "2023-",
    "[x] ", "Yes [ ] ", "EUR ", "Tsd. €", "- ", "—\t", "nil\t", "a ", "three months ended ", "( ", "1.1.", "Q1 2023 ",
    "fixed-", "1 year and ", "minus ", "per ", "5 to ", "１", "¼", "one hundred and ",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["number", "money", "percentage", "date", "period", "yes_no", "choice", "text"])
def test_time_is_in_proportion_to_the_text(kind: FieldType) -> None:
    def seconds(chars: int) -> float:
        began = time.thread_time()
        for repeated in REPEATED:
            text = (repeated * (chars // len(repeated) + 1))[:chars]
            values_in(text, kind, unit="million USD" if kind == "money" else None, choices=["fixed rate"])
        return time.thread_time() - began

    seconds(500)  # fills caches
    assert seconds(4000) < 10 * max(seconds(1000), 0.02)
