"""Retrieval and validation as a specification of vector databases demands them: collections and vectors."""

import functools
import statistics
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from rag import errors, retrieval, types
from rag.answering.generation.model_answer import Stop, never_stop
from rag.engine.questions.search import Search
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace

RELEVANT_SCORE = 0.05
"""Cross-encoder score from which a chunk is relevant; extractive answers use the same threshold."""

BOX_SLACK_PT = 1.0
"""Distance by which a box may exceed its page."""

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
    search: Callable[[str], Sequence[types.Hit]],
    *,
    document: Callable[[uuid.UUID], types.Document | None],
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
    listed = [*values]
    return statistics.fmean(listed) if listed else 0.0


VALIDATION_SECONDS = 60.0


class RetrievalApi:
    """One user's indexes as collections."""

    def __init__(self, workspace: Workspace, *, max_seconds: float = VALIDATION_SECONDS) -> None:
        """`max_seconds` limit a validation."""
        self._workspace = workspace
        self._max_seconds = max_seconds

    def retrieve(self, request: types.RetrieveRequest | Mapping[str, Any]) -> types.RetrieveResponse:
        """Return the best chunks for a query, and the query's vector.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such collection.
            errors.IndexError: the collection was embedded with another model than the one named.
        """
        started = time.perf_counter()
        parsed = parse(types.RetrieveRequest, request)
        index = self._workspace.requested_index(parsed.collection)
        if parsed.query_embedding_model not in {types.DEFAULT_QUERY_MODEL, index.space.model, index.space.name}:
            raise errors.IndexError(
                f"The collection {parsed.collection!r} was embedded with {index.space.name}, not with "
                f"{parsed.query_embedding_model!r}. Leave query_embedding_model out, or name the collection's own "
                "model.",
                details={"collection": parsed.collection, "model": index.space.name},
            )
        search = Search(self._workspace, index, _options(parsed.top_k))
        query = retrieval.Query(parsed.query)
        hits = self._hits(search, query)
        return types.RetrieveResponse(
            retrieved_chunks=[vector_chunk(hit) for hit in hits],
            query_embedding=types.QueryVector(vector=query.embedding or [], model=index.space.name),
            metrics=types.RetrieveMetrics(
                response_time_ms=(time.perf_counter() - started) * 1000, retrieval_count=len(hits)
            ),
        )

    def validate(
        self, request: types.ValidationRequest | Mapping[str, Any], stop: Stop = never_stop
    ) -> types.ValidationResponse:
        """Check whether test queries return relevant, correctly attributed and reproducible results.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such collection.
            errors.LimitError: it takes longer than `max_seconds`.
            errors.CancelledError: `stop`, which is asked before each search and judgement, returned True.
        """
        parsed = parse(types.ValidationRequest, request)
        deadline = time.monotonic() + self._max_seconds
        index = self._workspace.requested_index(parsed.collection)
        indexed = Search(self._workspace, index, _options(parsed.top_k))
        sources = {expected.source for expected in parsed.expected_sources}

        def check() -> None:
            if stop():
                raise errors.CancelledError("The validation was cancelled. Send it again.")
            if time.monotonic() > deadline:
                raise errors.LimitError(
                    f"The validation took longer than {self._max_seconds:g} seconds. Send fewer test queries at a "
                    "time, fewer runs, or a lower top_k.",
                    details={"max_seconds": self._max_seconds},
                )

        def search(query: str) -> list[types.Hit]:
            check()
            return self._hits(indexed, retrieval.Query(query))

        def relevance(query: str, text: str) -> float:
            check()
            return self._workspace.models.reranker.scores(query, [text])[0]

        return validate(
            parsed,
            search,
            document=functools.cache(self._document),
            named=self._workspace.store.sources.resolve(index.id, sorted(sources)),
            relevance=relevance,
        )

    def _hits(self, search: Search, query: "retrieval.Query") -> list[types.Hit]:
        """Return the hits, all with cosine similarities, also those found by keyword or position only."""
        hits = search.run(query).results
        vectors = self._workspace.store.chunks.vectors([hit.chunk.id for hit in hits if hit.vector_score is None])
        embedding = np.array(query.embedding or [])
        cosines = {key: min(max(float(vector @ embedding), 0.0), 1.0) for key, vector in vectors.items()}
        return [
            hit.model_copy(update={"vector_score": cosines[hit.chunk.id]}) if hit.chunk.id in cosines else hit
            for hit in hits
        ]

    def _document(self, document_id: uuid.UUID) -> types.Document | None:
        try:
            return self._workspace.store.documents.get(document_id)
        except errors.NotFoundError:
            return None


def _options(top_k: int) -> types.RetrievalRequest:
    return types.RetrievalRequest(retrieval=types.RetrievalOptions(top_k=top_k, min_score=0.0, passage="chunk"))
