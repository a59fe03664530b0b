"""Dense search through LlamaIndex's PGVectorStore, on our own tables and inside a scope."""

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import pgvector
import psycopg

from rag import errors
from rag.store.search import scopes
from rag.store.server import named_queries
from rag.store.server.connection_pool import BoundStatement
from rag.store.server.database import Database, UserDatabase, retry_once
from rag.types import Candidate, EmbeddingSpace, Scope

if TYPE_CHECKING:  # they take seconds to load, which who only keeps things need not spend
    import sqlalchemy as sa
    from llama_index.vector_stores.postgres import PGVectorStore
    from sqlalchemy.ext.asyncio import AsyncEngine

DIALECT = "postgresql+psycopg://"
MAX_DIMENSIONS = 4000
HALF_PRECISION_ABOVE = 1600
"""Dimensions above which a table holds `halfvec`; the same number stands in the migration."""
CODES_FROM = 384
"""Dimensions from which the index is of codes; the same number stands in the migration."""
CODE_BITS = 3
"""A dimension has in a code, as the SQL function `vector_code` makes it."""
CANDIDATES = 2000
"""So many chunks with the nearest codes are compared by their vectors, which hold all but one in 1,400 of the true 100
neighbours among 33,000 real vectors (docs/scaling.md)."""
COMPARED = 20_000
"""Up to so many chunks the question is compared with each, which finds all true neighbours, and takes no longer than
HNSW with the breadth that it needs to find 99 % of them among real vectors (`hnsw.ef_search` in session.sql)."""


class DenseSearch:
    """One PGVectorStore per vector size, on the connections of the pool.

    Its metadata filters paste values into SQL and its hybrid mode does not fuse; neither is used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked: ContextVar[tuple[Database, BoundStatement]] = ContextVar("asked")
        self._stores: dict[int, PGVectorStore] = {}
        self._lock = threading.Lock()

    def ensure_table(self, dimensions: int) -> None:
        """The table for vectors of this size is there after this. Raises as the function of this name."""
        if dimensions not in self._stores:
            ensure_table(self._database, dimensions)
            self._store(dimensions)

    def search(
        self, bound: UserDatabase, scope: Scope, space: EmbeddingSpace, vector: Sequence[float], limit: int
    ) -> list[Candidate]:
        """See `Chunks.dense`."""
        import llama_index.core
        from llama_index.core.vector_stores.types import VectorStoreQuery

        self.ensure_table(space.dimensions)
        values = [float(value) for value in vector]
        query = VectorStoreQuery(query_embedding=values, similarity_top_k=limit)
        store = self._store(space.dimensions)
        parameters = bound.bind({**scopes.parameters(scope), "vector": pgvector.Vector(values).to_text()})

        def ask(database: Database) -> Any:
            exact = _size(bound.at(database), parameters) <= COMPARED
            asked = self._asked.set((database, bound.user_statement))
            try:
                with database.limit():
                    return retry_once(lambda: store.query(query, parameters=parameters, space=space, exact=exact))
            finally:
                self._asked.reset(asked)

        result = self._database.search(ask)
        found = [
            _candidate(node.metadata["custom_fields"], similarity)
            for node, similarity in zip(result.nodes or (), result.similarities or (), strict=True)
        ]
        return sorted(found, key=lambda candidate: -candidate.score)  # HNSW's relaxed order is nearly one

    @functools.cached_property
    def _engines(self) -> "tuple[sa.Engine, AsyncEngine]":
        """Ours, and one that is wanted but never used."""
        import sqlalchemy as sa
        from sqlalchemy.ext import asyncio as sa_asyncio

        engine = sa.create_engine(
            DIALECT, creator=self._lend, poolclass=sa.NullPool, use_native_hstore=False, hide_parameters=True
        )
        sa.event.listen(engine, "begin", self._enter)
        return engine, sa_asyncio.create_async_engine(DIALECT, poolclass=sa.NullPool)

    def _enter(self, connection: "sa.Connection") -> None:
        """Let SQLAlchemy's first connection in again: it looks what the server is, and ends that transaction."""
        lent = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        if lent.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            _, user_statement = self._asked.get()
            lent.execute(*user_statement)

    def _lend(self) -> psycopg.Connection[Any]:
        """A connection to whatever is asked, in a transaction of who asks."""
        database, user_statement = self._asked.get()
        return database.lend([user_statement])

    def _store(self, dimensions: int) -> "PGVectorStore":
        import llama_index.core
        from llama_index.vector_stores.postgres import PGVectorStore

        with self._lock:
            if dimensions not in self._stores:
                engine, unused_engine = self._engines
                self._stores[dimensions] = PGVectorStore(
                    connection_string=DIALECT,
                    async_connection_string=DIALECT,
                    table_name=f"document_chunks_{dimensions}",
                    embed_dim=dimensions,
                    use_halfvec=dimensions > HALF_PRECISION_ABOVE,
                    use_jsonb=True,
                    perform_setup=False,
                    customize_query_fn=cast("Callable[[sa.Select[Any], Any, Any], sa.Select[Any]]", _scoped),
                    engine=engine,
                    async_engine=unused_engine,
                )
            return self._stores[dimensions]


