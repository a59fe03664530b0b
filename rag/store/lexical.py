"""Lexical search: BM25, exact in the asked scope.

The database finds the postings of the question's terms inside the scope and hands them over as bytes; the scores are
computed on them as arrays, which is several times faster than row by row in SQL.

The documents of each language are a collection of their own: the question has other terms in each, by its stems and
stop words, and a word that is common in few German documents would look rare among many English ones.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from rag.store import bm25, queries, scopes, terms
from rag.store.database import Connection, UserDatabase
from rag.types import ENGLISH, Candidate, Scope

Parameters = Mapping[str, object]


ADDED_WEIGHT = 0.4
"""What a word counts that means the same as one of the question's (1.0). Flat from 0.3 to 0.5."""
DOCUMENTS = 100
"""Documents that are told of, the best, and whose landmarks are looked for."""
PAGES = 100
"""Pages that are told of."""
TITLE_SHARE = 0.2
"""Of a page's score, what its title counts beside its whole text; more than 0.3 is worse."""


class Field(IntEnum):
    """What a posting is of; the same numbers stand in the SQL."""

    CHUNK = 0
    PAGE = 1
    TITLE = 2
    FRONT = 3
    PAGE_BEGINS = 4


class LexicalMatches(NamedTuple):
    """What matches a query by words, each with its share of what the query can reach (see `bm25`), best first.

    Shares are above 0, and above 1 only where a text has more than can be expected. Chunks; documents as a whole;
    documents by their fronts, that is their names, titles and first pages; the chunks of the pages whose whole text and
    title match best, in 0..1; and the chunks at the landmarks asked for, each with the landmark's strength in 0..1.
    `languages` are those of all documents in scope.
    """

    chunks: list[Candidate]
    documents: Mapping[uuid.UUID, float]
    fronts: Mapping[uuid.UUID, float]
    pages: list[Candidate]
    landmarks: list[Candidate]
    languages: frozenset[str] = frozenset()

    @classmethod
    def none(cls) -> "LexicalMatches":
        """Nothing matches."""
        return cls([], {}, {}, [], [])


class _Language(NamedTuple):
    """The documents of a language, where the question's terms are in them, by field, and how many its own words are."""

    documents: bm25.Collection
    lists: dict[int, list[bm25.PostingList]]
    asked: float


class _Found(NamedTuple):
    """The index's vector size and active generation, and what there is in each language."""

    dimensions: int
    generation: int
    languages: dict[str, _Language]

    @property
    def documents(self) -> bm25.Collection:
        """All of them, one language after the other."""
        parts = [(part.numbers, part.chunk_counts, part.lexeme_counts) for part, *_ in self.languages.values()]
        return bm25.Collection(*map(np.concatenate, zip(*parts, strict=True)))

    def of_each(
        self,
        function: Callable[[bm25.Collection, list[bm25.PostingList], float], bm25.Floats],
        field: Field,
        *,
        added: bool = False,
    ) -> bm25.Floats:
        """What `function` makes of a field in each language by its own statistics, in the order of `documents`.

        Of the question's own words, unless the `added` ones count, too: what means the same tells where in a page the
        answer is, but which document and page are meant, only the question says.
        """
        least = 0.0 if added else 1.0
        return np.concatenate(
            [
                function(documents, [found for found in lists.get(field, ()) if found.weight >= least], asked)
                for documents, lists, asked in self.languages.values()
            ]
        )

    @property
    def page_scores(self) -> bm25.Floats:
        """For every chunk how its page matches by whole text and title alike, in 0..1; 0 if not among the best."""
        text, title = (np.minimum(self.of_each(bm25.chunk_scores, field), 1.0) for field in (Field.PAGE, Field.TITLE))
        scores = (1 - TITLE_SHARE) * text + TITLE_SHARE * title
        best = bm25.best(scores, PAGES)
        kept = np.zeros_like(scores)
        kept[best] = scores[best]
        return kept[self._first_of_page]

    @property
    def _first_of_page(self) -> bm25.Ints:
        """For every chunk the position of the first of its page, in the order of `documents`."""
        parts, before = [], 0
        for documents, lists, _ in self.languages.values():
            first = bm25.first_of_page(documents, lists.get(Field.PAGE_BEGINS, []))
            parts.append(first + before)
            before += len(first)
        return np.concatenate(parts)


