"""Taking in a folder: what is asked for, and what became of each file."""

import uuid
from typing import Annotated, Literal, NamedTuple

import pydantic

from rag.types.base import STORABLE, Input, Model
from rag.types.documents import DEFAULT_INDEX, ChunkingOptions, Index
from rag.types.requests import Auth, AuthField, ProviderOptions, StorableText
from rag.types.search import Usage

FileId = Annotated[str, pydantic.Field(min_length=1, max_length=8000, pattern=STORABLE)]


class SourceFile(NamedTuple):
    """A file that a folder lists. `id` is its path or URL, `path` leads to it from the folder, with slashes.

    `mime_type` is the type that its owner names, None where only the content can tell.
    """

    id: str
    path: str
    name: str
    mime_type: str | None = None


class Source(Input):
    """A folder: a local path, a URL that fsspec knows, or `gdrive://` and the id of a folder in Google Drive.

    `include_mime_types` judges a file by its name; empty means every kind that can be read. `exclude_file_ids` are
    files' paths or URLs, paths or (of Google Drive) ids within the folder, or ids of documents.
    """

    folder_id: FileId
    include_subfolders: bool = True
    include_mime_types: tuple[StorableText, ...] = ()
    exclude_file_ids: tuple[StorableText, ...] = ()


class IndexTarget(Input):
    """The index to fill: `index_file_id` (the id or name of one there is) before `index_name` (made if there is none).

    `destination_folder_id` is accepted and means nothing here: an index is in the database.
    """

    index_name: str = pydantic.Field(default=DEFAULT_INDEX, min_length=1, max_length=200)
    index_file_id: str | None = pydantic.Field(default=None, min_length=1, max_length=200)
    destination_folder_id: str | None = None


class EmbeddingProviderOptions(ProviderOptions):
    """`dimensions`: the size of the vectors, for models that can shorten them."""

    dimensions: int | None = pydantic.Field(default=None, ge=1, le=4000)


class EmbeddingOptions(Input):
    """The embedding model of a new index; None: that of the index there is, else what the settings and keys allow."""

    provider: str | None = None
    model: str | None = None
    provider_options: EmbeddingProviderOptions = EmbeddingProviderOptions()


class IndexingLimits(Input):
    """How much is taken in at once: files beyond `max_files`, or with too many chunks, are left out and reported.

    Without `skip_parse_failures` the first file that fails ends the work with its error.
    """

    max_files: int = pydantic.Field(default=300, ge=1, le=1_000_000)
    max_chunks: int = pydantic.Field(default=2000, ge=1, le=100_000_000)
    skip_parse_failures: bool = True


class IndexRequest(Input):
    """Take a folder into an index. `auth` is for the provider that embeds."""

    source: Source
    index: IndexTarget = IndexTarget()
    embedding: EmbeddingOptions = EmbeddingOptions()
    chunking: ChunkingOptions | None = None
    options: IndexingLimits = IndexingLimits()
    auth: AuthField = Auth()


FileState = Literal["added", "changed", "unchanged", "removed", "failed", "left_out"]


class FileReport(Model):
    """What became of a file. `source` is its path or URL, `chunks` how many were made of it now.

    As of a document, what is sent as `source` is `shown_source`. `code` and `reason` say why it failed or was left out.
    A changed file that fails stays searchable as it was.
    """

    source: str = pydantic.Field(exclude=True)
    shown_source: str = pydantic.Field(serialization_alias="source")
    state: FileState
    document_id: uuid.UUID | None = None
    chunks: int = 0
    code: str | None = None
    reason: str | None = None


class SyncReport(Model):
    """What became of a folder's files, and the index they are in."""

    index: Index
    files: tuple[FileReport, ...]
    usage: Usage = Usage()

    def count(self, state: FileState) -> int:
        """Files in this state."""
        return sum(file.state == state for file in self.files)

    @property
    def failures(self) -> tuple[FileReport, ...]:
        """The files that failed, each with its reason."""
        return tuple(file for file in self.files if file.state == "failed")


class AdapterOptions(Model):
    """What a registered embedding model is called and can take; `dimensions` is asked of it if not given.

    `languages` are those that it speaks, as documents name theirs; none are named of one that speaks many.
    """

    model: str = "default"
    label: str = ""
    dimensions: int | None = pydantic.Field(default=None, ge=1, le=4000)
    max_tokens: int = pydantic.Field(default=8192, ge=1)
    max_batch: int = pydantic.Field(default=64, ge=1)
    query_prefix: str = ""
    text_prefix: str = ""
    languages: frozenset[str] = frozenset()
