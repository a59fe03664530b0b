"""Vectors of texts that were embedded before, per user and embedding space."""

from collections.abc import Mapping, Sequence

import numpy as np

from rag.store import caches, queries
from rag.store.database import Database
from rag.types import EmbeddingSpace

VECTOR_DTYPE = np.dtype("<f4")


class EmbeddingCache:
    """The table `embedding_cache`. Hashes are digests of the embedded texts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = queries.load("embedding_cache")

    def get(self, user_id: str, space: EmbeddingSpace, text_hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """The vectors of those hashes that are known."""
        parameters = {"user_id": user_id, **space.model_dump(), "hashes": [*text_hashes]}
        with self._database.transaction() as connection:
            rows = connection.execute(self._queries["get"], parameters).fetchall()
            caches.count(connection, user_id, "embeddings", hits=len(rows), misses=len(set(text_hashes)) - len(rows))
        return {row["text_hash"]: np.frombuffer(row["vector"], VECTOR_DTYPE).tolist() for row in rows}

    def put(self, user_id: str, space: EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Keep vectors by hash, in single precision; what is known stays as it is."""
        parameters = {
            "user_id": user_id,
            **space.model_dump(),
            "hashes": [*vectors],
            "vectors": [np.asarray(vector, VECTOR_DTYPE).tobytes() for vector in vectors.values()],
        }
        with self._database.transaction() as connection:
            connection.execute(queries.load("caches")["without_waiting"])
            connection.execute(self._queries["put"], parameters)
