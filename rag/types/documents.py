"""Documents, the indexes that hold them, and their parsing and chunking options."""

import datetime as dt
import re
import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal

import pydantic

from rag.types.base import Input, Model
from rag.types.text import Completeness, PageInfo

INSIDE = " › "
"""Stands between a mail or an archive and what is in it, in the source that is shown."""

MOST_NAMED = 5
"""So many of the parts that were left out are named where there is little room."""

DEFAULT_INDEX = "default"
"""The index of whoever names none; it always exists."""

ENGLISH = "english"
"""The language of a document that tells none. Languages have the names that PostgreSQL's text search has for them."""

SIMPLE = "simple"
"""Any language that words are searched in as they stand, without stems and stop words."""


def language_name(language: str) -> str:
    """What people call it."""
    return "other" if language == SIMPLE else language.capitalize()


GOOGLE_DOCUMENT = "application/vnd.google-apps.document"

GOOGLE_PRESENTATION = "application/vnd.google-apps.presentation"

GOOGLE_APPS = frozenset({GOOGLE_DOCUMENT, GOOGLE_PRESENTATION})
"""MIME types of Google Drive's Docs and Slides, which come as PDF."""

PRESENTATIONS = frozenset(
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", GOOGLE_PRESENTATION}
)
"""MIME types of files whose pages are slides."""

MAIL = "message/rfc822"

OUTLOOK_MAIL = "application/vnd.ms-outlook"

ARCHIVE = "application/zip"

CONTAINERS = frozenset({MAIL, OUTLOOK_MAIL, ARCHIVE})
"""MIME types of files with other files in them, which become documents of their own."""


class DocumentStatus(StrEnum):
    """How far a document is.

    It is searched by its words from `embedding` on, a large one by those of its first pages while it is `parsing`; one
    that was searched before stays so while it is read again.
    """

    QUEUED = "queued"
    NEEDS_PASSWORD = "needs_password"  # noqa: S105  # a state, not a password
    PARSING = "parsing"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


class Lane(StrEnum):
    """What is done with an unfinished document next; each worker goes on in all lanes at the same time.

    `reading`: its words; `embedding`: its vectors, in batches; `renewing`: all of it, which then takes the place of
    what is searched meanwhile.
    """

    READING = "reading"
    EMBEDDING = "embedding"
    RENEWING = "renewing"


UNFINISHED = frozenset({DocumentStatus.QUEUED, DocumentStatus.PARSING, DocumentStatus.EMBEDDING})
"""Being read, or waiting for it."""

OnProgress = Callable[[str, int, int], None]
"""Told of long work what is at work now, such as "parsing", and how many of how many are done; 0 of 0: not known."""


def ignore_progress(_stage: str, _done: int, _total: int) -> None:
    """Nobody wants to know."""


class Progress(Model):
    """How far the present stage is: `done` of `total` units (pages while parsing, chunks while embedding).

    `seconds_left` is how long the rest takes if it goes on as so far; None: not known yet.
    """

    done: int = 0
    total: int = 0
    seconds_left: float | None = None


LEAST_SECONDS = 1.0
"""So long a stage runs before its speed tells anything."""


def seconds_left(done: int, total: int, *, since: int, elapsed: float) -> float | None:
    """How long the rest of a stage takes, in seconds, that has got from `since` to `done` in `elapsed` seconds."""
    if done <= since or elapsed < LEAST_SECONDS or total < done:
        return None
    return (total - done) * elapsed / (done - since)


_ON_THIS_MACHINE = re.compile(r"[/\\~]|[a-z]:[/\\]|(?:file|local):|.*::", re.IGNORECASE | re.DOTALL)
"""Begins a path, or an address of which one of several parts may be a path."""

_USER_INFO = re.compile(r"(?<=://)[^/@]*@")


def shown_source(source: str, path: str) -> str:
    """What may be read of `source` on other machines: of an address all but user and password, of a path only `path`.

    `path` leads to the file from the folder it was taken in with; of a file that came alone it is the name.
    """
    return path if _ON_THIS_MACHINE.match(source) else _USER_INFO.sub("", source)


class Part(Model):
    """A file in a mail or an archive, by its path in there, and its size in bytes.

    `document_id` is the document that has its content, which was taken in with it or, as `reason` says then, is
    another one; None: it was left out, and `reason` says why.
    """

    name: str
    size: int
    document_id: uuid.UUID | None = None
    reason: str | None = None


