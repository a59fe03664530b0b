"""BM25 on packed postings, against the formula written out."""

import dataclasses
import math
import random

import numpy as np
import pytest

from rag.store.search import bm25

Document = list[list[str]]
"""Chunks of terms."""


def pack(documents: list[Document], term: str) -> bm25.PostingList:
    """The postings of `term` as the database hands them over."""
    rows: list[int] = []
    postings: list[int] = []
    for number, chunks in enumerate(documents):
        for block in range(0, len(chunks), bm25.BLOCK_CHUNKS):
            found = [
                (ordinal << 24) | (chunk.count(term) << 16) | len(chunk)
                for ordinal, chunk in enumerate(chunks[block : block + bm25.BLOCK_CHUNKS])
                if term in chunk
            ]
            if found:
                rows.append((number * 10 << 32) | (block // bm25.BLOCK_CHUNKS << 8) | len(found))
                postings.extend(found)
    return bm25.PostingList(np.array(rows, dtype=np.int64), np.array(postings, dtype=np.int32))


def collect(documents: list[Document]) -> bm25.Collection:
    return bm25.Collection(
        numbers=np.arange(len(documents), dtype=np.int32) * 10,
        chunk_counts=np.array([len(chunks) for chunks in documents], dtype=np.int32),
        lexeme_counts=np.array([sum(map(len, chunks)) for chunks in documents], dtype=np.int64),
    )


def plain_shares(texts: list[list[str]], query: list[str], least: int) -> list[float]:
    """The formula, text by text, divided by what a text of mean length with each word twice reaches."""
    mean = sum(map(len, texts)) / len(texts)
    size = max(len(texts), least)

    def idf(term: str) -> float:
        frequency = sum(term in other for other in texts)
        return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))

    reachable = sum(idf(term) * 2 * 2.2 / (2 + 1.2) for term in query)

    def score(term: str, text: list[str]) -> float:
        count = text.count(term)
        return idf(term) * count * 2.2 / (count + 1.2 * (0.6 + 0.4 * len(text) / mean))

    return [sum(score(term, text) for term in query) / reachable for text in texts]


@pytest.fixture
def documents() -> list[Document]:
    source = random.Random(1)
    words = [f"w{number}" for number in range(30)]
    return [
        [source.choices(words, k=source.randint(1, 40)) for _ in range(chunks)] for chunks in (1, 5, 300, 2, 128, 129)
    ]


QUERY = ["w1", "w2", "w3", "w29", "absent"]


def test_chunk_scores(documents: list[Document]) -> None:
    scores = bm25.chunk_scores(collect(documents), [pack(documents, term) for term in QUERY], len(QUERY))
    chunks = [chunk for chunks in documents for chunk in chunks]
    assert scores.tolist() == pytest.approx(plain_shares(chunks, QUERY, bm25.MIN_CHUNKS))


def test_document_scores(documents: list[Document]) -> None:
    scores = bm25.document_scores(collect(documents), [pack(documents, term) for term in QUERY], len(QUERY))
    whole = [[term for chunk in chunks for term in chunk] for chunks in documents]
    assert scores.tolist() == pytest.approx(plain_shares(whole, QUERY, bm25.MIN_DOCUMENTS))


def shares_of(documents: list[Document], query: list[str], asked: int | None = None) -> list[float]:
    lists = [pack(documents, term) for term in query]
    return [*bm25.chunk_scores(collect(documents), lists, len(query) if asked is None else asked)]


def test_each_word_twice_reaches_one() -> None:
    assert shares_of([[["ship", "ship", "port", "port"]], [["pear", "tree", "tree", "pear"]]], ["ship", "port"]) == [
        pytest.approx(1.0),
        0.0,
    ]


