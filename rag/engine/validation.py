"""Validation of retrieval: are results relevant, are their sources right, and are they the same every time?"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from rag.types import (
    Chunk,
    ExpectedSource,
    Hit,
    OverallValidation,
    QueryValidation,
    ValidationMetrics,
    ValidationRequest,
    ValidationResponse,
    VectorChunk,
)

RELEVANT_SCORE = 0.05
"""A cross-encoder's score from which a chunk counts as fit: below it the extractive answerer answers nothing, too."""

Search = Callable[[str], Sequence[Hit]]
Stored = Callable[[Hit], Chunk | None]


def validate(
    request: ValidationRequest, search: Search, stored: Stored, relevance: Callable[[str, Sequence[str]], list[float]]
) -> ValidationResponse:
    """Run the queries and judge what they find.

    `search` finds the chunks for a query, `stored` reads a hit's chunk again by its id, and `relevance` gives a
    cross-encoder's scores in 0..1 of texts for a query.
    """
    results = []
    for position, query in enumerate(request.test_queries):
        runs = [search(query) for _ in range(request.consistency_runs)]
        texts = [hit.chunk.text for hit in runs[0]]
        is_relevant = bool(texts) and max(relevance(query, texts)) >= RELEVANT_SCORE
        results.append(_validated(query, _expected(request, position), runs, stored, is_relevant))
    return ValidationResponse(validation_results=results, overall_validation=_overall(results))


def _expected(request: ValidationRequest, position: int) -> list[ExpectedSource]:
    """What must be found for the test query at `position`."""
    query = request.test_queries[position]
    return [
        expected
        for place, expected in enumerate(request.expected_sources)
        if (expected.query == query if expected.query is not None else place == position)
    ]


def _validated(
    query: str, expected: Sequence[ExpectedSource], runs: Sequence[Sequence[Hit]], stored: Stored, is_relevant: bool
) -> QueryValidation:
    first = runs[0]
    right = [_is_stored(hit, stored(hit)) for hit in first]
    found = [any(_fits(hit, wanted) for hit in first) for wanted in expected] or right
    return QueryValidation(
        query=query,
        retrieved_chunks=[vector_chunk(hit) for hit in first],
        relevance_valid=is_relevant,
        metadata_correct=all(right),
        consistency_score=_agreement(runs),
        validation_metrics=ValidationMetrics(
            accuracy=_mean(map(float, found)),
            relevance_score=_mean(hit.final_score for hit in first),
            consistency_variance=_variance(runs),
        ),
    )


def _is_stored(hit: Hit, chunk: Chunk | None) -> bool:
    """Whether the hit's chunk is what the database has under its id, in the document, pages and lines it names."""
    return chunk is not None and chunk == hit.chunk


def _fits(hit: Hit, wanted: ExpectedSource) -> bool:
    names = {hit.document_name, hit.source, hit.shown_source, str(hit.chunk.document_id)}
    return wanted.source in names and (wanted.page is None or wanted.page in hit.chunk.pages)


def _agreement(runs: Sequence[Sequence[Hit]]) -> float:
    """Share of the ranks at which all runs have the same chunk; 1 if nothing was found every time."""
    ranks = [*zip_longest(*([hit.chunk.id for hit in run] for run in runs))]
    return _mean(float(len(set(at_rank)) == 1) for at_rank in ranks) if ranks else 1.0


def _variance(runs: Sequence[Sequence[Hit]]) -> float:
    """Mean over the chunks of the population variance of their scores; a run that lacks a chunk gives it none."""
    scores: dict[object, list[float]] = {}
    for run in runs:
        for hit in run:
            scores.setdefault(hit.chunk.id, []).append(hit.final_score)
    return _mean(statistics.pvariance(values) for values in scores.values())


def _overall(results: Sequence[QueryValidation]) -> OverallValidation:
    failed = {name: sum(not passed(result) for result in results) for name, passed in CHECKS.items()}
    means = (
        _mean(result.validation_metrics.accuracy for result in results),
        _mean(result.validation_metrics.relevance_score * result.relevance_valid for result in results),
        _mean(result.consistency_score for result in results),
    )
    return OverallValidation(
        passed=not any(failed.values()), summary=_summary(failed, len(results)), score=_mean(means)
    )


CHECKS: Mapping[str, Callable[[QueryValidation], bool]] = {
    "with results": lambda result: bool(result.retrieved_chunks),
    "relevant": lambda result: result.relevance_valid,
    "with right sources": lambda result: result.metadata_correct and result.validation_metrics.accuracy == 1.0,
    "the same in every run": lambda result: result.consistency_score == 1.0,
}
"""What every query must pass."""


def _summary(failed: Mapping[str, int], queries: int) -> str:
    counts = ", ".join(f"{queries - count} {name}" for name, count in failed.items())
    return f"Of {queries} {'query' if queries == 1 else 'queries'}: {counts}."


def vector_chunk(hit: Hit) -> VectorChunk:
    """A hit in the words of collections."""
    chunk = hit.chunk
    return VectorChunk(
        content=chunk.text,
        source_url=hit.shown_source or f"/documents/{chunk.document_id}/content",
        page_title=hit.title or hit.document_name,
        section_hierarchy=chunk.section or "",
        chunk_index=chunk.ordinal,
        similarity_score=hit.final_score,
        vector_id=str(chunk.id),
        document_id=str(chunk.document_id),
        page_number=chunk.page_number,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
    )


def _mean(values: Iterable[float]) -> float:
    """The mean; 0 of nothing."""
    listed = [*values]
    return statistics.fmean(listed) if listed else 0.0
