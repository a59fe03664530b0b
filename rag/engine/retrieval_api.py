"""Retrieval and validation requests in the terms of vector databases: collections and vectors."""

import functools
import time
import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np

from rag import answering, errors, retrieval, types
from rag.engine.evaluation.retrieval_validation import validate, vector_chunk
from rag.engine.questions.search import Search
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace

VALIDATION_SECONDS = 60.0


class Collections:
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
            raise _wrong_model(parsed, index.space)
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
        self, request: types.ValidationRequest | Mapping[str, Any], stop: answering.Stop = answering.never_stop
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
            named=self._workspace.store.sources.meant(index.id, sorted(sources)),
            relevance=relevance,
        )

    def _hits(self, search: Search, query: "retrieval.Query") -> list[types.Hit]:
        """Return the hits, all with cosine similarities, also those found by keyword or position only."""
        hits = search.run(query).results
        vectors = self._workspace.store.chunks.vectors([hit.chunk.id for hit in hits if hit.vector_score is None])
        asked = np.array(query.embedding or [])
        cosines = {key: min(max(float(vector @ asked), 0.0), 1.0) for key, vector in vectors.items()}
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


def _wrong_model(asked: types.RetrieveRequest, space: types.EmbeddingSpace) -> errors.IndexError:
    return errors.IndexError(
        f"The collection {asked.collection!r} was embedded with {space.name}, not with "
        f"{asked.query_embedding_model!r}. Leave query_embedding_model out, or name the collection's own model.",
        details={"collection": asked.collection, "model": space.name},
    )
