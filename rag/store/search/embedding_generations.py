"""The vectors of several embedding models beside each other: which there are, and which one an index uses.

What a generation is (building, ready …) is not kept but follows from the rows: nothing can be left wrong by a process
that was killed. A document that is replaced loses its vectors in all generations but the active one, so those that
are there are of the present text.
"""

import builtins
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from rag import errors
from rag.store.jobs import work_locks
from rag.store.library.indexes import to_index
from rag.store.search.dense import DenseSearch
from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase
from rag.types import EmbeddingGeneration, EmbeddingSpace, GenerationState, Index, Progress


class Generations:
    """The table `embedding_generations`, and `generation` in `indexes` and in the tables of chunks."""

    def __init__(self, database: UserDatabase, dense: DenseSearch) -> None:
        self._database = database
        self._dense = dense
        self._queries = named_queries.load("generations")

    def list(self, index_id: uuid.UUID) -> list[EmbeddingGeneration]:
        """All generations of an index, oldest first."""
        rows = self._database.all(self._queries["list"], {"index_id": index_id})
        return [to_generation(row) for row in rows]

    def add(self, index_id: uuid.UUID, space: EmbeddingSpace) -> EmbeddingGeneration:
        """The generation of that space, new and without vectors if there is none.

        Raises:
            errors.NotFoundError: there is no such index.
            errors.EmbeddingCapabilityError: such vectors cannot be indexed.
        """
        self._dense.ensure_table(space.dimensions)
        with self._database.transaction() as connection:
            parameters = self._database.bind({"index_id": index_id, **space.model_dump()})
            self._lock(connection, parameters)
            connection.execute(self._queries["add"], parameters)
            rows = connection.execute(self._queries["list"], parameters).fetchall()
        return next(found for found in map(to_generation, rows) if found.space == space)

    def missing(self, generation: EmbeddingGeneration) -> builtins.list[uuid.UUID]:
        """The documents, also those in the trash, whose chunks have no vectors in a generation; oldest first."""
        return [row["id"] for row in self._database.all(self._missing(generation), self._parameters(generation))]

    def _missing(self, generation: EmbeddingGeneration) -> Any:
        return self._queries["missing"].format(chunks=named_queries.chunk_table(generation.space.dimensions))

    def switch(self, generation: EmbeddingGeneration) -> Index | None:
        """Make a generation the active one, which every search sees from the next moment on.

        None: documents lack vectors in it, and nothing has been changed.

        Raises:
            errors.NotFoundError: there is no such generation any more.
        """
        parameters = self._parameters(generation)
        with self._database.transaction(long=True) as connection:
            index = self._lock_with(connection, generation, parameters)
            if index["generation"] == generation.generation:
                return to_index(index)
            if connection.execute(self._missing(generation), parameters).fetchone():
                return None
            switched = connection.execute(self._queries["switch"], parameters).fetchone()
            connection.execute(self._queries["count_vectors"], parameters)
            return to_index(switched or index)

    def drop(self, generation: EmbeddingGeneration) -> None:
        """Remove the vectors of a generation that is not the active one.

        Raises:
            errors.IndexError: it is the active one.
            errors.NotFoundError: there is no such generation any more.
        """
        parameters = self._parameters(generation)
        with self._database.transaction(long=True) as connection:
            index = self._lock_with(connection, generation, parameters)
            if index["generation"] == generation.generation:
                raise errors.IndexError(
                    f"The index {index['name']!r} uses the vectors of {generation.space.name}. Switch to another "
                    "model before you drop them."
                )
            connection.execute(self._queries["drop"], parameters)
            table = named_queries.chunk_table(generation.space.dimensions)
            connection.execute(self._queries["drop_chunks"].format(chunks=table), parameters)
            connection.execute(self._queries["forget_previous"], parameters)

    def claim(self, index_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Whether this process is now the only one that builds a generation of an index; it ends with the block."""
        return work_locks.claim(self._database, index_id)

    def _lock(self, connection: Connection, parameters: Mapping[str, Any]) -> dict[str, Any]:
        row = connection.execute(self._queries["lock_index"], parameters).fetchone()
        if row is None:
            raise errors.NotFoundError(
                f"There is no index {parameters['index_id']}. List the indexes and check the id."
            )
        return row

    def _lock_with(
        self, connection: Connection, generation: EmbeddingGeneration, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The index, and the generation is there until the end of the transaction."""
        index = self._lock(connection, parameters)
        if connection.execute(self._queries["get"], parameters).fetchone() is None:
            raise errors.NotFoundError(f"The vectors of {generation.space.name} have been dropped. Build them again.")
        return index

    def _parameters(self, generation: EmbeddingGeneration) -> dict[str, object]:
        return self._database.bind(
            {"index_id": generation.index_id, "generation": generation.generation, **generation.space.model_dump()}
        )


def to_generation(row: Mapping[str, Any]) -> EmbeddingGeneration:
    """A row of the query `list`."""
    progress = Progress(done=row["done"], total=row["total"])
    return EmbeddingGeneration(
        user_id=row["user_id"],
        index_id=row["index_id"],
        generation=row["generation"],
        space=EmbeddingSpace(provider=row["provider"], model=row["model"], dimensions=row["dimensions"]),
        state=_state(row, progress),
        progress=progress,
        created_at=row["created_at"],
    )


def _state(row: Mapping[str, Any], progress: Progress) -> GenerationState:
    if row["generation"] == row["active"]:
        return GenerationState.ACTIVE
    if row["generation"] == row["previous"]:
        return GenerationState.RETIRED
    return GenerationState.READY if progress.done == progress.total else GenerationState.BUILDING
