"""Requests to index a folder, reports on its files, and background jobs."""

import datetime as dt
import uuid
from typing import Annotated, Any, Literal, NamedTuple

import pydantic

from rag.types.base import STORABLE, Input, Model
from rag.types.documents import DEFAULT_INDEX, ChunkingOptions, Index, Progress
from rag.types.requests import Auth, AuthField, IndexName, ProviderOptions, StorableText
from rag.types.search import Usage

FileId = Annotated[str, pydantic.Field(min_length=1, max_length=8000, pattern=STORABLE)]


class SourceFile(NamedTuple):
    """A file in a source folder. `id` is its path or URL, `path` its relative path with slashes.

    `mime_type` is the type that the source declares, None if unknown.
    """

    id: str
    path: str
    name: str
    mime_type: str | None = None


class Source(Input):
    """A folder: a local path, a URL that fsspec knows, or `gdrive://` and the id of a folder in Google Drive.

    `include_mime_types` filters by file name; empty includes every supported type. `exclude_file_ids` may be paths,
    URLs, relative paths, Google Drive ids, or document ids.
    """

    folder_id: FileId
    include_subfolders: bool = True
    include_mime_types: tuple[StorableText, ...] = ()
    exclude_file_ids: tuple[StorableText, ...] = ()


class IndexTarget(Input):
    """The index to fill: `index_file_id` (id or name of an existing one), else `index_name` (created if needed).

    `destination_folder_id` is accepted and ignored: an index is in the database.
    """

    index_name: str = pydantic.Field(default=DEFAULT_INDEX, min_length=1, max_length=200)
    index_file_id: str | None = pydantic.Field(default=None, min_length=1, max_length=200)
    destination_folder_id: str | None = None


class EmbeddingProviderOptions(ProviderOptions):
    """Provider options with `dimensions`, the vector size for models that can shorten vectors."""

    dimensions: int | None = pydantic.Field(default=None, ge=1, le=4000)


class EmbeddingOptions(Input):
    """The embedding model of a new index; None uses that of the existing index, else the configured default."""

    provider: str | None = None
    model: str | None = None
    provider_options: EmbeddingProviderOptions = EmbeddingProviderOptions()


class IndexingLimits(Input):
    """Limits of one run; files beyond them are skipped and reported.

    Without `skip_parse_failures` the first file that fails aborts the run with its error.
    """

    max_files: int = pydantic.Field(default=300, ge=1, le=1_000_000)
    max_chunks: int = pydantic.Field(default=2000, ge=1, le=100_000_000)
    skip_parse_failures: bool = True


class IndexRequest(Input):
    """A request to index a folder; `auth` is for the embedding provider."""

    source: Source
    index: IndexTarget = IndexTarget()
    embedding: EmbeddingOptions = EmbeddingOptions()
    chunking: ChunkingOptions | None = None
    options: IndexingLimits = IndexingLimits()
    auth: AuthField = Auth()


FileState = Literal["added", "changed", "unchanged", "removed", "failed", "left_out"]


class FileReport(Model):
    """The result of indexing a file. `source` is its path or URL, `chunks` the number created in this run.

    `shown_source` is serialized as `source`. `code` and `reason` explain a failure or omission. A changed file that
    fails remains searchable in its old version.
    """

    source: str = pydantic.Field(exclude=True)
    shown_source: str = pydantic.Field(serialization_alias="source")
    state: FileState
    document_id: uuid.UUID | None = None
    chunks: int = 0
    code: str | None = None
    reason: str | None = None


class SyncReport(Model):
    """The result of indexing a folder, and the index."""

    index: Index
    files: tuple[FileReport, ...]
    usage: Usage = Usage()

    def count(self, state: FileState) -> int:
        """Return the number of files in this state."""
        return sum(file.state == state for file in self.files)

    @property
    def failures(self) -> tuple[FileReport, ...]:
        """The files that failed."""
        return tuple(file for file in self.files if file.state == "failed")


class AdapterOptions(Model):
    """Name and limits of a registered embedding model; `dimensions` None is detected.

    `languages` lists the languages it supports, by the names that documents use; empty for a multilingual model.
    """

    model: str = "default"
    label: str = ""
    dimensions: int | None = pydantic.Field(default=None, ge=1, le=4000)
    max_tokens: int = pydantic.Field(default=8192, ge=1)
    max_batch: int = pydantic.Field(default=64, ge=1)
    query_prefix: str = ""
    text_prefix: str = ""
    languages: frozenset[str] = frozenset()


JobKind = Literal["reindex", "sync", "matrix"]

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]


class Job(Model):
    """A background job, its progress and result.

    `progress.total` is 0 while unknown. `result` depends on the kind: counts of a `reindex` or `matrix`, the report of
    a `sync`. A queued job with `retry_after` failed temporarily, as `error` says, and resumes then.
    """

    id: uuid.UUID
    user_id: str
    kind: JobKind
    index_name: str
    status: JobStatus
    progress: Progress = Progress()
    result: dict[str, Any] | None = None
    error_code: str | None = None
    error: str | None = None
    retry_after: dt.datetime | None = None
    created_at: dt.datetime
    started_at: dt.datetime | None = None
    finished_at: dt.datetime | None = None


class ReindexRequest(Input):
    """A request to re-read all documents of an index, or to sync it with a folder (`source`)."""

    index_name: IndexName = DEFAULT_INDEX
    source: Source | None = None
