"""Check claims about "815, 795 and 782 warehouses in 2021, 2020 and 2019, respectively" against the pairs."""

import itertools
import re
from collections.abc import Iterator, Sequence

from rag.answering.text.analyzed_text import Text, analyze
from rag.answering.text.numbers import Number, is_day, is_same

_RESPECTIVELY = re.compile(r"\b(?:respectively|beziehungsweise|bzw|respectivement|respectivamente)\b", re.IGNORECASE)
_BETWEEN_LABELS = re.compile(r",\s*(?:and\s+)?|(?<!\s)\s+and\s+", re.IGNORECASE)


def is_paired(text: Text) -> bool:
    """Return whether the order of a text pairs its values with years or subjects."""
    return _RESPECTIVELY.search(text.text) is not None


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the years and subjects of the claim whose value in the source it leaves out or exchanges."""
    values = _values(own)
    said = _values(claim)
    if len(values) < 2 or not any(_has(value, said) for value in values):
        return []
    return [label for label, value in _pairs(own, values, claim) if not _has(value, said)]


def _pairs(own: Text, values: Sequence[Number], claim: Text) -> Iterator[tuple[str, Number]]:
    """Yield the labels that the claim names with their values."""
    years = [number for number in own.figures if number.year is not None]
    if len(years) == len(values):
        named = {number.year for number in claim.figures}
        yield from ((year.text, value) for year, value in zip(years, values, strict=True) if year.year in named)
        return
    labels = _labels(own, values)
    for index, (label, value) in enumerate(zip(labels, values, strict=False)):
        others = frozenset().union(*(other.content_keys for other in labels[:index] + labels[index + 1 :]))
        distinct = label.content_keys - others
        if distinct and distinct <= claim.content_keys:
            yield label.text.strip(), value


def _labels(own: Text, values: Sequence[Number]) -> list[Text]:
    """Return the subjects before a list of values, one for each; [] if they cannot be told apart."""
    gaps = [own.text[one.end : other.start] for one, other in itertools.pairwise(values)]
    if any(analyze(gap).content for gap in gaps):
        return []
    labels = [analyze(part) for part in _BETWEEN_LABELS.split(own.text[: values[0].start])]
    return labels[-len(values) :] if len(labels) >= len(values) else []


def _values(text: Text) -> list[Number]:
    """Return the figures that are neither years nor days of a month."""
    return [number for number in text.figures if number.year is None and not is_day(number, text.text)]


def _has(value: Number, said: Sequence[Number]) -> bool:
    return any(is_same(value, other, frozenset()) for other in said)
