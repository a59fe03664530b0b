"""Answer questions for counts, sums, averages and groups from all rows of a table, with the rows cited."""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePath

from rag import errors, prompts, types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL, compose
from rag.answering.extraction.summary import to_hit
from rag.answering.field_values.dates import MONTHS
from rag.answering.passages.statements import Source, Statement
from rag.answering.tables.cell_values import Column
from rag.answering.tables.data_tables import TableRow, TypedTable
from rag.answering.tables.table_database import plain
from rag.answering.tables.table_questions import Operation, TableQuestion, is_identifier, is_of_rows
from rag.answering.verification.grounding import Locate
from rag.engine.library.tables import BY_WORDS, DocumentTables, Tables
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import detect
from rag.messages import N_
from rag.parsing import MIME_TYPE_BY_SUFFIX, file_types

MAX_DOCUMENTS = 5
"""Documents whose tables are read for a question; where more are meant, one has to be named."""
MAX_CITED_ROWS = 12
ROWS_PER_GROUP = 2
MAX_GROUPS = 50
MAX_DECIMALS = 4

_LABELS: dict[str, dict[Operation, str]] = {
    types.ENGLISH: {
        "count": "Number of rows",
        "distinct": "Different values of {column}",
        "sum": "Sum of {column}",
        "avg": "Average of {column}",
        "median": "Median of {column}",
        "min": "Lowest {column}",
        "max": "Highest {column}",
    },
    "german": {
        "count": "Anzahl der Zeilen",
        "distinct": "Verschiedene Werte von {column}",
        "sum": "Summe von {column}",
        "avg": "Durchschnitt von {column}",
        "median": "Median von {column}",
        "min": "Kleinster Wert von {column}",
        "max": "Größter Wert von {column}",
    },
}


