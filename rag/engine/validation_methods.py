"""Retrieval in the words of collections, and its validation."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors
from rag.engine.question_methods import QuestionMethods
from rag.engine.requests import parse
from rag.engine.validation import validate, vector_chunk
from rag.types import (
    DEFAULT_QUERY_MODEL,
    Chunk,
    EmbeddingSpace,
    Hit,
    QueryVector,
    RetrievalOptions,
    RetrieveMetrics,
    RetrieveRequest,
    RetrieveResponse,
    SearchRequest,
    ValidationRequest,
    ValidationResponse,
)


class ValidationMethods(QuestionMethods):
    """What can be asked of a collection."""

    def retrieve(self, request: RetrieveRequest | Mapping[str, Any]) -> RetrieveResponse:
        """The chunks that fit a query best, and the query's vector.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such collection.
            errors.IndexError: the collection was embedded with another model than the one named.
        """
        started = time.perf_counter()
        asked = parse(RetrieveRequest, request)
        vector, space = self.query_vector(asked.query, asked.collection)
        if asked.query_embedding_model not in {DEFAULT_QUERY_MODEL, space.model, space.name}:
            raise _another_model(asked, space)
        hits = self._chunks_for(asked.query, asked.collection, asked.top_k)
        return RetrieveResponse(
            retrieved_chunks=[vector_chunk(hit) for hit in hits],
            query_embedding=QueryVector(vector=[*map(float, vector)], model=space.name),
            metrics=RetrieveMetrics(response_time_ms=(time.perf_counter() - started) * 1000, retrieval_count=len(hits)),
        )

    def validate(self, request: ValidationRequest | Mapping[str, Any]) -> ValidationResponse:
        """Whether what a collection's test queries find is relevant, rightly attributed and the same every time.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such collection.
        """
        asked = parse(ValidationRequest, request)
        self._asked(asked.collection)
        return validate(
            asked,
            search=lambda query: self._chunks_for(query, asked.collection, asked.top_k),
            stored=self._stored,
            relevance=self._resources.reranker.scores,
        )

    def _chunks_for(self, query: str, collection: str, top_k: int) -> Sequence[Hit]:
        options = RetrievalOptions(top_k=top_k, min_score=0.0, passage="chunk")
        return self.search(SearchRequest(index_name=collection, query=query, retrieval=options)).results

    def _stored(self, hit: Hit) -> Chunk | None:
        found = self._resources.store.chunks.get(self.user_id, [hit.chunk.id])
        return found[0][0] if found else None


def _another_model(asked: RetrieveRequest, space: EmbeddingSpace) -> errors.IndexError:
    return errors.IndexError(
        f"The collection {asked.collection!r} was embedded with {space.name}, not with "
        f"{asked.query_embedding_model!r}. Leave query_embedding_model out, or name the collection's own model.",
        details={"collection": asked.collection, "model": space.name},
    )
