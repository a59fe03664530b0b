"""What speaks for a value that a document states: how its unit, its words and its figures fit the field."""

import functools
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.field_values import Value, parse_unit
from rag.answering.fields.agreement import read_answer
from rag.answering.fields.asked_field import AskedField, closeness_of, query_of, whether
from rag.answering.fields.defined_terms import DefinedTerm, defined_terms, name_before
from rag.answering.fields.document_units import FieldUnit
from rag.answering.fields.text_spans import Likeness, letters_and_digits, likeness
from rag.answering.text import term_weights
from rag.answering.text.numbers import find_numbers, readings
from rag.types import FieldDefinition
from rag.vocabulary import years

NEAR_CHARS = 60
"""Characters around a value in which words of the field are near."""

TITLE_WORDS = 12
"""Words of a title; shorter ones are less likely one."""

_IN_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

_MOST, _LEAST = (
    re.compile(rf"\b(?:{names})\b", re.IGNORECASE)
    for names in (
        r"max(?:im(?:um|al\w*))?|highest|largest|greatest|höchst\w*|größte[rsn]?|obergrenze",
        r"min(?:im(?:um|al\w*))?|lowest|smallest|least|niedrigste[rsn]?|kleinste[rsn]?|untergrenze",
    )
)
"""What fields ask for the most or the least of several figures."""

_PREVIOUS = re.compile(
    r"\b(?:previous|prior|preceding)\s+(?:\w+\s+)?(?:year|period|quarter|month)|\b(?:vorjahr|vorperiode|vorquartal)",
    re.IGNORECASE,
)


class Features(NamedTuple):
    """What speaks for a value; all are about 0 to 1, scores of models are logits from -1 to 1.

    Of its unit: `relevance` is the cross-encoder's score, `answers` the reader's, `named` and `covered` the shares of
    the words of the field's name, and of its instruction, that it has, `label` how the label of its row fits, `found`
    and `rank` how its page was found, `own` whether the document's own statement has it, `front` and `back` how near
    it is to the first and the last page. Of the value: `proved` is how far its unit proves it, `denied` the opposite,
    `unit` whether it is in the unit asked for, `size` whether it is of the size of the example, `near` whether words
    of the field stand beside it, `order` its place among the values of its unit, `repeated` in how many places it
    stands, `period` whether it is of the latest period, or the document's own, `cell` whether it is one of a table,
    `characters`, `length` and `form` how like the example it is, `new` whether it says more than the field, `subject`
    whether it names whom the document is about, `title` the size of its letters, `kind` whether it is of the precise
    kind asked for, or a choice that is named, `negated` whether negations agree with it, `is_yes` whether it is a yes,
    `defined` how close the term is that it defines, `extreme` whether
    it is the largest or smallest of its unit where that is asked for, and `span` how near the reader's score of its
    words is to the one of the best words of its unit.
    """

    relevance: float = 0.0
    answers: float = 0.0
    proved: float = 0.0
    named: float = 0.0
    covered: float = 0.0
    label: float = 0.0
    found: float = 0.0
    rank: float = 0.0
    unit: float = 0.0
    near: float = 0.0
    order: float = 0.0
    repeated: float = 0.0
    own: float = 0.0
    period: float = 0.0
    front: float = 0.0
    back: float = 0.0
    characters: float = 0.0
    length: float = 0.0
    form: float = 0.0
    new: float = 0.0
    subject: float = 0.0
    title: float = 0.0
    kind: float = 0.0
    negated: float = 0.0
    is_yes: float = 0.0
    denied: float = 0.0
    size: float = 0.0
    cell: float = 0.0
    defined: float = 0.0
    extreme: float = 0.0
    span: float = 0.0


class Stated(NamedTuple):
    """A value in a unit, its number there, its cell, and all values of the unit."""

    unit: FieldUnit
    value: Value
    place: int
    cell: int | None
    values: Sequence[Value]


def value_features(asked: AskedField, stated: Stated, shared: Features) -> Features:
    """Return what speaks for a value beside what speaks for its unit."""
    field, document, (unit, value, place, cell, values) = asked.field, asked.document, stated
    around = unit.text[max(0, value.start - NEAR_CHARS) : value.start] + unit.text[value.end : value.end + NEAR_CHARS]
    near = frozenset(term_weights.words(around))
    if field.type == "text":
        return _of_text(asked, stated, shared, near)
    if field.type == "choice":
        words = frozenset(term_weights.content_words(unit.text))
        return shared._replace(
            defined=0.0, span=0.0, kind=document.covered(term_weights.content_words(str(value.value)), words)
        )
    if field.type == "yes_no":
        said = read_answer(whether(field), unit.text).says
        return shared._replace(
            defined=0.0, negated=0.5 if said is None else float(said is value.value), is_yes=float(bool(value.value))
        )
    period = _period_fit(asked, unit, cell)
    features = shared._replace(
        defined=_defining(asked, unit, value),
        extreme=_extreme_fit(field, value, values),
        order=period if cell is not None else 1 / (1 + place),
        near=max(document.covered(asked.name, near), document.covered(asked.question.words, near)),
        unit=_unit_fit(field, value),
        period=period,
        cell=float(cell is not None),
        size=_size_fit(field, value),
    )
    if field.type == "date":
        told = _years(document.subject.period or "")
        is_own = float(str(value.value)[:4] in map(str, told)) if told else 0.5
        features = features._replace(length=str(value.value).count("-") / 2, period=is_own)
    return features


