"""Matrices: a table of questions (columns) answered for each document (row)."""

import datetime as dt
import functools
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

import pydantic

from rag.types.answers import Support
from rag.types.base import IN_READING_ORDER, LINE, Input, Model
from rag.types.documents import Document, DocumentStatus
from rag.types.jobs import Job
from rag.types.requests import QuestionText
from rag.types.text import Region

MAX_QUESTIONS = 50
MAX_ROWS = 500

CellStatus = Literal["answered", "not_found", "failed"]
MatrixFormat = Literal["xlsx", "csv"]
MATRIX_FILES: Mapping[MatrixFormat, str] = MappingProxyType(
    {"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "text/csv"}
)
"""The MIME type of each export format."""
_Name = Annotated[
    str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=LINE), IN_READING_ORDER
]


class MatrixQuestion(Input):
    """A column's question; with `should_agree` the answers of different documents must be consistent."""

    text: QuestionText
    should_agree: bool = False

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value


def _unique_questions(questions: tuple[MatrixQuestion, ...]) -> tuple[MatrixQuestion, ...]:
    return tuple({question.text: question for question in questions}.values())


_Documents = Annotated[tuple[uuid.UUID, ...], pydantic.Field(min_length=1, max_length=MAX_ROWS)]
_Questions = Annotated[
    tuple[MatrixQuestion, ...],
    pydantic.Field(min_length=1, max_length=MAX_QUESTIONS),
    pydantic.AfterValidator(_unique_questions),
]


class MatrixRequest(Input):
    """A request to create a matrix; a question may be given as plain text."""

    name: _Name
    document_ids: _Documents
    questions: _Questions


class MatrixEdit(Input):
    """Changes to a matrix; omitted fields stay unchanged.

    Answers of remaining documents and equally worded questions are kept, all others are deleted.
    """

    name: _Name | None = None
    document_ids: _Documents | None = None
    questions: _Questions | None = None


class MatrixTemplate(Model):
    """Sample questions for a kind of document."""

    name: str
    title: str
    questions: tuple[MatrixQuestion, ...]


class MatrixCell(Model):
    """A document's answer to the question with index `question`.

    `answer` is short; `value` is the figure alone if a table cell answers. `verdict` says whether `quote`, on
    `page_number` at `regions`, supports the answer and it fits the question, else it is `unsupported`. It is None if
    the answer is a quote of which only the `likelihood`, in 0..1, is known. `document_id`, `version` and `sha256`
    identify the document read; `reason` explains a failure.
    """

    lineage_id: uuid.UUID
    question: int
    document_id: uuid.UUID
    version: int
    sha256: str
    status: CellStatus
    answer: str = ""
    value: str | None = None
    verdict: Support | None = None
    likelihood: float | None = None
    quote: str | None = None
    page_number: int | None = None
    page_label: str | None = None
    regions: tuple[Region, ...] = ()
    model: str | None = None
    reason: str | None = None
    answered_at: dt.datetime

    @property
    def assurance(self) -> str | None:
        """The label of the answer: its verdict, or "likely"."""
        return self.verdict.value if self.verdict else "likely" if self.likelihood is not None else None


class SavedCell(Model):
    """A cell and, if its document changed after the first answer, the answer for the previous content."""

    cell: MatrixCell
    previous: MatrixCell | None = None


class ShownCell(SavedCell):
    """A cell to display; `is_stale` if its document changed since, `conflict` names a contradicting answer."""

    is_stale: bool = False
    conflict: str | None = None


class Matrix(Model):
    """A matrix: questions and documents (by lineage id); `job_id` is the job that fills it."""

    id: uuid.UUID
    user_id: str
    name: str
    questions: tuple[MatrixQuestion, ...]
    lineage_ids: tuple[uuid.UUID, ...]
    job_id: uuid.UUID | None = None
    created_at: dt.datetime


class FilledMatrix(Model):
    """A matrix with its answers so far; `documents` are the existing ones, in row order."""

    matrix: Matrix
    documents: tuple[Document, ...]
    cells: tuple[ShownCell, ...]
    job: Job | None = None

    def at(self, document: Document, question: int) -> ShownCell | None:
        """Return the cell of a document and question, None if not answered yet."""
        return self._places.get((document.lineage_id or document.id, question))

    @functools.cached_property
    def _places(self) -> dict[tuple[uuid.UUID, int], ShownCell]:
        return {(one.cell.lineage_id, one.cell.question): one for one in self.cells}

    @property
    def to_ask(self) -> int:
        """The number of empty, failed or stale cells of ready documents."""
        ready = [one for one in self.documents if one.status is DocumentStatus.READY]
        cells = [self.at(one, number) for one in ready for number in range(len(self.matrix.questions))]
        return sum(cell is None or cell.is_stale or cell.cell.status == "failed" for cell in cells)
