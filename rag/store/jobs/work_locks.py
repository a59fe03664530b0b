"""Advisory locks: one process at a time works on a document, an index or a job."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase, connect, store_errors


@contextmanager
def lock(database: UserDatabase, subject_id: uuid.UUID) -> Iterator[bool]:
    """Lock a document, an index or a job for the block, and give whether this process has the lock."""
    with lock_connection(database.url) as connection:
        yield try_lock(connection, database.bind({"id": subject_id}))


@contextmanager
def lock_connection(url: str) -> Iterator[Connection]:
    """Open a connection whose locks end with the block, or with this process, however that ends."""
    connection = connect(url, autocommit=True)
    try:
        yield connection
    finally:
        with suppress(errors.StoreError):  # a lost connection has lost its locks
            release_locks(connection)
        connection.close()


def try_lock(connection: Connection, subject: Mapping[str, object]) -> bool:
    """Lock what `user_id` and `id` name, and return whether `connection` has the lock."""
    with store_errors():
        row = connection.execute(named_queries.load("session")["try_lock"], subject).fetchone()
    return bool(row and row["locked"])


def release_locks(connection: Connection) -> None:
    """Release all locks of a connection."""
    with store_errors():
        connection.execute(named_queries.load("session")["release_locks"])