def told_parts(parts: Sequence[Part]) -> str | None:
    """How many of `parts` were taken in, and why the others were not; None of a file without parts."""
    if not parts:
        return None
    left_out = [part for part in parts if part.document_id is None]
    taken = len(parts) - len(left_out)
    files = "1 file" if len(parts) == 1 else f"{len(parts):,} files"
    told = f"{taken:,} of {files} in it {'was' if taken == 1 else 'were'} taken in"
    named = "; ".join(f"{part.name}: {part.reason}" for part in left_out[:MOST_NAMED])
    more = f"; and {len(left_out) - MOST_NAMED:,} more" if len(left_out) > MOST_NAMED else ""
    return f"{told}. Left out: {named}{more}" if left_out else f"{told}."


class Document(Model):
    """A file of one user in one index.

    `source` is the path or URL it was taken in from. It stays on this machine: what answers show, and what is sent as
    `source`, is `shown_source`. `language` is the one whose stems its words are searched by.

    It is `searchable`, by its words, as soon as it has chunks, and by their meaning as far as these have vectors
    (`vector_count` of `chunk_count`); words in the pictures of its pages come last (`pictures_waiting`).
    `note` is what its owner should know of how it was read. An unfinished one that has `retry_after` failed for want of
    memory, a process or disk, as `error` says, and is tried again then.
    `title`, `author` and `dated` are what its owner says, else what the file says. A `disabled` one is kept and left
    out of searches. `container_id` is the mail or archive that it was part of, `parts` are the files in it itself.
    Versions of one document share the `lineage_id`; one that has been `superseded_by` another is shown to old answers
    only.
    """

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    name: str
    mime_type: str
    sha256: str
    size: int
    source: str | None = pydantic.Field(default=None, exclude=True)
    shown_source: str | None = pydantic.Field(default=None, serialization_alias="source")
    title: str | None = None
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
    def page_labels(self) -> dict[int, str]:
        """The numbers printed on its `pages` by the pages' own, where they differ."""
        return {page.number: page.label for page in self.pages if page.label not in (None, "", str(page.number))}

    @property
    def container_name(self) -> str | None:
        """The mail or archive that it was taken in with, as answers show it: "bundle.zip › Offer.eml"."""
        return (self.shown_source or "").rpartition(INSIDE)[0] or None


class ParsingConfig(Model):
    """How files are read, and how much a file may cost.

    The `timeout_…` are of the time that the reading process computes, which other work on the machine leaves as it is;
    recognising a page has `timeout_seconds_ocr` of its own. `idle_seconds` are of the clock: so long a process may do
    nothing at all, as one does that waits for a disk which does not answer.

    `max_parts` and `max_parts_mb` bound all that is taken out of a mail or an archive and of those in it, so many deep.
    """

    layout: Literal["fast", "accurate"] = "fast"
    office: Literal["auto", "builtin"] = "auto"
    ocr: bool = True
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
        """The size of the largest file that any door takes."""
        return self.max_file_mb * 1024 * 1024

    def timeout_seconds(self, pages: int) -> float:
        """How long the process may compute that reads a file of so many pages."""
        return self.timeout_seconds_base + self.timeout_seconds_per_page * pages


class ChunkingOptions(Input):
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
    """What an index holds; sizes in bytes, `database_bytes` is this user's estimated share of tables and indexes.

    `languages` has the chunks of the documents in each, the most first; `advice` says what would serve these better.
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


def reading_of(document: Document) -> str | None:
    """What is being done with an unfinished document, what it can be asked by, and how long that takes; else None."""
    progress = document.progress
    if document.retry_after:
        wait = (document.retry_after - dt.datetime.now(dt.UTC)).total_seconds()
        return f"tried again in {_duration(wait)}"
    match document.status:
        case DocumentStatus.QUEUED:
            done = "waiting"
        case DocumentStatus.PARSING:
            done = f"page {progress.done:,} of {progress.total:,}" if progress.total else "reading"
        case DocumentStatus.EMBEDDING if document.vector_count < document.chunk_count:
            done = f"words only; meaning {100 * document.vector_count // document.chunk_count} %"
        case DocumentStatus.EMBEDDING:
            done = f"chunk {progress.done:,} of {progress.total:,}"
        case _:
            return None
    left = f", {_duration(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    return f"{done}{left}"


def _duration(seconds: float) -> str:
    """Roughly, as nobody knows better: 8 s, 2 min, 1.5 h."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.1f} h"