class TableAnswers:
    """Answers from the rows of tables in one user's documents."""

    def __init__(self, workspace: Workspace, locate: Locate) -> None:
        self._workspace = workspace
        self._tables = Tables(workspace)
        self._locate = locate
        self.refusal: str | None = None
        """Why the rows of a table are not counted that the question is about."""

    def answer(
        self, documents: Sequence[types.DocumentNames], wordings: Iterable[str], *, counts_rows: bool
    ) -> types.AnswerResponse | None:
        """Return the answer of the only table among `documents` that explains all of a question; None if not sure.

        `wordings` are the question, and what it is without the names of documents. Only with `counts_rows` all rows are
        counted or added up, without a condition and a column of that name: other documents may have such figures. Of
        tables that are not on sheets only those answer that have been read whole, and only if their column is named.
        """
        unique = {document.id: document for document in documents}  # one may be named twice
        sheets = {id_ for id_, document in unique.items() if is_sheet(document)}
        chosen = [*unique] if len(unique) <= MAX_DOCUMENTS else [*sheets]
        if not 1 <= len(chosen) <= MAX_DOCUMENTS:
            return None
        read: list[DocumentTables] = []
        for id_ in chosen:
            try:
                read.append(self._tables.read(id_))
            except (errors.ConflictError, errors.LimitError, errors.NotFoundError):
                if id_ in sheets:
                    return None
        for question in wordings:
            asked = [
                (one, table, found)
                for one in read
                for table, found in one.questions(question)
                if table.sheet is not None or _names_column(found)
            ]
            if len(asked) == 1:
                return None if asked[0][2].is_bare and not counts_rows else self._told(*asked[0], question)
        return None

    def query(
        self, document: types.DocumentNames, question: str, generation: types.GenerationOptions
    ) -> types.AnswerResponse | None:
        """Return what a query gives that a language model writes; None if it gives nothing that rows stand for.

        The figures are exact, but nobody has checked that the query is what is asked.
        """
        try:
            read = self._tables.read(document.id)
            if all(map(_is_statement, read.tables)):
                return None
            result = self._tables.query(document.id, question=question, generation=generation)
        except (errors.ConflictError, errors.LimitError, errors.NotFoundError, errors.ValidationError):
            return None
        if (
            result.written_by == BY_WORDS
            or not result.used_count
            or not 0 < len(result.rows) <= MAX_GROUPS
            or result.is_truncated
        ):
            return None
        (table,) = (one for one in read.tables if one.info.number == result.table.number)
        used = [row for row in table.rows if row.number in {*result.used_rows}]
        parts: list[Statement] = []
        for values in result.rows:
            texts = {value for value in values if isinstance(value, str)}
            of_these = [row for row in used if texts <= {*row.cells}] or used
            cited = of_these[: ROWS_PER_GROUP if len(result.rows) > 1 else MAX_CITED_ROWS]
            named = zip(result.columns, values, strict=True)
            text = " · ".join(f"{name}: {_shown(value, ',') or '–'}" for name, value in named)
            parts.append(Statement(text, (*self._sources(read.document, cited).values(),)))
        answer = compose(parts, locate=self._locate)
        told = prompts.TABLE_ROWS_OF_QUERY.format(
            used=f"{result.used_count:,}",
            rows=f"{table.info.row_count:,}",
            name=_name_of(result),
            model=result.written_by,
        )
        unchecked = [
            sentence.model_copy(update={"support": types.Support.NOT_VERIFIED}) for sentence in answer.sentences
        ]
        hint = "\n".join([told, *result.notes, prompts.TABLE_QUERY_SHOWN.format(sql=result.sql)])
        return answer.model_copy(update={"sentences": tuple(unchecked), "hint": hint, "model": result.written_by})

    def refuse(self, document: types.DocumentNames, question: str) -> types.AnswerResponse | None:
        """Return why the rows of a table are not counted or ranked that a question is about; None if it is not."""
        with contextlib.suppress(errors.ConflictError, errors.LimitError, errors.NotFoundError):
            if any(is_of_rows(question, table) for table in self._tables.read(document.id).tables):
                return types.AnswerResponse(
                    status="insufficient_context", answer=prompts.TABLE_NOT_UNDERSTOOD, model=EXTRACTIVE_MODEL
                )
        return None

    def _told(
        self, read: DocumentTables, table: TypedTable, asked: TableQuestion, question: str
    ) -> types.AnswerResponse | None:
        with contextlib.suppress(errors.LimitError, errors.ValidationError):
            result, used = self._tables.answer(read.document, table, asked, question)
            if result.is_truncated or result.row_count > MAX_GROUPS or result.used_count is None:
                return None
            if doubt := next(_doubts(read, table, asked, used), None):
                page, name = table.info.page_start, read.document.name
                self.refusal = prompts.TABLE_NOT_COUNTED.format(page=page, name=name, _doubt=doubt)
                return None
            hint = _hint(result, asked)
            if not result.used_count:
                message = prompts.TABLE_NO_ROW.format(rows=f"{table.info.row_count:,}", name=_name_of(result))
                return types.AnswerResponse(
                    status="insufficient_context", answer=message, hint=hint, model=EXTRACTIVE_MODEL
                )
            cited = _cited_rows(table, asked, result, {*used})
            if not all(cited):
                return None
            sources = self._sources(read.document, [row for rows in cited for row in rows])
            texts = _texts(table, asked, result, question)
            parts = [
                Statement(text, tuple(sources[row.number] for row in rows))
                for text, rows in zip(texts, cited, strict=True)
            ]
            return compose(parts, locate=self._locate).model_copy(update={"hint": hint})
        return None

    def _sources(self, document: types.Document, rows: Sequence[TableRow]) -> dict[int, Source]:
        """Return the place of each row, by its number: those of a page have one passage."""
        by_page: dict[int, dict[int, TableRow]] = {}
        for row in rows:
            by_page.setdefault(row.lines[0].page_number, {})[row.number] = row
        sources: dict[int, Source] = {}
        for page, of_page in by_page.items():
            numbered = sorted(of_page.items())
            lines = [row.lines[0].model_copy(update={"starts_block": False}) for _, row in numbered]
            chunks = self._workspace.store.chunks.of_document(document.id, page_number=page)
            first = lines[0].number
            chunk = next((one for one in chunks if any(line.number == first for line in one.lines)), chunks[0])
            hit = to_hit(chunk, document, tuple(lines))
            ends = itertools.accumulate(len(line.text) + 1 for line in lines)
            for (number, _), line, end in zip(numbered, lines, ends, strict=True):
                sources[number] = Source(hit, types.Span(end - 1 - len(line.text), end - 1))
        return sources


def _names_column(asked: TableQuestion) -> bool:
    """Whether a question is about a table on a page: it names a column that is no period, and asks not of all rows.

    The rows of a table with a column for each year are items of a statement, which nobody adds up.
    """
    is_period = asked.column is not None and _is_period(asked.column)
    return asked.is_named and not asked.is_bare and not is_period


def _is_period(column: types.TableColumn) -> bool:
    return _OF_PERIOD.fullmatch(column.head) is not None


