"""Answers, hits and reports in the words of outside: flat, as JSON with camelCase names.

The module functions, the REST API, the command line's `--json` and exports speak these; the engine speaks `rag.types`.
"""

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Self

import pydantic

from rag.types import (
    PRESENTATIONS,
    AnswerResponse,
    AnswerStatus,
    ChatMessage,
    Citation,
    ClaimChange,
    Difference,
    DocumentStatus,
    FileReport,
    FilledMatrix,
    Hit,
    Index,
    Job,
    LaterPlace,
    Line,
    Matrix,
    Model,
    Passage,
    QuotedRow,
    Region,
    Rerun,
    SearchMode,
    SearchResponse,
    SearchTrace,
    Sentence,
    ShownCell,
    SyncReport,
    Usage,
    Verdict,
)
from rag.types.answers import RetrievalSummary
from rag.types.conversations import Rating

NOTHING_LATER: Mapping[int, LaterPlace] = MappingProxyType({})

SNIPPET_CHARS = 300
"""So much of a chunk stands in for a quote that could not be found."""


class Place(Model):
    """Where something stands, and how well it was found.

    `page` is None in a presentation, `slide` in anything else; `page_label` is the number printed on the page, None
    where that is the page's own; lines count from 1 through the document. Scores are
    those of `rag.types.Hit`, in 0..1, and None where that search did not run or did not find the chunk; `score` is
    `final_score`.
    """

    chunk_id: uuid.UUID
    file_id: uuid.UUID
    file_name: str
    mime_type: str
    page: int | None
    page_label: str | None
    slide: int | None
    line_start: int
    line_end: int
    regions: tuple[Region, ...]
    score: float
    vector_score: float | None
    lexical_score: float | None
    final_score: float


def _place(hit: Hit, lines: Sequence[Line]) -> dict[str, Any]:
    """The fields of a place that `lines` of a hit make, but for the boxes."""
    number, is_slide = lines[0].page_number, hit.mime_type in PRESENTATIONS
    return {
        "chunk_id": hit.chunk.id,
        "file_id": hit.chunk.document_id,
        "file_name": hit.document_name,
        "mime_type": hit.mime_type,
        "page": None if is_slide else number,
        "page_label": None if is_slide else hit.page_labels.get(number),
        "slide": number if is_slide else None,
        "line_start": lines[0].number,
        "line_end": lines[-1].end,
        "score": hit.final_score,
        "vector_score": hit.vector_score,
        "lexical_score": hit.lexical_score,
        "final_score": hit.final_score,
    }


def source_of(hit: Hit) -> str:
    """What is shown of where the document was taken in from, never a path of this machine; of an upload its name."""
    return hit.shown_source or hit.document_name


class FoundChunk(Place):
    """A chunk that was found. `rerank_score` is there only if reranking gave one; ranks count from 1."""

    title: str | None
    source: str
    section: str | None
    text: str
    rerank_score: float | None = pydantic.Field(default=None, exclude_if=lambda score: score is None)
    vector_rank: int | None
    lexical_rank: int | None

    @classmethod
    def of(cls, hit: Hit, **more: Any) -> Self:
        """A hit in these words, with what else there is to say."""
        return cls(
            **_place(hit, hit.chunk.lines),
            regions=hit.chunk.regions,
            title=hit.title,
            source=source_of(hit),
            section=hit.chunk.section,
            text=hit.chunk.text,
            rerank_score=hit.rerank_score,
            vector_rank=hit.vector_rank,
            lexical_rank=hit.lexical_rank,
            **more,
        )


class SearchResult(FoundChunk):
    """A chunk that was found, and the passage around it that is handed on."""

    passage: Passage

    @classmethod
    def of(cls, hit: Hit, **more: Any) -> Self:
        """A hit with its passage."""
        return super().of(hit, passage=hit.passage, **more)


