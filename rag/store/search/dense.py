"""Dense search with LlamaIndex's PGVectorStore, on our own tables and restricted to a scope."""

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import pgvector
import psycopg

from rag import errors, types
from rag.messages import N_
from rag.store.search import search_terms
from rag.store.server import named_queries
from rag.store.server.database import Database, Queries, Statement, UserDatabase, retry_once

if TYPE_CHECKING:  # they take seconds to load, and are only needed to search
    import sqlalchemy as sa
    from llama_index.vector_stores.postgres import PGVectorStore
    from sqlalchemy.ext.asyncio import AsyncEngine

DIALECT = "postgresql+psycopg://"
MAX_DIMENSIONS = 4000
HALF_PRECISION_ABOVE = 1600
"""Dimensions above which a table holds `halfvec`; the migration has the same number."""
CODES_FROM = 384
"""Dimensions from which the index holds binary codes; the migration has the same number."""
CODE_BITS = 3
"""Bits per dimension in a code of the SQL function `vector_code`."""
CANDIDATES = 1000
"""Number of chunks with the nearest codes whose vectors are compared. Among 33,000 real vectors these contain the 10
nearest and all but one in 250 of the 100 nearest (docs/scaling.md)."""
COMPARED = 20_000
"""Up to this number of chunks the search is exact, which takes no longer than HNSW with the `hnsw.ef_search`
(session.sql) at which it finds 99 % of the true neighbours among real vectors."""


class DenseSearch:
    """One PGVectorStore per vector size, on the connections of the pool.

    Its metadata filters paste values into SQL, and its hybrid mode does not fuse ranks; neither is used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._current_search: ContextVar[tuple[Database, Statement]] = ContextVar("current_search")
        self._stores: dict[int, PGVectorStore] = {}
        self._lock = threading.Lock()

    def ensure_table(self, dimensions: int) -> None:
        """Create the table for vectors of this size if needed. Raises EmbeddingCapabilityError."""
        if dimensions in self._stores:
            return
        if not 1 <= dimensions <= MAX_DIMENSIONS:
            raise errors.EmbeddingCapabilityError(
                N_(
                    "Vectors of {count} dimensions cannot be indexed; {limit} is the most. Choose another embedding "
                    "model."
                ),
                count=dimensions,
                limit=MAX_DIMENSIONS,
            )
        session = named_queries.load("session")
        with self._database.transaction() as connection:
            row = connection.execute(session["chunk_table_exists"], {"dimensions": dimensions}).fetchone()
            if not (row and row["present"]):
                connection.execute(session["lock_migrations"])
                connection.execute(session["add_chunk_table"], {"dimensions": dimensions})
        self._store(dimensions)

    def search(
        self, bound: UserDatabase, scope: types.Scope, space: types.EmbeddingSpace, vector: Sequence[float], limit: int
    ) -> list[types.Candidate]:
        """Return the nearest chunks in scope, see `Chunks.dense`."""
        import llama_index.core
        from llama_index.core.vector_stores.types import VectorStoreQuery

        self.ensure_table(space.dimensions)
        values = [float(value) for value in vector]
        query = VectorStoreQuery(query_embedding=values, similarity_top_k=limit)
        store = self._store(space.dimensions)
        parameters = bound.bind({**search_terms.scope_parameters(scope), "vector": pgvector.Vector(values).to_text()})

        def run(database: Database) -> Any:
            # Of the scope, before `must_include`
            exact = Queries(bound.at(database), "dense").value("size", **parameters) <= COMPARED
            token = self._current_search.set((database, bound.user_statement))
            try:
                with database.time_limit():
                    return retry_once(lambda: store.query(query, parameters=parameters, space=space, exact=exact))
            finally:
                self._current_search.reset(token)

        result = self._database.search(run)
        rows = [node.metadata["custom_fields"] for node in result.nodes or ()]
        scores = [min(max(float(similarity), 0.0), 1.0) for similarity in result.similarities or ()]
        candidates = [
            types.Candidate(row["chunk_id"], row["document_id"], row["page_number"], score)
            for row, score in zip(rows, scores, strict=True)
        ]
        return sorted(candidates, key=lambda candidate: -candidate.score)  # HNSW's relaxed order is only nearly sorted

    @functools.cached_property
    def _engines(self) -> "tuple[sa.Engine, AsyncEngine]":
        """Our engine, and an asynchronous one that PGVectorStore requires but never uses."""
        import sqlalchemy as sa
        from sqlalchemy.ext import asyncio as sa_asyncio

        engine = sa.create_engine(
            DIALECT, creator=self._lend, poolclass=sa.NullPool, use_native_hstore=False, hide_parameters=True
        )
        sa.event.listen(engine, "begin", self._enter)
        return engine, sa_asyncio.create_async_engine(DIALECT, poolclass=sa.NullPool)

    def _enter(self, connection: "sa.Connection") -> None:
        """Set the user again on SQLAlchemy's first connection, whose first transaction only inspected the server."""
        lent = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        if lent.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            _, user_statement = self._current_search.get()
            lent.execute(user_statement, prepare=False)

    def _lend(self) -> psycopg.Connection[Any]:
        database, user_statement = self._current_search.get()
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


def _scoped(
    statement: "sa.Select[Any]",
    _table: object,
    *,
    parameters: Mapping[str, object],
    space: types.EmbeddingSpace,
    exact: bool,
) -> "sa.Select[Any]":
    """Restrict `statement` to a user's scope and to `space`, with bound `parameters`.

    The texts of candidates are not selected: most are never read, and the others are read with their lines. An
    `exact` search orders by a sum, for which there is no index, so that every vector in scope is compared.
    """
    import sqlalchemy as sa

    replacements = {"text": sa.literal("").label("text")}
    if exact:
        replacements["distance"] = (statement.selected_columns["distance"] + 0.0).label("distance")
    selected = [replacements.get(column.key or "", column) for column in statement.selected_columns]
    columns: list[sa.ColumnClause[Any]] = [
        sa.literal_column(name) for name in ("chunk_id", "document_id", "page_number")
    ]
    condition = _condition(space.dimensions, exact=exact)
    values = {**parameters, **space.model_dump(), "candidates": CANDIDATES}
    bound = sa.text(condition).bindparams(**{name: values[name] for name in named_queries.PARAMETER.findall(condition)})
    return statement.with_only_columns(*selected, *columns).where(bound)


def _condition(dimensions: int, *, exact: bool) -> str:
    """Return the condition for rows to compare by vector: those in scope, or of these the nearest by code."""
    dense = named_queries.load_text("dense")
    if exact or dimensions < CODES_FROM:
        return dense["scope"]
    table = named_queries.chunk_table(dimensions).as_string()
    sizes = {"dimensions": dimensions, "bits": CODE_BITS * dimensions}
    return dense["candidates"].format(chunks=table, scope=dense["scope"], **sizes)
