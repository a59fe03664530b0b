"""The cache of embedding vectors, per user and embedding space."""

from collections.abc import Mapping, Sequence

import numpy as np

from rag import types
from rag.store.conversations import completion_cache
from rag.store.server.database import Queries, UserDatabase

VECTOR_DTYPE = np.dtype("<f4")


class EmbeddingCache:
    """A user's rows of the table `embedding_cache`, by hash of the embedded text."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "caches")

    def get(self, space: types.EmbeddingSpace, text_hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """Return the cached vectors by hash."""
        values = {**space.model_dump(), "hashes": [*text_hashes]}
        with self._database.transaction() as connection:
            rows = self._queries.run(connection, "get_vectors", **values).fetchall()
            misses = len(set(text_hashes)) - len(rows)
            completion_cache.count(connection, self._database, "embeddings", hits=len(rows), misses=misses)
        return {row["text_hash"]: np.frombuffer(row["vector"], VECTOR_DTYPE).tolist() for row in rows}

    def put(self, space: types.EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Cache vectors by hash, in single precision; existing ones stay."""
        encoded = [np.asarray(vector, VECTOR_DTYPE).tobytes() for vector in vectors.values()]
        values = {**space.model_dump(), "hashes": [*vectors], "vectors": encoded}
        with self._database.transaction() as connection:
            self._queries.run(connection, "without_waiting")
            self._queries.run(connection, "put_vectors", **values)
