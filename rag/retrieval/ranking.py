"""Candidates by their scores: fused from both searches and all variants of the question.

A score must mean the same for every question and library. So nothing is measured against the other candidates: a
cosine is read on its space's own scale (`similarity`), BM25 is a share of what the question's words can reach
(`rag.store.search.bm25`), and what speaks for a chunk beside its own text, its page and its document, is such a
share, too.
"""

import math
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rag.retrieval.fusion import reciprocal_rank_fusion, weighted_mean
from rag.retrieval.search_defaults import ConfiguredOptions
from rag.retrieval.similarity import COSINES, Similarity
from rag.store import LexicalMatches
from rag.types import Candidate


class Weights(NamedTuple):
    """What the parts of a score count beside the chunk's own fit (1.0). Measured by `python -m benchmarks.scores`.

    `page`: the fit of the whole page and its title, since what a page is about may stand in another of its chunks.
    `document`: the whole document's fit; of two equal chunks, the one whose document also speaks of the rest of the
    question is the better. `front`: the fit of its name, title and first pages. `landmark`: how far a chunk at a
    landmark that is asked for is lifted towards 1.
    """

    page: float = 0.25
    document: float = 0.3
    front: float = 0.3
    landmark: float = 0.5


WEIGHTS = Weights()
WHOLE_FRONT = 0.36
"""The share of a question's words from which a document's front fits whole: it only has to say whose it is."""
SURE = 0.9
"""From this strength on a landmark is beyond doubt, such as a page by its number or a captioned table: a chunk there is
lifted all the way, and what stands elsewhere gets so much of its score only."""

FOREIGN_WEIGHT = 0.1
"""What is left of the weight of vectors for documents in languages that the embedding model does not speak: names and
shared words are all that it sees in them. Measured in four languages between 0 and 1; flat from 0.05 to 0.2."""

Scores = dict[uuid.UUID, float]


@dataclass(frozen=True)
class Ranking:
    """Scores by chunk: cosine similarity, the share of words, the strength of a landmark, and all fused.

    `places` are document and page of every candidate, `documents` how well each document fits, in 0..1.
    """

    vector: Scores = field(default_factory=dict)
    lexical: Scores = field(default_factory=dict)
    landmark: Scores = field(default_factory=dict)
    fused: Scores = field(default_factory=dict)
    places: Mapping[uuid.UUID, tuple[uuid.UUID, int]] = field(default_factory=dict)
    documents: Scores = field(default_factory=dict)


def rank(
    near: Sequence[Candidate],
    matches: LexicalMatches,
    options: ConfiguredOptions,
    similarity: Similarity = COSINES,
    *,
    foreign: Collection[uuid.UUID] = (),
    weights: Weights = WEIGHTS,
) -> Ranking:
    """The candidates of both searches for one text, and in a hybrid search those at the landmarks it asks for.

    The fused score is the root of the weighted mean of shares: no text fits a question in all of them, and so a right
    page seldom scores below the least score that is asked for, 0.2. `similarity` is the scale of the vectors; `foreign`
    are the documents in languages that the embedding model does not speak. A search in one mode keeps that mode's own
    scores, and one that is fused by ranks is fused of the two lists alone.
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
    beside = weights if options.by_words else Weights(0.0, 0.0, 0.0, 0.0)
    of_document = beside.document + (beside.front if options.routing else 0.0)
    total = 1.0 + beside.page + of_document
    usual, abroad = (_share_of_vectors(options, is_foreign=one) for one in (False, True))
    without = _without_vectors(matches) - meaning.keys()
    fused = {}
    for key, (document, _) in places.items():
        vectors = 0.0 if key in without else abroad if document in foreign else usual
        own = vectors * meaning.get(key, farthest) + (1 - vectors) * lexical.get(key, 0.0)
        besides = beside.page * page.get(key, 0.0) + of_document * documents.get(document, 0.0)
        fused[key] = (own + besides) / total
    landmark = {candidate.chunk_id: candidate.score for candidate in matches.landmarks}
    several = len({document for document, _ in places.values()}) > 1
    fits = {key: documents.get(places[key][0], 0.0) if several else 1.0 for key in landmark}
    fused = {key: math.sqrt(score) for key, score in _lifted(fused, landmark, fits, weights.landmark).items()}
    return Ranking(vector, lexical, landmark, fused, places, documents)


def _share_of_vectors(options: ConfiguredOptions, *, is_foreign: bool) -> float:
    """What the vectors count of a chunk's own fit, in 0..1; the words count the rest."""
    weight = options.vector_weight * (FOREIGN_WEIGHT if is_foreign else 1.0)
    return weight / (weight + options.lexical_weight)


