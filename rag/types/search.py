"""Search requests, options, results and traces."""

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

import pydantic

from rag.types.base import TEXT, Input, Model
from rag.types.documents import DEFAULT_INDEX
from rag.types.requests import Auth, AuthField, IndexName, QueryEmbedding, StorableText, gather
from rag.types.text import Chunk, Passage, page_name

SearchMode = Literal["vector", "lexical", "hybrid"]

Fusion = Literal["weighted", "rrf"]

MustIncludeMode = Literal["all", "any"]

Keyword = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=TEXT)]

MOST_LOOKUPS = 8
"""Each step of look-ups is a request to a language model and a search."""


class Filters(Input):
    """What may be searched; empty means everything.

    `tags` must all be on a document; `author` is a part of the name; both in any case. `dated_after` is the first day
    that a document may be of, `dated_before` the first that it may not. `saved` names a saved filter.
    """

    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(
        default=(), validation_alias=pydantic.AliasChoices("documentIds", "document_ids", "file_ids", "fileIds")
    )
    mime_types: tuple[StorableText, ...] = ()
    sources: tuple[StorableText, ...] = ()
    source_prefix: StorableText | None = None
    added_after: pydantic.AwareDatetime | None = None
    added_before: pydantic.AwareDatetime | None = None
    tags: tuple[StorableText, ...] = pydantic.Field(default=(), description="Only documents with this tag.")
    author: StorableText | None = pydantic.Field(default=None, description="Only documents of this author.")
    dated_after: dt.date | None = pydantic.Field(default=None, description="Only of this day (2024-03-01) or later.")
    dated_before: dt.date | None = pydantic.Field(default=None, description="Only of days before this one.")
    saved: StorableText | None = pydantic.Field(
        default=None, description="A saved filter: holds where nothing else is said."
    )


class Scope(Model):
    """The rows of one user that a statement may touch: in one index, not deleted, and of these the filtered ones.

    `must_include` are words or phrases that a chunk's text must have, all or any of them: upper or lower case, also as
    a part of a longer word, and over the end of a line.
    """

    index_id: uuid.UUID
    filters: Filters = Filters()
    must_include: tuple[Keyword, ...] = ()
    must_include_mode: MustIncludeMode = "all"


class Candidate(NamedTuple):
    """A chunk that one search found. `score` is the cosine in 0..1, or the share of the question's words (`bm25`).

    One that has no vector yet (`has_vector`) can be found by its words only.
    """

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    page_number: int
    score: float
    has_vector: bool = True


class RerankOptions(Input):
    """Whether the best candidates are ordered anew, and by whom."""

    enabled: bool = pydantic.Field(default=False, description="Order the best places anew.")
    top_n: int = pydantic.Field(default=20, ge=1, le=200, description="How many of the best are ordered anew.")
    by: Literal["cross_encoder", "llm"] = pydantic.Field(
        default="cross_encoder", description="Who orders them: the embedded model or a language model."
    )


