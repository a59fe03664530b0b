"""What became of every candidate of a search."""

import uuid
from collections.abc import Mapping, Sequence

from rag.retrieval.fusion import ranks
from rag.retrieval.places import pages_by_share
from rag.retrieval.ranking import Ranking, best_first
from rag.types import CandidateTrace, Chunk, Hit, Outcome, RetrievalOptions, SearchTrace, Variant


def trace(
    variants: Sequence[Variant],
    ranking: Ranking,
    *,
    considered: Sequence[uuid.UUID],
    chunks: Sequence[Chunk],
    hits: Sequence[Hit],
    options: RetrievalOptions,
) -> SearchTrace:
    """Every candidate by its fused rank; `considered` were looked at, of which `chunks` were still there."""
    vector_ranks, lexical_ranks = ranks(ranking.vector), ranks(ranking.lexical)
    present = {chunk.id: chunk for chunk in chunks}
    candidates = []
    for fused_rank, key in enumerate(best_first(ranking.fused), start=1):
        outcome, hit = _outcome(key, ranking, considered=considered, present=present, hits=hits, options=options)
        document_id, page_number = ranking.places[key]
        candidates.append(
            CandidateTrace(
                chunk_id=key,
                document_id=document_id,
                page_number=page_number,
                vector_rank=vector_ranks.get(key),
                vector_score=ranking.vector.get(key),
                lexical_rank=lexical_ranks.get(key),
                lexical_score=ranking.lexical.get(key),
                fused_rank=fused_rank,
                fused_score=ranking.fused[key],
                rerank_score=ranking.reranked.get(key),
                final_score=ranking.final.get(key),
                hit=hit,
                outcome=outcome,
            )
        )
    return SearchTrace(variants=tuple(variants), candidates=tuple(candidates))


def _outcome(
    key: uuid.UUID,
    ranking: Ranking,
    *,
    considered: Sequence[uuid.UUID],
    present: Mapping[uuid.UUID, Chunk],
    hits: Sequence[Hit],
    options: RetrievalOptions,
) -> tuple[Outcome, int | None]:
    """What became of a candidate, and the place from 1 of the hit that it is or is part of."""
    if key not in present:
        return ("gone" if key in considered else "not_considered"), None
    for place, hit in enumerate(hits, start=1):
        if hit.chunk.id == key:
            return "returned", place
    if ranking.final[key] < options.min_score:
        return "below_min_score", None
    chunk = present[key]
    if options.passage == "pages":
        for place, hit in enumerate(hits, start=1):
            if chunk.document_id == hit.chunk.document_id and pages_by_share(chunk)[0] in hit.passage.pages:
                return "same_place", place
    return "beyond_top_k", None
