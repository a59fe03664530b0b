"""Searches on a read replica, which find what the primary would.

A replica follows its primary's log with a delay. So the primary is asked first how far its log is written, which costs
it next to nothing, and the replica has to have got as far: what was committed before a search was asked is found, and
what was withdrawn is not. A replica that is not there, is behind for longer than a search can wait, or is of another
database, is left alone for a while, and the primary does its work.
"""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rag import errors
from rag.store.server import named_queries, timeouts

if TYPE_CHECKING:
    from rag.store.server.database import Database, Row

logger = logging.getLogger(__name__)

WAIT_SECONDS = 0.25
"""How long a search waits for the replica to get as far as the primary."""
POLL_SECONDS = 0.01
TIMEOUT_SECONDS = 2.0
"""How long the replica may take to say how far it is."""
REST_SECONDS = 5.0
"""How long a replica that failed, or is behind, is left alone."""

Result = TypeVar("Result")


class Replica:
    """A server that follows `primary`, as `followed` reaches it."""

    def __init__(self, primary: "Database", followed: "Database") -> None:
        self._primary = primary
        self._followed = followed
        self._queries = named_queries.load("replica")
        self._rests_until = 0.0
        self._is_trusted = False

    def open(self) -> None:
        """Begin to connect; whether that works shows when it is asked."""
        self._followed.pool.open(wait=False)

    def close(self) -> None:
        """Close all connections."""
        self._followed.close()

    def search(self, ask: "Callable[[Database], Result]") -> Result:
        """What `ask`, which only reads, gets of the replica, or else of the primary. Raises what it raises there."""
        if time.monotonic() < self._rests_until:
            return ask(self._primary)
        position = self._primary.one(self._queries["written"], {}) or {}
        try:
            if self._has(position):
                with self._followed.limit(timeouts.breaker_for(self._primary.url).timeout_seconds / 2):
                    return ask(self._followed)
            logger.warning("the read replica is behind, or follows another database; the primary does the searches")
        except errors.StoreError as error:
            logger.warning("the read replica fails, the primary does the searches: %s", error)
        self._is_trusted = False
        self._rests_until = time.monotonic() + REST_SECONDS
        return ask(self._primary)

    def _has(self, position: "Row") -> bool:
        """Whether it has all that the primary had written, or gets it soon."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._followed.limit(TIMEOUT_SECONDS):
            if not self._is_trusted:
                self._followed.check_connection()
                self._is_trusted = True
            while not (self._followed.one(self._queries["has"], position) or {}).get("present"):
                if time.monotonic() > deadline:
                    return False
                time.sleep(POLL_SECONDS)
        return True
