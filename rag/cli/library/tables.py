"""`pagelight tables`: list the tables of a document, and count, add up, filter and group their rows."""

from typing import Annotated

import typer

from rag import types
from rag.access.name_lookup import require_index
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName


def tables(
    *,
    document: Annotated[str, typer.Argument(metavar="NAME", help="A document (name or id).")],
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="What to count, add up, filter or group.")
    ] = None,
    sql: Annotated[
        str | None, typer.Option(metavar="SELECT", help="One SELECT statement on the table “data” instead.")
    ] = None,
    table: Annotated[int | None, typer.Option(min=1, help="The number of the table, as listed.")] = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """List the tables of a document, or count, add up, filter and group the rows of one.

    pagelight tables orders.xlsx
    pagelight tables orders.xlsx "How many orders over 30,000?"
    pagelight tables orders.xlsx "total amount by region" --table 1
    pagelight tables orders.xlsx --sql "SELECT region, sum(amount) FROM data GROUP BY region"
    """
    with open_engine(index_name) as engine:
        require_index(engine, index_name)
        target = name_lookup.find_single_documents(engine, index_name, [document])[0]
        if question is None and sql is None:
            listed = engine.tables.list(target.id)
            columns = ["#", "name", "where", "rows", "columns"]
            empty = f"“{target.name}” has no tables that can be queried."
            output.print_list(listed, columns, _row, as_json=as_json, right=["#", "rows"], empty=empty)
            return
        result = engine.tables.query(target.id, table, sql=sql, question=question)
    if as_json:
        output.print_json(result)
    else:
        _print_result(result)


def _row(table: types.DataTable) -> tuple[object, ...]:
    columns = (f"{column.name} ({column.kind}{f', {column.unit}' if column.unit else ''})" for column in table.columns)
    return table.number, table.name, place_of(table), f"{table.row_count:,}", ", ".join(columns)


def place_of(table: types.DataTable) -> str:
    """Return where a table stands: its cells, or its pages."""
    first, last = table.page_start, table.page_end
    return table.cells or (f"page {first}" if first == last else f"pages {first}–{last}")


def _print_result(result: types.TableResult) -> None:
    output.print_table(result.columns, result.rows)
    if result.is_truncated:
        output.print_note(
            f"The first {len(result.rows):,} of {result.row_count:,} rows; --sql with LIMIT gives others."
        )
    output.print_text("")
    output.print_text(f"Query, by {result.written_by}: {result.sql}")
    if result.used_count is None:
        output.print_text(f"From all {result.table.row_count:,} rows of {place_of(result.table)}.")
    else:
        output.print_text(f"From {result.used_count:,} of {output.plural(result.table.row_count, 'row')}:")
    for row in result.citations[:MAX_SHOWN_ROWS]:
        place = row.region.cells or f"page {row.region.page_number}, row {row.number}"
        output.print_text(f"  {place}: {output.excerpt(row.text)}")
    if (result.used_count or 0) > MAX_SHOWN_ROWS:
        output.print_text("  … all their numbers: --json")
    for note in result.notes:
        output.print_note(note)


MAX_SHOWN_ROWS = 10
