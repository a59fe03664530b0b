"""Units of made passages: rows that know their columns, what belongs to the page, pairs of label and value."""

from typing import NamedTuple

import pytest

from rag.answering.passages.quotable_units import Unit, split_passage
from rag.answering.passages.statements import display_text
from rag.types import BlockKind, Passage, Span
from tests import sources


class Row(NamedTuple):
    """A row in words: its label, and its cells by column."""

    label: str | None
    cells: list[tuple[str, str]]


def texts(passage: Passage) -> list[str]:
    return [passage.text[slice(*unit.span)] for unit in split_passage(passage)]


def said(passage: Passage) -> list[str]:
    return [passage.text[slice(*unit.span)] for unit in split_passage(passage) if not unit.is_boilerplate]


def words(passage: Passage, span: Span | None) -> str | None:
    return passage.text[slice(*span)] if span else None


def rows(passage: Passage) -> list[Row]:
    return [read(passage, unit) for unit in split_passage(passage) if unit.cells]


def read(passage: Passage, unit: Unit) -> Row:
    return Row(words(passage, unit.label), [(cell.column, passage.text[slice(*cell.span)]) for cell in unit.cells])


def table(text: str, *above: str) -> Passage:
    return sources.passage(*above, (BlockKind.TABLE, text))


# --- columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Item\t2022\t2021\nRent\t520\t480", [("2022", "520"), ("2021", "480")]),
        ("\t2022\t2021\nRent\t520\t480", [("2022", "520"), ("2021", "480")]),
        ("Item\t2022\t2021\nRent\t \t480", [("2021", "480")]),
        ("Item\t2022\t2021\nRent\t520\t—", [("2022", "520"), ("2021", "—")]),
        ("Item\t2022\t2021\tChange\nRent\t520\t480\t8 %", [("2022", "520"), ("2021", "480"), ("Change", "8 %")]),
        ("Ship\tCaptain\tHome\nAurora\tA. Lind\tTollhaven", [("Captain", "A. Lind"), ("Home", "Tollhaven")]),
        ("2022 2021\nRent\t520\t480", [("2022", "520"), ("2021", "480")]),
        ("Year 2022 2021\nRent\t520\t480", [("2022", "520"), ("2021", "480")]),
        ("Item\t2022\t2021\nRent\t520 480", [("2022", "520"), ("2021", "480")]),
        ("Item\t2022\t2021\nRent 520 480", [("2022", "520"), ("2021", "480")]),
        ("June 30, 2022\tJune 30, 2021\nRent\t520\t480", [("June 30, 2022", "520"), ("June 30, 2021", "480")]),
        ("Item\tQ1 2022\tQ2 2022\nRent\t520\t480", [("Q1 2022", "520"), ("Q2 2022", "480")]),
        ("---\t---\t---\nItem\t2022\t2021\nRent\t520\t480", [("2022", "520"), ("2021", "480")]),
    ],
)
def test_a_cell_knows_its_column(text: str, cells: list[tuple[str, str]]) -> None:
    assert rows(table(text))[-1].cells == cells


def test_a_column_name_is_shown_with_one_colon() -> None:
    passage = table("Ship:\tCaptain:\tHome:\nAurora\tA. Lind\tTollhaven")
    *_, row = (unit for unit in split_passage(passage) if unit.cells)
    assert display_text(passage.text, row) == "Aurora – Captain: A. Lind; Home: Tollhaven"


def test_a_row_that_begins_with_its_period_is_called_by_it() -> None:
    assert rows(table("Year\tShips\tCranes\n2019\t12\t3")) == [Row("2019", [("Ships", "12"), ("Cranes", "3")])]


def test_a_row_without_a_label_is_read_by_all_of_its_columns() -> None:
    assert rows(table("Ships\tCranes\tMills\n12\t3\t4")) == [
        Row(None, [("Ships", "12"), ("Cranes", "3"), ("Mills", "4")])
    ]


def test_each_item_of_a_form_stands_with_its_own_check_box() -> None:
    form = table("Large filer\t☒\tSmall filer\t☐\nNew filer\t☐\tOther filer\t☐")
    assert rows(form) == [
        Row("Large filer", [("", "☒")]),
        Row("Small filer", [("", "☐")]),
        Row("New filer", [("", "☐")]),
        Row("Other filer", [("", "☐")]),
    ]


