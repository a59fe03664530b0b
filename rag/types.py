"""The words of the domain, as frozen models.

Boxes are in PDF points with the origin at the top left of the page **as displayed** (crop box and
rotation applied). Pages and lines count from 1; lines run through the whole document in reading order.
Python names are snake_case; camelCase aliases are accepted everywhere and used when `by_alias=True`.
"""

import datetime as dt
import uuid
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple

import pydantic
from pydantic import alias_generators


class Model(pydantic.BaseModel):
    """Base of all models: frozen, closed, camelCase aliases."""

    model_config = pydantic.ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, alias_generator=alias_generators.to_camel
    )


class Rect(NamedTuple):
    """A box on a displayed page, in points: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float

    def union(self, other: "Rect") -> "Rect":
        """The smallest box around both."""
        return Rect(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))


class Region(Model):
    """Boxes on one page."""

    page_number: int
    rects: tuple[Rect, ...]


class Highlight(Model):
    """Boxes to light on a page: a quote brightly, the passage around it softly; `active` marks the one clicked on."""

    page_number: int
    rects: tuple[Rect, ...]
    kind: Literal["quote", "passage"] = "quote"
    active: bool = False


# --- Text and where it stands -----------------------------------------------------------------------


class BlockKind(StrEnum):
    """What a block is to a reader."""

    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"


class Line(Model):
    """One line of text as it stands on a page. A table's row is one line, its cells parted by tabs."""

    number: int
    page_number: int
    bbox: Rect
    text: str
    kind: BlockKind = BlockKind.TEXT
    starts_block: bool = False


class TextBlock(Model):
    """A paragraph, heading or table on one page.

    `lines` may be left out by callers who bring their own blocks; then `text` is split at line breaks
    and every line has the block's box. `level` is a heading's depth from 1.
    """

    page_number: int = pydantic.Field(ge=1)
    bbox: Rect
    line_start: int = pydantic.Field(ge=1)
    line_end: int = pydantic.Field(ge=1)
    text: str
    kind: BlockKind = BlockKind.TEXT
    level: int | None = None
    lines: tuple[Line, ...] = ()

    def to_lines(self) -> tuple[Line, ...]:
        """The block's lines, made from its text when it has none."""
        if self.lines:
            return self.lines
        texts = self.text.split("\n")
        last = len(texts) - 1
        return tuple(
            Line(
                number=min(self.line_start + offset, self.line_end) if offset < last else self.line_end,
                page_number=self.page_number,
                bbox=self.bbox,
                text=text,
                kind=self.kind,
                starts_block=offset == 0,
            )
            for offset, text in enumerate(texts)
        )


class PageInfo(Model):
    """A page's size as displayed, in points, and the number printed on it, if the file names one."""

    number: int
    width: float
    height: float
    label: str | None = None
    error: str | None = None
    ocr: bool = False


class ParsedDocument(Model):
    """What parsing makes of a rendition: its pages and blocks in reading order."""

    title: str | None
    pages: tuple[PageInfo, ...]
    blocks: tuple[TextBlock, ...]

    @property
    def line_count(self) -> int:
        """Lines in the whole document."""
        return self.blocks[-1].line_end if self.blocks else 0


def lines_text(lines: Sequence[Line]) -> str:
    """The text of `lines`: a blank line before each new block, a line break before each other line."""
    parts: list[str] = []
    for index, line in enumerate(lines):
        if index:
            parts.append("\n\n" if line.starts_block else "\n")
        parts.append(line.text)
    return "".join(parts)


