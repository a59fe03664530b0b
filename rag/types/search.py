"""Search requests, options, results and traces."""

import datetime as dt
import unicodedata
import uuid
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, NamedTuple, Self

import pydantic

from rag.messages import N_
from rag.types.base import TEXT, Input, Model, visible_text
from rag.types.documents import DEFAULT_INDEX
from rag.types.requests import Auth, AuthField, IndexName, QueryEmbedding, QuestionText, StorableText, gather
from rag.types.text import BlockKind, Chunk, Passage, page_name

SearchMode = Literal["vector", "lexical", "hybrid"]

Fusion = Literal["weighted", "rrf"]

MustIncludeMode = Literal["all", "any"]

Keyword = Annotated[str, visible_text(200, TEXT)]

MAX_TAGS = 50
"""Maximum number of tags of a document, and of a filter."""

MAX_FILTER_DOCUMENTS = 10_000
"""Maximum number of documents that a filter names one by one."""

FilterDocuments = Annotated[tuple[uuid.UUID, ...], pydantic.Field(max_length=MAX_FILTER_DOCUMENTS)]
_Composed = pydantic.AfterValidator(lambda text: unicodedata.normalize("NFC", text))
"""Composes accents, as the sources of documents have them."""
FilterSources = Annotated[
    tuple[Annotated[StorableText, pydantic.Field(max_length=8000), _Composed], ...], pydantic.Field(max_length=1000)
]
FilterTags = Annotated[tuple[StorableText, ...], pydantic.Field(max_length=MAX_TAGS)]
SourcePrefix = Annotated[StorableText, pydantic.Field(max_length=8000), _Composed]
AuthorPart = Annotated[StorableText, pydantic.Field(max_length=500)]
SavedName = Annotated[StorableText, pydantic.Field(max_length=100)]


class Filters(Input):
    """Search filters; empty filters match everything.

    A document must have all `tags`; `author` matches a part of the name; both ignore case. `dated_after` is inclusive,
    `dated_before` exclusive. `saved` names a saved filter.
    """

    document_ids: FilterDocuments = pydantic.Field(
        default=(), validation_alias=pydantic.AliasChoices("documentIds", "document_ids", "file_ids", "fileIds")
    )
    mime_types: tuple[StorableText, ...] = pydantic.Field(default=(), max_length=100)
    sources: FilterSources = ()
    source_prefix: SourcePrefix | None = None
    added_after: pydantic.AwareDatetime | None = None
    added_before: pydantic.AwareDatetime | None = None
    tags: FilterTags = pydantic.Field(default=(), description="Only documents with this tag.")
    author: AuthorPart | None = pydantic.Field(default=None, description="Only documents of this author.")
    dated_after: dt.date | None = pydantic.Field(default=None, description="Only of this day (2024-03-01) or later.")
    dated_before: dt.date | None = pydantic.Field(default=None, description="Only of days before this one.")
    saved: SavedName | None = pydantic.Field(
        default=None, description="A saved filter: holds where nothing else is said."
    )


class Scope(Model):
    """The part of an index to search: documents outside the trash that match the filters.

    `must_include` are words or phrases that a chunk's text must contain, all or any of them, ignoring case, also within
    longer words and across line breaks.
    """

    index_id: uuid.UUID
    filters: Filters = Filters()
    must_include: tuple[Keyword, ...] = ()
    must_include_mode: MustIncludeMode = "all"


class Candidate(NamedTuple):
    """A chunk found by one search. `score` is the cosine in 0..1, or the normalized BM25 score.

    A chunk without vector (`has_vector`) is found by lexical search only.
    """

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    page_number: int
    score: float
    has_vector: bool = True


class RerankOptions(Input):
    """Reranking options."""

    enabled: bool = pydantic.Field(default=False, description=N_("Order the best places anew."))
    top_n: int = pydantic.Field(default=20, ge=1, le=200, description="How many of the best are ordered anew.")


