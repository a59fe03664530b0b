"""Documents, the indexes that hold them, and their parsing and chunking options."""

import datetime as dt
import re
import unicodedata
import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal

import pydantic

from rag.messages import N_
from rag.types.base import Input, Model
from rag.types.text import Completeness, PageInfo, Subject

CONTAINER_SEPARATOR = " › "
"""Separates a mail or archive from its attachment in a displayed source."""

MAX_NAMED_PARTS = 5
"""Maximum number of omitted attachments to name in a summary."""

DEFAULT_INDEX = "default"
"""The index used if none is named; it always exists."""

ENGLISH = "english"
"""The default language. Languages have the names of PostgreSQL's text search configurations."""

SIMPLE = "simple"
"""Any language that is searched without stemming and stop words."""


def language_name(language: str) -> str:
    """Return the display name of a language."""
    return N_("other") if language == SIMPLE else language.capitalize()


GOOGLE_DOCUMENT = "application/vnd.google-apps.document"

GOOGLE_PRESENTATION = "application/vnd.google-apps.presentation"

GOOGLE_APPS = frozenset({GOOGLE_DOCUMENT, GOOGLE_PRESENTATION})
"""MIME types of Google Docs and Slides, which are downloaded as PDF."""

PRESENTATIONS = frozenset(
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", GOOGLE_PRESENTATION}
)
"""MIME types of files whose pages are slides."""

MAIL = "message/rfc822"

OUTLOOK_MAIL = "application/vnd.ms-outlook"

MAILBOX = "application/mbox"

ARCHIVE = "application/zip"

FILING = "text/x-sec-submission"
"""Complete submissions in the archive of the SEC; they have no registered type."""

CONTAINERS = frozenset({MAIL, OUTLOOK_MAIL, MAILBOX, ARCHIVE, FILING})
"""MIME types of files with attachments, which become documents of their own."""


class DocumentStatus(StrEnum):
    """The processing status of a document.

    Lexical search finds a document from `embedding` on, and the first pages of a large one during `parsing`. A document
    that was searchable before stays so while it is re-read.
    """

    QUEUED = "queued"
    NEEDS_PASSWORD = "needs_password"  # noqa: S105  # a state, not a password
    PARSING = "parsing"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


class Lane(StrEnum):
    """The next processing step of an unfinished document; each worker serves all lanes concurrently.

    `reading` extracts its text, `embedding` computes its vectors in batches, `renewing` does both and then replaces the
    searchable version.
    """

    READING = "reading"
    EMBEDDING = "embedding"
    RENEWING = "renewing"


UNFINISHED = frozenset({DocumentStatus.QUEUED, DocumentStatus.PARSING, DocumentStatus.EMBEDDING})
"""The statuses of documents that are queued or being processed."""

OnProgress = Callable[[str, int, int], None]
"""A progress callback: stage such as "parsing", units done, units in total; 0 of 0 is unknown."""


def ignore_progress(_stage: str, _done: int, _total: int) -> None:
    """Discard progress reports."""


class Progress(Model):
    """The progress of the current stage: `done` of `total` units (pages while parsing, chunks while embedding).

    `seconds_left` extrapolates the speed so far; None if unknown.
    """

    done: int = 0
    total: int = 0
    seconds_left: float | None = None


MIN_SECONDS = 1.0
"""Minimum time of a stage before its speed is extrapolated."""


def seconds_left(done: int, total: int, *, since: int, elapsed: float) -> float | None:
    """Extrapolate the remaining seconds of a stage that went from `since` to `done` in `elapsed` seconds."""
    if done <= since or elapsed < MIN_SECONDS or total < done:
        return None
    return (total - done) * elapsed / (done - since)


_ON_THIS_MACHINE = re.compile(r"[/\\~]|[a-z]:[/\\]|(?:file|local):|.*::", re.IGNORECASE | re.DOTALL)
"""Matches the start of a path, or of a chained URL that may contain one."""

_USER_INFO = re.compile(r"(?<=://)[^/@]*@")


def shown_source(source: str, path: str) -> str:
    """Return the part of `source` that other machines may see: a URL without credentials, or else `path`.

    `path` is relative to the ingested folder, or just the file name. Accents are composed.
    """
    shown = path if _ON_THIS_MACHINE.match(source) else _USER_INFO.sub("", source)
    return unicodedata.normalize("NFC", shown)


