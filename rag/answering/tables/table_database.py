"""Run one SELECT statement on a table, in a DuckDB of its own in memory that can reach nothing else.

A statement is refused unless DuckDB's own parser finds one SELECT in it that consists of parts that are allowed:
columns and constants, operators and functions of the list below, the table `data` and what the statement itself names.
So no file, setting or variable can be read, nothing is written, and no function makes texts grow. The database has no
access to files and extensions either, little memory, one thread, and its time is limited.
"""

import contextlib
import datetime as dt
import json
import math
import re
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from rag import errors, types
from rag.answering.tables.cell_values import Column, Value
from rag.answering.tables.data_tables import PAGE, ROW, SECTION, TypedTable
from rag.answering.text.term_weights import word_set
from rag.messages import N_

TABLE = "data"
TIME_LIMIT_SECONDS = 10.0
MEMORY_LIMIT = "256MB"
MAX_DEPTH = 200
"""Expressions within expressions: threads have small stacks."""
MAX_COUNTED_ROWS = 1_000_000
MAX_VALUE_CHARS = 1000
"""Longer texts of a result are cut."""
MAX_PRECISION = 38
"""Digits of a DECIMAL."""

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # else a table may be a variable of this program
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "temp_directory": "",
    "max_temp_directory_size": "0KB",
    "memory_limit": MEMORY_LIMIT,
    "threads": "1",
}

AGGREGATES = word_set(
    "count count_star count_if sum avg mean min max median mode stddev stddev_samp stddev_pop variance var_samp "
    "var_pop quantile_cont quantile_disc first last any_value arg_min arg_max min_by max_by corr bool_and bool_or"
)
FUNCTIONS = AGGREGATES | word_set(
    "abs ceil ceiling floor round trunc sign sqrt power pow ln log log10 exp greatest least mod + - * / // % ** ^ "
    "coalesce nullif ifnull isfinite lower upper trim ltrim rtrim length char_length substr substring left right "
    "contains starts_with ends_with prefix suffix ~~ !~~ ~~* !~~* like_escape ilike_escape not_like_escape "
    "year month day quarter week dayofweek isodow dayofyear hour minute second date_part date_trunc date_diff "
    "datediff last_day monthname dayname make_date to_days to_months to_years"
)
"""Functions and operators of statements; none reads anything but its arguments, or makes a longer text of them."""

_WINDOWS = word_set("row_number rank dense_rank percent_rank ntile lag lead cume_dist")
_PARTS = word_set(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE SUBQUERY JOIN EMPTY ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER "
    "ASCENDING DESCENDING ORDER_DEFAULT"
)
_EXPRESSIONS = word_set(
    "BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR STAR SUBQUERY TYPE WINDOW"
)
_TYPES = word_set(
    "INTEGER INT BIGINT HUGEINT SMALLINT DECIMAL NUMERIC DOUBLE FLOAT REAL VARCHAR TEXT DATE TIMESTAMP BOOLEAN INTERVAL"
)
_WITH_NAME = re.compile(rf"(?!(?:duckdb|pg|sqlite|pragma|information)_|{TABLE}$)\w+")
"""Names that WITH may give: within its own statement such a name means what it means without WITH, as a catalog."""
_STANDARD = "STANDARD_HANDLING"
"""How columns are grouped, unless by GROUP BY ALL."""


class QueryResult(NamedTuple):
    """The first rows of a result, and how many it has; the numbers of the rows used, None if they cannot be told."""

    columns: tuple[str, ...]
    rows: tuple[tuple[types.TableValue, ...], ...]
    row_count: int
    used: list[int] | None
    names: frozenset[str]
    """The columns that the statement names, in small letters; "*" are all."""
    is_lookup: bool
    """Whether rows are only shown: not counted, added up, grouped or put in order."""
    is_bare: bool
    """Whether all rows make one: without groups, and without a condition that leaves one out."""
    shows_groups: bool
    """Whether each group is told what it is of."""


