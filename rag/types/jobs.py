"""Background jobs."""

import datetime as dt
import uuid
from typing import Any, Literal

from rag.types.base import Input, Model
from rag.types.documents import DEFAULT_INDEX, Progress
from rag.types.indexing import Source
from rag.types.requests import IndexName

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
