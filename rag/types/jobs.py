"""Background jobs and evaluation runs."""

import datetime as dt
import uuid
from typing import Any, Literal

from rag.types.base import Input, Model
from rag.types.documents import DEFAULT_INDEX, Progress
from rag.types.indexing import Source
from rag.types.requests import IndexName

JobKind = Literal["reindex", "sync", "evaluation", "matrix"]

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]


class Job(Model):
    """A background job, its progress and result.

    `progress.total` is 0 while unknown. `result` depends on the kind: counts of a `reindex` or `matrix`, the report of
    a `sync`, the metrics of an `evaluation`. A queued job with `retry_after` failed temporarily, as `error` says, and
    resumes then.
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


class EvaluationRun(Model):
    """A finished evaluation and its metrics.

    `name` is the name of the question set, if any. `measures` are means, `intervals` their 95 % confidence intervals,
    where known.
    """

    id: uuid.UUID
    name: str | None
    index_name: str
    subject: Literal["retrieval", "answers"]
    scope: Literal["corpus", "document"]
    questions: int
    measures: dict[str, float]
    intervals: dict[str, tuple[float, float] | None]
    finished_at: dt.datetime


class ReindexRequest(Input):
    """A request to re-read all documents of an index, or to sync it with a folder (`source`)."""

    index_name: IndexName = DEFAULT_INDEX
    source: Source | None = None


class QuestionSet(Model):
    """A named set of questions with known answers, and its size."""

    name: str
    count: int