class SearchBody(Model):
    """What was found, best first."""

    query: str
    top_k: int
    min_score: float
    mode: SearchMode
    results: tuple[SearchResult, ...]
    usage: Usage
    trace: SearchTrace | None

    @classmethod
    def of(cls, response: SearchResponse) -> Self:
        """A search's response in these words."""
        return cls(
            query=response.query,
            top_k=response.top_k,
            min_score=response.min_score,
            mode=response.mode,
            results=tuple(map(SearchResult.of, response.results)),
            usage=response.usage,
            trace=response.trace,
        )


class CitationBody(Place):
    """What a sentence, counted from 0, rests on: the place of its quote with the quote's boxes.

    Where nothing supports the sentence, `quote` is None, and the place is that of the chunk. `snippet` is the quote, or
    where there is none the beginning of the chunk. `row` is the quote cell by cell where it is a row of a table,
    `cells` those of a sheet that it stands in, such as “Balance!B14”. `later` is there in kept answers whose document
    has a later version now: what became of the quote in it.
    """

    citation_id: str
    sentence: int
    quote: str | None
    snippet: str
    verdict: Verdict
    unsupported_numbers: tuple[str, ...]
    row: QuotedRow | None
    cells: str | None
    later: LaterPlace | None = pydantic.Field(default=None, exclude_if=lambda later: later is None)

    @classmethod
    def of(cls, citation: Citation, hit: Hit, later: LaterPlace | None = None) -> Self:
        """A citation of a hit in these words."""
        return cls(
            **_place(hit, citation.lines_in(hit)),
            regions=citation.regions,
            citation_id=citation.citation_id,
            sentence=citation.sentence,
            quote=citation.quote,
            snippet=citation.quote or hit.chunk.text[:SNIPPET_CHARS],
            verdict=citation.verdict,
            unsupported_numbers=citation.unsupported_numbers,
            row=citation.row,
            later=later,
            cells=citation.cells,
        )


class SourceBody(Model):
    """What was read under a citation's id: the passage around the chunk that was found, whole."""

    citation_id: str
    chunk_id: uuid.UUID
    file_id: uuid.UUID
    file_name: str
    source: str
    passage: Passage

    @classmethod
    def of(cls, citation_id: str, hit: Hit) -> Self:
        """A cited hit in these words."""
        return cls(
            citation_id=citation_id,
            chunk_id=hit.chunk.id,
            file_id=hit.chunk.document_id,
            file_name=hit.document_name,
            source=source_of(hit),
            passage=hit.passage,
        )


class AnswerBody(Model):
    """A grounded answer with its marks [S1]…, its citations, and each source that they name once.

    `contexts` are the chunks that led to the sources, in their order. An insufficient answer has none of these; then
    `nearest` are the places found, and `hint` says what is missing in them. `likelihood` is the probability, in 0..1,
    that a quoted answer is right, None of a written one. `question` is what was answered, where that is not what was
    asked. Each of the `sentences` has its verdict in `support`, and in `missing` what its quotes do not hold; `struck`
    are the numbers of those that are not to be relied on. It may have been `stopped` while it was written. `follow_ups`
    are questions that the documents it quotes can answer next.
    """

    status: AnswerStatus
    answer: str
    question: str | None
    sentences: tuple[Sentence, ...]
    struck: tuple[int, ...]
    citations: tuple[CitationBody, ...]
    sources: tuple[SourceBody, ...]
    contexts: tuple[FoundChunk, ...]
    nearest: tuple[SearchResult, ...]
    hint: str | None
    likelihood: float | None
    stopped: bool
    follow_ups: tuple[str, ...]
    retrieval: RetrievalSummary
    model: str
    usage: Usage

    @classmethod
    def of(cls, response: AnswerResponse, later: Mapping[int, LaterPlace] = NOTHING_LATER) -> Self:
        """An answer in these words, with what became of its quotes, by citation number."""
        return cls(
            status=response.status,
            answer=response.answer,
            question=response.question,
            sentences=response.sentences,
            struck=response.struck,
            citations=tuple(CitationBody.of(*cited, later.get(i)) for i, cited in enumerate(response.cited)),
            sources=tuple(SourceBody.of(*source) for source in response.sources.items()),
            contexts=tuple(map(FoundChunk.of, response.contexts)),
            nearest=tuple(map(SearchResult.of, response.nearest)),
            hint=response.hint,
            likelihood=response.likelihood,
            stopped=response.stopped,
            follow_ups=response.follow_ups,
            retrieval=response.retrieval.model_copy(update={"pages": {}}),
            model=response.model,
            usage=response.usage,
        )


