"""The caches of model completions and of embedding vectors, and the hit counts of all, per user."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from rag import types
from rag.store.server.database import Connection, Queries, UserDatabase

CompletionKind = Literal["plans", "rewrites", "hyde", "answers", "verdicts", "suggestions"]
CacheKind = Literal["plans", "rewrites", "hyde", "answers", "verdicts", "suggestions", "embeddings"]

VECTOR_DTYPE = np.dtype("<f4")

CACHE_KINDS: tuple[CacheKind, ...] = get_args(CacheKind)


class CacheStats(NamedTuple):
    """The size of one of a user's caches, and its hits and misses since it was last cleared."""

    kind: CacheKind
    entries: int
    bytes: int
    hits: int
    misses: int

    @property
    def hit_rate(self) -> float | None:
        """The share of lookups that were hits, in 0..1; None before the first."""
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else None


class Caches:
    """A user's rows of the tables `completion_cache` and `cache_counts`, and the size of `embedding_cache`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "caches")

    def recall(self, kind: CompletionKind, key: bytes) -> str | None:
        """Return the cached completion for a `key`, a digest of everything that the completion depends on."""
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "get_completion", kind=kind, key=key).fetchone()
            count(connection, self._database, kind, hits=int(row is not None), misses=int(row is None))
        return row["completion"] if row else None

    def keep(self, kind: CompletionKind, key: bytes, completion: str) -> None:
        """Cache a completion, replacing an earlier one."""
        self._queries.write("put_completion", kind=kind, key=key, completion=completion.replace("\x00", ""))

    def stats(self) -> list[CacheStats]:
        """Return the statistics of each of the user's caches."""
        return [CacheStats(**row) for row in self._queries.all("list", kinds=[*CACHE_KINDS])]

    def clear(self, kinds: Collection[CacheKind] = CACHE_KINDS) -> int:
        """Clear the user's caches and their counts, and return the number of deleted entries."""
        with self._database.transaction(long=True) as connection:
            removed = self._queries.run(connection, "clear_completions", kinds=[*kinds]).rowcount
            if "embeddings" in kinds:
                removed += self._queries.run(connection, "clear_embeddings").rowcount
            self._queries.run(connection, "clear_counts", kinds=[*kinds])
        return removed


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
            count(connection, self._database, "embeddings", hits=len(rows), misses=misses)
        return {row["text_hash"]: np.frombuffer(row["vector"], VECTOR_DTYPE).tolist() for row in rows}

    def put(self, space: types.EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Cache vectors by hash, in single precision; existing ones stay."""
        encoded = [np.asarray(vector, VECTOR_DTYPE).tobytes() for vector in vectors.values()]
        values = {**space.model_dump(), "hashes": [*vectors], "vectors": encoded}
        with self._database.transaction() as connection:
            self._queries.run(connection, "without_waiting")
            self._queries.run(connection, "put_vectors", **values)


def count(connection: Connection, database: UserDatabase, kind: CacheKind, *, hits: int, misses: int) -> None:
    """Add to a cache's counts in the current transaction, whose commit then does not wait for the disk."""
    queries = Queries(database, "caches")
    queries.run(connection, "without_waiting")
    queries.run(connection, "count", kind=kind, hits=hits, misses=misses)
