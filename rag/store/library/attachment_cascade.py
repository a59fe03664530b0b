"""What parts of mails and archives do when something is done to these, in the same transaction."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag.store.server import named_queries
from rag.store.server.database import Connection, Row, UserDatabase


class AttachmentCascade:
    """The parts of a user's documents."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("parts")

    def trash(self, connection: Connection, trashed: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """The parts of what was put in the trash go along, and theirs; which did."""
        return self._ids(connection, "trash", {"ids": [*trashed]})

    def restore(self, connection: Connection, restored: Mapping[uuid.UUID, Any]) -> list[uuid.UUID]:
        """The parts of what came out of the trash, where it was since the given times, come along; which did."""
        return self._ids(connection, "restore", {"ids": [*restored], "times": [*restored.values()]})

    def purge(self, connection: Connection, purged: Sequence[uuid.UUID]) -> list[Row]:
        """The parts in the trash of what was removed for good go along; which did, and what there was of each.

        Others stay.
        """
        gone = [*connection.execute(self._queries["purge"], self._database.bind({"ids": [*purged]})).fetchall()]
        ids = [*purged, *(row["id"] for row in gone)]
        connection.execute(self._queries["release"], self._database.bind({"ids": ids}))
        return gone

    def _ids(self, connection: Connection, query: str, parameters: Mapping[str, object]) -> list[uuid.UUID]:
        found = connection.execute(self._queries[query], self._database.bind(parameters)).fetchall()
        return [row["id"] for row in found]
