"""Read what a table prints, as spans: the label and cells of a row, column names, the scale that a caption declares."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.text.analyzed_text import analyze
from rag.answering.text.measurement_units import CODE, CURRENCY
from rag.answering.text.numbers import SCALES
from rag.answering.text.sentences import one_line, trimmed
from rag.answering.text.term_weights import word_set

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


# --- the scale of bare figures ---

_THOUSAND, _MILLION, _BILLION = 1e3, 1e6, 1e9
SCALE_WORDS = {
    word: scale for word, scale in SCALES.items() if word.isascii() and word not in {"hundred", "mil", "mille"}
}
SCALE_WORDS |= {"miles": _THOUSAND, "tsd": _THOUSAND}
BEHIND_CURRENCY = {"k": _THOUSAND, "m": _MILLION, "mm": _MILLION, "b": _BILLION}
BEFORE_CURRENCY = {"k": _THOUSAND, "t": _THOUSAND, "m": _MILLION, "md": _BILLION}
"""Letters that are scales only beside a currency: "€m", "TEUR"."""

_WORD = rf"(?:{'|'.join(sorted(SCALE_WORDS, key=len, reverse=True))})"
_THREE_ZEROS = r"(?:['’]000['’]?s?|000['’]?s|000)"
_ENDS = r"(?![\w-]|[.,]\d)"
_OF_MONEY = rf"\s*(?:of\s+|de\s+|d['’]\s?)?(?:{CURRENCY})"
_DECLARED = re.compile(
    rf"\b(?:in|en)\s+(?:(?:{CURRENCY})\s?)?(?P<behind_in>{_WORD}|{_THREE_ZEROS}){_ENDS}"
    rf"|(?:{CURRENCY})\s?(?:in\s+)?(?P<behind>{_WORD}|{'|'.join(BEHIND_CURRENCY)}|{_THREE_ZEROS}){_ENDS}"
    rf"|\b(?:{CODE})(?P<joined>{'|'.join(BEHIND_CURRENCY)}|mn|bn){_ENDS}"
    rf"|(?<!\w)(?P<before>{'|'.join(BEFORE_CURRENCY)})\s?(?:[$€£]|{CODE})(?!\w|\s?\d)"
    rf"|[(\[]\s*(?P<bracketed>{_WORD}|{_THREE_ZEROS})(?=\.?\s*(?:[)\],;]|of\b|omitted\b|{CURRENCY}))"
    rf"|(?:^|[\t:])[^\S\t\n]*(?P<alone>{_WORD})(?=\.?(?:\s*(?:$|[\t,;])|{_OF_MONEY}))"
    r"|(?<![\d.,\w])(?<!\d\s)(?P<zeros>['’]000s?|000['’]?s)(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""A scale that does not belong to a figure, unlike "35 million" or the zeros of "17,000"."""

_EXCEPT = re.compile(r"\b(?:except|excluding|other\s+than|unless)\b", re.IGNORECASE)
_PER_UNIT = re.compile(r"\bper[\s-]+(?!cent\b|annum\b)\w+", re.IGNORECASE)
_RATIO = re.compile(r"%|\bpercent(?:ages?)?\b|\bper\s+cent\b|\bratios?\b", re.IGNORECASE)
_NO_NAMES = word_set(
    "number numbers figure figures data information otherwise noted stated indicated where value values"
)
"""Words of captions that do not identify rows."""


class _Declaration(NamedTuple):
    start: int
    end: int
    scale: float


def declared_scales(text: str) -> frozenset[float]:
    """Return the scales that `text` declares for figures around it: "(in millions)", "€m"."""
    return frozenset(found.scale for found in _declarations(text))


def is_caption(line: str) -> bool:
    """Return whether a line above figures declares their scale."""
    return bool(_declarations(line))


def scales_of_row(label: str, section: str, captions: Sequence[str]) -> frozenset[float] | None:
    """Return the scale of a row's bare figures: empty if unscaled, None if unknown.

    `captions` may declare it, the nearest first.
    """
    if _RATIO.search(label) or is_per_unit(label) or is_per_unit(section):
        return frozenset()
    for caption in captions:
        if found := _declarations(caption):
            return _for_label(found, caption, f"{label} {section}")
    return None


def _declarations(text: str) -> list[_Declaration]:
    return [_Declaration(match.start(), match.end(), _scale(match)) for match in _DECLARED.finditer(text)]


def _scale(match: re.Match[str]) -> float:
    kind = match.lastgroup or ""
    word = match[kind].casefold()
    if "000" in word:
        return _THOUSAND
    return BEFORE_CURRENCY[word] if kind == "before" else (SCALE_WORDS | BEHIND_CURRENCY)[word]


def is_per_unit(name: str) -> bool:
    """Return whether a row is per unit: "Earnings per share", not "Shares used to compute earnings per share"."""
    match = _PER_UNIT.search(name)
    before = name[: match.start()] if match else ""
    return match is not None and "share" not in before.casefold() and not _EXCEPT.search(before)


def _for_label(found: Sequence[_Declaration], caption: str, label: str) -> frozenset[float]:
    """Return the caption's scale for a row label, with exceptions such as "except shares in thousands"."""
    keys = analyze(label).content_keys
    first, *others = found
    start = first.end
    for other in others:
        if _exception_keys(caption[start : other.start]) & keys:
            return frozenset({other.scale})
        start = other.end
    exception = _EXCEPT.search(caption, start)
    if exception and _exception_keys(caption[exception.end() :]) & keys:
        return frozenset()
    return frozenset({first.scale})


def _exception_keys(words: str) -> frozenset[str]:
    content = analyze(_PER_UNIT.sub(" ", words)).content
    return frozenset(word.key for word in content if word.text.casefold() not in _NO_NAMES)
