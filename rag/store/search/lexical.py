"""Lexical search: exact BM25 in a scope.

The database returns the postings of the question's terms in the scope as bytes, and the scores are computed on arrays,
several times faster than row by row in SQL.

The documents of each language are a separate collection: stems and stop words differ, and a word that is common in a
few German documents would look rare among many English ones.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from rag import types
from rag.store.search import bm25, search_terms
from rag.store.server import named_queries
from rag.store.server.database import Connection, Queries, UserDatabase

Parameters = Mapping[str, object]


ADDED_WEIGHT = 0.4
"""Weight of a synonym, where a word of the question weighs 1. Results are the same from 0.3 to 0.5."""
DOCUMENTS = 100
"""Number of best documents to return, whose landmarks are searched."""
PAGES = 100
"""Number of best pages to return."""
LOOKED_UP = 200
"""Up to this number of documents in scope their postings are looked up; beyond, those of the whole index are read."""
TITLE_SHARE = 0.2
"""Weight of the title in a page's score; more than 0.3 is worse."""


class Field(IntEnum):
    """The kind of text of a posting; the SQL has the same numbers."""

    CHUNK = 0
    PAGE = 1
    TITLE = 2
    FRONT = 3
    PAGE_BEGINS = 4


class LexicalMatches(NamedTuple):
    """The matches of a query by words, best first, with scores relative to what the query can reach (see `bm25`).

    Scores are above 0, and above 1 only if a text has more than can be expected. `fronts` are documents by their names,
    titles and first pages; `pages` are the chunks of the pages whose whole text and title match best, in 0..1;
    `landmarks` are the chunks at the landmarks asked for, with the landmark's strength in 0..1. `languages` are the
    languages of all documents in scope.
    """

    chunks: list[types.Candidate]
    documents: Mapping[uuid.UUID, float]
    fronts: Mapping[uuid.UUID, float]
    pages: list[types.Candidate]
    landmarks: list[types.Candidate]
    languages: frozenset[str] = frozenset()

    @classmethod
    def none(cls) -> "LexicalMatches":
        """Return the result without any match."""
        return cls([], {}, {}, [], [])


class _Language(NamedTuple):
    """The documents of a language, the postings of the question's terms by field, and the number of its own words."""

    documents: bm25.Collection
    lists: dict[int, list[bm25.PostingList]]
    word_count: float


class _Postings(NamedTuple):
    """The index's vector size and active generation, and the documents of each language."""

    dimensions: int
    generation: int
    languages: dict[str, _Language]

    @property
    def documents(self) -> bm25.Collection:
        """All documents, one language after the other."""
        parts = [(part.numbers, part.chunk_counts, part.lexeme_counts) for part, *_ in self.languages.values()]
        return bm25.Collection(*map(np.concatenate, zip(*parts, strict=True)))

    def of_each(
        self,
        function: Callable[[bm25.Collection, list[bm25.PostingList], float], bm25.Floats],
        field: Field,
        *,
        added: bool = False,
    ) -> bm25.Floats:
        """Compute scores of a field with the statistics of each language, in the order of `documents`.

        Only the question's own words count, unless `added` ones are wanted too: synonyms help to find the place of an
        answer on a page, but only the question says which document and page are meant.
        """
        least = 0.0 if added else 1.0
        parts = [
            function(documents, [term for term in lists.get(field, ()) if term.weight >= least], word_count)
            for documents, lists, word_count in self.languages.values()
        ]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]  # avoids copying a million scores

    @property
    def page_scores(self) -> bm25.Floats:
        """The score of each page by whole text and title, in 0..1, at its first chunk."""
        text, title = (self.of_each(bm25.chunk_scores, field) for field in (Field.PAGE, Field.TITLE))
        np.clip(text, 0.0, 1.0, out=text)
        np.clip(title, 0.0, 1.0, out=title)
        np.multiply(text, 1 - TITLE_SHARE, out=text)
        np.multiply(title, TITLE_SHARE, out=title)
        return np.add(text, title, out=text)


