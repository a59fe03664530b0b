"""The label and the cells of a row of a table, and the names of its columns, as spans of a text."""

import re
from collections.abc import Iterator, Sequence

from rag.answering.text.sentences import flowing, trimmed
from rag.types import Span

_CURRENCY = r"(?:US\$|A\$|C\$|HK\$|[$€£¥₹]|USD|EUR|GBP|CHF|Rs\.?)"
_FIGURE = (
    rf"(?:{_CURRENCY}\s*)?[(\[]?\s*[-–−+]?\s*(?:{_CURRENCY}\s*)?\d[\d.,]*(?:\s*[)\]])?"
    r"(?:\s*(?:%|pp|bps|x\b|million\b|billion\b))?(?:\s*[)\]])?"
)
_NOTHING = r"(?:[—–−-]{1,3}(?![\w(])|N/?A\b|n\.?m\.?(?!\w))"
VALUE = re.compile(rf"(?:{_CURRENCY}\s*)?{_NOTHING}\s*%?|{_FIGURE}")
_VALUES = re.compile(rf"\s*(?:(?:{VALUE.pattern})(?:\s+|$)){{2,}}")
_SIGN = re.compile(rf"(?:{_CURRENCY}|[(\[])")
_SIGN_BEHIND = re.compile(rf"{_FIGURE}\s*(?P<sign>{_CURRENCY})")
_TRAILING_SIGN = re.compile(rf"(?<=\d)[\d.,)\]]*\s+({_CURRENCY})$")
_CLOSING = re.compile(r"[)\]%]+|%\s*\)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
PERIOD = re.compile(
    rf"(?:{_MONTH}\s+\d{{1,2}}\s*,\s*|{_MONTH}\s+|[QH][1-4]\s*['’]?\s*|FY\s*['’]?)?(?:19|20)\d\d(?:\s*[-–/]\s*\d{{2,4}})?"
    r"|FY\s*['’]?\d\d|[QH][1-4](?:\s*['’]?\d\d)?",
    re.IGNORECASE,
)
_LEADERS_AT_END = re.compile(r"\s*(?:(?:\.\s?){4,}|…{2,})\s*$")


def row_cells(text: str, span: Span) -> tuple[Span | None, list[Span]]:
    """The label of a row, if it begins with one, and its cells; figures that a space parts are cells of their own."""
    parts: list[Span] = []
    start = span.start
    for piece in text[span.start : span.end].split("\t"):
        parts.append(trimmed(text, Span(start, start + len(piece))))
        start += len(piece) + 1
    parts = [part for part in parts if part.start < part.end]
    label: Span | None = None
    if parts and (
        not (VALUE.fullmatch(text, *parts[0]) or _VALUES.fullmatch(text, *parts[0])) or _is_of_period(text, parts)
    ):
        label, parts = _without_leaders(text, parts[0]), parts[1:]
        if not parts:
            label, parts = label_and_figures(text, label)
    cells: list[Span] = []
    for part in _with_signs_apart(text, parts):
        cells += figures_in(text, part)
    return label, with_signs(text, cells)


def _is_of_period(text: str, parts: Sequence[Span]) -> bool:
    """Whether a row begins with the period that it is of: a year, and then something else."""
    first, *others = (text[slice(*part)].strip() for part in parts)
    return bool(PERIOD.fullmatch(first)) and bool(others) and not all(PERIOD.fullmatch(other) for other in others)


def _with_signs_apart(text: str, parts: Sequence[Span]) -> Iterator[Span]:
    """`parts`, the sign of the next figure ("$ 1,503 $") parted from one where signs stand before their figures."""
    figures = [part for part in parts if any(map(str.isdigit, text[part.start : part.end]))]
    leads = any(_SIGN.match(text, *part) for part in parts[:1]) or not any(
        _TRAILING_SIGN.search(text, *part) for part in figures[-1:]
    )
    for part in parts:
        sign = _TRAILING_SIGN.search(text, *part) if leads else None
        if sign is None:
            yield part
        else:
            yield trimmed(text, Span(part.start, sign.start(1)))
            yield Span(*sign.span(1))


def label_and_figures(text: str, span: Span) -> tuple[Span | None, list[Span]]:
    """A line without cells: its words, and the two or more figures that it ends with."""
    for match in re.finditer(r"\s+", text[span.start : span.end]):
        start = span.start + match.end()
        if _VALUES.fullmatch(text, start, span.end):
            return _without_leaders(text, Span(span.start, span.start + match.start())), [Span(start, span.end)]
    return span, []


def _without_leaders(text: str, span: Span) -> Span:
    """`span` without the dots that lead to a row's figures, unless nothing else is there."""
    leaders = _LEADERS_AT_END.search(text[span.start : span.end])
    return Span(span.start, span.start + leaders.start()) if leaders and leaders.start() else span


def figures_in(text: str, span: Span) -> list[Span]:
    """The figures that `span` holds where it is nothing but several; else itself."""
    if not _VALUES.fullmatch(text, span.start, span.end):
        return [span]
    return [trimmed(text, Span(*match.span())) for match in VALUE.finditer(text, span.start, span.end)]


def with_signs(text: str, cells: Sequence[Span]) -> list[Span]:
    """`cells`, with a currency's sign or a closing bracket that stands alone put to its figure.

    Where a sign stands before one figure, a sign behind it is that of the next.
    """
    joined: list[Span] = []
    opening: Span | None = None
    for cell in cells:
        content = text[cell.start : cell.end]
        if opening and (behind := _SIGN_BEHIND.fullmatch(content)):
            sign = cell.start + behind.start("sign")
            joined.append(trimmed(text, Span(opening.start, sign)))
            opening = Span(sign, cell.end)
        elif _SIGN.fullmatch(content):
            opening = cell
        elif joined and _CLOSING.fullmatch(content):
            joined[-1] = Span(joined[-1].start, cell.end)
        else:
            joined.append(Span(opening.start, cell.end) if opening else cell)
            opening = None
    return joined


def column_names(header: str, row: str, count: int, *, begins_with_label: bool = True) -> tuple[str, ...]:
    """The names of a row's `count` cells in a line that names columns; () where they cannot be told apart.

    `begins_with_label`: the line may begin above the row's label, so that its first name is that of the labels.
    """
    names = [flowing(name) for name in header.split("\t")]
    fields = row.split("\t")
    filled = [name for name, field in zip(names[1:], fields[1:], strict=False) if field.strip()]
    if len(names) == len(fields) and len(filled) == count:
        return tuple(filled)
    if len(names) == len(fields) == count:  # the row has no label
        return tuple(names)
    names = [name for name in names if name]
    if len(names) == count + 1 and begins_with_label:
        return tuple(names[1:])
    periods = [flowing(match.group()) for match in PERIOD.finditer(header)]
    if len(names) == count and (len(periods) == count or not begins_with_label):
        return tuple(names)
    return tuple(periods) if len(periods) == count else ()
