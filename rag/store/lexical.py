"""Lexical search: BM25, exact in the asked scope.

The database finds the postings of the question's terms inside the scope and hands them over as bytes; the scores are
computed on them as arrays, which is several times faster than row by row in SQL.

The documents of each language are a collection of their own: the question has other terms in each, by its stems and
stop words, and a word that is common in few German documents would look rare among many English ones.
"""

import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rag.store import bm25, queries, scopes, terms
from rag.store.database import Connection, UserDatabase
from rag.types import ENGLISH, Candidate, Scope

Parameters = Mapping[str, object]


class LexicalMatches(NamedTuple):
    """What matches a query by words, each with its raw BM25 above 0, best first: chunks, and documents as a whole.

    `languages` are those of all documents in scope, if anything matches.
    """

    chunks: list[Candidate]
    documents: dict[uuid.UUID, float]
    languages: frozenset[str] = frozenset()


class _Found(NamedTuple):
    """The index's vector size and active generation; per language its documents and where the question's terms are."""

    dimensions: int
    generation: int
    languages: dict[str, tuple[bm25.Collection, list[bm25.PostingList]]]

    @property
    def documents(self) -> bm25.Collection:
        """All of them, one language after the other."""
        parts = [(part.numbers, part.chunk_counts, part.lexeme_counts) for part, _ in self.languages.values()]
        return bm25.Collection(*map(np.concatenate, zip(*parts, strict=True)))

    def scores(self, scores: Callable[[bm25.Collection, list[bm25.PostingList]], bm25.Floats]) -> bm25.Floats:
        """Those of each language by its own statistics, in the order of `documents`."""
        return np.concatenate([scores(*part) for part in self.languages.values()])


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
        found = self._find(connection, parameters)
        if found is None:
            return LexicalMatches([], {})
        return LexicalMatches(
            chunks=self._best_chunks(connection, parameters, found, limit),
            documents=self._best_documents(connection, parameters, found, limit),
            languages=frozenset(found.languages),
        )

    def _best_chunks(
        self, connection: Connection, parameters: Parameters, found: _Found, limit: int
    ) -> list[Candidate]:
        searched = found.documents
        scores = found.scores(bm25.chunk_scores)
        if parameters["must_all"] or parameters["must_any"]:
            scores[~self._containing(connection, parameters, found)] = 0.0
        positions = bm25.best(scores, limit)
        documents = np.searchsorted(searched.offsets, positions, side="right") - 1
        places = {
            "numbers": searched.numbers[documents].tolist(),
            "ordinals": (positions - searched.offsets[documents]).tolist(),
            "generation": found.generation,
        }
        query = self._queries["chunks"].format(chunks=queries.chunk_table(found.dimensions))
        best = scores[positions].tolist()
        return [
            Candidate(row["chunk_id"], row["document_id"], row["page_number"], best[row["place"] - 1])
            for row in connection.execute(query, {**parameters, **places}, binary=True)
        ]

    def _containing(self, connection: Connection, parameters: Parameters, found: _Found) -> Any:
        """Of every chunk in scope, whether it has the required words."""
        query = self._queries["containing"].format(chunks=queries.chunk_table(found.dimensions))
        row = connection.execute(query, {**parameters, "generation": found.generation}, binary=True).fetchone() or {}
        keys = _integers(row["chunks"], ">i8")
        searched = found.documents
        by_number = np.argsort(searched.numbers)
        documents = by_number[np.searchsorted(searched.numbers, (keys >> 32).astype(np.int32), sorter=by_number)]
        mask = np.zeros(searched.offsets[-1], dtype=bool)
        mask[searched.offsets[documents] + (keys & 0xFFFFFFFF)] = True
        return mask

    def _best_documents(
        self, connection: Connection, parameters: Parameters, found: _Found, limit: int
    ) -> dict[uuid.UUID, float]:
        scores = found.scores(bm25.document_scores)
        positions = bm25.best(scores, limit)
        best = scores[positions].tolist()
        places = {"numbers": found.documents.numbers[positions].tolist()}
        return {
            row["document_id"]: best[row["place"] - 1]
            for row in connection.execute(self._queries["documents"], {**parameters, **places}, binary=True)
        }

    def _find(self, connection: Connection, parameters: Parameters) -> _Found | None:
        """What is searched, seen as it is now until the end of the transaction; None if no term is in it."""
        connection.execute(queries.load("session")["snapshot"])
        rows = connection.execute(self._queries["collections"], parameters, binary=True).fetchall()
        lists: dict[str, list[bm25.PostingList]] = {row["language"]: [] for row in rows}
        languages = {"languages": [*lists], "question_languages": [*{*lists, ENGLISH}]}  # English is asked of all
        for found in connection.execute(self._queries["postings"], {**parameters, **languages}, binary=True):
            postings = bm25.PostingList(_integers(found["blocks"], ">i8"), _integers(found["postings"], ">i4"))
            lists[found["language"]].append(postings)
        if not any(lists.values()):
            return None
        searched = {row["language"]: (_collection(row), lists[row["language"]]) for row in rows}
        return _Found(rows[0]["dimensions"], rows[0]["generation"], searched)


def _collection(row: Mapping[str, Any]) -> bm25.Collection:
    numbers = _integers(row["numbers"], ">i4")
    order = np.argsort(numbers)  # takes a tenth of the time that the database would need
    return bm25.Collection(
        numbers=numbers[order],
        chunk_counts=_integers(row["chunk_counts"], ">i4")[order],
        lexeme_counts=_integers(row["lexeme_counts"], ">i8")[order],
    )


def _integers(data: bytes | None, dtype: str) -> Any:
    """Big endian bytes as numbers of this machine."""
    stored = np.dtype(dtype)
    return np.frombuffer(data or b"", dtype=stored).astype(stored.newbyteorder("="))
