"""Calculate ratios, differences and growth from table cells, every figure quoted, in decimal arithmetic.

No calculation is better than a wrong one. All words of the question must be understood; a figure is only taken from a
row whose whole label is the line item, in a column of one year; nothing is computed across periods, scales or
documents, or from figures on which the document's own tables disagree.
"""

import ast
import itertools
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from rag import types
from rag.answering.passages.statements import Label, Row, Source, Statement, display_text, quoted_row
from rag.answering.tables.figure_rows import Amount, FigureRow, Statements, figure_rows
from rag.answering.tables.requested_figures import FigureRequest, identifying_words
from rag.vocabulary import Expression, Figure, Formula, Operand, find_figure, plain_label, years

EXACT_PLACES = 6
"""Decimals to which a result that ends is shown in full: statements print at most three."""


def evaluate(parts: Sequence[str | Decimal]) -> Decimal | None:
    """Evaluate an expression; None on division by zero or a negative number."""
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


def format_result(value: Decimal, formula: Formula, scale: str, places: int | None) -> str:
    """Format a formula's result in its unit: percent, ratio and days are rounded to `places`, amounts if endless."""
    match formula.unit:
        case "percent":
            return f"{format_decimal(round_half_up(100 * value, places or 1))} %"
        case "ratio":
            return format_decimal(round_half_up(value, places or 2))
        case "days":
            return f"{format_decimal(round_half_up(value, places or 1))} days"
        case "amount":
            exact = value if value == round_half_up(value, EXACT_PLACES) else round_half_up(value, places or 2)
            return f"{format_decimal(exact)}{f' {scale}' if scale else ''}"


def round_half_up(value: Decimal, places: int) -> Decimal:
    """Round half away from zero."""
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def format_decimal(value: Decimal) -> str:
    """Format with thousands separators and a true minus sign."""
    return f"{value:,}".replace("-", "−")


def format_amount(amount: Amount, *, inside: bool = False, currency: str = "") -> str:
    """Format an amount as printed with its sign, in brackets `inside` an expression; percentages have no `currency`."""
    shown = f"{amount.text} %" if amount.is_percent else f"{currency}{amount.text}"
    if amount.value >= 0:
        return shown
    return f"(−{shown})" if inside else f"−{shown}"


def format_expression(expression: Expression) -> str:
    """Format an expression with the names of its line items."""

    def word(part: str | Operand) -> str:
        if isinstance(part, str):
            return part
        return {"average": "average ", "change": "change in "}.get(part.reading, "") + part.figure

    return join_tokens(map(word, expression))


def join_tokens(parts: Iterable[str]) -> str:
    """Join signs and operands as printed."""
    text = " ".join({"-": "−", "*": "×"}.get(part, part) for part in parts)
    return text.replace("( ", "(").replace(" )", ")")


def capitalize(name: str) -> str:
    """Capitalise the first letter; abbreviations stay."""
    return name[0].upper() + name[1:]


_NOT_WORKED_OUT = "It is not worked out: "


def calculate(
    request: FigureRequest, hits: Sequence[types.Hit], statements: Statements, texts: Iterable[str] = ()
) -> list[Statement | Label] | None:
    """Answer `request` from the tables in `hits`, all of one document; None if nothing is found.

    `statements` locate the document's financial statements, where line items are read; the document's `texts` tell what
    it calls its fiscal years. If figures are missing or do not
    fit together, those found are given by themselves.
    """
    rows = figure_rows(hits, statements)
    if (request.years or not request.is_level) and request.is_fiscal and not _names_years_by_end(rows, texts):
        rows = [row for row in rows if not row.ends_early]
    if request.is_level:
        return _line_item(request, rows)
    return _formula(request, request.formula, rows) if request.formula else _change(request, rows)


_FISCAL_YEAR = re.compile(r"\bfiscal\s+(?:years?\s+)?((?:19|20)\d\d)\b", re.IGNORECASE)


