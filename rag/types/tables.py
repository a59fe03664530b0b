"""Tables of documents as data: their columns, queries on them, and results with the rows that they used."""

import uuid
from typing import Annotated, Literal, Self

import pydantic

from rag.types.answers import GenerationOptions
from rag.types.base import TEXT, Input, Model
from rag.types.requests import NOT_EMPTY, QuestionText
from rag.types.text import Region

MAX_TABLE_ROWS = 200_000
"""A table with more rows is not queried: nothing is counted of a part."""
MAX_TABLE_COLUMNS = 300
MAX_RESULT_ROWS = 1000
"""Rows of a result that are returned, and numbers of the rows that it used."""
MAX_CITED_ROWS = 50
"""Used rows whose boxes are given."""
MAX_SQL_CHARS = 5000

ColumnKind = Literal["text", "number", "date", "time"]
"""A time has a date, too."""

TableValue = bool | int | float | str | None
"""A cell of a result; dates and times are in ISO 8601."""


class TableColumn(Model):
    """A column of a table: its `name` in queries, and the `head` that is printed above it.

    `unit` is "%", a currency or a measure if its figures have one, `scale` what its head or the table's caption says of
    all its figures ("thousand"), by which the values are not multiplied. Of `unread` cells no value of this kind could
    be read; they are empty in queries.
    """

    name: str
    head: str
    kind: ColumnKind
    unit: str | None = None
    scale: str | None = None
    samples: tuple[str, ...] = ()
    unread: int = 0


class DataTable(Model):
    """A table of a document. Queries call it `data`.

    `name` is that of its sheet, or its caption; `cells` is its area on a sheet ("Orders!A1:F120"). `row_count` counts
    the rows of data: without heads, without rows that only name a section, and without `totals`, the numbers of rows
    that sum up others. `notes` say how it was read.
    """

    number: int
    name: str
    page_start: int
    page_end: int
    cells: str | None = None
    columns: tuple[TableColumn, ...]
    row_count: int
    totals: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class TableQuery(Input):
    """A query on a table of a document: one SELECT statement in `sql` on the table `data`, or a `question`.

    Without `table`, a number as listed, the one that the question fits is queried. A language model of `generation`
    writes the query where its words alone do not give it.
    """

    table: int | None = pydantic.Field(default=None, ge=1, le=100_000)
    sql: Annotated[str, pydantic.Field(max_length=MAX_SQL_CHARS, pattern=TEXT, json_schema_extra=NOT_EMPTY)] | None = (
        None
    )
    question: QuestionText | None = None
    generation: GenerationOptions = GenerationOptions()

    @pydantic.model_validator(mode="after")
    def _has_one_of_both(self) -> Self:
        if (self.sql is None) == (self.question is None):
            raise ValueError("Give either sql or question")
        return self


class UsedRow(Model):
    """A row that a result was computed from: its number in the table or on its sheet, its cells, and where they are."""

    number: int
    text: str
    region: Region


class TableResult(Model):
    """The result of a query, with the rows of the table that it was computed from.

    `written_by` says who wrote `sql`: the caller, Pagelight by the words of the question, or a language model. `rows`
    are the first of `row_count`. `used_rows` are the numbers of the rows that the conditions let pass, the first of
    `used_count`, and `citations` their places; None and none for a query with several parts, which reads all rows.
    `notes` say what was left out or not read.
    """

    document_id: uuid.UUID
    document_name: str
    table: DataTable
    question: str | None = None
    sql: str
    written_by: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableValue, ...], ...]
    row_count: int
    is_truncated: bool = False
    used_rows: tuple[int, ...] = ()
    used_count: int | None = None
    citations: tuple[UsedRow, ...] = ()
    notes: tuple[str, ...] = ()