def _is_statement(table: TypedTable) -> bool:
    """Whether all figures are those of periods."""
    return all(map(_is_period, (column for column in table.info.columns if column.kind == "number")))


_OF_PERIOD = re.compile(
    rf"(?:[\W\d_]|\b(?:{'|'.join(MONTHS)}|fiscal|years?|months?|quarters?|ended|ending|as|of|at|fy|[qh][1-4]|jahr)\b)*+",
    re.IGNORECASE,
)
"""Heads that only name a period."""


def _doubts(read: DocumentTables, table: TypedTable, asked: TableQuestion, used: Sequence[int]) -> Iterator[str]:
    """Yield why the rows used may not be all that are meant, or may be more; of a sheet all rows are known."""
    if not {*table.may_be_totals}.isdisjoint(used):
        yield N_("rows that may be totals of others")
    if table.sheet is not None:
        return
    yield from table.doubts
    if read.document.failed_pages or (read.document.completeness and read.document.completeness.missing_characters):
        yield N_("characters or pages that could not be read")
    about = [asked.column, *asked.groups, *(condition.column for condition in asked.conditions)]
    if any(None in _column(table, column).values for column in about if column):
        yield N_("cells without a value")


def is_sheet(document: types.DocumentNames) -> bool:
    """Return whether a document is named as a spreadsheet."""
    return MIME_TYPE_BY_SUFFIX.get(PurePath(document.name).suffix.lower()) in file_types.SHEETS


def _cited_rows(
    table: TypedTable, asked: TableQuestion, result: types.TableResult, used: AbstractSet[int]
) -> list[list[TableRow]]:
    """Return the rows that are cited for each row of a result: the first that have its groups, and its extreme."""
    is_extreme = asked.operation in {"min", "max"}
    keys = [*asked.groups, *([asked.column] if asked.column and is_extreme else [])]
    columns = [_column(table, about).values for about in keys]
    rows: dict[tuple[types.TableValue, ...], list[TableRow]] = {}
    for index, row in enumerate(table.rows):
        if row.number in used:
            rows.setdefault(tuple(plain(values[index]) for values in columns), []).append(row)
    most = 1 if is_extreme else ROWS_PER_GROUP if asked.groups else MAX_CITED_ROWS
    return [rows.get(row[: len(columns)], [])[:most] for row in result.rows]


def _column(table: TypedTable, about: types.TableColumn) -> Column:
    return table.columns[table.info.columns.index(about)]


def _texts(table: TypedTable, asked: TableQuestion, result: types.TableResult, question: str) -> list[str]:
    """Return a sentence for each row of a result."""
    labels = _LABELS.get(detect(question), _LABELS[types.ENGLISH])
    column = asked.column
    head = (column.head or column.name) if column else ""
    label = labels[asked.operation].format(column=head)
    about = f" ({asked.conditions_text})" if asked.conditions else ""
    has_unit = column is not None and asked.operation != "distinct"
    unit = f" {column.unit}" if column and has_unit and column.unit and column.unit not in head else ""
    unit += f" ({column.scale})" if column and has_unit and column.scale and column.scale not in head else ""
    is_name = column is not None and has_unit and is_identifier(table, table.info.columns.index(column))
    return [
        f"{' / '.join(_shown(value, '') or '–' for value in row[:-1])}{': ' if row[:-1] else ''}"
        f"{label}{about}: {_shown(row[-1], '' if is_name else ',') or '–'}{unit}"
        for row in result.rows
    ]


def _shown(value: types.TableValue, thousands: str) -> str:
    if isinstance(value, float):
        value = round(value, MAX_DECIMALS)
        return f"{value:{thousands}.{MAX_DECIMALS}f}".rstrip("0").rstrip(".")
    return "" if value is None else f"{value:{thousands}}" if isinstance(value, int) else str(value)


def _name_of(result: types.TableResult) -> str:
    return result.table.name or result.document_name


def _hint(result: types.TableResult, asked: TableQuestion) -> str:
    """Return from which rows an answer is computed, by which query, and what was left out."""
    rows, name = f"{result.table.row_count:,}", _name_of(result)
    told = (
        prompts.TABLE_ROWS.format(used=f"{result.used_count:,}", rows=rows, name=name, conditions=asked.conditions_text)
        if asked.conditions
        else prompts.TABLE_ALL_ROWS.format(rows=rows, name=name)
    )
    return "\n".join([told, *result.notes, prompts.TABLE_QUERY_SHOWN.format(sql=result.sql)])
