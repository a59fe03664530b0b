"""Chunks as rows that are copied into their table, and what their document is with them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pgvector
from psycopg.types.json import Jsonb

from rag.store import lines as packing
from rag.store.dense import HALF_PRECISION_ABOVE
from rag.types import Chunk, DocumentStatus

TYPES = (
    *("text", "uuid", "uuid", "int4", "int4", "uuid", "varchar", "vector"),
    *("int4", "int4", "float8", "float8", "float8", "float8", "int4", "int4", "text", "text", "jsonb"),
)
"""Of the columns that the query `copy` of chunks.sql names, in that order."""


def row(document: Mapping[str, Any], chunk: Chunk, vector: Sequence[float] | None) -> tuple[object, ...]:
    """The values of these columns."""
    pages = chunk.pages
    return (
        document["user_id"],
        document["index_id"],
        document["document_id"],
        document["generation"],
        chunk.ordinal,
        chunk.id,
        chunk.text,
        None if vector is None else _stored(vector),
        pages[0],
        pages[-1],
        *chunk.bbox,
        chunk.line_start,
        chunk.line_end,
        chunk.section,
        chunk.context,
        Jsonb(packing.pack(chunk.lines)),
    )


def _stored(vector: Sequence[float]) -> pgvector.HalfVector | pgvector.Vector:
    values = np.asarray(vector, dtype=np.float32)
    return pgvector.HalfVector(values) if len(values) > HALF_PRECISION_ABOVE else pgvector.Vector(values)


def state(chunks: Sequence[Chunk], vectors: Sequence[Sequence[float]] | None, *, partial: bool) -> dict[str, object]:
    """What a document is with these chunks. One without chunks lacks no vectors."""
    is_whole = vectors is not None or not chunks
    status = DocumentStatus.READY if is_whole else DocumentStatus.EMBEDDING
    return {
        "status": (DocumentStatus.PARSING if partial else status).value,
        "partial": partial,
        "vector_count": len(chunks) if is_whole else 0,
    }
