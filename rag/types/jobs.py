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
    """Work in the background: how far it is, and what came out of it.

    `progress.total` is 0 while it is not known. `result` is what the kind of job makes: counts of a `reindex` or a
    `matrix`, the report of a `sync`, the measures of an `evaluation`. A queued one that has `retry_after` could not go
    on, as `error` says, and does so then from where it stands.
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
    """An evaluation that is done: what was measured on which questions, and what came out.

    `name` is what the questions are called, None of one that was started without. `measures` are means, `intervals`
    the ends of their 95 % intervals where there is one.
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
    """Read every document of an index anew, or make the index follow a folder (`source`)."""

    index_name: IndexName = DEFAULT_INDEX
    source: Source | None = None


class QuestionSet(Model):
    """Questions whose answers are known, under a name, and how many there are."""

    name: str
    count: int