def test_names_of_columns_in_several_lines_are_joined() -> None:
    found = table("\tNet\tGross\n\tsales\tcosts\nPaper\t514\t496")
    assert rows(found) == [Row("Paper", [("Net sales", "514"), ("Gross costs", "496")])]
    dated = table("\tJune 30,\tJune 30,\n\t2022\t2021\nPaper\t514\t496")
    assert rows(dated) == [Row("Paper", [("June 30, 2022", "514"), ("June 30, 2021", "496")])]


def test_the_first_row_below_the_header_is_a_row_though_it_has_no_plain_figure() -> None:
    rent = Row("Rent", [("2022", "12"), ("2021", "14")])
    auditors = Row("Auditor", [("2022", "Strand"), ("2021", "Orla")])
    assert rows(table("Item\t2022\t2021\nAuditor\tStrand\tOrla\nRent\t12\t14")) == [auditors, rent]
    assert rows(table("Good\tLoad\tStock\nCoal\t12 tonnes\t3 tonnes\nSalt\t4\t5"))[0] == Row(
        "Coal", [("Load", "12 tonnes"), ("Stock", "3 tonnes")]
    )


NESTED = "Six Months Ended June 30, 2022\tSix Months Ended June 30, 2023\n{names}Sales\tRent\tSales\tRent\n"


@pytest.mark.parametrize("names", ["", "($ million)\t"])
@pytest.mark.parametrize(
    ("row", "periods"),
    [
        ("Port\t11\t12\t13\t14", ["2022 Sales", "2022 Rent", "2023 Sales", "2023 Rent"]),
        ("Port\t11\t13", ["2022", "2023"]),
        ("Port\t11\t12\t13", ["", "", ""]),
    ],
)
def test_a_period_spans_the_columns_below_it(names: str, row: str, periods: list[str]) -> None:
    found = rows(table(NESTED.format(names=names) + row))[-1]
    assert [column.removeprefix("Six Months Ended June 30, ") for column, _ in found.cells] == periods


def test_which_period_a_cell_is_of_may_not_be_told() -> None:
    names = "\t".join(["Sales", "Rent", "Fees", "Tax"] * 2)
    found = rows(table(f"June 30, 2022\tJune 30, 2023\n{names}\nPort\t1\t2\t3\t4\t5\t6\t7\t8\nQuay\t1\t2\t3\t4"))
    assert [{column for column, _ in row.cells} for row in found][-1] == {""}


def test_a_row_of_notes_by_year_is_no_header() -> None:
    found = rows(table("Notes due 2025\t2025\nRent\t520"))
    assert [row.label for row in found] == ["Rent"]


def test_columns_that_cannot_be_told_apart_have_no_names() -> None:
    found = table("Item\t2022\t2021\nRent\t520\t480\t12")
    assert rows(found) == [Row("Rent", [("", "520"), ("", "480"), ("", "12")])]


def test_a_line_of_periods_above_a_table_names_its_columns() -> None:
    found = table("Rent\t520\t480", "The costs of the mill", "2022 2021")
    assert rows(found) == [Row("Rent", [("2022", "520"), ("2021", "480")])]
    assert words(found, split_passage(found)[-1].header) == "2022 2021"


def test_a_title_above_a_table_is_quoted_with_its_rows_and_names_no_column() -> None:
    found = table("Ships\t12\t14", "Ships and cranes by harbour")
    assert rows(found) == [Row("Ships", [("", "12"), ("", "14")])]
    assert words(found, split_passage(found)[-1].header) == "Ships and cranes by harbour"


def test_a_sentence_above_a_table_is_not_its_header() -> None:
    found = table("Ships\t12\t14", "It was a good year for the harbour.")
    assert split_passage(found)[-1].header is None


def test_a_header_is_no_answer_of_its_own() -> None:
    header, row = split_passage(table("Item\t2022\t2021\nRent\t520\t480"))
    assert header.cells == ()
    assert row.header == header.span
    assert row.spans == (row.span, header.span)


