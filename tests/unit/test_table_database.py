"""One SELECT on one table: what else a statement tries is refused, and what takes too long is ended."""

import builtins
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from rag import errors
from rag.answering.tables.table_database import FUNCTIONS, TableDatabase, schema
from tests.unit.test_data_tables import read

if TYPE_CHECKING:
    import duckdb

HEADS = ("Order", "Day", "Region", "Amount (EUR)", "Paid")
ROWS = [
    ("A1", "2024-01-05", "North", "1,200.50", "$5"),
    ("A2", "2024-02-10", "South", "300.00", "€6"),
    ("A3", "2024-02-11", "North", "(50.25)", "$7"),
    ("A4", "2024-03-01", "East", "", "$8"),
    ("Total", "", "", "1,450.25", ""),
]


@pytest.fixture(scope="module")
def database() -> Iterator[TableDatabase]:
    """A database with one small table."""
    (table,) = read([HEADS, *ROWS])
    with TableDatabase(table, time_limit=1.0) as opened:
        yield opened


def test_columns_have_types_and_differing_units_a_column() -> None:
    (table,) = read([HEADS, *ROWS])
    assert schema(table) == {
        "row_no": "INTEGER",
        "page_no": "INTEGER",
        "order": "VARCHAR",
        "day": "DATE",
        "region": "VARCHAR",
        "amount_eur": "DECIMAL(38, 2)",
        "paid": "DECIMAL(38, 0)",
        "paid_unit": "VARCHAR",
    }


@pytest.mark.parametrize(
    ("sql", "rows", "used"),
    [
        ("SELECT count(*) FROM data", [(4,)], [1, 2, 3, 4]),
        ("SELECT sum(amount_eur) FROM data WHERE region = 'North'", [(1150.25,)], [1, 3]),
        (
            "SELECT region, count(*) AS n FROM data GROUP BY region ORDER BY n DESC LIMIT 1",
            [("North", 2)],
            [1, 2, 3, 4],
        ),
        ('SELECT "order" FROM data WHERE amount_eur > 0 ORDER BY amount_eur LIMIT 1', [("A2",)], [2]),
        ("SELECT day FROM data WHERE year(day) = 2024 AND month(day) = 3", [("2024-03-01",)], [4]),
        ("SELECT DISTINCT region FROM data WHERE region LIKE '%th' ORDER BY 1", [("North",), ("South",)], [1, 2, 3]),
        ("SELECT avg(paid) FROM data WHERE paid_unit = '$'", [(20 / 3,)], [1, 3, 4]),
        ("SELECT -amount_eur AS amount_eur FROM data ORDER BY amount_eur LIMIT 1", [(-1200.5,)], None),
        ("SELECT amount_eur * 2 AS twice FROM data WHERE twice > 1000", [(2401,)], None),
        (
            "WITH s AS (SELECT region, sum(amount_eur) AS x FROM data GROUP BY ALL) SELECT max(x) FROM s",
            [(1150.25,)],
            None,
        ),
        ("SELECT count(*) FROM data a JOIN data b USING (region)", [(6,)], None),
        ("SELECT CAST(amount_eur AS INTEGER) FROM data WHERE row_no = 2 -- ; DROP TABLE data", [(300,)], [2]),
        ("SELECT 'a;b' FROM data LIMIT 1", [("a;b",)], [1]),
    ],
)
def test_a_select_gives_its_rows_and_those_it_used(
    database: TableDatabase, sql: str, rows: list[tuple[object, ...]], used: list[int] | None
) -> None:
    result = database.query(sql)
    assert [*result.rows] == rows
    assert result.used == used


