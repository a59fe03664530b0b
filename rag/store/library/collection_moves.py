"""Move documents from one collection (index) to another."""

import uuid
from collections.abc import Sequence

from rag import errors, types
from rag.messages import N_
from rag.store.library.indexes import to_index
from rag.store.server.database import Connection, Queries, Row, UserDatabase
from rag.store.users import audit_log


class CollectionMoves:
    """Moves a user's documents with their chunks, vectors and postings between indexes."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "collection_moves")

    def move(self, ids: Sequence[uuid.UUID], index_id: uuid.UUID) -> Sequence[uuid.UUID]:
        """Move documents with their versions and attachments, all or none; return those of `ids` that moved.

        Raises:
            errors.NotFoundError: there is no such index.
            errors.ConflictError: the index has another embedding model or other chunks, or the content of one already;
                or one is being read, follows a folder, or is a part of another.
        """
        with self._database.transaction(long=True) as connection:
            rows = [row for row in self._queries.run(connection, "going", ids=[*ids]) if row["index_id"] != index_id]
            self._require_compatible(connection, {row["index_id"] for row in rows}, index_id)
            for row in rows:
                _require_movable(row)
            self._require_no_duplicate(connection, rows, index_id)
            moved = [row["id"] for row in rows]
            self._queries.run(connection, "move", ids=moved, index_id=index_id)
            audit_log.add_document_entries(self._database, connection, "document.move", moved)
        return [document_id for document_id in ids if document_id in moved]

    def _require_compatible(self, connection: Connection, sources: set[uuid.UUID], target_id: uuid.UUID) -> None:
        rows = self._queries.run(connection, "indexes", index_ids=[*sources, target_id])
        found = {index.id: index for index in map(to_index, rows)}
        if target_id not in found:
            raise errors.NotFoundError(N_("There is no index {id}. List the indexes and check the id."), id=target_id)
        target = found[target_id]
        for source in (found[source_id] for source_id in sources):
            if (source.space, source.chunking) != (target.space, target.chunking):
                raise errors.ConflictError(
                    N_(
                        "“{target}” is searched by another model or in other chunks than “{source}”. Upload the files "
                        "there."
                    ),
                    target=target.name,
                    source=source.name,
                )

    def _require_no_duplicate(self, connection: Connection, rows: Sequence[Row], target: uuid.UUID) -> None:
        hashes = [row["sha256"] for row in rows]
        twin = self._queries.run(connection, "twins", index_id=target, hashes=hashes).fetchone()
        if twin:
            raise errors.ConflictError(
                N_("The collection has the content of “{name}” already, there or in its trash. Leave it out."),
                name=twin["name"],
            )


def _require_movable(row: Row) -> None:
    if row["is_part"]:
        raise errors.ConflictError(N_("“{name}” is part of a mail or an archive. Move that."), name=row["name"])
    if row["follows_source"]:
        raise errors.ConflictError(
            N_("“{name}” follows a file of a folder, which would bring it back."), name=row["name"]
        )
    if types.DocumentStatus(row["status"]) in types.UNFINISHED:
        raise errors.ConflictError(N_("“{name}” is being read. Move it when that is done."), name=row["name"])
