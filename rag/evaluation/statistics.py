"""Means over questions, and how sure they are."""

import collections
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

RESAMPLES = 2000
"""Of the documents, for an interval: its ends then hardly move by another seed."""

Value = tuple[str, float]
"""What one question scored, and the document that it is about."""


class Scores(NamedTuple):
    """Means over `questions`, and for each a 95 % interval where its questions are of several documents.

    `counts` is the number of questions behind each mean, for not every measure fits every question.
    """

    questions: int
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    counts: dict[str, int]

    @classmethod
    def of(cls, questions: int, values: Mapping[str, Sequence[Value]]) -> Self:
        """Of the values of each measure."""
        return cls(
            questions=questions,
            means={name: statistics.fmean(value for _, value in found) for name, found in values.items()},
            intervals={name: ends for name, found in values.items() if (ends := interval(found))},
            counts={name: len(found) for name, found in values.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """As reports have them: `measures`, among them the number of questions, their `intervals` and `counts`."""
        return {
            "measures": {"questions": self.questions, **self.means},
            "intervals": self.intervals,
            "counts": self.counts,
        }


def interval(values: Iterable[Value]) -> tuple[float, float] | None:
    """The 95 % interval of the mean by resampling whole documents; None for a single one.

    Questions about one document stand and fall together, so an interval over questions would be too narrow.
    Source: the cluster bootstrap with replacement, Field, Welsh, "Bootstrapping clustered data", JRSS B 69, 2007.
    """
    import numpy as np

    by_document: dict[str, list[float]] = collections.defaultdict(list)
    for document, value in values:
        by_document[document].append(value)
    if len(by_document) < 2:
        return None
    totals = np.array([(sum(found), len(found)) for found in by_document.values()])
    chosen = np.random.default_rng(0).integers(len(totals), size=(RESAMPLES, len(totals)))
    sums, counts = totals[chosen].sum(axis=1).T
    low, high = np.quantile(sums / counts, [0.025, 0.975])
    return float(low), float(high)
