"""Tables of documents as data: list them, and count, add up, filter and group their rows."""

import builtins
import itertools
import uuid
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from rag import errors, parsing, retrieval, types
from rag.answering.tables.cell_values import COMMA, POINT
from rag.answering.tables.data_tables import TypedTable, read_tables
from rag.answering.tables.question_words import named_parts
from rag.answering.tables.table_questions import TableQuestion, read_question
from rag.answering.text.term_weights import word_set
from rag.engine.library.table_queries import Candidate, QueriedTable, ask_model, run_query
from rag.engine.request_parsing import parse, request_key_errors
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.parsing import file_types

MAX_LINES = 400_000
"""Lines of a document whose tables are read."""
MAX_NAMED = 5
WITH_COMMA = word_set(
    "basque catalan danish dutch finnish french german greek hungarian indonesian italian lithuanian norwegian "
    "portuguese romanian russian serbian spanish swedish turkish"
)
"""Languages with a decimal comma."""
DELIMITED = frozenset({file_types.CSV, file_types.TSV})
ANY_MODEL = types.GenerationOptions()
BY_CALLER, BY_WORDS = "caller", "words"
"""Who wrote a query, if no language model did."""


class DocumentTables(NamedTuple):
    """A document and its tables."""

    document: types.Document
    tables: list[TypedTable]

    def questions(self, question: str, number: int | None = None) -> list[tuple[TypedTable, TableQuestion]]:
        """Return the tables whose words explain all of a question, of all or of one table, with what it asks.

        The names of the document explain it only if no table's own words do.
        """
        for names in ((), self._names):
            tables = [table for table in self.tables if number in (None, table.info.number)]
            read = [(table, read_question(question, table, names)) for table in tables]
            if asked := [(table, found) for table, found in read if found]:
                return asked
        return []

    def candidates(self, question: str) -> list[Candidate]:
        """Return the tables with what a question names of each, or of the document."""
        return [Candidate(self.document, table, named_parts(question, table, self._names)) for table in self.tables]

    @property
    def _names(self) -> tuple[str, str]:
        return PurePath(self.document.name).stem, self.document.title or ""


