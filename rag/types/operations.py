"""Status, backups and cleanup of an installation."""

import datetime as dt
import re
import uuid
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

import pydantic

from rag.types.base import Model


class DiskState(StrEnum):
    """Whether there is room, little of it, or too little to take in more."""

    GOOD = "good"
    LOW = "low"
    FULL = "full"


class DiskSpace(Model):
    """The room in a folder that is written to. `place` says what for: "data", "files", "database", "temporary"."""

    place: str
    path: str
    free_bytes: int
    total_bytes: int
    state: DiskState


class Replica(Model):
    """A server that follows the database; `behind_seconds` is None where it has nothing to catch up with."""

    name: str
    state: str
    behind_seconds: float | None = None


class DatabaseStatus(Model):
    """The database server. `behind_primary_seconds` is of one that is a replica itself."""

    server_version: str
    vector_version: str
    migration: str
    bytes: int
    connections: int
    max_connections: int
    oldest_transaction_seconds: float | None = None
    behind_primary_seconds: float | None = None
    replicas: tuple[Replica, ...] = ()
    is_embedded: bool = False


class WorkerStatus(Model):
    """A worker that gave a sign of life within half a minute."""

    id: int
    last_seen: dt.datetime


class LaneStatus(Model):
    """Work of a kind: how much waits, the oldest of it since how long, and at how much somebody is now."""

    lane: str
    waiting: int = 0
    running: int = 0
    oldest_seconds: float | None = None


class RunningWork(Model):
    """A document or a job that somebody is at; `kind` is the document's lane, or the job's kind."""

    kind: str
    user_id: str
    id: uuid.UUID
    done: int
    total: int
    since: dt.datetime | None = None


class LibraryStatus(Model):
    """Documents of all users; pages and bytes of originals are with those in the trash."""

    users: int
    documents: int
    in_trash: int
    failed: int
    pages: int
    original_bytes: int


class IndexHealth(Model):
    """`missing_vectors` are chunks of ready documents that only words find; `invalid` database indexes are not used."""

    indexes: int
    chunks: int
    missing_vectors: int
    invalid: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether everything is found that should be, as fast as it should."""
        return not self.missing_vectors and not self.invalid


class WorkCounts(Model):
    """What all workers have done since the database was set up; `failures` by the error's code."""

    documents_read: int = 0
    pages_read: int = 0
    chunks_embedded: int = 0
    jobs_done: int = 0
    failures: Mapping[str, int] = pydantic.Field(default_factory=dict)


class BackupRecord(Model):
    """An archive that was written. `verified_at`: it was read as a whole then, and is what its manifest says.

    `is_present` tells whether it is still where it was written to, as far as this machine sees.
    """

    created_at: dt.datetime
    path: str
    bytes: int
    documents: int
    files: int
    missing: int
    verified_at: dt.datetime | None = None
    is_present: bool = False


class Status(Model):
    """All of it. `warnings` are sentences for people; there are none when all is well."""

    version: str
    at: dt.datetime
    warnings: tuple[str, ...] = ()
    database: DatabaseStatus
    workers: tuple[WorkerStatus, ...] = ()
    lanes: tuple[LaneStatus, ...] = ()
    running: tuple[RunningWork, ...] = ()
    library: LibraryStatus
    indexes: IndexHealth
    counts: WorkCounts = WorkCounts()
    disk: tuple[DiskSpace, ...] = ()
    backup: BackupRecord | None = pydantic.Field(default=None, description="The last one that was written, if any.")


BACKUP_FORMAT = 1
"""Of the archive's layout; an archive of a higher one is not for us."""

TABLE_MEMBER = re.compile(r"tables/([a-z_][a-z0-9_]{0,62})\.copy")

FILE_MEMBER = re.compile(r"files/[0-9a-f]{32}/([0-9a-f-]{36})/(original|rendition)")
"""The first part stands for the user. A tar's plain header takes names of up to 100 characters."""

Identifier = Annotated[str, pydantic.Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]

