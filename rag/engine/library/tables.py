"""Tables of documents as data: list them, and count, add up, filter and group their rows."""

import json
import uuid
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from rag import errors, parsing, prompts, retrieval, types
from rag.answering.tables.cell_values import COMMA, POINT
from rag.answering.tables.data_tables import TypedTable, read_tables
from rag.answering.tables.table_database import QueryResult, TableDatabase, schema
from rag.answering.tables.table_questions import TableQuestion, read_question
from rag.answering.text.json_replies import INTEGER, closed_object, read_object
from rag.answering.text.term_weights import word_set
from rag.engine.request_parsing import parse, request_key_errors
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.parsing import file_types

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

MAX_LINES = 400_000
"""Lines of a document whose tables are read."""
WITH_COMMA = word_set(
    "basque catalan danish dutch finnish french german greek hungarian indonesian italian lithuanian norwegian "
    "portuguese romanian russian serbian spanish swedish turkish"
)
"""Languages with a decimal comma."""
DELIMITED = frozenset({file_types.CSV, file_types.TSV})
ANY_MODEL = types.GenerationOptions()
BY_CALLER, BY_WORDS = "caller", "words"
"""Who wrote a query, if no language model did."""
_SCHEMA = closed_object({"table": INTEGER, "sql": {"type": ["string", "null"]}})


class DocumentTables(NamedTuple):
    """A document and its tables."""

    document: types.Document
    tables: list[TypedTable]

    def questions(self, question: str, number: int | None = None) -> list[tuple[TypedTable, TableQuestion]]:
        """Return the tables whose words explain all of a question, of all or of one table, with what it asks.

        The names of the document explain it only if no table's own words do.
        """
        for names in ((), (PurePath(self.document.name).stem, self.document.title or "")):
            tables = [table for table in self.tables if number in (None, table.info.number)]
            read = [(table, read_question(question, table, names)) for table in tables]
            if asked := [(table, found) for table, found in read if found]:
                return asked
        return []


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
            return _result(
                read.document, chosen[0], _run(chosen[0], request.sql), sql=request.sql, written_by=BY_CALLER
            )
        asked = read.questions(request.question or "", request.table)
        if len(asked) == 1:
            return self.answer(read.document, *asked[0], request.question)[0]
        if len(asked) > 1:
            raise _several([table for table, _ in asked])
        return self._ask_model(read.document, chosen, request)

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
        notes = _notes_of(document)
        if notes:
            tables = [
                table._replace(info=table.info.model_copy(update={"notes": (*table.info.notes, *notes)}))
                for table in tables
            ]
        return DocumentTables(document, tables)

    def answer(
        self, document: types.Document, table: TypedTable, asked: TableQuestion, question: str | None
    ) -> tuple[types.TableResult, Sequence[int]]:
        """Return the answer of a table to what a question asks, and the numbers of all rows used.

        Raises:
            errors.ValidationError: the query does not fit the table.
            errors.LimitError: it takes too much time or memory.
        """
        found = _run(table, asked.sql)
        result = _result(document, table, found, sql=asked.sql, written_by=BY_WORDS, question=question)
        used = found.used or ()
        if note := _empty_cells(table, asked, used):
            result = result.model_copy(update={"notes": (*result.notes, note)})
        return result, used

    # --- a query by a language model ---

    def _ask_model(
        self, document: types.Document, tables: Sequence[TypedTable], request: types.TableQuery
    ) -> types.TableResult:
        llm = self._workspace.models.language_model(request.generation)
        if llm is None:
            raise errors.ValidationError(
                N_(
                    "The question is not understood: without a language model each of its words must be a column, a "
                    "value or a comparison. Columns: {columns}. Ask with these words, or give a query in SQL."
                ),
                columns="; ".join(_columns_of(table) for table in tables[:MAX_NAMED]),
                details={"field": "question"},
            )
        with request_key_errors(request.generation.auth):
            return self._query_by_model(llm, document, tables, request.question or "")

    def _query_by_model(
        self, llm: "LLM", document: types.Document, tables: Sequence[TypedTable], question: str
    ) -> types.TableResult:
        completions, failed = retrieval.Completions(llm, None), ""
        by_number = {table.info.number: table for table in tables}
        described = "\n\n".join(map(_described, tables[:MAX_DESCRIBED]))
        refusal: errors.Error | None = None
        for _ in range(MODEL_TRIES):
            prompt = prompts.TABLE_QUERY.format(tables=described, question=question, failed=failed)
            number, sql = _written(completions.complete("plans", prompt, _SCHEMA))
            if sql is None or number not in by_number:
                raise errors.ValidationError(
                    N_("{model} finds no table that answers this. Ask with the words of the heads, or give SQL."),
                    model=llm.metadata.model_name,
                    details={"field": "question"},
                )
            try:
                table = by_number[number]
                model = llm.metadata.model_name
                return _result(document, table, _run(table, sql), sql=sql, written_by=model, question=question)
            except (errors.ValidationError, errors.LimitError) as error:
                refusal = error
                failed = prompts.TABLE_QUERY_FAILED.format(sql=sql, error=error.message)
        raise refusal or errors.GroundingError()