class RetrievalOptions(Input):
    """How to search; `mode`, `fusion` and `rrf_k` are as the installation's settings say unless given."""

    top_k: int = pydantic.Field(default=8, ge=1, le=200, description="How many places to find.")
    min_score: float = pydantic.Field(
        default=0.2, ge=0.0, le=1.0, description="Leave out what scores below; nothing where ranks are fused (rrf)."
    )
    mode: SearchMode | None = pydantic.Field(
        default=None, description="By meaning, by words (BM25) or both; as RAG_HYBRID says unless given."
    )
    fusion: Fusion | None = pydantic.Field(
        default=None, description="How a hybrid search joins both; as RAG_FUSION says unless given."
    )
    vector_weight: float = pydantic.Field(
        default=0.65, ge=0.0, le=1.0, description="What meaning counts in a hybrid search; with 0, no vector is used."
    )
    lexical_weight: float = pydantic.Field(
        default=0.35, ge=0.0, le=1.0, description="What words count in a hybrid search; with 0, no word is used."
    )
    rrf_k: int | None = pydantic.Field(
        default=None, ge=1, description="The constant of reciprocal rank fusion; as RAG_RRF_K says unless given."
    )
    multi_query: int = pydantic.Field(
        default=0, ge=0, le=5, description="Search for so many rewrites of the question, too (language model)."
    )
    hyde: bool = pydantic.Field(default=False, description="Search for a hypothetical answer, too (language model).")
    lookups: int = pydantic.Field(
        default=0,
        ge=0,
        le=MOST_LOOKUPS,
        description="Take the question apart into single facts, so many at most, and search for each (language model).",
    )
    periods: bool = pydantic.Field(
        default=True,
        description="Search for periods as documents write them: FY22 as 2022, Q2'23 as second quarter 2023.",
    )
    vocabulary: bool = pydantic.Field(
        default=True,
        description="Search by words for what a trade calls the same, too: net sales where revenue is asked for.",
    )
    landmarks: bool = pydantic.Field(
        default=True,
        description="Prefer the part of a document that is named or meant: a balance sheet, table 4, page 12.",
    )
    routing: bool = pydantic.Field(
        default=True, description="Prefer documents whose name, title or first pages the question speaks of."
    )
    must_include: tuple[Keyword, ...] = pydantic.Field(
        default=(), max_length=20, description="Only chunks that have these words."
    )
    must_include_mode: MustIncludeMode = pydantic.Field(
        default="all", description="Whether any of the required words will do, or all are needed."
    )
    rerank: RerankOptions = pydantic.Field(
        default=RerankOptions(), description="Whether the best candidates are ordered anew."
    )
    diversity: float = pydantic.Field(
        default=0.0, ge=0.0, le=1.0, description="Weight of novelty against relevance among the places."
    )
    passage: Literal["pages", "chunk"] = pydantic.Field(
        default="pages", description="What is read of a place: its pages or the chunk alone."
    )
    filters: Filters = pydantic.Field(default=Filters(), description="What is searched.")
    trace: bool = pydantic.Field(default=False, description="Tell of every candidate what became of it.")

    @pydantic.model_validator(mode="after")
    def _searches_somehow(self) -> Self:
        if self.vector_weight == self.lexical_weight == 0:
            raise ValueError("vector_weight and lexical_weight are both 0; give at least one of them a weight")
        return self

    @property
    def needs_language_model(self) -> bool:
        """Whether a language model takes part in the search."""
        return bool(self.multi_query or self.lookups) or self.hyde or (self.rerank.enabled and self.rerank.by == "llm")


BESIDE_RETRIEVAL = ("top_k", "min_score", "mode", "vector_weight", "lexical_weight", "rerank", "filters")
"""Options of retrieval that may also stand at the top of a request, as they once did."""


class RetrievalRequest(Input):
    """What a search and a question have in common. `auth` is for the provider that embeds the index."""

    index_name: IndexName = DEFAULT_INDEX
    retrieval: RetrievalOptions = RetrievalOptions()
    auth: AuthField = Auth()
    embedding: QueryEmbedding = QueryEmbedding()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _gather_options(cls, values: object) -> object:
        return gather(values, BESIDE_RETRIEVAL, "retrieval")


class SearchRequest(RetrievalRequest):
    """A search in one index."""

    query: str = pydantic.Field(min_length=1, max_length=4000, pattern=TEXT)


class Hit(Model):
    """A place that was found: the chunk that matched best, and the passage around it that is handed on.

    Scores are in 0..1; a score is None when its stage did not run or did not find the chunk. The ranks count from 1.
    All of them mean the same for every question and in every library. `vector_score` is the cosine similarity of
    question and chunk, comparable within one embedding model. `lexical_score` is the chunk's share of what the
    question's words can reach: 1 where it has each of them twice or oftener, rare words counting more. `final_score`
    decides: in a hybrid search the weighted mean of both, the cosine on its model's own scale, with the fit of page and
    document and the landmarks asked for; in a search of one kind that kind's own score; with rerank the mean with
    `rerank_score`; fused by ranks the sum of 1 / (rrf_k + rank), which says nothing of fit.

    `source` is the path or URL of the document's file, `shown_source` what other machines may read of it.
    `page_labels` are the numbers printed on its pages, by the pages' own, where they differ; `page_count` is the
    document's, 0 if unknown.
    """

    chunk: Chunk
    passage: Passage
    document_name: str
    mime_type: str
    page_labels: Mapping[int, str] = pydantic.Field(default_factory=dict)
    page_count: int = 0
    title: str | None = None
    source: str | None = None
    shown_source: str | None = None
    vector_score: float | None = None
    lexical_score: float | None = None
    rerank_score: float | None = None
    final_score: float
    vector_rank: int | None = None
    lexical_rank: int | None = None

    def page_name(self, number: int) -> str:
        """One of its pages as people find it."""
        return page_name(number, self.page_labels.get(number), self.page_count)


