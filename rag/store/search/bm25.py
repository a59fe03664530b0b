"""BM25 over packed postings, relative to the score that a question can reach. Pure functions on arrays.

Raw BM25 scores cannot be compared between questions or libraries: they grow with the number of words and the size of
the library. So each score is divided by that of a text of mean length with every word of the question twice, including
words that no text has.

Source of the formula: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the
inverse document frequency ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative (as in Lucene).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

K1 = 1.2
B = 0.4
"""Below the usual 0.75: chunks have similar lengths, so a longer one has more content rather than more words."""

REFERENCE_TERM_COUNT = 2
"""How often the text that scores 1 has each word of the question: once may be chance. By `python -m benchmarks.scores`
once is worse; twice and the formula's limit are alike."""

MIN_CHUNKS = 1000
MIN_DOCUMENTS = 50
"""Lower limits of the collection size in the inverse document frequency: few texts say little about how rare a word is,
and adding some would change all scores. The order hardly changes between 300 and 3,000 chunks."""

BLOCK_CHUNKS = 128
"""Chunks of a document in one row of postings; the same number stands in the SQL as a shift by 7."""
FIELDS = 16
"""Upper limit: a field has four bits."""

Ints = npt.NDArray[np.int64]
ShortInts = npt.NDArray[np.int32]
"""For postings, by far the largest arrays: half the bytes, half the time."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Collection:
    """The searched documents in the order of their `numbers`, with the chunks and lexemes of each."""

    numbers: ShortInts
    chunk_counts: ShortInts
    lexeme_counts: Ints

    @property
    def offsets(self) -> Ints:
        """The position of each document's first chunk among all chunks, and finally the number of chunks."""
        return np.concatenate(([0], np.cumsum(self.chunk_counts, dtype=np.int64)))


@dataclass(frozen=True)
class PostingList:
    """A term's postings in blocks, and the term's weight in the question.

    A block is document number << 32 | field << 28 | number of the block in it << 8 | number of postings.
    A posting is ordinal in the block << 24 | term count << 16 | length of the chunk in lexemes.
    """

    blocks: Ints
    postings: ShortInts
    weight: float = 1.0

    @property
    def term_counts(self) -> ShortInts:
        """How often the term occurs in each chunk."""
        return (self.postings >> 16) & 0xFF

    @property
    def lengths(self) -> ShortInts:
        """The length of each chunk, in lexemes."""
        return self.postings & 0xFFFF

    def chunks(self, collection: Collection, offsets: Ints) -> Ints:
        """Return the position of each posting's chunk among all chunks."""
        return self.chunks_from(offsets[self._documents(collection)])

    def chunks_from(self, firsts: Ints) -> Ints:
        """Return the position of each posting's chunk if the document of each block starts at `firsts`."""
        numbers = (self.blocks >> 8) & 0xFFFFF
        starts: Ints = np.repeat(firsts + numbers * BLOCK_CHUNKS, self._counts)
        return starts + (self.postings >> 24)

    def documents(self, collection: Collection) -> Ints:
        """Return the position of each posting's document among all documents."""
        return np.repeat(self._documents(collection), self._counts)

    def _documents(self, collection: Collection) -> Ints:
        return np.asarray(np.searchsorted(collection.numbers, (self.blocks >> 32).astype(np.int32)), dtype=np.int64)

    @property
    def _counts(self) -> Ints:
        return self.blocks & 0xFF

    def by_field(self, collection: Collection) -> "dict[int, PostingList]":
        """Return the postings in the collection by field."""
        if not len(collection.numbers):
            return {}
        numbers = (self.blocks >> 32).astype(np.int32)
        nearest = np.minimum(self._documents(collection), len(collection.numbers) - 1)
        fields = np.where(collection.numbers[nearest] == numbers, (self.blocks >> 28) & 0xF, FIELDS).astype(np.uint8)
        present = np.flatnonzero(np.bincount(fields, minlength=FIELDS)[:FIELDS]).tolist()
        if len(present) == 1 and fields.max() < FIELDS:
            return {present[0]: self}
        of_postings = np.repeat(fields, self._counts)
        return {
            field: PostingList(self.blocks[fields == field], self.postings[of_postings == field], self.weight)
            for field in present
        }