class Part(Model):
    """An attachment of a mail or member of an archive: its path inside and its size in bytes.

    `document_id` is the document with its content; None if it was left out. `reason` explains an omission, or that the
    content belongs to another document.
    """

    name: str
    size: int
    document_id: uuid.UUID | None = None
    reason: str | None = None


PARTS_SUMMARIES = {
    (True, True, False): N_("{taken} of 1 file in it was taken in."),
    (True, True, True): N_("{taken} of 1 file in it was taken in. Left out: {_left}"),
    (True, False, False): N_("{taken} of 1 file in it were taken in."),
    (True, False, True): N_("{taken} of 1 file in it were taken in. Left out: {_left}"),
    (False, True, False): N_("{taken} of {total} files in it was taken in."),
    (False, True, True): N_("{taken} of {total} files in it was taken in. Left out: {_left}"),
    (False, False, False): N_("{taken} of {total} files in it were taken in."),
    (False, False, True): N_("{taken} of {total} files in it were taken in. Left out: {_left}"),
}
"""Summaries by whether there is one file, one was ingested, and some were left out."""


def parts_summary(parts: Sequence[Part]) -> str | None:
    """Summarize how many of `parts` were ingested and why others were left out; None without parts."""
    if not parts:
        return None
    left_out = [part for part in parts if part.document_id is None]
    taken = len(parts) - len(left_out)
    reasons = ""
    for part in reversed(left_out[:MAX_NAMED_PARTS]):
        reason = N_("{name}: {_reason}").format(name=part.name, _reason=part.reason)
        reasons = N_("{_first}; {_others}").format(_first=reason, _others=reasons) if reasons else reason
    if len(left_out) > MAX_NAMED_PARTS:
        reasons = N_("{_left}; and {count} more").format(_left=reasons, count=f"{len(left_out) - MAX_NAMED_PARTS:,}")
    template = PARTS_SUMMARIES[len(parts) == 1, taken == 1, bool(left_out)]
    return template.format(taken=f"{taken:,}", total=f"{len(parts):,}", _left=reasons)


class DocumentNames(Model):
    """What a document is called and about."""

    id: uuid.UUID
    name: str
    title: str | None = None
    subject: Subject = Subject()


class Document(DocumentNames):
    """A file of one user in one index.

    `source` is the path or URL it was ingested from and stays on this machine; `shown_source` is serialized as
    `source`. `language` selects the stemmer of lexical search.

    It is `searchable` by words as soon as it has chunks, and by meaning as far as these have vectors (`vector_count` of
    `chunk_count`); words in pictures are added last (`pictures_waiting`). `note` informs the owner about its parsing.
    An unfinished document with `retry_after` failed for lack of memory, processes or disk, and is retried then. The
    owner's `title`, `author`, `dated` and `subject` override those of the file. A `disabled` document is excluded from
    searches.
    `container_id` is the mail or archive that contained it, `parts` are its own attachments. All versions share the
    `lineage_id`; a version that is `superseded_by` another is only shown for old answers.
    """

    user_id: str
    index_id: uuid.UUID
    mime_type: str
    sha256: str
    size: int
    source: str | None = pydantic.Field(default=None, exclude=True)
    shown_source: str | None = pydantic.Field(default=None, serialization_alias="source")
    status: DocumentStatus
    progress: Progress = Progress()
    error: str | None = None
    error_code: str | None = None
    retry_after: dt.datetime | None = None
    page_count: int = 0
    failed_pages: tuple[int, ...] = ()
    note: str | None = None
    line_count: int = 0
    chunk_count: int = 0
    vector_count: int = 0
    searchable: bool = False
    pictures_waiting: bool = False
    completeness: Completeness | None = None
    container_id: uuid.UUID | None = None
    parts: tuple[Part, ...] = ()
    lineage_id: uuid.UUID | None = None
    version: int = 1
    superseded_by: uuid.UUID | None = None
    author: str | None = None
    dated: dt.date | None = None
    tags: tuple[str, ...] = ()
    disabled: bool = False
    language: str = ENGLISH
    pages: tuple[PageInfo, ...] = ()
    created_at: dt.datetime
    indexed_at: dt.datetime | None = None
    deleted_at: dt.datetime | None = None

    @property
    def lineage(self) -> uuid.UUID:
        """What its versions have in common, also before it is saved."""
        return self.lineage_id or self.id

    @property
    def page_labels(self) -> dict[int, str]:
        """The printed page numbers by page number, where they differ."""
        return {page.number: page.label for page in self.pages if page.label not in (None, "", str(page.number))}

    @property
    def container_name(self) -> str | None:
        """The name of the containing mail or archive: "bundle.zip › Offer.eml"."""
        return (self.shown_source or "").rpartition(CONTAINER_SEPARATOR)[0] or None


