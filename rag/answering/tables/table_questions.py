"""Read questions that a table answers by counting, adding up, comparing and grouping, and write their queries.

No query is better than a wrong one: each word of the question must be a column, a value, a comparison, or one of the
words that only join these. What can be understood in two ways is not understood.
"""

import datetime as dt
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from rag import types
from rag.answering.tables import cell_values
from rag.answering.tables.cell_values import Column, Figure
from rag.answering.tables.data_tables import TypedTable
from rag.answering.tables.table_database import quoted
from rag.answering.text.measurement_units import CURRENCY
from rag.answering.text.numbers import SCALES
from rag.answering.text.term_weights import word_set

MAX_DISTINCT = 5000
"""Different values of a column that may be named in a question."""
MIN_STEM_CHARS = 3
YEARS = range(1900, 2101)

Operation = Literal["count", "distinct", "sum", "avg", "median", "min", "max", "list"]


class Condition(NamedTuple):
    """A condition on a column, in SQL and in words."""

    sql: str
    text: str
    column: types.TableColumn


class TableQuestion(NamedTuple):
    """What a question asks of a table."""

    operation: Operation
    column: types.TableColumn | None
    conditions: tuple[Condition, ...]
    groups: tuple[types.TableColumn, ...]
    is_named: bool = False
    """Whether the column is named by its whole head."""

    @property
    def is_bare(self) -> bool:
        """Whether it may as well be asked of something else: of all rows, and of no column by its whole head."""
        is_named = self.is_named and self.operation not in _COUNTING
        return not (self.conditions or self.groups or is_named)

    @property
    def sql(self) -> str:
        """The query."""
        groups = ", ".join(quoted(group.name) for group in self.groups)
        column = quoted(self.column.name) if self.column else "*"
        match self.operation:
            case "list":
                what = "*"
            case "count":
                what = 'count(*) AS "count"'
            case "distinct":
                what = f'count(DISTINCT {column}) AS "count"'
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
    asked = _operation(question)
    return _Reading(asked[0], _items(asked[1]), table, names).result() if asked else None


def may_ask_table(question: str) -> bool:
    """Return whether `question` begins as one that a table may answer, and not only by listing rows."""
    asked = _operation(question)
    return asked is not None and asked[0] != "list"


# --- what is asked ------------------------------------------------------------------------------------

_ARTICLES = r"(?:(?:the|all|der|die|das|den|dem|des|aller?|allen)\s)?+"
_LEAD = (
    r"(?:(?:please|bitte)\s)?+(?:(?:what(?:['’]s|\s(?:is|are|was|were))|(?:tell|give|show)\sme|calculate|compute|"
    r"was\s(?:ist|sind|war|waren)|wie\s(?:hoch|groß)\s(?:ist|sind|war|waren)|berechne|nenne\smir|zeige\smir)\s)?+"
)
_OF = r"(?:\s(?:of|der|des|von|vom))?"
_NUMBER_OF = r"how\smany|(?:total\s)?number\sof|count(?:\sof)?|wie\s?viele|(?:gesamt)?anzahl(?:\s(?:der|von))?"
_OPERATIONS: Sequence[tuple[Operation, str]] = (
    ("distinct", rf"(?:{_NUMBER_OF})\s(?:different|distinct|unique|verschiedenen?|unterschiedlichen?)"),
    ("count", _NUMBER_OF),
    ("sum", rf"(?:sum|total|(?:gesamt)?summe){_OF}"),
    (
        "avg",
        r"(?:average|mean|durchschnitt|mittelwert)(?:\s(?:of|der|des|von|vom))?|(?:durchschnittlich|mittler)e[nrs]?",
    ),
    ("median", r"median(?:\s(?:of|der|des|von|vom))?"),
    (
        "max",
        r"(?:highest|largest|biggest|greatest|maximum|max|latest)(?:\sof)?|(?:höchst|größt|maximal|spätest)e[nrs]?",
    ),
    ("min", r"(?:lowest|smallest|minimum|min|earliest)(?:\sof)?|(?:niedrigst|kleinst|geringst|minimal|frühest)e[nrs]?"),
    ("list", r"list|which|show|welche[nrs]?|zeige?|liste"),
)
_ASKED = [(name, re.compile(rf"{_LEAD}{_ARTICLES}(?:{words})(?!\w)\s?", re.IGNORECASE)) for name, words in _OPERATIONS]


