"""Chunks with their vectors and postings, and the pages put together from them: replaced, searched, and read."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pgvector
import pgvector.psycopg
import psycopg
from psycopg import sql
from psycopg.types.array import ListBinaryDumper
from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.library.documents import take_over, to_document, unknown
from rag.store.search import line_encoding, search_terms
from rag.store.search.dense import HALF_PRECISION_ABOVE, DenseSearch
from rag.store.search.lexical import Field, LexicalMatches, LexicalSearch
from rag.store.server import named_queries
from rag.store.server.database import Connection, Queries, Row, UserDatabase

BATCH_SIZE = 500
"""Chunks per insert statement: with their lines and vectors they are some megabytes."""

CHARS_PER_TOKEN = 4
"""English text has about four characters per token of common models."""


class Chunks:
    """A user's rows of the tables of chunks, one per vector size, and of `postings`."""

    def __init__(self, database: UserDatabase, dense: DenseSearch) -> None:
        self._database = database
        self._queries = Queries(database, "chunks")
        self._vectors = Queries(database, "vectors")
        self._dense = dense
        self._lexical = LexicalSearch(database)

    # --- writing ---

    def replace(
        self,
        document_id: uuid.UUID,
        space: types.EmbeddingSpace,
        *,
        parsed: types.ParsedDocument,
        chunks: Sequence[types.Chunk],
        vectors: Sequence[Sequence[float]] | None,
        search_texts: Sequence[str],
        language: str = types.ENGLISH,
        front: str = "",
        landmarks: Sequence[types.Landmark] = (),
        pages: Mapping[int, types.PageText] = MappingProxyType({}),
        partial: bool = False,
        while_read: bool = False,
    ) -> None:
        """Replace a document's chunks and make it `ready`, in one transaction.

        Without `vectors` it becomes `embedding` and is searchable by its words; `add_missing_vectors` adds them. With
        `partial` chunks, the beginning of a document, it stays `parsing`. With `while_read` nothing is replaced if the
        reading of the document was cancelled.

        `vectors` and `search_texts` (the texts for BM25, stemmed by `language`) belong to the chunks, which are
        numbered from 0 in order. `front` describes the whole document: its name, its title and its beginning. `pages`
        are texts by page number. Pages and `landmarks` of pages without a chunk of their own are left out.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.CancelledError: it was cancelled; the old chunks remain.
            errors.IndexError: the index of the document has another embedding space.
            errors.StoreError: the database fails; the old chunks remain.
        """
        each = [None] * len(chunks) if vectors is None else vectors
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
            texts = _search_values(chunks, search_texts, front, pages)
            lexeme_count = self._add_postings(connection, document, texts)
            connection.execute(self._queries["add_landmarks"], {**document, **_landmark_values(landmarks, chunks)})
            state = {**_state(chunks, vectors, partial=partial), "while_read": while_read}
            time = connection.execute(self._queries["time"]).fetchone() or {}
            totals = {**_totals(parsed, chunks), "lexeme_count": lexeme_count, **state, **time}
            if not connection.execute(self._queries["finish_document"], {**document, **totals}).rowcount:
                raise errors.CancelledError
            take_over(self._database, connection, [document_id])

    def _add(
        self,
        connection: Connection,
        space: types.EmbeddingSpace,
        document: Mapping[str, Any],
        chunks: Sequence[types.Chunk],
        vectors: Sequence[Sequence[float] | None],
    ) -> None:
        cursor = _cursor(connection)
        vector_type = "halfvec" if space.dimensions > HALF_PRECISION_ABOVE else "vector"
        table = named_queries.chunk_table(space.dimensions)
        statement = self._queries["add"].format(chunks=table, vector=sql.SQL(vector_type))
        rows = [*zip(chunks, vectors, strict=True)]
        for start in range(0, len(rows), BATCH_SIZE):
            batch = [_values(chunk, vector) for chunk, vector in rows[start : start + BATCH_SIZE]]
            columns = {name: [values[name] for values in batch] for name in batch[0]}
            if cursor.execute(statement, {**document, **columns}).rowcount != len(batch):
                raise errors.StoreError(N_("Not all chunks could be stored. Try again; if it persists, report it."))

    def refresh_front(self, document_id: uuid.UUID, front: str) -> None:
        """Replace the front of a document (see `replace`); its chunks stay. Raises NotFoundError."""
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            texts = _search_values((), (), front, {})
            connection.execute(self._queries["delete_front"], {**document, "field": int(Field.FRONT)})
            self._add_postings(connection, document, texts)

    def _add_postings(self, connection: Connection, document: Mapping[str, Any], texts: Mapping[str, object]) -> int:
        """Add the postings of a document's texts and return the number of lexemes in its chunks."""
        postings = connection.execute(self._queries["postings"], {**document, **texts}).fetchone() or {}
        connection.execute(self._queries["add_postings"], {**document, **postings})
        return int(postings["lexeme_count"])

    # --- vectors that are still to be computed ---

    def without_vector(self, document_id: uuid.UUID, space: types.EmbeddingSpace, limit: int) -> list[types.Chunk]:
        """Return the next chunks of a document without a vector, in order; none if its index has another space."""
        query = self._vectors["missing"].format(chunks=named_queries.chunk_table(space.dimensions))
        rows = self._vectors.all(query, document_id=document_id, limit=limit, **space.model_dump())
        return [to_chunk(row) for row in rows]

    def add_missing_vectors(
        self, document_id: uuid.UUID, space: types.EmbeddingSpace, vectors: Mapping[uuid.UUID, Sequence[float]]
    ) -> bool:
        """Save vectors by chunk id in one transaction; with the last one the document is `ready`.

        False if the document is no longer being embedded, for example because it was cancelled: then nothing is
        saved. Chunks that have been replaced meanwhile are skipped. Raises NotFoundError and IndexError.
        """
        table = named_queries.chunk_table(space.dimensions)
        values = {"ids": [*vectors], "vectors": [pgvector.Vector([*vector]).to_text() for vector in vectors.values()]}
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            require_space(document, space)
            row = connection.execute(self._vectors["add"].format(chunks=table), {**document, **values}).fetchone()
            if row is None:
                return False
            if row["vector_count"] == row["chunk_count"] or not vectors:
                connection.execute(self._vectors["finish"].format(chunks=table), document)
                take_over(self._database, connection, [document_id])
        return True

    # --- vectors of another model ---

    def to_embed(self, document_id: uuid.UUID) -> list[types.Chunk]:
        """Return a document's chunks in reading order, also in the trash, from which it may be restored."""
        return [to_chunk(row) for row in self._queries.all("to_embed", document_id=document_id)]

    def add_vectors(
        self,
        document_id: uuid.UUID,
        space: types.EmbeddingSpace,
        *,
        chunks: Sequence[types.Chunk],
        vectors: Sequence[Sequence[float]],
    ) -> bool:
        """Add vectors of another `space` for `chunks`, which are all of the document's.

        False if the document has other chunks by now: then nothing is saved. Raises NotFoundError.
        """
        self._dense.ensure_table(space.dimensions)
        with self._database.transaction(long=True) as connection:
            document = lock_document(self._database, connection, document_id)
            generation = connection.execute(self._queries["generation"], {**document, **space.model_dump()}).fetchone()
            if generation is None:
                raise errors.NotFoundError(
                    N_("The vectors of {model} have been dropped, so none are added."), model=space.name
                )
            present = connection.execute(self._queries["ids"], document).fetchall()
            if [row["id"] for row in present] != [chunk.id for chunk in chunks]:
                return False
            target = {**document, "generation": generation["generation"]}
            table = named_queries.chunk_table(space.dimensions)
            connection.execute(self._queries["delete_generation"].format(chunks=table), target)
            self._add(connection, space, target, chunks, vectors)
        return True

    # --- searching ---

    def dense(
        self, scope: types.Scope, space: types.EmbeddingSpace, vector: Sequence[float], limit: int
    ) -> list[types.Candidate]:
        """Return the nearest chunks in scope, best first; the score is 1 - cosine distance, clipped to 0..1."""
        return self._dense.search(self._database, scope, space, vector, limit)

    def lexical(
        self, scope: types.Scope, query: str, limit: int, *, added: Sequence[str] = (), landmarks: Sequence[str] = ()
    ) -> LexicalMatches:
        """Return the `limit` best chunks in scope by BM25, the best documents, and the chunks at `landmarks`.

        The phrases `added` are synonyms of words of the query and count less.
        """
        return self._lexical.search(scope, query, limit, added, landmarks)

    # --- reading ---

    def get(self, ids: Sequence[uuid.UUID]) -> list[tuple[types.Chunk, types.Document]]:
        """Return chunks with their documents (without `pages`) in the order of `ids`; unknown ids are left out."""
        rows = self._queries.all("get", ids=[*ids])
        documents = {document_id: to_document(row) for document_id, row in {row["id"]: row for row in rows}.items()}
        chunks = {
            row["chunk_id"]: (to_chunk({**row, "id": row["chunk_id"], "document_id": row["id"]}), documents[row["id"]])
            for row in rows
        }
        return [chunks[chunk_id] for chunk_id in ids if chunk_id in chunks]

    def find(self, chunk_id: uuid.UUID) -> types.Chunk:
        """Return a chunk, of a document in the trash or not. Raises NotFoundError."""
        for chunk, _ in self.get([chunk_id]):
            return chunk
        raise errors.NotFoundError(
            N_("There is no chunk {id}. Search again: its document may have been re-read."), id=chunk_id
        )

    def with_words(self, index_id: uuid.UUID, words: str, limit: int) -> list[types.Finding]:
        """Return the chunks of an index that contain a phrase, with any case and whitespace.

        Chunks of documents in the trash come last.
        """
        rows = self._queries.all("with_words", index_id=index_id, pattern=search_terms.pattern(words), limit=limit)
        return [types.Finding(**row) for row in rows]

    def in_scope(self, scope: types.Scope, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
        """Return the ids of the chunks that a search in `scope` may find."""
        return {row["id"] for row in self._queries.all("in_scope", **search_terms.scope_parameters(scope), ids=[*ids])}

    def vectors(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Any]:
        """Return the vectors of chunks, normalized to length 1, by chunk id; unknown ids are left out.

        A vector that is not computed yet is all zeros.
        """
        rows = self._queries.all("vectors", ids=[*ids])
        computed = {
            row["id"]: pgvector.Vector.from_text(row["embedding"]).to_numpy()
            for row in rows
            if row["embedding"] is not None
        }
        zeros = np.zeros_like(next(iter(computed.values()), np.zeros(1)))
        units = {chunk_id: vector / np.linalg.norm(vector) for chunk_id, vector in computed.items()}
        return {row["id"]: units.get(row["id"], zeros) for row in rows}

    def of_document(
        self,
        document_id: uuid.UUID,
        *,
        page_number: int | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[types.Chunk]:
        """Return a document's chunks in reading order, or those with a line on one page; none in the trash."""
        rows = self._queries.all(
            "of_document", document_id=document_id, page_number=page_number, limit=limit, offset=offset
        )
        return [to_chunk(row) for row in rows]

    def page_lines(self, pages: Sequence[tuple[uuid.UUID, int]]) -> dict[tuple[uuid.UUID, int], tuple[types.Line, ...]]:
        """Return the lines of pages from their chunks in reading order, each line once.

        Keys are document id and page number; pages without text are left out.
        """
        lines_by_page: dict[uuid.UUID, dict[int, dict[tuple[object, ...], Mapping[str, Any]]]] = {}
        for document_id, number in pages:
            lines_by_page.setdefault(document_id, {})[number] = {}
        document_ids, page_numbers = [document_id for document_id, _ in pages], [number for _, number in pages]
        for row in self._queries.all("on_pages", document_ids=document_ids, page_numbers=page_numbers):
            on_page = lines_by_page[row["document_id"]]
            for line in line_encoding.unpack_rows(row["content"], row["lines"]):
                lines = on_page.get(line["page_number"])
                if lines is not None:
                    lines.setdefault((line["number"], line["text"], line["bbox"]), line)
        return {
            (document_id, number): line_encoding.to_lines(lines.values())
            for document_id, numbers in lines_by_page.items()
            for number, lines in numbers.items()
            if lines
        }

    def page_texts(self, document_id: uuid.UUID) -> dict[int, str]:
        """Return the text of each page that has any, with the lines of `page_lines`."""
        pages: dict[int, dict[tuple[object, ...], Mapping[str, Any]]] = {}
        for row in self._queries.all("texts", document_id=document_id):
            for line in line_encoding.unpack_rows(row["content"], row["lines"]):
                pages.setdefault(line["page_number"], {}).setdefault((line["number"], line["text"], line["bbox"]), line)
        return {number: line_encoding.join_rows(lines.values()) for number, lines in sorted(pages.items())}

    def landmarks(self, document_id: uuid.UUID, names: Iterable[str]) -> list[types.Landmark]:
        """Return a document's landmarks of these names by name and page; none of a document in the trash."""
        return [
            types.Landmark(**row) for row in self._queries.all("landmarks", document_id=document_id, names=[*names])
        ]


def to_chunk(row: Mapping[str, Any]) -> types.Chunk:
    """Make a chunk of a row of `document_chunks`."""
    return types.Chunk.model_construct(
        id=row["id"],
        document_id=row["document_id"],
        lines=line_encoding.unpack(row["content"], row["lines"]),
        ordinal=row["ordinal"],
        section=row["section"],
        context=row["context"],
    )


def lock_document(database: UserDatabase, connection: Connection, document_id: uuid.UUID) -> Mapping[str, Any]:
    """Lock a document's chunks until the end of the transaction, and return the document with its index.

    Raises NotFoundError.
    """
    keys = database.bind({"document_id": document_id})
    statements = named_queries.load("chunks")
    connection.execute(statements["lock_replacement"], keys)
    row = connection.execute(statements["lock_document"], keys).fetchone()
    if row is None:
        raise unknown(document_id)
    return row


def require_space(index: Mapping[str, Any], space: types.EmbeddingSpace) -> None:
    """Raise IndexError if the index has vectors of another space."""
    if (index["provider"], index["model"], index["dimensions"]) != (space.provider, space.model, space.dimensions):
        raise errors.IndexError(
            N_(
                "The index {name} was embedded with {model}, not with {other}. Use that model, or re-index it: "
                "pagelight reembed."
            ),
            name=repr(index["index_name"]),
            model=f"{index['provider']}:{index['model']}",
            other=space.name,
        )


def _search_values(
    chunks: Sequence[types.Chunk], search_texts: Sequence[str], front: str, pages: Mapping[int, types.PageText]
) -> dict[str, object]:
    """Return the texts of all fields, each with the ordinal of the chunk under which it is indexed."""
    main_pages = [chunk.main_page for chunk in chunks]
    starts = [place for place, page in enumerate(main_pages) if place == 0 or main_pages[place - 1] != page]
    texts = [(Field.CHUNK, ordinal, text) for ordinal, text in enumerate(search_texts)]
    for ordinal in starts:
        if page := pages.get(main_pages[ordinal]):
            texts += [(Field.PAGE, ordinal, page.text), (Field.TITLE, ordinal, page.title)]
    texts.append((Field.FRONT, 0, front))
    return {
        "fields": [int(field) for field, _, _ in texts],
        "ordinals": [ordinal for _, ordinal, _ in texts],
        "texts": [search_terms.normalize(text) for _, _, text in texts],
        "page_field": int(Field.PAGE_BEGINS),
        "page_starts": starts,
    }


def _landmark_values(landmarks: Iterable[types.Landmark], chunks: Iterable[types.Chunk]) -> dict[str, list[object]]:
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


def _totals(parsed: types.ParsedDocument, chunks: Sequence[types.Chunk]) -> dict[str, object]:
    characters = sum(len(chunk.text) for chunk in chunks)
    return {
        "title": parsed.title,
        "author": parsed.author,
        "dated": parsed.dated,
        "subject": parsed.subject and Jsonb(parsed.subject.model_dump()),
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


def _cursor(connection: Connection) -> psycopg.Cursor[Row]:
    """Return a cursor that sends lists in binary form: a vector as text takes three times as long."""
    if connection.adapters.types.get("vector") is None:  # four statements, once per connection
        pgvector.psycopg.register_vector(connection)
    made = connection.cursor()
    made.adapters.register_dumper(list, ListBinaryDumper)
    return made


def _values(chunk: types.Chunk, vector: Sequence[float] | None) -> dict[str, object]:
    pages = chunk.pages
    to_vector = pgvector.HalfVector if len(vector or ()) > HALF_PRECISION_ABOVE else pgvector.Vector  # as its table has
    return {
        "ordinal": chunk.ordinal,
        "chunk_id": chunk.id,
        "text": chunk.text,
        "embedding": None if vector is None else to_vector(np.asarray(vector, np.float32)),
        "page_number": pages[0],
        "page_end": pages[-1],
        **dict(zip(("x0", "y0", "x1", "y1"), chunk.bbox, strict=True)),
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
        "section": chunk.section,
        "context": chunk.context,
        "lines": Jsonb(line_encoding.pack(chunk.lines)),
    }


def _state(
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
