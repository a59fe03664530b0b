"""How often somebody may ask, or try a key, within a minute: at all doors of an installation together."""

import math
import time
from collections.abc import Callable
from typing import Protocol

from rag import errors

FAILURES_PER_MINUTE = 30
"""Wrong keys that one address may try."""
REMEMBERED = 10_000
"""So many that were refused are remembered at most, before those whose time has come are forgotten."""


class Counter(Protocol):
    """Counts for all processes, as the database does."""

    def count(self, who: str, per_minute: int) -> float:
        """Seconds until `who` may ask again; 0 if this was not one too many."""


class RateLimiter:
    """Counts requests, with all other processes.

    Whoever is refused is refused here, without asking anybody, until their time has come: nothing makes it come sooner.
    """

    def __init__(self, counter: Callable[[], Counter], clock: Callable[[], float] = time.monotonic) -> None:
        self._counter = counter
        self._clock = clock
        self._refused_until: dict[str, float] = {}

    def count(self, who: str, per_minute: int) -> None:
        """Note a request of `who`; 0 means no limit.

        Raises:
            errors.RateLimitError: it is one too many.
        """
        if not per_minute:
            return
        wait = self._refused_until.get(who, 0.0) - self._clock()
        if wait <= 0:
            wait = self._counter().count(who, per_minute)
            self._remember(who, wait)
        if wait > 0:
            raise errors.RateLimitError(
                f"More than {per_minute} requests within a minute. Wait, or raise RAG_RATE_LIMIT_PER_MINUTE.",
                details={"per_minute": per_minute, "retry_after_seconds": math.ceil(wait)},
            )

    def count_failure(self, address: str) -> None:
        """Note that a wrong key came from `address`. Raises RateLimitError if it is one too many."""
        self.count(f"failures of {address}", FAILURES_PER_MINUTE)

    def _remember(self, who: str, wait: float) -> None:
        now = self._clock()
        if len(self._refused_until) >= REMEMBERED:
            self._refused_until = {name: until for name, until in [*self._refused_until.items()] if until > now}
        if wait > 0:
            self._refused_until[who] = now + wait
        else:
            self._refused_until.pop(who, None)
