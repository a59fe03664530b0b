"""Read the words of a question as columns and values of a table, figures, times, comparisons and joining words."""

import calendar
import datetime as dt
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from rag.answering.field_values.dates import find_dates
from rag.answering.tables.cell_values import SCALE, read_figure
from rag.answering.tables.data_tables import TypedTable
from rag.answering.text.measurement_units import CURRENCY, measure_behind
from rag.answering.text.negation import NEGATIONS
from rag.answering.text.periods import find_quarters
from rag.answering.text.term_weights import word_set

MAX_DISTINCT = 5000
"""Different values of a column that may be named in a question."""
MAX_NAME_WORDS = 12
"""Words of a head or a value that may be named."""
MIN_STEM_CHARS = 3
YEARS = range(1900, 2101)

Operation = Literal["count", "distinct", "sum", "avg", "median", "min", "max", "list"]
COUNTING = frozenset({"count", "distinct"})


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

_RANKS = rf"{_OPERATIONS['max']}|{_OPERATIONS['min']}|most|least|fewest|top|bottom|meisten|wenigsten"
_RANKED = re.compile(rf"\b(?:{_RANKS})\b", re.IGNORECASE)
_COMPUTED = re.compile(
    rf"\b(?:{_RANKS}|{_NUMBER_OF}|{_OPERATIONS['sum']}|{_OPERATIONS['avg']}|median|percentage|share|proportion|anteil)\b",
    re.IGNORECASE,
)


def find_operation(question: str) -> tuple[Operation | None, str]:
    """Return what is asked, and the rest of the question."""
    text = " ".join(question.split()).rstrip(" ?.!")
    for name, pattern in _ASKED.items():
        if match := pattern.match(text):
            return name, text[match.end() :]
    return None, ""


def may_ask_table(question: str) -> bool:
    """Return whether `question` begins as one that a table may answer, and not only by listing rows."""
    return find_operation(question)[0] not in {None, "list"}


def asks_to_compute(question: str) -> bool:
    """Return whether rows are to be counted, added up, ranked or set in proportion."""
    return _COMPUTED.search(" ".join(question.split())) is not None


def is_of_rows(question: str, table: TypedTable) -> bool:
    """Return whether a question asks how many of the things that a column names there are, or which is the highest."""
    operation, rest = find_operation(question)
    names = Tokens(table).names(rest, 0)
    is_asked = operation in COUNTING or (operation == "list" and _RANKED.search(rest) is not None)
    return is_asked and any(one.kind == "h" and table.columns[one.column].kind != "number" for _, one in names)


class NamedParts(NamedTuple):
    """The places of the words of a question that name a table, its columns or values; the columns that are named.

    `whole` are the columns that are named by their whole heads.
    """

    words: frozenset[int]
    columns: frozenset[int]
    whole: frozenset[int]


def named_parts(question: str, table: TypedTable, names: Sequence[str] = ()) -> NamedParts:
    """Return what `question` names of `table`; `names` also call the table."""
    operation, rest = find_operation(question)
    return Tokens(table, names).named(rest if operation else question)


# --- the words ----------------------------------------------------------------------------------------


