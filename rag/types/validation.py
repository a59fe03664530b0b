"""Requests and responses of the retrieval API of collections, in snake_case as in vector databases."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pydantic

from rag.types.base import NAME, TEXT, ValidatedModel
from rag.types.documents import DEFAULT_INDEX
from rag.types.requests import NOT_EMPTY, CollapseWhiteSpace, StorableText

DEFAULT_QUERY_MODEL = "embed-english-v3.0"
"""The default of such APIs; it stands for the collection's own model."""

Query = Annotated[str, pydantic.Field(max_length=999, pattern=TEXT, json_schema_extra=NOT_EMPTY), CollapseWhiteSpace]
Collection = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=NAME)]
"""An index's name or id, limited to the characters allowed in collection names."""


class Plain(pydantic.BaseModel):
    """Base of these models: frozen, without extra fields or aliases."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class PlainInput(ValidatedModel, Plain):
    """Base of request models."""


class RetrieveRequest(PlainInput):
    """A search in a collection; `query_embedding_model` must be the collection's model or the default."""

    query: Query
    collection: Collection = DEFAULT_INDEX
    top_k: int = pydantic.Field(default=5, ge=1, le=100)
    query_embedding_model: str = pydantic.Field(default=DEFAULT_QUERY_MODEL, min_length=1, max_length=200)


class VectorChunk(Plain):
    """A search result with its source and position.

    `source_url` is the document's displayed source or its URL in this API; `chunk_index` counts from 0, pages and lines
    from 1. `similarity_score` is the cosine similarity of query and chunk; the order is that of hybrid search.
    `section_hierarchy` is empty where no heading precedes the chunk.
    """

    content: str
    source_url: str
    page_title: str
    section_hierarchy: str = pydantic.Field(description="The chunk's section; empty where no heading precedes it.")
    chunk_index: int
    similarity_score: float = pydantic.Field(ge=0.0, le=1.0)
    vector_id: str
    document_id: str
    page_number: int
    line_start: int
    line_end: int


class QueryVector(Plain):
    """The query vector and its embedding model."""

    vector: list[float]
    model: str


class RetrieveMetrics(Plain):
    """The duration of the search in milliseconds and the number of results."""

    response_time_ms: float
    retrieval_count: int


class RetrieveResponse(Plain):
    """The results of a search, best first."""

    success: Literal[True] = True
    retrieved_chunks: list[VectorChunk]
    query_embedding: QueryVector
    metrics: RetrieveMetrics


class ExpectedSource(PlainInput):
    """An expected result of `query`, by default of the test query at the same position.

    `source` is a source as in filters (displayed, full, or the end of its path), or a document's name or id. With
    `page`, the result must be on that page.
    """

    query: Query | None = None
    source: StorableText = pydantic.Field(min_length=1, max_length=8000)
    page: int | None = pydantic.Field(default=None, ge=1)

    def query_among(self, queries: Sequence[str], position: int) -> str | None:
        """Return the one of `queries` that this expectation, at `position`, belongs to, if any."""
        if self.query is not None:
            return self.query if self.query in queries else None
        return queries[position] if position < len(queries) else None


class ValidationRequest(PlainInput):
    """A request to run test queries against a collection, each `consistency_runs` times."""

    collection: Collection = DEFAULT_INDEX
    test_queries: tuple[Query, ...] = pydantic.Field(min_length=1, max_length=100)
    expected_sources: tuple[ExpectedSource, ...] = pydantic.Field(default=(), max_length=1000)
    consistency_runs: int = pydantic.Field(default=3, ge=1, le=10)
    top_k: int = pydantic.Field(default=5, ge=1, le=100)

    @pydantic.field_validator("expected_sources")
    @classmethod
    def _belong_to_queries(
        cls, expected: tuple[ExpectedSource, ...], info: pydantic.ValidationInfo
    ) -> tuple[ExpectedSource, ...]:
        queries = info.data.get("test_queries")  # None: they are wrong themselves
        for position, wanted in enumerate(expected):
            if queries is not None and wanted.query_among(queries, position) is None:
                raise ValueError(f"number {position + 1} belongs to none of the test queries")
        return expected

    def expected_of(self, query: str) -> list[ExpectedSource]:
        """Return the expected sources of a test query."""
        return [
            expected
            for position, expected in enumerate(self.expected_sources)
            if expected.query_among(self.test_queries, position) == query
        ]


class ValidationMetrics(Plain):
    """The retrieval metrics of a query.

    `accuracy` is the share of expected sources found or, without expectations, of chunks with correct metadata.
    `relevance_score` is the mean cosine similarity, `consistency_variance` the mean variance of a chunk's scores over
    the runs.
    """

    accuracy: float = pydantic.Field(ge=0.0, le=1.0)
    relevance_score: float = pydantic.Field(ge=0.0, le=1.0)
    consistency_variance: float = pydantic.Field(ge=0.0)


class QueryValidation(Plain):
    """The result of one test query.

    `relevance_valid`: the cross-encoder accepts at least one chunk. `metadata_correct`: every chunk's document exists
    and has the chunk's pages and lines, and its boxes lie on these pages. `consistency_score`: share of ranks with the
    same chunk in every run.
    """

    query: str
    retrieved_chunks: list[VectorChunk]
    relevance_valid: bool
    metadata_correct: bool
    consistency_score: float = pydantic.Field(ge=0.0, le=1.0)
    validation_metrics: ValidationMetrics


class OverallValidation(Plain):
    """The overall result: passed if every query passes every check.

    `score` is the mean of accuracy, relevance (0 if no chunk is relevant) and consistency.
    """

    passed: bool
    summary: str
    score: float = pydantic.Field(ge=0.0, le=1.0)


class ValidationResponse(Plain):
    """The response of a retrieval validation."""

    success: Literal[True] = True
    validation_results: list[QueryValidation]
    overall_validation: OverallValidation


class ErrorBody(Plain):
    """An error: `type` for programs, `message` for people, with what to do."""

    type: str
    message: str
    details: dict[str, Any] = pydantic.Field(default_factory=dict)


class ErrorResponse(Plain):
    """The body of every REST error response."""

    success: Literal[False] = False
    error: ErrorBody
