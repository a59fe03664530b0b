"""Split table rows into label and cells, and headers into column names, as spans."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.text.sentences import one_line, trimmed

MAX_ROW_CHARS = 1000
"""Longer lines without cell separators are no table rows."""

_CURRENCY = r"(?:US\$|A\$|C\$|HK\$|[$€£¥₹]|USD|EUR|GBP|CHF|Rs\.?)"
_FIGURE = (
    rf"(?:{_CURRENCY}\s*+)?(?:[(\[]\s*+)?(?:[-–−+]\s*+)?(?:{_CURRENCY}\s*+)?\d[\d.,]*(?:\s*[)\]])?"
    r"(?:\s*(?:%|pp|bps|x\b|million\b|billion\b))?(?:\s*[)\]])?"
)
_NOTHING = r"(?:[—–−-]{1,3}(?![\w(])|N/?A\b|n\.?m\.?(?!\w))"
VALUE = re.compile(rf"(?:{_CURRENCY}\s*)?{_NOTHING}(?:\s*%)?|{_FIGURE}")
_VALUES = re.compile(rf"\s*+(?>(?:{VALUE.pattern})(?:\s+|$)){{2,}}")
_SIGN = re.compile(rf"(?:{_CURRENCY}|[(\[])")
_SIGN_BEHIND = re.compile(rf"{_FIGURE}\s*(?P<sign>{_CURRENCY})")
_TRAILING_SIGN = re.compile(rf"(?<![\d.,)\]])[.,)\]]*\d[\d.,)\]]*\s+({_CURRENCY})$")
_CLOSING = re.compile(r"[)\]%]+|%\s*\)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,9}\.?"
PERIOD = re.compile(
    rf"(?:{_MONTH}\s+\d{{1,2}}\s*,\s*|{_MONTH}\s+|[QH][1-4]\s*+(?:['’]\s*)?|FY\s*['’]?)?(?:19|20)\d\d(?:\s*[-–/]\s*\d{{2,4}})?"
    r"|FY\s*['’]?\d\d|[QH][1-4](?:\s*['’]?\d\d)?",
    re.IGNORECASE,
)
_LEADERS_AT_END = re.compile(r"(?<!\s)\s*(?:(?<!\.)(?<!\.\s)(?:\.\s?){4,}|(?<!…)…{2,})\s*$")


def split_row(text: str, span: types.Span) -> tuple[types.Span | None, list[types.Span]]:
    """Return a row's label, if any, and its cells; figures separated by spaces are cells of their own."""
    parts: list[types.Span] = []
    start = span.start
    for piece in text[span.start : span.end].split("\t"):
        parts.append(trimmed(text, types.Span(start, start + len(piece))))
        start += len(piece) + 1
    parts = [part for part in parts if part.start < part.end]
    label: types.Span | None = None
    if parts and (
        not (VALUE.fullmatch(text, *parts[0]) or _VALUES.fullmatch(text, *parts[0])) or _is_of_period(text, parts)
    ):
        label, parts = _without_leaders(text, parts[0]), parts[1:]
        if not parts:
            label, parts = label_and_figures(text, label)
    cells: list[types.Span] = []
    for part in _with_signs_apart(text, parts):
        cells += split_figures(text, part)
    return label, join_signs(text, cells)


def _is_of_period(text: str, parts: Sequence[types.Span]) -> bool:
    """Return whether a row begins with its period: a year followed by something else."""
    first, *others = (text[slice(*part)].strip() for part in parts)
    return bool(PERIOD.fullmatch(first)) and bool(others) and not all(PERIOD.fullmatch(other) for other in others)


def _with_signs_apart(text: str, parts: Sequence[types.Span]) -> Iterator[types.Span]:
    """Split off trailing currency signs that belong to the next figure ("$ 1,503 $")."""
    figures = [part for part in parts if any(map(str.isdigit, text[part.start : part.end]))]
    leads = any(_SIGN.match(text, *part) for part in parts[:1]) or not any(
        _TRAILING_SIGN.search(text, *part) for part in figures[-1:]
    )
    for part in parts:
        sign = _TRAILING_SIGN.search(text, *part) if leads else None
        if sign is None:
            yield part
        else:
            yield trimmed(text, types.Span(part.start, sign.start(1)))
            yield types.Span(*sign.span(1))


def label_and_figures(text: str, span: types.Span) -> tuple[types.Span | None, list[types.Span]]:
    """Split a line without cell separators into its words and the two or more figures at its end."""
    if span.end - span.start > MAX_ROW_CHARS:
        return span, []
    for match in re.finditer(r"\s+", text[span.start : span.end]):
        start = span.start + match.end()
        if _VALUES.fullmatch(text, start, span.end):
            return _without_leaders(text, types.Span(span.start, span.start + match.start())), [
                types.Span(start, span.end)
            ]
    return span, []


def _without_leaders(text: str, span: types.Span) -> types.Span:
    leaders = _LEADERS_AT_END.search(text[span.start : span.end])
    return types.Span(span.start, span.start + leaders.start()) if leaders and leaders.start() else span


def split_figures(text: str, span: types.Span) -> list[types.Span]:
    """Return the figures of a span that consists of several, else the span itself."""
    if not _VALUES.fullmatch(text, span.start, span.end):
        return [span]
    return [trimmed(text, types.Span(*match.span())) for match in VALUE.finditer(text, span.start, span.end)]


def join_signs(text: str, cells: Sequence[types.Span]) -> list[types.Span]:
    """Join lone currency signs and closing brackets with their figures.

    If one sign stands before its figure, a sign behind it belongs to the next.
    """
    joined: list[types.Span] = []
    opening: types.Span | None = None
    for cell in cells:
        content = text[cell.start : cell.end]
        if opening and (behind := _SIGN_BEHIND.fullmatch(content)):
            sign = cell.start + behind.start("sign")
            joined.append(trimmed(text, types.Span(opening.start, sign)))
            opening = types.Span(sign, cell.end)
        elif _SIGN.fullmatch(content):
            opening = cell
        elif joined and _CLOSING.fullmatch(content):
            joined[-1] = types.Span(joined[-1].start, cell.end)
        else:
            joined.append(types.Span(opening.start, cell.end) if opening else cell)
            opening = None
    return joined


def column_names(header: str, row: str, count: int, *, begins_with_label: bool = True) -> tuple[str, ...]:
    """Return the names of a row's `count` cells from a header line; () if they cannot be told apart.

    With `begins_with_label` the first name may be that of the label column.
    """
    names = [one_line(name) for name in header.split("\t")]
    fields = row.split("\t")
    filled = [name for name, field in zip(names[1:], fields[1:], strict=False) if field.strip()]
    if len(names) == len(fields) and len(filled) == count:
        return tuple(filled)
    if len(names) == len(fields) == count:  # the row has no label
        return tuple(names)
    names = [name for name in names if name]
    if len(names) == count + 1 and begins_with_label:
        return tuple(names[1:])
    periods = [one_line(match.group()) for match in PERIOD.finditer(header)]
    if len(names) == count and (len(periods) == count or not begins_with_label):
        return tuple(names)
    return tuple(periods) if len(periods) == count else ()
