"""How often somebody asks, counted for all processes on all machines in one place."""

from rag.store.server import named_queries
from rag.store.server.database import Database

MINUTE_SECONDS = 60.0


class RateLimits:
    """The table `request_rates`. It tells of nobody more than that they asked of late."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("rates")

    def count(self, who: str, per_minute: int) -> float:
        """Note a request of `who`, if it is not one too many; seconds until the next is admitted if it is, else 0.

        `per_minute` are admitted at once, and as many again within each minute, evenly.
        """
        parameters = {"who": who, "share": MINUTE_SECONDS / per_minute}
        return max(float(row["wait"]) for row in self._database.write(self._queries["count"], parameters))

    def forget(self) -> None:
        """Forget who has not asked of late."""
        self._database.write(self._queries["forget"], {})
