"""Candidates by their scores: fused from both searches and all variants of the question."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rag.retrieval.configured import ConfiguredOptions
from rag.retrieval.fusion import reciprocal_rank_fusion, weighted_fusion
from rag.store import LexicalMatches
from rag.types import Candidate

DOCUMENT_WEIGHT = 0.3
"""What the whole document's fit counts beside the chunk's own (1.0): of two equal chunks, the one whose document
also speaks of the rest of the question is the better. Measured between 0.1 and 0.8; flat from 0.3 on."""
FRONT_WEIGHT = 0.3
"""What the fit of the document's name, title and first pages counts. Flat from 0.2 to 0.5."""
PAGE_WEIGHT = 0.4
"""What the fit of the whole page and its title counts beside the chunk's own (1.0): what a page is about may stand in
another of its chunks. Measured between 0.2 and 0.6; flat."""
LANDMARK_WEIGHT = 0.8
"""How far a chunk at a landmark that is asked for is lifted towards 1. Flat from 0.5 to 0.8."""
SURE = 0.9
"""From this strength on a landmark is beyond doubt, such as a page by its number or a captioned table: a chunk there is
lifted all the way, and what stands elsewhere gets so much of its score only."""

FOREIGN_WEIGHT = 0.1
"""What is left of the weight of vectors for documents in languages that the embedding model does not speak: names and
shared words are all that it sees in them. Measured in four languages between 0 and 1; flat from 0.05 to 0.2."""

Scores = dict[uuid.UUID, float]


@dataclass(frozen=True)
class Ranking:
    """Scores by chunk: cosine similarity, BM25 as a share of the best, the strength of a landmark, and all fused.

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
    foreign: Collection[uuid.UUID] = (),
) -> Ranking:
    """The candidates of both searches for one text, and in a hybrid search those at the landmarks it asks for.

    `foreign` are the documents in languages that the embedding model does not speak.
    """
    landmarks, pages = (matches.landmarks, matches.pages) if options.mode == "hybrid" else ([], [])
    candidates = (*near, *matches.chunks, *pages, *landmarks)
    places = {candidate.chunk_id: (candidate.document_id, candidate.page_number) for candidate in candidates}
    vector = {candidate.chunk_id: candidate.score for candidate in near}
    lexical = shares({candidate.chunk_id: candidate.score for candidate in matches.chunks})
    page = {candidate.chunk_id: candidate.score for candidate in pages}
    strengths = {candidate.chunk_id: candidate.score for candidate in landmarks}
    fused = {**dict.fromkeys((*page, *strengths), 0.0), **fuse(vector, lexical, options)}
    if foreign:
        weight = options.vector_weight * FOREIGN_WEIGHT
        by_words = fuse(vector, lexical, options.model_copy(update={"vector_weight": weight}))
        fused.update({key: score for key, score in by_words.items() if places[key][0] in foreign})
    if page:
        fused = {key: (score + PAGE_WEIGHT * page.get(key, 0.0)) / (1 + PAGE_WEIGHT) for key, score in fused.items()}
    documents = Scores()
    if options.mode == "hybrid" and len({document for document, _ in places.values()}) > 1:
        documents = document_fit(matches, options)
        weight = DOCUMENT_WEIGHT + (FRONT_WEIGHT if options.routing else 0.0)
        fused = {
            key: (score + weight * documents.get(places[key][0], 0.0)) / (1 + weight) for key, score in fused.items()
        }
    if max(strengths.values(), default=0.0) >= SURE:
        fused = {key: score if strengths.get(key, 0.0) >= SURE else SURE * score for key, score in fused.items()}
    for key, strength in strengths.items():
        fit = documents.get(places[key][0], 0.0) if documents else 1.0
        weight = 1.0 if strength >= SURE else LANDMARK_WEIGHT
        fused[key] += (1 - fused[key]) * weight * strength * fit
    return Ranking(vector, lexical, strengths, fused, places, documents)


def document_fit(matches: LexicalMatches, options: ConfiguredOptions) -> Scores:
    """How well each document fits, the best with 1: by all of its words, and by what says which document it is."""
    fit = {key: DOCUMENT_WEIGHT * score for key, score in shares(matches.documents).items()}
    for key, score in shares(matches.fronts).items() if options.routing else ():
        fit[key] = fit.get(key, 0.0) + FRONT_WEIGHT * score
    return shares(fit)


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