def _names_years_by_end(rows: Sequence[FigureRow], texts: Iterable[str]) -> bool:
    """Return whether a year that ends early in 2023 is "fiscal 2023", as the document's own words show.

    Its tables' last year is then told of, more than the year before their first, and about as much as their last but
    one; else it would be the year to come.
    """
    printed = {year for row in rows if row.ends_early for year in row.amounts}
    if not printed:
        return False
    latest, first = max(printed), min(printed)
    told = Counter(int(year) for text in texts for year in _FISCAL_YEAR.findall(text))
    return told[latest] > max(1, told[first - 1]) and 2 * told[latest] >= told[latest - 1]


def is_worked_out(parts: Sequence[Statement | Label]) -> bool:
    """Return whether the parts of an answer give the figure, not only some of what it is computed from."""
    return not any(isinstance(part, Label) and _NOT_WORKED_OUT in part.text for part in parts)


def _formula(request: FigureRequest, formula: Formula, rows: Sequence[FigureRow]) -> list[Statement | Label] | None:
    if printed := _printed(request, formula, rows):
        return printed
    for expression in formula.parsed:
        figures = [figure for part in expression if isinstance(part, Operand) and (figure := find_figure(part.figure))]
        pairs = [(row, figure) for figure in figures for row in _in_statement(figure.place, rows)]
        latest = sorted({year for row, figure in pairs if row.label_rank(figure) is not None for year in row.amounts})
        results = (_computed(request, formula, expression, year, rows) for year in request.years or latest[-1:])
        statements = [statement for statement in results if statement]
        if statements and len(statements) >= len(request.years):
            return [Label(f"{capitalize(formula.name)} = {format_expression(expression)}"), *statements]
    return _partial_result(request, formula, rows)


def _printed(request: FigureRequest, formula: Formula, rows: Sequence[FigureRow]) -> list[Statement | Label] | None:
    """Return the rows in which the document prints the result itself."""
    terms = {*map(plain_label, (formula.name, *formula.terms))}
    of_kind = [row for row in rows if plain_label(row.label) in terms]
    of_kind = [
        row for row in of_kind if (formula.unit == "percent") == all(cell.is_percent for cell in row.amounts.values())
    ]
    statements = []
    for year in request.years or sorted({year for row in of_kind for year in row.amounts})[-1:]:
        given = [row for row in of_kind if year in row.amounts]
        if not given or len({row.amounts[year].value for row in given}) > 1:
            return None
        statements.append(_stated(given[0], year))
    return [*statements] or None


def _line_item(request: FigureRequest, rows: Sequence[FigureRow]) -> list[Statement | Label] | None:
    """Return the line item for each asked year or the latest; None unless all are certain."""
    figure = find_figure(request.measure)
    if figure is None:
        return None
    stated = [row for row in rows if row.label_rank(figure) is not None and row.stands_in(figure.place)]
    latest = sorted({year for row in _in_statement(figure.place, stated) for year in row.amounts})[-1:]
    statements = []
    for year in request.years or latest:
        row = _find_row(figure, [year], stated, request.measure)
        if row is None:
            return None
        statements.append((len(request.years) < 2 and _quoted(row, year)) or _stated(row, year, figure))
    return [*statements] or None


def _quoted(row: FigureRow, year: int) -> Statement | None:
    """Return the row itself with the asked cell; None if its columns, label or scale do not suffice."""
    text = row.hit.passage.text
    named = [place for place, cell in enumerate(row.unit.cells) if years(cell.column) == (year,)]
    quoted = quoted_row(text, row.unit)
    if quoted is None or len(named) != 1 or row.is_per_unit:
        return None
    own = Row(row.unit, quoted.model_copy(update={"asked": named[0]}))
    return Statement(display_text(text, row.unit), (Source(row.hit, row.unit.span),), own)


def _stated(row: FigureRow, year: int, figure: Figure | None = None) -> Statement:
    amount = _magnitude(row.amounts[year], figure) if figure else row.amounts[year]
    name = f"{capitalize(figure.name)} ({row.name})" if figure and row.is_under_share else row.name
    shown = f"{format_amount(amount, currency=row.currency)}{_scale(row, figure, amount)}"
    return Statement(f"{name}, {row.periods[year]}: {shown}", row.sources)


