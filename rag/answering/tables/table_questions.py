"""Read questions that a table answers by counting, adding up, comparing and grouping, and write their queries.

No query is better than a wrong one: each word of a question must be a column, a value, a figure, a comparison, or one
of the words that only join these. What can be understood in two ways is not understood.
"""

import calendar
import datetime as dt
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from rag import types
from rag.answering.field_values.dates import find_dates
from rag.answering.tables import cell_values
from rag.answering.tables.cell_values import Column, Figure
from rag.answering.tables.data_tables import TypedTable
from rag.answering.tables.table_database import quoted
from rag.answering.text.measurement_units import CURRENCY, PERCENT, currencies, is_same_unit, measure_behind
from rag.answering.text.negation import NEGATIONS
from rag.answering.text.numbers import SCALES
from rag.answering.text.periods import find_quarters
from rag.answering.text.term_weights import word_set

MAX_DISTINCT = 5000
"""Different values of a column that may be named in a question."""
MAX_NAME_WORDS = 12
"""Words of a head or a value that may be named."""
MIN_STEM_CHARS = 3
YEARS = range(1900, 2101)

Operation = Literal["count", "distinct", "sum", "avg", "median", "min", "max", "list"]
_COUNTING = frozenset({"count", "distinct"})
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
        sign = {"in": "= ", "not in": "≠ ", "contains": "∋ ", "between": "", ">=": "≥ ", "<=": "≤ "}.get(
            self.sign, f"{self.sign} "
        )
        return (
            f"{self.column.head or self.column.name} {sign}{(' – ' if self.sign == 'between' else ' / ').join(values)}"
        )


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
    operation, rest = _operation(question)
    tokens = _Tokens(table, names, is_count=operation in _COUNTING).read(rest) if operation else None
    if operation is None or tokens is None:
        return None
    try:
        return _Reading(operation, table).read(tokens)
    except _NotSureError:
        return None


def may_ask_table(question: str) -> bool:
    """Return whether `question` begins as one that a table may answer, and not only by listing rows."""
    return _operation(question)[0] not in {None, "list"}


def asks_to_compute(question: str) -> bool:
    """Return whether rows are to be counted, added up, ranked or set in proportion."""
    return may_ask_table(question) or _COMPUTES.search(question) is not None


def is_of_rows(question: str, table: TypedTable) -> bool:
    """Return whether a question asks how many of the things that a column names there are, or which is the highest."""
    operation, rest = _operation(question)
    names = _Tokens(table, (), is_count=operation in _COUNTING).names(rest, 0)
    is_asked = operation in _COUNTING or (operation == "list" and _RANKS.search(rest) is not None)
    return is_asked and any(one.kind == "h" and table.columns[one.column].kind != "number" for _, one in names)


class NamedParts(NamedTuple):
    """The places of the words of a question that name a table, its columns or values; the columns that are named."""

    words: frozenset[int]
    columns: frozenset[int]


def named_parts(question: str, table: TypedTable, names: Sequence[str] = ()) -> NamedParts:
    """Return what `question` names of `table`; `names` also call the table."""
    operation, rest = _operation(question)
    return _Tokens(table, names, is_count=operation in _COUNTING).named(rest if operation else question)


# --- what is asked ------------------------------------------------------------------------------------

_LEAD = (
    r"(?:(?:please|bitte)\s)?+(?:(?:what(?:['’]s|\s(?:is|are|was|were))|(?:tell|give|show)\sme|calculate|compute|"
    r"was\s(?:ist|sind|war|waren)|wie\s(?:hoch|groß)\s(?:ist|sind|war|waren)|berechne|nenne\smir|zeige\smir)\s)?+"
    r"(?:(?:the|all|der|die|das|den|dem|des|aller?|allen)\s)?+"
)
_NUMBER_OF = r"(?:how\smany|(?:total\s)?number\sof|count|wie\s?viele|(?:gesamt)?anzahl)"
_OPERATIONS: Mapping[Operation, str] = {
    "distinct": rf"{_NUMBER_OF}\s(?:(?:of|der|von)\s)?(?:different|distinct|unique|verschiedenen?|unterschiedlichen?)",
    "count": _NUMBER_OF,
    "sum": r"sum|total|(?:gesamt)?summe",
    "avg": r"average|mean|durchschnitt|mittelwert|(?:durchschnittlich|mittler)e[nrs]?",
    "median": "median",
    "max": r"highest|largest|biggest|greatest|maximum|max|latest|(?:höchst|größt|maximal|spätest)e[nrs]?",
    "min": r"lowest|smallest|minimum|min|earliest|(?:niedrigst|kleinst|geringst|minimal|frühest)e[nrs]?",
    "list": r"list|which|show|welche[nrs]?|zeige?|liste",
}
_ASKED = {name: re.compile(rf"{_LEAD}(?:{words})(?!\w)\s?", re.IGNORECASE) for name, words in _OPERATIONS.items()}

