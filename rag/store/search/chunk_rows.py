"""Turn chunks and vectors into parameters of the query that inserts them."""

from collections.abc import Sequence

import numpy as np
import pgvector
import pgvector.psycopg
import psycopg
from psycopg.types.array import ListBinaryDumper
from psycopg.types.json import Jsonb

from rag import types
from rag.store.search import line_encoding
from rag.store.search.dense import HALF_PRECISION_ABOVE
from rag.store.server.database import Connection, Row

COLUMNS = (
    *("ordinal", "chunk_id", "text", "embedding", "page_number", "page_end", "x0", "y0", "x1", "y1"),
    *("line_start", "line_end", "section", "context", "lines"),
)
"""The parameters of the query `add` in chunks.sql, each with a value per chunk."""


def cursor(connection: Connection) -> psycopg.Cursor[Row]:
    """Return a cursor that sends lists in binary form: a vector as text takes three times as long."""
    if connection.adapters.types.get("vector") is None:  # four statements, once per connection
        pgvector.psycopg.register_vector(connection)
    made = connection.cursor()
    made.adapters.register_dumper(list, ListBinaryDumper)
    return made


def columns(chunks: Sequence[tuple[types.Chunk, Sequence[float] | None]]) -> dict[str, list[object]]:
    """Return the values of `COLUMNS` for chunks and their vectors."""
    values = zip(*(_row(chunk, vector) for chunk, vector in chunks), strict=True)
    return {name: [*of_all] for name, of_all in zip(COLUMNS, values, strict=True)}


def _row(chunk: types.Chunk, vector: Sequence[float] | None) -> tuple[object, ...]:
    pages = chunk.pages
    return (
        chunk.ordinal,
        chunk.id,
        chunk.text,
        None if vector is None else _to_pgvector(vector),
        pages[0],
        pages[-1],
        *chunk.bbox,
        chunk.line_start,
        chunk.line_end,
        chunk.section,
        chunk.context,
        Jsonb(line_encoding.pack(chunk.lines)),
    )


def _to_pgvector(vector: Sequence[float]) -> pgvector.HalfVector | pgvector.Vector:
    """Return a vector in the precision of its table."""
    values = np.asarray(vector, dtype=np.float32)
    return pgvector.HalfVector(values) if len(values) > HALF_PRECISION_ABOVE else pgvector.Vector(values)


def state(
    chunks: Sequence[types.Chunk], vectors: Sequence[Sequence[float]] | None, *, partial: bool
) -> dict[str, object]:
    """Return the state of a document with these chunks. One without chunks lacks no vectors."""
    is_whole = vectors is not None or not chunks
    status = types.DocumentStatus.READY if is_whole else types.DocumentStatus.EMBEDDING
    return {
        "status": (types.DocumentStatus.PARSING if partial else status).value,
        "partial": partial,
        "vector_count": len(chunks) if is_whole else 0,
    }
