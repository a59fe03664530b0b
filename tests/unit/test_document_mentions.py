"""Documents that a question mentions."""

import datetime as dt
import uuid

import pytest

from rag.engine.questions.document_mentions import documents_of_kind, find_mentions, without_names
from rag.types import Document, DocumentStatus, Subject

NAMES = (
    ("ACME_2020_10K.pdf", "Acme Harbours Corporation"),
    ("ACME_2021_10K.pdf", "Acme Harbours Corporation"),
    ("globex-annual-report-2021.pdf", None),
    ("FOOTBRIDGE_2021.pdf", "Foot Bridge Inc."),
    ("General Lamps 2021.pdf", "General Lamps"),
    ("3fa9c1.pdf", "The long history of the harbour and its keepers"),
)


def document(name: str, title: str | None) -> Document:
    return Document(
        id=uuid.uuid5(uuid.NAMESPACE_OID, name),
        user_id="ann",
        index_id=uuid.UUID(int=1),
        name=name,
        mime_type="application/pdf",
        sha256="",
        size=1,
        title=title,
        status=DocumentStatus.READY,
        created_at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    )


DOCUMENTS = [document(*named) for named in NAMES]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's revenue?", {"Acme": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"]}),
        ("What was Acme's revenue in FY2021?", {"Acme": ["ACME_2021_10K.pdf"]}),
        (
            "compare acme and globex",
            {"acme": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"], "globex": ["globex-annual-report-2021.pdf"]},
        ),
        ("Who runs Acme Harbours?", {"Acme Harbours": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"]}),
        ("Does Foot Bridge own ships?", {"Foot Bridge": ["FOOTBRIDGE_2021.pdf"]}),
        ("Does footbridge own ships?", {"footbridge": ["FOOTBRIDGE_2021.pdf"]}),
        ("What does General Motors say?", {}),
        ("What are general risks?", {}),
        ("Who keeps the harbour?", {}),
        ("What is the annual report about?", {}),
    ],
)
def test_documents_are_named_by_their_files_and_titles(question: str, expected: dict[str, list[str]]) -> None:
    found = {
        question[one.span.start : one.span.end]: [named.name for named in one.documents]
        for one in find_mentions(question, DOCUMENTS)
    }
    assert found == expected


def about(name: str, kind: str, period: str | None, *names: str) -> Document:
    return document(name, None).model_copy(update={"subject": Subject(names=names, kind=kind, period=period)})


LIBRARY = [
    about("a.pdf", "annual_report", "2021", "Harbour Lights Corporation", "Harbour Lights"),
    about("b.pdf", "annual_report", "2022", "Harbour Lights Corporation", "Harbour Lights"),
    about("c.pdf", "annual_report", "third quarter 2022", "Harbour Lights Corporation", "Harbour Lights"),
    about("d.pdf", "paper", None, "HERON", "Miller et al."),
    about("e.pdf", "manual", None, "Brewco 500", "Coffee machine"),
    about("f.pdf", "annual_report", "January 28, 2023", "Lamp Post Inc."),
]


@pytest.mark.parametrize(
    ("question", "names", "passage_text"),
    [
        (
            "How many people does Harbour Lights employ? FY22",
            ["b.pdf"],
            "How many people does the company employ? FY22",
        ),
        ("Harbour Lights' largest program in Q3 2022?", ["c.pdf"], "The company’s largest program in Q3 2022?"),
        ("What were net sales of Harbor Lights in 2021?", ["a.pdf"], "What were net sales in 2021?"),
        ("What were net sales of Harbour Lights in 2020?", ["a.pdf"], "What were net sales in 2020?"),
        ("sales in the latest report of Harbour Lights", ["b.pdf"], "Sales in the latest report"),
        ("the HERON paper: which data?", ["d.pdf"], "Which data?"),
        ("Which data do Miller et al. use?", ["d.pdf"], "Which data do the method use?"),
        ("What does the coffee manual say about steam?", ["e.pdf"], "What does the device say about steam?"),
        ("What does c.pdf say about steam?", ["c.pdf"], "What does the company say about steam?"),
        ("Summarise HERON", ["d.pdf"], "Summarise HERON"),
        ("What is the weight of a heron's egg?", [], None),
        ("What do the filings of Globex say?", [], None),
        ("What were the current liabilities of Harbour Lights in 2021?", ["a.pdf"], None),
        ("What does ac.pdf say about the leaſe?", [], None),
        ("Does Lamp-Post sell lamps?", ["f.pdf"], "Does the company sell lamps?"),
        ("What is HERON's recall in d.pdf?", ["d.pdf", "d.pdf"], None),
    ],
)
def test_names_choose_the_documents_and_leave_the_question(
    question: str, names: list[str], passage_text: str | None
) -> None:
    mentions = find_mentions(question, LIBRARY)
    assert [one.name for mention in mentions for one in mention.documents] == names
    if passage_text:
        assert without_names(question, mentions) == passage_text


def test_companies_are_asked_by_their_latest_reports() -> None:
    assert [one.name for one in documents_of_kind("companies", LIBRARY)] == ["b.pdf", "f.pdf"]
    assert [one.name for one in documents_of_kind("papers", LIBRARY)] == ["d.pdf"]


def test_a_long_question_is_read_in_time() -> None:
    assert find_mentions("a " * 2000, LIBRARY) == []


@pytest.mark.parametrize(
    ("question", "is_certain"),
    [("What does the manual say?", False), ("What does the coffee manual say?", True), ("What did HERON find?", True)],
)
def test_a_kind_alone_is_no_certain_name(question: str, *, is_certain: bool) -> None:
    assert [mention.is_certain for mention in find_mentions(question, LIBRARY)] == [is_certain]


def test_a_question_about_a_year_is_also_asked_of_the_results_of_its_last_quarter() -> None:
    documents = [
        about("a.pdf", "annual_report", "2022", "Mill Corporation", "Mill"),
        about("b.pdf", "annual_report", "fourth quarter 2022", "Mill Corporation", "Mill"),
        about("c.pdf", "annual_report", "second quarter 2022", "Mill Corporation", "Mill"),
    ]
    (year,) = find_mentions("What was Mill Corporation's EBITDA in fiscal 2022?", documents)
    assert [one.name for one in year.documents] == ["a.pdf", "b.pdf"]
    (quarter,) = find_mentions("What was Mill Corporation's EBITDA in the second quarter of 2022?", documents)
    assert [one.name for one in quarter.documents] == ["c.pdf"]