class Token(NamedTuple):
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
_AMOUNT = re.compile(
    rf"(?:(?:{CURRENCY})\s?)?[-−]?\d(?:[\d.,'’]*\d)?+(?P<scale>\s?(?:{SCALE})(?!\w)|[kKMB](?!\w))?"
    rf"(?:\s?(?:%|percent(?!\w)|prozent(?!\w)|{CURRENCY}))?",
    re.IGNORECASE,
)
_OF_YEAR = re.compile(r"[\s/-]{0,2}(?:(?:of|in)\s)?(\d{4})(?!\w)")
_YEAR = re.compile(r"[0-9]{4}")
_WORD = re.compile(r"\w+|%")
_APART = re.compile(r"[^\w\"“”„%]{0,3}")
"""What may stand between the words of a name."""
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def fold(text: str) -> str:
    """Return a text in small letters without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(letter)
    )


def _key(word: str) -> str:
    """Return a word as names are compared: without the endings of plurals and past tenses."""
    word = re.sub(r"ies$", "y", fold(word))
    while len(word) > MIN_STEM_CHARS and word[-1] in "dens":
        word = word[:-1]
    return word


def _keys(text: str) -> tuple[str, ...]:
    return tuple(map(_key, _WORD.findall(re.sub(r"['’]s\b", "", text))))


def _head_keys(text: str) -> tuple[str, ...]:
    """Return the words of a head without those that only join them, in any order."""
    return tuple(sorted(key for key in _keys(text.replace("_", " ")) if key not in _JOINING))


class Tokens:
    """Reads the words of a question as columns and values of a table, figures, times, comparisons and joining words."""

    def __init__(self, table: TypedTable, names: Sequence[str] = (), *, is_count: bool = False) -> None:
        self._is_count = is_count
        self._nouns = {key for name in (table.info.name, *names) for key in _keys(name)}
        self._heads: dict[tuple[str, ...], list[Token]] = {}
        """By the words that name them, in any order."""
        plain = [_head_keys(_IN_BRACKETS.sub(" ", column.head)) for column in table.info.columns]
        for index, (column, words) in enumerate(zip(table.info.columns, plain, strict=True)):
            single = [(word,) for word in words if sum(word in other for other in plain) == 1 and len(word) > 2]
            whole = {words, _head_keys(column.head)}
            for name in {*whole, _head_keys(column.name), *single} - {()}:
                self._heads.setdefault(name, []).append(Token("h", column=index, is_whole=name in whole))
        self._values: dict[tuple[str, ...], dict[int, set[str]]] = {}
        for index, read in enumerate(table.columns):
            distinct = {value for value in read.values if isinstance(value, str)}
            for value in distinct if len(distinct) <= MAX_DISTINCT else ():
                self._values.setdefault(_keys(value), {}).setdefault(index, set()).add(value)

    def read(self, text: str) -> list[Token] | None:
        """Return the parts of a question; None if one of its words says something else, or several things."""
        times = {start: (Token("d", days=days) if days else None, end) for start, end, days in _times(text)}
        tokens: list[Token] = []
        at = 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            token, at = times[at] if at in times else self._token(text, at, tokens[-1] if tokens else Token(""))
            if token is None:
                return None
            tokens += [token] if token.kind else []
        return tokens

    def _token(self, text: str, at: int, before: Token) -> tuple[Token | None, int]:
        """Return what the most words from a place on are, and where they end; of as many a comparison, then a name."""
        if match := _QUOTED.match(text, at):
            words = match[1] or match[2]
            return self._value(words) or Token("q", words), match.end()
        ends = [(match.end(), Token(kind, sign)) for kind, sign, words in _SPOKEN if (match := words.match(text, at))]
        if ends and ends[0][1].kind == "m" and before.kind not in {"n", "y"}:
            del ends[0]
        found = [*ends[:1], *self.names(text, at), *filter(None, [_amount(text, at)])]
        end, token = max(found, key=lambda one: one[0], default=(at, None))
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
            return (Token("") if is_article else None), end  # "a" before one of class A
        if token and not (token.kind == "h" and is_noun and not token.is_whole and not self._is_count):
            return (None if token.kind == "?" else token), end
        known = Token("r") if is_noun or is_row else Token("") if is_filler or word == ";" else None
        return known, at + len(word)

    def names(self, text: str, at: int) -> Iterator[tuple[int, Token]]:
        """Yield the columns and values named from a place on, with where their names end."""
        words: list[str] = []
        end = at
        while len(words) < MAX_NAME_WORDS and (match := _WORD.match(text, end)):
            words.append(match[0].lower())
            is_head = (_JOINING | NEGATIONS).isdisjoint({words[0], words[-1]})  # "orders no more than"
            heads = self._heads.get(_head_keys(" ".join(words)), []) if is_head else []
            token = heads[0] if heads else self._value(text[at : match.end()])
            if token:
                yield match.end(), token if len(heads) < 2 else Token("?")
            apart = _APART.match(text, match.end())
            end = apart.end() if apart else match.end()

    def named(self, text: str) -> NamedParts:
        """Return what a text names."""
        keys = {word.start(): _key(word[0]) for word in _WORD.finditer(text) if word[0].lower() not in _FILLERS | _ROWS}
        words = {start for start, key in keys.items() if key in self._nouns}
        heads: list[Token] = []
        for at in keys:
            for end, token in self.names(text, at):
                words.update(start for start in keys if at <= start < end)
                heads += [token] if token.kind == "h" else []
        whole = frozenset(token.column for token in heads if token.is_whole)
        return NamedParts(frozenset(words), frozenset(token.column for token in heads), whole)

    def _value(self, text: str) -> Token | None:
        """Return the values that a text names, in any case; of several that differ in more the one so written."""
        values: dict[int, Sequence[str]] = {}
        for index, names in self._values.get(_keys(text), {}).items():
            written = sorted(name for name in names if name.casefold() == text.casefold()) or sorted(names)
            if len({*map(fold, written)}) > 1:
                return Token("?")
            values[index] = written
        return Token("v", values=values) if values else None


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


def _amount(text: str, at: int) -> tuple[int, Token] | None:
    """Return the figure that begins at a place; one of four digits may be a year."""
    match = _AMOUNT.match(text, at)
    if match is None:
        return None
    measure = measure_behind(text, match.end())
    end = measure.end if measure else match.end()
    if read_figure(text[at:end]) is None or text[end : end + 1].isalnum():
        return None
    kind = "y" if _YEAR.fullmatch(text[at:end]) and int(text[at:end]) in YEARS else "n"
    return end, Token(kind, text[at:end], has_scale=bool(match["scale"]))