class Passage(Model):
    """Consecutive lines of one document. Text, pages, boxes and line numbers all derive from the lines."""

    document_id: uuid.UUID
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The characters as they stand in the document."""
        return lines_text(self.lines)

    @property
    def pages(self) -> tuple[int, ...]:
        """Numbers of the pages it stands on, ascending."""
        return tuple(sorted({line.page_number for line in self.lines}))

    @property
    def page_number(self) -> int:
        """The page it begins on."""
        return self.lines[0].page_number

    @property
    def line_start(self) -> int:
        """First line, counted through the document."""
        return self.lines[0].number

    @property
    def line_end(self) -> int:
        """Last line, counted through the document."""
        return self.lines[-1].number

    @property
    def bbox(self) -> Rect:
        """The box around its part on its first page."""
        box, *rest = [line.bbox for line in self.lines if line.page_number == self.page_number]
        for other in rest:
            box = box.union(other)
        return box

    @property
    def regions(self) -> tuple[Region, ...]:
        """The boxes of its lines, page by page."""
        return tuple(
            Region(page_number=page, rects=tuple(line.bbox for line in self.lines if line.page_number == page))
            for page in self.pages
        )


class Chunk(Passage):
    """What is embedded and found.

    `context` is the header (title, section path, a table's header row) that the embedder and the lexical index see
    before the text; it is not part of the text.
    """

    id: uuid.UUID
    ordinal: int = pydantic.Field(ge=0)
    section: str | None = None
    context: str = ""


# --- Documents and indexes --------------------------------------------------------------------------


class DocumentStatus(StrEnum):
    """How far a document is. Only `ready` documents (or ones that were ready before) are searchable."""

    QUEUED = "queued"
    NEEDS_PASSWORD = "needs_password"  # noqa: S105  # a state, not a password
    PARSING = "parsing"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


class Progress(Model):
    """How far the present stage is: `done` of `total` units (pages while parsing, chunks while embedding)."""

    done: int = 0
    total: int = 0


class Document(Model):
    """A file of one user in one index."""

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    name: str
    mime_type: str
    sha256: str
    size: int
    source: str | None = None
    title: str | None = None
    status: DocumentStatus
    progress: Progress = Progress()
    error: str | None = None
    error_code: str | None = None
    page_count: int = 0
    failed_pages: tuple[int, ...] = ()
    line_count: int = 0
    chunk_count: int = 0
    pages: tuple[PageInfo, ...] = ()
    created_at: dt.datetime
    indexed_at: dt.datetime | None = None
    deleted_at: dt.datetime | None = None


class ChunkingOptions(Model):
    """How blocks are cut into chunks; sizes in characters."""

    chunk_size_chars: int = pydantic.Field(default=1200, ge=100, le=8000)
    chunk_overlap_chars: int = pydantic.Field(default=200, ge=0)
    min_chunk_chars: int = pydantic.Field(default=200, ge=0)

    @pydantic.model_validator(mode="after")
    def _overlap_below_size(self) -> "ChunkingOptions":
        if self.chunk_overlap_chars >= self.chunk_size_chars:
            raise ValueError("chunk_overlap_chars must be smaller than chunk_size_chars")
        return self


class EmbeddingSpace(Model):
    """Vectors can be compared only within one space."""

    provider: str
    model: str
    dimensions: int


class Index(Model):
    """A named collection of one user's documents, with one embedding space."""

    id: uuid.UUID
    user_id: str
    name: str
    space: EmbeddingSpace
    chunking: ChunkingOptions = ChunkingOptions()
    generation: int = 1
    created_at: dt.datetime


class IndexStats(Model):
    """What an index holds; sizes in bytes, `database_bytes` is this user's estimated share of tables and indexes."""

    index: Index
    documents: int
    documents_in_trash: int
    failed_documents: int
    pages: int
    chunks: int
    characters: int
    tokens: int
    file_bytes: int
    database_bytes: int


# --- Searching --------------------------------------------------------------------------------------

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


# --- Answering --------------------------------------------------------------------------------------


class Verdict(StrEnum):
    """How well a quote stands in its source: word for word, nearly so and put right, or not at all."""

    VERIFIED = "verified"
    CORRECTED = "corrected"
    UNVERIFIED = "unverified"


class Citation(Model):
    """A claim's source: the hit, the verbatim quote in its passage, and the boxes of exactly those characters.

    `sentence` is the index of the answer's sentence it supports; `quote` is None when nothing in the passage
    supports the sentence (verdict `unverified`).
    """

    citation_id: str
    sentence: int
    hit: Hit
    quote: str | None
    regions: tuple[Region, ...]
    verdict: Verdict
    unsupported_numbers: tuple[str, ...] = ()


class Sentence(Model):
    """A sentence of the answer as shown, without its citation marks, and the ids it cites."""

    text: str
    citation_ids: tuple[str, ...] = ()
    start: int
    end: int


class Message(Model):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str = pydantic.Field(max_length=100_000)


class AnswerOptions(Model):
    """What counts as an answer."""

    require_citations: bool = True
    insufficient_evidence_message: str | None = None


class GenerationOptions(Model):
    """Which model writes, and how. `provider` "extractive" quotes the sources and needs no model."""

    provider: str | None = None
    model: str | None = None
    temperature: float = pydantic.Field(default=0.1, ge=0.0, le=2.0)
    max_output_tokens: int = pydantic.Field(default=1024, ge=1, le=100_000)


class AnswerRequest(Model):
    """A question to one index."""

    index_name: str = "default"
    question: str = pydantic.Field(min_length=1, max_length=4000)
    history: tuple[Message, ...] = ()
    retrieval: RetrievalOptions = RetrievalOptions()
    generation: GenerationOptions = GenerationOptions()
    options: AnswerOptions = AnswerOptions()


AnswerStatus = Literal["ok", "insufficient_context"]


class AnswerResponse(Model):
    """A grounded answer. `answer` carries its marks [S1]…; `nearest` are the passages found when it is insufficient."""

    status: AnswerStatus
    answer: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Hit, ...] = ()
    retrieval: dict[str, Any] = pydantic.Field(default_factory=dict)
    model: str
    usage: Usage = Usage()


class AnswerToken(Model):
    """A piece of a streamed answer; the pieces are provisional until the AnswerResponse that ends the stream."""

    text: str


AnswerEvent = AnswerToken | AnswerResponse


class Conversation(Model):
    """A chat of one user over one index."""

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    title: str
    document_ids: tuple[uuid.UUID, ...] = ()
    created_at: dt.datetime
    updated_at: dt.datetime


class ChatMessage(Model):
    """A kept turn; an assistant's turn keeps its whole response, so that its citations light up again."""

    id: uuid.UUID
    conversation_id: uuid.UUID
    role: Literal["user", "assistant"]
    content: str
    response: AnswerResponse | None = None
    created_at: dt.datetime
