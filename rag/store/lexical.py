"""Lexical search: BM25, exact in the asked scope.

The database finds the postings of the question's terms inside the scope and hands them over as bytes; the scores are
computed on them as arrays, which is several times faster than row by row in SQL.
"""

import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np

from rag.store import bm25, queries, scopes, terms
from rag.store.database import Connection, Database
from rag.types import Candidate, Scope

Parameters = Mapping[str, object]


class LexicalSearch:
    """The table `postings`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = queries.load("lexical")

    def chunks(self, scope: Scope, query: str, limit: int) -> list[Candidate]:
        """See `Chunks.lexical`."""
        parameters = _parameters(scope, query)
        return self._database.read(lambda connection: self._chunks(connection, parameters, limit))

    def documents(self, scope: Scope, query: str, limit: int) -> list[tuple[uuid.UUID, float]]:
        """See `Chunks.lexical_documents`."""
        parameters = _parameters(scope, query)
        return self._database.read(lambda connection: self._documents(connection, parameters, limit))

    def _chunks(self, connection: Connection, parameters: Parameters, limit: int) -> list[Candidate]:
        dimensions, collection, lists = self._postings(connection, parameters)
        scores = bm25.chunk_scores(collection, lists)
        positions = bm25.best(scores, limit)
        if not len(positions):
            return []
        documents = np.searchsorted(collection.offsets, positions, side="right") - 1
        places = {
            "numbers": collection.numbers[documents].tolist(),
            "ordinals": (positions - collection.offsets[documents]).tolist(),
        }
        query = self._queries["chunks"].format(chunks=queries.chunk_table(dimensions))
        found = scores[positions].tolist()
        return [
            Candidate(row["chunk_id"], row["document_id"], row["page_number"], found[row["place"] - 1])
            for row in connection.execute(query, {**parameters, **places}, binary=True)
        ]

    def _documents(self, connection: Connection, parameters: Parameters, limit: int) -> list[tuple[uuid.UUID, float]]:
        _, collection, lists = self._postings(connection, parameters)
        scores = bm25.document_scores(collection, lists)
        positions = bm25.best(scores, limit)
        found = scores[positions].tolist()
        places = {"numbers": collection.numbers[positions].tolist()}
        return [
            (row["document_id"], found[row["place"] - 1])
            for row in connection.execute(self._queries["documents"], {**parameters, **places}, binary=True)
        ]

    def _postings(
        self, connection: Connection, parameters: Parameters
    ) -> tuple[int, bm25.Collection, list[bm25.PostingList]]:
        """The index's vector size and what is searched, seen as it is now until the end of the transaction."""
        connection.execute(queries.load("session")["snapshot"])
        row = connection.execute(self._queries["collection"], parameters, binary=True).fetchone() or {}
        collection = bm25.Collection(
            numbers=_integers(row["numbers"], ">i4"),
            chunk_counts=_integers(row["chunk_counts"], ">i4"),
            lexeme_counts=_integers(row["lexeme_counts"], ">i8"),
        )
        terms_found = connection.execute(self._queries["postings"], parameters, binary=True)
        lists = [
            bm25.PostingList(_integers(found["blocks"], ">i8"), _integers(found["postings"], ">i4"))
            for found in terms_found
        ]
        return row["dimensions"], collection, lists


def _parameters(scope: Scope, query: str) -> dict[str, object]:
    return {**scopes.parameters(scope), "query": terms.normalize(query)}


def _integers(data: bytes | None, dtype: str) -> Any:
    """Big endian bytes as numbers of this machine."""
    stored = np.dtype(dtype)
    return np.frombuffer(data or b"", dtype=stored).astype(stored.newbyteorder("="))
