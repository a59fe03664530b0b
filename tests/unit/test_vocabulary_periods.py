"""Periods as documents write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.vocabulary.periods import find_periods, spell_out_periods, years, years_away


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("FY2022 revenue", "2022 revenue"),
        (
            "FY22, FY'22, FY 22 and fy2022?",
            "2022, 2022, 2022 and 2022?",
        ),
        ("FY98", "1998"),
        ("FY49 and FY50", "2049 and 1950"),
        ("FY2021-22", "2021-22"),
        ("FY2020-FY2022", "2020 to 2022"),
        ("FYs 2020 and 2021", "fiscal years 2020 and 2021"),
        ("the FY ended in June", "the fiscal year ended in June"),
        ("CY2021 and CY'19", "2021 and 2019"),
        ("Q2'23", "second quarter 2023"),
        ("Q2 2023", "second quarter 2023"),
        ("Q2-2023 and Q3/2023", "second quarter 2023 and third quarter 2023"),
        ("Q2 of 2023", "second quarter 2023"),
        ("Q2 FY2023", "second quarter 2023"),
        ("Q2 of FY23", "second quarter 2023"),
        ("Q2FY23", "second quarter 2023"),
        ("FY23 Q2", "second quarter 2023"),
        ("2QFY23", "second quarter 2023"),
        ("2023 Q2, 2023Q3", "second quarter 2023, third quarter 2023"),
        ("2Q23", "second quarter 2023"),
        ("2Q 2023", "second quarter 2023"),
        ("q4 2019", "fourth quarter 2019"),
        ("H1 2022 and 2H22", "first half 2022 and second half 2022"),
        ("H1 of fiscal 2022", "first half of fiscal 2022"),
        ("the growth in Q3?", "the growth in third quarter?"),
        ("Q1-Q3 2022", "first quarter to third quarter 2022"),
        ("between Q1 2021 and Q2 2022", "between first quarter 2021 and second quarter 2022"),
        ("Dec '19, Jan. '20", "Dec 2019, Jan. 2020"),
        ("the second quarter '19", "the second quarter 2019"),
        ("fiscal '21", "fiscal 2021"),
    ],
)
def test_periods_are_spelled_out(question: str, expected: str) -> None:
    assert spell_out_periods(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        "the Q5 engine",
        "FYI, what is new?",
        "H1 visas, H1N1 and H3 2020",
        "Q4_K_M and 7B-Q4 models",
        "Q1: What is new?",
        "question q3",
        "the '90s and rock 'n' roll in '68",
        "FY1234",
        "the 3M company",
        "2H2O and 1H NMR",
        "revenue in fiscal year 2022",
        "In Q20 there are 22% more",
    ],
)
def test_what_is_no_period_stays(question: str) -> None:
    assert spell_out_periods(question) == question


@given(question=st.text(alphabet="QFYH1290 '-.,?A vsinperct", max_size=60))
def test_no_question_breaks_it(question: str) -> None:
    spell_out_periods(question)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("revenue in FY2021 and FY22?", ["FY2021", "FY22"]),
        ("from 2019 to 2020, or 2019-2021", ["2019", "2020", "2019", "2021"]),
        ("Q2 2021 and the first quarter of 2020", ["Q2 2021", "first quarter of 2020"]),
        ("as of March 31, 2021", ["March 31, 2021"]),
        ("in the previous year and the year before", ["the previous year", "the year before"]),
        ("In fiscal year 2022 or fiscal 2021", ["fiscal year 2022", "fiscal 2021"]),
        ("May I ask for 20215 of 1,2019 in A-2020?", []),
    ],
)
def test_periods_are_found(text: str, found: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_periods(text)] == found


def test_years_are_read_from_their_short_forms() -> None:
    assert years("FY21, '19, 2019 and Q2 2020; not 20215") == (2021, 2019, 2020)


@pytest.mark.parametrize(
    ("period", "away"), [("the previous year", -1), ("the year after", 1), ("2020", 0), ("last quarter", 0)]
)
def test_how_far_a_period_without_a_year_is_away(period: str, away: int) -> None:
    assert years_away(period) == away