def _of_text(asked: AskedField, stated: Stated, shared: Features, near: frozenset[str]) -> Features:
    document, (unit, value, place, *_) = asked.document, stated
    own = term_weights.content_words(value.words)
    known = {*asked.question.words, *asked.name}
    features = Features(
        order=1 / (1 + place),
        repeated=math.log(max(1, document.pages_with(value.words))),
        new=sum(word not in known for word in own) / max(1, len(own)),
        subject=float(letters_and_digits(value.words) in map(letters_and_digits, document.subject.names)),
        defined=_defining(asked, unit, value),
        front=shared.front,
        back=shared.back,
    )
    if asked.is_title:
        words = min(len(value.words.split()), TITLE_WORDS) / TITLE_WORDS
        largest = (unit.size / document.largest) ** 2 if unit.page == 1 else 0.0
        return features._replace(title=3 * largest, length=words)
    like = likeness(value.words, asked.field.example) if asked.field.example else Likeness(0.0, 0.0, 0.0)
    covered = document.covered
    return shared._replace(
        **{name: getattr(features, name) for name in ("order", "repeated", "new", "subject", "defined")},
        near=max(covered(asked.name, near), covered(asked.question.words, near)),
        characters=like.characters,
        length=like.length,
        form=like.form,
        title=0.0,
        kind=float(asked.is_precise),
    )


def _defining(asked: AskedField, unit: FieldUnit, value: Value) -> float:
    """Return how close the term is to the field's name that the unit defines by the value."""
    best = 0.0
    for term in defined_terms(unit.text):
        if not term.start <= value.start <= value.end <= term.end:
            continue
        if asked.field.type == "text":
            is_it = (value.start, value.end) == defined_text(unit.text, term)
        else:  # the last figure before a term in brackets, the first one behind a term that begins a definition
            between = (value.end, term.end) if term.is_behind else (term.start, value.start)
            is_it = not any(map(str.isdigit, unit.text[slice(*between)]))
        if is_it:
            best = max(best, closeness_of(asked, term.term))
    return best


def defined_text(text: str, term: DefinedTerm) -> types.Span | None:
    """Return what a term stands for: the name before it, or the words that follow it."""
    if term.is_behind:
        return name_before(text, term.start, term.end)
    words = text[term.start : term.end]
    start = term.start + len(words) - len(words.lstrip(" :"))
    return types.Span(start, term.start + len(words.rstrip(" .;"))) if words.strip(" :.;") else None


def _unit_fit(field: FieldDefinition, value: Value) -> float:
    """Return whether a value is in the unit asked for: 1 if so, 0.5 if it has none, 0 if in another."""
    if not field.unit:
        return float(value.unit is None)
    asked, own = parse_unit(field.unit), parse_unit(value.unit or "")
    if value.unit is None:
        return 0.5
    names = asked.name.removesuffix("s"), own.name.removesuffix("s")
    if names[0] in _IN_DAYS and names[1] in _IN_DAYS:
        return 1.0 if names[0] == names[1] else 0.7 if _IN_DAYS[names[1]] > _IN_DAYS[names[0]] else 0.2
    return float((asked.currency, names[0]) == (own.currency, names[1]))


def _size_fit(field: FieldDefinition, value: Value) -> float:
    """Return how near a number is to the example, by orders of magnitude; 0.5 without an example."""
    examples = find_numbers(field.example or "")
    if not isinstance(value.value, float) or len(examples) != 1:
        return 0.5
    wanted, own = (parse_unit(unit or "").name.removesuffix("s") for unit in (field.unit, value.unit))
    is_time = wanted in _IN_DAYS and own in _IN_DAYS
    number = value.value * _IN_DAYS[own] / _IN_DAYS[wanted] if is_time else value.value
    example, _ = next(readings(examples[0]))
    if not number or not example:
        return 0.0
    return max(0.0, 1 - abs(math.log10(abs(number) / abs(example))) / 5)


def _extreme_fit(field: FieldDefinition, value: Value, values: Sequence[Value]) -> float:
    """Return whether the field asks for the most, or the least, of the values of a unit, and it is that."""
    wanted = _MOST.search(field.name) or _LEAST.search(field.name)
    figures = [one.value for one in values if isinstance(one.value, float) and one.unit == value.unit]
    if not wanted or len(figures) < 2:
        return 0.0
    return 1.0 if value.value == (max if _MOST.search(field.name) else min)(figures) else -1.0


def _period_fit(asked: AskedField, unit: FieldUnit, cell: int | None) -> float:
    """Return whether a cell is of the latest period, or of the one before if that is asked for.

    1 if so, 0 if of another, 0.5 if that cannot be told.
    """
    if cell is None:
        return 0.5
    back = 1 if _PREVIOUS.search(query_of(asked.field)) else 0
    row = unit.row
    columns = [*(_years(cell.column) for cell in unit.unit.cells)]
    if row is None or cell >= len(columns):
        return 0.5
    known = [max(found) for found in columns if found]
    if len(known) < len(columns) or not known:
        order = _order_of_years(unit)
        if order and len(order) == len(columns):
            return float(order[cell] == _latest(order, back))
        return 0.6 if cell == back else 0.4
    latest = _latest(known, back)
    is_latest = columns[cell] and max(columns[cell]) == latest
    return float(bool(is_latest)) - 0.1 * (known.count(latest) > 1 and [max(c) for c in columns].index(latest) != cell)


def _latest(years: Sequence[int], back: int) -> int:
    known = sorted({*years})
    return known[-1 - back] if back < len(known) else known[-1]


@functools.lru_cache(maxsize=4096)
def _years(words: str) -> tuple[int, ...]:
    return tuple(years(words))


def _order_of_years(unit: FieldUnit) -> list[int]:
    """Return the years of the nearest line above that names several."""
    above = unit.hit.passage.text[: unit.unit.span.start].split("\n")
    for line in reversed(above[-60:]):
        if len(found := _years(line)) > 1 and len(line) < 200:
            return [*found]
    return []
