"""Validate retrieval: relevance, attribution and reproducibility of results."""

import statistics
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest

from rag import types

RELEVANT_SCORE = 0.05
"""Cross-encoder score from which a chunk is relevant; extractive answers use the same threshold."""

BOX_SLACK_PT = 1.0
"""Distance by which a box may exceed its page."""

Search = Callable[[str], Sequence[types.Hit]]
FindDocument = Callable[[uuid.UUID], types.Document | None]
Named = Mapping[str, Collection[uuid.UUID]]

CHECKS: Mapping[str, Callable[[types.QueryValidation], bool]] = {
    "with results": lambda result: bool(result.retrieved_chunks),
    "relevant": lambda result: result.relevance_valid,
    "with right sources": lambda result: result.metadata_correct and result.validation_metrics.accuracy == 1.0,
    "the same in every run": lambda result: result.consistency_score == 1.0,
}
"""Checks that every query must pass."""


def validate(
    request: types.ValidationRequest,
    search: Search,
    *,
    document: FindDocument,
    named: Named,
    relevance: Callable[[str, str], float],
) -> types.ValidationResponse:
    """Run the test queries and judge the results.

    `search` returns chunks with cosine similarities, `document` a document with its pages; `named` maps each expected
    source to document ids, and `relevance` returns a cross-encoder's score in 0..1 of a text for a query.
    """
    results = []
    for query in request.test_queries:
        runs = [search(query) for _ in range(request.consistency_runs)]
        hits = runs[0]
        texts = [hit.chunk.text for hit in hits]
        sources = [_has_valid_source(hit.chunk, document(hit.chunk.document_id)) for hit in hits]
        matches = [any(_matches(hit, expected, named) for hit in hits) for expected in request.expected_of(query)]
        results.append(
            types.QueryValidation(
                query=query,
                retrieved_chunks=[vector_chunk(hit) for hit in hits],
                relevance_valid=any(relevance(query, text) >= RELEVANT_SCORE for text in texts),  # mostly the first
                metadata_correct=all(sources),
                consistency_score=_consistency(runs),
                validation_metrics=types.ValidationMetrics(
                    accuracy=_mean(map(float, matches or sources)),
                    relevance_score=_mean(hit.vector_score or 0.0 for hit in hits),
                    consistency_variance=_variance(runs),
                ),
            )
        )
    failed = {name: sum(not passed(result) for result in results) for name, passed in CHECKS.items()}
    counts = ", ".join(f"{len(results) - count} {name}" for name, count in failed.items())
    means = (
        _mean(result.validation_metrics.accuracy for result in results),
        _mean(result.validation_metrics.relevance_score * result.relevance_valid for result in results),
        _mean(result.consistency_score for result in results),
    )
    overall = types.OverallValidation(
        passed=not any(failed.values()),
        summary=f"Of {len(results)} {'query' if len(results) == 1 else 'queries'}: {counts}.",
        score=_mean(means),
    )
    return types.ValidationResponse(validation_results=results, overall_validation=overall)


def _has_valid_source(chunk: types.Chunk, document: types.Document | None) -> bool:
    """Whether the chunk's document exists, and has its pages and lines and room for its boxes."""
    if document is None or document.deleted_at is not None:
        return False
    pages = {page.number: page for page in document.pages}
    has_lines = 1 <= chunk.line_start <= chunk.line_end <= document.line_count
    return has_lines and all(_fits_page(pages.get(line.page_number), line.bbox) for line in chunk.lines)


def _fits_page(page: types.PageInfo | None, box: types.Rect) -> bool:
    if page is None:
        return False
    if not (page.width and page.height):  # unknown size: the caller parsed the document
        return True
    whole = types.Rect(-BOX_SLACK_PT, -BOX_SLACK_PT, page.width + BOX_SLACK_PT, page.height + BOX_SLACK_PT)
    return whole.union(box) == whole


def _matches(hit: types.Hit, expected: types.ExpectedSource, named: Named) -> bool:
    is_meant = hit.chunk.document_id in named.get(expected.source, ())
    return is_meant and (expected.page is None or expected.page in hit.chunk.pages)


def _consistency(runs: Sequence[Sequence[types.Hit]]) -> float:
    """Return the share of ranks with the same chunk in all runs; 1 if nothing was found every time."""
    ranks = [*zip_longest(*([hit.chunk.id for hit in run] for run in runs))]
    return _mean(float(len(set(at_rank)) == 1) for at_rank in ranks) if ranks else 1.0


def _variance(runs: Sequence[Sequence[types.Hit]]) -> float:
    """Return the mean over the chunks of the population variance of their similarity."""
    scores: dict[object, list[float]] = {}
    for run in runs:
        for hit in run:
            scores.setdefault(hit.chunk.id, []).append(hit.vector_score or 0.0)
    return _mean(statistics.pvariance(values) for values in scores.values())


def vector_chunk(hit: types.Hit) -> types.VectorChunk:
    """Return a hit in the terms of vector databases."""
    chunk = hit.chunk
    return types.VectorChunk(
        content=chunk.text,
        source_url=hit.shown_source or f"/documents/{chunk.document_id}/content",
        page_title=hit.title or hit.document_name,
        section_hierarchy=chunk.section or "",
        chunk_index=chunk.ordinal,
        similarity_score=hit.vector_score or 0.0,
        vector_id=str(chunk.id),
        document_id=str(chunk.document_id),
        page_number=chunk.page_number,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
    )


def _mean(values: Iterable[float]) -> float:
    """Return the mean; 0 for no values."""
    listed = [*values]
    return statistics.fmean(listed) if listed else 0.0