class Tables:
    """The tables of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, document_id: uuid.UUID) -> tuple[types.DataTable, ...]:
        """Return the tables of a document in reading order, with their columns; none of one in the trash.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: it is not read yet.
            errors.LimitError: it has too many lines, or a table of it too many rows.
        """
        return tuple(table.info for table in self.read(document_id).tables)

    def query(
        self,
        document_id: uuid.UUID,
        table: int | None = None,
        *,
        sql: str | None = None,
        question: str | None = None,
        generation: types.GenerationOptions | Mapping[str, Any] = ANY_MODEL,
    ) -> types.TableResult:
        """Return the result of one SELECT statement on a table, or the answer of a table to a question.

        `table` is its number as listed; without it the only one, or the only one that the question fits. A question is
        answered by its words if all of them are explained by heads, values and comparisons, else by a query that the
        language model of `generation` writes, who sees heads, kinds and a few values of each column.

        Raises:
            errors.ValidationError: neither or both are given, several tables may be meant, or the query is refused; or
                the question is not understood and there is no language model.
            errors.NotFoundError: there is no such document or table.
            errors.ConflictError: the document is not read yet.
            errors.LimitError: the table is too large, or the query takes too much time or memory.
            errors.ProviderError: the language model refuses or is down.
        """
        options = generation if isinstance(generation, types.GenerationOptions) else dict(generation)
        request = parse(types.TableQuery, {"table": table, "sql": sql, "question": question, "generation": options})
        read = self.read(document_id)
        chosen = _numbered(read, request.table)
        if request.sql is not None:
            if len(chosen) > 1:
                raise _several(chosen)
            return run_query(read.document, chosen[0], request.sql, BY_CALLER).result(None)
        asked = read.questions(request.question or "", request.table)
        if len(asked) == 1:
            return self.answer(read.document, *asked[0], request.question)[0]
        if len(asked) > 1:
            raise _several([table for table, _ in asked])
        tables = [
            one for one in read.candidates(request.question or "") if request.table in (None, one.table.info.number)
        ]
        run = self.ask_model(tables, request.question or "", request.generation)
        return run.result(request.question, run.figures)

    def read(self, document_id: uuid.UUID) -> DocumentTables:
        """Return a document and its tables; raises as `list`."""
        store = self._workspace.store
        document = store.documents.get(document_id)
        if document.status not in {types.DocumentStatus.READY, types.DocumentStatus.EMBEDDING}:
            raise errors.ConflictError(N_("“{name}” is not read completely yet. Wait for it."), name=document.name)
        if document.line_count > MAX_LINES:
            raise errors.LimitError(
                N_("“{name}” has {lines} lines. Tables are read in documents of at most {limit}; divide it."),
                name=document.name,
                lines=f"{document.line_count:,}",
                limit=f"{MAX_LINES:,}",
            )
        chunks = store.chunks.of_document(document.id)
        is_sheet = document.mime_type in file_types.SHEETS
        rendition = self._workspace.files.local_path(document.id, "rendition") if is_sheet and chunks else None
        is_delimited = document.mime_type in DELIMITED
        has_comma = document.language in WITH_COMMA and (is_delimited or not is_sheet)
        tables = read_tables(
            (line for chunk in chunks for line in chunk.lines),
            parsing.sheet_grids(rendition) if rendition else {},
            mark=COMMA if has_comma else POINT,
            month_first=document.language == types.ENGLISH,
            records=is_delimited,
        )
        if notes := _notes_of(document):
            infos = [table.info.model_copy(update={"notes": (*table.info.notes, *notes)}) for table in tables]
            tables = [table._replace(info=info) for table, info in zip(tables, infos, strict=True)]
        return DocumentTables(document, tables)

    def answer(
        self, document: types.Document, table: TypedTable, asked: TableQuestion, question: str | None
    ) -> tuple[types.TableResult, Sequence[int]]:
        """Return the answer of a table to what a question asks, and the numbers of all rows used.

        Raises:
            errors.ValidationError: the query does not fit the table.
            errors.LimitError: it takes too much time or memory.
        """
        run = run_query(document, table, asked.sql, BY_WORDS)
        return run.result(question, filter(None, [asked.column])), run.found.used or ()

    def ask_model(
        self,
        candidates: Sequence[Candidate],
        question: str,
        generation: types.GenerationOptions,
        *,
        beside: Sequence[str] = (),
        spent: builtins.list[types.Usage] | None = None,
    ) -> QueriedTable:
        """Return what the query gives that a language model writes for one of the tables; raises as `query`.

        Documents `beside` theirs may be meant instead. What the model used is added to `spent`.
        """
        llm = self._workspace.models.language_model(generation)
        if llm is None:
            heads = (", ".join(column.head or column.name for column in of.table.info.columns) for of in candidates)
            raise errors.ValidationError(
                N_(
                    "The question is not understood: without a language model each of its words must be a column, a "
                    "value or a comparison. Columns: {columns}. Ask with these words, or give a query in SQL."
                ),
                columns="; ".join(itertools.islice(heads, MAX_NAMED)),
                details={"field": "question"},
            )
        with request_key_errors(generation.auth):
            completions = retrieval.Completions(llm, None, [] if spent is None else spent)
            return ask_model(completions, candidates, question, beside=beside)


def _numbered(read: DocumentTables, number: int | None) -> list[TypedTable]:
    """Return the table with a number, or all. Raises NotFoundError if there is none."""
    if not read.tables:
        raise errors.NotFoundError(N_("“{name}” has no tables that can be queried."), name=read.document.name)
    chosen = [table for table in read.tables if number in (None, table.info.number)]
    if not chosen:
        raise errors.NotFoundError(
            N_("There is no table {number}: “{name}” has {count}. List them."),
            number=number,
            name=read.document.name,
            count=len(read.tables),
        )
    return chosen


def _several(tables: Sequence[TypedTable]) -> errors.ValidationError:
    named = ", ".join(
        f"{table.info.number} ({table.info.name or table.info.page_start})" for table in tables[:MAX_NAMED]
    )
    return errors.ValidationError(
        N_("Several tables may be meant. Give the number of one: {tables}."), tables=named, details={"field": "table"}
    )


def _notes_of(document: types.Document) -> list[str]:
    """Return why rows of a document may be missing."""
    notes: list[str] = []
    if document.failed_pages:
        pages = ", ".join(map(str, document.failed_pages[:MAX_NAMED]))
        notes.append(N_("Rows may be missing: pages that could not be read: {pages}.").format(pages=pages))
    if document.completeness and document.completeness.missing_characters:
        notes.append(
            N_("Rows may be missing: characters that were read: {share}.").format(share=document.completeness.summary)
        )
    return notes
