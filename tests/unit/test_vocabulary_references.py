"""Places that questions name by number, and what those look like in a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.vocabulary.references import MAX_LABELS, caption, references


def named(question: str) -> list[str]:
    return [f"{reference.kind} {reference.label}" for reference in references(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is on page 2?", ["page 2"]),
        ("What is on page 2.", ["page 2"]),
        ("What does page 2 of 10 say?", ["page 2"]),
        ("pages 3-5", ["page 3", "page 4", "page 5"]),
        ("page 3–5", ["page 3", "page 4", "page 5"]),
        ("pages 10 to 12", ["page 10", "page 11", "page 12"]),
        ("pages 3, 5, and 7 through 9", ["page 3", "page 5", "page 7", "page 8", "page 9"]),
        ("pages 2 & 4", ["page 2", "page 4"]),
        ("from page 3 to 5?", ["page 3", "page 4", "page 5"]),
        ("page 3 and 5 of the report", ["page 3", "page 5"]),
        ("see p. 12 and pp. 14-15", ["page 12", "page 14", "page 15"]),
        ("Page number 7, page no. 8, page #9", ["page 7", "page 8", "page 9"]),
        ("page two", ["page 2"]),
        ("page iv", ["page iv"]),
        ("page F-3 and page F-4", ["page f-3", "page f-4"]),
        ("pages A-1 and App-2, page a-3", ["page a-1", "page app-2", "page a-3"]),
        ("page A1, page B.2, page C-iv", ["page a1", "page b.2", "page c-iv"]),
        ("Was steht auf Seite 2?", ["page 2"]),
        ("Seiten 3 bis 5 und 7", ["page 3", "page 4", "page 5", "page 7"]),
        ("Slide 4 and slides 6, 7", ["slide 4", "slide 6", "slide 7"]),
        ("the first page and the second page", ["page #1", "page #2"]),
        ("the cover page", ["page #1"]),
        ("the title slide", ["slide #1"]),
        ("the 3rd page", ["page #3"]),
        ("the last page", ["page -1"]),
        ("the second-to-last slide", ["slide -2"]),
        ("the first three pages", ["page #1", "page #2", "page #3"]),
        ("the last 2 pages", ["page -2", "page -1"]),
        ("In Table 4, which", ["table 4"]),
        ("tables 2-4", ["table 2", "table 3", "table 4"]),
        ("Table 3-2 of the handbook", ["table 3-2"]),
        ("table A1, Table IV, Table S.2", ["table A1", "table IV", "table S.2"]),
        ("Fig. 2a, Figs. 3 and 4", ["figure 2a", "figure 3", "figure 4"]),
        ("Figure 2B", ["figure 2b"]),
        ("figure 2 and 3?", ["figure 2", "figure 3"]),
        ("note 7, Notes 3 and 4", ["note 7", "note 3", "note 4"]),
        ("footnote 3", ["footnote 3"]),
        ("section 3.2.1 and Section II", ["section 3.2.1", "section II"]),
        ("§ 4.1", ["section 4.1"]),
        ("Section 13(d)", ["section 13(d)"]),
        ("Section 1502", ["section 1502"]),
        ("appendix B and Appendices C and D", ["appendix B", "appendix C", "appendix D"]),
        ("Chapter IV or chapter four", ["chapter IV", "chapter 4"]),
        ("Part II, Item 7A and item 7a", ["part II", "item 7A"]),
        ("Exhibit 99.1", ["exhibit 99.1"]),
        ("Table 2 on page 9, before Figure 1", ["table 2", "page 9", "figure 1"]),
    ],
)
def test_references_are_recognised(question: str, expected: list[str]) -> None:
    assert named(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How many of the 10 pages have pictures?",
        "How many page views were there in 2020?",
        "What is in the table of contents?",
        "What are the figures for 2020?",
        "Compare the figures 2020 and 2021.",
        "Please note that 7 of them left.",
        "Do the notes 2.5% and 3% rank alike?",
        "Which part of the 10-K is audited?",
        "What is in the section I read and the figure I saw?",
        "a one-page 3 column layout",
        "Which parts 10 percent are new?",
        "Is p. good or bad at p90 and p < 0.05?",
        "a page 3d view",
        "homepage 3, timetable 4, footpart 5",
        "the cover pages",
        "item-based filtering, Chapter-wise, Figure out how, Table tennis",
    ],
)
def test_other_numbers_are_no_references(question: str) -> None:
    assert named(question) == []


def test_what_follows_a_single_place_is_not_counted_with_it() -> None:
    assert named("According to table 2 and 3 companies in it") == ["table 2"]
    assert named("On page 2, 15 people") == ["page 2"]


def test_a_long_range_names_only_its_beginning() -> None:
    assert named("pages 5 to 200") == [f"page {number}" for number in range(5, 5 + MAX_LABELS)]
    assert len(named("tables " + ", ".join(str(number) for number in range(1, 50)))) == MAX_LABELS


@given(st.text(alphabet="pagestblfiurno 0123.,-§IVand", max_size=80))
def test_no_question_breaks_it(question: str) -> None:
    for reference in references(question):
        assert reference.label
        assert reference.name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Table 4: Results", "table 4"),
        ("TABLE 4", "table 4"),
        ("  Table 4. Results", "table 4"),
        ("Table 4 Results by model", "table 4"),
        ("TABLE IV", "table iv"),
        ("Fig. 2. An overview", "figure 2"),
        ("Fig 2 | An overview", "figure 2"),
        ("Note 7 – Income taxes", "note 7"),
        ("NOTE 7. INCOME TAXES", "note 7"),
        ("Section 3.2: Method", "section 3.2"),
        ("Appendix B", "appendix b"),
        ("APPENDIX B: PROOFS", "appendix b"),
        ("Chapter 4", "chapter 4"),
        ("Item 7A. Quantitative and Qualitative Disclosures", "item 7a"),
        ("Item\xa01A.Risk Factors", "item 1a"),
        ("EX-99.1", "exhibit 99.1"),
        ("PART II", "part ii"),
    ],
)
def test_captions_are_recognised(line: str, name: str) -> None:
    found = caption(line, is_heading=False)
    assert found is not None
    assert found.name == name
    assert found in references(f"What does {found.kind} {found.label} say?")


@pytest.mark.parametrize(
    "line",
    [
        "Table 4 shows that",
        "Table 4, which",
        "Table 4: Results . . . . . 12",
        "Note 7 Income taxes 45",
        "Note 7 to the statements",
        "Notes",
        "3.2 million people",
        "3.2 Method",
        "As Table 4: Results",
        "",
    ],
)
def test_other_lines_are_no_captions(line: str) -> None:
    assert caption(line, is_heading=False) is None


@pytest.mark.parametrize(("line", "name"), [("3.2 Method", "section 3.2"), ("4. Leases", "section 4")])
def test_a_numbered_heading_begins_a_section(line: str, name: str) -> None:
    found = caption(line, is_heading=True)
    assert found is not None
    assert found.name == name
    assert caption(line, is_heading=False) is None
    assert caption(f"{line} 17", is_heading=True) is None
