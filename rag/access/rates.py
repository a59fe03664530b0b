"""How often somebody may ask, or try a key, within a minute."""

import limits

from rag import errors

FAILURES_PER_MINUTE = 30
"""Wrong keys that one address may try."""


class RateLimiter:
    """Counts requests in a moving window of a minute, in this process."""

    def __init__(self) -> None:
        self._limiter = limits.strategies.MovingWindowRateLimiter(limits.storage.MemoryStorage())

    def count(self, who: str, per_minute: int) -> None:
        """Note a request of `who`; 0 means no limit.

        Raises:
            errors.RateLimitError: it is one too many.
        """
        if per_minute and not self._limiter.hit(limits.RateLimitItemPerMinute(per_minute), who):
            raise errors.RateLimitError(
                f"More than {per_minute} requests within a minute. Wait, or raise RAG_RATE_LIMIT_PER_MINUTE.",
                details={"per_minute": per_minute, "retry_after_seconds": 60},
            )

    def count_failure(self, address: str) -> None:
        """Note that a wrong key came from `address`. Raises RateLimitError if it is one too many."""
        self.count(f"failures of {address}", FAILURES_PER_MINUTE)
