"""Time calls."""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

Item = TypeVar("Item")


class Percentiles(NamedTuple):
    """Percentiles of durations, in milliseconds."""

    p50: float
    p95: float


def seconds(call: Callable[[], object]) -> float:
    """Return the duration of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def best_of(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """Return the shortest duration of each call in seconds; calls alternate, so that disturbances affect all."""
    times = [[seconds(call) for call in calls] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def percentiles(call: Callable[[Item], object], items: Iterable[Item]) -> Percentiles:
    """Return percentiles of the duration of `call` over items, one after another."""
    times = [seconds(lambda item=item: call(item)) * 1000 for item in items]  # type: ignore[misc]
    p50, p95 = np.percentile(times, [50, 95])
    return Percentiles(float(p50), float(p95))