# --- figures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "figures"),
    [
        ("Rent\t$ 1,503\t$ 1,848", ["$ 1,503", "$ 1,848"]),
        ("Rent\t$\t1,503\t$\t1,848", ["$\t1,503", "$\t1,848"]),
        ("Rent\t$ 1,503 $ 1,848", ["$ 1,503", "$ 1,848"]),
        ("Rent\t$ 1,503 $ 1,848 $", ["$ 1,503", "$ 1,848"]),
        ("Rent\t$ 1,503 $\t1,848", ["$ 1,503", "$\t1,848"]),
        ("Rent\t$ 1,503 $\t1,848 $", ["$ 1,503", "$\t1,848"]),
        ("Rent\t1,503 $\t1,848", ["1,503", "$\t1,848"]),
        ("Rent\t1,503 €\t1,848 €", ["1,503 €", "1,848 €"]),
        ("Rent\t1,503 €\t—", ["1,503 €", "—"]),
        ("Loss\t$\t(1,503\t)\t$\t(1,848\t)", ["$\t(1,503\t)", "$\t(1,848\t)"]),
        ("Loss\t(1,503) (1,848)", ["(1,503)", "(1,848)"]),
        ("Share\t12\t%\t14\t%", ["12\t%", "14\t%"]),
        ("Share\t12 % 14 %", ["12 %", "14 %"]),
    ],
)
def test_a_sign_or_bracket_is_put_to_its_figure(row: str, figures: list[str]) -> None:
    [found] = rows(table(f"Item\t2022\t2021\n{row}"))
    assert found.cells == list(zip(("2022", "2021"), figures, strict=True))


@pytest.mark.parametrize(
    ("row", "figures"),
    [
        ("Tree\t12.1\t0.3\t14.2\t0.1", ["12.1\t0.3", "14.2\t0.1"]),
        ("Tree\t12.1 0.3 14.2 0.1", ["12.1 0.3", "14.2 0.1"]),
        ("Tree\t12.1 ± 0.3\t14.2 ± 0.1", ["12.1 ± 0.3", "14.2 ± 0.1"]),
        ("Tree\t12.1 (0.3)\t14.2 (0.1)", ["12.1 (0.3)", "14.2 (0.1)"]),
    ],
)
def test_a_figure_keeps_its_deviation(row: str, figures: list[str]) -> None:
    [found] = rows(table(f"Method\tRiver\tLake\n{row}"))
    assert found.cells == list(zip(("River", "Lake"), figures, strict=True))


# --- what a row stands under --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "found",
    [
        table("Item\t2022\t2021\nRent\t520\t480", "The mill (in thousands of crowns)"),
        table("The mill (in thousands of crowns)\nItem\t2022\t2021\nRent\t520\t480"),
        table("Item\t2022\t2021\nRent\t520\t480", "The mill (in thousands of crowns)", "Costs"),
    ],
)
def test_a_row_knows_the_line_that_gives_its_scale(found: Passage) -> None:
    assert words(found, split_passage(found)[-1].caption) == "The mill (in thousands of crowns)"


def test_a_scale_among_the_names_of_columns_is_the_header() -> None:
    found = table("(in thousands)\t2022\t2021\nRent\t520\t480")
    row = split_passage(found)[-1]
    assert (row.caption, words(found, row.header)) == (None, "(in thousands)\t2022\t2021")


def test_a_row_stands_under_the_last_line_without_figures() -> None:
    found = table("Item\t2022\t2021\nRent\t520\t480\nWages:\nClerks\t12\t10\nCooks\t3\t4")
    sections = [words(found, unit.section) for unit in split_passage(found) if unit.cells]
    assert sections == [None, "Wages:", "Wages:"]


# --- rows in running text ---------------------------------------------------------------------------------


def test_rows_in_running_text_are_rows() -> None:
    found = sources.passage(
        "The year of the mill\n2022 2021\nRent 520 480\nLoss (31) (29)\nIt went well. It will again."
    )
    assert rows(found) == [
        Row("Rent", [("2022", "520"), ("2021", "480")]),
        Row("Loss", [("2022", "(31)"), ("2021", "(29)")]),
    ]
    assert texts(found)[-2:] == ["It went well.", "It will again."]


@pytest.mark.parametrize("text", ["Rent . . . . . . $ 1,503 $ 1,848", "Rent ........ $ 1,503 $ 1,848"])
def test_dots_that_lead_to_figures_are_no_part_of_the_label(text: str) -> None:
    assert rows(sources.passage(text)) == [Row("Rent", [("", "$ 1,503"), ("", "$ 1,848")])]
    assert rows(table(text.replace(" $ 1,503", "\t$ 1,503"))) == rows(sources.passage(text))