class LexicalSearch:
    """The tables `postings` and `landmarks`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = queries.load("lexical")

    def search(
        self, scope: Scope, query: str, limit: int, added: Sequence[str] = (), landmarks: Sequence[str] = ()
    ) -> LexicalMatches:
        """See `Chunks.lexical`."""
        parameters = self._database.bind(
            {
                **scopes.parameters(scope),
                "query": terms.normalize(query),
                "added": terms.normalize(". ".join(added)),
                "added_weight": ADDED_WEIGHT,
                "landmarks": [*landmarks],
            }
        )
        return self._database.read(lambda connection: self._search(connection, parameters, limit), in_snapshot=True)

    def _search(self, connection: Connection, parameters: Parameters, limit: int) -> LexicalMatches:
        found = self._find(connection, parameters)
        if found is None:
            return LexicalMatches.none()
        whole = found.of_each(bm25.document_scores, Field.CHUNK)
        fronts = found.of_each(bm25.front_scores, Field.FRONT)
        best = bm25.best(_relative(whole) + _relative(fronts), DOCUMENTS)
        if not len(best):  # nothing says which documents are meant
            best = np.arange(min(len(whole), DOCUMENTS))
        ids = self._document_ids(connection, parameters, found, best)
        wanted = self._containing(connection, parameters, found)
        chunks = found.of_each(bm25.chunk_scores, Field.CHUNK, added=True) * wanted
        pages = found.page_scores * wanted
        return LexicalMatches(
            chunks=self._candidates(connection, parameters, found, chunks, bm25.best(chunks, limit)),
            documents=_positive(ids, whole[best]),
            fronts=_positive(ids, fronts[best]),
            pages=self._candidates(connection, parameters, found, pages, np.flatnonzero(pages)),
            landmarks=self._landmarks(connection, parameters, found, best) if parameters["landmarks"] else [],
            languages=frozenset(found.languages),
        )

    def _candidates(
        self, connection: Connection, parameters: Parameters, found: _Found, scores: bm25.Floats, positions: bm25.Ints
    ) -> list[Candidate]:
        """The chunks at `positions` with their scores."""
        searched = found.documents
        documents = np.searchsorted(searched.offsets, positions, side="right") - 1
        places = {
            "numbers": searched.numbers[documents].tolist(),
            "ordinals": (positions - searched.offsets[documents]).tolist(),
            "generation": found.generation,
        }
        query = self._queries["chunks"].format(chunks=queries.chunk_table(found.dimensions))
        best = scores[positions].tolist()
        return [
            Candidate(
                row["chunk_id"], row["document_id"], row["page_number"], best[row["place"] - 1], row["has_vector"]
            )
            for row in connection.execute(query, {**parameters, **places}, binary=True)
        ]

    def _containing(self, connection: Connection, parameters: Parameters, found: _Found) -> Any:
        """Of every chunk in scope, whether it has the required words; just true if none are required."""
        if not (parameters["must_all"] or parameters["must_any"]):
            return True
        query = self._queries["containing"].format(chunks=queries.chunk_table(found.dimensions))
        row = connection.execute(query, {**parameters, "generation": found.generation}, binary=True).fetchone() or {}
        keys = _integers(row["chunks"], ">i8")
        searched = found.documents
        by_number = np.argsort(searched.numbers)
        documents = by_number[np.searchsorted(searched.numbers, (keys >> 32).astype(np.int32), sorter=by_number)]
        mask = np.zeros(searched.offsets[-1], dtype=bool)
        mask[searched.offsets[documents] + (keys & 0xFFFFFFFF)] = True
        return mask

    def _document_ids(
        self, connection: Connection, parameters: Parameters, found: _Found, positions: bm25.Ints
    ) -> list[uuid.UUID]:
        numbers = {"numbers": found.documents.numbers[positions].tolist()}
        rows = connection.execute(self._queries["documents"], {**parameters, **numbers}, binary=True)
        return [row["document_id"] for row in rows]

    def _landmarks(
        self, connection: Connection, parameters: Parameters, found: _Found, positions: bm25.Ints
    ) -> list[Candidate]:
        where = {"numbers": found.documents.numbers[positions].tolist(), "generation": found.generation}
        query = self._queries["landmarks"].format(chunks=queries.chunk_table(found.dimensions))
        return [
            Candidate(row["chunk_id"], row["document_id"], row["page_number"], row["strength"], row["has_vector"])
            for row in connection.execute(query, {**parameters, **where}, binary=True)
        ]

    def _find(self, connection: Connection, parameters: Parameters) -> _Found | None:
        """What is searched; None if there is nothing in scope."""
        rows = connection.execute(self._queries["collections"], parameters, binary=True).fetchall()
        lists: dict[str, dict[int, list[bm25.PostingList]]] = {row["language"]: {} for row in rows}
        asked = dict.fromkeys(lists, 0.0)
        spoken = {"languages": [*lists], "question_languages": [*{*lists, ENGLISH}]}  # English is asked of all
        for row in connection.execute(self._queries["postings"], {**parameters, **spoken}, binary=True):
            blocks, postings = _integers(row["blocks"], ">i8"), _integers(row["postings"], ">i4")
            found = lists[row["language"]].setdefault(row["field"], [])
            found.append(bm25.PostingList(blocks, postings, row["weight"]))
            asked[row["language"]] = row["asked"]
        if not rows:
            return None
        languages = {
            name: _Language(_collection(row), lists[name], asked[name]) for row in rows for name in [row["language"]]
        }
        return _Found(rows[0]["dimensions"], rows[0]["generation"], languages)


def _relative(scores: bm25.Floats) -> bm25.Floats:
    """As shares of the best."""
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
    """Big endian bytes as numbers of this machine."""
    stored = np.dtype(dtype)
    return np.frombuffer(data or b"", dtype=stored).astype(stored.newbyteorder("="))
