"""Generated libraries of any size: documents of 50 chunks with embeddings of their text."""

import hashlib
import math
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
import psycopg
from psycopg import sql

from benchmarks import material, multiplied
from rag.providers.embedded_models import LocalEmbedding
from rag.store.store import Store
from rag.types import (
    Chunk,
    ChunkingOptions,
    EmbeddingSpace,
    Index,
    Line,
    PageInfo,
    ParsedDocument,
    Rect,
    Scope,
    TextBlock,
)

SPACE = EmbeddingSpace(provider="benchmark", model="beginnings", dimensions=384)
TABLE_NAME = "data_document_chunks_384"
TABLE = sql.Identifier(TABLE_NAME)
INDEXES = """
    SELECT c.relname, pg_get_constraintdef(k.oid), pg_get_indexdef(c.oid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u')
    WHERE i.indrelid = %s::regclass AND a.amname = %s
"""
INDEX_NAME = "default"

CHUNKS_PER_DOCUMENT = 50
MADE_DOCUMENTS = 100
"""Number of generated documents; larger libraries add copies (see `multiplied`)."""
SAME_FOR_ALL = "owner of 100 %"
"""All libraries have the same documents, so that the nearest chunks belong to other users, too."""
CHUNKS_PER_PAGE = 2
CHARACTERS = 1100
EMBEDDED_CHARACTERS = 100
"""Characters of a chunk to embed: embedding all of 100,000 chunks would take half an hour."""
QUESTION_WORDS = 12
WRITERS = 4
BUILD_MEMORY = "4GB"
"""Memory for building indexes; a graph of a million vectors of 384 dimensions takes 2.5 GB."""


