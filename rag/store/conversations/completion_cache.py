"""What language models were asked before, and how well every cache serves; never across users."""

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase

CompletionKind = Literal["rewrites", "hyde", "lookups", "rerank", "answers"]
CacheKind = Literal["rewrites", "hyde", "lookups", "rerank", "answers", "embeddings"]

CACHE_KINDS: tuple[CacheKind, ...] = get_args(CacheKind)


class CacheStats(NamedTuple):
    """How much one of a user's caches holds, and how often it had what was asked of it since it was last cleared."""

    kind: CacheKind
    entries: int
    bytes: int
    hits: int
    misses: int

    @property
    def hit_rate(self) -> float | None:
        """Hits of all lookups, in 0..1; None before the first."""
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else None


class Caches:
    """A user's rows of the tables `completion_cache` and `cache_counts`, and the size of `embedding_cache`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("caches")

    def recall(self, kind: CompletionKind, key: bytes) -> str | None:
        """What a model answered to a request with this `key`: a digest of all that the answer depends on."""
        parameters = self._database.bind({"kind": kind, "key": key})
        with self._database.transaction() as connection:
            row = connection.execute(self._queries["get_completion"], parameters).fetchone()
            count(connection, self._database, kind, hits=int(row is not None), misses=int(row is None))
        return row["completion"] if row else None

    def keep(self, kind: CompletionKind, key: bytes, completion: str) -> None:
        """Remember an answer; an earlier one to the same request is replaced."""
        self._database.write(
            self._queries["put_completion"],
            {"kind": kind, "key": key, "completion": completion.replace("\x00", "")},
        )

    def stats(self) -> list[CacheStats]:
        """Every cache of a user."""
        rows = self._database.all(self._queries["list"], {"kinds": [*CACHE_KINDS]})
        return [CacheStats(**row) for row in rows]

    def clear(self, kinds: Collection[CacheKind] = CACHE_KINDS) -> int:
        """Forget what a user's caches hold, and their counts; returns the number of entries."""
        parameters = self._database.bind({"kinds": [*kinds]})
        with self._database.transaction(long=True) as connection:
            removed = connection.execute(self._queries["clear_completions"], parameters).rowcount
            if "embeddings" in kinds:
                removed += connection.execute(self._queries["clear_embeddings"], parameters).rowcount
            connection.execute(self._queries["clear_counts"], parameters)
        return removed


def count(connection: Connection, database: UserDatabase, kind: CacheKind, *, hits: int, misses: int) -> None:
    """Add to the counts of one cache, in the present transaction, whose commit then does not wait for the disk."""
    statements = named_queries.load("caches")
    connection.execute(statements["without_waiting"])
    connection.execute(statements["count"], database.bind({"kind": kind, "hits": hits, "misses": misses}))
