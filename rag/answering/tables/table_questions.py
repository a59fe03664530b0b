"""Read questions that a table answers by counting, adding up, comparing and grouping, and write their queries.

No query is better than a wrong one: each word of a question must be a column, a value, a figure, a comparison, or one
of the words that only join these. What can be understood in two ways is not understood.
"""

import datetime as dt
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from rag import types
from rag.answering.tables import cell_values
from rag.answering.tables.cell_values import Column, Figure
from rag.answering.tables.data_tables import TypedTable
from rag.answering.tables.question_words import (
    COUNTING,
    MIN_STEM_CHARS,
    YEARS,
    Operation,
    Token,
    Tokens,
    find_operation,
    fold,
)
from rag.answering.tables.table_database import quoted
from rag.answering.text.measurement_units import PERCENT, currencies, is_same_unit
from rag.answering.text.numbers import SCALES

_SIGNS = {"in": "=", "not in": "≠", "contains": "∋", "between": "", ">=": "≥", "<=": "≤"}
_OF_ALL = frozenset({"sum", "avg", "median"})


# --- the query ----------------------------------------------------------------------------------------


class Condition(NamedTuple):
    """A comparison of a column with one or two values, or of texts with several."""

    column: types.TableColumn
    sign: str
    operands: Sequence[Decimal | dt.date | str]
    thousands: Literal["", ","] = ""

    @property
    def sql(self) -> str:
        """The condition in SQL."""
        column = quoted(self.column.name)
        column = f"CAST({column} AS DATE)" if self.column.kind == "time" else column
        values = [*map(_literal, self.operands)]
        match self.sign:
            case "in" | "not in":
                return f"{column} {self.sign.upper()} ({', '.join(values)})"
            case "contains":
                return f"contains(lower({column}), lower({values[0]}))"
            case sign:
                return f"{column} {sign.upper()} {' AND '.join(values)}"

    @property
    def text(self) -> str:
        """The condition in words."""
        values = [f"{value:{self.thousands}f}" if isinstance(value, Decimal) else str(value) for value in self.operands]
        name, joined = self.column.head or self.column.name, (" – " if self.sign == "between" else " / ").join(values)
        return " ".join(filter(None, (name, _SIGNS.get(self.sign, self.sign), joined)))


def _literal(value: Decimal | dt.date | str) -> str:
    match value:
        case Decimal():
            return f"{value:f}"
        case dt.date():
            return f"DATE '{value}'"
        case _:
            return "'" + value.replace("'", "''") + "'"


class TableQuestion(NamedTuple):
    """What a question asks of a table."""

    operation: Operation
    column: types.TableColumn | None
    conditions: tuple[Condition, ...]
    groups: tuple[types.TableColumn, ...]
    is_named: bool = False
    """Whether the column is named by its whole head, or what is counted by the head of its name or number."""

    @property
    def is_bare(self) -> bool:
        """Whether it may as well be asked of something else: of all rows, and of no column by its whole head."""
        is_named = self.is_named and self.operation not in COUNTING
        return not (self.conditions or self.groups or is_named)

    @property
    def sql(self) -> str:
        """The query."""
        groups = ", ".join(quoted(group.name) for group in self.groups)
        column = quoted(self.column.name) if self.column else "*"
        match self.operation:
            case "list":
                what = "*"
            case "count" | "distinct":
                what = f'count({"DISTINCT " * (self.operation == "distinct")}{column}) AS "count"'
            case function:
                what = f"{function}({column}) AS {quoted(f'{function}_{column.strip(chr(34))}')}"
        parts = ["SELECT", f"{groups}," if groups else "", what, "FROM data"]
        if self.conditions:
            parts += ["WHERE", " AND ".join(condition.sql for condition in self.conditions)]
        if groups:
            parts.append(f"GROUP BY {groups} ORDER BY {groups}")
        return " ".join(filter(None, parts))

    @property
    def conditions_text(self) -> str:
        """The conditions in words."""
        return ", ".join(condition.text for condition in self.conditions)


def read_question(question: str, table: TypedTable, names: Sequence[str] = ()) -> TableQuestion | None:
    """Return what `question` asks of `table`, None unless all of it is sure; `names` also call the table."""
    operation, rest = find_operation(question)
    tokens = Tokens(table, names, is_count=operation in COUNTING).read(rest) if operation else None
    if operation is None or tokens is None:
        return None
    try:
        return _Reading(operation, table).read(tokens)
    except _NotSureError:
        return None


# --- the query of a question --------------------------------------------------------------------------

