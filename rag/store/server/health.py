"""What the database says of itself."""

from typing import NamedTuple

from rag import errors
from rag.store.jobs.queue import STALLED_SECONDS
from rag.store.server import named_queries
from rag.store.server.database import Database


class Health(NamedTuple):
    """Versions of the server, of pgvector and of our schema (its last migration), and how many workers are alive."""

    server_version: str
    vector_version: str
    migration: str
    workers: int


def read(database: Database) -> Health:
    """The present state.

    Raises:
        errors.StoreError: the database cannot be reached.
    """
    row = database.one(named_queries.load("health")["health"], {"stalled_seconds": STALLED_SECONDS})
    if row is None:
        raise errors.StoreError("The database gave no answer about itself. Try again.")
    return Health(**row)