def _scale(row: FigureRow, figure: Figure | None, amount: Amount) -> str:
    """Return the scale to write behind an amount of the row; none if the row is per share or another unit."""
    is_bare = row.is_per_unit or (figure is not None and figure.per_share)
    return "" if row.scale in ("", "?") or amount.is_percent or is_bare else f" {row.scale}"


class _OperandValue(NamedTuple):
    text: str
    value: Decimal
    row: FigureRow


def _computed(
    request: FigureRequest, formula: Formula, expression: Expression, year: int, rows: Sequence[FigureRow]
) -> Statement | None:
    """Return the statement that works out the expression for a year; None without its figures, or by zero."""
    operands = _operands(expression, year, rows)
    if operands is None:
        return None
    values, texts = (iter(part) for part in zip(*((one.value, one.text) for one in operands), strict=True))
    value = evaluate([next(values) if isinstance(part, Operand) else part for part in expression])
    if value is None:
        return None
    shown = join_tokens([next(texts) if isinstance(part, Operand) else part for part in expression])
    result = format_result(value, formula, operands[0].row.scale, request.places)
    rows_used = {id(one.row): one.row for one in operands}.values()
    sources = tuple(source for row in rows_used for source in row.sources)
    return Statement(f"{capitalize(formula.name)} {year} = {shown} = {result}", sources)


def _operands(expression: Expression, year: int, rows: Sequence[FigureRow]) -> list[_OperandValue] | None:
    """Return the line items of the expression for a year; None unless all are found in one scale."""
    operands = []
    for operand in (part for part in expression if isinstance(part, Operand)):
        figure = find_figure(operand.figure)
        value = _operand_value(figure, operand, year, rows) if figure else None
        if value is None:
            return None
        operands.append(value)
    used = [operand.row for operand in operands]
    scales, pages = {row.scale for row in used}, {row.page for row in used}
    is_known = "?" not in scales and "" not in scales and all(row.in_statement for row in used)
    is_one = len(scales) == len({row.hit.passage.document_id for row in used}) == 1
    return operands if is_one and (is_known or (len(pages) == 1 and "?" not in scales)) else None


def _operand_value(figure: Figure, operand: Operand, year: int, rows: Sequence[FigureRow]) -> _OperandValue | None:
    needed = (year,) if not operand.reading else (year, year - 1)
    row = _find_row(figure, needed, rows, operand.figure)
    if row is None:
        return None
    amounts = [_magnitude(row.amounts[needed_year], figure) for needed_year in needed]
    if figure.expense and any(amount.value < 0 for amount in amounts):
        return None  # a benefit, or an expense printed as a deduction: the row alone does not say which
    values, texts = [amount.value for amount in amounts], [format_amount(amount, inside=True) for amount in amounts]
    match operand.reading:
        case "average":
            return _OperandValue(f"(({texts[0]} + {texts[1]}) / 2)", (values[0] + values[1]) / 2, row)
        case "change":
            return _OperandValue(f"({texts[0]} − {texts[1]})", values[0] - values[1], row)
        case _:
            return _OperandValue(texts[0], values[0], row)


def _magnitude(amount: Amount, figure: Figure) -> Amount:
    return amount._replace(value=abs(amount.value)) if figure.magnitude else amount


def _find_row(figure: Figure, needed: Sequence[int], rows: Sequence[FigureRow], called: str = "") -> FigureRow | None:
    """Return the line item's row in its own statement; None if several rows differ.

    A row that has the very name the question uses comes first: net sales may be less than the revenue.
    """
    names_figure = called in ("", figure.name)
    usable = [
        (-1 if not names_figure and identifying_words(row.label) == identifying_words(called) else rank, row)
        for row in _in_statement(figure.place, rows)
        if (rank := row.label_rank(figure)) is not None
        if all(year in row.amounts and not row.amounts[year].is_percent for year in needed)
    ]
    return _unambiguous_row(usable, needed)


