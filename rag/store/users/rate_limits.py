"""Request rates, counted for all processes on all machines."""

from rag.store.server.database import Database, Queries

MINUTE_SECONDS = 60.0


class RateLimits:
    """The table `request_rates`. It only says of each caller that they made requests lately."""

    def __init__(self, database: Database) -> None:
        self._queries = Queries(database, "rate_limits")

    def count(self, who: str, per_minute: int) -> float:
        """Count a request of `who` unless it exceeds the limit; return the seconds until the next is allowed, or 0.

        `per_minute` requests are allowed at once, and then as many per minute, evenly spread.
        """
        return max(
            float(row["wait"]) for row in self._queries.write("count", who=who, share=MINUTE_SECONDS / per_minute)
        )

    def forget(self) -> None:
        """Delete the counts of callers without recent requests."""
        self._queries.write("forget")