def _operation(question: str) -> tuple[Operation, str] | None:
    """Return what is asked, and the rest of the question."""
    text = " ".join(question.split()).rstrip(" ?.!")
    for name, pattern in _ASKED:
        if match := pattern.match(text):
            return name, text[match.end() :]
    return None


# --- the parts of a question --------------------------------------------------------------------------

Kind = Literal["word", "text", "amount", "date", "compare", "time", "group", "or_more"]


class _Item(NamedTuple):
    """A part of a question: a word, a quoted text, an amount, a span of time, or words of a comparison."""

    kind: Kind
    text: str
    figure: Figure | None = None
    has_scale: bool = False
    span: tuple[dt.date, dt.date] | None = None
    """The first day, and the day after the last."""


_COMPARISONS = {
    ">=": r"at least|no less than|not less than|greater than or equal to|≥|>=|mindestens|wenigstens",
    "<=": r"at most|no more than|not more than|up to|less than or equal to|≤|<=|höchstens|maximal|bis zu",
    ">": r"(?:more|greater|higher|larger|bigger) than|over|above|exceeds|exceeding|>|(?:mehr|größer|höher) als|"
    "über",
    "<": r"(?:less|fewer|lower|smaller) than|under|below|<|weniger als|kleiner als|niedriger als|unter",
    "between": r"between|zwischen",
    "=": r"equals|equal to|exactly|=|genau|gleich",
    "in": r"in the year|in year|during|im jahr|im|in",
    "contains": r"contains|containing|enthält|enthalten",
}
_TIMES = {">=": "since|seit|ab", "<=": "until|bis", ">": "after", "<": "before|vor"}
"""Comparisons before which four digits are a year."""
_GROUP = r"(?:grouped |broken down )?by|per|for (?:each|every)|in each|gruppiert nach|nach|pro|je|für jede[nrs]?"
_OR_MORE = {
    ">=": r"(?:or|and) (?:more|over|above|higher)|(?:oder|und) mehr",
    "<=": r"or (?:less|fewer|lower|below)|oder weniger",
}


def _phrase(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{words})(?![^\W\d_])", re.IGNORECASE)


