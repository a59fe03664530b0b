"""What the database says of itself."""

from typing import NamedTuple

from rag import errors
from rag.store import queries
from rag.store.database import Database
from rag.store.queue import STALLED_SECONDS


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
    row = database.one(queries.load("health")["health"], {"stalled_seconds": STALLED_SECONDS})
    if row is None:
        raise errors.StoreError("The database gave no answer about itself. Try again.")
    return Health(**row)
