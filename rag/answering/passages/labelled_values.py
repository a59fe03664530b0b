"""Find terms that a text defines, and values with a label below or beside them, which read alone say nothing.

Forms and cover pages put several such pairs side by side: "Delaware 12-3456789" over "(State of incorporation) (Tax
number)".
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.passages.quotable_units import Cell, Placed, Unit, placed_lines, trim_line
from rag.answering.passages.table_text import is_caption

DEFINES = (
    r"\s*+[”\"“’']?\s*+(?:\([^()]*\)\s*+)?,?\s*+(?:(?:shall\s+|will\s+)?means?\b|(?:is|are)\s+defined\s+(?:as|to)\b"
    r"|(?:shall\s+)?(?:have|has)\s+the\s+meaning\b"
    r"(?!\s+(?:set|given|ascribed|assigned|specified|provided|defined)\b)"
    r"|(?:shall\s+)?refers?\s+to\b|bezeichnet\b|bedeutet\b)"
)
"""Pattern of what follows a term where it is defined."""

_DEFINED = re.compile(rf"[“\"„](?P<term>[A-ZÄÖÜ][\w’'&-]*(?:\s+[\w’'&-]+){{0,3}})(?={DEFINES})")


def defined_terms(text: str) -> list[str]:
    """Return the terms in quotation marks that `text` defines, in order."""
    return list(dict.fromkeys(" ".join(match["term"].split()) for match in _DEFINED.finditer(text)))


MAX_VALUE_CHARS = 120
"""Maximum length of a line of values; longer ones are running text."""

MAX_ADDRESS_LINES = 3
"""Maximum number of lines of an address."""

_LABEL = re.compile(r"\((?P<label>[A-ZÄÖÜ][^()\t]*[^\W\d_][^()\t]*)(?P<end>\)|(?=[\t(])|$)\s*")
_RESTS = re.compile(r"(?:\s*+[^()\s][^()]{0,79}\))+\s*")
_BESIDE = re.compile(
    r"\s*(?:(?P<label>(?-i:[A-ZÄÖÜ])[^:\t()]{2,70}):\s+(?P<value>(?=\S)(?!.*://).{1,101}?)"
    r"|(?P<label_of_figure>(?-i:[A-ZÄÖÜ])[^:\t\d()]{2,70}\b(?:number|nummer|no\.?|nr\.?))\s+(?P<figure>(?=\S*\d)\S+?))\.?\s*",
    re.IGNORECASE,
)
"""A line that is a label and its value: "File number 0-1234". A link is where to read on, not a value."""
_OF_FIGURE = re.compile(r"\b(?:numbers?|nos?|id|codes?|nummer|nr|plz)\b", re.IGNORECASE)
_OF_PHONE = re.compile(r"\b(?:tele)?(?:phone|fon|fax)", re.IGNORECASE)
_OF_ADDRESS = re.compile(r"\b(?:address|anschrift|adresse)\b", re.IGNORECASE)
_RULE = re.compile(r"\W*")
_FIGURE = r"((?=\S*\d)\S+)"
_PHONE = r"((?:\+\d+\s+)?(?:\(\d+\)\s*)?(?=\S*\d)\S+)"


class Labelled(NamedTuple):
    """A value as a unit whose header is its label, and the whole label, which may go on in the next line."""

    unit: Unit
    label: str


def labelled_values(passage: types.Passage) -> Iterator[Labelled]:
    """Yield each value that stands above its label in brackets, or beside it on a line of their own."""
    text = passage.text
    placed = [one for one in placed_lines(passage) if one[1].text.strip()]
    for above, (index, (offset, line)) in zip([None, *placed], enumerate(placed), strict=False):
        if beside := _BESIDE.fullmatch(line.text):
            name = _span(offset, beside, "label", "label_of_figure")
            yield Labelled(_pair(text, _span(offset, beside, "value", "figure"), name), text[slice(*name)])
            continue
        labels = _labels(line.text)
        if above is None or not labels or is_caption(line.text) or above[1].page_number != line.page_number:
            continue
        names = _whole_labels(labels, placed[index + 1][1].text if index + 1 < len(placed) else "")
        for whole, label, value in zip(names, labels, _values(above, names), strict=True):
            if value is not None:
                span = _span(offset, label, "label")
                is_address = _OF_ADDRESS.search(whole) is not None
                yield Labelled(_pair(text, _address(placed[:index]) if is_address else value, span), whole)


def _labels(line: str) -> list[re.Match[str]]:
    """Return the labels of a line that consists of nothing else; the last of a column may go on below."""
    found, position = list[re.Match[str]](), len(line) - len(line.lstrip())
    while position < len(line):
        match = _LABEL.match(line, position)
        if match is None:
            return []
        found.append(match)
        position = match.end()
    return found


def _whole_labels(labels: Sequence[re.Match[str]], below: str) -> list[str]:
    """Return the labels with the rests of those that the next line closes."""
    rests = [rest.strip() for rest in re.split(r"\)\s*", below.strip())[:-1]] if _RESTS.fullmatch(below.strip()) else []
    if len(rests) != sum(not label["end"] for label in labels):
        return [label["label"] for label in labels]
    left = iter(rests)
    return [label["label"] if label["end"] else f"{label['label'].rstrip()} {next(left)}" for label in labels]


def _values(above: Placed, names: Sequence[str]) -> list[types.Span | None]:
    """Return the part of the line above for each label; none unless there is only one way to divide it."""
    offset, line = above
    nothing: list[types.Span | None] = [None] * len(names)
    if len(line.text) > MAX_VALUE_CHARS or line.text.rstrip()[-1:] in ".:;" or _RULE.fullmatch(line.text):
        return nothing
    if _labels(line.text) or is_caption(line.text):
        return nothing
    if len(names) == 1:
        return [trim_line(*above)]
    if line.text.strip().count("\t") == len(names) - 1:
        parts = [r"(\S(?:[^\t]*\S)?)"] * len(names)
        match = re.fullmatch(r"\s*" + r"[^\S\t]*\t\s*".join(parts) + r"\s*", line.text)
    else:
        parts = [_PHONE if _OF_PHONE.search(name) else _FIGURE if _OF_FIGURE.search(name) else "(.+)" for name in names]
        if any(one == other == "(.+)" for one, other in itertools.pairwise(parts)):
            return nothing
        match = re.fullmatch(r"\s*" + r"\s+".join(parts) + r"\s*", line.text)
    if match is None:
        return nothing
    return [types.Span(offset + match.start(number), offset + match.end(number)) for number in range(1, len(names) + 1)]


def _address(above: Sequence[Placed]) -> types.Span:
    last = trim_line(*above[-1])
    start = last.start
    for placed in reversed(above[-MAX_ADDRESS_LINES:-1]):
        line = placed[1].text.strip()
        is_other = (
            line[:1].islower()
            or line[-1:] in "):.;"
            or _RULE.fullmatch(line)
            or line.isupper()
            or len(line) > MAX_VALUE_CHARS
        )
        if is_other or placed[1].page_number != above[-1][1].page_number:
            break
        start = trim_line(*placed).start
    return types.Span(start, last.end)


def _span(offset: int, match: re.Match[str], *names: str) -> types.Span:
    name = next(name for name in names if match[name] is not None)
    return types.Span(offset + match.start(name), offset + match.end(name))


def _pair(text: str, value: types.Span, label: types.Span) -> Unit:
    label = types.Span(label.start, label.start + len(text[slice(*label)].rstrip()))
    return Unit(value, types.BlockKind.TABLE, header=label, label=label, cells=(Cell(value),))
