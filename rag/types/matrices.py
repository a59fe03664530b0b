"""Matrices: questions put to documents, each to each."""

import datetime as dt
import functools
import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

import pydantic

from rag.types.answers import Support
from rag.types.base import LINE, TEXT, Input, Model
from rag.types.documents import Document, DocumentStatus
from rag.types.jobs import Job
from rag.types.text import Region

MOST_QUESTIONS = 50
MOST_ROWS = 500

CellStatus = Literal["answered", "not_found", "failed"]
MatrixFormat = Literal["xlsx", "csv"]
MATRIX_FILES: Mapping[MatrixFormat, str] = MappingProxyType(
    {"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "text/csv"}
)
"""The media types of its files."""
_Name = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=LINE)]
_Question = Annotated[
    str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=4000, pattern=TEXT)
]


class MatrixQuestion(Input):
    """A column. With `should_agree` the answers of different documents are compared, too."""

    text: _Question
    should_agree: bool = False

    @pydantic.model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: object) -> object:
        return {"text": value} if isinstance(value, str) else value


def _once(questions: tuple[MatrixQuestion, ...]) -> tuple[MatrixQuestion, ...]:
    return tuple({question.text: question for question in questions}.values())


_Documents = Annotated[tuple[uuid.UUID, ...], pydantic.Field(min_length=1, max_length=MOST_ROWS)]
_Questions = Annotated[
    tuple[MatrixQuestion, ...],
    pydantic.Field(min_length=1, max_length=MOST_QUESTIONS),
    pydantic.AfterValidator(_once),
]


class MatrixRequest(Input):
    """Which documents are asked which questions, each once; a question may be its bare text."""

    name: _Name
    document_ids: _Documents
    questions: _Questions


class MatrixEdit(Input):
    """What a matrix is called and asks from now on; what is left out stays.

    Answers stay with their documents and the words of their questions; those of what is not listed any more go.
    """

    name: _Name | None = None
    document_ids: _Documents | None = None
    questions: _Questions | None = None


class MatrixTemplate(Model):
    """Questions that documents of a kind are often asked."""

    name: str
    title: str
    questions: tuple[MatrixQuestion, ...]


class MatrixCell(Model):
    """What a document answers to the question of this number, counted from 0.

    `answer` is short; `value` the figure alone where a cell of a table answers. `verdict` says whether `quote`, on
    `page_number` at `regions`, proves it, and that it is what was asked for: what may not be is `unsupported`. It is
    None where the words are the document's own and only a `likelihood`, in 0..1, says that they answer. `document_id`,
    `version` and `sha256` are of what was read; `reason` says why there is no answer of a failed one.
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
        """What the answer is called: its verdict, or that it is likely."""
        return self.verdict.value if self.verdict else "likely" if self.likelihood is not None else None


class KeptCell(Model):
    """A cell and, where its document has changed since it was first answered, the answer of the content before."""

    cell: MatrixCell
    previous: MatrixCell | None = None


class ShownCell(KeptCell):
    """`is_stale`: the document has changed since. `conflict` says what the answer contradicts, if anything."""

    is_stale: bool = False
    conflict: str | None = None


class Matrix(Model):
    """Questions and documents, each by what all of its versions share; `job_id` is of the work that fills it."""

    id: uuid.UUID
    user_id: str
    name: str
    questions: tuple[MatrixQuestion, ...]
    lineage_ids: tuple[uuid.UUID, ...]
    job_id: uuid.UUID | None = None
    created_at: dt.datetime


class FilledMatrix(Model):
    """A matrix with what is answered so far. `documents` are those that are there, in the order of its rows."""

    matrix: Matrix
    documents: tuple[Document, ...]
    cells: tuple[ShownCell, ...]
    job: Job | None = None

    def at(self, document: Document, question: int) -> ShownCell | None:
        """The cell of a document and question; None: not answered yet."""
        return self._places.get((document.lineage_id or document.id, question))

    @functools.cached_property
    def _places(self) -> dict[tuple[uuid.UUID, int], ShownCell]:
        return {(one.cell.lineage_id, one.cell.question): one for one in self.cells}

    @property
    def to_ask(self) -> int:
        """How many cells are empty or stale, of documents that can be asked."""
        ready = [one for one in self.documents if one.status is DocumentStatus.READY]
        cells = [self.at(one, number) for one in ready for number in range(len(self.matrix.questions))]
        return sum(cell is None or cell.is_stale or cell.cell.status == "failed" for cell in cells)
