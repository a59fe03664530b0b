"""Rank candidates by scores fused from both searches and all query variants.

Scores are comparable across questions and libraries, so none is normalized by the other candidates: cosines are scaled
per embedding space (`similarity`), and BM25 of chunks, pages and documents is divided by the maximum for the question
(`rag.store.search.bm25`).
"""

import math
import uuid
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rag import types
from rag.retrieval.search_defaults import ConfiguredOptions
from rag.retrieval.similarity import COSINES, Similarity
from rag.store.search.lexical import LexicalMatches


class Reranker(Protocol):
    """A reranker: scores texts against a query."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text, in 0..1."""
        ...


class ScoreWeights(NamedTuple):
    """Weights of the parts of a score, relative to the chunk's own score (1.0); tuned by `python -m benchmarks.scores`.

    `page`: the whole page and its title. `document`: the whole document. `front`: the document's name, title and first
    pages. `landmark`: how far a chunk at a requested landmark is lifted towards 1.
    """

    page: float = 0.25
    document: float = 0.3
    front: float = 0.3
    landmark: float = 0.5


WEIGHTS = ScoreWeights()
WHOLE_FRONT = 0.36
"""The score from which a document's front counts as a full match, since it only has to identify the document."""
SURE = 0.9
"""Minimum strength of a certain landmark, such as a page by its number or a captioned table: chunks there are lifted
fully, and the scores of all other chunks are multiplied by this value."""

FOREIGN_WEIGHT = 0.1
"""Factor of the vector weight for documents in languages that the embedding model does not support. Measured in four
languages between 0 and 1; flat from 0.05 to 0.2."""

Scores = dict[uuid.UUID, float]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Ranking:
    """Scores by chunk: cosine similarity, normalized BM25, landmark strength, and all fused.

    `places` maps every candidate to its document and page, `documents` are the document scores, in 0..1.
    """

    vector: Scores = field(default_factory=dict)
    lexical: Scores = field(default_factory=dict)
    landmark: Scores = field(default_factory=dict)
    fused: Scores = field(default_factory=dict)
    places: Mapping[uuid.UUID, tuple[uuid.UUID, int]] = field(default_factory=dict)
    documents: Scores = field(default_factory=dict)


def rank(
    near: Sequence[types.Candidate],
    matches: LexicalMatches,
    options: ConfiguredOptions,
    similarity: Similarity = COSINES,
    *,
    foreign: Collection[uuid.UUID] = (),
    weights: ScoreWeights = WEIGHTS,
) -> Ranking:
    """Rank the candidates of both searches for one text, and in hybrid search those at the requested landmarks.

    The fused score is the square root of the weighted mean of the parts, so that a right page seldom scores below the
    default `min_score` of 0.2. `similarity` is the scale of the vectors; `foreign` are the documents in languages that
    the embedding model does not support. A single mode keeps its own scores; rank fusion uses the two lists alone.
    """
    vector = {candidate.chunk_id: candidate.score for candidate in near}
    lexical = {candidate.chunk_id: min(candidate.score, 1.0) for candidate in matches.chunks}
    if options.mode != "hybrid":
        fused = vector if options.mode == "vector" else lexical
        return Ranking(vector, lexical, fused=fused, places=_places(near, matches.chunks))
    if options.by_ranks:
        fused = reciprocal_rank_fusion([vector, lexical], options.rrf_k)
        return Ranking(vector, lexical, fused=fused, places=_places(near, matches.chunks))
    places = _places(near, matches.chunks, matches.pages, matches.landmarks)
    documents = document_fit(matches, options, weights)
    meaning = {key: similarity.share(cosine) for key, cosine in vector.items()}
    farthest = min(meaning.values(), default=0.0)  # what is not among the nearest is no nearer
    page = {candidate.chunk_id: candidate.score for candidate in matches.pages}
    beside = weights if options.by_words else ScoreWeights(0.0, 0.0, 0.0, 0.0)
    of_document = beside.document + (beside.front if options.routing else 0.0)
    total = 1.0 + beside.page + of_document
    lexical_candidates = (*matches.chunks, *matches.pages, *matches.landmarks)
    without_vector = {found.chunk_id for found in lexical_candidates if not found.has_vector} - meaning.keys()
    fused = {}
    for key, (document, _) in places.items():
        weight = 0.0 if key in without_vector else options.vector_weight
        weight *= FOREIGN_WEIGHT if document in foreign else 1.0
        vectors = weight / (weight + options.lexical_weight) if weight else 0.0
        own = vectors * meaning.get(key, farthest) + (1 - vectors) * lexical.get(key, 0.0)
        besides = beside.page * page.get(key, 0.0) + of_document * documents.get(document, 0.0)
        fused[key] = (own + besides) / total
    landmark = {candidate.chunk_id: candidate.score for candidate in matches.landmarks}
    several = len({document for document, _ in places.values()}) > 1
    fits = {key: documents.get(places[key][0], 0.0) if several else 1.0 for key in landmark}
    fused = {key: math.sqrt(score) for key, score in _lift_landmarks(fused, landmark, fits, weights.landmark).items()}
    return Ranking(vector, lexical, landmark, fused, places, documents)


