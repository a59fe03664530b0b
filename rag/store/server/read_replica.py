"""A database whose searches run on a read replica, with the results that the primary would give.

A replica applies its primary's log with a delay. So each search first asks the primary for its log position, which is
cheap, and runs on the replica once that has reached the position: it finds what was committed before, and nothing that
was withdrawn. While the replica is down, too far behind or of another database, the primary does the searches.
"""

import logging
import time
from collections.abc import Callable

from rag import errors
from rag.store.server import timeouts
from rag.store.server.database import Database, Queries, Result, Row, connect

logger = logging.getLogger(__name__)

WAIT_SECONDS = 0.25
"""How long a search waits for the replica to catch up with the primary."""
POLL_SECONDS = 0.01
POSITION_TIMEOUT_SECONDS = 2.0
"""Timeout for the replica's log position."""
REST_SECONDS = 5.0
"""How long a replica that failed or is behind is not used."""


class ReplicatedDatabase(Database):
    """The database at `url`, with searches on `replica`."""

    def __init__(self, url: str, replica: Database, *, pool_size: int) -> None:
        super().__init__(url, pool_size=pool_size)
        self._replica = replica
        self._positions = Queries(self, "read_replica")
        self._replica_positions = Queries(replica, "read_replica")
        self._skipped_until = 0.0
        self._is_connected = False

    def open(self) -> None:
        """Connect to the primary, and start to connect to the replica. Raises StoreError."""
        super().open()
        self._replica.pool.open(wait=False)

    def close(self) -> None:
        """Close all connections."""
        self._replica.close()
        super().close()

    def search(self, work: Callable[[Database], Result]) -> Result:
        """Run `work`, which only reads, on the replica if that is up to date, else on the primary."""
        if time.monotonic() < self._skipped_until:
            return work(self)
        position = self._positions.one("written") or {}
        try:
            if self._has_caught_up(position):
                with self._replica.time_limit(timeouts.breaker_for(self.url).timeout_seconds / 2):
                    return work(self._replica)
            logger.warning("the read replica is behind, or follows another database; the primary does the searches")
        except errors.StoreError as error:
            logger.warning("the read replica fails, the primary does the searches: %s", error)
        self._is_connected = False
        self._skipped_until = time.monotonic() + REST_SECONDS
        return work(self)

    def _has_caught_up(self, position: Row) -> bool:
        """Wait up to `WAIT_SECONDS` for the replica to reach a log position; return whether it has."""
        give_up_at = time.monotonic() + WAIT_SECONDS
        with self._replica.time_limit(POSITION_TIMEOUT_SECONDS):
            if not self._is_connected:
                connect(self._replica.url).close()  # without the retries of the pool
                self._is_connected = True
            while not (self._replica_positions.one("has", **position) or {}).get("present"):
                if time.monotonic() > give_up_at:
                    return False
                time.sleep(POLL_SECONDS)
        return True