class LexicalSearch:
    """The tables `postings` and `landmarks`."""

    def __init__(self, database: UserDatabase, *, looked_up: int = LOOKED_UP) -> None:
        self._database = database
        self._looked_up = looked_up
        self._queries = Queries(database, "lexical")

    def search(
        self, scope: types.Scope, query: str, limit: int, added: Sequence[str] = (), landmarks: Sequence[str] = ()
    ) -> LexicalMatches:
        """Return the best matches in scope, see `Chunks.lexical`."""
        parameters = self._database.bind(
            {
                **search_terms.scope_parameters(scope),
                "query": search_terms.normalize(query),
                "added": search_terms.normalize(". ".join(added)),
                "added_weight": ADDED_WEIGHT,
                "landmarks": [*landmarks],
            }
        )
        return self._database.search(
            lambda bound: bound.read(lambda connection: self._search(connection, parameters, limit), in_snapshot=True)
        )

    def _search(self, connection: Connection, parameters: Parameters, limit: int) -> LexicalMatches:
        postings = self._find(connection, parameters)
        if postings is None:
            return LexicalMatches.none()
        whole = postings.of_each(bm25.document_scores, Field.CHUNK)
        fronts = postings.of_each(bm25.front_scores, Field.FRONT)
        best = bm25.best(_relative(whole) + _relative(fronts), DOCUMENTS)
        if not len(best):  # no document matches the question's own words
            best = np.arange(min(len(whole), DOCUMENTS))
        numbers = {"numbers": postings.documents.numbers[best].tolist()}
        rows = connection.execute(self._queries["documents"], {**parameters, **numbers}, binary=True)
        ids = [row["document_id"] for row in rows]
        wanted = self._containing(connection, parameters, postings)
        chunks = postings.of_each(bm25.chunk_scores, Field.CHUNK, added=True) * wanted
        pages = self._pages(connection, parameters, postings) * wanted
        best_chunks, on_best_pages = self._candidates(
            connection, parameters, postings, (chunks, bm25.best(chunks, limit)), (pages, np.flatnonzero(pages))
        )
        return LexicalMatches(
            chunks=best_chunks,
            documents=_positive(ids, whole[best]),
            fronts=_positive(ids, fronts[best]),
            pages=on_best_pages,
            landmarks=self._landmarks(connection, parameters, postings, best) if parameters["landmarks"] else [],
            languages=frozenset(postings.languages),
        )

    def _pages(self, connection: Connection, parameters: Parameters, postings: _Postings) -> bm25.Floats:
        """Return the score of every chunk's page; 0 if the page is not among the best."""
        at_firsts = postings.page_scores
        scores = np.zeros_like(at_firsts)
        firsts = bm25.best(at_firsts, PAGES)
        if len(firsts):
            searched = postings.documents
            documents = np.unique(np.searchsorted(searched.offsets, firsts, side="right") - 1)
            numbers = {"numbers": searched.numbers[documents].tolist()}
            row = connection.execute(self._queries["page_starts"], {**parameters, **numbers}, binary=True).fetchone()
            positions, places = bm25.pages(searched, firsts, _posting_list(row or {"blocks": None, "postings": None}))
            scores[positions] = at_firsts[firsts[places]]
        return scores

    def _candidates(
        self,
        connection: Connection,
        parameters: Parameters,
        postings: _Postings,
        *scored: tuple[bm25.Floats, bm25.Ints],
    ) -> list[list[types.Candidate]]:
        """Return the chunks for each pair of scores and positions, with one query."""
        searched = postings.documents
        positions = np.concatenate([positions for _, positions in scored])
        documents = np.searchsorted(searched.offsets, positions, side="right") - 1
        places = {
            "numbers": searched.numbers[documents].tolist(),
            "ordinals": (positions - searched.offsets[documents]).tolist(),
            "generation": postings.generation,
        }
        query = self._queries["chunks"].format(chunks=named_queries.chunk_table(postings.dimensions))
        scores_by_place = [(group, score) for group, (scores, at) in enumerate(scored) for score in scores[at].tolist()]
        candidates: list[list[types.Candidate]] = [[] for _ in scored]
        for row in connection.execute(query, {**parameters, **places}, binary=True):
            group, score = scores_by_place[row["place"] - 1]
            candidates[group].append(_candidate(row, score))
        return candidates

    def _containing(self, connection: Connection, parameters: Parameters, postings: _Postings) -> Any:
        """Return for every chunk in scope whether it has the required words; True if none are required."""
        if not (parameters["must_all"] or parameters["must_any"]):
            return True
        query = self._queries["containing"].format(chunks=named_queries.chunk_table(postings.dimensions))
        row = connection.execute(query, {**parameters, "generation": postings.generation}, binary=True).fetchone() or {}
        keys = _integers(row["chunks"], ">i8")
        searched = postings.documents
        by_number = np.argsort(searched.numbers)
        documents = by_number[np.searchsorted(searched.numbers, (keys >> 32).astype(np.int32), sorter=by_number)]
        mask = np.zeros(searched.offsets[-1], dtype=bool)
        mask[searched.offsets[documents] + (keys & 0xFFFFFFFF)] = True
        return mask

    def _landmarks(
        self, connection: Connection, parameters: Parameters, postings: _Postings, positions: bm25.Ints
    ) -> list[types.Candidate]:
        where = {"numbers": postings.documents.numbers[positions].tolist(), "generation": postings.generation}
        query = self._queries["landmarks"].format(chunks=named_queries.chunk_table(postings.dimensions))
        rows = connection.execute(query, {**parameters, **where}, binary=True)
        return [_candidate(row, row["strength"]) for row in rows]

    def _find(self, connection: Connection, parameters: Parameters) -> _Postings | None:
        """Read the collections and postings to search; None if nothing is in scope."""
        rows = connection.execute(self._queries["collections"], parameters, binary=True).fetchall()
        if not rows:
            return None
        documents = {row["language"]: _collection(row) for row in rows}
        lists: dict[str, dict[int, list[bm25.PostingList]]] = {language: {} for language in documents}
        word_counts = dict.fromkeys(documents, 0.0)
        spoken = {
            "languages": [*documents],
            "question_languages": [*{*documents, types.ENGLISH}],
        }  # English is asked of all
        numbers = np.concatenate([collection.numbers for collection in documents.values()])
        few = {"numbers": numbers.tolist() if len(numbers) <= self._looked_up else None}
        for row in connection.execute(self._queries["postings"], {**parameters, **spoken, **few}, binary=True):
            language = row["language"]
            for field, term in _posting_list(row, row["weight"]).by_field(documents[language]).items():
                lists[language].setdefault(field, []).append(term)
            word_counts[language] = row["asked"]
        languages = {name: _Language(documents[name], lists[name], word_counts[name]) for name in documents}
        return _Postings(rows[0]["dimensions"], rows[0]["generation"], languages)


