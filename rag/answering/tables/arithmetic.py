"""Decimal arithmetic on printed amounts, and its notation."""

import ast
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from rag.answering.tables.figure_rows import Amount
from rag.vocabulary import Expression, Formula, Operand

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