class TableDatabase:
    """A table loaded for queries; close it, or use it as a context."""

    def __init__(self, table: TypedTable, *, time_limit: float = TIME_LIMIT_SECONDS) -> None:
        import duckdb

        self._time_limit = time_limit
        self._row_count = len(table.rows)
        self._connection = duckdb.connect(":memory:", config=_CONFIG)
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.close)
            with self._limited():
                _load(self._connection, table)
                self._connection.execute(f"SET max_expression_depth = {MAX_DEPTH}")
                self._connection.execute("SET lock_configuration = true")
            on_failure.pop_all()

    def __enter__(self) -> "TableDatabase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the table from memory."""
        self._connection.close()

    def query(self, sql: str) -> QueryResult:
        """Run one SELECT statement on the table.

        Raises:
            errors.ValidationError: it is none, has something that is not allowed, or does not fit the table.
            errors.LimitError: it takes too much time or memory.
        """
        with self._limited():
            tree = self._parsed(sql)
            check(tree)
            found = self._connection.execute(sql)
            columns = tuple(name for name, *_ in found.description or ())
            rows = found.fetchmany(types.MAX_RESULT_ROWS)
            count = len(rows)
            while batch := found.fetchmany(10 * types.MAX_RESULT_ROWS):
                count += len(batch)
                if count > MAX_COUNTED_ROWS:
                    raise errors.LimitError(N_("The query has more than {rows} rows."), rows=f"{MAX_COUNTED_ROWS:,}")
            used = self._used(tree)
        node = tree["statements"][0]["node"]
        shows_rows = used is not None and _gives_rows(node)
        groups = [] if used is None else node["group_expressions"]
        shown = _shown_columns(node) if groups else set()
        return QueryResult(
            columns,
            tuple(tuple(map(plain, row)) for row in rows),
            count,
            used,
            names=frozenset(_names(node)),
            is_lookup=shows_rows and not node["modifiers"],
            is_bare=used is not None and len(used) == self._row_count and not (shows_rows or shown),
            shows_groups=all(shown.issuperset(_names(group)) for group in groups),
        )

    def _parsed(self, sql: str) -> dict[str, Any]:
        """Return the tree of a SELECT statement; DuckDB makes one of no other."""
        row = self._connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [sql]).fetchone()
        tree: dict[str, Any] = json.loads(row[0] if row else "{}")
        if tree.get("error", True) or len(tree["statements"]) != 1:
            raise _refused(N_("one SELECT statement is needed"))
        return tree

    def _used(self, tree: Mapping[str, Any]) -> list[int] | None:
        """Return the numbers of the rows that a statement's condition lets pass; None if it has several parts."""
        import duckdb

        node = tree["statements"][0]["node"]
        if not _is_simple(node):
            return None
        number = self._parsed(f"SELECT {ROW}")["statements"][0]["node"]["select_list"]
        changes = {"select_list": number, "group_expressions": [], "group_sets": [], "having": None, "qualify": None}
        changes["aggregate_handling"] = _STANDARD
        if _gives_rows(node):
            if not _orders_by_columns(node):
                return None
        else:
            changes["modifiers"] = []
        whole = {**tree, "statements": [{**tree["statements"][0], "node": {**node, **changes}}]}
        row = self._connection.execute("SELECT json_deserialize_sql($1::JSON)", [json.dumps(whole)]).fetchone()
        try:
            return [number for (number,) in self._connection.execute(row[0] if row else "").fetchall()]
        except duckdb.BinderException:  # the condition names a column of the result
            return None

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """Interrupt what takes too long, and turn DuckDB's errors into ours."""
        import duckdb

        timer = threading.Timer(self._time_limit, self._connection.interrupt)
        timer.daemon = True
        timer.start()
        try:
            yield
        except duckdb.InterruptException as error:
            raise errors.LimitError(
                N_("The query takes more than {seconds} seconds. Ask for less: without joins, or with conditions."),
                seconds=f"{self._time_limit:g}",
            ) from error
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise errors.LimitError(
                N_("The query takes more than {memory} of memory. Ask for less: without joins, or with conditions."),
                memory=MEMORY_LIMIT,
            ) from error
        except (duckdb.Error, RecursionError) as error:
            raise _refused(str(error).split("\n\n")[0][:300]) from error
        finally:
            timer.cancel()
            timer.join()  # else it may interrupt a later query, or a connection that is closed


def _refused(reason: str) -> errors.ValidationError:
    return errors.ValidationError(
        N_("The query cannot be run: {_reason}. It is one SELECT statement on the table “data”."),
        _reason=reason.rstrip("."),
        details={"field": "sql"},
    )


# --- the table ----------------------------------------------------------------------------------------


def schema(table: TypedTable) -> dict[str, str]:
    """Return the columns of `data` with their SQL types, in order."""
    fields = {ROW: "INTEGER", PAGE: "INTEGER"}
    if any(row.section for row in table.rows):
        fields[SECTION] = "VARCHAR"
    for about, column in zip(table.info.columns, table.columns, strict=True):
        fields[about.name] = _sql_type(column)
        if column.units:
            fields[f"{about.name}_unit"] = "VARCHAR"
    return fields


def _sql_type(column: Column) -> str:
    if column.kind != "number":
        return {"date": "DATE", "time": "TIMESTAMP"}.get(column.kind, "VARCHAR")
    numbers = [value for value in column.values if isinstance(value, Decimal)]
    exponents = [exponent for value in numbers if isinstance(exponent := value.as_tuple().exponent, int)]
    places = max(0, -min(exponents, default=0))
    whole = max((value.adjusted() + 1 for value in numbers if value), default=1)
    return f"DECIMAL({MAX_PRECISION}, {places})" if places + max(whole, 1) <= MAX_PRECISION // 2 else "DOUBLE"


def _load(connection: Any, table: TypedTable) -> None:
    fields = schema(table)
    values: list[list[str | None]] = [
        [str(row.number) for row in table.rows],
        [str(row.lines[0].page_number) for row in table.rows],
    ]
    if SECTION in fields:
        values.append([row.section or None for row in table.rows])
    for column in table.columns:
        values.append([_stored(value) for value in column.values])
        if column.units:
            values.append(list(column.units))
    names = ", ".join(f"{quoted(name)} {kind}" for name, kind in fields.items())
    connection.execute(f"CREATE TABLE {TABLE} ({names})")
    columns = ", ".join(f"unnest(${n}::VARCHAR[])::{kind}" for n, kind in enumerate(fields.values(), start=1))
    connection.execute(f"INSERT INTO {TABLE} SELECT {columns}", values)  # names and types are ours


