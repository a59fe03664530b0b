"""Small indexes, documents and chunks for the tests of the store."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg.types.json import Jsonb

from rag.store.store import Store
from rag.types import (
    ENGLISH,
    BlockKind,
    Chunk,
    ChunkingOptions,
    Document,
    DocumentQuery,
    EmbeddingSpace,
    Filters,
    Index,
    Line,
    PageInfo,
    ParsedDocument,
    Rect,
    Scope,
    TextBlock,
)

SPACE = EmbeddingSpace(provider="test", model="random", dimensions=384)
IN_TRASH = DocumentQuery(in_trash=True)


def random_vector(seed: object, dimensions: int = SPACE.dimensions) -> list[float]:
    """A direction that depends on `seed` only."""
    source = np.random.default_rng(list(repr(seed).encode()))
    vector: list[float] = source.standard_normal(dimensions).tolist()
    return vector


def line(number: int, text: str, *, page_number: int = 1, starts_block: bool = False) -> Line:
    """A line whose box tells its number."""
    return Line(
        number=number,
        page_number=page_number,
        bbox=Rect(72.1, 10.3 + number, 540.7, 20.2 + number),
        text=text,
        kind=BlockKind.TABLE if "\t" in text else BlockKind.TEXT,
        starts_block=starts_block,
    )


@dataclass(frozen=True)
class Owner:
    """A user with an index, and how this user makes documents."""

    db: Store
    user_id: str
    index: Index

    @classmethod
    def of(cls, db: Store, user_id: str, *, name: str = "default", space: EmbeddingSpace = SPACE) -> "Owner":
        """A user with an empty index."""
        return cls(db, user_id, db.of(user_id).indexes.ensure(name, space, ChunkingOptions()))

    @property
    def scope(self) -> Scope:
        """The whole index."""
        return Scope(index_id=self.index.id)

    def scope_of(self, **filters: object) -> Scope:
        """A part of the index."""
        return Scope(index_id=self.index.id, filters=Filters.model_validate(filters))

    def add(
        self,
        name: str,
        *,
        sha256: str | None = None,
        source: str | None = None,
        container_id: uuid.UUID | None = None,
        replaces: uuid.UUID | None = None,
    ) -> Document:
        """A queued document."""
        return self.db.of(self.user_id).documents.add(
            self.index.id,
            document_id=uuid.uuid4(),
            name=name,
            mime_type="application/pdf" if name.endswith(".pdf") else "text/plain",
            sha256=sha256 or hashlib.sha256(name.encode()).hexdigest(),
            size=1000,
            source=source,
            replaces=replaces,
            container_id=container_id,
        )

    def ready(self, name: str, texts: Sequence[str], *, source: str | None = None, language: str = ENGLISH) -> Document:
        """A searchable document with a chunk per text; vectors depend on the texts."""
        document = self.add(name, source=source)
        self.fill(document, texts, language=language)
        return self.db.of(self.user_id).documents.get(document.id)

    def fill(self, document: Document, texts: Sequence[str], **more: Any) -> list[Chunk]:
        """Put a chunk per text into a document, one page each; `more` goes to the store."""
        chunks = make_chunks(document.id, texts)
        self.put(document, chunks, texts, **more)
        return chunks

    def put(self, document: Document, chunks: Sequence[Chunk], texts: Sequence[str], **more: Any) -> None:
        """Put chunks with these search texts into a document."""
        self.db.of(self.user_id).chunks.replace(
            document.id,
            self.index.space,
            parsed=make_parsed(texts),
            chunks=chunks,
            vectors=[random_vector(text, self.index.space.dimensions) for text in texts],
            search_texts=texts,
            **more,
        )


def make_chunks(document_id: uuid.UUID, texts: Sequence[str]) -> list[Chunk]:
    """A chunk per text, each on a page of its own, its lines the text's lines."""
    chunks: list[Chunk] = []
    number = 1
    for ordinal, text in enumerate(texts):
        parts = text.split("\n")
        lines = tuple(
            line(number + offset, part, page_number=ordinal + 1, starts_block=offset == 0)
            for offset, part in enumerate(parts)
        )
        number += len(parts)
        chunks.append(Chunk(id=uuid.uuid4(), document_id=document_id, ordinal=ordinal, lines=lines, context="A file"))
    return chunks