def chunk_scores(collection: Collection, lists: Sequence[PostingList], word_count: float) -> Floats:
    """Return the score of every chunk in document order; `word_count` weighs the question's own words."""
    offsets = collection.offsets
    scores = np.zeros(offsets[-1])
    mean_length = collection.lexeme_counts.sum() / max(len(scores), 1)
    weights = _Weights(max(len(scores), MIN_CHUNKS), word_count)
    for term in lists:
        weight = weights.add(term, len(term.postings))
        # A term has one posting per chunk, so no position occurs twice and nothing is lost.
        scores[term.chunks(collection, offsets)] += weight * _saturation(term.term_counts, term.lengths, mean_length)
    scores /= weights.reachable
    return scores


def document_scores(collection: Collection, lists: Sequence[PostingList], word_count: float) -> Floats:
    """Return the score of every document as the bag of its chunks, overlaps included."""
    number_of_documents = len(collection.numbers)
    scores = np.zeros(number_of_documents)
    mean_length = collection.lexeme_counts.sum() / max(number_of_documents, 1)
    weights = _Weights(max(number_of_documents, MIN_DOCUMENTS), word_count)
    for term in lists:
        documents = term.documents(collection)
        counted = np.bincount(documents, weights=term.term_counts, minlength=number_of_documents)
        term_counts: Floats = np.asarray(counted, dtype=np.float64)
        weight = weights.add(term, int(np.count_nonzero(term_counts)))
        scores += weight * _saturation(term_counts, collection.lexeme_counts, mean_length)
    return scores / weights.reachable


def front_scores(collection: Collection, lists: Sequence[PostingList], word_count: float) -> Floats:
    """Return the score of every document's front. Fronts have similar lengths, so the length does not count."""
    scores = np.zeros(len(collection.numbers))
    weights = _Weights(max(len(scores), MIN_DOCUMENTS), word_count)
    for term in lists:
        weight = weights.add(term, len(term.postings))
        counts = term.term_counts
        scores[term.documents(collection)] += weight * (K1 + 1) * counts / (counts + K1)
    return scores / weights.reachable


class _Weights:
    """The weights of terms among `size` texts, and the score that a text can reach.

    Synonyms added to a question, with weights below 1, count but are not expected.
    """

    def __init__(self, size: int, word_count: float) -> None:
        self._size = size
        self._missing = word_count
        self._expected = 0.0

    def add(self, term: PostingList, frequency: int) -> float:
        """Return the weight of a term that occurs in `frequency` texts."""
        weight = term.weight * _inverse_document_frequency(self._size, frequency)
        if term.weight >= 1.0:
            self._expected += weight
            self._missing -= term.weight
        return weight

    @property
    def reachable(self) -> float:
        """The score of a text of mean length that has every word `REFERENCE_TERM_COUNT` times."""
        expected = self._expected + self._missing * _inverse_document_frequency(self._size, 0)
        return max(expected * (K1 + 1) * REFERENCE_TERM_COUNT / (REFERENCE_TERM_COUNT + K1), 1e-9)


def pages(collection: Collection, firsts: Ints, starts: PostingList) -> tuple[Ints, Ints]:
    """Return the positions of the chunks of pages that start at `firsts`, and for each the place of its page there.

    `starts` are the chunks where pages of these documents start, except for a document's first.
    """
    offsets = collection.offsets
    order = np.argsort(collection.numbers)  # they may be of several languages, one after the other
    documents = order[np.searchsorted(collection.numbers, (starts.blocks >> 32).astype(np.int32), sorter=order)]
    begins = np.unique(np.concatenate((offsets, starts.chunks_from(offsets[documents]))))
    ends = begins[np.searchsorted(begins, firsts, side="right")]
    sizes = ends - firsts
    places = np.repeat(np.arange(len(firsts)), sizes)
    within = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return firsts[places] + within, places


def best(scores: Floats, limit: int) -> Ints:
    """Return the positions of the highest scores above 0, best first, equal ones in order."""
    positive = np.flatnonzero(scores > 0)
    limit = min(limit, len(positive))
    if limit <= 0:
        return np.empty(0, dtype=np.int64)
    reached = scores[positive]
    threshold = np.partition(reached, -limit)[-limit]
    candidates: Ints = positive[reached >= threshold]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:limit]


def _inverse_document_frequency(size: int, frequency: int) -> float:
    return float(np.log1p((size - frequency + 0.5) / (frequency + 0.5)))


def _saturation(term_counts: ShortInts | Floats, lengths: ShortInts | Ints, mean_length: float) -> Floats:
    return (K1 + 1) * (term_counts / (term_counts + (K1 * (1 - B) + K1 * B / max(mean_length, 1.0) * lengths)))
