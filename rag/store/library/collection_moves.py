"""Moving documents from one collection to another."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors
from rag.store.library.indexes import to_index
from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase
from rag.store.users import audit_log
from rag.types import UNFINISHED, DocumentStatus, Index


class CollectionMoves:
    """What takes a user's documents, with all that was made of them, from one index into another."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("moving")

    def move(self, ids: Sequence[uuid.UUID], index_id: uuid.UUID) -> Sequence[uuid.UUID]:
        """Move documents with their versions and parts; returns those that were asked for and moved. All or none are.

        Raises:
            errors.NotFoundError: there is no such index.
            errors.ConflictError: the index has another embedding model or other chunks, has the content of one already,
                or one is being read, follows a folder, or is a part of another.
        """
        with self._database.transaction(long=True) as connection:
            rows = [row for row in self._all(connection, "going", ids=[*ids]) if row["index_id"] != index_id]
            self._require_alike(connection, {row["index_id"] for row in rows}, index_id)
            for row in rows:
                _require_free(row)
            self._require_new(connection, rows, index_id)
            moved = [row["id"] for row in rows]
            self._all(connection, "move", ids=moved, index_id=index_id)
            audit_log.add_document_entries(self._database, connection, "document.move", moved)
        return [document_id for document_id in ids if document_id in moved]

    def _all(self, connection: Connection, query: str, **parameters: object) -> list[Mapping[str, Any]]:
        return [*connection.execute(self._queries[query], self._database.bind(parameters)).fetchall()]

    def _require_alike(self, connection: Connection, sources: set[uuid.UUID], target: uuid.UUID) -> None:
        rows = self._all(connection, "indexes", index_ids=[*sources, target])
        found = {index.id: index for index in map(to_index, rows)}
        if target not in found:
            raise errors.NotFoundError(f"There is no index {target}. List the indexes and check the id.")
        for source in sources:
            _require_same(found[source], found[target])

    def _require_new(self, connection: Connection, rows: Sequence[Mapping[str, Any]], target: uuid.UUID) -> None:
        twins = self._all(connection, "twins", index_id=target, hashes=[row["sha256"] for row in rows])
        if twins:
            raise errors.ConflictError(
                f"The collection has the content of “{twins[0]['name']}” already, there or in its trash. Leave it out."
            )


def _require_same(source: Index, target: Index) -> None:
    if (source.space, source.chunking) != (target.space, target.chunking):
        raise errors.ConflictError(
            f"“{target.name}” is searched by another model or in other chunks than “{source.name}”. Upload the files "
            "there."
        )


def _require_free(row: Mapping[str, Any]) -> None:
    if row["is_part"]:
        raise errors.ConflictError(f"“{row['name']}” is part of a mail or an archive. Move that.")
    if row["follows_source"]:
        raise errors.ConflictError(f"“{row['name']}” follows a file of a folder, which would bring it back.")
    if DocumentStatus(row["status"]) in UNFINISHED:
        raise errors.ConflictError(f"“{row['name']}” is being read. Move it when that is done.")
