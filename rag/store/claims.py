"""Claims: that a process is the only one at work on something."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rag import errors
from rag.store import queries
from rag.store.database import UserDatabase, connect, store_errors


@contextmanager
def claim(database: UserDatabase, claimed_id: uuid.UUID) -> Iterator[bool]:
    """Whether this process is now the only one at work on a document or an index; the claim ends with the block.

    It is held by a connection of its own, so it ends with this process too, however that ends.
    """
    connection = connect(database.url, autocommit=True)
    try:
        with store_errors():
            parameters = database.bind({"id": claimed_id})
            row = connection.execute(queries.load("session")["try_claim"], parameters).fetchone()
        yield bool(row and row["claimed"])
    finally:
        with suppress(errors.StoreError), store_errors():  # a lost connection has lost its claim
            connection.execute(queries.load("session")["release_claim"])
        connection.close()