class MessageBody(Model):
    """A kept turn of a chat; an assistant's turn has its whole answer, and what the user thinks of it.

    `versions` are the ids of the turns that stand in the same place, its own among them, oldest first.
    """

    id: uuid.UUID
    conversation_id: uuid.UUID
    role: Literal["user", "assistant"]
    content: str
    response: AnswerBody | None
    created_at: dt.datetime
    versions: tuple[uuid.UUID, ...]
    rating: Rating | None
    reason: str | None

    @classmethod
    def of(cls, message: ChatMessage, later: Mapping[int, LaterPlace] = NOTHING_LATER) -> Self:
        """A turn in these words, with what became of its answer's quotes, by citation number."""
        return cls(
            id=message.id,
            conversation_id=message.conversation_id,
            role=message.role,
            content=message.content,
            response=AnswerBody.of(message.response, later) if message.response else None,
            created_at=message.created_at,
            versions=message.versions,
            rating=message.rating,
            reason=message.reason,
        )


class AgainBody(Model):
    """What an answer's question gets now, and in what it differs from then; `summary` says it in a sentence.

    `differences` are those in what both were made from, null where that was not kept then.
    """

    asked_at: dt.datetime
    same: bool
    summary: str
    differences: tuple[Difference, ...] | None
    claims: tuple[ClaimChange, ...]
    response: AnswerBody

    @classmethod
    def of(cls, again: Rerun) -> Self:
        """The same in these words."""
        return cls(
            asked_at=again.asked_at,
            same=again.same,
            summary=again.summary,
            differences=again.differences,
            claims=again.claims,
            response=AnswerBody.of(again.response),
        )


class MatrixRow(Model):
    """A document of a matrix, as the version that is asked now."""

    lineage_id: uuid.UUID
    document_id: uuid.UUID
    name: str
    version: int
    status: DocumentStatus


class MatrixBody(Model):
    """A matrix with what is answered so far: `rows` are documents; a cell names its row by its `lineageId`.

    `toAsk` counts the cells that are empty or stale, of documents that can be asked.
    """

    matrix: Matrix
    rows: tuple[MatrixRow, ...]
    cells: tuple[ShownCell, ...]
    to_ask: int
    job: Job | None

    @classmethod
    def of(cls, filled: FilledMatrix) -> Self:
        """The same, of its documents what tells them apart."""
        rows = (
            MatrixRow(
                lineage_id=one.lineage_id or one.id,
                document_id=one.id,
                name=one.name,
                version=one.version,
                status=one.status,
            )
            for one in filled.documents
        )
        return cls(matrix=filled.matrix, rows=tuple(rows), cells=filled.cells, to_ask=filled.to_ask, job=filled.job)


class SyncBody(Model):
    """What became of a folder's files, and how many of them were added, changed and so on.

    `added` are new files and files that came back, `removed` documents whose file is gone (they are in the trash),
    `left_out` files beyond the limits, and `chunk_count` the chunks made now.
    """

    index_file_id: str
    index_name: str
    index: Index
    files: tuple[FileReport, ...]
    added: int
    changed: int
    unchanged: int
    removed: int
    failed: int
    left_out: int
    chunk_count: int
    usage: Usage

    @classmethod
    def of(cls, report: SyncReport) -> Self:
        """A report in these words."""
        return cls(
            index_file_id=str(report.index.id),
            index_name=report.index.name,
            index=report.index,
            files=report.files,
            added=report.count("added"),
            changed=report.count("changed"),
            unchanged=report.count("unchanged"),
            removed=report.count("removed"),
            failed=report.count("failed"),
            left_out=report.count("left_out"),
            chunk_count=sum(file.chunks for file in report.files),
            usage=report.usage,
        )
