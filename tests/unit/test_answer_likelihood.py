"""What speaks for an answer, and how likely it makes it."""

import itertools
from collections.abc import Sequence

import pytest

from rag.answering.extraction import likelihood, question_intent
from rag.answering.extraction.candidates import Candidate, collect_candidates
from rag.answering.extraction.likelihood import GROUPS, UNRIVALLED, Evidence
from rag.types import Hit
from tests import sources

NOTHING = Evidence(*[0.0] * len(Evidence._fields))


class Scripted:
    """Gives a text that contains a word the score of that word."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.by_word = scores

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [max((score for word, score in self.by_word.items() if word in text), default=0.0) for text in texts]


READER = Scripted({"coal": 0.9, "soup": 0.5, "books": 0.2, "key": 0.1, "grain": 0.05})
GOODS = ("The crane lifts coal.", "The cook makes soup.", "The clerk writes books.", "The guard has a key.")


def gathered(question: str, *hits: Hit, scores: Sequence[float] = (4.0, 3.5, 3.0, 1.0, 0.5)) -> Evidence:
    """Return the evidence for the most relevant candidate; `scores` are those of all, by relevance."""
    asked = question_intent.parse_question(question)
    found = sorted(collect_candidates(asked, hits, READER), key=lambda candidate: -candidate.features.relevance)
    scored: list[tuple[Candidate, float]] = [*zip(found, scores, strict=False)]
    return likelihood.gather(asked, found[0], scores[0], scored)


def test_the_best_is_compared_with_the_fourth() -> None:
    evidence = gathered("What do people do?", sources.hit(*GOODS))
    assert evidence.lead == pytest.approx(4.0 - 1.0)
    assert evidence.stands_out > 0.0
    assert evidence.relevance > 0.0


def test_with_fewer_candidates_it_is_compared_with_the_last() -> None:
    assert gathered("What do people do?", sources.hit(*GOODS[:2])).lead == pytest.approx(0.5)
    assert gathered("What do people do?", sources.hit(GOODS[0])).lead == 0.0


def test_candidates_of_the_same_page_are_no_rivals_of_the_page() -> None:
    first = sources.hit(*GOODS[:2], name="crane.pdf")
    document_id = first.passage.document_id
    second = sources.hit(GOODS[2], name="crane.pdf", page_number=2, first=5, document_id=document_id)
    assert gathered("What do people do?", first).page_lead == UNRIVALLED
    assert gathered("What do people do?", first, second).page_lead == pytest.approx(4.0 - 3.0)


def test_names_count_where_the_unit_or_what_it_stands_under_has_them() -> None:
    hit = sources.hit(*GOODS, "Pia Sandvik was born in 1931.", name="harbour.pdf")
    assert gathered("What does the crane lift?", hit).named == 1.0
    assert gathered("What does the crane of Harbour lift?", hit).named == 1.0
    assert gathered("What does the crane of Sandvik lift?", hit).named == 0.0
    assert gathered("What did the crane of Harbour lift in 1931?", hit).named == 0.5


@pytest.mark.parametrize("field", Evidence._fields)
def test_each_measure_raises_the_likelihood(field: str) -> None:
    likely = [likelihood.estimate(NOTHING._replace(**{field: value})) for value in (-1.0, 0.0, 0.5, 1.0)]
    assert all(0.0 < lower < higher < 1.0 for lower, higher in itertools.pairwise(likely))


def test_the_groups_name_each_measure_once() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(Evidence._fields)
