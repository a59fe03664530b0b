"""Copy a library many times within the database: a million chunks in minutes.

Copies keep their words, which lengthens the postings. The vectors of a copy are mixed with those of other chunks, so
that all copies of a chunk form a cluster around the original vector: like the same section in the filings of many
years, near each other but not equal.
"""

from collections.abc import Mapping

import psycopg
from psycopg import sql

MIXED = 0.5
"""Weight of another chunk's vector in that of a copy, relative to its own (1.0)."""

COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
    ORDER BY attnum
"""
DOCUMENTS = """
    INSERT INTO documents (number, {columns}) OVERRIDING SYSTEM VALUE
    SELECT d.number + c.copy * %(step)s, {values}
    FROM documents d, generate_series(1, %(copies)s) AS c (copy)
    WHERE d.user_id = %(user_id)s
"""
CHUNKS = """
    WITH original AS MATERIALIZED (
        SELECT *, row_number() OVER (ORDER BY document_id, ordinal) - 1 AS place, count(*) OVER () AS total
        FROM {table} WHERE user_id = %(user_id)s
    ), mixed AS (
        SELECT array_fill(%(mixed)s::real, ARRAY[vector_dims(embedding)])::vector AS share FROM original LIMIT 1
    )
    INSERT INTO {table} ({columns})
    SELECT {values}
    FROM original d, mixed, generate_series(1, %(copies)s) AS c (copy), original other
    WHERE other.place = (d.place * 7919 + c.copy * 104729 + 1) %% d.total
"""
POSTINGS = """
    INSERT INTO postings (user_id, index_number, term, document_number, block, packed)
    SELECT p.user_id, p.index_number, p.term, p.document_number + c.copy * %(step)s, p.block, p.packed
    FROM postings p, generate_series(1, %(copies)s) AS c (copy)
    WHERE p.user_id = %(user_id)s
"""

DOCUMENT_ID = "md5(d.{id}::text || c.copy)::uuid"
OF_COPIES: Mapping[str, Mapping[str, str]] = {
    "documents": {
        "id": DOCUMENT_ID.format(id="id"),
        "lineage_id": DOCUMENT_ID.format(id="id"),
        "sha256": "md5(d.sha256 || c.copy)",
        "name": "'Report ' || d.number + c.copy * %(step)s || '.pdf'",
    },
    "chunks": {
        "document_id": DOCUMENT_ID.format(id="document_id"),
        "chunk_id": "md5(d.chunk_id::text || c.copy)::uuid",
        "embedding": "l2_normalize(d.embedding + mixed.share * other.embedding)",
    },
}


def multiply(connection: psycopg.Connection, table: str, user_id: str, times: int) -> None:
    """Copy a user's documents, whose chunks are in `table`, until there are `times` as many."""
    if times == 1:
        return
    parameters = {"user_id": user_id, "copies": times - 1, "mixed": MIXED, "step": _step(connection, user_id)}
    for name, statement, noun in (("documents", DOCUMENTS, "documents"), (table, CHUNKS, "chunks")):
        columns = [row[0] for row in connection.execute(COLUMNS, (name,))]
        values = [OF_COPIES[noun].get(column, f'd."{column}"') for column in columns]
        filled = sql.SQL(statement).format(
            table=sql.Identifier(name),
            columns=sql.SQL(", ").join(map(sql.Identifier, columns)),
            values=sql.SQL(", ".join(values)),
        )
        connection.execute(filled, parameters)
    connection.execute(POSTINGS, parameters)
    connection.execute("SELECT setval(pg_get_serial_sequence('documents', 'number'), max(number)) FROM documents")


def _step(connection: psycopg.Connection, user_id: str) -> int:
    """Return the offset between the numbers of consecutive copies."""
    row = connection.execute(
        "SELECT max(number) - min(number) + 1 FROM documents WHERE user_id = %s", (user_id,)
    ).fetchone()
    return int(row[0]) if row else 0