_RANKS = re.compile(
    rf"\b(?:{_OPERATIONS['max']}|{_OPERATIONS['min']}|most|least|fewest|top|bottom|meisten|wenigsten)\b", re.IGNORECASE
)
_COMPUTES = re.compile(
    rf"{_RANKS.pattern}|\b(?:{_NUMBER_OF}|{_OPERATIONS['sum']}|{_OPERATIONS['avg']}|percentage|share|proportion|anteil)\b",
    re.IGNORECASE,
)


def _operation(question: str) -> tuple[Operation | None, str]:
    """Return what is asked, and the rest of the question."""
    text = " ".join(question.split()).rstrip(" ?.!")
    for name, pattern in _ASKED.items():
        if match := pattern.match(text):
            return name, text[match.end() :]
    return None, ""


# --- the words of a question --------------------------------------------------------------------------


class _Token(NamedTuple):
    """A part of a question, its kind as one letter, as `_PART` names them."""

    kind: str
    text: str = ""
    column: int = -1
    is_whole: bool = False
    """Whether the column is named by its whole head: "order id", not "orders"."""
    values: Mapping[int, Sequence[str]] = {}
    """The values that are named, by column."""
    has_scale: bool = False
    days: tuple[dt.date, dt.date] | None = None
    """The first and the last day of a time."""


