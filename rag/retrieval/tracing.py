"""Traces of searches: what the stages record about a query, and the outcome of each candidate."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core import schema

from rag import types
from rag.retrieval.ranking import Ranking, Scores, best_first, ranks


@dataclass
class Findings:
    """What the stages found for a query, for traces and explanations.

    `considered` are the candidates passed to the stages, `chunks` those that still existed, `spent` is what variants by
    a language model used.
    """

    variants: tuple[types.Variant, ...] = ()
    rewritings: tuple[types.Rewriting, ...] = ()
    ranking: Ranking = field(default_factory=Ranking)
    considered: tuple[uuid.UUID, ...] = ()
    chunks: Mapping[uuid.UUID, types.Chunk] = field(default_factory=dict)
    final: Scores = field(default_factory=dict)
    reranked: Scores = field(default_factory=dict)
    spent: Sequence[types.Usage] = ()


@dataclass
class Query(schema.QueryBundle):
    """A query that records its findings; use each only once.

    `passage_text` is searched for in place of the question: without the names of the documents that are searched.
    """

    passage_text: str | None = None
    findings: Findings = field(default_factory=Findings)


def searched_text(query: schema.QueryBundle) -> str:
    """Return the text that passages are compared with."""
    return (query.passage_text if isinstance(query, Query) else None) or query.query_str


def trace(findings: Findings, hits: Sequence[types.Hit], options: types.RetrievalOptions) -> types.SearchTrace:
    """Return the trace of a search that returned `hits`."""
    ranking = findings.ranking
    vector_ranks, lexical_ranks = ranks(ranking.vector), ranks(ranking.lexical)
    candidates = []
    for fused_rank, key in enumerate(best_first(ranking.fused), start=1):
        outcome, hit = _outcome(key, findings, hits, options)
        document_id, page_number = ranking.places[key]
        candidates.append(
            types.CandidateTrace(
                chunk_id=key,
                document_id=document_id,
                page_number=page_number,
                vector_rank=vector_ranks.get(key),
                vector_score=ranking.vector.get(key),
                lexical_rank=lexical_ranks.get(key),
                lexical_score=ranking.lexical.get(key),
                landmark_score=ranking.landmark.get(key),
                document_score=ranking.documents.get(document_id),
                fused_rank=fused_rank,
                fused_score=ranking.fused[key],
                rerank_score=findings.reranked.get(key),
                final_score=findings.final.get(key),
                hit=hit,
                outcome=outcome,
            )
        )
    return types.SearchTrace(variants=findings.variants, rewritings=findings.rewritings, candidates=tuple(candidates))


def _outcome(
    key: uuid.UUID, findings: Findings, hits: Sequence[types.Hit], options: types.RetrievalOptions
) -> tuple[types.Outcome, int | None]:
    """Return the outcome of a candidate, and the rank from 1 of its hit."""
    chunk = findings.chunks.get(key)
    if chunk is None:
        return ("gone" if key in findings.considered else "not_considered"), None
    for place, hit in enumerate(hits, start=1):
        if hit.chunk.id == key:
            return "returned", place
    if findings.final.get(key, 0.0) < options.min_score:
        return "below_min_score", None
    if options.passage == "pages":
        for place, hit in enumerate(hits, start=1):
            if (chunk.document_id, chunk.main_page) == (hit.chunk.document_id, hit.chunk.main_page):
                return "same_place", place
    return "beyond_top_k", None
