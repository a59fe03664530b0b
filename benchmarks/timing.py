"""Time calls."""

import time
from collections.abc import Callable, Iterable, Mapping
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
    return alternating({"": call}, items)[""]


def alternating(calls: Mapping[str, Callable[[Item], object]], items: Iterable[Item]) -> dict[str, Percentiles]:
    """Return percentiles of each call's duration over items; calls alternate, so that disturbances affect all."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for item in items:
        for name, call in calls.items():
            times[name].append(seconds(lambda call=call, item=item: call(item)) * 1000)  # type: ignore[misc]
    return {name: Percentiles(*map(float, np.percentile(own, [50, 95]))) for name, own in times.items()}
