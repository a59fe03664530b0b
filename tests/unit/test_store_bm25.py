"""BM25 on packed postings, against the formula written out."""

import math
import random

import numpy as np
import pytest

from rag.store import bm25

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


def plain_bm25(texts: list[list[str]], query: list[str]) -> list[float]:
    """The formula, text by text."""
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for term in query:
            frequency = sum(term in other for other in texts)
            idf = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
            count = text.count(term)
            score += idf * count * 2.2 / (count + 1.2 * (0.6 + 0.4 * len(text) / mean))
        scores.append(score)
    return scores


@pytest.fixture
def documents() -> list[Document]:
    source = random.Random(1)
    words = [f"w{number}" for number in range(30)]
    return [
        [source.choices(words, k=source.randint(1, 40)) for _ in range(chunks)] for chunks in (1, 5, 300, 2, 128, 129)
    ]


QUERY = ["w1", "w2", "w3", "w29", "absent"]


def test_chunk_scores(documents: list[Document]) -> None:
    scores = bm25.chunk_scores(collect(documents), [pack(documents, term) for term in QUERY])
    assert scores.tolist() == pytest.approx(plain_bm25([chunk for chunks in documents for chunk in chunks], QUERY))


def test_document_scores(documents: list[Document]) -> None:
    scores = bm25.document_scores(collect(documents), [pack(documents, term) for term in QUERY])
    whole = [[term for chunk in chunks for term in chunk] for chunks in documents]
    assert scores.tolist() == pytest.approx(plain_bm25(whole, QUERY))


def test_nothing_to_search() -> None:
    assert bm25.chunk_scores(collect([]), []).tolist() == []
    assert bm25.document_scores(collect([]), []).tolist() == []


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
def test_best(scores: list[float], limit: int, expected: list[int]) -> None:
    assert bm25.best(np.array(scores), limit).tolist() == expected