_PHRASES: Mapping[str, Mapping[str, str]] = {
    "m": {
        ">=": r"(?:or|and) (?:more|over|above|higher)|(?:oder|und) mehr",
        "<=": r"or (?:less|fewer|lower|below)|oder weniger",
    },
    "c": {
        ">=": r"at least|(?:no|not) less than|greater than or equal to|≥|>=|mindestens|wenigstens",
        "<=": r"at most|(?:no|not) more than|up to|less than or equal to|≤|<=|höchstens|maximal|bis zu",
        ">": r"(?:more|greater|higher|larger|bigger) than|over|above|exceed(?:s|ing)?|>|(?:mehr|größer|höher) als|über",
        "<": r"(?:less|fewer|lower|smaller) than|under|below|<|(?:weniger|kleiner|niedriger) als|unter",
    },
    "e": {"=": r"equals|equal to|exactly|=|genau|gleich"},
    "b": {"between": r"between|zwischen"},
    "k": {"contains": r"contain(?:s|ing)|enthält|enthalten"},
    "t": {">=": "since|seit|ab", "<=": "until|bis", ">": "after", "<": "before|vor"},
    "i": {"in": r"(?:in(?: the)?(?: year)?|during|im(?: jahr)?)(?=\s\d{4}(?!\w))"},
    "g": {"": r"(?:grouped |broken down )?by|per|for (?:each|every)|in each|gruppiert nach|pro|je|für jede[nrs]?"},
    "w": {">": "nach"},
    "": {"": "in total"},
    "x": {"not": r"(?:that |which )?(?:are|were|is|was|do|did|does) not|not|nicht|except|außer"},
    "a": {"": "and|und|,"},
    "o": {"": "or|oder"},
}
"""By kind and sign. Four digits are a year after words of time (t, i), and after "nach" (w), which also groups as g."""
_SPOKEN = [
    (kind, sign, re.compile(rf"(?:{words})(?![^\W\d_])", re.IGNORECASE))
    for kind, signs in _PHRASES.items()
    for sign, words in signs.items()
]
_FILLERS = word_set(
    "the a an of is are was were be been there with where whose that which who have has had do does did all any for to "
    "on at in im during from table sheet list value values their its overall altogether them we made place "
    "placed recorded given listed work works ones der die das den dem des ein eine einen einem einer eines ist sind "
    "war waren gibt gab es mit wo deren dessen hat haben alle aller für von vom zu zum zur am tabelle blatt wert werte "
    "insgesamt wurden werden liegt liegen beträgt arbeitet arbeiten"
)
"""Words that only join the others."""
_ROWS = word_set(
    "rows row records record entries entry lines line items item cases case zeilen zeile einträge eintrag datensätze "
    "datensatz"
)
_JOINING = word_set("of in the for der des im von")
"""Words that may stand between those of a head: "revenue of 2023"."""
_QUOTED = re.compile(r"[\"“„]([^\"“”„]{1,200})[\"”“]|'([^'\n]{1,200})'")
_SCALE = "|".join(sorted((re.escape(word) for word in SCALES if word != "hundred"), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?:(?:{CURRENCY})\s?)?[-−]?\d(?:[\d.,'’]*\d)?+(?P<scale>\s?(?:{_SCALE})(?!\w)|[kKMB](?!\w))?"
    rf"(?:\s?(?:%|percent(?!\w)|prozent(?!\w)|{CURRENCY}))?",
    re.IGNORECASE,
)
_OF_YEAR = re.compile(r"[\s/-]{0,2}(?:(?:of|in)\s)?(\d{4})(?!\w)")
_YEAR = re.compile(r"[0-9]{4}")
_WORD = re.compile(r"\w+|%")
_APART = re.compile(r"[^\w\"“”„%]{0,3}")
"""What may stand between the words of a name."""
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def _fold(text: str) -> str:
    """Return a text in small letters without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(letter)
    )


def _key(word: str) -> str:
    """Return a word as names are compared: without the endings of plurals and past tenses."""
    word = re.sub(r"ies$", "y", _fold(word))
    while len(word) > MIN_STEM_CHARS and word[-1] in "dens":
        word = word[:-1]
    return word


def _keys(text: str) -> tuple[str, ...]:
    return tuple(map(_key, _WORD.findall(re.sub(r"['’]s\b", "", text))))


def _head_keys(text: str) -> tuple[str, ...]:
    """Return the words of a head without those that only join them, in any order."""
    return tuple(sorted(key for key in _keys(text.replace("_", " ")) if key not in _JOINING))


class _Tokens:
    """Reads the words of a question as columns and values of a table, figures, times, comparisons and joining words."""

    def __init__(self, table: TypedTable, names: Sequence[str], *, is_count: bool) -> None:
        self._is_count = is_count
        self._nouns = {key for name in (table.info.name, *names) for key in _keys(name)}
        self._heads: dict[tuple[str, ...], list[_Token]] = {}
        """By the words that name them, in any order."""
        plain = [_head_keys(_IN_BRACKETS.sub(" ", column.head)) for column in table.info.columns]
        for index, (column, words) in enumerate(zip(table.info.columns, plain, strict=True)):
            single = [(word,) for word in words if sum(word in other for other in plain) == 1 and len(word) > 2]
            whole = {words, _head_keys(column.head)}
            for name in {*whole, _head_keys(column.name), *single} - {()}:
                self._heads.setdefault(name, []).append(_Token("h", column=index, is_whole=name in whole))
        self._values: dict[tuple[str, ...], dict[int, set[str]]] = {}
        for index, read in enumerate(table.columns):
            distinct = {value for value in read.values if isinstance(value, str)}
            for value in distinct if len(distinct) <= MAX_DISTINCT else ():
                self._values.setdefault(_keys(value), {}).setdefault(index, set()).add(value)

    def read(self, text: str) -> list[_Token] | None:
        """Return the parts of a question; None if one of its words says something else, or several things."""
        times = {start: (_Token("d", days=days) if days else None, end) for start, end, days in _times(text)}
        tokens: list[_Token] = []
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            token, at = times[at] if at in times else self._token(text, at, tokens[-1] if tokens else _Token(""))
            if token is None:
                return None
            tokens += [token] if token.kind else []
        return tokens

    def _token(self, text: str, at: int, before: _Token) -> tuple[_Token | None, int]:
        """Return what the most words from a place on are, and where they end; of as many a comparison, then a name."""
        if match := _QUOTED.match(text, at):
            words = match[1] or match[2]
            return self._value(words) or _Token("q", words), match.end()
        ends = [(match.end(), _Token(kind, sign)) for kind, sign, words in _SPOKEN if (match := words.match(text, at))]
        if ends and ends[0][1].kind == "m" and before.kind not in {"n", "y"}:
            del ends[0]
        amount = _amount(text, at)
        found = [
            *ends[:1],
            *([amount] if amount and before.kind in {"b", "c", "e", "t"} else []),
            *self.names(text, at),
        ]
        end, token = max([*found, *([amount] if amount else [])], key=lambda one: one[0], default=(at, None))
        word = match[0] if (match := _WORD.match(text, at)) else text[at]
        is_noun = _key(word) in self._nouns and not word.endswith("ed")
        if token and end > at + len(word):
            return token, end
        is_filler, is_row = word.lower() in _FILLERS, word.lower() in _ROWS
        if token and token.kind == "v":
            is_of_head = before.column in token.values or before.kind == "e"
            is_article = len(word) == 1 and is_filler and not any(word in names for names in token.values.values())
            if is_of_head or not (is_noun or is_filler or is_row or word.lower() in NEGATIONS):
                return token, end
            return (_Token("") if is_article else None), end  # "a" before one of class A
        if token and not (token.kind == "h" and is_noun and not token.is_whole and not self._is_count):
            return (None if token.kind == "?" else token), end
        known = _Token("r") if is_noun or is_row else _Token("") if is_filler or word == ";" else None
        return known, at + len(word)

    def names(self, text: str, at: int) -> Iterator[tuple[int, _Token]]:
        """Yield the columns and values named from a place on, with where their names end."""
        words: list[str] = []
        end = at
        while len(words) < MAX_NAME_WORDS and (match := _WORD.match(text, end)):
            words.append(match[0].lower())
            is_head = (_JOINING | NEGATIONS).isdisjoint({words[0], words[-1]})  # "orders no more than"
            heads = self._heads.get(_head_keys(" ".join(words)), []) if is_head else []
            token = heads[0] if heads else self._value(text[at : match.end()])
            if token:
                yield match.end(), token if len(heads) < 2 else _Token("?")
            apart = _APART.match(text, match.end())
            end = apart.end() if apart else match.end()

    def named(self, text: str) -> NamedParts:
        """Return what a text names."""
        keys = {word.start(): _key(word[0]) for word in _WORD.finditer(text) if word[0].lower() not in _FILLERS | _ROWS}
        words = {start for start, key in keys.items() if key in self._nouns}
        columns: set[int] = set()
        for at in keys:
            for end, token in self.names(text, at):
                words.update(start for start in keys if at <= start < end)
                columns |= {token.column} if token.kind == "h" else set()
        return NamedParts(frozenset(words), frozenset(columns))

    def _value(self, text: str) -> _Token | None:
        """Return the values that a text names, in any case; of several that differ in more the one so written."""
        values: dict[int, Sequence[str]] = {}
        for index, names in self._values.get(_keys(text), {}).items():
            written = sorted(name for name in names if name.casefold() == text.casefold()) or sorted(names)
            if len({*map(_fold, written)}) > 1:
                return _Token("?")
            values[index] = written
        return _Token("v", values=values) if values else None


def _times(text: str) -> Iterator[tuple[int, int, tuple[dt.date, dt.date] | None]]:
    """Yield the dates, months and quarters of a text with their first and last days, None if these are not sure."""
    for date in find_dates(text):
        if date.month is not None or not _YEAR.fullmatch(text[date.start : date.end]):
            yield date.start, date.end, date.bounds if date.year and date.month else None
    for period in find_quarters(text):
        if match := _OF_YEAR.match(text, period.end):
            year, months = int(match[1]), {"Q": 3, "H": 6}[period.code[0]]
            last = months * int(period.code[1])
            days = dt.date(year, last - months + 1, 1), dt.date(year, last, calendar.monthrange(year, last)[1])
            yield period.start, match.end(), days


def _amount(text: str, at: int) -> tuple[int, _Token] | None:
    """Return the figure that begins at a place; one of four digits may be a year."""
    match = _AMOUNT.match(text, at)
    if match is None:
        return None
    measure = measure_behind(text, match.end())
    end = measure.end if measure else match.end()
    if cell_values.read_figure(text[at:end]) is None or text[end : end + 1].isalnum():
        return None
    kind = "y" if _YEAR.fullmatch(text[at:end]) and int(text[at:end]) in YEARS else "n"
    return end, _Token(kind, text[at:end], has_scale=bool(match["scale"]))


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

    def read(self, tokens: Sequence[_Token]) -> TableQuestion:
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
        if self._has_rows and self._mentions and self._operation in _COUNTING:
            raise _NotSureError  # "paid orders", "orders in a region", "regions without orders"
        return self._query()

    # --- conditions ---

    def _compare(self, part: Sequence[_Token]) -> None:
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

    def _add_time(self, part: Sequence[_Token], sign: str) -> None:
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

    def _add_number(self, part: Sequence[_Token], sign: str) -> None:
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

    def _compared(self, part: Sequence[_Token], unit: str | None, amount: Decimal) -> int:
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

    def _add_values(self, part: Sequence[_Token]) -> int:
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
        return len({*values} - {None}) == len(values)

    def _names_groups(self, index: int) -> bool:
        """Whether a column may have its values only in the first of the rows that they stand for."""
        values = [value for value in self._columns[index].values if value is not None]
        return len({*values}) == len(values) < len(self._columns[index].values)

    def _has_spellings(self, index: int) -> bool:
        """Whether a column has the same name in several spellings."""
        texts = {value for value in self._columns[index].values if isinstance(value, str)}
        return len(texts) > len({*map(_fold, texts)})

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
        if operation in _COUNTING:
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
