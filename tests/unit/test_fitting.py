"""Fitting by greatest likelihood: known answers, and what holds of any; and what is handed over to be fitted."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from benchmarks import extractive as benchmark
from benchmarks import fitting
from benchmarks.extractive import Case
from benchmarks.fitting import Choice
from rag import evaluation
from rag.answering import extractive, questions
from rag.answering.candidates import measured
from rag.answering.extractive import ODDS, WEIGHTS
from tests import sources


def truths(*values: int) -> fitting.Truths:
    return np.array(values, dtype=bool)


def test_a_choice_between_two_is_a_logistic_regression() -> None:
    """Of ten choices the candidate with the measure is right in seven: the logit of 0.7."""
    pair = np.array([[1.0], [0.0]])
    choices = [Choice(pair, truths(1, 0))] * 7 + [Choice(pair, truths(0, 1))] * 3
    assert fitting.choice_weights(choices, ridge=1e-9) == pytest.approx([math.log(7 / 3)], abs=1e-5)


def test_a_weighted_choice_counts_as_so_many() -> None:
    pair = np.array([[1.0], [0.0]])
    choices = [Choice(pair, truths(1, 0), 7.0), Choice(pair, truths(0, 1), 3.0)]
    assert fitting.choice_weights(choices, ridge=1e-9) == pytest.approx([math.log(7 / 3)], abs=1e-5)


def test_where_several_are_right_the_weights_are_the_likeliest() -> None:
    """At the end the gradient of the penalised log likelihood is nil."""
    chance = np.random.default_rng(1)
    choices = []
    for _ in range(40):
        measures = chance.normal(size=(6, 3))
        best = np.argsort(-(measures @ [2.0, -1.0, 0.0]))[:2]
        choices.append(Choice(measures, np.isin(np.arange(6), best)))

    def worth(weights: fitting.Numbers) -> float:
        return sum(_log_chance(one, weights) for one in choices) - float(weights @ weights) / 2

    fitted = fitting.choice_weights(choices, ridge=1.0)
    nudges = [sign * 0.01 * axis for axis in np.eye(3) for sign in (-1, 1)]
    assert all(worth(fitted + nudge) < worth(fitted) for nudge in nudges)


def _log_chance(choice: Choice, weights: fitting.Numbers) -> float:
    raised = np.exp(choice.measures @ weights)
    return math.log(raised[choice.right].sum() / raised.sum())


def test_a_ridge_draws_weights_to_nil() -> None:
    choices = [Choice(np.array([[1.0], [0.0]]), truths(1, 0))] * 5
    weak, strong = (fitting.choice_weights(choices, ridge)[0] for ridge in (0.1, 10.0))
    assert 0 < strong < weak


def test_without_measures_that_tell_the_base_is_the_logit_of_the_share() -> None:
    nothing = np.zeros((10, 1))
    weights = fitting.odds_weights(nothing, truths(*[1] * 7, *[0] * 3), ridge=1.0)
    assert weights == pytest.approx([0.0, math.log(7 / 3)], abs=1e-4)
    assert fitting.likelihoods(weights, nothing) == pytest.approx([0.7] * 10, abs=1e-4)


def test_odds_end_where_nothing_is_likelier() -> None:
    chance = np.random.default_rng(2)
    measures = chance.normal(size=(200, 2))
    right = chance.random(200) < 1 / (1 + np.exp(-(measures @ [1.5, -0.5] + 0.3)))
    weights = fitting.odds_weights(measures, right, ridge=1.0)
    residual = right - fitting.likelihoods(weights, measures)
    gradient = [*(measures.T @ residual - weights[:2]), residual.sum()]
    assert gradient == pytest.approx([0.0] * 3, abs=1e-2)


@pytest.mark.parametrize("outcome", [0, 1])
def test_odds_of_one_outcome_only_are_finite(outcome: int) -> None:
    weights = fitting.odds_weights(np.ones((4, 1)), truths(*[outcome] * 4), ridge=1.0)
    assert np.isfinite(weights).all()


def test_folds_part_the_documents_alike() -> None:
    names = [f"{number}.pdf" for number in range(17)]
    parts = list(fitting.folds([*names, *names], 7))
    assert sorted(name for part in parts for name in part) == sorted(names)
    assert {len(part) for part in parts} == {2, 3}
    assert parts == list(fitting.folds(reversed(names), 7))
    assert len(list(fitting.folds(names[:2], 7))) == 2


def test_calibration_brier_and_auc() -> None:
    likely, right = np.array([0.1, 0.15, 0.5, 0.9, 1.0]), truths(0, 1, 0, 1, 1)
    assert [(one.low, one.size, one.right) for one in fitting.calibration(likely, right)] == [
        (0.0, 2, 0.5),
        (0.4, 1, 0.0),
        (0.8, 2, 1.0),
    ]
    assert fitting.brier(likely, right) == pytest.approx((0.01 + 0.7225 + 0.25 + 0.01 + 0.0) / 5)
    assert fitting.auc(likely, right) == pytest.approx(5 / 6)
    assert fitting.auc(np.full(4, 0.5), truths(1, 0, 1, 0)) == 0.5
    assert math.isnan(fitting.auc(likely, truths(1, 1, 1, 1, 1)))


# --- what is fitted to ---

SHIPS = "How many ships did the harbour of Lindmark handle?"


class ByLength:
    """A reranker that likes long texts."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [len(text) / (1 + len(text)) for text in texts]


