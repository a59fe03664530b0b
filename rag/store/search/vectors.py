"""Add vectors to chunks that are searchable by their words; each batch is searchable at once."""

import uuid
from collections.abc import Mapping, Sequence

import pgvector

from rag import errors, types
from rag.messages import N_
from rag.store.search.chunks import lock_document, require_space, to_chunk
from rag.store.server import named_queries
from rag.store.server.database import Queries, UserDatabase


class Vectors:
    """The column `embedding` of a user's chunks."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "vectors")

    def missing(self, document_id: uuid.UUID, space: types.EmbeddingSpace, limit: int) -> list[types.Chunk]:
        """Return the next chunks of a document without a vector, in order; none if its index has another space."""
        query = self._queries["missing"].format(chunks=named_queries.chunk_table(space.dimensions))
        rows = self._queries.all(query, document_id=document_id, limit=limit, **space.model_dump())
        return [to_chunk(row) for row in rows]

    def add(
        self, document_id: uuid.UUID, space: types.EmbeddingSpace, vectors: Mapping[uuid.UUID, Sequence[float]]
    ) -> bool:
        """Save vectors by chunk id in one transaction; with the last one the document is `ready`.

        False if the document is no longer being embedded, for example because it was cancelled: then nothing is
        saved. Chunks that have been replaced meanwhile are skipped.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.IndexError: the index of the document has another embedding space.
        """
        table = named_queries.chunk_table(space.dimensions)
        values = {"ids": [*vectors], "vectors": [pgvector.Vector([*vector]).to_text() for vector in vectors.values()]}
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            require_space(document, space)
            row = connection.execute(self._queries["add"].format(chunks=table), {**document, **values}).fetchone()
            if row is None:
                return False
            if row["vector_count"] > row["chunk_count"]:
                raise errors.StoreError(N_("A document has more vectors than chunks. This is a bug; report it."))
            if row["vector_count"] == row["chunk_count"] or not vectors:
                connection.execute(self._queries["finish"].format(chunks=table), document)
        return True