@pytest.mark.parametrize("text", ["Telephone: +41 31 555 12 13", "Fax (031) 555 12 13", "Desk 031 555 12 13"])
def test_a_number_that_is_dialled_is_no_row_of_figures(text: str) -> None:
    [unit] = split_passage(sources.passage(text))
    assert (unit.kind, unit.cells) == (BlockKind.TEXT, ())


def test_pairs_of_label_and_value_stand_alone() -> None:
    assert texts(sources.passage("Name: Lindmark Harbour\nOpened: 12 May 1931\nOwner: Tolls & Sons")) == [
        "Name: Lindmark Harbour",
        "Opened: 12 May 1931",
        "Owner: Tolls & Sons",
    ]
    assert texts(sources.passage("It says in the\nBook: all is well.")) == ["It says in the\nBook: all is well."]


def test_a_table_of_two_columns_pairs_labels_with_values() -> None:
    assert rows(table("Auditor\tStrand & Sons\nSeat\tTollhaven")) == [
        Row("Auditor", [("", "Strand & Sons")]),
        Row("Seat", [("", "Tollhaven")]),
    ]


# --- what belongs to the page -------------------------------------------------------------------------------

PROSE = "The mill is old. It makes paper."


@pytest.mark.parametrize(
    "line",
    [
        "14",
        "- 14 -",
        "Page 14",
        "Page 14 of 20",
        "14/20",
        "A-3",
        "Lindmark Harbour | Report of 2021 | 14",
        "14 Report of the harbour",
        "Report of the harbour 14",
        "Contents",
        "TABLE OF CONTENTS",
    ],
)
def test_running_heads_feet_and_page_numbers_say_nothing(line: str) -> None:
    for passage in (sources.passage(line, PROSE), sources.passage(PROSE, line), sources.passage(f"{line}\n{PROSE}")):
        assert said(passage) == ["The mill is old.", "It makes paper."]


def test_a_running_head_is_known_on_each_page() -> None:
    first, second = (
        sources.lines(f"Report of the harbour {page}", text, first=2 * page, page_number=page)
        for page, text in ((1, "The mill is old."), (2, "It makes paper."))
    )
    both = sources.passage(PROSE).model_copy(update={"lines": (*first, *second)})
    assert said(both) == ["The mill is old.", "It makes paper."]


def test_a_sentence_that_goes_on_below_a_running_head_begins_below_it() -> None:
    assert said(sources.passage("Table of Contents", "and makes paper. The mill is old.")) == [
        "and makes paper.",
        "The mill is old.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "12 ships left in spring and\nnever returned.",
        "In the year of the flood the harbour\nhandled only ships of class 12",
        "In all there were 12 ships.",
    ],
)
def test_the_first_or_last_line_of_a_sentence_is_no_running_head(text: str) -> None:
    assert said(sources.passage(text)) == [text]


def test_lines_amid_a_page_are_no_running_heads() -> None:
    assert "Cranes of class 12" in said(sources.passage(PROSE, PROSE, "Cranes of class 12", PROSE, PROSE))


def test_a_table_of_contents_says_nothing() -> None:
    led = sources.passage(PROSE, "Preface ........ 3\nThe mill . . . . . . 12\nThe harbour……14", PROSE)
    assert said(led) == ["The mill is old.", "It makes paper."] * 2
    plain = ("The beginnings 4", "The mill 9", "The harbour 14", "The cranes 19", "Notes 24")
    for contents in ("\n".join(plain), "\n".join(f"{number}. {line}" for number, line in enumerate(plain, 1))):
        assert (
            said(sources.passage(PROSE, PROSE, contents, PROSE, PROSE)) == ["The mill is old.", "It makes paper."] * 4
        )


def test_lines_that_end_with_years_or_falling_numbers_are_no_table_of_contents() -> None:
    for ends in ((2001, 2002, 2003, 2004, 2005), (90, 80, 70, 60, 50)):
        listed = [f"The harbour had {end}" for end in ends]
        assert not any(
            unit.is_boilerplate for unit in split_passage(sources.passage(PROSE, PROSE, *listed, PROSE, PROSE))
        )


@pytest.mark.parametrize("line", ["---\t---\t---", "— — — —", ". . .", "———"])
def test_dashes_and_dots_say_nothing(line: str) -> None:
    assert said(sources.passage(PROSE, line, PROSE)) == ["The mill is old.", "It makes paper."] * 2