def ensure_table(database: Database, dimensions: int) -> None:
    """Make the table for vectors of this size, if it is not there.

    Raises:
        errors.EmbeddingCapabilityError: such vectors cannot be indexed.
    """
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise errors.EmbeddingCapabilityError(
            f"Vectors of {dimensions} dimensions cannot be indexed; {MAX_DIMENSIONS} is the most. "
            "Choose another embedding model."
        )
    session = named_queries.load("session")
    with database.transaction() as connection:
        row = connection.execute(session["chunk_table_exists"], {"dimensions": dimensions}).fetchone()
        if not (row and row["present"]):
            connection.execute(session["lock_migrations"])
            connection.execute(session["add_chunk_table"], {"dimensions": dimensions})


def _size(bound: UserDatabase, parameters: Mapping[str, object]) -> int:
    """The number of chunks in a scope, before `must_include`."""
    row = bound.one(named_queries.load("dense")["size"], parameters)
    return int(row["chunks"]) if row else 0


def _scoped(
    statement: "sa.Select[Any]", _table: object, *, parameters: Mapping[str, object], space: EmbeddingSpace, exact: bool
) -> "sa.Select[Any]":
    """`statement` inside a user's scope and `space`, whose `parameters` are bound, never written into it.

    The texts of candidates stay where they are: most are never read, and those that are come with their lines. An
    `exact` search orders by a sum, for which there is no index, so every vector in scope is compared.
    """
    import sqlalchemy as sa

    replaced = {"text": sa.literal("").label("text")}
    if exact:
        replaced["distance"] = (statement.selected_columns["distance"] + 0.0).label("distance")
    kept = [replaced.get(column.key or "", column) for column in statement.selected_columns]
    columns: list[sa.ColumnClause[Any]] = [
        sa.literal_column(name) for name in ("chunk_id", "document_id", "page_number")
    ]
    condition = _condition(space.dimensions, exact=exact)
    values = {**parameters, **space.model_dump(), "candidates": CANDIDATES}
    bound = sa.text(condition).bindparams(**{name: values[name] for name in named_queries.PARAMETER.findall(condition)})
    return statement.with_only_columns(*kept, *columns).where(bound)


def _condition(dimensions: int, *, exact: bool) -> str:
    """Which rows are compared by their vectors: the scope, or those of it with the nearest codes."""
    dense = named_queries.load_text("dense")
    if exact or dimensions < CODES_FROM:
        return dense["scope"]
    table = named_queries.chunk_table(dimensions).as_string()
    sizes = {"dimensions": dimensions, "bits": CODE_BITS * dimensions}
    return dense["candidates"].format(chunks=table, scope=dense["scope"], **sizes)


def _candidate(row: dict[str, Any], similarity: float) -> Candidate:
    score = min(max(float(similarity), 0.0), 1.0)
    return Candidate(row["chunk_id"], row["document_id"], row["page_number"], score)
