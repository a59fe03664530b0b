"""Claims: that a process is the only one at work on something."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase, connect, store_errors


@contextmanager
def claim(database: UserDatabase, claimed_id: uuid.UUID) -> Iterator[bool]:
    """Whether this process is now the only one at work on a document or an index; the claim ends with the block."""
    with lock_connection(database.url) as connection:
        yield try_lock(connection, database.bind({"id": claimed_id}))


@contextmanager
def lock_connection(url: str) -> Iterator[Connection]:
    """A connection of its own, whose claims end with the block, or with this process, however that ends."""
    connection = connect(url, autocommit=True)
    try:
        yield connection
    finally:
        with suppress(errors.StoreError):  # a lost connection has lost its claims
            release(connection)
        connection.close()


def try_lock(connection: Connection, subject: Mapping[str, object]) -> bool:
    """Whether `connection` has now the claim on what `user_id` and `id` name."""
    with store_errors():
        row = connection.execute(named_queries.load("session")["try_claim"], subject).fetchone()
    return bool(row and row["claimed"])


def release(connection: Connection) -> None:
    """Give up all claims of a connection."""
    with store_errors():
        connection.execute(named_queries.load("session")["release_claim"])