MAX_NAMED = 5
MAX_DESCRIBED = 20
"""Tables that a language model chooses from."""
MODEL_TRIES = 2


def _written(reply: str) -> tuple[int, str | None]:
    """Return the number of the table and the statement that a model wrote; None if it wrote none."""
    written = read_object(reply)
    table, sql = str(written.get("table", 1)), written.get("sql")
    statement = sql.strip().rstrip(";") if isinstance(sql, str) else ""
    return int(table) if table.isdecimal() else 1, statement or None


def _described(table: TypedTable) -> str:
    """Describe a table for a language model."""
    info = table.info
    about = {column.name: column for column in info.columns}
    lines = [f"Table {info.number}: {json.dumps(info.name, ensure_ascii=False)}, {info.row_count} rows"]
    for name, kind in schema(table).items():
        column = about.get(name)
        if column is None:
            lines.append(f"- {name} {kind}")
            continue
        facts = {"head": column.head, "unit": column.unit, "scale": column.scale, "samples": [*column.samples]}
        told = {key: value for key, value in facts.items() if value}
        lines.append(f"- {name} {kind} {json.dumps(told, ensure_ascii=False)}")
    return "\n".join(lines)


def _columns_of(table: TypedTable) -> str:
    return ", ".join(column.head or column.name for column in table.info.columns)


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


def _empty_cells(table: TypedTable, asked: TableQuestion, used: Sequence[int]) -> str | None:
    """Return how many of the rows used have no value that is added up or compared."""
    if asked.column is None:
        return None
    index = [column.name for column in table.info.columns].index(asked.column.name)
    values = {row.number: value for row, value in zip(table.rows, table.columns[index].values, strict=True)}
    empty = sum(values[number] is None for number in used)
    name = asked.column.head or asked.column.name
    return N_("{count} of these rows have no value of “{column}”.").format(count=empty, column=name) if empty else None


def _run(table: TypedTable, sql: str) -> QueryResult:
    with TableDatabase(table) as database:
        return database.query(sql)


def _result(
    document: types.Document,
    table: TypedTable,
    found: QueryResult,
    *,
    sql: str,
    written_by: str,
    question: str | None = None,
) -> types.TableResult:
    used = found.used
    cited: Sequence[types.UsedRow] = ()
    if used is not None:
        rows = {row.number: row for row in table.rows}
        cited = [table.cited(rows[number]) for number in used[: types.MAX_CITED_ROWS]]
    return types.TableResult(
        document_id=document.id,
        document_name=document.name,
        table=table.info,
        question=question,
        sql=sql,
        written_by=written_by,
        columns=found.columns,
        rows=found.rows,
        row_count=found.row_count,
        is_truncated=found.row_count > len(found.rows),
        used_rows=tuple(used[: types.MAX_RESULT_ROWS]) if used is not None else (),
        used_count=None if used is None else len(used),
        citations=tuple(cited),
        notes=table.info.notes,
    )