def case(**fields: Any) -> Case:
    """A question about two documents, whose answer stands on the second page of the first."""
    question = evaluation.Question.model_validate(
        {"id": "1", "question": SHIPS, "pdf": "harbour.pdf", "gold_pages": [2], "answer": "4,812", **fields}
    )
    own = "The harbour of Lindmark handled 4,812 ships.\n\nIts largest crane lifts 95 tonnes at once."
    hits = [
        sources.hit(own, name="harbour.pdf", page_number=2, score=0.8),
        sources.hit("Ferries handled 300 passengers.\n\nThey leave from the quay.", name="ferries.pdf", score=0.4),
        sources.hit("The harbour was built of stone.", name="harbour.pdf", page_number=3, score=0.3),
    ]
    asked = questions.read(SHIPS)
    return Case(question, "all", True, asked, hits, measured(asked, hits, ByLength()))


def chosen(made: Case) -> list[str]:
    """The candidates that count as right."""
    choice = made.choice()
    return [one.text for one, right in zip(made.candidates, choice.right, strict=True) if right] if choice else []


def test_right_is_what_says_the_answer_on_a_gold_page() -> None:
    assert chosen(case()) == ["The harbour of Lindmark handled 4,812 ships."]
    assert chosen(case(answer="stone")) == [one.text for one in case().candidates if one.page_number == 2]
    assert chosen(case(pdf="ferries.pdf", gold_pages=[1], answer="300")) == ["Ferries handled 300 passengers."]
    assert case(gold_pages=[7]).choice() is None
    assert case(answerable=False).choice() is None


def test_what_only_stands_there_counts_less() -> None:
    said, stands = case().choice(), case(answer="stone").choice()
    assert said is not None
    assert stands is not None
    assert (said.weight, stands.weight) == (benchmark.SAYS, benchmark.STANDS)


def test_the_best_and_its_likelihood_are_those_of_an_answer() -> None:
    made = case()
    best = made.best(np.array(WEIGHTS))
    ranked = extractive.rank(made.asked, made.hits, reranker=ByLength())
    assert best is not None
    assert best.candidate.text == ranked[0].candidate.text
    (likely,) = fitting.likelihoods(np.array(ODDS), np.array([best.measures]))
    assert likely == pytest.approx(extractive.likelihood(ranked))


def test_refused_is_what_an_answer_would_refuse() -> None:
    (judged,) = benchmark.judge([case()], np.array(WEIGHTS), np.array(ODDS))
    assert judged.best is not None
    assert not judged.best.is_refused(judged.likelihood, judged.likelihood)
    assert judged.best.is_refused(judged.likelihood, judged.likelihood + 0.01)
    elsewhere = dataclasses.replace(case(), asked=questions.read("How many ships did Port-X9 handle?"))
    best = elsewhere.best(np.array(WEIGHTS))
    assert best is not None
    assert best.is_refused(1.0, 0.0)


def test_documents_are_judged_by_constants_of_the_others() -> None:
    """Were a document's own cases fitted to, the constants of all folds would be the same."""
    other = [case(id=f"{number}", pdf="ferries.pdf", gold_pages=[1], answer="300") for number in range(3)]
    constants, judged = benchmark.cross_validated([case(), *other])
    assert len(judged) == 4
    assert not np.allclose(constants[0][0], constants[1][0])
    of_harbour = next(one for one in judged if one.case.question.file_name == "harbour.pdf")
    weights = benchmark.fit_weights(other)
    best = of_harbour.case.best(weights)
    assert best is not None
    assert of_harbour.best is not None
    assert of_harbour.best.candidate.text == best.candidate.text
