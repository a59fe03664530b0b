"""Answer questions for counts, sums, averages and groups from all rows of a table, with the rows cited."""

import contextlib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePath

from rag import errors, prompts, types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL, compose
from rag.answering.extraction.summary import to_hit
from rag.answering.field_values.dates import MONTHS
from rag.answering.generation.model_answer import Stop
from rag.answering.passages.statements import Source, Statement
from rag.answering.tables.cell_values import Column
from rag.answering.tables.data_tables import TableRow, TypedTable
from rag.answering.tables.question_words import NamedParts, Operation, is_of_rows
from rag.answering.tables.table_database import plain, schema
from rag.answering.tables.table_questions import TableQuestion, is_identifier
from rag.answering.verification.grounding import Locate
from rag.engine.library.table_queries import Candidate, QueriedTable
from rag.engine.library.tables import DocumentTables, Tables
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
    """Answers from the rows of the tables in some of one user's documents."""

    def __init__(
        self,
        workspace: Workspace,
        locate: Locate,
        documents: Iterable[types.DocumentNames],
        *,
        counts_rows: bool = False,
    ) -> None:
        """Only with `counts_rows` all rows are counted or added up: else other documents may have such figures."""
        self._workspace = workspace
        self._tables = Tables(workspace)
        self._locate = locate
        self._documents = {document.id: document for document in documents}  # one may be named twice
        self._counts_rows = counts_rows
        self.refusal: str | None = None
        """Why the rows of a table are not counted that the question is about."""

    @functools.cached_property
    def _read(self) -> list[DocumentTables]:
        """The tables of the documents; none of too many documents, or if a sheet cannot be read."""
        sheets = {id_ for id_, document in self._documents.items() if is_sheet(document)}
        chosen = [*self._documents] if len(self._documents) <= MAX_DOCUMENTS else [*sheets]
        read: list[DocumentTables] = []
        for id_ in chosen if len(chosen) <= MAX_DOCUMENTS else ():
            try:
                read.append(self._tables.read(id_))
            except (errors.ConflictError, errors.LimitError, errors.NotFoundError):
                if id_ in sheets:
                    return []
        return read

    def answer(self, wordings: Iterable[str]) -> types.AnswerResponse | None:
        """Return the answer of the only table that explains all of a question; None if not sure.

        `wordings` are the question, and what it is without the names of documents. Tables that are not on sheets
        answer only if they have been read whole and their column is named.
        """
        for question in wordings:
            asked = [
                (one, table, found)
                for one in self._read
                for table, found in one.questions(question)
                if table.sheet is not None or _names_column(found)
            ]
            if len(asked) == 1:
                return None if asked[0][2].is_bare and not self._counts_rows else self._told(*asked[0], question)
        return None

    def query(
        self, question: str, generation: types.GenerationOptions, spent: list[types.Usage], stop: Stop
    ) -> types.AnswerResponse | None:
        """Return what a query gives that a language model writes for the table that it chooses; None if not sure.

        The figures are exact, but nobody has checked that the query is what is asked. What it used is added to `spent`;
        once `stop` returns True, nothing is asked.
        """
        candidates = [candidate for read in self._read for candidate in read.candidates(question)]
        explained = [table for read in self._read for table, _ in read.questions(question)]
        is_needed = len(explained) != 1 and any(map(self._may_be_meant, candidates))
        if not is_needed or stop():  # the query of its words gives no answer
            return None
        of_tables = {candidate.document.id for candidate in candidates}
        beside = [document.name for id_, document in self._documents.items() if id_ not in of_tables]
        try:
            run = self._tables.ask_model(candidates, question, generation, beside=beside, spent=spent)
        except (errors.LimitError, errors.ValidationError):
            return None
        (chosen,) = (candidate for candidate in candidates if candidate.table is run.table)
        others = [candidate for candidate in candidates if candidate is not chosen]
        if not self._may_be_meant(chosen) or not self._is_counted(run, chosen.named):
            return None
        doubts = [*_doubts(run.document, run.table, run.about, run.found.used or ())]
        if any(_is_meant_as_well(other, chosen, run.found.names, explained) for other in others):
            doubts.append(N_("others beside it that may be meant as well"))
        if doubts:
            self._note_doubt(run.document, run.table, doubts[0])
            return None
        return self._told_by_model(run, question)

    def _may_be_meant(self, candidate: Candidate) -> bool:
        """Whether a question that counts or adds up may be about a table: where there are only sheets, about any.

        About a table on a page only if it names the things in its rows: reports have dozens of tables.
        """
        table, named = candidate.table, candidate.named
        if _is_statement(table):
            return False
        if table.sheet is not None:
            return self._counts_rows or bool(named.words)
        heads = (table.info.columns[index] for index in named.whole)
        return any(column.kind != "number" and not _is_period(column) for column in heads)

    def _is_counted(self, run: QueriedTable, named: NamedParts) -> bool:
        """Whether a model's query counts, adds up or ranks rows of the table that the question names, and shows all.

        Where other documents may have such figures it leaves rows out or has groups. What a table on a page says of
        one of its items is left to the passages, whose words are verified.
        """
        found, is_on_page = run.found, run.table.sheet is None
        if not found.used or not found.shows_groups or found.row_count > min(len(found.rows), MAX_GROUPS):
            return False
        if is_on_page:
            columns = {run.table.info.columns[index].name for index in named.columns}
            about = {column.name for column in run.about}
            if found.is_lookup or any(map(_is_period, run.about)) or columns.isdisjoint(about):
                return False
        return not found.is_bare or (self._counts_rows and not is_on_page)

    def _told_by_model(self, run: QueriedTable, question: str) -> types.AnswerResponse:
        result, table = run.result(question, run.figures), run.table
        used = [row for row in table.rows if row.number in {*(run.found.used or ())}]
        parts: list[Statement] = []
        for values in result.rows:
            texts = {value for value in values if isinstance(value, str)}
            of_these = [row for row in used if texts <= {*row.cells}] or used
            cited = of_these[: ROWS_PER_GROUP if len(result.rows) > 1 else MAX_CITED_ROWS]
            named = zip(result.columns, values, strict=True)
            text = " · ".join(f"{name}: {_shown(value, ',') or '–'}" for name, value in named)
            parts.append(Statement(text, (*self._sources(run.document, cited).values(),)))
        answer = compose(parts, locate=self._locate)
        told = prompts.TABLE_ROWS_OF_QUERY.format(
            used=f"{result.used_count:,}", rows=f"{table.info.row_count:,}", name=_name_of(result), model=run.written_by
        )
        unchecked = [
            sentence.model_copy(update={"support": types.Support.NOT_VERIFIED}) for sentence in answer.sentences
        ]
        return answer.model_copy(
            update={"sentences": tuple(unchecked), "hint": _hint(result, told), "model": run.written_by}
        )

    def refuse(self, question: str) -> types.AnswerResponse | None:
        """Return why the rows of a table are not counted or ranked that a question is about; None if it is not."""
        if any(is_of_rows(question, table) for read in self._read for table in read.tables):
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
            about = [asked.column, *asked.groups, *(condition.column for condition in asked.conditions)]
            if doubt := next(_doubts(read.document, table, filter(None, about), used), None):
                self._note_doubt(read.document, table, doubt)
                return None
            name, rows = _name_of(result), f"{result.table.row_count:,}"
            told = prompts.TABLE_ROWS if asked.conditions else prompts.TABLE_ALL_ROWS
            told = told.format(used=f"{result.used_count:,}", rows=rows, name=name, conditions=asked.conditions_text)
            hint = _hint(result, told)
            if not result.used_count:
                return types.AnswerResponse(
                    status="insufficient_context",
                    answer=prompts.TABLE_NO_ROW.format(rows=rows, name=name),
                    hint=hint,
                    model=EXTRACTIVE_MODEL,
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

    def _note_doubt(self, document: types.Document, table: TypedTable, doubt: str) -> None:
        page = table.info.page_start
        self.refusal = prompts.TABLE_NOT_COUNTED.format(page=page, name=document.name, _doubt=doubt)

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
    figures = [column for column in table.info.columns if column.kind == "number"]
    return bool(figures) and all(map(_is_period, figures))


_OF_PERIOD = re.compile(
    rf"(?:[\W\d_]|\b(?:{'|'.join(MONTHS)}|fiscal|years?|months?|quarters?|ended|ending|as|of|at|fy|[qh][1-4]|jahr)\b)*+",
    re.IGNORECASE,
)
"""Heads that only name a period."""


def _is_meant_as_well(
    other: Candidate, chosen: Candidate, names: AbstractSet[str], explained: Sequence[TypedTable]
) -> bool:
    """Whether another table may be meant than a model chose: the question has all of the words for it, too.

    If it has the columns that the query names, or its words explain all of the question, it must have fewer of them.
    """
    names = names & {*schema(chosen.table)} if "*" not in names else {*schema(chosen.table)}
    fits = names <= {*schema(other.table)} or any(table is other.table for table in explained)
    has_words = bool(other.named.words) and chosen.named.words <= other.named.words
    return has_words or (fits and not chosen.named.words > other.named.words)


def _doubts(
    document: types.Document, table: TypedTable, about: Iterable[types.TableColumn], used: Sequence[int]
) -> Iterator[str]:
    """Yield why the rows used may not be all that are meant, or may be more; of a sheet all rows are known."""
    if not {*table.may_be_totals}.isdisjoint(used):
        yield N_("rows that may be totals of others")
    if table.sheet is not None:
        return
    yield from table.doubts
    if document.failed_pages or (document.completeness and document.completeness.missing_characters):
        yield N_("characters or pages that could not be read")
    if any(None in _column(table, column).values for column in about):
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


def _hint(result: types.TableResult, told: str) -> str:
    """Return from which rows an answer is computed, what was left out, and by which query."""
    return "\n".join([told, *result.notes, prompts.TABLE_QUERY_SHOWN.format(sql=result.sql)])