_PART = re.compile(
    r"(?P<groups>[gw]h(?![bct])(?:a*h(?![bctnv]))*)|(?P<compared>h?(?:(?:b[nyd]a|[ce])[nyd]|[ny]m|n)(?:r|h(?![bcenvxy]))?)"
    r"|(?P<time>h?[tw][yd]|h?d|h?iy|hy)|(?P<contains>hkq)|(?P<values>[hxe]{0,3}v(?:[ao]*h?v)*h?)|(?P<mention>h)|[ar]"
)
"""The parts of a question by the kinds of its tokens."""


class _NotSureError(Exception):
    """A part of a question is not understood."""


class _Reading:
    """Puts the tokens of a question together as a query."""

    def __init__(self, operation: Operation, table: TypedTable) -> None:
        self._operation = operation
        self._about, self._columns = table.info.columns, table.columns
        kinds = [(index, column.kind) for index, column in enumerate(table.columns)]
        names = {index for index, kind in kinds if kind == "number" and is_identifier(table, index)}
        self._names = names
        self._measures = [
            at for at, kind in kinds if kind == "number" and at not in names and not self._columns[at].units
        ]
        self._dates = [index for index, kind in kinds if kind in _DATE_KINDS]
        self._years = [
            at for at in names if _YEARS_NAMED.search(self._about[at].head) and _are_years(self._columns[at])
        ]
        self._conditions: list[Condition] = []
        self._groups: list[int] = []
        self._mentions: dict[int, bool] = {}
        """The columns named for themselves, and whether by their whole heads."""
        self._asked_first: list[int] = []
        """The column that follows what is asked, also if it is compared: "total amount over 500"."""
        self._has_rows = False
        """Whether rows were named: they are counted then, and no column behind them."""

    def read(self, tokens: Sequence[Token]) -> TableQuestion:
        """Return what the tokens ask. Raises _NotSureError."""
        kinds = "".join(token.kind for token in tokens)
        self._asked_first = [token.column for token in tokens[:1] if token.column in self._measures]
        at = 0
        while at < len(kinds):
            match = _PART.match(kinds, at)
            if match is None:
                raise _NotSureError
            part, at = tokens[at : match.end()], match.end()
            match match.lastgroup:
                case "groups":
                    self._groups += [token.column for token in part if token.kind == "h"]
                case "compared":
                    self._compare(part)
                case "time":
                    self._add_time(part, next((token.text for token in part if token.kind in "tw"), "between"))
                case "contains":
                    self._conditions.append(Condition(self._about[part[0].column], "contains", [part[2].text]))
                case "values":
                    at -= self._add_values(part)
                case "mention":
                    self._mentions[part[0].column] = part[0].is_whole
                case _:
                    self._has_rows |= part[0].kind == "r"
        if self._has_rows and self._mentions and self._operation in COUNTING:
            raise _NotSureError  # "paid orders", "orders in a region", "regions without orders"
        return self._query()

    # --- conditions ---

    def _compare(self, part: Sequence[Token]) -> None:
        """Add a comparison with figures or times; four digits may be a year or an amount."""
        sign = next((token.text for token in part if token.kind in "bcem"), "=")
        kinds = {token.kind for token in part} & {"n", "y", "d"}
        is_of_times = part[0].kind == "h" and part[0].column in (self._dates or self._years)
        if "n" not in kinds and ("d" in kinds or is_of_times or not self._measures):
            self._add_time(part, sign)
        elif "d" in kinds or (sign == "between" and kinds == {"y"} and (self._dates or self._years)):
            raise _NotSureError  # "amount between 2020 and 2022" may ask of years
        else:
            self._add_number(part, sign)

    def _add_time(self, part: Sequence[Token], sign: str) -> None:
        spans = [
            token.days or (dt.date(int(token.text), 1, 1), dt.date(int(token.text), 12, 31))
            for token in part
            if token.kind in "dy"
        ]
        are_years = all((day.month, day.day) in {(1, 1), (12, 31)} for span in spans for day in span)
        columns = self._dates or (self._years if are_years else [])
        if part[0].kind == "h" and part[0].column in columns:
            columns = [part[0].column]
        elif part[0].kind == "h":
            if part[1].kind == "y":
                raise _NotSureError  # "price 2025"
            self._mentions[part[0].column] = part[0].is_whole
        if len(columns) != 1:
            raise _NotSureError
        first, last = min(spans)[0], max(spans)[1]
        days = {">": [last], ">=": [first], "<": [first], "<=": [last]}.get(sign, [first, last])
        is_number = self._about[columns[0]].kind == "number"
        operands = [Decimal(day.year) if is_number else day for day in days]
        self._conditions.append(Condition(self._about[columns[0]], "between" if days[1:] else sign, operands))

    def _add_number(self, part: Sequence[Token], sign: str) -> None:
        has_millions = all(about.unit != "m" for about in self._about)  # "3m"
        operands = [token for token in part if token.kind in "ny"]
        read = (cell_values.read_figure(token.text, has_millions=has_millions) for token in operands)
        figures = [figure for figure in read if figure]
        units = {figure.unit for figure in figures} - {None}
        unit = next(iter(units), None)
        amounts = sorted(map(_value, figures))
        index = self._compared(part, unit, amounts[0])
        about, column = self._about[index], self._columns[index]
        is_share = about.unit == PERCENT and unit is None and 0 < abs(amounts[0]) <= 1  # .6 may be 60 %
        has_scale = not about.scale or all(operand.has_scale for operand in operands)  # else thousands, or ones
        is_far = any(figure.is_open for figure in figures) and not _reaches(column, amounts[0])
        if len(units) > 1 or column.units or not _fits(unit, about.unit) or is_share or not has_scale or is_far:
            raise _NotSureError
        scaled = [amount / Decimal(str(SCALES[about.scale])) if about.scale else amount for amount in amounts]
        self._conditions.append(Condition(about, sign, scaled, "" if index in self._names else ","))

    def _compared(self, part: Sequence[Token], unit: str | None, amount: Decimal) -> int:
        """Return the column that an amount is compared with: named beside it, or the only one that fits and reaches it.

        Another head beside it names what has the amount: "orders over 5", but not behind it, "over 5 orders".
        """
        heads = [token for token in (part[0], part[-1]) if token.kind in "hr"]
        measures = [
            one.column for one in heads if one.column in self._measures or (one.is_whole and one.column in self._names)
        ]
        things = [one for one in heads if one.column not in measures]
        is_bare = {token.kind for token in part} <= {"h", "n"}
        if len(measures) > 1 or part[-1] in things or any(thing.column in self._dates for thing in things):
            raise _NotSureError
        for thing in things:
            self._mentions[thing.column] = thing.is_whole
        if measures:
            return measures[0]
        columns = [] if is_bare else self._measures
        if unit is not None and any(self._about[index].unit for index in columns):
            columns = [index for index in columns if is_same_unit(unit, self._about[index].unit or "")]
        if len(columns) > 1:
            columns = [index for index in columns if _reaches(self._columns[index], amount)]
        if len(columns) != 1:
            raise _NotSureError
        return columns[0]

    def _add_values(self, part: Sequence[Token]) -> int:
        """Add the conditions that columns have values; return how many tokens at the end belong to what follows."""
        named: dict[int, list[str]] = {}
        head, is_joined = None, False
        for token in part:
            if token.kind in {"h", "v"}:
                index = head.column if head and head.column in token.values else next(iter(token.values), -1)
                if head and head.column != index:
                    self._mentions[head.column] = head.is_whole
                if token.kind == "v":
                    is_of_head = head is not None and head.column == index
                    if (len(token.values) > 1 and not is_of_head) or (index in named and not is_joined):
                        raise _NotSureError  # of several columns, or "North East"
                    named.setdefault(index, []).extend(token.values[index])
                head = token if token.kind == "h" else None
            is_joined = token.kind in "ao" or (is_joined and token.kind == "h")
        kinds = [token.kind for token in part]
        is_negated = "x" in kinds
        is_open = is_negated and any(None in self._columns[index].values for index in named)
        is_open |= any(map(self._names_groups, named))
        if is_open or kinds.count("x") > 1 or (len(named) > 1 and (is_negated or "o" in kinds)):
            raise _NotSureError
        for index, names in named.items():
            sign = "not in" if is_negated else "in"
            self._conditions.append(Condition(self._about[index], sign, sorted({*names})))
        return int(head is not None and head.column not in named)  # "open orders", unlike "the lighting category"

    def _is_key(self, index: int) -> bool:
        """Whether a column has another value in each row."""
        values = self._columns[index].values
        return None not in values and len({*values}) == len(values)

    def _names_groups(self, index: int) -> bool:
        """Whether a column may have its values only in the first of the rows that they stand for."""
        counts = Counter(self._columns[index].values)
        return counts.pop(None, 0) > 0 and {*counts.values()} <= {1}

    def _has_spellings(self, index: int) -> bool:
        """Whether a column has the same name in several spellings."""
        texts = {value for value in self._columns[index].values if isinstance(value, str)}
        return len(texts) > len({*map(fold, texts)})

    # --- put together ---

    def _query(self) -> TableQuestion:
        operation, conditions = self._operation, tuple(self._conditions)
        if len(self._mentions) > 1 and operation in _OF_ALL:  # "amount of orders"
            rows = {index for index in self._mentions if index not in self._measures and self._is_key(index)}
            self._mentions = {index: whole for index, whole in self._mentions.items() if index not in rows}
        equal = [condition.column.name for condition in conditions if condition.sign in {"in", "not in"}]
        is_twice = len({*equal}) < len(equal) or len(self._mentions) > 1
        # "average quantity per order", or by labels that stand for several rows
        is_group_odd = operation in {"avg", "median"} and any(map(self._is_key, self._groups))
        is_group_odd |= any(self._names_groups(group) or self._has_spellings(group) for group in self._groups)
        if is_twice or is_group_odd:
            raise _NotSureError
        groups = tuple(self._about[group] for group in self._groups)
        if operation in COUNTING:
            return self._counted(conditions, groups)
        if operation == "list":
            if groups or not conditions:
                raise _NotSureError
            return TableQuestion("list", None, conditions, ())
        columns = [*self._mentions] or self._asked_first or self._measures
        is_dates = operation in {"min", "max"} and columns[:1] == [index for index in self._dates if index in columns]
        is_whole = self._mentions.get(columns[0], False) if columns else False
        is_named_number = is_whole and columns[0] in self._names  # "total of all orders" asks not of their numbers
        if len(columns) != 1 or not (columns[0] in self._measures or is_dates or is_named_number):
            raise _NotSureError
        return TableQuestion(operation, self._about[columns[0]], conditions, groups, is_named=is_whole)

    def _counted(self, conditions: tuple[Condition, ...], groups: tuple[types.TableColumn, ...]) -> TableQuestion:
        if not self._mentions and self._operation == "count":
            return TableQuestion("count", None, conditions, groups)
        index = next(iter(self._mentions), None)
        is_amount = index is not None and self._columns[index].kind == "number" and index not in self._names
        if index is None or is_amount or self._has_spellings(index):
            raise _NotSureError  # a number of things is added up, or not
        is_key = self._operation == "count" and self._is_key(index)
        is_named = is_key or index in self._names or self._mentions[index]
        counted = None if is_key else self._about[index]
        return TableQuestion("count" if is_key else "distinct", counted, conditions, groups, is_named)