def _candidate(row: Mapping[str, Any], score: float) -> types.Candidate:
    return types.Candidate(row["chunk_id"], row["document_id"], row["page_number"], score, row["has_vector"])


def _posting_list(row: Mapping[str, Any], weight: float = 1.0) -> bm25.PostingList:
    return bm25.PostingList(_integers(row["blocks"], ">i8"), _integers(row["postings"], ">i4"), weight)


def _relative(scores: bm25.Floats) -> bm25.Floats:
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _positive(ids: Sequence[uuid.UUID], scores: bm25.Floats) -> dict[uuid.UUID, float]:
    return {document_id: score for document_id, score in zip(ids, scores.tolist(), strict=True) if score > 0}


def _collection(row: Mapping[str, Any]) -> bm25.Collection:
    numbers = _integers(row["numbers"], ">i4")
    order = np.argsort(numbers)  # takes a tenth of the time that the database would need
    return bm25.Collection(
        numbers=numbers[order],
        chunk_counts=_integers(row["chunk_counts"], ">i4")[order],
        lexeme_counts=_integers(row["lexeme_counts"], ">i8")[order],
    )


def _integers(data: bytes | None, dtype: str) -> Any:
    stored = np.dtype(dtype)
    return np.frombuffer(data or b"", dtype=stored).astype(stored.newbyteorder("="))
