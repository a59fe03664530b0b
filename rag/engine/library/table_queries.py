"""Run queries on tables of documents, and have a language model choose the table and write its query."""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rag import errors, prompts, providers, retrieval, types
from rag.answering.tables.data_tables import TypedTable
from rag.answering.tables.question_words import NamedParts
from rag.answering.tables.table_database import QueryResult, TableDatabase, schema
from rag.answering.text.json_replies import INTEGER, closed_object, read_object
from rag.messages import N_

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

MAX_DESCRIBED = 20
"""Tables that a language model chooses from: those first of which a question names most."""
MAX_DESCRIBED_CHARS = 40_000
MAX_TABLE_CHARS = 10_000
"""Characters that describe all tables, and one of several hundred columns."""
MODEL_TRIES = 2
_SCHEMA = closed_object({"table": INTEGER, "sql": {"type": ["string", "null"]}})


class Candidate(NamedTuple):
    """A table of a document that a question may mean, and what the question names of it."""

    document: types.Document
    table: TypedTable
    named: NamedParts


class QueriedTable(NamedTuple):
    """A table of a document, the query that was run on it, who wrote it, and what it gives."""

    document: types.Document
    table: TypedTable
    sql: str
    written_by: str
    found: QueryResult

    @property
    def about(self) -> list[types.TableColumn]:
        """The columns that the query names."""
        return [one for one in self.table.info.columns if not self.found.names.isdisjoint({one.name, "*"})]

    @property
    def figures(self) -> list[types.TableColumn]:
        """The columns of numbers that the query names."""
        return [column for column in self.about if column.kind == "number"]

    def result(self, question: str | None, columns: Iterable[types.TableColumn] = ()) -> types.TableResult:
        """Return the result with the places of the first rows used, and how many of all have no value of `columns`."""
        found, used = self.found, self.found.used
        rows = {row.number: row for row in self.table.rows} if used else {}
        return types.TableResult(
            document_id=self.document.id,
            document_name=self.document.name,
            table=self.table.info,
            question=question,
            sql=self.sql,
            written_by=self.written_by,
            columns=found.columns,
            rows=found.rows,
            row_count=found.row_count,
            is_truncated=found.row_count > len(found.rows),
            used_rows=tuple(used[: types.MAX_RESULT_ROWS]) if used is not None else (),
            used_count=None if used is None else len(used),
            citations=tuple(self.table.cited(rows[number]) for number in (used or ())[: types.MAX_CITED_ROWS]),
            notes=(*self.table.info.notes, *self._empty_cells(columns)),
        )

    def _empty_cells(self, columns: Iterable[types.TableColumn]) -> Iterator[str]:
        for column in columns:
            cells = self.table.columns[self.table.info.columns.index(column)].values
            values = {row.number: value for row, value in zip(self.table.rows, cells, strict=True)}
            if empty := sum(values[number] is None for number in self.found.used or ()):
                name = column.head or column.name
                yield N_("{count} of these rows have no value of “{column}”.").format(count=empty, column=name)


def run_query(document: types.Document, table: TypedTable, sql: str, written_by: str) -> QueriedTable:
    """Run a statement on a table.

    Raises:
        errors.ValidationError: it is refused, or does not fit the table.
        errors.LimitError: it takes too much time or memory.
    """
    with TableDatabase(table) as database:
        return QueriedTable(document, table, sql, written_by, database.query(sql))


def ask_model(
    completions: retrieval.Completions, candidates: Sequence[Candidate], question: str, *, beside: Sequence[str] = ()
) -> QueriedTable:
    """Have a language model choose one of the tables and write its query; one that fails is written once more.

    It sees the names of tables and documents, and of each column the head, kind, unit and a few values; and the names
    of documents `beside` those, which may be meant instead.

    Raises:
        errors.ValidationError: it finds no table, or its query is refused.
        errors.LimitError: the query takes too much time or memory.
        errors.ProviderError: the language model refuses or is down.
    """
    candidates = sorted(candidates, key=lambda candidate: -len(candidate.named.words))
    described = [*itertools.starmap(_described, enumerate(candidates[:MAX_DESCRIBED], start=1))]

    def prompt(failed: str = "") -> str:
        tables = [*described, *_not_described(len(candidates) - len(described), beside)]
        return prompts.TABLE_QUERY.format(tables="\n\n".join(tables), question=question, failed=failed)

    while len(described) > 1 and (
        sum(map(len, described)) > MAX_DESCRIBED_CHARS or providers.remaining_tokens(completions.llm, prompt()) < 0
    ):
        described.pop()
    model, failed = completions.llm.metadata.model_name, ""
    refusal: errors.Error | None = None
    for _ in range(MODEL_TRIES):
        number, sql = _written(completions.complete("plans", prompt(failed), _SCHEMA), is_only=len(candidates) == 1)
        if sql is None or not 0 < number <= len(described):
            raise errors.ValidationError(
                N_("{model} finds no table that answers this. Ask with the words of the heads, or give SQL."),
                model=model,
                details={"field": "question"},
            )
        try:
            return run_query(*candidates[number - 1][:2], sql, model)
        except (errors.ValidationError, errors.LimitError) as error:
            refusal = error
            failed = prompts.TABLE_QUERY_FAILED.format(sql=sql, error=error.message)
    raise refusal or errors.GroundingError()


def _written(reply: str, *, is_only: bool) -> tuple[int, str | None]:
    """Return the number of the table, which need not be said of the only one, and the statement that a model wrote."""
    written = read_object(reply)
    number, sql = str(written.get("table", int(is_only))), written.get("sql")
    statement = sql.strip().rstrip(";") if isinstance(sql, str) else ""
    return int(number) if number.isdecimal() else 0, statement or None


def _not_described(tables: int, documents: Sequence[str]) -> Iterator[str]:
    """Yield what else a question may be about."""
    if tables:
        yield prompts.MORE_TABLES.format(count=tables)
    if documents:
        names = (json.dumps(name, ensure_ascii=False) for name in documents[:MAX_DESCRIBED])
        yield prompts.OTHER_DOCUMENTS.format(names=", ".join(names))
    if (more := len(documents) - MAX_DESCRIBED) > 0:
        yield prompts.MORE_DOCUMENTS.format(count=more)


def _described(number: int, candidate: Candidate) -> str:
    """Describe a table for a language model; of too many columns those that the question names, and the first."""
    info = candidate.table.info
    name, document = (json.dumps(text, ensure_ascii=False) for text in (info.name, candidate.document.name))
    first = {info.columns[index].name for index in candidate.named.columns}
    about = {column.name: column for column in info.columns}
    lines = [f"Table {number}: {name} in {document}, {info.row_count} rows"]
    for field, kind in sorted(schema(candidate.table).items(), key=lambda one: one[0] not in first):
        column = about.get(field)
        line = f"- {field} {kind}"
        if column:
            facts = {"head": column.head, "unit": column.unit, "scale": column.scale, "samples": column.samples}
            line += f" {json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False)}"
        lines.append(line)
    text = "\n".join(lines)
    return text if len(text) <= MAX_TABLE_CHARS else f"{text[:MAX_TABLE_CHARS].rpartition(chr(10))[0]}\n- …"
