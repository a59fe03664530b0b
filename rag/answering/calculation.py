"""Ratios, differences and growth, worked out from the cells of tables: every figure quoted, decimal arithmetic.

No calculation is better than a wrong one. A question is worked out only if nothing in it is left over; a figure is
taken only from a row whose whole label is the line item, in a column with one year; nothing is computed across periods,
scales or documents, or from figures on which the document's own tables disagree.
"""

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, NamedTuple

from rag.answering.candidates import quoted_row, shown_text
from rag.answering.quoting import Label, Row, Source, Statement
from rag.answering.ranking import word_set
from rag.answering.sentences import flowing, split_sentences
from rag.answering.units import Unit, split_passage
from rag.types import BlockKind, Hit, Span
from rag.vocabulary import (
    Expression,
    Figure,
    Formula,
    Operand,
    definitions,
    find_figure,
    find_periods,
    is_labelled,
    landmarks,
    plain_label,
    years,
)

MAX_YEARS = 3
"""A question for more wants a table."""

MAX_MEASURE_WORDS = 6
"""Labels of rows are short."""

MAX_HEAD_CHARS = 200
"""A longer line above a table's first row is text."""

_OTHER_TERMS = re.compile(
    r"\bdefin|\baverage\b|\b(?<!un)adjusted\b|\bnon-?gaap\b|\borganic|\bconstant[- ]currency|\bforecast|\bexpect"
    r"|\bbudget|\bquarter|\b[QH][1-4]\b|\bmonth|\bper\s+(?:share|employee)|\bsegment|\bhow\s+is\b",
    re.IGNORECASE,
)
"""Where a question says what it means by a term, or asks for something else than a year's whole figure."""