class Usage(Model):
    """What a request cost; `cost_usd` in dollars, None where the model's price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    latency_ms: float = 0.0
    cost_usd: float | None = None


class Variant(Model):
    """A text that was searched for: the question itself, a rewrite of it, a hypothetical answer to it, or a part of it.

    Look-ups are made in steps, from 1, each after what was found by those before; all else is in step 0.
    """

    kind: Literal["question", "rewrite", "hyde", "lookup"]
    text: str
    step: int = 0


class Rewriting(Model):
    """What a question was rewritten or widened with: the words `found` in it, and what was `added` to the search.

    `trade` is the vocabulary that knows them.
    """

    kind: Literal["period", "synonym", "derived", "item", "abbreviation", "landmark"]
    found: str
    added: tuple[str, ...]
    trade: str | None = None


Outcome = Literal["returned", "same_place", "below_min_score", "beyond_top_k", "not_considered", "gone"]
"""What became of a candidate: it was returned as a hit; it lies on the pages of a better hit; its score is too low; it
came after the last hit; its fused score was too low for a closer
look; it was deleted meanwhile."""


class CandidateTrace(Model):
    """A candidate's way through a search. Ranks count from 1; None: the stage did not see it.

    Scores are those of `Hit`: cosine similarity, the share of the question's words, how surely it stands at a landmark
    that is asked for, how well its whole document fits, all of these fused, reranked, and the one that decided.
    """

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    page_number: int
    vector_rank: int | None = None
    vector_score: float | None = None
    lexical_rank: int | None = None
    lexical_score: float | None = None
    landmark_score: float | None = None
    document_score: float | None = None
    fused_rank: int
    fused_score: float
    rerank_score: float | None = None
    final_score: float | None = None
    hit: int | None = None
    outcome: Outcome


class SearchTrace(Model):
    """What was searched for, what the question was rewritten with, and every candidate by its fused rank."""

    variants: tuple[Variant, ...]
    rewritings: tuple[Rewriting, ...] = ()
    candidates: tuple[CandidateTrace, ...]


class SearchResponse(Model):
    """What was found, best first."""

    query: str
    top_k: int
    min_score: float
    mode: SearchMode
    results: tuple[Hit, ...]
    usage: Usage = Usage()
    trace: SearchTrace | None = None


Stage = Literal[
    "not_indexed",
    "trash",
    "filters",
    "must_include",
    "candidates",
    "considered",
    "min_score",
    "top_k",
    "context",
    "given",
]
"""Where the way of a passage to the answer ends, in this order; `given` is the end: the answer was made from it."""


class Explanation(Model):
    """Why a passage is, or is not, among what an answer to a question is made from.

    `message` says it in words, with what can be done. `candidate` is its chunk's way through the search, `rewritings`
    what the question was widened with, if it was searched for.
    """

    stage: Stage
    message: str
    document_name: str | None = None
    page_number: int | None = None
    candidate: CandidateTrace | None = None
    rewritings: tuple[Rewriting, ...] = ()


class Finding(NamedTuple):
    """A chunk that has certain words, wherever it is."""

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    document_name: str
    page_number: int
    in_trash: bool


class RetrievedChunk(Model):
    """A chunk's text and where it comes from.

    `metadata` has `source_file` (the path or URL the document was taken in from, else its name), `document_id`,
    `chunk_id`, `file_name`, `mime_type`, `page_number`, `line_start`, `line_end` and `section`.
    """

    content: str
    metadata: dict[str, Any]


class RetrievalResult(Model):
    """A found chunk, its cosine similarity in 0..1, and its rank from 1."""

    chunk: RetrievedChunk
    similarity_score: float
    rank: int

    @classmethod
    def of(cls, hit: Hit, rank: int) -> "RetrievalResult":
        """A hit in these words."""
        chunk = hit.chunk
        metadata = {
            "source_file": hit.source or hit.document_name,
            "document_id": str(chunk.document_id),
            "chunk_id": str(chunk.id),
            "file_name": hit.document_name,
            "mime_type": hit.mime_type,
            "page_number": chunk.page_number,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
            "section": chunk.section,
        }
        content = RetrievedChunk(content=chunk.text, metadata=metadata)
        return cls(chunk=content, similarity_score=hit.vector_score or 0.0, rank=rank)