def make_parsed(texts: Sequence[str]) -> ParsedDocument:
    """What parsing would have found: a page and a block per text."""
    pages = tuple(PageInfo(number=number, width=612.0, height=792.0) for number in range(1, len(texts) + 1))
    blocks = tuple(
        TextBlock(page_number=number, bbox=Rect(0, 0, 1, 1), line_start=number, line_end=number, text=text)
        for number, text in enumerate(texts, start=1)
    )
    return ParsedDocument(title="A title", pages=pages, blocks=blocks)


OLD_MATRIX = """
SELECT set_config('pagelight.user_id', 'ada', false);
INSERT INTO indexes (
    user_id, id, name, provider, model, dimensions, chunk_size_chars, chunk_overlap_chars, min_chunk_chars)
VALUES ('ada', %(id)s, 'x', 'local', 'm', 3, 1000, 100, 10);
INSERT INTO documents (user_id, id, lineage_id, index_id, name, mime_type, sha256, size, status)
VALUES ('ada', %(id)s, %(id)s, %(id)s, 'north.pdf', 'application/pdf', 'new', 1, 'ready');
INSERT INTO matrices (user_id, id, name, questions, lineage_ids)
VALUES ('ada', %(id)s, 'Harbours', %(questions)s, ARRAY[%(id)s::uuid]);
INSERT INTO matrix_cells (user_id, matrix_id, lineage_id, asked, document_id, sha256, cell, previous)
SELECT 'ada', %(id)s, %(id)s, question_key(q.value), %(id)s, 'new', a.value, CASE WHEN a.ordinality = 1 THEN a.value END
FROM jsonb_array_elements(%(questions)s) WITH ORDINALITY q
JOIN jsonb_array_elements(%(answers)s) WITH ORDINALITY a ON q.ordinality = a.ordinality
"""
"""A document, a matrix that asks it questions, and answers to some of them."""


PURGED_VERSION = """
SELECT set_config('pagelight.user_id', 'ada', false);
INSERT INTO indexes (
    user_id, id, name, provider, model, dimensions, chunk_size_chars, chunk_overlap_chars, min_chunk_chars)
VALUES ('ada', %(id)s, 'x', 'local', 'm', 3, 1000, 100, 10);
INSERT INTO documents (user_id, id, lineage_id, index_id, name, mime_type, sha256, size, status)
VALUES ('ada', %(id)s, %(id)s, %(id)s, 'north.pdf', 'application/pdf', 'new', 1, 'ready');
INSERT INTO matrices (user_id, id, name, fields, lineage_ids)
VALUES ('ada', %(id)s, 'Harbours', '[]', ARRAY[%(id)s::uuid]);
INSERT INTO field_cells (user_id, matrix_id, lineage_id, field_id, document_id, sha256, cell, previous, review)
SELECT 'ada', %(id)s, %(id)s, p.key::uuid, %(id)s, 'new', '{}', p.value -> 'previous', p.value -> 'review'
FROM jsonb_each(%(cells)s) AS p
"""
"""A document, and cells of it by their fields: what its earlier versions said and people decided."""


def insert_reviews(url: str, key: uuid.UUID, cells: Mapping[str, Mapping[str, object]]) -> None:
    """Insert them as Ada's into a database of the migrations until 0015."""
    with psycopg.connect(url) as connection:
        for statement in PURGED_VERSION.split(";"):
            connection.execute(statement.encode(), {"id": key, "cells": Jsonb(cells)})


def insert_old_matrix(
    url: str, key: uuid.UUID, questions: Sequence[Mapping[str, object]], answers: Sequence[Mapping[str, object]]
) -> None:
    """Insert it as Ada's into a database of the migrations until 0014."""
    values = {"id": key, "questions": Jsonb(questions), "answers": Jsonb(answers)}
    with psycopg.connect(url) as connection:
        for statement in OLD_MATRIX.split(";"):
            connection.execute(statement.encode(), values)
