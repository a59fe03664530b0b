"""The hybrid search of LlamaIndex's PGVectorStore over the same chunks, as a baseline."""

import asyncio

import psycopg
import sqlalchemy as sa
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore
from psycopg import conninfo, sql

from benchmarks.libraries import SPACE, TABLE

NAME = "llama_hybrid"
HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40}
"""As in its documentation; without them it creates no vector index."""


class LlamaHybrid:
    """A table made by PGVectorStore with its GIN and HNSW indexes, on its own connections."""

    def __init__(self, url: str, *, with_hnsw: bool = True) -> None:
        self._store = PGVectorStore(
            connection_string=_sqlalchemy_url(url, "psycopg2"),
            async_connection_string=_sqlalchemy_url(url, "asyncpg"),
            table_name=NAME,
            embed_dim=SPACE.dimensions,
            hybrid_search=True,
            hnsw_kwargs=dict(HNSW) if with_hnsw else None,
            initialization_fail_on_error=True,
        )

    def prepare(self) -> None:
        """Connect and create what is missing."""
        self._store.add([])

    def close(self) -> None:
        """Close the connections."""
        asyncio.run(self._store.close())

    def search(self, question: str, vector: list[float], pool: int) -> int:
        """Return the number of results, with `pool` candidates from each list."""
        query = VectorStoreQuery(
            query_str=question,
            query_embedding=vector,
            similarity_top_k=pool,
            sparse_top_k=pool,
            mode=VectorStoreQueryMode.HYBRID,
        )
        return len(self._store.query(query).nodes or ())


def fill(url: str, user_id: str) -> None:
    """Insert the chunks of `user_id`; the HNSW index is built at the end."""
    _prepare(url, with_hnsw=False)
    with psycopg.connect(url, autocommit=True) as connection:
        table = sql.Identifier(f"data_{NAME}")
        copy = """
            INSERT INTO {} (text, metadata_, node_id, embedding)
            SELECT text, metadata_, node_id, embedding FROM {} WHERE user_id = %s
        """
        connection.execute(sql.SQL(copy).format(table, TABLE), (user_id,))
        _prepare(url, with_hnsw=True)
        connection.execute(sql.SQL("VACUUM ANALYZE {}").format(table))


def _prepare(url: str, *, with_hnsw: bool) -> None:
    store = LlamaHybrid(url, with_hnsw=with_hnsw)
    store.prepare()
    store.close()


def _sqlalchemy_url(url: str, driver: str) -> sa.URL:
    parts = {key: str(value) for key, value in conninfo.conninfo_to_dict(url).items() if value is not None}
    known = {
        name: parts.pop(key, None)
        for name, key in (("username", "user"), ("password", "password"), ("database", "dbname"))
    }
    return sa.URL.create(f"postgresql+{driver}", **known, query=parts)  # type: ignore[arg-type]  # strings or None
