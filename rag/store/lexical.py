"""Lexical search: BM25, exact in the asked scope.

The database finds the postings of the question's terms inside the scope and hands them over as bytes; the scores are
computed on them as arrays, which is several times faster than row by row in SQL.
"""

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rag.store import bm25, queries, scopes, terms
from rag.store.database import Connection, UserDatabase
from rag.types import Candidate, Scope

Parameters = Mapping[str, object]


class LexicalMatches(NamedTuple):
    """What matches a query by words, each with its raw BM25 above 0, best first: chunks, and documents as a whole."""

    chunks: list[Candidate]
    documents: dict[uuid.UUID, float]


class _Postings(NamedTuple):
    """The postings of a question's terms, and what they are of: the index's vector size and active generation."""

    dimensions: int
    generation: int
    collection: bm25.Collection
    lists: list[bm25.PostingList]


class LexicalSearch:
    """The table `postings`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = queries.load("lexical")

    def search(self, scope: Scope, query: str, limit: int) -> LexicalMatches:
        """See `Chunks.lexical`."""
        parameters = self._database.bind({**scopes.parameters(scope), "query": terms.normalize(query)})
        return self._database.read(lambda connection: self._search(connection, parameters, limit))

    def _search(self, connection: Connection, parameters: Parameters, limit: int) -> LexicalMatches:
        found = self._postings(connection, parameters)
        if not found.lists:
            return LexicalMatches([], {})
        return LexicalMatches(
            chunks=self._best_chunks(connection, parameters, found, limit),
            documents=self._best_documents(connection, parameters, found, limit),
        )

    def _best_chunks(
        self, connection: Connection, parameters: Parameters, found: _Postings, limit: int
    ) -> list[Candidate]:
        scores = bm25.chunk_scores(found.collection, found.lists)
        if parameters["must_all"] or parameters["must_any"]:
            scores[~self._containing(connection, parameters, found)] = 0.0
        positions = bm25.best(scores, limit)
        documents = np.searchsorted(found.collection.offsets, positions, side="right") - 1
        places = {
            "numbers": found.collection.numbers[documents].tolist(),
            "ordinals": (positions - found.collection.offsets[documents]).tolist(),
            "generation": found.generation,
        }
        query = self._queries["chunks"].format(chunks=queries.chunk_table(found.dimensions))
        best = scores[positions].tolist()
        return [
            Candidate(row["chunk_id"], row["document_id"], row["page_number"], best[row["place"] - 1])
            for row in connection.execute(query, {**parameters, **places}, binary=True)
        ]

    def _containing(self, connection: Connection, parameters: Parameters, found: _Postings) -> Any:
        """Of every chunk in scope, whether it has the required words."""
        query = self._queries["containing"].format(chunks=queries.chunk_table(found.dimensions))
        row = connection.execute(query, {**parameters, "generation": found.generation}, binary=True).fetchone() or {}
        keys = _integers(row["chunks"], ">i8")
        documents = np.searchsorted(found.collection.numbers, (keys >> 32).astype(np.int32))
        mask = np.zeros(found.collection.offsets[-1], dtype=bool)
        mask[found.collection.offsets[documents] + (keys & 0xFFFFFFFF)] = True
        return mask

    def _best_documents(
        self, connection: Connection, parameters: Parameters, found: _Postings, limit: int
    ) -> dict[uuid.UUID, float]:
        scores = bm25.document_scores(found.collection, found.lists)
        positions = bm25.best(scores, limit)
        best = scores[positions].tolist()
        places = {"numbers": found.collection.numbers[positions].tolist()}
        return {
            row["document_id"]: best[row["place"] - 1]
            for row in connection.execute(self._queries["documents"], {**parameters, **places}, binary=True)
        }

    def _postings(self, connection: Connection, parameters: Parameters) -> _Postings:
        """What is searched, seen as it is now until the end of the transaction."""
        connection.execute(queries.load("session")["snapshot"])
        row = connection.execute(self._queries["collection"], parameters, binary=True).fetchone() or {}
        collection = bm25.Collection(
            numbers=_integers(row["numbers"], ">i4"),
            chunk_counts=_integers(row["chunk_counts"], ">i4"),
            lexeme_counts=_integers(row["lexeme_counts"], ">i8"),
        )
        lists = [
            bm25.PostingList(_integers(found["blocks"], ">i8"), _integers(found["postings"], ">i4"))
            for found in connection.execute(self._queries["postings"], parameters, binary=True)
        ]
        return _Postings(row["dimensions"], row["generation"], collection, lists)


def _integers(data: bytes | None, dtype: str) -> Any:
    """Big endian bytes as numbers of this machine."""
    stored = np.dtype(dtype)
    return np.frombuffer(data or b"", dtype=stored).astype(stored.newbyteorder("="))
