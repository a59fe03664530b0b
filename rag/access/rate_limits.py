"""Limit requests and wrong keys per minute, across all servers of an installation."""

import math
import time
from collections.abc import Callable
from typing import Protocol

from rag import errors
from rag.messages import N_

MAX_CONNECTIONS = 500
"""Open connections of a server; uvicorn answers others with 503. A proxy in front ends slow ones."""
FAILURES_PER_MINUTE = 30
"""Wrong keys that an address may send."""
MAX_REMEMBERED = 10_000
"""Maximum number of refused clients to remember before expired entries are dropped."""


class Counter(Protocol):
    """A counter shared by all processes, kept by the database."""

    def count(self, who: str, per_minute: int) -> float:
        """Count a request; return the seconds until `who` may send another, 0 if this one is allowed."""


class RateLimiter:
    """Counts requests by the shared counter, and refuses those over the limit without asking it again."""

    def __init__(self, counter: Callable[[], Counter], clock: Callable[[], float] = time.monotonic) -> None:
        self._counter = counter
        self._clock = clock
        self._refused_until: dict[str, float] = {}

    def count(self, who: str, per_minute: int) -> None:
        """Count a request of `who`; 0 means no limit. Raises RateLimitError."""
        if not per_minute:
            return
        wait = self._refused_until.get(who, 0.0) - self._clock()
        if wait <= 0:
            wait = self._counter().count(who, per_minute)
            self._remember(who, wait)
        if wait > 0:
            raise errors.RateLimitError(
                N_("More than {limit} requests within a minute. Wait, or raise RAG_RATE_LIMIT_PER_MINUTE."),
                limit=per_minute,
                details={"per_minute": per_minute, "retry_after_seconds": math.ceil(wait)},
            )

    def count_failure(self, address: str) -> None:
        """Count a wrong key from `address`. Raises RateLimitError."""
        self.count(f"failures of {address}", FAILURES_PER_MINUTE)

    def _remember(self, who: str, wait: float) -> None:
        now = self._clock()
        if len(self._refused_until) >= MAX_REMEMBERED:
            self._refused_until = {name: until for name, until in [*self._refused_until.items()] if until > now}
        if wait > 0:
            self._refused_until[who] = now + wait
        else:
            self._refused_until.pop(who, None)
