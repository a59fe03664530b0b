"""Chunks with their vectors and postings: replaced as a whole per document, searched, and read back."""

import types
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pgvector
from psycopg import sql
from psycopg.types.json import Jsonb

from rag import errors
from rag.store.library.documents import to_document
from rag.store.search import chunk_rows, scopes, search_terms
from rag.store.search import line_encoding as packing
from rag.store.search.dense import HALF_PRECISION_ABOVE, DenseSearch
from rag.store.search.lexical import Field, LexicalMatches, LexicalSearch
from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase
from rag.types import (
    ENGLISH,
    Candidate,
    Chunk,
    Document,
    EmbeddingSpace,
    Finding,
    Landmark,
    Line,
    PageText,
    ParsedDocument,
    Scope,
)

ADDED_AT_ONCE = 500
"""Chunks in one statement: with their lines and vectors they are some megabytes."""

CHARS_PER_TOKEN = 4
"""English text has about four characters to a token of the usual models' vocabularies."""


class Chunks:
    """A user's rows of the tables of chunks, one per vector size, and of `postings`."""

    def __init__(self, database: UserDatabase, dense: DenseSearch) -> None:
        self._database = database
        self._queries = named_queries.load("chunks")
        self._dense = dense
        self._lexical = LexicalSearch(database)

    # --- writing ---

    def replace(
        self,
        document_id: uuid.UUID,
        space: EmbeddingSpace,
        *,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float]] | None,
        search_texts: Sequence[str],
        language: str = ENGLISH,
        front: str = "",
        landmarks: Sequence[Landmark] = (),
        pages: Mapping[int, PageText] = types.MappingProxyType({}),
        partial: bool = False,
        while_read: bool = False,
    ) -> None:
        """Put `chunks` in the place of what the document had, and make it `ready`, in one transaction.

        Without `vectors` it is `embedding`, and searched by its words from then on: they come by `Vectors.add`. If
        these are `partial`, the beginning of a document, it is still `parsing`. With `while_read` nothing is put in the
        place of a document whose reading was cancelled.

        `vectors` and `search_texts` (what BM25 sees, by the stems of `language`) belong to the chunks, whose ordinals
        count from 0 in their order. `front` says what the whole document is: its name, its title and how it begins.
        `pages` are texts by page number; these and `landmarks` of pages that no chunk is mainly of are left out.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.CancelledError: it was cancelled meanwhile; the old chunks are still there.
            errors.IndexError: the index of the document has another embedding space.
            errors.StoreError: the database fails; the old chunks are still there.
        """
        each = [None] * len(chunks) if vectors is None else vectors
        if not len(chunks) == len(each) == len(search_texts):
            raise errors.StoreError("Chunks, vectors and search texts differ in number. This is a bug; report it.")
        if any(chunk.ordinal != place for place, chunk in enumerate(chunks)):
            raise errors.StoreError("The chunks are not numbered from 0 in their order. This is a bug; report it.")
        self._dense.ensure_table(space.dimensions)
        with self._database.transaction(long=True) as connection:
            document = {**lock_document(self._database, connection, document_id), "language": language}
            require_space(document, space)
            for row in connection.execute(self._queries["sizes"], document).fetchall():
                table = named_queries.chunk_table(row["dimensions"])
                connection.execute(self._queries["delete"].format(chunks=table), document)
            connection.execute(self._queries["delete_postings"], document)
            connection.execute(self._queries["delete_landmarks"], document)
            self._add(connection, space, document, chunks, each)
            added = connection.execute(
                self._queries["add_postings"], {**document, **_lexical(chunks, search_texts, front, pages)}
            )
            connection.execute(self._queries["add_landmarks"], {**document, **_placed(landmarks, chunks)})
            state = {**chunk_rows.state(chunks, vectors, partial=partial), "while_read": while_read}
            totals = {**_totals(parsed, chunks), **(added.fetchone() or {}), **state}
            if not connection.execute(self._queries["finish_document"], {**document, **totals}).rowcount:
                raise errors.CancelledError

    def _add(
        self,
        connection: Connection,
        space: EmbeddingSpace,
        document: Mapping[str, Any],
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float] | None],
    ) -> None:
        cursor = chunk_rows.cursor(connection)
        vector_type = "halfvec" if space.dimensions > HALF_PRECISION_ABOVE else "vector"
        table = named_queries.chunk_table(space.dimensions)
        statement = self._queries["add"].format(chunks=table, vector=sql.SQL(vector_type))
        rows = [*zip(chunks, vectors, strict=True)]
        for start in range(0, len(rows), ADDED_AT_ONCE):
            values = chunk_rows.columns(rows[start : start + ADDED_AT_ONCE])
            cursor.execute(statement, {**document, **values})

    def refresh_front(self, document_id: uuid.UUID, front: str) -> None:
        """Let a document be found by another front (see `replace`) at once; its chunks stay. Raises NotFoundError."""
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            texts = _lexical((), (), front, {})
            connection.execute(self._queries["delete_front"], {**document, "field": int(Field.FRONT)})
            connection.execute(self._queries["add_postings"], {**document, **texts})

    # --- vectors of another model ---

    def to_embed(self, document_id: uuid.UUID) -> list[Chunk]:
        """A document's chunks in reading order, also of one in the trash: it may come back."""
        rows = self._database.all(self._queries["to_embed"], {"document_id": document_id})
        return [to_chunk(row) for row in rows]

    def add_vectors(
        self,
        document_id: uuid.UUID,
        space: EmbeddingSpace,
        *,
        chunks: Sequence[Chunk],
        vectors: Sequence[Sequence[float]],
    ) -> bool:
        """Keep vectors of `space` for `chunks`, which are all of the document's, beside those it has.

        False if the document has other chunks by now: then nothing is kept.

        Raises:
            errors.NotFoundError: there is no such document, or its index has no generation of that space.
            errors.StoreError: the database fails; nothing is kept.
        """
        self._dense.ensure_table(space.dimensions)
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            found = connection.execute(self._queries["generation"], {**document, **space.model_dump()}).fetchone()
            if found is None:
                raise errors.NotFoundError(f"The vectors of {space.name} have been dropped, so none are added.")
            present = connection.execute(self._queries["ids"], document).fetchall()
            if [row["id"] for row in present] != [chunk.id for chunk in chunks]:
                return False
            target = {**document, "generation": found["generation"]}
            table = named_queries.chunk_table(space.dimensions)
            connection.execute(self._queries["delete_generation"].format(chunks=table), target)
            self._add(connection, space, target, chunks, vectors)
        return True

    # --- searching ---

    def dense(self, scope: Scope, space: EmbeddingSpace, vector: Sequence[float], limit: int) -> list[Candidate]:
        """The chunks in scope nearest to `vector`, best first; the score is 1 - cosine distance, clipped to 0..1."""
        return self._dense.search(self._database, scope, space, vector, limit)

    def lexical(
        self, scope: Scope, query: str, limit: int, *, added: Sequence[str] = (), landmarks: Sequence[str] = ()
    ) -> LexicalMatches:
        """The `limit` chunks in scope with the highest BM25, the best documents, and what stands at `landmarks`.

        The phrases `added` mean the same as words of the query and count less than these.
        """
        return self._lexical.search(scope, query, limit, added, landmarks)

    # --- reading ---

    def get(self, ids: Sequence[uuid.UUID]) -> list[tuple[Chunk, Document]]:
        """Chunks with their documents (these without `pages`), in the order of `ids`; what is not there is left out."""
        rows = self._database.all(self._queries["get"], {"ids": [*ids]})
        documents = {document_id: to_document(row) for document_id, row in {row["id"]: row for row in rows}.items()}
        found = {
            row["chunk_id"]: (to_chunk({**row, "id": row["chunk_id"], "document_id": row["id"]}), documents[row["id"]])
            for row in rows
        }
        return [found[chunk_id] for chunk_id in ids if chunk_id in found]

    def with_words(self, index_id: uuid.UUID, words: str, limit: int) -> list[Finding]:
        """The chunks of an index that have these words in this order, whatever space is between them.

        Upper and lower case are the same; chunks of documents in the trash come last.
        """
        parameters = {"index_id": index_id, "pattern": scopes.pattern(words), "limit": limit}
        return [Finding(**row) for row in self._database.all(self._queries["with_words"], parameters)]

    def in_scope(self, scope: Scope, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
        """Those of the chunks that a search in `scope` may find."""
        parameters = {**scopes.parameters(scope), "ids": [*ids]}
        return {row["id"] for row in self._database.all(self._queries["in_scope"], parameters)}

    def vectors(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Any]:
        """The vectors of chunks as arrays of length 1, by chunk id; what is not there is left out.

        One that is not computed yet is near to nothing: its array is of length 0.
        """
        rows = self._database.all(self._queries["vectors"], {"ids": [*ids]})
        found = {row["id"]: _unit_vector(row["embedding"]) for row in rows if row["embedding"] is not None}
        nowhere = np.zeros_like(next(iter(found.values()), np.zeros(1)))
        return {row["id"]: found.get(row["id"], nowhere) for row in rows}

    def of_document(
        self,
        document_id: uuid.UUID,
        *,
        page_number: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Chunk]:
        """A document's chunks in reading order, or those with a line on one page; none of one in the trash."""
        parameters = {
            "document_id": document_id,
            "page_number": page_number,
            "limit": limit,
            "offset": offset,
        }
        return [to_chunk(row) for row in self._database.all(self._queries["of_document"], parameters)]

    def page_lines(self, pages: Sequence[tuple[uuid.UUID, int]]) -> dict[tuple[uuid.UUID, int], tuple[Line, ...]]:
        """The lines of pages, put together from the chunks on them in reading order, each line once.

        Keys are document id and page number; pages without text are left out.
        """
        parameters = {
            "document_ids": [document_id for document_id, _ in pages],
            "page_numbers": [number for _, number in pages],
        }
        found: dict[uuid.UUID, dict[int, dict[tuple[object, ...], Mapping[str, Any]]]] = {}
        for document_id, number in pages:
            found.setdefault(document_id, {})[number] = {}
        for row in self._database.all(self._queries["on_pages"], parameters):
            on_page = found[row["document_id"]]
            for line in packing.unpack_rows(row["content"], row["lines"]):
                lines = on_page.get(line["page_number"])
                if lines is not None:
                    lines.setdefault((line["number"], line["text"], line["bbox"]), line)
        return {
            (document_id, number): packing.to_lines(lines.values())
            for document_id, numbers in found.items()
            for number, lines in numbers.items()
            if lines
        }


def to_chunk(row: Mapping[str, Any]) -> Chunk:
    """A row of `document_chunks`."""
    return Chunk.model_construct(
        id=row["id"],
        document_id=row["document_id"],
        lines=packing.unpack(row["content"], row["lines"]),
        ordinal=row["ordinal"],
        section=row["section"],
        context=row["context"],
    )


def _unit_vector(text: str) -> Any:
    vector = pgvector.Vector.from_text(text).to_numpy()
    return vector / np.linalg.norm(vector)


def lock_document(database: UserDatabase, connection: Connection, document_id: uuid.UUID) -> Mapping[str, Any]:
    """A document with its index, of whose chunks nobody else writes until the end of the transaction.

    Raises:
        errors.NotFoundError: there is no such document.
    """
    keys = database.bind({"document_id": document_id})
    statements = named_queries.load("chunks")
    connection.execute(statements["lock_replacement"], keys)
    row = connection.execute(statements["lock_document"], keys).fetchone()
    if row is None:
        raise errors.NotFoundError(f"There is no document {document_id}. List the documents and check the id.")
    return row


def require_space(index: Mapping[str, Any], space: EmbeddingSpace) -> None:
    """Raises IndexError if the index has vectors of another space."""
    if (index["provider"], index["model"], index["dimensions"]) != (space.provider, space.model, space.dimensions):
        raise errors.IndexError(
            f"The index {index['index_name']!r} was embedded with {index['provider']}:{index['model']}, not with "
            f"{space.name}. Use that model, or re-index it: pagelight reembed."
        )


def _lexical(
    chunks: Sequence[Chunk], search_texts: Sequence[str], front: str, pages: Mapping[int, PageText]
) -> dict[str, object]:
    """The texts of all fields, each with the ordinal of the chunk that it is kept with."""
    mainly = [chunk.main_page for chunk in chunks]
    starts = [place for place, page in enumerate(mainly) if place == 0 or mainly[place - 1] != page]
    texts = [(Field.CHUNK, ordinal, text) for ordinal, text in enumerate(search_texts)]
    for ordinal in starts:
        if page := pages.get(mainly[ordinal]):
            texts += [(Field.PAGE, ordinal, page.text), (Field.TITLE, ordinal, page.title)]
    texts.append((Field.FRONT, 0, front))
    return {
        "fields": [int(field) for field, _, _ in texts],
        "ordinals": [ordinal for _, ordinal, _ in texts],
        "texts": [search_terms.normalize(text) for _, _, text in texts],
        "page_field": int(Field.PAGE_BEGINS),
        "page_starts": starts,
    }


def _placed(landmarks: Iterable[Landmark], chunks: Iterable[Chunk]) -> dict[str, list[object]]:
    """Landmarks with the first and the last chunk that are mainly of their pages."""
    ordinals: dict[int, list[int]] = {}
    for chunk in chunks:
        ordinals.setdefault(chunk.main_page, []).append(chunk.ordinal)
    placed = [landmark for landmark in landmarks if landmark.page_number in ordinals]
    return {
        "names": [landmark.name for landmark in placed],
        "page_numbers": [landmark.page_number for landmark in placed],
        "first_ordinals": [min(ordinals[landmark.page_number]) for landmark in placed],
        "last_ordinals": [max(ordinals[landmark.page_number]) for landmark in placed],
        "strengths": [landmark.strength for landmark in placed],
    }


def _totals(parsed: ParsedDocument, chunks: Sequence[Chunk]) -> dict[str, object]:
    characters = sum(len(chunk.text) for chunk in chunks)
    return {
        "title": parsed.title,
        "author": parsed.author,
        "dated": parsed.dated,
        "pages": Jsonb([page.model_dump() for page in parsed.pages]),
        "page_count": len(parsed.pages),
        "failed_pages": [page.number for page in parsed.pages if page.error],
        "line_count": parsed.line_count,
        "chunk_count": len(chunks),
        "char_count": characters,
        "token_count": characters // CHARS_PER_TOKEN,
        "note": parsed.note,
        "pictures_waiting": bool(parsed.picture_pages),
        "completeness": parsed.completeness and Jsonb(parsed.completeness.model_dump()),
    }
