"""Retrieval and its validation in the words of collections: plain snake_case objects, as vector databases speak."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pydantic

from rag.types.base import NAME, TEXT, Asked, keep_kinds_apart
from rag.types.documents import DEFAULT_INDEX
from rag.types.requests import StorableText

DEFAULT_QUERY_MODEL = "embed-english-v3.0"
"""What callers of such an interface name when they have no wish: the collection's own model."""

Query = Annotated[str, pydantic.Field(min_length=1, max_length=999, pattern=TEXT)]
Collection = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=NAME)]
"""An index's name or id, in characters that a collection's name may have."""


class Plain(pydantic.BaseModel):
    """Base of these models: frozen, closed, names as they are."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class PlainInput(Asked, Plain):
    """Base of those that callers send."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _keep_kinds_apart(cls, values: object) -> object:
        return keep_kinds_apart(cls, values)


class RetrieveRequest(PlainInput):
    """Search a collection. `query_embedding_model` must be the model of the collection, or the default."""

    query: Query
    collection: Collection = DEFAULT_INDEX
    top_k: int = pydantic.Field(default=5, ge=1, le=100)
    query_embedding_model: str = pydantic.Field(default=DEFAULT_QUERY_MODEL, min_length=1, max_length=200)


class VectorChunk(Plain):
    """A found chunk with its source: where it was taken from, and where it stands there.

    `source_url` is what is shown of the document's source, or its address in this API; `chunk_index` counts from 0;
    pages and lines count from 1. `similarity_score` is the cosine similarity of query and chunk; the order is that of a
    hybrid search, in which words count, too.
    """

    content: str
    source_url: str
    page_title: str
    section_hierarchy: str
    chunk_index: int
    similarity_score: float = pydantic.Field(ge=0.0, le=1.0)
    vector_id: str
    document_id: str
    page_number: int
    line_start: int
    line_end: int


class QueryVector(Plain):
    """The vector that was searched for, and the model that made it."""

    vector: list[float]
    model: str


class RetrieveMetrics(Plain):
    """What the search took, in milliseconds, and how many chunks it found."""

    response_time_ms: float
    retrieval_count: int


class RetrieveResponse(Plain):
    """What was found, best first."""

    success: Literal[True] = True
    retrieved_chunks: list[VectorChunk]
    query_embedding: QueryVector
    metrics: RetrieveMetrics


class ExpectedSource(PlainInput):
    """What must be among the results of a query; without `query` of the test query in the same position.

    A source is what filters take (as shown, in full, or the end of its path), or a document's name or id; with `page`,
    a chunk on that page.
    """

    query: Query | None = None
    source: StorableText = pydantic.Field(min_length=1, max_length=8000)
    page: int | None = pydantic.Field(default=None, ge=1)

    def query_among(self, queries: Sequence[str], position: int) -> str | None:
        """The one of `queries` that this, standing at `position` itself, belongs to; None if it belongs to none."""
        if self.query is not None:
            return self.query if self.query in queries else None
        return queries[position] if position < len(queries) else None


class ValidationRequest(PlainInput):
    """Run test queries against a collection, each `consistency_runs` times."""

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
        """What must be found for a test query."""
        return [
            expected
            for position, expected in enumerate(self.expected_sources)
            if expected.query_among(self.test_queries, position) == query
        ]


class ValidationMetrics(Plain):
    """Figures in 0..1, but for the variance.

    `accuracy`: share of the expected sources that were found, or where none are named of the chunks whose source
    is right. `relevance_score`: mean of the cosine similarities. `consistency_variance`: mean over the chunks of the
    variance of their scores over the runs.
    """

    accuracy: float = pydantic.Field(ge=0.0, le=1.0)
    relevance_score: float = pydantic.Field(ge=0.0, le=1.0)
    consistency_variance: float = pydantic.Field(ge=0.0)


class QueryValidation(Plain):
    """What came of one test query.

    `relevance_valid`: the cross-encoder finds at least one of the chunks fit. `metadata_correct`: every chunk's
    document is there and has the pages and lines that the chunk names, and its boxes lie on these pages.
    `consistency_score`: share of the places in the ranking that are the same in every run.
    """

    query: str
    retrieved_chunks: list[VectorChunk]
    relevance_valid: bool
    metadata_correct: bool
    consistency_score: float = pydantic.Field(ge=0.0, le=1.0)
    validation_metrics: ValidationMetrics


class OverallValidation(Plain):
    """Passed when every query passes every check.

    `score` is the mean of accuracy, relevance (0 where nothing fits) and consistency.
    """

    passed: bool
    summary: str
    score: float = pydantic.Field(ge=0.0, le=1.0)


class ValidationResponse(Plain):
    """How well a collection is retrieved from."""

    success: Literal[True] = True
    validation_results: list[QueryValidation]
    overall_validation: OverallValidation


class ErrorBody(Plain):
    """What went wrong. `type` is for programs, `message` for people and says what to do."""

    type: str
    message: str
    details: dict[str, Any] = pydantic.Field(default_factory=dict)


class ErrorResponse(Plain):
    """Every error of the REST API has this shape."""

    success: Literal[False] = False
    error: ErrorBody