class ParsingConfig(Model):
    """Parsing options and resource limits per file.

    The `timeout_…` are CPU time of the parsing process; OCR of each page has `timeout_seconds_ocr`. `idle_seconds` is
    wall-clock time without any CPU use, as when a disk does not answer. `max_parts` and `max_parts_mb` limit what is
    extracted from a mail or archive, including nested ones up to `max_parts_depth`. With "auto" for `ocr_engine`,
    Tesseract reads only languages that the packaged models do not.
    """

    office: Literal["auto", "builtin"] = "auto"
    ocr: bool = True
    ocr_engine: Literal["auto", "packaged", "tesseract"] = "auto"
    ocr_language: str = "auto"
    pictures: bool = True
    timeout_seconds_base: pydantic.PositiveFloat = 60.0
    timeout_seconds_per_page: pydantic.NonNegativeFloat = 5.0
    timeout_seconds_ocr: pydantic.PositiveFloat = 60.0
    idle_seconds: pydantic.PositiveFloat = 300.0
    memory_limit_mb: pydantic.PositiveInt = 2048
    max_file_mb: pydantic.PositiveInt = 500
    max_pages: pydantic.PositiveInt = 20_000
    max_parts: pydantic.PositiveInt = 1_000
    max_parts_mb: pydantic.PositiveInt = 2_000
    max_parts_depth: pydantic.PositiveInt = 3

    @property
    def max_file_bytes(self) -> int:
        """The maximum file size in bytes."""
        return self.max_file_mb * 1024 * 1024

    def timeout_seconds(self, pages: int) -> float:
        """Return the CPU time limit for parsing a file of `pages` pages."""
        return self.timeout_seconds_base + self.timeout_seconds_per_page * pages


class ChunkingOptions(Input):
    """Chunking options; sizes in characters."""

    chunk_size_chars: int = pydantic.Field(default=1200, ge=100, le=8000)
    chunk_overlap_chars: int = pydantic.Field(default=200, ge=0)
    min_chunk_chars: int = pydantic.Field(default=200, ge=0)

    @pydantic.model_validator(mode="after")
    def _overlap_below_size(self) -> "ChunkingOptions":
        if self.chunk_overlap_chars >= self.chunk_size_chars:
            raise ValueError("chunk_overlap_chars must be smaller than chunk_size_chars")
        return self


class EmbeddingSpace(Model):
    """An embedding model and vector size; only vectors of the same space are comparable."""

    provider: str
    model: str
    dimensions: int

    @property
    def name(self) -> str:
        """`provider:model`, as the setting `RAG_EMBED_MODEL` names a model."""
        return f"{self.provider}:{self.model}"


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
    """Counts and sizes of an index in bytes; `database_bytes` is an estimate.

    `languages` maps languages to chunk counts, largest first; `advice` recommends a better suited embedding model.
    """

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
    languages: dict[str, int]
    advice: str | None = None


def reading_progress(document: Document) -> str | None:
    """Describe the progress of an unfinished document; None for others."""
    progress = document.progress
    if document.retry_after:
        wait = (document.retry_after - dt.datetime.now(dt.UTC)).total_seconds()
        return N_("tried again in {time}").format(time=_duration(wait))
    match document.status:
        case DocumentStatus.QUEUED:
            done = N_("waiting")
        case DocumentStatus.PARSING if 0 < progress.total <= progress.done:
            return N_("indexing")  # all pages are read, and what follows is not counted
        case DocumentStatus.PARSING:
            done = (
                N_("page {done} of {total}").format(done=f"{progress.done:,}", total=f"{progress.total:,}")
                if progress.total
                else N_("reading")
            )
        case DocumentStatus.EMBEDDING if document.vector_count < document.chunk_count:
            done = N_("searchable by words, {share} % by meaning").format(
                share=100 * document.vector_count // document.chunk_count
            )
        case DocumentStatus.EMBEDDING:
            done = N_("chunk {done} of {total}").format(done=f"{progress.done:,}", total=f"{progress.total:,}")
        case _:
            return None
    if progress.seconds_left is None:
        return done
    return N_("{_done}, {time} left").format(_done=done, time=_duration(progress.seconds_left))


def _duration(seconds: float) -> str:
    """Format a rough duration: 8 s, 2 min, 1.5 h."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.1f} h"