_MARKED: list[tuple[Kind, str, re.Pattern[str]]] = [
    *(("or_more", sign, _phrase(words)) for sign, words in _OR_MORE.items()),
    *(("compare", sign, _phrase(words)) for sign, words in _COMPARISONS.items()),
    *(("time", sign, _phrase(words)) for sign, words in _TIMES.items()),
    ("group", "", _phrase(_GROUP)),
]
_QUOTED = re.compile(r"[\"“„]([^\"“”„]{1,200})[\"”“]|'([^'\n]{1,200})'")
_SCALE = "|".join(sorted((re.escape(word) for word in SCALES if word != "hundred"), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?:(?:{CURRENCY})\s?)?[-−]?\d(?:[\d.,'’]*\d)?+(?P<scale>\s?(?:{_SCALE})(?!\w)|[kKMB](?!\w))?"
    rf"(?:\s?(?:%|percent(?!\w)|prozent(?!\w)|{CURRENCY}))?(?![\w])",
    re.IGNORECASE,
)
_NAMES = "|".join(cell_values.MONTHS)
_DATES = re.compile(
    rf"(?P<whole>\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|\d{{1,2}}(?:\.|st|nd|rd|th)?\s(?:{_NAMES})\w{{0,7}}\.?,?\s\d{{4}}"
    rf"|(?:{_NAMES})\w{{0,7}}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})(?!\w)"
    rf"|(?P<name>{_NAMES})\w{{0,7}}\.?,?\s(?P<year>\d{{4}})(?!\w)|Q(?P<quarter>[1-4])[\s/-]?(?P<of>\d{{4}})(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:[-’'&/]\w+)*+|\S")


def _items(text: str) -> list[_Item]:
    items: list[_Item] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        item, position = _item_at(text, position, follows_amount=bool(items) and items[-1].kind == "amount")
        if item.text not in ",;":
            items.append(item)
    return items


def _item_at(text: str, position: int, *, follows_amount: bool) -> tuple[_Item, int]:
    if match := _QUOTED.match(text, position):
        return _Item("text", match[1] or match[2]), match.end()
    if (match := _DATES.match(text, position)) and (span := _span(match)):
        return _Item("date", match[0], span=span), match.end()
    if (match := _AMOUNT.match(text, position)) and (figure := cell_values.read_figure(match[0])):
        return _Item("amount", match[0], figure=figure, has_scale=bool(match["scale"])), match.end()
    for kind, sign, pattern in _MARKED:
        if (follows_amount or kind != "or_more") and (match := pattern.match(text, position)):
            return _Item(kind, sign or match[0].lower()), match.end()
    match = _WORD.match(text, position)
    return _Item("word", match[0] if match else text[position]), match.end() if match else position + 1


def _span(match: re.Match[str]) -> tuple[dt.date, dt.date] | None:
    if match["whole"]:
        readings = cell_values.read_date(match["whole"]) or {}
        days = [*{moment.date() for moment in readings.values() if moment}]
        return (days[0], days[0] + dt.timedelta(1)) if len(days) == 1 else None
    if match["quarter"]:
        return _months(int(match["of"]), 3 * int(match["quarter"]) - 2, 3)
    return _months(int(match["year"]), cell_values.MONTHS[match["name"][:3].lower()], 1)


def _months(year: int, month: int, count: int) -> tuple[dt.date, dt.date] | None:
    if year not in YEARS:
        return None
    end = month + count
    return dt.date(year, month, 1), dt.date(year + (end > 12), end - 12 * (end > 12), 1)


# --- heads and values ---------------------------------------------------------------------------------


def _key(word: str) -> str:
    """Return a word as names are compared: small, without accents and the endings of plurals and past tenses."""
    plain = unicodedata.normalize("NFKD", re.sub(r"['’]s?$", "", word.lower()))
    word = re.sub(r"ies$", "y", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    while len(word) > MIN_STEM_CHARS and word[-1] in "dens":
        word = word[:-1]
    return word


def _keys(text: str) -> tuple[str, ...]:
    return tuple(map(_key, re.findall(r"\w+", text)))


_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


class _Names:
    """The words by which the columns of a table, and the values in them, are named."""

    def __init__(self, table: TypedTable) -> None:
        self.table = table
        self.heads: dict[tuple[str, ...], list[int]] = {}
        self._plain = plain = [_keys(_IN_BRACKETS.sub(" ", column.head)) for column in table.info.columns]
        for index, (column, words) in enumerate(zip(table.info.columns, plain, strict=True)):
            single = [(word,) for word in words if sum(word in other for other in plain) == 1 and len(word) > 2]
            for name in {words, _keys(column.head), _keys(column.name), *single} - {()}:
                self.heads.setdefault(name, []).append(index)
        self.values: dict[tuple[str, ...], dict[int, set[str]]] = {}
        self.inflected: dict[tuple[str, ...], dict[int, set[str]]] = {}
        for index, read in enumerate(table.columns):
            distinct = {value for value in read.values if isinstance(value, str)}
            for value in distinct if len(distinct) <= MAX_DISTINCT else ():
                if words := tuple(re.findall(r"\w+", value.lower())):
                    self.values.setdefault(words, {}).setdefault(index, set()).add(value)
                    self.inflected.setdefault(_keys(value), {}).setdefault(index, set()).add(value)
        self.longest = max(map(len, [*self.heads, *self.values]), default=1)

    def head_at(self, items: Sequence[_Item], at: int) -> tuple[list[int], int]:
        """Return the columns that are named from an item on, and how many items name them."""
        for count, words in self._runs(items, at):
            if found := self.heads.get(tuple(map(_key, words))):
                return found, count
        return [], 0

    def is_whole(self, index: int, items: Sequence[_Item]) -> bool:
        """Return whether the items name a column by its whole head."""
        words = tuple(_key(word) for item in items for word in re.findall(r"\w+", item.text))
        return words in {self._plain[index], _keys(self.table.info.columns[index].head)}

    def value_at(self, items: Sequence[_Item], at: int) -> tuple[Mapping[int, set[str]], int]:
        """Return the values that are named from an item on, by column, and how many items name them."""
        for count, words in self._runs(items, at):
            if found := self.values.get(words) or self.inflected.get(tuple(map(_key, words))):
                return found, count
        return {}, 0

    def _runs(self, items: Sequence[_Item], at: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        runs: list[tuple[int, tuple[str, ...]]] = []
        words: tuple[str, ...] = ()
        for count, item in enumerate(items[at : at + self.longest], start=1):
            own = re.findall(r"\w+", item.text.lower())
            if item.kind not in {"word", "text", "amount"} or not own:
                break
            words += tuple(own)
            runs.append((count, words))
        yield from reversed(runs)


_FILLERS = word_set(
    "the a an of is are was were be been there in with where whose that which who have has had do does did and all "
    "any for to on at from rows row records record entries entry lines line items item cases case table sheet list "
    "value values their its total overall altogether them we made placed recorded given listed work works "
    "der die das den dem des ein eine einen einem einer eines ist sind war waren gibt es mit wo deren dessen hat "
    "haben und alle aller für von vom zu zum zur am zeilen zeile einträge eintrag datensätze datensatz tabelle blatt "
    "wert werte insgesamt gesamt wurden werden liegt liegen beträgt"
)
"""Words that only join the others."""
_OR = frozenset({"or", "oder"})


class _Reading:
    """Reads the items of a question from left to right."""

    def __init__(self, operation: Operation, items: list[_Item], table: TypedTable, names: Sequence[str]) -> None:
        self._operation = operation
        self._items = items
        self._table = table
        self._names = _Names(table)
        self._nouns = {key for name in (table.info.name, *names) for key in _keys(name)}
        self._conditions: list[Condition] = []
        self._groups: list[types.TableColumn] = []
        self._mentions: list[int] = []
        self._whole: set[int] = set()
        """The columns named by their whole heads."""
        self._pending: int | None = None
        """The column named last, to which a comparison may belong."""
        self._is_whole = False
        """Whether its head was named as a whole: "order id", not "orders"."""
        self._named_until = 0
        """Where the words of its head end."""
        self._equal_to: tuple[int, int] | None = None
        """The column of the last value, and where its words end."""
        self._has_or = False

    def result(self) -> TableQuestion | None:
        """Return what is asked, None if anything is not sure."""
        at = 0
        while at < len(self._items):
            count = self._read(at)
            if not count:
                return None
            at += count
        conditions = self._joined_conditions()
        if conditions is None:
            return None
        return self._finished(conditions)

    def _read(self, at: int) -> int:
        """Read what begins at an item; return the number of items read, 0 if they are not understood."""
        item = self._items[at]
        if item.kind == "group" and (count := self._read_groups(at + 1)):
            return 1 + count
        if item.kind in {"compare", "time"} or (item.kind == "group" and item.text == "nach"):
            is_time = item.kind != "compare" or item.text == "in"
            count = self._compare(">" if item.kind == "group" else item.text, at + 1, is_time=is_time)
            return 1 + count if count else int(item.text == "in")  # "in" may also lead to a value
        if (named := self._read_name(at)) is not None:
            return named
        match item.kind:
            case "amount":
                return self._bare_amount(at)
            case "date":
                return self._compare("in", at, is_time=True)
            case "word":
                self._has_or = self._has_or or item.text.lower() in _OR
                return int(item.text.lower() in _FILLERS | _OR or _key(item.text) in self._nouns)
        return 0

    def _read_name(self, at: int) -> int | None:
        """Read a column or a value; return the number of items, 0 if several have the name, None if there is none."""
        found, count = self._names.head_at(self._items, at)
        values, length = self._names.value_at(self._items, at)
        if not count or count < length:
            if not length:
                return None
            word = self._items[at].text
            is_noun_too = length == 1 and _key(word) in self._nouns
            is_filler = length == 1 and self._items[at].kind == "word" and word.lower() in _FILLERS
            if is_filler and (self._pending not in values or at != self._named_until):
                return 0
            if is_noun_too or (index := self._equal(values)) is None:
                return 0
            self._equal_to = (index, at + length)
            return length
        if len(found) > 1:
            return 0
        named = self._items[at : at + count]
        is_noun = named[0].kind == "word" and _key(named[0].text) in self._nouns and self._operation not in _COUNTING
        is_whole = self._names.is_whole(found[0], named)
        if is_noun and not is_whole:
            return 1
        if self._equal_to == (found[0], at):  # "the Lighting category"
            return count
        self._mentions.append(found[0])
        self._pending, self._is_whole, self._named_until = found[0], is_whole, at + count
        self._whole |= {found[0]} if is_whole else set()
        return count

    def _take_pending(self, kinds: Sequence[types.ColumnKind]) -> int | None:
        """Return the column named last if a comparison of this kind may belong to it; it is then not asked for."""
        index = self._pending
        if index is None or self._table.columns[index].kind not in kinds:
            return None
        self._mentions.remove(index)
        self._pending = None
        return index

    def _read_groups(self, at: int) -> int:
        """Read the columns to group by; return the number of items, 0 if there are none."""
        begin = at
        while True:
            while at < len(self._items) and self._items[at].text.lower() in {"the", "der", "dem", "den", "and", "und"}:
                at += 1
            found, count = self._names.head_at(self._items, at) if at < len(self._items) else ([], 0)
            if len(found) != 1 or (self._groups and self._items[at - 1].text.lower() not in {"and", "und"}):
                break
            self._groups.append(self._about(found[0]))
            at += count
            self._pending = None
        return at - begin if self._groups else 0

    def _about(self, index: int) -> types.TableColumn:
        return self._table.info.columns[index]

    # --- comparisons ---

    def _equal(self, values: Mapping[int, set[str]]) -> int | None:
        """Add the condition that a column has a value that was named; return the column, None if it may be several."""
        index = self._pending if self._pending in values else next(iter(values)) if len(values) == 1 else None
        if index is not None:
            if self._pending == index:
                self._take_pending(("text",))
            self._conditions.append(_one_of(self._about(index), sorted(values[index])))
        return index

    def _bare_amount(self, at: int) -> int:
        """Read an amount without a comparison: "quantity is 5", "10 or more"."""
        following = self._items[at + 1] if at + 1 < len(self._items) else None
        if following and following.kind == "or_more":
            return 2 if self._number(following.text, [self._items[at]]) else 0
        if self._pending is None:
            return 0
        is_in = at > 0 and self._items[at - 1].text == "in"
        if _year(self._items[at]) and (is_in or self._pending in self._measures()):
            return 0  # "total amount for 2022" asks of a year
        return int(self._number("=", [self._items[at]]))

    def _compare(self, sign: str, at: int, *, is_time: bool) -> int:
        """Read what is compared with, from an item on; return the number of items, 0 if it is not understood.

        With `is_time` four digits are a year.
        """
        operands = self._items[at : at + 1]
        count = 1
        if sign == "between":
            operands, count = [self._items[at], *self._items[at + 2 : at + 3]] if at < len(self._items) else [], 3
            if len(operands) < 2 or self._items[at + 1].text.lower() not in {"and", "und"}:
                return 0
        if not operands:
            return 0
        if sign == "contains":
            return int(self._contains(operands[0]))
        is_of_times = self._pending is not None and (self._is_date(self._pending) or self._has_years(self._pending))
        is_open = not is_of_times and bool(self._measures() and self._times(years=True))
        if is_open and sign == "between" and all(map(_year, operands)):
            return 0  # "amount between 2020 and 2022" may ask of years
        spans = [self._as_span(operand, is_time=is_time) for operand in operands]
        if all(spans):
            return count if self._date(sign, [span for span in spans if span]) else 0
        if sign == "in" or any(operand.kind != "amount" for operand in operands):
            return 0
        return count if self._number(sign, operands) else 0

    def _as_span(self, item: _Item, *, is_time: bool) -> tuple[dt.date, dt.date] | None:
        """Return the time that an item means; with `is_time` a number may be a year."""
        year = _year(item)
        is_pending_date = self._pending is not None and self._is_date(self._pending)
        if year is None or not (is_time or is_pending_date or not self._measures()):
            return item.span
        return dt.date(year, 1, 1), dt.date(year + 1, 1, 1)

    def _times(self, *, years: bool) -> list[int]:
        """Return the columns of dates, or else those of years."""
        dates = [index for index in range(len(self._table.columns)) if self._is_date(index)]
        return dates or (
            [index for index in range(len(self._table.columns)) if self._has_years(index)] if years else []
        )

    def _is_date(self, index: int) -> bool:
        return self._table.columns[index].kind in _DATES_KINDS

    def _has_years(self, index: int) -> bool:
        column = self._table.columns[index]
        values = [value for value in column.values if isinstance(value, Decimal)]
        return column.kind == "number" and bool(_YEAR.search(self._about(index).head)) and _are_years(values)

    def _date(self, sign: str, spans: Sequence[tuple[dt.date, dt.date]]) -> bool:
        is_year = all((day.month, day.day) == (1, 1) for span in spans for day in span)
        is_pending_year = is_year and self._pending is not None and self._has_years(self._pending)
        index = self._take_pending(("number",) if is_pending_year else _DATES_KINDS)
        columns = self._times(years=is_year)
        if index is None and len(columns) != 1:
            return False
        index = columns[0] if index is None else index
        about, (start, end) = self._about(index), (spans[0][0], spans[-1][1])
        column, name = quoted(about.name), about.head or about.name
        first, last, low, high = str(start), str(end - dt.timedelta(1)), f"DATE '{start}'", f"DATE '{end}'"
        if self._table.columns[index].kind == "number":
            first, last, low, high = (str(year) for year in (start.year, end.year - 1, start.year, end.year))
        sql, text = {
            ">": (f"{column} >= {high}", f"{name} > {last}"),
            ">=": (f"{column} >= {low}", f"{name} ≥ {first}"),
            "<": (f"{column} < {low}", f"{name} < {first}"),
            "<=": (f"{column} < {high}", f"{name} ≤ {last}"),
        }.get(sign, (f"{column} >= {low} AND {column} < {high}", f"{name} {first} – {last}"))
        self._conditions.append(Condition(sql, text, about))
        return True

    def _number(self, sign: str, items: Sequence[_Item]) -> bool:
        has_millions = all(about.unit != "m" for about in self._table.info.columns)  # "3m"
        read = (cell_values.read_figure(item.text, has_millions=has_millions) for item in items if item.figure)
        figures = [figure for figure in read if figure]
        if len({figure.unit for figure in figures} - {None}) > 1:
            return False
        amounts = [_value(figure) for figure in figures]
        is_of_things = self._pending is not None and not self._is_whole and self._pending not in self._measures()
        index = None if is_of_things else self._take_pending(("number",))
        if index is None:
            index = self._fitting(figures, amounts)
        if index is None or self._table.columns[index].units:
            return False
        about = self._about(index)
        unit = next(iter({figure.unit for figure in figures} - {None}), None)
        if unit and about.unit and not _is_same_unit(unit, about.unit):
            return False
        if (unit == "%") != (about.unit == "%") and unit is not None:
            return False
        if about.scale:
            if not all(item.has_scale for item in items):
                return False  # of thousands or of ones
            amounts = [value / Decimal(str(SCALES[about.scale])) for value in amounts]
        column, name = quoted(about.name), about.head or about.name
        thousands = "" if is_identifier(about, self._table.columns[index]) else ","
        shown = [f"{value:{thousands}f}" for value in amounts]
        if sign == "between":
            low, high = (format(value, "f") for value in amounts)
            condition = Condition(f"{column} BETWEEN {low} AND {high}", f"{name} {shown[0]} – {shown[1]}", about)
        else:
            condition = Condition(
                f"{column} {sign} {amounts[0]:f}", f"{name} {_SHOWN.get(sign, sign)} {shown[0]}", about
            )
        self._conditions.append(condition)
        return True

    def _contains(self, item: _Item) -> bool:
        index = self._take_pending(("text",))
        if index is None or item.kind not in {"text", "word"}:
            return False
        about = self._about(index)
        sql = f"contains(lower({quoted(about.name)}), lower({_literal(item.text)}))"
        self._conditions.append(Condition(sql, f"{about.head or about.name} ∋ “{item.text}”", about))
        return True

    # --- which column ---

    def _measures(self) -> list[int]:
        """Return the columns of figures that are no numbers of things and no years."""
        return [
            index
            for index, (about, column) in enumerate(zip(self._table.info.columns, self._table.columns, strict=True))
            if column.kind == "number" and not column.units and not is_identifier(about, column)
        ]

    def _fitting(self, figures: Sequence[Figure], amounts: Sequence[Decimal]) -> int | None:
        """Return the only column that amounts can be compared with; of several the one whose values reach them."""
        unit = next(iter({figure.unit for figure in figures} - {None}), None)
        columns = self._measures()
        if unit is not None:
            of_unit = [index for index in columns if _is_same_unit(unit, self._about(index).unit or "")]
            columns = of_unit if any(self._about(index).unit for index in columns) else columns
        if len(columns) > 1:
            columns = [index for index in columns if _reaches(self._table.columns[index], amounts[0])]
        return columns[0] if len(columns) == 1 else None

    # --- put together ---

    def _joined_conditions(self) -> tuple[Condition, ...] | None:
        """Return the conditions, several values of one column as one; None if "or" may mean another thing."""
        by_column: dict[str, list[Condition]] = {}
        for condition in self._conditions:
            by_column.setdefault(condition.column.name, []).append(condition)
        if self._has_or and (len(by_column) != 1 or any(" IN (" not in one.sql for one in self._conditions)):
            return None
        made: list[Condition] = []
        for conditions in by_column.values():
            values = [one for one in conditions if " IN (" in one.sql]
            if len(values) > 1:
                sql = "(" + " OR ".join(one.sql for one in values) + ")"
                text = f"{values[0].text}, " + ", ".join(one.text.partition(" = ")[2] for one in values[1:])
                made.append(Condition(sql, text, values[0].column))
            else:
                made += values
            made += [one for one in conditions if " IN (" not in one.sql]
        return tuple(made)

    def _finished(self, conditions: tuple[Condition, ...]) -> TableQuestion | None:
        operation, named = self._operation, [*dict.fromkeys(self._mentions)]
        if operation == "list":
            return TableQuestion("list", None, conditions, ()) if conditions and not self._groups else None
        if len(named) > 1:
            return None
        if operation in _COUNTING:
            return self._counted(named, conditions)
        measures = named or self._measures()
        if len(measures) != 1:
            return None
        about, column = self._about(measures[0]), self._table.columns[measures[0]]
        if is_identifier(about, column) and measures[0] not in self._whole:
            return None  # "total of all orders" asks not of their numbers
        is_number = column.kind == "number" and not column.units
        if not is_number and not (operation in {"min", "max"} and column.kind in _DATES_KINDS):
            return None
        return TableQuestion(operation, about, conditions, tuple(self._groups), is_named=measures[0] in self._whole)

    def _counted(self, named: Sequence[int], conditions: tuple[Condition, ...]) -> TableQuestion | None:
        groups = tuple(self._groups)
        if not named:
            return None if self._operation == "distinct" else TableQuestion("count", None, conditions, groups)
        about, column = self._about(named[0]), self._table.columns[named[0]]
        if column.kind == "number" and not is_identifier(about, column):
            return None  # a number of things is added up, or not
        values = [value for value in column.values if value is not None]
        is_key = len(set(values)) == len(column.values)
        operation: Operation = "count" if is_key and self._operation == "count" else "distinct"
        return TableQuestion(operation, None if operation == "count" else about, conditions, groups)


_COUNTING = frozenset({"count", "distinct"})
_DATES_KINDS: tuple[types.ColumnKind, ...] = ("date", "time")
_SHOWN = {">=": "≥", "<=": "≤"}
_YEAR = re.compile(r"(?:year|jahr)(?:e?s|e)?(?:$|[\W\d_])|(?:^|[\W_])fy(?:$|[\W_])", re.IGNORECASE)
"""Heads of columns of years."""
_IDENTIFIER = re.compile(
    r"(?:^|[\W_])(?:id|no|nr|number|nummer|code|key|year|jahr|plz|zip)(?:$|[\W_])|#", re.IGNORECASE
)


def is_identifier(about: types.TableColumn, column: Column) -> bool:
    """Return whether the numbers of a column name things, or years, and are no amounts."""
    if _IDENTIFIER.search(about.head):
        return True
    values = [value for value in column.values if isinstance(value, Decimal)]
    are_whole = all(value == value.to_integral_value() for value in values)
    steps = {after - before for before, after in itertools.pairwise(values)}
    return bool(values) and (
        _are_years(values) or (are_whole and len(values) > MIN_STEM_CHARS and steps == {Decimal(1)})
    )


def _are_years(values: Sequence[Decimal]) -> bool:
    return bool(values) and all(value == value.to_integral_value() and int(value) in YEARS for value in values)


def _year(item: _Item) -> int | None:
    """Return the year that a number may be."""
    return int(item.text) if re.fullmatch(r"[0-9]{4}", item.text) and int(item.text) in YEARS else None


def _is_same_unit(asked: str, given: str) -> bool:
    return asked == given or {asked, given} <= {"$", "US$"}


def _reaches(column: Column, amount: Decimal) -> bool:
    return any(abs(value) >= abs(amount) for value in column.values if isinstance(value, Decimal))


def _value(figure: Figure) -> Decimal:
    """Return a figure's value; three digits behind a single mark are thousands: nobody asks for 30.000 meaning 30."""
    return max(value for value in figure.by_mark.values() if value is not None)


def _one_of(about: types.TableColumn, names: Sequence[str]) -> Condition:
    column = quoted(about.name)
    return Condition(
        f"{column} IN ({', '.join(map(_literal, names))})", f"{about.head or about.name} = {' / '.join(names)}", about
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
