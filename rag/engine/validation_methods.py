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
        index = self._asked(asked.collection)
        if asked.query_embedding_model not in {DEFAULT_QUERY_MODEL, index.space.model, index.space.name}:
            raise _another_model(asked, index.space)
        search = _request(asked.query, asked.collection, asked.top_k)
        searcher = self._searcher(index, search)
        hits = searcher.search(self._scope(index, search.retrieval), search).results
        vector = searcher.query_vector(self.user_id, search.query)
        return RetrieveResponse(
            retrieved_chunks=[vector_chunk(hit) for hit in hits],
            query_embedding=QueryVector(vector=[*map(float, vector)], model=index.space.name),
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
        return self.search(_request(query, collection, top_k)).results

    def _stored(self, hit: Hit) -> Chunk | None:
        found = self._resources.store.chunks.get(self.user_id, [hit.chunk.id])
        return found[0][0] if found else None


def _request(query: str, collection: str, top_k: int) -> SearchRequest:
    options = RetrievalOptions(top_k=top_k, min_score=0.0, passage="chunk")
    return SearchRequest(index_name=collection, query=query, retrieval=options)


def _another_model(asked: RetrieveRequest, space: EmbeddingSpace) -> errors.IndexError:
    return errors.IndexError(
        f"The collection {asked.collection!r} was embedded with {space.name}, not with "
        f"{asked.query_embedding_model!r}. Leave query_embedding_model out, or name the collection's own model.",
        details={"collection": asked.collection, "model": space.name},
    )
