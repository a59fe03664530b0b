"""Maximum likelihood fitting with a ridge penalty, and evaluation on held-out documents, with numpy alone."""

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

STEPS, SMALLEST = 100, 1e-6
"""A fit ends at this step size or after this number of steps."""

LOGISTIC_STEPS = 2000
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Bins of likelihoods in a calibration table."""

Numbers = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


class Choice(NamedTuple):
    """The options of one choice: `measures` has a row per candidate, `right` marks the right ones, at least one."""

    measures: Numbers
    right: Truths
    weight: float = 1.0


class Bin(NamedTuple):
    """Likelihoods from `low` to below `high`: their number, mean, and share of right ones."""

    low: float
    high: float
    size: int
    likelihood: float
    right: float


def choice_weights(choices: Sequence[Choice], ridge: float) -> Numbers:
    """Fit a multinomial logit by which right candidates are chosen, with the penalty ½ · ridge · |w|².

    Where several candidates are right, any of them may be meant: expectation-maximisation, whose M-step is one Newton
    step. Source: McFadden, "Conditional logit analysis of qualitative choice behavior", 1974.
    """
    size = choices[0].measures.shape[1]
    weights = np.zeros(size)
    for _ in range(STEPS):
        gradient, curvature = -ridge * weights, ridge * np.eye(size)
        for measures, right, weight in choices:
            chances = _shares(measures @ weights)
            meant = np.where(right, chances, 0.0) / chances[right].sum()
            mean = chances @ measures
            gradient = gradient + weight * ((meant - chances) @ measures)
            curvature = curvature + weight * ((measures.T * chances) @ measures - np.outer(mean, mean))
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < SMALLEST:
            break
    return weights


def odds_weights(measures: Numbers, right: Truths, ridge: float) -> Numbers:
    """Fit a logistic regression of `right` on the rows of `measures`; the intercept is last and not penalised.

    Uses a curvature bound that no step overshoots: Böhning, Lindsay, "Monotonicity of quadratic-approximation
    algorithms", 1988.
    """
    rows = _with_base(measures)
    penalty = np.array([ridge] * measures.shape[1] + [0.0])
    inverse = np.linalg.inv(rows.T @ rows / 4 + np.diag(penalty))
    weights = np.zeros(rows.shape[1])
    for _ in range(LOGISTIC_STEPS):
        step = inverse @ (rows.T @ (right - _logistic(rows @ weights)) - penalty * weights)
        weights = weights + step
        if np.abs(step).max() < SMALLEST:
            break
    return weights


def likelihoods(weights: Numbers, measures: Numbers) -> Numbers:
    """Return the probability of each row of `measures` to be right, by weights of `odds_weights`."""
    return _logistic(_with_base(measures) @ weights)


def folds(names: Iterable[str], count: int) -> Iterator[frozenset[str]]:
    """Split names into `count` parts of similar size, deterministically; fewer if there are fewer names."""
    shuffled = sorted(set(names))
    random.Random(0).shuffle(shuffled)
    for first in range(min(count, len(shuffled))):
        yield frozenset(shuffled[first::count])


def brier(likely: Numbers, right: Truths) -> float:
    """Return the mean squared difference of likelihood and outcome; 0 is best, a constant one half gives 0.25."""
    return float(np.mean((likely - right) ** 2))


def auc(likely: Numbers, right: Truths) -> float:
    """Return how often a right answer is likelier than a wrong one, ties counting half; nan with one class only."""
    above, below = likely[right][:, None], likely[~right][None]
    return float(np.mean((above > below) + 0.5 * (above == below))) if above.size and below.size else float("nan")


def calibration(likely: Numbers, right: Truths) -> list[Bin]:
    """Return the non-empty bins."""
    found = []
    for low, high in itertools.pairwise(BINS):
        inside = (likely >= low) & ((likely < high) | (high == BINS[-1]))
        if inside.any():
            found.append(Bin(low, high, int(inside.sum()), float(likely[inside].mean()), float(np.mean(right[inside]))))
    return found


def _shares(scores: Numbers) -> Numbers:
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


def _logistic(logits: Numbers) -> Numbers:
    return np.asarray((1.0 + np.tanh(logits / 2)) / 2)


def _with_base(measures: Numbers) -> Numbers:
    return np.column_stack([measures, np.ones(len(measures))])
