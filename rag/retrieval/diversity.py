"""Diversify results by maximal marginal relevance."""

from typing import Any

import numpy as np
import numpy.typing as npt


def maximal_marginal_relevance(
    scores: npt.NDArray[Any], vectors: npt.NDArray[Any], *, diversity: float, limit: int
) -> list[int]:
    """Return the positions of up to `limit` candidates in the order of selection.

    Each next one maximizes (1 - diversity) * score - diversity * (maximum similarity to those selected before).
    `scores` (n) are in 0..1, `vectors` (n, dimensions) of length 1.

    Source: Carbonell, Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
    Summaries", SIGIR 1998, with lambda = 1 - diversity.
    """
    taken: list[int] = []
    left = np.ones(len(scores), dtype=bool)
    nearest = np.zeros(len(scores))
    while len(taken) < min(limit, len(scores)):
        worth = np.where(left, (1 - diversity) * scores - diversity * nearest, -np.inf)
        chosen = int(np.argmax(worth))
        taken.append(chosen)
        left[chosen] = False
        nearest = np.maximum(nearest, vectors @ vectors[chosen])
    return taken
