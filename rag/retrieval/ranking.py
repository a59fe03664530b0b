"""Candidates by their scores: fused from both searches and all variants of the question."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rag.retrieval.configured import ConfiguredOptions
from rag.retrieval.fusion import min_max, reciprocal_rank_fusion, weighted_fusion
from rag.store import LexicalMatches
from rag.types import Candidate

DOCUMENT_WEIGHT = 0.3
"""What the whole document's fit counts beside the chunk's own (1.0): of two equal chunks, the one whose document
also speaks of the rest of the question is the better. Measured between 0.1 and 0.8; flat from 0.3 on."""

FOREIGN_WEIGHT = 0.1
"""What is left of the weight of vectors for documents in languages that the embedding model does not speak: names and
shared words are all that it sees in them. Measured in four languages between 0 and 1; flat from 0.05 to 0.2."""

Scores = dict[uuid.UUID, float]


@dataclass(frozen=True)
class Ranking:
    """Scores by chunk: cosine similarity, BM25 as a share of the best, and both fused.

    `places` are document and page of every candidate.
    """

    vector: Scores = field(default_factory=dict)
    lexical: Scores = field(default_factory=dict)
    fused: Scores = field(default_factory=dict)
    places: Mapping[uuid.UUID, tuple[uuid.UUID, int]] = field(default_factory=dict)


def rank(
    near: Sequence[Candidate],
    matches: LexicalMatches,
    options: ConfiguredOptions,
    foreign: Collection[uuid.UUID] = (),
) -> Ranking:
    """The candidates of both searches for one text.

    `foreign` are the documents in languages that the embedding model does not speak.
    """
    candidates = (*near, *matches.chunks)
    places = {candidate.chunk_id: (candidate.document_id, candidate.page_number) for candidate in candidates}
    vector = {candidate.chunk_id: candidate.score for candidate in near}
    top = max((candidate.score for candidate in matches.chunks), default=1.0)
    lexical = {candidate.chunk_id: candidate.score / top for candidate in matches.chunks}
    documents = {key: document_id for key, (document_id, _) in places.items()}
    fused = fuse(vector, lexical, options)
    if foreign:
        weight = options.vector_weight * FOREIGN_WEIGHT
        by_words = fuse(vector, lexical, options.model_copy(update={"vector_weight": weight}))
        fused = {key: (by_words if documents[key] in foreign else fused)[key] for key in fused}
    if options.mode == "hybrid" and len(set(documents.values())) > 1:
        fused = with_documents(fused, documents, matches.documents)
    return Ranking(vector, lexical, fused, places)


def merge(rankings: Sequence[Ranking]) -> Ranking:
    """The candidates of all variants of a question: the mean of their fused scores, so agreement counts.

    The similarities are those to the first variant, the question itself, and to the others only where it has none.
    """
    first, *others = rankings
    if not others:
        return first
    vector, lexical, fused = Scores(), Scores(), Scores()
    places: dict[uuid.UUID, tuple[uuid.UUID, int]] = {}
    for ranking in reversed(rankings):
        vector.update(ranking.vector)
        lexical.update(ranking.lexical)
        places.update(ranking.places)
        for key, score in ranking.fused.items():
            fused[key] = fused.get(key, 0.0) + score / len(rankings)
    return Ranking(vector, lexical, fused, places)


def best_first(scores: Scores) -> list[uuid.UUID]:
    """Keys, the highest score first."""
    return sorted(scores, key=lambda key: -scores[key])


def fuse(vector: Scores, lexical: Scores, options: ConfiguredOptions) -> Scores:
    """One score per chunk in 0..1. A search in one mode keeps that mode's own scores."""
    if options.mode == "vector":
        return vector
    if options.mode == "lexical":
        return lexical
    lists = [(vector, options.vector_weight), (lexical, options.lexical_weight)]
    if options.fusion == "rrf":
        return reciprocal_rank_fusion(lists, options.rrf_k)
    return weighted_fusion(lists)


def with_documents(fused: Scores, documents: Mapping[uuid.UUID, uuid.UUID], whole: Mapping[uuid.UUID, float]) -> Scores:
    """`fused` with the score of each chunk's whole document mixed in; still in 0..1."""
    fit = min_max({document: whole.get(document, 0.0) for document in set(documents.values())})
    return {
        key: (score + DOCUMENT_WEIGHT * fit[documents[key]]) / (1 + DOCUMENT_WEIGHT) for key, score in fused.items()
    }
