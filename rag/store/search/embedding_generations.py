"""Generations: the vectors of an index by several embedding models, one of which is active.

The state of a generation (building, ready …) is not stored but derived from the rows, so that a killed process cannot
leave it wrong. A document that is replaced loses its vectors in all generations but the active one, so the vectors
always match the present text.
"""

import builtins
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from psycopg import sql

from rag import errors, types
from rag.messages import N_
from rag.store.jobs import scheduling
from rag.store.library.indexes import to_index, unknown_index
from rag.store.search.dense import DenseSearch
from rag.store.server import named_queries
from rag.store.server.database import Connection, Queries, UserDatabase


class Generations:
    """The table `embedding_generations`, and the column `generation` of a user's indexes and chunks."""

    def __init__(self, database: UserDatabase, dense: DenseSearch) -> None:
        self._database = database
        self._dense = dense
        self._queries = Queries(database, "embedding_generations")

    def list(self, index_id: uuid.UUID) -> list[types.EmbeddingGeneration]:
        """Return all generations of an index, oldest first."""
        return [to_generation(row) for row in self._queries.all("list", index_id=index_id)]

    def add(self, index_id: uuid.UUID, space: types.EmbeddingSpace) -> types.EmbeddingGeneration:
        """Return the generation of that space, created without vectors if there is none.

        Raises NotFoundError and EmbeddingCapabilityError.
        """
        self._dense.ensure_table(space.dimensions)
        with self._database.transaction() as connection:
            self._lock_index(connection, index_id)
            self._queries.run(connection, "add", index_id=index_id, **space.model_dump())
            rows = self._queries.run(connection, "list", index_id=index_id).fetchall()
        return next(generation for generation in map(to_generation, rows) if generation.space == space)

    def missing(self, generation: types.EmbeddingGeneration) -> builtins.list[uuid.UUID]:
        """Return the documents whose chunks have no vectors in a generation, oldest first, trash included."""
        return [row["id"] for row in self._queries.all(self._missing(generation), **_values(generation))]

    def _missing(self, generation: types.EmbeddingGeneration) -> sql.Composed:
        return self._queries["missing"].format(chunks=named_queries.chunk_table(generation.space.dimensions))

    def switch(self, generation: types.EmbeddingGeneration) -> types.Index | None:
        """Make a generation the active one; None, and no change, if documents lack vectors in it.

        Raises NotFoundError.
        """
        values = _values(generation)
        with self._database.transaction(long=True) as connection:
            index = self._lock_generation(connection, generation)
            if index["generation"] == generation.generation:
                return to_index(index)
            if self._queries.run(connection, self._missing(generation), **values).fetchone():
                return None
            switched = self._queries.run(connection, "switch", **values).fetchone()
            self._queries.run(connection, "count_vectors", **values)
            return to_index(switched or index)

    def drop(self, generation: types.EmbeddingGeneration) -> None:
        """Delete the vectors of a generation that is not the active one. Raises IndexError and NotFoundError."""
        values = _values(generation)
        with self._database.transaction(long=True) as connection:
            index = self._lock_generation(connection, generation)
            if index["generation"] == generation.generation:
                raise errors.IndexError(
                    N_("The index {name} uses the vectors of {model}. Switch to another model before you drop them."),
                    name=repr(index["name"]),
                    model=generation.space.name,
                )
            self._queries.run(connection, "drop", **values)
            table = named_queries.chunk_table(generation.space.dimensions)
            self._queries.run(connection, self._queries["drop_chunks"].format(chunks=table), **values)
            self._queries.run(connection, "forget_previous", **values)

    def lock(self, index_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock the building of an index's generations for the block, and give whether this process has the lock."""
        return scheduling.lock(self._database, index_id)

    def _lock_index(self, connection: Connection, index_id: uuid.UUID) -> dict[str, Any]:
        row = self._queries.run(connection, "lock_index", index_id=index_id).fetchone()
        if row is None:
            raise unknown_index(index_id)
        return row

    def _lock_generation(self, connection: Connection, generation: types.EmbeddingGeneration) -> dict[str, Any]:
        """Lock the index of an existing generation until the end of the transaction, and return its row."""
        index = self._lock_index(connection, generation.index_id)
        if self._queries.run(connection, "get", **_values(generation)).fetchone() is None:
            raise errors.NotFoundError(
                N_("The vectors of {model} have been dropped. Build them again."), model=generation.space.name
            )
        return index


def _values(generation: types.EmbeddingGeneration) -> dict[str, object]:
    return {"index_id": generation.index_id, "generation": generation.generation, **generation.space.model_dump()}


def to_generation(row: Mapping[str, Any]) -> types.EmbeddingGeneration:
    """Make a generation of a row of the query `list`."""
    progress = types.Progress(done=row["done"], total=row["total"])
    state = types.GenerationState.READY if progress.done == progress.total else types.GenerationState.BUILDING
    if row["generation"] == row["active"]:
        state = types.GenerationState.ACTIVE
    elif row["generation"] == row["previous"]:
        state = types.GenerationState.RETIRED
    columns = {name: row[name] for name in ("user_id", "index_id", "generation", "created_at")}
    space = types.EmbeddingSpace(**{name: row[name] for name in types.EmbeddingSpace.model_fields})
    return types.EmbeddingGeneration(**columns, space=space, state=state, progress=progress)
