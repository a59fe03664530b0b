"""What is searched, how, and what was found."""

import uuid
from typing import Literal, NamedTuple

import pydantic

from rag.types.text import Chunk, Model, Passage

SearchMode = Literal["vector", "lexical", "hybrid"]
Fusion = Literal["weighted", "rrf"]


class Filters(Model):
    """What may be searched; empty means everything."""

    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(
        default=(), validation_alias=pydantic.AliasChoices("document_ids", "documentIds", "file_ids", "fileIds")
    )
    mime_types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    source_prefix: str | None = None


class Scope(Model):
    """The rows a statement may touch: always one user's, in one index, not deleted, and of these the filtered ones."""

    user_id: str
    index_id: uuid.UUID
    filters: Filters = Filters()


class Candidate(NamedTuple):
    """A chunk that one search found. `score` is in 0..1 for dense search and raw BM25 for lexical search."""

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    page_number: int
    score: float


class RerankOptions(Model):
    """Whether a cross-encoder orders the best `top_n` candidates anew."""

    enabled: bool = False
    top_n: int = pydantic.Field(default=20, ge=1, le=200)


class RetrievalOptions(Model):
    """How to search. Scores are in 0..1; results below `min_score` are left out."""

    top_k: int = pydantic.Field(default=8, ge=1, le=200)
    min_score: float = pydantic.Field(default=0.2, ge=0.0, le=1.0)
    mode: SearchMode = "hybrid"
    fusion: Fusion = "weighted"
    vector_weight: float = pydantic.Field(default=0.65, ge=0.0, le=1.0)
    lexical_weight: float = pydantic.Field(default=0.35, ge=0.0, le=1.0)
    rrf_k: int = pydantic.Field(default=60, ge=1)
    rerank: RerankOptions = RerankOptions()
    filters: Filters = Filters()


class SearchRequest(Model):
    """A search in one index."""

    index_name: str = "default"
    query: str = pydantic.Field(min_length=1, max_length=4000)
    retrieval: RetrievalOptions = RetrievalOptions()


class Hit(Model):
    """A place that was found: the chunk that matched best, and the passage around it that is handed on.

    Scores are in 0..1; a score is None when its stage did not run or did not find the chunk. The ranks count from 1.
    """

    chunk: Chunk
    passage: Passage
    document_name: str
    mime_type: str
    title: str | None = None
    vector_score: float | None = None
    lexical_score: float | None = None
    rerank_score: float | None = None
    final_score: float
    vector_rank: int | None = None
    lexical_rank: int | None = None


class Usage(Model):
    """What a request cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    latency_ms: float = 0.0


class SearchResponse(Model):
    """What was found, best first."""

    query: str
    top_k: int
    min_score: float
    mode: SearchMode
    results: tuple[Hit, ...]
    usage: Usage = Usage()