Sha256 = Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{64}$")]


class BackupMember(Model):
    """A member of the archive: its name there, its size in bytes and its SHA-256 in hexadecimal digits."""

    member: str
    bytes: int = pydantic.Field(ge=0)
    sha256: Sha256


class BackupTable(BackupMember):
    """A table's rows, one a line, as PostgreSQL's `COPY … (FORMAT text)` writes these columns."""

    table: Identifier
    columns: tuple[Identifier, ...] = pydantic.Field(min_length=1)
    rows: int = pydantic.Field(ge=0)

    @pydantic.model_validator(mode="after")
    def _named_as_its_table(self) -> "BackupTable":
        found = TABLE_MEMBER.fullmatch(self.member)
        if found is None or found[1] != self.table:
            raise ValueError("a table's member must bear its name")
        return self


class BackupFile(BackupMember):
    """A document's file."""

    user_id: str = pydantic.Field(min_length=1)
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]

    @pydantic.model_validator(mode="after")
    def _named_as_its_document(self) -> "BackupFile":
        found = FILE_MEMBER.fullmatch(self.member)
        if found is None or found.groups() != (str(self.document_id), self.kind):
            raise ValueError("a file's member must bear its document's id and its kind")
        return self


class MissingFile(Model):
    """A file that a document should have and that was not there: a document purged while the backup was made."""

    user_id: str
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]


class BackupManifest(Model):
    """What is in an archive. `migrations` name the schema that the tables have, in their order.

    `left_out` names tables that are not in it, because what they hold can be made again.
    """

    format: int = pydantic.Field(default=BACKUP_FORMAT, ge=1, le=BACKUP_FORMAT)
    pagelight: str
    created_at: dt.datetime
    migrations: tuple[str, ...] = pydantic.Field(min_length=1)
    tables: tuple[BackupTable, ...]
    files: tuple[BackupFile, ...] = ()
    missing: tuple[MissingFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _each_member_once(self) -> "BackupManifest":
        names = [member.member for member in self.members]
        if len(set(names)) < len(names):
            raise ValueError("a member is named twice")
        return self

    @property
    def members(self) -> tuple[BackupMember, ...]:
        """All that must be in the archive beside the manifest."""
        return (*self.tables, *self.files)

    def rows(self, table: str) -> int:
        """How many rows of a table are in it."""
        return sum(entry.rows for entry in self.tables if entry.table == table)


class PurgeReceipt(Model):
    """What there was of documents that were removed for good, and is gone: counted before, and again afterwards.

    `rows` are those of all tables, documents and chunks among them; chunks and vectors are those of all embedding
    models that the index has. `unfinished` documents have files that could not be deleted yet: a worker goes on with
    them.
    """

    document_ids: tuple[uuid.UUID, ...] = ()
    rows: int = 0
    chunks: int = 0
    vectors: int = 0
    files: int = 0
    bytes: int = 0
    unfinished: int = 0


class SweepReport(Model):
    """What was left behind and belongs to nobody; `mended`: it is gone now.

    Documents whose files were to be deleted because they were purged or never came (`deletions`), that no row knows
    (`unowned`), or that this database most probably does not know because they are another one's (`doubtful`: left as
    they are); half written files (`drafts`), `empty_folders`, `copies` of remote files of documents that are gone,
    `temporary` folders, parts of `backups`; and files and folders of ours that others may read (`open_to_others`).
    `bytes` are those of all that is to go.
    """

    mended: bool = False
    deletions: int = 0
    unowned: int = 0
    doubtful: int = 0
    drafts: int = 0
    empty_folders: int = 0
    copies: int = 0
    temporary: int = 0
    backups: int = 0
    open_to_others: int = 0
    bytes: int = pydantic.Field(default=0, ge=0)

    @property
    def found(self) -> int:
        """How many things there are to be mended."""
        counts = self.model_dump(exclude={"mended", "doubtful", "bytes"})
        return sum(counts.values())