def _in_statement(place: str | None, rows: Sequence[FigureRow]) -> Sequence[FigureRow]:
    """Return the rows of the statement `place`, or all if the document has none."""
    return [row for row in rows if row.may_stand_in(place)]


def _unambiguous_row(usable: Sequence[tuple[int, FigureRow]], needed: Sequence[int]) -> FigureRow | None:
    """Return the row with the best label; None if several rows differ."""
    first = min((rank for rank, _ in usable), default=0)
    chosen = [row for rank, row in usable if rank == first]
    values = {tuple(row.amounts[year].value for year in needed) for row in chosen}
    return chosen[0] if len(values) == 1 else None


def _partial_result(
    request: FigureRequest, formula: Formula, rows: Sequence[FigureRow]
) -> list[Statement | Label] | None:
    expression = formula.parsed[0]
    names = list(dict.fromkeys(part.figure for part in expression if isinstance(part, Operand)))
    known = sorted({year for row in rows for year in row.amounts}, reverse=True)
    statements, missing = list[Statement](), list[str]()
    for name in names:
        figure = find_figure(name)
        by_year = [(year, _find_row(figure, [year], rows)) for year in request.years or known] if figure else []
        given = [_stated(row, year) for year, row in by_year if row][: len(request.years) or 1]
        statements += given
        if not given:
            missing.append(name)
    if not statements:
        return None
    said = f"{capitalize(formula.name)} = {format_expression(expression)}. {_NOT_WORKED_OUT}"
    why = (
        f"not recognised in the passages read: {', '.join(missing)}."
        if missing
        else "the figures do not go together for certain."
    )
    return [Label(said + why), *statements]


def _change(request: FigureRequest, rows: Sequence[FigureRow]) -> list[Statement | Label] | None:
    """Return the change of a row between two years: those asked for, the year and the one before, or the last two."""
    figure = find_figure(request.measure)
    wanted = identifying_words(request.measure)
    if figure:
        at = _in_statement(figure.place, rows)
        ranked = [(rank, row) for row in at if (rank := row.label_rank(figure)) is not None]
        labelled = [(-1 if identifying_words(row.label) == wanted else rank, row) for rank, row in ranked]
    else:
        labelled = [(0, row) for row in rows if identifying_words(row.label) == wanted]
    for late, early in _year_pairs(request.years, [row for _, row in labelled]):
        usable = [(rank, row) for rank, row in labelled if late in row.amounts and early in row.amounts]
        row = _unambiguous_row(usable, (late, early))
        if row is not None and row.amounts[late].is_percent == row.amounts[early].is_percent:
            return [_difference(row, figure, late, early, with_level=request.with_level)]
    return None


def _year_pairs(asked: Sequence[int], rows: Sequence[FigureRow]) -> Iterator[tuple[int, int]]:
    if len(asked) > 1:
        yield max(asked), min(asked)
    elif asked:
        yield asked[0], asked[0] - 1
    else:
        known = sorted({year for row in rows for year in row.amounts}, reverse=True)
        yield from itertools.pairwise(known)


def _difference(row: FigureRow, figure: Figure | None, late: int, early: int, *, with_level: bool) -> Statement:
    after, before = row.amounts[late], row.amounts[early]
    points = " percentage points" if after.is_percent else _scale(row, figure, after)
    difference = after.value - before.value
    first, second = format_amount(after, inside=True), format_amount(before, inside=True)
    lead = f"{_stated(row, late, figure).text}; " if with_level else f"{row.name}, "
    text = f"{lead}change from {early} to {late} = {first} − {second} = {format_decimal(difference)}{points}"
    if before.value > 0 and not after.is_percent:
        growth = format_decimal(round_half_up(100 * difference / before.value, 1))
        text += f"; {format_decimal(difference)} / {second} = {growth} %"
    return Statement(text, row.sources)
