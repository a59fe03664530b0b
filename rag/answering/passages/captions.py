"""Read the scale and currency that a caption declares for a table's bare figures."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag.answering.text.analyzed_text import analyze
from rag.answering.text.measurement_units import CODE, CURRENCY
from rag.answering.text.numbers import SCALES
from rag.answering.text.term_weights import word_set

_THOUSAND, _MILLION, _BILLION = 1e3, 1e6, 1e9
_WORDS = {word: scale for word, scale in SCALES.items() if word.isascii() and word not in {"hundred", "mil", "mille"}}
_WORDS |= {"miles": _THOUSAND, "tsd": _THOUSAND}
_BEHIND_CURRENCY = {"k": _THOUSAND, "m": _MILLION, "mm": _MILLION, "b": _BILLION}
_BEFORE_CURRENCY = {"k": _THOUSAND, "t": _THOUSAND, "m": _MILLION, "md": _BILLION}
"""Letters that are scales only beside a currency: "€m", "TEUR"."""

_WORD = rf"(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_THREE_ZEROS = r"(?:['’]000['’]?s?|000['’]?s|000)"
_ENDS = r"(?![\w-]|[.,]\d)"
_OF_MONEY = rf"\s*(?:of\s+|de\s+|d['’]\s?)?(?:{CURRENCY})"
_DECLARED = re.compile(
    rf"\b(?:in|en)\s+(?:(?:{CURRENCY})\s?)?(?P<behind_in>{_WORD}|{_THREE_ZEROS}){_ENDS}"
    rf"|(?:{CURRENCY})\s?(?:in\s+)?(?P<behind>{_WORD}|{'|'.join(_BEHIND_CURRENCY)}|{_THREE_ZEROS}){_ENDS}"
    rf"|\b(?:{CODE})(?P<joined>{'|'.join(_BEHIND_CURRENCY)}|mn|bn){_ENDS}"
    rf"|(?<!\w)(?P<before>{'|'.join(_BEFORE_CURRENCY)})\s?(?:[$€£]|{CODE})(?!\w|\s?\d)"
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
    return _BEFORE_CURRENCY[word] if kind == "before" else (_WORDS | _BEHIND_CURRENCY)[word]


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
