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
    """Whether disk space is sufficient, low, or too low to ingest more."""

    GOOD = "good"
    LOW = "low"
    FULL = "full"


class DiskSpace(Model):
    """The disk space of a folder; `place` is its purpose: "data", "files", "database", "temporary"."""

    place: str
    path: str
    free_bytes: int
    total_bytes: int
    state: DiskState


class Replica(Model):
    """A replica of the database; `behind_seconds` is its lag, None if it is up to date."""

    name: str
    state: str
    behind_seconds: float | None = None


class DatabaseStatus(Model):
    """The state of the database server; `behind_primary_seconds` is its lag if it is a replica itself."""

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


class ClusterNode(Model):
    """A server of a Citus cluster, with the shards of distributed tables on it and the bytes of all its tables."""

    address: str
    is_coordinator: bool
    shards: int
    bytes: int


class Distribution(Model):
    """Where the tables are in a Citus cluster: names of those whose rows are spread over its nodes, and of the rest."""

    nodes: tuple[ClusterNode, ...]
    distributed: tuple[str, ...]
    on_coordinator: tuple[str, ...]


class WorkerStatus(Model):
    """A worker with a heartbeat within the last half minute."""

    id: int
    last_seen: dt.datetime


class LaneStatus(Model):
    """The queue of a lane: waiting and running items, and the age of the oldest waiting one."""

    lane: str
    waiting: int = 0
    running: int = 0
    oldest_seconds: float | None = None


class RunningWork(Model):
    """A document or job in progress; `kind` is the document's lane or the job's kind."""

    kind: str
    user_id: str
    id: uuid.UUID
    done: int
    total: int
    since: dt.datetime | None = None


class LibraryStatus(Model):
    """Totals of all users; pages and bytes include the trash."""

    users: int
    documents: int
    in_trash: int
    failed: int
    pages: int
    original_bytes: int


class IndexHealth(Model):
    """The health of all indexes: chunks of ready documents without vector, and `invalid` database indexes."""

    indexes: int
    chunks: int
    missing_vectors: int
    invalid: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether no vectors are missing and all database indexes are valid."""
        return not self.missing_vectors and not self.invalid


class WorkCounts(Model):
    """Totals of all workers since the database was created; `failures` by error code."""

    documents_read: int = 0
    pages_read: int = 0
    chunks_embedded: int = 0
    jobs_done: int = 0
    failures: Mapping[str, int] = pydantic.Field(default_factory=dict)


class BackupRecord(Model):
    """A backup archive; `verified_at` is the time of its last successful verification.

    `is_present` tells whether this machine finds it at `path`.
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
    """The status of an installation; `warnings` are sentences for administrators, empty if all is well."""

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


BACKUP_FORMAT = 2
"""The version of the archive layout; later ones are refused."""

DATABASE_MEMBER = "database.dump"

FILE_MEMBER = re.compile(r"files/[0-9a-f]{32}/([0-9a-f-]{36})/(original|rendition)")
"""The first part is a digest of the user, as plain tar headers limit names to 100 characters."""

Identifier = Annotated[str, pydantic.Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]

Sha256 = Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{64}$")]


class BackupMember(Model):
    """A member of a backup archive: its name, size in bytes and SHA-256 in hexadecimal digits."""

    member: str
    bytes: int = pydantic.Field(ge=0)
    sha256: Sha256


class BackupFile(BackupMember):
    """A file of a document."""

    user_id: str = pydantic.Field(min_length=1)
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]

    @pydantic.model_validator(mode="after")
    def _named_as_its_document(self) -> "BackupFile":
        match = FILE_MEMBER.fullmatch(self.member)
        if match is None or match.groups() != (str(self.document_id), self.kind):
            raise ValueError("a file's member must bear its document's id and its kind")
        return self


class MissingFile(Model):
    """A file missing because its document was purged during the backup."""

    user_id: str
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]


class BackupManifest(Model):
    """The manifest of a backup archive; `migrations` are those of its schema, in order.

    `rows` counts the rows of each table. `left_out` names the tables that are not included because their content can
    be recomputed. `database` is the dump; only archives of the first format have none.
    """

    format: int = pydantic.Field(default=BACKUP_FORMAT, ge=1, le=BACKUP_FORMAT)
    pagelight: str
    created_at: dt.datetime
    migrations: tuple[str, ...] = pydantic.Field(min_length=1)
    database: BackupMember | None = None
    rows: Mapping[Identifier, int]
    files: tuple[BackupFile, ...] = ()
    missing: tuple[MissingFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _names_each_member_once(self) -> "BackupManifest":
        if self.format == BACKUP_FORMAT and (self.database is None or self.database.member != DATABASE_MEMBER):
            raise ValueError("the database must be named as such")
        names = [member.member for member in self.members]
        if len(set(names)) < len(names):
            raise ValueError("a member is named twice")
        return self

    @property
    def members(self) -> tuple[BackupMember, ...]:
        """All members of the archive except the manifest."""
        return (*([self.database] if self.database else []), *self.files)


class PurgeReceipt(Model):
    """The verified counts of what a purge removed.

    `rows` counts the rows of all tables; `chunks` and `vectors` those of all embedding models of the index.
    `unfinished` documents have files that a worker has yet to delete.
    """

    document_ids: tuple[uuid.UUID, ...] = ()
    rows: int = 0
    chunks: int = 0
    vectors: int = 0
    files: int = 0
    bytes: int = 0
    unfinished: int = 0


class OrphanReport(Model):
    """The files without an owner that were found; `deleted` tells whether they were removed.

    Counted are documents with files whose deletion is pending (`deletions`), that have no row (`unowned`) or probably
    belong to another database (`unconfirmed`, which are kept); partial files and temporary folders (`partial_files`),
    and local `copies` of remote files without document. `bytes` is the total size to remove.
    """

    deleted: bool = False
    deletions: int = 0
    unowned: int = 0
    unconfirmed: int = 0
    partial_files: int = 0
    copies: int = 0
    bytes: int = pydantic.Field(default=0, ge=0)

    @property
    def count(self) -> int:
        """The number of orphans, without unconfirmed ones."""
        return sum(self.model_dump(exclude={"deleted", "unconfirmed", "bytes"}).values())
