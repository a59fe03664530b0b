"""Means over questions and their confidence intervals."""

import collections
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

RESAMPLES = 2000
"""Bootstrap resamples; with as many, the interval hardly depends on the seed."""

Value = tuple[str, float]
"""A question's document and score."""


class Scores(NamedTuple):
    """Means over `questions`, with 95 % confidence intervals if the questions concern several documents.

    `counts` is the number of questions behind each mean, since not every metric applies to every question.
    """

    questions: int
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    counts: dict[str, int]

    @classmethod
    def of(cls, questions: int, values: Mapping[str, Sequence[Value]]) -> Self:
        """Compute the scores from the values of each metric."""
        return cls(
            questions=questions,
            means={name: statistics.fmean(score for _, score in scores) for name, scores in values.items()},
            intervals={name: ends for name, scores in values.items() if (ends := interval(scores))},
            counts={name: len(scores) for name, scores in values.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the scores as in reports: `measures`, including the number of questions, `intervals` and `counts`."""
        return {
            "measures": {"questions": self.questions, **self.means},
            "intervals": self.intervals,
            "counts": self.counts,
        }


def interval(values: Iterable[Value]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval of the mean by a bootstrap over documents; None for a single document.

    Scores of questions about the same document are correlated, so an interval over questions would be too narrow.
    Source: the cluster bootstrap with replacement, Field, Welsh, "Bootstrapping clustered data", JRSS B 69, 2007.
    """
    import numpy as np

    by_document: dict[str, list[float]] = collections.defaultdict(list)
    for document, value in values:
        by_document[document].append(value)
    if len(by_document) < 2:
        return None
    totals = np.array([(sum(scores), len(scores)) for scores in by_document.values()])
    chosen = np.random.default_rng(0).integers(len(totals), size=(RESAMPLES, len(totals)))
    sums, counts = totals[chosen].sum(axis=1).T
    low, high = np.quantile(sums / counts, [0.025, 0.975])
    return float(low), float(high)