@pytest.mark.parametrize(
    ("sql", "is_bare", "shows_groups"),
    [
        ("SELECT count(*) FROM data", True, True),
        ("SELECT count(*) FROM data WHERE true", True, True),
        ("SELECT sum(amount_eur) FROM data WHERE region IS NOT NULL", True, True),
        ("SELECT count(*) FROM data WHERE region = 'North'", False, True),
        ("SELECT count(*) FROM data GROUP BY true", True, True),
        ("SELECT sum(amount_eur) FROM data GROUP BY region LIMIT 1", True, False),
        ("SELECT region, count(*) FROM data GROUP BY region, day", False, False),
        ("SELECT region, count(*) FROM data GROUP BY region", False, True),
        ("SELECT Region, count(*) FROM data GROUP BY 1", False, True),
        ("SELECT year(day) AS Y, count(*) FROM data GROUP BY y", False, True),
        ("SELECT region FROM data", False, True),
        ("SELECT count(*) FROM data UNION SELECT 5", False, True),
    ],
)
def test_a_statement_of_all_rows_is_told_from_groups(
    database: TableDatabase, sql: str, is_bare: bool, shows_groups: bool
) -> None:
    result = database.query(sql)
    assert (result.is_bare, result.shows_groups) == (is_bare, shows_groups)


