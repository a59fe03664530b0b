"""What a question is understood as, before it is searched."""

import pytest

from rag import vocabulary
from rag.retrieval.understanding import understand
from rag.types import RetrievalOptions, Rewriting

WIDENER = vocabulary.widener()


def rewritings(question: str, **options: bool) -> list[tuple[str, str, tuple[str, ...]]]:
    found = understand(question, RetrievalOptions(**options), WIDENER).rewritings
    return [(rewriting.kind, rewriting.found, rewriting.added) for rewriting in found]


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
    found = rewritings(question, vocabulary=False, landmarks=False)
    assert found == [("period", short, (full,)) for short, full in periods]


def test_each_way_of_understanding_can_be_switched_off() -> None:
    question = "What was the quick ratio in FY22?"
    kinds = {"periods": "period", "vocabulary": "derived", "landmarks": "landmark"}
    assert {kind for kind, _, _ in rewritings(question)} == {*kinds.values()}
    for option, kind in kinds.items():
        assert {kind for kind, _, _ in rewritings(question, **{option: False})} == {*kinds.values()} - {kind}


def test_what_was_added_is_told_with_the_trade_that_knows_it() -> None:
    (told,) = understand("Who drafts the NDA?", RetrievalOptions(), WIDENER).rewritings
    assert told == Rewriting(kind="abbreviation", found="NDA", added=("non-disclosure agreement",), trade="Contracts")