def test_words_that_no_text_has_are_missed() -> None:
    """Also where the database has nothing to hand over for them."""
    documents = [[["ship", "ship"]], [["pear", "tree"]]]
    whole, half = shares_of(documents, ["ship"])[0], shares_of(documents, ["ship"], asked=2)[0]
    assert half < 0.55 * whole
    assert shares_of(documents, ["ship", "absent"])[0] == pytest.approx(half)


def test_added_words_count_but_are_not_expected() -> None:
    documents = [[["ship", "vessel"]], [["ship", "tree"]]]
    added = dataclasses.replace(pack(documents, "vessel"), weight=0.4)
    scores = bm25.chunk_scores(collect(documents), [pack(documents, "ship"), added], 1)
    alone = bm25.chunk_scores(collect(documents), [pack(documents, "ship")], 1)
    assert scores[0] > alone[0]
    assert scores[1] == alone[1]


def test_a_share_hardly_moves_when_the_library_grows() -> None:
    """A raw BM25 doubles from two texts to two hundred."""
    right = ["harbour", "ships", "handled", "crane"]
    others = [[["orchard", "pears", f"w{number}", "ships" if number % 20 == 0 else "trees"]] for number in range(200)]
    query = ["harbour", "ships", "handled", "year"]
    small, large = (shares_of([[right], *others[:count]], query)[0] for count in (1, 200))
    assert small == pytest.approx(large, abs=0.03)


def test_nothing_to_search() -> None:
    assert bm25.chunk_scores(collect([]), [], 0.0).tolist() == []
    assert bm25.document_scores(collect([]), [], 0.0).tolist() == []


@pytest.mark.parametrize(
    ("scores", "limit", "expected"),
    [
        ([0.0, 3.0, 1.0, 2.0], 2, [1, 3]),
        ([0.0, 3.0, 1.0, 2.0], 10, [1, 3, 2]),
        ([1.0, 1.0, 1.0], 2, [0, 1]),
        ([0.0, 0.0], 2, []),
        ([], 2, []),
        ([1.0], 0, []),
    ],
)
def test_the_best_chunks_come_first(scores: list[float], limit: int, expected: list[int]) -> None:
    assert bm25.best(np.array(scores), limit).tolist() == expected


def test_postings_of_other_documents_are_left_out_field_by_field() -> None:
    documents: list[Document] = [[["a"], ["a"]], [["a"]], [["b"], ["a"]]]
    chunks = pack(documents, "a")
    titles = bm25.PostingList(chunks.blocks | (2 << 28), chunks.postings)
    both = bm25.PostingList(
        np.concatenate((chunks.blocks, titles.blocks)), np.concatenate((chunks.postings, titles.postings)), 0.4
    )
    collection = collect(documents)
    without_second = bm25.Collection(collection.numbers[[0, 2]], collection.chunk_counts[[0, 2]], np.zeros(2, np.int64))

    found = both.by_field(without_second)

    assert sorted(found) == [0, 2]
    for postings in found.values():
        assert postings.weight == 0.4
        assert postings.chunks(without_second, without_second.offsets).tolist() == [0, 1, 3]
    assert chunks.by_field(collect([])) == {}


def test_pages_end_where_the_next_one_or_the_document_does() -> None:
    documents: list[Document] = [[["x"]] * 5, [["x"]] * 200]
    begins: list[Document] = [
        [[], [], ["page"], [], []],
        [["page"] if place in (130, 140) else [] for place in range(200)],
    ]
    collection = collect(documents)
    turned = bm25.Collection(collection.numbers[::-1], collection.chunk_counts[::-1], collection.lexeme_counts[::-1])

    positions, places = bm25.pages(collection, np.array([2, 135, 0]), pack(begins, "page"))
    assert positions.tolist() == [2, 3, 4, *range(135, 145), 0, 1]
    assert places.tolist() == [0] * 3 + [1] * 10 + [2] * 2

    positions, _ = bm25.pages(turned, np.array([202]), pack(begins, "page"))
    assert positions.tolist() == [202, 203, 204], "documents in another order than their numbers'"