ATTACKS = [
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json_auto('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "FROM '{file}'",
    "SELECT (SELECT content FROM read_text('{file}'))",
    "WITH f AS (SELECT * FROM read_text('{file}')) SELECT * FROM f",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('data')",
    "SELECT getenv('HOME')",
    "SELECT current_setting('memory_limit')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM secret_rows",
    "SELECT * FROM ATTACKS",
    "ATTACH '{file}'",
    "COPY data TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA version",
    "CALL pragma_version()",
    "SET threads = 4",
    "RESET threads",
    "USE memory",
    "CREATE TABLE x (a INTEGER)",
    "CREATE MACRO f(a) AS a",
    "DROP TABLE data",
    "DELETE FROM data",
    "UPDATE data SET region = ''",
    "INSERT INTO data SELECT * FROM data",
    "WITH gone AS (DELETE FROM data RETURNING *) SELECT * FROM gone",
    "WITH new AS (INSERT INTO data SELECT * FROM data RETURNING *) SELECT * FROM new",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE data",
    "",
    ";",
    "SELEC",
    "EXPLAIN SELECT 1",
    "DESCRIBE data",
    "SUMMARIZE data",
    "SHOW TABLES",
    "PIVOT data ON region USING sum(amount_eur)",
    "VALUES (1)",
    "SELECT * FROM range(1000000000)",
    "SELECT unnest(generate_series(1, 1000000000))",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT * FROM r",
    "SELECT repeat('x', 1000000000)",
    "SELECT rpad('x', 1000000000, 'x')",
    "SELECT region || region FROM data",
    "SELECT replace(region, 'o', 'oooooooooooooo') FROM data",
    "SELECT string_agg(region, ',') FROM data",
    "SELECT list(region) FROM data",
    "SELECT [1, 2]",
    "SELECT list_transform([1], x -> x + 1)",
    "SELECT random()",
    "SELECT nextval('s')",
    "SELECT write_log('x')",
    "SELECT version()",
    "SELECT current_database()",
    "SELECT CAST(region AS JSON) FROM data",
    "SELECT ?",
    "SELECT $1",
    "SELECT * FROM data TABLESAMPLE 10%",
    "SELECT COLUMNS(x -> true) FROM data",
    "SELECT no_such_column FROM data",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_everything_else_is_refused(database: TableDatabase, attack: str, tmp_path: Path) -> None:
    secret_rows = [(1, 2)]  # a variable of this program is no table either
    (tmp_path / "secret.csv").write_text("secret,words\n1,2\n")
    sql = attack.format(file=tmp_path / "secret.csv", folder=tmp_path)
    with pytest.raises(errors.ValidationError, match="cannot be run") as refused:
        database.query(sql)
    assert "words" not in refused.value.message
    assert secret_rows
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert database.query("SELECT count(*) FROM data").rows == ((4,),)


def test_the_database_itself_reaches_no_files_and_keeps_its_settings(database: TableDatabase, tmp_path: Path) -> None:
    """What the first wall would let through stops at the second."""
    import duckdb

    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    connection = database._connection
    for sql in (
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
        f"COPY data TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/other.db'",
        "SET enable_external_access = true",
        "SET memory_limit = '8GB'",
        "SELECT * FROM ATTACKS",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(sql)


@pytest.fixture(scope="module")
def large() -> Iterator[TableDatabase]:
    """A table whose product with itself is too large."""
    (table,) = read([("Name", "Size"), *((f"n{n}", str(n)) for n in range(20_000))])
    with TableDatabase(table, time_limit=0.5) as opened:
        yield opened


def test_what_takes_too_long_is_ended(large: TableDatabase) -> None:
    with pytest.raises(errors.LimitError, match=r"more than 0\.5 seconds"):
        large.query("SELECT sum(sqrt(a.size * b.size * c.size)) FROM data a, data b, data c")
    assert large.query("SELECT count(*) FROM data").rows == ((20_000,),)


def test_what_takes_too_much_memory_is_ended(large: TableDatabase) -> None:
    with pytest.raises(errors.LimitError):
        large.query("SELECT a.size, b.size FROM data a, data b ORDER BY a.size * b.size")
    assert large.query("SELECT max(size) FROM data").rows == ((19_999,),)


def test_long_results_are_cut_and_counted(large: TableDatabase) -> None:
    result = large.query("SELECT name FROM data")
    assert (len(result.rows), result.row_count) == (1000, 20_000)
    assert result.used is not None
    assert len(result.used) == 20_000


def test_no_allowed_function_reads_or_writes_anything_else() -> None:
    suspicious = {"read", "write", "file", "env", "setting", "query", "glob", "load", "http", "secret", "repeat", "pad"}
    assert not [name for name in FUNCTIONS if any(word in name for word in suspicious)]
    assert not hasattr(builtins, "ATTACKS")


@pytest.mark.parametrize(
    "name", ["pg_settings", "duckdb_tables", "sqlite_master", "pragma_database_list", "information_schema_x", "Data"]
)
def test_with_names_no_catalog(database: TableDatabase, name: str) -> None:
    """Within its own statement the name is still that of the catalog."""
    for sql in (
        f"WITH {name} AS (SELECT * FROM {name}) SELECT * FROM {name}",
        f"SELECT * FROM (WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name}) t, {name}",
    ):
        with pytest.raises(errors.ValidationError, match="WITH cannot name"):
            database.query(sql)


def test_no_view_of_the_catalog_can_be_named(database: TableDatabase) -> None:
    views = database._connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE schema_name <> $1", ["information_schema"]
    ).fetchall()
    assert len(views) > 20
    for (name,) in views:
        with pytest.raises(errors.ValidationError, match="cannot be run"):
            database.query(f"WITH {name} AS (SELECT 1 AS a) SELECT * FROM {name}")


def test_a_table_that_cannot_be_loaded_leaves_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    (table,) = read([HEADS, *ROWS])
    opened = [duckdb.connect(":memory:")]
    monkeypatch.setattr(duckdb, "connect", lambda *_, **__: opened[0])
    with pytest.raises(ValueError, match="zip"):
        TableDatabase(table._replace(columns=table.columns[:-1]))
    with pytest.raises(duckdb.ConnectionException):
        opened[0].execute("SELECT 1")


def test_an_interrupt_does_not_outlast_its_query(database: TableDatabase) -> None:
    interrupts: list[str] = []

    class Connection:
        def interrupt(self) -> None:
            time.sleep(0.2)
            interrupts.append("ended")

    table = object.__new__(TableDatabase)
    table._connection, table._time_limit = cast("duckdb.DuckDBPyConnection", Connection()), 0.01
    with table._limited():
        time.sleep(0.1)
    assert interrupts == ["ended"]