_PER_SHARE = re.compile(r"\bper\s+share\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"\s+or\s+", re.IGNORECASE)
_AUXILIARIES = word_set("is are was were be been do does did has have had")
_PLACES = re.compile(r"\b(?P<places>one|two|three|four|[1-4])\s+decimals?\b", re.IGNORECASE)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "1": 1, "2": 2, "3": 3, "4": 4}
_STATEMENTS = re.compile(
    r"\b(?:(?:consolidated\s+)?(?:balance\s+sheets?|income\s+statements?|cash\s+flow\s+statements?"
    r"|statements?\s+of\s+(?:income|operations|earnings|cash\s+flows?|financial\s+position|profit\s+or\s+loss)"
    r"|p\s?&\s?l(?:\s+statement)?|profit\s+and\s+loss(?:\s+(?:statement|account))?|10-?[kq]))\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:changes?|changed|growth|grow|grew|grown|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|declin(?:e|es|ed|ing)"
    r"|ris(?:e|es|en|ing)|rose|falls?|fell|fallen|falling|drop(?:s|ped)?|differences?|year[- ](?:over|on)[- ]year|yoy"
    r"|improv(?:e|ed|ing)|higher|lower)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\s+(?:as\s+an?\s+(?:percentage|percent|%|share|proportion)\s+of|divided\s+by|relative\s+to|to)\s+", re.IGNORECASE
)
_PERCENT = re.compile(r"%|\bpercent|\bshare\s+of|\bproportion", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[&'’/-][^\W_]+)*", re.UNICODE)


_IDLE = word_set(
    "a an the of in for at and or on to its their this that these as from by with between within is was are were be "
    "been do did does has have had what how much many high low big large it they them we you our your please tell me "
    "show give find calculate compute determine state company company's companies firm firm's corporation group "
    "business fiscal financial calendar annual yearly year years year-end end ended ending fy total overall ratio rate "
    "value figure figures amount number percentage percent % terms round rounded answer answers decimal decimals place "
    "places one two three nearest usd us dollars eur euros million millions thousand thousands billion billions unit "
    "latest recent most spend spent "
    "units using use used based basis base only information provided primarily shown line items report document filing "
    "compare compared comparison versus vs relative there so any over during"
)
"""Words that change nothing of what is asked."""

BELOW_YEAR = re.compile(
    r"\b(?:three|six|nine|3|6|9)[\s-]+months?\b|\bquarter|\b(?:13|26|39|thirteen|twenty[\s-]six|thirty[\s-]nine)[\s-]+weeks"
    r"|\bhalf[\s-]year\b|\bsix\s+months\b",
    re.IGNORECASE,
)
"""What names a part of a year."""
_EARLY_MONTH = re.compile(r"\b(?:january|february|march|april|may|jan|feb|mar|apr)\b\.?\s+\d", re.IGNORECASE)
"""A fiscal year that ends so early is called by the year before in some companies and by its own in others."""

_FISCAL = re.compile(r"\b(?:FY|fiscal)", re.IGNORECASE)
_SCALE = re.compile(r"\b(thousand|million|billion|crore|lakh)s?\b|(?<=\s)000s\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-–−])?\s*(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*"
    r"(?P<percent>%)?\s*\)?"
)
_NOTHING = re.compile(r"\s*[—–−-]{1,3}\s*%?\s*")
_ONE_AMOUNT = re.compile(r"\(\s*[\d.,]+\s*\)|[-–−]?\d[\d.,]*\s*%?|(?<!\S)[—–−-]{1,3}(?!\S)")
_CURRENCY = re.compile(r"(?:US|A|C|HK)?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|Rs\.?)\s?", re.IGNORECASE)
_AROUND_PERIODS = re.compile(
    r"\b(?:(?:19|20)\d\d|\d{1,2}|FY|fiscal|(?:twelve\s+months|52\s+weeks|53\s+weeks|years?)(?:\s+end(?:ed|ing))?|as\s+of|at|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|in|millions|thousands|"
    r"\w{3}\.)(?!\w)|[\s,.$()*]",
    re.IGNORECASE,
)
"""What a line may have beside years that names the columns of a table."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Task:
    """What is to be worked out: a formula, or with none the change of `measure`, for `years` or the latest.

    `is_fiscal` says that the question calls its years so, `places` how many decimals it wants. With `is_level` the line
    item `measure` is wanted as its statement gives it.
    """

    formula: Formula | None
    measure: str
    years: tuple[int, ...]
    is_fiscal: bool = False
    places: int | None = None
    is_level: bool = False

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The line items that it needs, as far as they are known by name."""
        names = [part.figure for expression in _expressions(self) for part in expression if isinstance(part, Operand)]
        found = (find_figure(name) for name in dict.fromkeys([*names, self.measure]))
        return tuple(figure for figure in found if figure)

    @property
    def searches(self) -> tuple[str, ...]:
        """What to search a document for to find them: their statements, and what none is known of by its name."""
        by_place: dict[str, list[str]] = {}
        for figure in self.figures:
            by_place.setdefault(figure.place or "", []).append(figure.name)
        return tuple(", ".join([place, *names]).strip(" ,") for place, names in by_place.items()) or (self.measure,)


def may_want(question: str) -> bool:
    """Whether it is worth looking closer at `question`, which costs knowing the documents."""
    if _CHANGE.search(question) or any(trade.formula(question) for trade in definitions()):
        return True
    plain = " ".join(word for word in plain_label(question).split() if word not in _AUXILIARIES)
    labels = (plain_label(label) for trade in definitions() for figure in trade.figures for label in figure.labels)
    return any(label in plain for label in labels)


def line_item(question: str, names: Iterable[str] = ()) -> Figure | None:
    """The line item that `question` plainly asks for, as it was at some time; None if it asks for anything else.

    `names` are words, in lower case, that name the document which is asked.
    """
    rest = _STATEMENTS.sub(" ", _without(question, find_periods(question)))
    if _CHANGE.search(rest) or any(trade.formula(rest) for trade in definitions()):
        return None
    called = {_called(part, frozenset(names)) for part in _ALTERNATIVES.split(rest)}
    item = called.pop() if len(called) == 1 else None
    is_other = _OTHER_TERMS.search(_PER_SHARE.sub(" ", question) if item and item.per_share else question)
    return None if is_other else item


def _called(part: str, names: frozenset[str]) -> Figure | None:
    """The line item that is all that the words say: "cash was provided by operating activities"."""
    words = (word for word in _core(part, names).split() if word.lower() not in _AUXILIARIES)
    return find_figure(" ".join(words)) or find_figure(" ".join(_meant(part, names)))


def task(question: str, names: Iterable[str] = ()) -> Task | None:
    """What `question` wants worked out; None unless all of its words are understood.

    `names` are words, in lower case, that name the document which is asked.
    """
    asked = years(question)[:MAX_YEARS]
    is_fiscal = _FISCAL.search(question) is not None
    if item := line_item(question, names):
        return Task(None, item.name, asked, is_fiscal, is_level=True)
    if _OTHER_TERMS.search(question):
        return None
    rest, known = _without(question, find_periods(question)), frozenset(names)
    rest = re.sub(r"\byear[- ](?:over|on)[- ]year\b", " increase ", _STATEMENTS.sub(" ", rest), flags=re.IGNORECASE)
    for trade in definitions():
        if found := trade.formula(rest):
            formula, words = found
            sentence = next(
                rest[span.start : span.end] for span in split_sentences(rest) if words in rest[span.start : span.end]
            )
            shorts = {term.lower() for term in formula.terms}
            left = _meant(_CHANGE.sub(" ", sentence.replace(words, " ")), known | shorts)
            return None if left else Task(formula, "", asked, is_fiscal, _places(question))
    share = _share(rest, known)
    if share:
        return Task(share, "", asked, is_fiscal, _places(question))
    measure = _phrase(_CHANGE.sub(" ", rest), known) if _CHANGE.search(rest) else ""
    return Task(None, measure, asked, is_fiscal) if measure else None


def _places(question: str) -> int | None:
    match = _PLACES.search(question)
    return _NUMBERS[match["places"].lower()] if match else None


def _without(text: str, spans: Sequence[Span]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text


def _meant(text: str, names: frozenset[str]) -> list[str]:
    """The words of `text` that say something, beside `names`."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return [word for word in words if word not in _IDLE and word.removesuffix("'s") not in names]


def _phrase(text: str, names: frozenset[str]) -> str:
    """The one phrase of a few words that says something; "" if there are several."""
    said = _meant(text, names)
    core = _core(text, names).lower().replace("’", "'")
    words = [word for word in core.split() if word.removesuffix("'s") not in names]
    is_one = len(words) - len(said) <= sum(word in ("of", "and", "in", "for", "total") for word in words)
    return " ".join(words) if said and is_one and len(words) <= MAX_MEASURE_WORDS else ""


def _share(rest: str, names: frozenset[str]) -> Formula | None:
    """One line item as a share of another: "current liabilities to total liabilities"."""
    parts = _SHARE.split(rest, maxsplit=1)
    items = [find_figure(" ".join(_meant(part, names))) or find_figure(_core(part, names)) for part in parts]
    if len(items) != 2 or not items[0] or not items[1] or _CHANGE.search(rest):
        return None
    first, second = items[0].name, items[1].name
    unit: Literal["percent", "ratio"] = "percent" if _PERCENT.search(rest) else "ratio"
    name = f"{first} to {second}"
    return Formula(name, (name,), (f"[{first}] / [{second}]",), unit)


def _core(text: str, names: frozenset[str]) -> str:
    """`text` from its first word that says something to its last, "total" with it."""
    words = _WORD.findall(text)
    said = [place for place, word in enumerate(words) if _meant(word, names)]
    if not said:
        return ""
    start = said[0] - 1 if said[0] and words[said[0] - 1].lower() == "total" else said[0]
    return " ".join(words[start : said[-1] + 1]).removesuffix("'s")


def _expressions(asked: Task) -> tuple[Expression, ...]:
    return asked.formula.parsed if asked.formula else ()


# --- rows of tables ---------------------------------------------------------------------------------


class _Amount(NamedTuple):
    """A cell: as it is printed, without its currency, and its value."""

    text: str
    value: Decimal
    is_percent: bool


@dataclass(frozen=True)
class _Row:
    """A row of a table with the amounts of single years. `strength` says how surely its page is each place."""

    hit: Hit
    page: int
    unit: Unit
    label: str
    amounts: Mapping[int, _Amount]
    periods: Mapping[int, str]
    scale: str
    ends_early: bool
    strength: Mapping[str, float]

    @property
    def sources(self) -> tuple[Source, ...]:
        """What is quoted: the row, and the names of its columns."""
        return tuple(Source(self.hit, span) for span in (self.unit.span, self.unit.header) if span)


def _rows(hits: Iterable[Hit]) -> list[_Row]:
    seen: set[tuple[object, int]] = set()
    rows: list[_Row] = []
    for hit in hits:
        text, units = hit.passage.text, split_passage(hit.passage)
        marks = landmarks().find(hit.passage.lines)
        for place, unit in enumerate(units):
            lines = hit.passage.lines_of(*unit.span)
            if unit.label is None or not unit.cells or not lines:
                continue
            page, key = lines[0].page_number, (hit.passage.document_id, lines[0].number)
            strength = {mark.name: mark.strength for mark in marks if mark.page_number == page}
            row = _row(hit, unit, _head(text, units, place), page=page, strength=strength)
            if row and key not in seen:
                seen.add(key)
                rows.append(row)
    return rows


def _head(text: str, units: Sequence[Unit], place: int) -> list[Unit]:
    """What stands over the rows of the table that the unit is in: short lines before its first row with cells."""
    first = place
    for index in range(place - 1, -1, -1):
        unit = units[index]
        is_text = unit.kind is BlockKind.TEXT and (
            unit.span.end - unit.span.start > MAX_HEAD_CHARS or text[unit.span.end - 1] in ".;"
        )
        if is_text:
            break
        first = index
    run = units[first:place]
    return list(itertools.takewhile(lambda unit: not _has_amounts(text, unit), run))


def _has_amounts(text: str, unit: Unit) -> bool:
    cells = [text[cell.span.start : cell.span.end] for cell in unit.cells]
    return unit.label is not None and any(_amount(cell) and not _YEAR.fullmatch(cell) for cell in cells)


def _row(hit: Hit, unit: Unit, head: Sequence[Unit], *, page: int, strength: Mapping[str, float]) -> _Row | None:
    text = hit.passage.text
    above = "\n".join(text[one.span.start : one.span.end] for one in head)
    above += "".join(f"\n{text[span.start : span.end]}" for span in (unit.header, unit.caption) if span)
    if BELOW_YEAR.search(above):
        return None
    amounts, periods = {}, {}
    ends_early = _EARLY_MONTH.search(above) is not None
    cells = _cells(text, unit, above)
    named = [found[0] if len(found := years(column)) == 1 else None for column, _ in cells]
    for (column, amount), year in zip(cells, named, strict=True):
        if year is not None and amount and named.count(year) == 1 and "%" not in column:
            amounts[year] = amount
            periods[year] = column if ends_early else str(year)
    if not amounts or unit.label is None:
        return None
    scales = {match[0].lower().removesuffix("s") for match in _SCALE.finditer(above)}
    label = flowing(text[unit.label.start : unit.label.end])
    scale = scales.pop() if len(scales) == 1 else "?" if scales else ""
    return _Row(hit, page, unit, label, amounts, periods, scale, ends_early, strength)


def _cells(text: str, unit: Unit, above: str) -> list[tuple[str, _Amount | None]]:
    """The names of the columns and what stands there; none where it is not sure which is which."""
    printed = [text[cell.span.start : cell.span.end] for cell in unit.cells]
    amounts = [_amount(cell) for cell in printed]
    if any(cell.column for cell in unit.cells) and all(
        amount or _NOTHING.fullmatch(cell) for amount, cell in zip(amounts, printed, strict=True)
    ):
        return [(cell.column, amount) for cell, amount in zip(unit.cells, amounts, strict=True)]
    rest = _CURRENCY.sub(" ", text[unit.label.end if unit.label else unit.span.start : unit.span.end])
    if _ONE_AMOUNT.sub("", rest).strip():
        return []
    tokens = [match[0] for match in _ONE_AMOUNT.finditer(rest)]
    for line in reversed(above.split("\n")):
        found = _YEAR.findall(line)
        if len(found) == len(tokens) == len(set(found)) and not _AROUND_PERIODS.sub("", line).strip():
            return [(year, _amount(token)) for year, token in zip(found, tokens, strict=True)]
    return []


def _amount(text: str) -> _Amount | None:
    match = _AMOUNT.fullmatch(_CURRENCY.sub("", text).strip())
    if match is None:
        return None
    is_negative = bool(match["open"] or match["sign"])
    value = Decimal(match["digits"].replace(",", ""))
    return _Amount(match["digits"], -value if is_negative else value, bool(match["percent"]))


# --- working out ------------------------------------------------------------------------------------


def work_out(asked: Task, hits: Sequence[Hit]) -> list[Statement | Label] | None:
    """The answer to what is asked from the tables in `hits`, all of one document; None if none of it is found.

    If some figures are found, but not all, or they must not be put together, they are given by themselves.
    """
    rows = [row for row in _rows(hits) if not (asked.is_fiscal and row.ends_early)]
    if asked.is_level:
        return _level(asked, rows)
    return _formula(asked, asked.formula, rows) if asked.formula else _change(asked, rows)


def _formula(asked: Task, formula: Formula, rows: Sequence[_Row]) -> list[Statement | Label] | None:
    if printed := _printed(asked, formula, rows):
        return printed
    for expression in formula.parsed:
        statements = [
            statement
            for year in _asked_years(asked, expression, rows)
            if (statement := _computed(asked, formula, expression, year, rows))
        ]
        if statements and len(statements) >= len(asked.years):
            return [Label(f"{_capital(formula.name)} = {_in_words(expression)}"), *statements]
    return _found(asked, formula, rows)


def _asked_years(asked: Task, expression: Expression, rows: Sequence[_Row]) -> tuple[int, ...]:
    """The years asked for, else the latest for which there is all."""
    if asked.years:
        return asked.years
    known = sorted({year for row in rows for year in row.amounts}, reverse=True)
    return tuple(year for year in known if _operands(expression, year, rows))[:1]


def _printed(asked: Task, formula: Formula, rows: Sequence[_Row]) -> list[Statement | Label] | None:
    """The rows in which the document itself gives what is asked for."""
    terms = {*map(plain_label, (formula.name, *formula.terms))}
    of_kind = [row for row in rows if plain_label(row.label) in terms]
    of_kind = [
        row for row in of_kind if (formula.unit == "percent") == all(cell.is_percent for cell in row.amounts.values())
    ]
    statements = []
    for year in asked.years or sorted({year for row in of_kind for year in row.amounts})[-1:]:
        given = [row for row in of_kind if year in row.amounts]
        if not given or len({row.amounts[year].value for row in given}) > 1:
            return None
        statements.append(_given(given[0], year))
    return [*statements] or None


def _level(asked: Task, rows: Sequence[_Row]) -> list[Statement | Label] | None:
    """The line item's row in its own statement, for each asked year or the latest; None unless that is sure of all."""
    figure = find_figure(asked.measure)
    if figure is None:
        return None
    stated = [
        row for row in rows if is_labelled(figure, row.label) is not None and row.strength.get(figure.place or "")
    ]
    latest = sorted({year for row in _at(figure.place, stated) for year in row.amounts})[-1:]
    statements = []
    for year in asked.years or latest:
        row = _best(figure, [year], stated)
        if row is None:
            return None
        statements.append((len(asked.years) < 2 and _quoted(row, year)) or _given(row, year, figure))
    return [*statements] or None


def _quoted(row: _Row, year: int) -> Statement | None:
    """The row itself, with the cell of that year; None where its own columns do not name the year once."""
    text = row.hit.passage.text
    named = [place for place, cell in enumerate(row.unit.cells) if years(cell.column) == (year,)]
    quoted = quoted_row(text, row.unit)
    if quoted is None or len(named) != 1:
        return None
    own = Row(row.unit, quoted.model_copy(update={"asked": named[0]}))
    return Statement(shown_text(text, row.unit), (Source(row.hit, row.unit.span),), own)


def _given(row: _Row, year: int, figure: Figure | None = None) -> Statement:
    amount = _sized(row.amounts[year], figure) if figure else row.amounts[year]
    is_bare = row.scale in ("", "?") or amount.is_percent or (figure is not None and figure.per_share)
    scale = "" if is_bare else f" {row.scale}"
    return Statement(f"{row.label}, {row.periods[year]}: {_signed(amount)}{scale}", row.sources)


class _Taken(NamedTuple):
    """A line item in an expression, put in numbers, with the rows that these come from."""

    text: str
    value: Decimal
    rows: tuple[_Row, ...]


def _computed(
    asked: Task, formula: Formula, expression: Expression, year: int, rows: Sequence[_Row]
) -> Statement | None:
    taken = _operands(expression, year, rows)
    if taken is None:
        return None
    parts = iter(taken)
    signs = [next(parts) if isinstance(part, Operand) else part for part in expression]
    value = _evaluated([part.value if isinstance(part, _Taken) else part for part in signs])
    if value is None:
        return None
    used = [row for part in taken for row in part.rows]
    shown = _spaced([part.text if isinstance(part, _Taken) else part for part in signs])
    text = f"{_capital(formula.name)} {year} = {shown} = {_result(value, formula, used, asked.places)}"
    return Statement(text, tuple(source for row in used for source in row.sources))


def _operands(expression: Expression, year: int, rows: Sequence[_Row]) -> list[_Taken] | None:
    """The line items of the expression in that year; None unless all are found, in one scale."""
    taken = []
    for operand in (part for part in expression if isinstance(part, Operand)):
        figure = find_figure(operand.figure)
        found = _taken(figure, operand, year, rows) if figure else None
        if found is None:
            return None
        taken.append(found)
    used = [row for part in taken for row in part.rows]
    scales, pages = {row.scale for row in used}, {row.page for row in used}
    is_known = "?" not in scales and "" not in scales and all(row.strength for row in used)
    is_one = len(scales) == len({row.hit.passage.document_id for row in used}) == 1
    return taken if is_one and (is_known or (len(pages) == 1 and "?" not in scales)) else None


def _taken(figure: Figure, operand: Operand, year: int, rows: Sequence[_Row]) -> _Taken | None:
    needed = (year,) if not operand.reading else (year, year - 1)
    row = _best(figure, needed, rows)
    if row is None:
        return None
    amounts = [_sized(row.amounts[needed_year], figure) for needed_year in needed]
    if figure.expense and any(amount.value < 0 for amount in amounts):
        return None  # a benefit, or an expense printed as a deduction: the row alone does not say which
    values, texts = [amount.value for amount in amounts], [_signed(amount, inside=True) for amount in amounts]
    match operand.reading:
        case "average":
            return _Taken(f"(({texts[0]} + {texts[1]}) / 2)", (values[0] + values[1]) / 2, (row,))
        case "change":
            return _Taken(f"({texts[0]} − {texts[1]})", values[0] - values[1], (row,))
        case _:
            return _Taken(texts[0], values[0], (row,))


def _sized(amount: _Amount, figure: Figure) -> _Amount:
    return amount._replace(value=abs(amount.value)) if figure.magnitude else amount


def _best(figure: Figure, needed: Sequence[int], rows: Sequence[_Row]) -> _Row | None:
    """The row of the line item in its own statement; None if there are several that differ."""
    labelled = [(rank, row) for row in _at(figure.place, rows) if (rank := is_labelled(figure, row.label)) is not None]
    usable = [
        (rank, row)
        for rank, row in labelled
        if all(year in row.amounts and not row.amounts[year].is_percent for year in needed)
    ]
    return _agreed(usable, needed)


def _at(place: str | None, rows: Sequence[_Row]) -> Sequence[_Row]:
    """Those of `rows` that stand in the statement, which may run over two pages; all where it was not found."""

    def strength(row: _Row) -> float:
        return row.strength.get(place, 0.0) if place else 0.0

    best = max(rows, key=strength, default=None)
    if best is None or not strength(best):
        return rows
    return [row for row in rows if strength(row) and abs(row.page - best.page) <= 1]


def _agreed(usable: Sequence[tuple[int, _Row]], needed: Sequence[int]) -> _Row | None:
    """The row with the first of the labels; None if there are several that differ."""
    first = min((rank for rank, _ in usable), default=0)
    chosen = [row for rank, row in usable if rank == first]
    values = {tuple(row.amounts[year].value for year in needed) for row in chosen}
    return chosen[0] if len(values) == 1 else None


def _found(asked: Task, formula: Formula, rows: Sequence[_Row]) -> list[Statement | Label] | None:
    """Those of the figures that are there, and what is missing."""
    expression = formula.parsed[0]
    names = list(dict.fromkeys(part.figure for part in expression if isinstance(part, Operand)))
    known = sorted({year for row in rows for year in row.amounts}, reverse=True)
    statements, missing = list[Statement](), list[str]()
    for name in names:
        figure = find_figure(name)
        by_year = [(year, _best(figure, [year], rows)) for year in asked.years or known] if figure else []
        given = [_given(row, year) for year, row in by_year if row][: len(asked.years) or 1]
        statements += given
        if not given:
            missing.append(name)
    if not statements:
        return None
    said = f"{_capital(formula.name)} = {_in_words(expression)}. It is not worked out: "
    why = f"not found: {', '.join(missing)}." if missing else "the figures do not go together for certain."
    return [Label(said + why), *statements]


def _change(asked: Task, rows: Sequence[_Row]) -> list[Statement | Label] | None:
    """The difference of a row's figures of two years: those asked for, that and the year before, or the last two."""
    figure = find_figure(asked.measure)
    wanted = _content(asked.measure)
    if figure:
        at = _at(figure.place, rows)
        ranked = [(rank, row) for row in at if (rank := is_labelled(figure, row.label)) is not None]
        labelled = [(-1 if _content(row.label) == wanted else rank, row) for rank, row in ranked]
    else:
        labelled = [(0, row) for row in rows if _content(row.label) == wanted]
    for late, early in _pairs(asked.years, [row for _, row in labelled]):
        usable = [(rank, row) for rank, row in labelled if late in row.amounts and early in row.amounts]
        row = _agreed(usable, (late, early))
        if row is not None and row.amounts[late].is_percent == row.amounts[early].is_percent:
            return [_difference(row, late, early)]
    return None


def _pairs(asked: Sequence[int], rows: Sequence[_Row]) -> Iterator[tuple[int, int]]:
    if len(asked) > 1:
        yield max(asked), min(asked)
    elif asked:
        yield asked[0], asked[0] - 1
    else:
        known = sorted({year for row in rows for year in row.amounts}, reverse=True)
        yield from itertools.pairwise(known)


def _difference(row: _Row, late: int, early: int) -> Statement:
    after, before = row.amounts[late], row.amounts[early]
    points = " percentage points" if after.is_percent else f" {row.scale}" if row.scale not in ("", "?") else ""
    difference = after.value - before.value
    first, second = _signed(after, inside=True), _signed(before, inside=True)
    text = f"{row.label}, change from {early} to {late} = {first} − {second} = {_decimal(difference)}{points}"
    if before.value > 0 and not after.is_percent:
        text += f"; {_decimal(difference)} / {second} = {_decimal(_rounded(100 * difference / before.value, 1))} %"
    return Statement(text, row.sources)


def _content(label: str) -> list[str]:
    return [word for word in plain_label(label).split() if word not in _IDLE or word == "total"]


# --- arithmetic and how it is written -----------------------------------------------------------------


def _evaluated(parts: Sequence[str | Decimal]) -> Decimal | None:
    """The value of an expression; None where something would be divided by nothing or less."""
    values = [part for part in parts if isinstance(part, Decimal)]
    numbers = itertools.count()
    code = "".join(f" v{next(numbers)} " if isinstance(part, Decimal) else part for part in parts)
    return _value(ast.parse(code.strip(), mode="eval").body, values)


_SIGNS: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _value(node: ast.expr, values: Sequence[Decimal]) -> Decimal | None:
    match node:
        case ast.Name(id=name):
            return values[int(name[1:])]
        case ast.Constant(value=int(constant)):
            return Decimal(constant)
        case ast.BinOp(left, sign, right):
            first, second = _value(left, values), _value(right, values)
            if first is None or second is None or (isinstance(sign, ast.Div) and second <= 0):
                return None
            return _SIGNS[type(sign)](first, second)
        case _:
            return None


def _result(value: Decimal, formula: Formula, rows: Sequence[_Row], places: int | None) -> str:
    match formula.unit:
        case "percent":
            return f"{_decimal(_rounded(100 * value, places or 1))} %"
        case "ratio":
            return _decimal(_rounded(value, places or 2))
        case "days":
            return f"{_decimal(_rounded(value, places or 1))} days"
        case "amount":
            scale = next((row.scale for row in rows), "")
            return f"{_decimal(value)}{f' {scale}' if scale else ''}"


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _decimal(value: Decimal) -> str:
    return f"{value:,}".replace("-", "−")


def _signed(amount: _Amount, *, inside: bool = False) -> str:
    """As printed, a deduction with its sign; inside an expression in brackets."""
    percent = " %" if amount.is_percent else ""
    if amount.value >= 0:
        return f"{amount.text}{percent}"
    return f"(−{amount.text}{percent})" if inside else f"−{amount.text}{percent}"


def _in_words(expression: Expression) -> str:
    def word(part: str | Operand) -> str:
        if isinstance(part, str):
            return part
        return {"average": "average ", "change": "change in "}.get(part.reading, "") + part.figure

    return _spaced(map(word, expression))


def _spaced(parts: Iterable[str]) -> str:
    text = " ".join({"-": "−", "*": "×"}.get(part, part) for part in parts)
    return text.replace("( ", "(").replace(" )", ")")


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]
