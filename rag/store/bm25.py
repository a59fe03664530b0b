"""BM25 over packed postings. Pure functions on arrays.

Source of the formula: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the
inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

K1 = 1.2
B = 0.75

BLOCK_CHUNKS = 128
"""Chunks of a document in one row of postings; the same number stands in the SQL as a shift by 7."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Collection:
    """The documents that are searched, in the order of their `numbers`: how many chunks and lexemes each has."""

    numbers: Ints
    chunk_counts: Ints
    lexeme_counts: Ints

    @property
    def offsets(self) -> Ints:
        """The position of each document's first chunk among all chunks, and at the end the number of chunks."""
        return np.concatenate(([0], np.cumsum(self.chunk_counts)))


@dataclass(frozen=True)
class PostingList:
    """A term's postings: `counts[i]` of them are in block `blocks[i]` of the document with number `documents[i]`.

    A posting is ordinal in the block << 24 | term count << 16 | length of the chunk in lexemes.
    """

    documents: Ints
    blocks: Ints
    counts: Ints
    postings: Ints

    @property
    def term_counts(self) -> Ints:
        """How often the term stands in each chunk."""
        return (self.postings >> 16) & 0xFF

    @property
    def lengths(self) -> Ints:
        """The length of each chunk, in lexemes."""
        return self.postings & 0xFFFF

    def chunks(self, collection: Collection, offsets: Ints) -> Ints:
        """The position of each posting's chunk among all chunks."""
        starts = offsets[self.rows(collection)] + self.blocks * BLOCK_CHUNKS
        firsts: Ints = np.repeat(starts, self.counts)
        return firsts + (self.postings >> 24)

    def rows(self, collection: Collection) -> Ints:
        """The position of each block's document among all documents."""
        return np.asarray(np.searchsorted(collection.numbers, self.documents), dtype=np.int64)


def chunk_scores(collection: Collection, lists: Sequence[PostingList]) -> Floats:
    """The BM25 of every chunk, in the documents' order."""
    offsets = collection.offsets
    scores = np.zeros(offsets[-1])
    mean_length = collection.lexeme_counts.sum() / max(len(scores), 1)
    for found in lists:
        weight = _inverse_document_frequency(len(scores), len(found.postings))
        relative_length = found.lengths / max(mean_length, 1.0)
        # A term has one posting per chunk, so no position occurs twice and nothing is lost.
        scores[found.chunks(collection, offsets)] += weight * _saturation(found.term_counts, relative_length)
    return scores


def document_scores(collection: Collection, lists: Sequence[PostingList]) -> Floats:
    """The BM25 of every document, each taken as the bag of its chunks, overlaps included."""
    number_of_documents = len(collection.numbers)
    scores = np.zeros(number_of_documents)
    mean_length = collection.lexeme_counts.sum() / max(number_of_documents, 1)
    relative_lengths = collection.lexeme_counts / max(mean_length, 1.0)
    for found in lists:
        rows = np.repeat(found.rows(collection), found.counts)
        term_counts = np.bincount(rows, weights=found.term_counts, minlength=number_of_documents)
        weight = _inverse_document_frequency(number_of_documents, int(np.count_nonzero(term_counts)))
        scores += weight * _saturation(term_counts, relative_lengths)
    return scores


def best(scores: Floats, limit: int) -> Ints:
    """Positions of the highest scores above 0, best first, equal ones in their order."""
    limit = min(limit, int(np.count_nonzero(scores)))
    if limit <= 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, -limit)[-limit]
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:limit]


def _inverse_document_frequency(size: int, frequency: int) -> float:
    return float(np.log1p((size - frequency + 0.5) / (frequency + 0.5)))


def _saturation(term_counts: Ints | Floats, relative_lengths: Floats) -> Floats:
    return term_counts * (K1 + 1) / (term_counts + K1 * (1 - B + B * relative_lengths))
