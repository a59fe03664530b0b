"""Whether the values of a field can both be right: of several documents, or of a document before and after a change."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.field_values import Value, same
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, Scales, is_month, is_same
from rag.answering.text.question_parts import asks_whether

_SAYS = re.compile(r"\W*(yes|no)\b(?!\s?\.\s?\d)", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\.?\s*$")


class Reading(NamedTuple):
    """The comparable content of a value: of text yes or no for a yes/no question, else its main figure."""

    says: bool | None = None
    figure: Number | None = None
    scales: Scales = None
    value: Value | None = None
    type: types.FieldType = "text"

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be compared."""
        return self.says is None and self.figure is None and self.value is None


def read_value(field: types.FieldDefinition, value: types.CellValue) -> Reading:
    """Read the comparable content of a field's value; records cannot be compared."""
    if field.type == "yes_no" and isinstance(value.value, bool):
        return Reading(says=value.value)
    if field.type == "text":
        return read_answer(field.question, value.words)
    return Reading() if isinstance(value.value, tuple) else Reading(value=_scalar(value, value.value), type=field.type)


def read_answer(question: str, answer: str) -> Reading:
    """Read the comparable content of `answer`; fields stay None where nothing can be told.

    A yes/no question without a literal yes or no is answered no if a negation governs one of its words, else yes.
    """
    if asks_whether(question):
        return Reading(says=_answers_yes(question, answer))
    return Reading(figure=_figure(answer), scales=declared_scales(answer) or None)


def agree(one: Reading, other: Reading) -> bool:
    """Return whether two values can both be right; those that cannot be compared agree."""
    if one.value is not None and other.value is not None:
        return same(one.value, other.value, one.type)
    if one.says is not None and other.says is not None:
        return one.says == other.says
    if one.figure is not None and other.figure is not None:
        return is_same(one.figure, other.figure, one.scales) or is_same(other.figure, one.figure, other.scales)
    return True


def same_value(one: types.CellValue, other: types.CellValue, kind: types.FieldType) -> bool:
    """Return whether two values are the same, as precisely as their words, with their units; records if equal."""
    if isinstance(one.value, tuple) or isinstance(other.value, tuple):
        return one.value == other.value
    return same(_scalar(one, one.value), _scalar(other, other.value), kind)


def _scalar(value: types.CellValue, scalar: types.Scalar) -> Value:
    return Value(scalar, value.unit, value.words, 0, 0)


def outliers(readings: Sequence[Reading]) -> set[int]:
    """Return the indexes of `readings` outside the largest agreeing group, or of all that differ if there is a tie."""
    groups: list[list[int]] = []
    for number, reading in enumerate(readings):
        if reading.is_empty:
            continue
        group = next((group for group in groups if agree(readings[group[0]], reading)), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    if len(groups) < 2:
        return set()
    most = max(map(len, groups))
    largest = [group for group in groups if len(group) == most]
    return {number for group in groups if len(largest) > 1 or group is not largest[0] for number in group}


def _answers_yes(question: str, answer: str) -> bool | None:
    if said := _SAYS.match(answer):
        return said[1].casefold() == "yes"
    asked, stated = Text(question), Text(answer)
    if asked.negated or not stated.words:
        return None
    return not any(set(governed) & asked.content_keys for governed in stated.negated)


def _figure(answer: str) -> Number | None:
    found = [number for number in Text(answer).numbers if number.year is None and not _is_day(answer, number)]
    return next((number for number in found if number.unit or number.scale), found[0] if found else None)


def _is_day(text: str, number: Number) -> bool:
    before = _LAST_WORD.search(text[: number.start])
    return before is not None and is_month(before[1].casefold())
