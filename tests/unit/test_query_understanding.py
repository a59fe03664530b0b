"""What a question is searched with."""

import pytest

from rag.answering.extraction.question_intent import parse_question
from rag.retrieval.query_understanding import Understanding, understand
from rag.types import RetrievalOptions
from rag.vocabulary import Widener, load

WIDENER = Widener(
    [
        load("""
title = "House"
[[synonyms]]
terms = ["net sales", "turnover"]
[[derived]]
terms = ["quick ratio"]
items = ["receivables"]
places = ["balance sheet"]
[[places]]
name = "balance sheet"
terms = ["balance sheet"]
""")
    ]
)
QUESTION = "Turnover and quick ratio in FY22, as table 4 on page 12 says?"


def understood(**options: bool) -> Understanding:
    return understand(QUESTION, RetrievalOptions(**options), WIDENER)


def test_a_question_is_put_into_the_words_of_documents() -> None:
    found = understood()
    assert found.text == "Turnover and quick ratio in 2022, as table 4 on page 12 says?"
    assert found.added == ("net sales", "receivables")
    assert found.landmarks == ("table 4", "page 12", "balance sheet")


def test_each_rewriting_is_told_with_what_it_added_and_who_knows_it() -> None:
    told = [
        (rewriting.kind, rewriting.found, rewriting.added, rewriting.trade) for rewriting in understood().rewritings
    ]
    assert told == [
        ("period", "FY22", ("2022",), None),
        ("synonym", "Turnover", ("net sales",), "House"),
        ("derived", "quick ratio", ("receivables",), "House"),
        ("landmark", QUESTION, ("table 4",), None),
        ("landmark", QUESTION, ("page 12",), None),
        ("landmark", QUESTION, ("balance sheet",), None),
    ]


@pytest.mark.parametrize(
    ("off", "text", "added", "landmarks"),
    [
        ({"periods": False}, QUESTION, 2, 3),
        ({"vocabulary": False}, None, 0, 3),
        ({"landmarks": False}, None, 2, 0),
        ({"landmarks": False, "vocabulary": False, "periods": False}, QUESTION, 0, 0),
    ],
)
def test_each_can_be_switched_off(off: dict[str, bool], text: str | None, added: int, landmarks: int) -> None:
    found = understood(**off)
    assert (found.text, len(found.added), len(found.landmarks)) == (text or understood().text, added, landmarks)
    kinds = {rewriting.kind for rewriting in found.rewritings}
    assert ("period" in kinds, "synonym" in kinds, "landmark" in kinds) == (text is None, added > 0, landmarks > 0)


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("Ships in FY22?", [("FY22", "2022")]),
        ("Ships (Q2'23), pears FY2021.", [("Q2'23", "second quarter 2023"), ("FY2021", "2021")]),
        ("Ships  of Q3 FY20", [("Q3 FY20", "third quarter 2020")]),
        ("Ships  in 2022", []),
    ],
)
def test_each_period_is_told_by_itself(question: str, periods: list[tuple[str, str]]) -> None:
    told = understand(question, RetrievalOptions(vocabulary=False, landmarks=False), WIDENER).rewritings
    assert [(each.found, each.added) for each in told] == [(short, (full,)) for short, full in periods]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Where is Brine Ferries based?", ("headquarters", "principal executive offices")),
        ("What does the company do?", ("line of business", "principally engaged in")),
        ("What is the ticker symbol?", ("exchange on which registered", "trading symbol")),
        ("What does the company do with waste?", ()),
        ("Where is the claim based?", ()),
    ],
)
def test_a_question_about_a_company_is_searched_with_the_terms_of_its_answer(
    question: str, terms: tuple[str, ...]
) -> None:
    found = understand(question, RetrievalOptions(), WIDENER)
    assert (found.text, found.added) == (" ".join([question, *terms]), terms)
    assert [rewriting.added for rewriting in found.rewritings] == [terms] * bool(terms)
    plain = understand(question, RetrievalOptions(vocabulary=False), WIDENER)
    assert (plain.text, plain.added) == (question, ())


def test_the_name_in_a_question_about_a_company_stays_a_name() -> None:
    question = "Where is Costco based?"
    rewritings = understand(question, RetrievalOptions(), WIDENER).rewritings
    assert parse_question(question, rewritings).names == ("Costco",)
