"""How an installation is, for those who run it: numbers, times and ids, never a name or a text of a document."""

import datetime as dt
import uuid
from collections.abc import Mapping
from enum import StrEnum

import pydantic

from rag.types.text import Model


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
