"""Find and compare numbers in any spelling, and verify figures computed in a sentence."""

import ast
import itertools
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.text.measurement_units import PERCENT, POINTS, SHARES, TIMES, is_same_unit, unit_at

_SCALE_WORDS = {
    1e2: "hundred",
    1e3: "thousand thousands tausend milliers mille mil",
    1e5: "lakh lakhs",
    1e6: "million millions mn mln mio millionen millón millones",
    1e7: "crore crores",
    1e9: "billion billions bn mrd milliarde milliarden milliard milliards",
    1e12: "trillion trillions tn 兆",
    1e4: "万 萬",
    1e8: "亿 億",
}
SCALES = {word: scale for scale, words in _SCALE_WORDS.items() for word in words.split()}
_ATTACHED_SCALES = {"K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Letters that scale a number directly before them."""

_NUMBER_WORDS = (
    "zero no none|one first once single|two second twice both|three third|four fourth|five fifth|six sixth|"
    "seven seventh|eight eighth|nine ninth|ten tenth|eleven eleventh|twelve twelfth|thirteen|fourteen|fifteen|"
    "sixteen|seventeen|eighteen|nineteen|twenty"
)
_MONTHS = (
    "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|oct october|"
    "nov november|dec december"
)


def _numbered(groups: str, first: int) -> dict[str, float]:
    return {word: float(first + index) for index, group in enumerate(groups.split("|")) for word in group.split()}


_SPELLED = _numbered(_NUMBER_WORDS, 0) | _numbered(_MONTHS, 1)
_MONTH_WORDS = frozenset(_MONTHS.replace("|", " ").split())

_SCALE_NAMES = "|".join(sorted(map(re.escape, SCALES), key=len, reverse=True))
_ABBREVIATIONS = (
    *(rf"(?-i:\b[A-Z][a-z]{{{letters}}})" for letters in (1, 2, 3)),  # Rs, Sec, Abs
    *(rf"\b{word}" for word in ("p", "pp", "ca", "no", "nr", "vs", "approx")),
)
_THOUSANDS = r"\d{1,3}(?:[,'’]\d{3})+(?!\d)"
_BEHIND_ABBREVIATION = "|".join(rf"(?<={word}\.)" for word in _ABBREVIATIONS)
"""Whose point does not begin a decimal: "Rs.1,500", "Sec.4.2"."""
_NO_ABBREVIATION = "".join(rf"(?<!{word})" for word in _ABBREVIATIONS) + rf"(?!(?<=[^\W\d_])\.{_THOUSANDS})"
_NUMBER = re.compile(
    r"(?P<open>(?<=[(\[])|(?<=[(\[][$€£¥]))?"
    rf"(?:(?<![\d.,'’])|{_BEHIND_ABBREVIATION}|(?<=[^\W\d_]\.)(?={_THOUSANDS}))"
    rf"(?P<digits>\d+(?:[.,'’\u00a0\u2009\u202f]\d+)*|(?<!\d){_NO_ABBREVIATION}\.\d+)"
    r"(?P<power>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})?"
    r"(?:\s?[×·*]\s?10(?P<exponent>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})|(?P<attached>[KkMBT])(?![^\W\d_])"
    rf"|(?(open)[)\]]?)[\s\u00a0-]{{0,4}}(?P<scale>{_SCALE_NAMES})(?![a-zA-Zé]))?",
    re.IGNORECASE,
)
_SIGN_BEFORE = re.compile(r"[$€£¥₹]\s?$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W\d_]+")
_OWN_DIGITS = re.compile(r"[^\W\D]")


Scales = frozenset[float] | None
"""The scales that a bare figure may have; None if unknown."""


class Number(NamedTuple):
    """A number in a text: its span, the possible values of its digits, its scale and unit.

    `text` leaves out brackets between digits and scale: "(27.3) million" is 27.3 million. `values` do not include the
    scale. `unit` is canonical, see `measurement_units`.
    """

    text: str
    start: int
    end: int
    values: frozenset[float]
    scale: float | None
    unit: str | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a percentage or in percentage points."""
        return self.unit in SHARES

    @property
    def is_money(self) -> bool:
        """Whether it has a currency."""
        return self.unit is not None and self.unit not in SHARES and self.unit != TIMES

    @property
    def year(self) -> int | None:
        """The year it may name: four digits, 1900 to 2099, without unit or scale."""
        is_plain = self.unit is None and self.scale is None and _YEAR.fullmatch(self.text)
        return int(self.text) if is_plain else None


def find_numbers(text: str) -> list[Number]:
    """Return the numbers written in digits, also within names like Q3 or FY2019, without signs."""
    text = types.without_raised_marks(text)
    plain = plain_digits(text)
    return [
        Number(
            re.sub(r"[)\]]", "", text[match.start() : match.end()]).replace("  ", " "),
            match.start(),
            match.end(),
            frozenset({_power(match["power"])}) if match["power"] else _values(match["digits"]),
            _scale(plain, match),
            unit_at(plain, match.start(), match.end()),
        )
        for match in _NUMBER.finditer(plain)
    ]


def plain_digits(text: str) -> str:
    """Replace the decimal digits of any script by 0 to 9, in place."""
    return _OWN_DIGITS.sub(lambda match: str(int(match.group())), text)


def _power(exponent: str) -> float:
    """Return the power of ten with an exponent in superscripts; marks of notes are gone from the text before."""
    return float(10 ** int(unicodedata.normalize("NFKC", exponent).replace("−", "-")))


def _scale(text: str, match: re.Match[str]) -> float | None:
    if match["exponent"]:
        return _power(match["exponent"])
    if letter := match["attached"]:
        is_money = letter in "mb" and _SIGN_BEFORE.search(text, 0, match.start()) is not None
        return _ATTACHED_SCALES.get(letter.upper() if is_money else letter)
    return SCALES[match["scale"].casefold()] if match["scale"] else None


def _values(digits: str) -> frozenset[float]:
    """Return both readings of an ambiguous separator: the comma of 1,234 may part thousands or decimals."""
    digits = re.sub(r"['’\u00a0\u2009\u202f]", "", digits)
    separators = re.findall(r"[.,]", digits)
    if not separators:
        return frozenset({float(digits)})
    *_, last = separators
    head, tail = digits.rsplit(last, 1)
    readings = set()
    if len(set(separators)) == 2 or len(separators) == 1:
        readings.add(float(re.sub(r"[.,]", "", head) + "." + tail))
    if len(set(separators)) == 1 and len(tail) == 3 and head.strip("0"):
        readings.add(float(re.sub(r"[.,]", "", digits)))
    if not readings:  # 12.3.4: a section or a version, compared as written
        readings.update(float(part) for part in re.split(r"[.,]", digits))
    return frozenset(readings)


def union_scales(all_scales: Iterable[Scales]) -> Scales:
    """Return the scales of all sources together; None if all are unknown."""
    known = [scales for scales in all_scales if scales is not None]
    return frozenset[float]().union(*known) if known else None


def unsupported(
    sentence: str, quotes: Iterable[str], *, scales: Scales = None, currency: str | None = None
) -> tuple[str, ...]:
    """Return the numbers of `sentence` that neither occur in `quotes` nor are computed from numbers that do.

    `scales` are the possible scales of bare figures in the quotes, `currency` is theirs.
    """
    claimed = find_numbers(sentence)
    if not claimed:
        return ()
    missing = _absent(claimed, list(quotes), scales, currency)
    computed = _computed(sentence, claimed, missing)
    return tuple(dict.fromkeys(number.text for number in missing if _key(number) not in computed))


def is_computed(sentence: str, quotes: Iterable[str], *, scales: Scales = None) -> bool:
    """Return whether `sentence` computes one of its figures correctly from figures in `quotes`."""
    claimed = find_numbers(sentence)
    return bool(claimed) and bool(_computed(sentence, claimed, _absent(claimed, list(quotes), scales)))


def is_shown_by_equation(sentence: str, figure: Number, known: Sequence[Number]) -> bool:
    """Return whether an equation of `sentence` yields `figure`, of figures that are all `known`."""
    claimed = find_numbers(sentence)
    values = frozenset(value for number in known for value in number.values)
    missing = [number for number in claimed if not number.values & values or number.start == figure.start]
    return _key(figure) in _computed(sentence, claimed, missing)


def results_of_equations(sentence: str) -> frozenset[str]:
    """Return the figures that equations of `sentence` yield, as written."""
    return frozenset(result.text for _, result in _equations(sentence, find_numbers(sentence)))


def operands(sentence: str) -> frozenset[int]:
    """Return where the figures begin of which equations, or expressions in brackets, of `sentence` compute."""
    claimed = find_numbers(sentence)
    around = [
        expression
        for sign in _EQUALS.finditer(sentence)
        for expression in (
            _expression_before(sentence, sign.start(), claimed),
            _expression_after(sentence, sign.start(), claimed),
        )
    ]
    expressions = [one for one in [*around, *_in_brackets(sentence)] if len(one.numbers) > 1]
    return frozenset(number.start for one in expressions for number in one.numbers)


def values_in_brackets(sentence: str) -> list[float]:
    """Return the values of the expressions in brackets: 8,915 for "rose by $8.9 billion (123,216 − 114,301)"."""
    found = []
    for expression in _in_brackets(sentence):
        tree = _parse(expression.code)
        if len(expression.numbers) > 1 and tree is not None:
            values = [plain_value(number, with_scale=False) for number in expression.numbers]
            found.append(_evaluate(tree, iter(values)))
    return [value for value in found if not math.isnan(value)]


def _in_brackets(sentence: str) -> "list[_Expression]":
    claimed = find_numbers(sentence)
    return [_expression_after(sentence, match.start(), claimed) for match in _BRACKETS.finditer(sentence)]


def wrong_results(sentence: str) -> tuple[str, ...]:
    """Return the results of equations in `sentence` that their operands do not give."""
    equations = _equations(sentence, find_numbers(sentence))
    return tuple(result.text for operands, result in equations if not _yields(operands, result))


def is_rounded(claimed: Number, value: float) -> bool:
    """Return whether `claimed`, with its scale, is `value` within half a unit of its last digit."""
    factor = claimed.scale or 1.0
    return any(
        abs(reading * factor - abs(value)) <= 1.0001 * half_unit * factor for reading, half_unit in readings(claimed)
    )


def shows_computation(sentence: str) -> bool:
    """Return whether `sentence` has an equation of figures."""
    return _EQUALS.search(sentence) is not None and len(find_numbers(sentence)) > 2


def _absent(
    claimed: Sequence[Number], quotes: Sequence[str], scales: Scales, currency: str | None = None
) -> list[Number]:
    quoted = [number for quote in quotes for number in find_numbers(quote)]
    spelled = {_SPELLED[word] for quote in quotes for word in _WORD.findall(quote.casefold()) if word in _SPELLED}
    return [
        number
        for number in claimed
        if not (number.values & spelled and number.scale is None)
        and not any(is_same(number, other, scales, currency) for other in quoted)
    ]


def spelled_value(word: str) -> float | None:
    """Return the value of a number word from two on, or of a month; not of "one", "no" and "may"."""
    folded = word.casefold()
    value = _SPELLED.get(folded)
    is_clear = value is not None and (value >= 2 or folded in _MONTH_WORDS)
    return value if is_clear and word != "may" else None


def is_month(word: str) -> bool:
    """Return whether a word, in any case, names a month."""
    return word.casefold() in _MONTH_WORDS


def is_day(number: Number, text: str) -> bool:
    """Return whether a number of `text` is the day of a month: "May 5"."""
    before = text[: number.start].split()
    return bool(before) and is_month(before[-1])


def is_same(claimed: Number, quoted: Number, scales: Scales, currency: str | None = None) -> bool:
    """Return whether both numbers mean the same.

    A bare figure may have one of `scales`, any scale if these are unknown; `currency` is that of the quoted figure's
    table.
    """
    if not is_same_unit(claimed.unit, quoted.unit, currency):
        return False
    if claimed.scale == quoted.scale and _overlap(claimed.values, quoted.values):
        return True
    full = plain_value(claimed)
    if quoted.scale is not None:
        return math.isclose(full, plain_value(quoted), rel_tol=1e-9)
    if scales is None and claimed.scale is not None and _overlap(claimed.values, quoted.values):
        return True
    return any(math.isclose(full, plain_value(quoted) * scale, rel_tol=1e-9) for scale in (1.0, *(scales or ())))


def _overlap(some: Iterable[float], others: Iterable[float]) -> bool:
    others = list(others)
    return any(math.isclose(a, b, rel_tol=1e-9) for a in some for b in others)


# --- Figures computed in the sentence ---------------------------------------------------------------

MAX_EXPRESSION_CHARS = 300

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_EXPRESSION_CHARS = str.maketrans(
    {"−": "-", "–": "-", "—": "-", "×": "*", "⋅": "*", "·": "*", "÷": "/", "∕": "/", "[": "(", "]": ")"}
    | dict.fromkeys("$€£¥%", " ")
)
_TOKEN = re.compile(r"(?:(?<!\s)\s+)?([-+*/()]|@\d+)")
_BRACKETS = re.compile(r"\((?=[-−–\s$€£¥(\[]{0,9}\.?\d)")
"""An opening bracket before a figure; what follows may be an expression."""

_EQUALS = re.compile(r"[=≈≃]")


_Key = tuple[frozenset[float], float | None]


def _key(number: Number) -> _Key:
    return number.values, number.scale


def _computed(sentence: str, numbers: Sequence[Number], missing: Sequence[Number]) -> set[_Key]:
    """Return the keys of missing numbers that equations of quoted numbers yield, and of their constants."""
    found: set[_Key] = set()
    unknown = set(map(_key, missing))
    for operands, result in _equations(sentence, numbers):
        # 1, 100 in percentages, and the count of summands in a mean need no source
        known = {1.0, 100.0, operands.code.count("+") + 1.0}
        constants = {_key(number) for number in operands.numbers if number.scale is None and number.values & known}
        is_grounded = not set(map(_key, operands.numbers)) & unknown - found - constants
        if is_grounded and _yields(operands, result):
            found |= {_key(result)} | constants
    return found


class _Expression(NamedTuple):
    code: str
    numbers: list[Number]


def _equations(sentence: str, numbers: Sequence[Number]) -> Iterator[tuple[_Expression, Number]]:
    """Yield the operands and the result of each equation; the result may stand on either side."""
    for sign in _EQUALS.finditer(sentence):
        left = _expression_before(sentence, sign.start(), numbers)
        right = _expression_after(sentence, sign.start(), numbers)
        for operands, result in ((left, right), (right, left)):
            if len(operands.numbers) > 1 and len(result.numbers) == 1:
                yield operands, result.numbers[0]


def _expression_before(sentence: str, position: int, numbers: Sequence[Number]) -> _Expression:
    """Return the longest expression ending at `position`."""
    text, inside = _coded(sentence, max(0, position - MAX_EXPRESSION_CHARS), position, numbers)
    tokens: list[str] = []
    last_end = 0
    for match in _TOKEN.finditer(text):
        if tokens and text[last_end : match.start()].strip():
            tokens.clear()
        tokens.append(match.group(1))
        last_end = match.end()
    if text[last_end:].strip():
        return _Expression("", [])
    while tokens and tokens[-1] == "(":  # 42 (= 12 + 30)
        tokens.pop()
    return _longest([tokens[index:] for index in range(len(tokens))], inside)


def _expression_after(sentence: str, position: int, numbers: Sequence[Number]) -> _Expression:
    """Return the longest expression beginning behind the sign at `position`."""
    text, inside = _coded(sentence, position + 1, position + MAX_EXPRESSION_CHARS, numbers)
    tokens: list[str] = []
    index = 0
    while match := _TOKEN.match(text, index):
        tokens.append(match.group(1))
        index = match.end()
    return _longest([tokens[:count] for count in range(len(tokens), 0, -1)], inside)


def _coded(sentence: str, start: int, end: int, numbers: Sequence[Number]) -> tuple[str, list[Number]]:
    """Return `sentence[start:end]` with numbers replaced by @ and their index, and these numbers."""
    inside = [number for number in numbers if start <= number.start and number.end <= end]
    parts, cursor = [], start
    for index, number in enumerate(inside):
        parts += [sentence[cursor : number.start].translate(_EXPRESSION_CHARS), f"@{index}"]
        cursor = number.end
    parts.append(sentence[cursor:end].translate(_EXPRESSION_CHARS))
    return "".join(parts), inside


def _longest(candidates: Iterable[list[str]], inside: Sequence[Number]) -> _Expression:
    for tokens in candidates:
        code = " ".join(token.replace("@", "n") for token in tokens)
        used = [inside[int(token[1:])] for token in tokens if token[0] == "@"]
        if used and _parse(code) is not None:
            return _Expression(code, used)
    return _Expression("", [])


def _parse(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        return None


def _yields(operands: _Expression, outcome: Number) -> bool:
    """Return whether the expression gives `outcome` within half a unit of its last digit.

    Shares are operands as they are written, or as fractions: "1,526 × 68 % = 1,037.68".
    """
    tree = _parse(operands.code)
    if tree is None:
        return False
    are_shares = any(number.is_share for number in operands.numbers)
    for with_scale, as_fraction in itertools.product((True, False), (False, True) if are_shares else (False,)):
        values = [
            plain_value(number, with_scale=with_scale) / (100 if as_fraction and number.is_share else 1)
            for number in operands.numbers
        ]
        result = _evaluate(tree, iter(values))
        factor = (outcome.scale or 1.0) if with_scale else 1.0
        is_percentage = outcome.unit in {PERCENT, POINTS} and (as_fraction or not are_shares)
        for value, half_unit in readings(outcome):
            tolerance = half_unit * factor
            for target in (result, result * 100) if is_percentage else (result,):
                if abs(abs(target) - value * factor) <= tolerance * 1.0001:
                    return True
    return False


def plain_value(number: Number, *, with_scale: bool = True) -> float:
    """Return the value in English notation, by default with its scale."""
    value = min(number.values) if "." in number.text else max(number.values)
    return value * (number.scale or 1.0) if with_scale else value


def readings(number: Number) -> Iterator[tuple[float, float]]:
    """Yield the values that a figure may have, each with half a unit of its last digit.

    A point before three digits may part thousands, as in German; a comma is then never read as decimal.
    """
    groups = re.findall(r"\d+", number.text)
    last, whole = len(groups[-1]), float("".join(groups))
    for value in number.values if "." in number.text else [max(number.values)]:
        is_decimal = number.text[:1] == "." or (len(groups) > 1 and (last != 3 or value != whole))
        yield value, 0.5 / 10.0**last if is_decimal else 0.5


def _evaluate(node: ast.expr, values: Iterator[float]) -> float:
    """Evaluate a tree of + - * / whose names take `values` from left to right; NaN if undefined."""
    match node:
        case ast.BinOp(left, sign, right) if type(sign) in _OPERATORS:
            first, second = _evaluate(left, values), _evaluate(right, values)
            if isinstance(sign, ast.Div) and second == 0:
                return math.nan
            result: float = _OPERATORS[type(sign)](first, second)
            return result
        case ast.UnaryOp(ast.USub(), operand):
            return -_evaluate(operand, values)
        case ast.UnaryOp(ast.UAdd(), operand):
            return _evaluate(operand, values)
        case ast.Name():
            return next(values)
        case _:
            return math.nan