def _stored(value: Value) -> str | None:
    return None if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def quoted(name: str) -> str:
    """Return a name as SQL takes any."""
    return '"' + name.replace('"', '""') + '"'


def plain(value: object) -> types.TableValue:
    """Return a value as results have it, so that cells can be compared with them."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value.isoformat() if isinstance(value, dt.date) else str(value)
    return text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + "…"


# --- what is allowed ----------------------------------------------------------------------------------


def check(tree: Mapping[str, Any]) -> None:
    """Raise ValidationError if a serialized statement has a part that is not allowed."""
    defined = {*_defined(tree)}
    if refused := [name for name in defined if not _WITH_NAME.fullmatch(name)]:
        raise _refused(N_("WITH cannot name {name}").format(name=refused[0]))
    names = {TABLE, *defined}
    for node in _dicts(tree):
        kind, expression = node.get("type"), node.get("class")
        if expression is not None:
            _check_expression(node)
        elif kind is None or isinstance(kind, dict):
            continue
        elif kind == "BASE_TABLE" and not node["sample"]:
            if node["schema_name"] or node["catalog_name"] or node["table_name"].casefold() not in names:
                raise _refused(N_("there is no table {name}").format(name=node["table_name"]))
        elif kind not in _PARTS or node.get("sample"):
            raise _refused(N_("{part} is not allowed").format(part=str(kind).lower()))


def _defined(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that a statement itself gives, in WITH."""
    for node in _dicts(tree):
        cte_map = node.get("cte_map")
        if isinstance(cte_map, dict):
            yield from (str(entry["key"]).casefold() for entry in cte_map.get("map", ()))


def _check_expression(node: Mapping[str, Any]) -> None:
    kind = node["class"]
    if kind not in _EXPRESSIONS:
        raise _refused(N_("{part} is not allowed").format(part=str(kind).lower()))
    if kind == "FUNCTION":
        name = str(node["function_name"]).lower()
        if name not in FUNCTIONS or node["schema"] or node["catalog"]:
            raise _refused(N_("the function {name} is not allowed").format(name=name))
    if kind == "TYPE" and str(node["type_name"]).upper() not in _TYPES:
        raise _refused(N_("the type {name} is not allowed").format(name=node["type_name"]))
    if kind == "WINDOW" and str(node.get("function_name", "")).lower() not in {"", *FUNCTIONS, *_WINDOWS}:
        raise _refused(N_("the function {name} is not allowed").format(name=node["function_name"]))


def _dicts(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield all mappings in a tree."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)


def _names(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns that a statement names."""
    for part in _dicts(node):
        if part.get("class") == "COLUMN_REF":
            yield str(part["column_names"][-1]).casefold()
        elif part.get("class") == "STAR":
            yield "*"


def _is_simple(node: Mapping[str, Any]) -> bool:
    """Whether a statement reads the table once and has no other statements in it."""
    kinds = [str(part.get("type")) for part in _dicts(node)]
    has_window = any(part.get("class") == "WINDOW" for part in _dicts(node))
    is_of_table = (node.get("from_table") or {}).get("type") == "BASE_TABLE"
    is_alone = kinds.count("SELECT_NODE") == 1 and not {"SET_OPERATION_NODE", "JOIN"}.intersection(kinds)
    return is_alone and is_of_table and not has_window


def _gives_rows(node: Mapping[str, Any]) -> bool:
    """Whether each row of a result is a row of the table."""
    names = (str(part.get("function_name", "")).lower() for part in _dicts(node["select_list"]))
    is_grouped = node["group_expressions"] or node["having"] is not None or node["aggregate_handling"] != _STANDARD
    is_distinct = any(modifier["type"] == "DISTINCT_MODIFIER" for modifier in node["modifiers"])
    return AGGREGATES.isdisjoint(names) and not is_grouped and not is_distinct


def _shown_columns(node: Mapping[str, Any]) -> set[str]:
    """Return the columns that a result has as they are in each row or group, and its names of them."""
    shown: set[str] = set()
    for expression in node["select_list"]:
        functions = {str(part.get("function_name", "")).lower() for part in _dicts(expression)}
        if AGGREGATES.isdisjoint(functions) and (names := {*_names(expression)}):
            shown |= {*names, str(expression["alias"]).casefold()}
    return shown


def _orders_by_columns(node: Mapping[str, Any]) -> bool:
    """Whether rows are ordered by columns of the table, and not by those of the result."""
    orders = [order["expression"] for modifier in node["modifiers"] for order in modifier.get("orders", ())]
    results = {str(expression.get("alias", "")).casefold() for expression in node["select_list"]}
    return all(
        expression["class"] == "COLUMN_REF" and str(expression["column_names"][-1]).casefold() not in results
        for expression in orders
    )