@dataclass(frozen=True)
class Library:
    """One user's documents, determined by their number.

    `space` is the index's embedding space; the vectors are synthetic in any case.
    """

    user_id: str
    documents: int
    space: EmbeddingSpace = SPACE

    @property
    def size(self) -> int:
        """The number of chunks."""
        return self.documents * CHUNKS_PER_DOCUMENT

    @property
    def made(self) -> int:
        """The number of generated documents, without copies."""
        return math.gcd(self.documents, MADE_DOCUMENTS) if self.documents > MADE_DOCUMENTS else self.documents

    def _rng(self, *purpose: object) -> np.random.Generator:
        digest = hashlib.sha256(repr((SAME_FOR_ALL, *purpose)).encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def texts(self, document: int) -> list[str]:
        """Return the texts of the document's chunks."""
        rng = self._rng("texts", document)
        about = material.topic(rng)
        return [material.text(rng, CHARACTERS, about) for _ in range(CHUNKS_PER_DOCUMENT)]

    def vectors(self, document: int) -> list[list[float]]:
        """Return the unit vectors of the document's chunks."""
        return _embedded(tuple(text[:EMBEDDED_CHARACTERS] for text in self.texts(document)))

    def questions(self, count: int) -> dict[str, list[float]]:
        """Return consecutive words from the beginning of chunks, each with its vector."""
        rng = self._rng("questions")
        made = self.made * CHUNKS_PER_DOCUMENT
        chosen = rng.choice(made, size=count, replace=count > made)
        found: dict[str, list[float]] = {}
        for number in chosen.tolist():
            words = self.texts(number // CHUNKS_PER_DOCUMENT)[number % CHUNKS_PER_DOCUMENT].split()
            start = int(rng.integers(0, QUESTION_WORDS))
            question = " ".join(words[start : start + QUESTION_WORDS])
            found[question] = self.question_vector(question, number)
        return found

    def question_vector(self, question: str, number: int) -> list[float]:  # noqa: ARG002
        """Return the vector of a question from the chunk with that number."""
        return _embedder().get_query_embedding(question)

    def nearest(self, url: str, vector: list[float], count: int) -> list[uuid.UUID]:
        """Return the chunks nearest to `vector`, nearest first, by exact comparison."""
        query = sql.SQL(
            "SELECT chunk_id FROM {} WHERE user_id = %s ORDER BY (embedding <=> %s::vector) + 0.0 LIMIT %s"
        ).format(TABLE)
        with psycopg.connect(url) as connection:
            return [row[0] for row in connection.execute(query, (self.user_id, str(vector), count))]

    def scope(self, store: Store) -> Scope:
        """The scope of the whole library."""
        return Scope(index_id=store.of(self.user_id).indexes.get(INDEX_NAME).id)

    def fill(self, store: Store) -> None:
        """Store every generated document as ingestion does, one transaction each, several at a time."""
        index = store.of(self.user_id).indexes.ensure(INDEX_NAME, self.space, ChunkingOptions())
        with ThreadPoolExecutor(WRITERS) as writers:
            for added in [writers.submit(self.add, store, index, number) for number in range(self.made)]:
                added.result()

    def add(self, store: Store, index: Index, number: int) -> uuid.UUID:
        """Store the document with that number as ingestion does and return its id."""
        first = number * CHUNKS_PER_DOCUMENT
        document_id = uuid.uuid5(uuid.NAMESPACE_URL, f"{self.user_id}/{number}")
        texts = self.texts(number)
        store.of(self.user_id).documents.add(
            index.id,
            document_id=document_id,
            name=f"Report {number}.pdf",
            mime_type="application/pdf",
            sha256=hashlib.sha256(document_id.bytes).hexdigest(),
            size=100_000,
        )
        store.of(self.user_id).chunks.replace(
            document_id,
            self.space,
            parsed=_parsed(),
            chunks=[
                Chunk(
                    id=uuid.uuid5(uuid.NAMESPACE_OID, f"{self.user_id}/{first + ordinal}"),
                    document_id=document_id,
                    ordinal=ordinal,
                    lines=_lines(text, ordinal),
                    context=f"Report {number}",
                )
                for ordinal, text in enumerate(texts)
            ],
            vectors=self.vectors(number),
            search_texts=[f"Report {number}\n\n{text}" for text in texts],
        )
        return document_id


@cache
def _embedded(texts: tuple[str, ...]) -> list[list[float]]:
    return _embedder().get_text_embedding_batch([*texts])


@cache
def _embedder() -> LocalEmbedding:
    return LocalEmbedding()


@cache
def _lines(text: str, ordinal: int) -> tuple[Line, ...]:
    """Return lines with boxes, as from parsing."""
    parts = material.lines(text)
    half = ordinal % CHUNKS_PER_PAGE
    return tuple(
        Line(
            number=ordinal * 100 + index + 1,
            page_number=ordinal // CHUNKS_PER_PAGE + 1,
            bbox=Rect(64.0, 70.0 + 360 * half + 14.5 * index, 530.0, 84.5 + 360 * half + 14.5 * index),
            text=part,
            starts_block=index % 7 == 0,
        )
        for index, part in enumerate(parts)
    )


def _parsed() -> ParsedDocument:
    count = CHUNKS_PER_DOCUMENT // CHUNKS_PER_PAGE
    last = CHUNKS_PER_DOCUMENT * 100
    end = TextBlock(page_number=count, bbox=Rect(0, 0, 1, 1), line_start=last, line_end=last, text="")
    pages = tuple(PageInfo(number=number, width=595.0, height=842.0) for number in range(1, count + 1))
    return ParsedDocument(title=None, pages=pages, blocks=(end,))


def fill(url: str, libraries: list[Library]) -> None:
    """Fill a database with libraries; large indexes are built at the end, in a tenth of the time."""
    with Store.open(url, pool_size=WRITERS) as store, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (BUILD_MEMORY,))
        with _built_afterwards(connection, TABLE_NAME, "hnsw"):
            for library in libraries:
                library.fill(store)
            if any(library.documents > library.made for library in libraries):
                with _built_afterwards(connection, "postings", "btree"):
                    for library in libraries:
                        multiplied.multiply(connection, TABLE_NAME, library.user_id, library.documents // library.made)
        connection.execute("VACUUM ANALYZE")


@contextmanager
def _built_afterwards(connection: psycopg.Connection, table: str, method: str) -> Iterator[None]:
    """Drop a table's indexes of a kind during the block and rebuild them."""
    found = connection.execute(INDEXES, (table, method)).fetchall()
    for name, constraint, _ in found:
        drop = "ALTER TABLE {table} DROP CONSTRAINT {name}" if constraint else "DROP INDEX {name}"
        connection.execute(sql.SQL(drop).format(table=sql.Identifier(table), name=sql.Identifier(name)))
    yield
    for name, constraint, definition in found:
        add = "ALTER TABLE {table} ADD CONSTRAINT {name} " + constraint if constraint else definition
        connection.execute(sql.SQL(add).format(table=sql.Identifier(table), name=sql.Identifier(name)))
