"""Putting ranked lists together. Pure functions over `{key: score}`."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def min_max(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Scores stretched to 0..1: the best gets 1, the worst 0; equal scores all get 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def weighted_fusion(lists: Iterable[tuple[Mapping[Key, float], float]]) -> dict[Key, float]:
    """The weighted mean of the min-max scores of several lists, in 0..1; a key missing from a list has 0 there.

    `lists` are pairs of scores and weight; an empty list does not pull the others down.
    """
    present = [(scores, weight) for scores, weight in lists if scores and weight > 0]
    total = sum(weight for _, weight in present)
    fused: dict[Key, float] = {}
    for scores, weight in present:
        for key, score in min_max(scores).items():
            fused[key] = fused.get(key, 0.0) + score * weight / total
    return fused


def reciprocal_rank_fusion(lists: Iterable[tuple[Mapping[Key, float], float]], k: int) -> dict[Key, float]:
    """Reciprocal rank fusion, divided by what the first place in every list would earn, so in 0..1.

    Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009: the sum over the lists of 1 / (k + rank), ranks from 1. `lists` are pairs of
    scores and weight.
    """
    present = [(scores, weight) for scores, weight in lists if scores and weight > 0]
    best = sum(weight for _, weight in present) / (k + 1)
    fused: dict[Key, float] = {}
    for scores, weight in present:
        for key, rank in ranks(scores).items():
            fused[key] = fused.get(key, 0.0) + weight / (k + rank) / best
    return fused


def ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    """Places from 1, best score first; equal scores keep the order they came in."""
    order = sorted(scores, key=lambda key: -scores[key])
    return {key: place for place, key in enumerate(order, start=1)}
