"""Vectors of texts that were embedded before, per user and embedding space."""

from collections.abc import Mapping, Sequence

import numpy as np

from rag.store.conversations import completion_cache
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import EmbeddingSpace

VECTOR_DTYPE = np.dtype("<f4")


class EmbeddingCache:
    """A user's rows of the table `embedding_cache`. Hashes are digests of the embedded texts."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("embedding_cache")

    def get(self, space: EmbeddingSpace, text_hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """The vectors of those hashes that are known."""
        parameters = self._database.bind({**space.model_dump(), "hashes": [*text_hashes]})
        with self._database.transaction() as connection:
            rows = connection.execute(self._queries["get"], parameters).fetchall()
            completion_cache.count(
                connection, self._database, "embeddings", hits=len(rows), misses=len(set(text_hashes)) - len(rows)
            )
        return {row["text_hash"]: np.frombuffer(row["vector"], VECTOR_DTYPE).tolist() for row in rows}

    def put(self, space: EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Keep vectors by hash, in single precision; what is known stays as it is."""
        kept = [np.asarray(vector, VECTOR_DTYPE).tobytes() for vector in vectors.values()]
        parameters = self._database.bind({**space.model_dump(), "hashes": [*vectors], "vectors": kept})
        with self._database.transaction() as connection:
            connection.execute(named_queries.load("caches")["without_waiting"])
            connection.execute(self._queries["put"], parameters)