def _without_vectors(matches: LexicalMatches) -> set[uuid.UUID]:
    """The chunks that have none yet."""
    found = (*matches.chunks, *matches.pages, *matches.landmarks)
    return {candidate.chunk_id for candidate in found if not candidate.has_vector}


def _places(*lists: Sequence[Candidate]) -> dict[uuid.UUID, tuple[uuid.UUID, int]]:
    return {
        candidate.chunk_id: (candidate.document_id, candidate.page_number) for found in lists for candidate in found
    }


def document_fit(matches: LexicalMatches, options: ConfiguredOptions, weights: Weights = WEIGHTS) -> Scores:
    """How well each document fits, in 0..1: by all of its words, and by what says which document it is."""
    front_weight = weights.front if options.routing else 0.0
    fronts = {key: min(score / WHOLE_FRONT, 1.0) for key, score in matches.fronts.items()} if front_weight else {}
    return {
        key: weighted_mean(
            [(min(matches.documents.get(key, 0.0), 1.0), weights.document), (fronts.get(key, 0.0), front_weight)]
        )
        for key in {**matches.documents, **fronts}
    }


def _lifted(fused: Scores, landmark: Scores, fits: Scores, weight: float) -> Scores:
    """The scores with the chunks at landmarks lifted by the strength of these and the fit of their documents."""
    sure = {key for key, strength in landmark.items() if strength >= SURE}
    lifted = {key: score if key in sure or not sure else SURE * score for key, score in fused.items()}
    for key, strength in landmark.items():
        lifted[key] += (1 - lifted[key]) * (1.0 if key in sure else weight) * strength * fits[key]
    return lifted


def shares(scores: Mapping[uuid.UUID, float]) -> Scores:
    """Scores of at least 0 as shares of the best."""
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def merge(rankings: Sequence[Ranking]) -> Ranking:
    """The candidates of all variants of a question: the mean of their fused scores, so agreement counts.

    The similarities are those to the first variant, the question itself, and to the others only where it has none.
    """
    first, *others = rankings
    if not others:
        return first
    fused = Scores()
    for ranking in reversed(rankings):
        for key, score in ranking.fused.items():
            fused[key] = fused.get(key, 0.0) + score / len(rankings)
    return _with_all(rankings, fused)


def merge_lookups(ranking: Ranking, lookups: Sequence[Ranking]) -> Ranking:
    """The candidates of a question and of its look-ups: what is best for a look-up is as good as what is best for it.

    Look-ups ask for different things, so what fits one of them whole must not lose to what fits all a little, as in the
    mean of `merge`: the best score counts, in shares of the look-up's own best. Of equals those that are the best of
    their look-up come first.
    """
    best = max(ranking.fused.values(), default=0.0) or 1.0
    firsts = [key for found in (ranking, *lookups) for key in best_first(found.fused)[:1]]
    fused = {**dict.fromkeys(firsts, 0.0), **ranking.fused}
    for found in lookups:
        for key, share in shares(found.fused).items():
            fused[key] = max(fused.get(key, 0.0), share * best)
    return _with_all([ranking, *lookups], fused)


def _with_all(rankings: Sequence[Ranking], fused: Scores) -> Ranking:
    """Fused scores with all else that is known of their chunks; the first ranking that knows something counts."""
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
    """Keys, the highest score first."""
    return sorted(scores, key=lambda key: -scores[key])