class RetrievalOptions(Input):
    """Search options; `mode`, `fusion` and `rrf_k` default to the installation's settings."""

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
    periods: bool = pydantic.Field(
        default=True,
        description=N_("Search for periods as documents write them: FY22 as 2022, Q2'23 as second quarter 2023."),
    )
    vocabulary: bool = pydantic.Field(
        default=True,
        description=N_("Search by words for what a trade calls the same, too: net sales where revenue is asked for."),
    )
    landmarks: bool = pydantic.Field(
        default=True,
        description=N_("Prefer the part of a document that is named or meant: a balance sheet, table 4, page 12."),
    )
    routing: bool = pydantic.Field(
        default=True,
        description=N_(
            "Search only the documents that the question names, and prefer those whose name, title or first pages it "
            "speaks of."
        ),
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
        """Whether the search needs a language model."""
        return bool(self.multi_query) or self.hyde


BESIDE_RETRIEVAL = ("top_k", "min_score", "mode", "vector_weight", "lexical_weight", "rerank", "filters")
"""Retrieval options also accepted at the top level of a request, for backward compatibility."""


class RetrievalRequest(Input):
    """The common part of search and answer requests; `auth` is for the embedding provider."""

    index_name: IndexName = DEFAULT_INDEX
    retrieval: RetrievalOptions = RetrievalOptions()
    auth: AuthField = Auth()
    embedding: QueryEmbedding = QueryEmbedding()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _gather_options(cls, values: object) -> object:
        return gather(values, BESIDE_RETRIEVAL, "retrieval")


class SearchRequest(RetrievalRequest):
    """A search request for one index."""

    query: QuestionText


class Hit(Model):
    """A search result: the best matching chunk, and the passage around it.

    Scores are in 0..1 and comparable across questions and libraries; a score is None if its stage did not run or did
    not find the chunk. Ranks count from 1. `vector_score` is the cosine similarity of question and chunk, comparable
    within one embedding model. `lexical_score` is BM25 divided by the maximum for the question: 1 if the chunk has each
    word at least twice, rare words weighing more. `final_score` determines the order: in hybrid search the weighted
    mean of both (the cosine scaled per model) with the scores of page, document and landmarks; in a single mode its own
    score; with reranking the mean with `rerank_score`; with rank fusion the sum of 1 / (rrf_k + rank), which does not
    measure relevance.

    `source` is the path or URL of the file, `shown_source` the part other machines may see. `page_labels` are the
    printed page numbers where they differ from the page numbers; `page_count` is 0 if unknown.
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

    def of_kinds(self, kinds: AbstractSet[BlockKind]) -> "Hit | None":
        """Return the hit with only the lines of these kinds; None if it has none.

        A chunk of other kinds is replaced by the rest of its passage.
        """
        if self.passage.kinds <= kinds:
            return self
        lines = tuple(line for line in self.passage.lines if line.kind in kinds)
        if not lines:
            return None
        chunk = self.chunk if self.chunk.kinds <= kinds else self.chunk.model_copy(update={"lines": lines})
        return self.model_copy(
            update={"passage": Passage(document_id=self.passage.document_id, lines=lines), "chunk": chunk}
        )

    def page_name(self, number: int) -> str:
        """Return the display name of a page."""
        return page_name(number, self.page_labels.get(number), self.page_count)


class Usage(Model):
    """Tokens, latency and cost of a request; `cost_usd` is None if the model's price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    embedding_tokens: int = 0
    latency_ms: float = 0.0
    cost_usd: float | None = None


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum; the cost is unknown if that of one is. Cached answers use no tokens."""
    usages = [*usages]
    used = [usage for usage in usages if usage.input_tokens or usage.output_tokens]
    costs = [usage.cost_usd for usage in used if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in used),
        output_tokens=sum(usage.output_tokens for usage in used),
        embedding_tokens=sum(usage.embedding_tokens for usage in usages),
        latency_ms=sum(usage.latency_ms for usage in usages),
        cost_usd=sum(costs) if costs and len(costs) == len(used) else None,
    )


class Variant(Model):
    """A text searched for: the question, a rewrite, or a hypothetical answer (HyDE)."""

    kind: Literal["question", "rewrite", "hyde"]
    text: str


class Rewriting(Model):
    """A query expansion: the words `found` in the question, and the words `added` to the search.

    `trade` is the vocabulary that defines them.
    """

    kind: Literal["period", "synonym", "derived", "item", "abbreviation", "landmark"]
    found: str
    added: tuple[str, ...]
    trade: str | None = None


Outcome = Literal["returned", "same_place", "below_min_score", "beyond_top_k", "not_considered", "gone"]
"""The outcome of a candidate: returned as a hit, on the page of a better hit, below the minimum score, ranked after the
last hit, fused score too low to be considered, or deleted meanwhile."""


class CandidateTrace(Model):
    """The scores and ranks of a candidate in each stage of a search; None if the stage did not see it.

    Scores are those of `Hit`, with `landmark_score` for a landmark named in the question and `document_score` for the
    whole document. Ranks count from 1.
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
    """A trace of a search: query variants, expansions, and all candidates by fused rank."""

    variants: tuple[Variant, ...]
    rewritings: tuple[Rewriting, ...] = ()
    candidates: tuple[CandidateTrace, ...]


class SearchResponse(Model):
    """The results of a search, best first."""

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
"""The stage at which a passage is dropped, in this order; `given` passages reached the answer."""


class Explanation(Model):
    """An explanation why a passage was or was not used for an answer.

    `message` explains it and suggests a remedy. `candidate` is the trace of its chunk, `rewritings` the expansions of
    the question.
    """

    stage: Stage
    message: str
    document_name: str | None = None
    page_number: int | None = None
    candidate: CandidateTrace | None = None
    rewritings: tuple[Rewriting, ...] = ()


class Finding(NamedTuple):
    """A chunk that contains given words, in or outside the trash."""

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    document_name: str
    page_number: int
    in_trash: bool


class RetrievedChunk(Model):
    """A chunk's text and where it comes from.

    `metadata` has `source_file` (the path or URL the document was ingested from, else its name), `document_id`,
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
        """Convert a hit."""
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