def _places(*lists: Sequence[types.Candidate]) -> dict[uuid.UUID, tuple[uuid.UUID, int]]:
    return {
        candidate.chunk_id: (candidate.document_id, candidate.page_number) for found in lists for candidate in found
    }


def document_fit(matches: LexicalMatches, options: ConfiguredOptions, weights: ScoreWeights = WEIGHTS) -> Scores:
    """Return the score of each document, in 0..1: the weighted mean of its whole text and its front."""
    front_weight = weights.front if options.routing else 0.0
    fronts = {key: min(score / WHOLE_FRONT, 1.0) for key, score in matches.fronts.items()} if front_weight else {}
    total = weights.document + front_weight or 1.0
    return {
        key: (min(matches.documents.get(key, 0.0), 1.0) * weights.document + fronts.get(key, 0.0) * front_weight)
        / total
        for key in {**matches.documents, **fronts}
    }


def _lift_landmarks(fused: Scores, landmark: Scores, fits: Scores, weight: float) -> Scores:
    """Lift the scores of chunks at landmarks by the landmark's strength and the document's score."""
    sure = {key for key, strength in landmark.items() if strength >= SURE}
    lifted = {key: score if key in sure or not sure else SURE * score for key, score in fused.items()}
    for key, strength in landmark.items():
        lifted[key] += (1 - lifted[key]) * (1.0 if key in sure else weight) * strength * fits[key]
    return lifted


def merge(rankings: Sequence[Ranking]) -> Ranking:
    """Merge the rankings of all query variants by the mean of their fused scores.

    Other scores are those of the first variant, the question itself, where it has them.
    """
    first, *others = rankings
    if not others:
        return first
    fused = Scores()
    for ranking in reversed(rankings):
        for key, score in ranking.fused.items():
            fused[key] = fused.get(key, 0.0) + score / len(rankings)
    vector, lexical, landmark, documents = Scores(), Scores(), Scores(), Scores()
    places: dict[uuid.UUID, tuple[uuid.UUID, int]] = {}
    for ranking in reversed(rankings):
        vector.update(ranking.vector)
        lexical.update(ranking.lexical)
        landmark.update(ranking.landmark)
        documents.update(ranking.documents)
        places.update(ranking.places)
    return Ranking(vector, lexical, landmark, fused, places, documents)


def best_first(scores: Scores) -> list[uuid.UUID]:
    """Return the keys, highest score first."""
    return sorted(scores, key=lambda key: -scores[key])


def reciprocal_rank_fusion(lists: Iterable[Mapping[Key, float]], k: int) -> dict[Key, float]:
    """Fuse lists by reciprocal ranks: the sum of 1 / (k + rank), ranks from 1.

    Source: Cormack, Clarke, Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009.
    """
    fused: dict[Key, float] = {}
    for scores in lists:
        for key, rank in ranks(scores).items():
            fused[key] = fused.get(key, 0.0) + 1 / (k + rank)
    return fused


def ranks(scores: Mapping[Key, float]) -> dict[Key, int]:
    """Return ranks from 1, best score first; equal scores keep their order."""
    order = sorted(scores, key=lambda key: -scores[key])
    return {key: place for place, key in enumerate(order, start=1)}


def maximal_marginal_relevance(
    scores: npt.NDArray[Any], vectors: npt.NDArray[Any], *, diversity: float, limit: int
) -> list[int]:
    """Return the positions of up to `limit` candidates in the order of selection.

    Each next one maximizes (1 - diversity) * score - diversity * (maximum similarity to those selected before).
    `scores` (n) are in 0..1, `vectors` (n, dimensions) of length 1.

    Source: Carbonell, Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
    Summaries", SIGIR 1998, with lambda = 1 - diversity.
    """
    taken: list[int] = []
    left = np.ones(len(scores), dtype=bool)
    nearest = np.zeros(len(scores))
    while len(taken) < min(limit, len(scores)):
        worth = np.where(left, (1 - diversity) * scores - diversity * nearest, -np.inf)
        chosen = int(np.argmax(worth))
        taken.append(chosen)
        left[chosen] = False
        nearest = np.maximum(nearest, vectors @ vectors[chosen])
    return taken