_DATE_KINDS: tuple[types.ColumnKind, ...] = ("date", "time")
_YEARS_NAMED = re.compile(r"(?:year|jahr)(?:e?s|e)?(?:$|[\W\d_])|(?:^|[\W_])fy(?:$|[\W_])", re.IGNORECASE)
"""Heads of columns of years."""
_IDENTIFIER = re.compile(
    r"(?:^|[\W_])(?:id|no|nr|number|nummer|code|key|year|jahr|plz|zip)(?:$|[\W_])|#", re.IGNORECASE
)


def is_identifier(table: TypedTable, index: int) -> bool:
    """Return whether the numbers of a column name things, or years, or number the rows, and are no amounts."""
    values = _numbers(table.columns[index])
    steps = {after - before for before, after in itertools.pairwise(values)}
    numbers_rows = index == 0 and len(values) > MIN_STEM_CHARS and steps == {Decimal(1)}
    return bool(_IDENTIFIER.search(table.info.columns[index].head)) or _are_years(table.columns[index]) or numbers_rows


def _numbers(column: Column) -> list[Decimal]:
    return [value for value in column.values if isinstance(value, Decimal)]


def _are_years(column: Column) -> bool:
    values = _numbers(column)
    return bool(values) and all(value == value.to_integral_value() and int(value) in YEARS for value in values)


def _fits(asked: str | None, given: str | None) -> bool:
    """Whether an amount can be compared with a column by their units; money also with one without."""
    if asked is None:
        return True
    return bool(currencies(asked)) if given is None else is_same_unit(asked, given)


def _reaches(column: Column, amount: Decimal) -> bool:
    return any(abs(value) >= abs(amount) for value in _numbers(column))


def _value(figure: Figure) -> Decimal:
    """Return a figure's value; three digits behind a single mark are thousands: nobody asks for 30.000 meaning 30."""
    values = [value for value in figure.by_mark.values() if value is not None]
    return min(values, key=abs) if any(abs(value) < 1 for value in values) else max(values, key=abs)
