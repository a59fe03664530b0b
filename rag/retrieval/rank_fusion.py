"""Reciprocal rank fusion of lists of `{key: score}`."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def reciprocal_rank_fusion(lists: Iterable[Mapping[Key, float]], k: int) -> dict[Key, float]:
    """Fuse lists by reciprocal ranks: the sum of 1 / (k + rank), ranks from 1.

    Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009.
    """
    fused: dict[Key, float] = {}
    for scores in lists:
        for key, rank in ranks(scores).items():
            fused[key] = fused.get(key, 0.0) + 1 / (k + rank)
    return fused


def ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    """Return ranks from 1, best score first; equal scores keep their order."""
    order = sorted(scores, key=lambda key: -scores[key])
    return {key: place for place, key in enumerate(order, start=1)}
