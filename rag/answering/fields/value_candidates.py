"""Collect the values in a document that a field may have, with what speaks for each."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from rag import types
from rag.answering.extraction.candidates import is_clause_title, scaled_logit
from rag.answering.extraction.question_intent import PRECISE, parse_question
from rag.answering.field_values import Value, parse_unit, same, values_in
from rag.answering.fields.asked_field import AskedField, claim, closeness_of, query_of
from rag.answering.fields.defined_terms import defined_terms
from rag.answering.fields.document_units import DocumentUnits, FieldUnit
from rag.answering.fields.text_spans import has_form, letters_and_digits, spans, without_article
from rag.answering.fields.value_features import Features, Stated, defined_text, value_features
from rag.answering.passages.statements import words_at
from rag.answering.passages.table_text import scales_of_row
from rag.answering.text import term_weights
from rag.answering.text.numbers import Scales
from rag.retrieval import Reranker
from rag.types import FieldDefinition
from rag.vocabulary import Figure, find_figure, is_labelled

UNITS = 20
"""Units per field that the cross-encoder reads."""

SEARCHED = 120
"""Units per field that are searched for values."""

READ = 10
"""Units per field that the reader reads."""

_OF_FRONT = {"text", "date", "choice"}
"""Types of fields that first pages tell."""

_SIGN = re.compile(r"[$€£¥%]")
"""What makes a figure in a label a value."""

_RESIDUAL = {"other", "others", "none", "unknown", "sonstige", "andere"}
"""Choices that no words state."""

SPAN_LOGIT = 20.0
"""How far the reader's logits of words are below those of the best ones, about, if they are no answer."""

SPANS = 16
"""Values per unit."""

PROVED = 16
"""Values whose words are proved by the model that judges claims."""


class Prover(Protocol):
    """Tells how likely claims are proved."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability that the evidence proves the claim, of each pair of both."""
        ...


class SpanReader(Protocol):
    """Tells how likely texts, and parts of them, answer a question."""

    def read(self, query: str, texts: Sequence[tuple[str, Sequence[types.Span]]]) -> list[types.SpanScores]:
        """Return the scores of each text and of its spans."""
        ...


class Judges(NamedTuple):
    """The models that compare a unit with a field: by relevance, as an answer, and as a proof of a value."""

    reranker: Reranker
    reader: SpanReader
    entailment: Prover


class ValueCandidate(NamedTuple):
    """A value with the unit that states it, the cell of its row, and what speaks for it."""

    place: FieldUnit
    value: Value
    features: Features
    cell: int | None = None


def collect_values(
    field: FieldDefinition,
    document: DocumentUnits,
    found_for: types.SearchResponse,
    rewritings: Sequence[types.Rewriting],
    judges: Judges,
) -> list[ValueCandidate]:
    """Return the values of the field's type in the units that are closest to its name and instruction."""
    question = parse_question(query_of(field), rewritings)
    asked = AskedField(field, question, tuple(term_weights.content_words(field.name)), document)
    holding = (
        (unit, features, values)
        for unit, features in itertools.islice(_preselect(asked, found_for.results), SEARCHED)
        if (values := [*itertools.islice(_values(asked, unit), SPANS)])
    )
    found = [*itertools.islice(holding, UNITS)]
    if not found:
        return []
    relevant = [
        scaled_logit(score) for score in judges.reranker.scores(question.text, [unit.context for unit, *_ in found])
    ]
    order = sorted(range(len(found)), key=lambda number: relevant[number] + found[number][1].found, reverse=True)
    read = order[:READ]
    texts = [
        (found[number][0].text, [types.Span(value.start, value.end) for value, _ in found[number][2]])
        for number in read
    ]
    answering = dict(zip(read, judges.reader.read(question.text, texts), strict=True))
    least = min(scaled_logit(one.score) for one in answering.values())
    candidates = []
    for number in order:
        unit, features, values = found[number]
        reading = answering.get(number)
        shared = features._replace(
            relevance=relevant[number], answers=scaled_logit(reading.score) if reading else least
        )
        spans_read = [max(-1.0, logit / SPAN_LOGIT) for logit in reading.spans] if reading else [-1.0] * len(values)
        candidates += [
            ValueCandidate(
                unit,
                value,
                value_features(
                    asked,
                    Stated(unit, value, place, cell, [one for one, _ in values]),
                    shared._replace(span=spans_read[place]),
                ),
                cell,
            )
            for place, (value, cell) in enumerate(values)
        ]
    return _proved(asked, _counted(field, candidates), judges)


# --- units ---


def _preselect(asked: AskedField, hits: Sequence[types.Hit]) -> Iterator[tuple[FieldUnit, Features]]:
    """Yield the units with their cheap features, sentences and rows by turns, the closest to the field first."""
    field, document, name, phrases = asked.field, asked.document, asked.name, asked.question.also
    pages: dict[int, tuple[float, int]] = {}
    chunks = {(line.page_number, line.number) for hit in hits for line in hit.chunk.lines}
    for rank, hit in enumerate(hits, 1):
        for page in hit.chunk.pages:
            pages.setdefault(page, (hit.final_score, rank))
    figure = find_figure(field.name)
    own = document.statements.get(figure.place or "", ()) if figure else ()
    subjects = {letters_and_digits(one) for one in (*document.subject.names, document.title or "")}
    measured = []
    for unit in document.units:
        score, rank = pages.get(unit.page, (0.0, 0))
        first = unit.hit.passage.lines_of(*unit.unit.span)[0]
        named = max(
            [document.covered(name, unit.words), *(0.9 * document.covered(phrase, unit.words) for phrase in phrases)]
        )
        features = Features(
            named=named,
            covered=document.covered(asked.question.words, unit.words),
            label=_label(asked, figure, unit),
            defined=max((closeness_of(asked, term.term) for term in defined_terms(unit.text)), default=0.0),
            found=score if (first.page_number, first.number) in chunks else 0.7 * score,
            rank=1 / rank if rank else 0.0,
            own=float(unit.page in own) if own else 0.5,
            front=1 / unit.page,
            back=1 / (1 + document.last_page - unit.page),
            title=float(unit.page == 1 and unit.size > 1.2) * min(unit.size, 2.0),
        )
        closeness = (
            features.named + features.covered + features.label + features.defined + 1.5 * features.found
            + 0.5 * features.own + (0.8 if field.type in _OF_FRONT else 0.2) * features.front
            + 0.3 * (features.back + features.title)
        )  # fmt: skip
        if field.type == "text" and letters_and_digits(unit.text) in subjects:
            closeness += 0.5
        measured.append((closeness, unit, features))
    measured.sort(key=lambda one: -one[0])
    rows = (one for one in measured if one[1].unit.cells)
    prose = (one for one in measured if not one[1].unit.cells)
    for pair in itertools.zip_longest(prose, rows):  # the rows of a large table would leave no room for sentences
        yield from ((unit, features) for _, unit, features in filter(None, pair))


def _label(asked: AskedField, figure: Figure | None, unit: FieldUnit) -> float:
    """Return how well the label of a row or value fits the field's name, or the line item that it is."""
    label = unit.label
    if not label:
        return 0.0
    if figure and (place := is_labelled(figure, label)) is not None:
        return 1.2 - 0.02 * place
    return closeness_of(asked, label)


# --- values of a unit ---


def _values(asked: AskedField, unit: FieldUnit) -> Iterator[tuple[Value, int | None]]:
    """Yield the values of the field's type in a unit, placed in its text, with the cell that states it."""
    field = asked.field
    if unit.unit.kind is not types.BlockKind.HEADING and not unit.row and is_clause_title(unit.text):
        return
    if field.type == "text":
        is_labelled_value = unit.unit.label is not None and unit.unit.header == unit.unit.label
        if unit.row and not is_labelled_value:
            return
        text = words_at(unit.hit.passage.text, unit.unit.span) if is_labelled_value else unit.text
        defined = [defined_text(text, term) for term in defined_terms(text)]
        for span in dict.fromkeys([*spans(text), *filter(None, defined)]):
            words = text[slice(*span)]
            if not asked.is_title and without_article(words) in asked.document.terms:  # "Tenant" is no name
                continue
            is_whole = span.end - span.start > 0.9 * len(text)
            is_of_form = not asked.is_precise or _is_of_form(asked, words)
            if is_of_form and (is_whole or not asked.is_title):
                yield _moved(Value(words, None, words, *span), unit.text.find(text)), None
        return
    if field.type in {"yes_no", "choice"} and unit.unit.is_boilerplate:
        return
    if field.type == "yes_no":
        yield from ((Value(says, None, unit.text, 0, len(unit.text)), None) for says in (True, False))
        return
    if field.type == "choice":
        yield from (
            (Value(choice, None, unit.text, 0, len(unit.text)), None)
            for choice in field.choices
            if choice.casefold() not in _RESIDUAL
        )
        return
    row = unit.row
    if row is None or field.type in {"date", "period"}:
        text = unit.text
        yield from ((value, None) for value in values_in(text, field.type, unit=field.unit))
        return
    scales = _scales(unit, row, asked.document, is_money=parse_unit(field.unit or "").currency is not None)
    if _SIGN.search(row.label):  # "Dividends ($1.04 per share)"
        yield from ((value, None) for value in values_in(row.label, field.type, unit=field.unit))
    place = len(row.label)
    for number, cell in enumerate(row.cells):
        place = max(unit.text.find(cell, place), place)
        for value in values_in(cell, field.type, unit=field.unit, scales=scales):
            yield _moved(value, place), number
        place += len(cell)


def _moved(value: Value, offset: int) -> Value:
    """Return a value that was found in a part of a text with its place in the whole."""
    return value._replace(start=value.start + max(0, offset), end=value.end + max(0, offset))


def _scales(unit: FieldUnit, row: types.QuotedRow, document: DocumentUnits, *, is_money: bool) -> Scales:
    text, own = unit.hit.passage.text, unit.unit
    captions = [text[slice(*span)] for span in (own.caption, own.header) if span]
    above = [words for start, words in document.captions(unit.hit) if is_money and start < own.span.start]
    section = text[slice(*own.section)] if own.section else ""
    return scales_of_row(row.label, section, [row.caption or "", *captions, *reversed(above)])


def _is_of_form(asked: AskedField, words: str) -> bool:
    if len(words.split()) > 1:
        return False
    question, example = asked.question, asked.field.example or ""
    return question.holds_kind(words) if question.kind in PRECISE else has_form(words, example)


def _counted(field: FieldDefinition, candidates: Sequence[ValueCandidate]) -> list[ValueCandidate]:
    """Add how often each value is stated, by different units."""
    if field.type in {"yes_no", "choice", "text"}:
        return [*candidates]
    kept: list[tuple[Value, set[int]]] = []
    groups: list[set[int]] = []
    for candidate in candidates:
        group = next((pages for value, pages in kept if same(candidate.value, value, field.type)), None)
        if group is None:
            group = set()
            kept.append((candidate.value, group))
        group.add(candidate.place.unit.span.start + 100_000 * candidate.place.page)
        groups.append(group)
    return [
        candidate._replace(features=candidate.features._replace(repeated=math.log(len(group))))
        for candidate, group in zip(candidates, groups, strict=True)
    ]


def _closeness(one: Features) -> float:
    return sum(
        (
            one.relevance,
            one.label,
            one.unit,
            one.near,
            one.period,
            one.characters,
            one.length,
            one.form,
            one.new,
            one.own,
            one.kind,
            2 * one.title,
            one.defined,
            one.extreme,
        )
    )


def _evidence(field: FieldDefinition, candidate: ValueCandidate) -> str:
    """Return what may prove a value: a unit in its context, of a row only the cell."""
    place, row = candidate.place, candidate.place.row
    if field.type == "yes_no":
        return place.text
    if row is None or candidate.cell is None:
        return place.context
    above = place.context.removesuffix(place.text)
    column = row.columns[candidate.cell]
    return f"{above}{row.label}{f', {column}' if column else ''}: {row.cells[candidate.cell]} {row.caption or ''}"


def _proved(asked: AskedField, candidates: Sequence[ValueCandidate], judges: Judges) -> list[ValueCandidate]:
    """Add how far each unit proves the statement that the field has the value."""
    field = asked.field
    if asked.is_title:
        return [*candidates]
    count = PROVED if field.type not in {"choice", "yes_no"} else len(field.choices) * 3 or 12
    if field.type not in {"choice", "yes_no"}:
        candidates = sorted(candidates, key=lambda one: -_closeness(one.features))
    read = candidates[:count]
    scores = judges.entailment.probabilities([(_evidence(field, one), claim(field, one.value)) for one in read])
    proofs = [*map(scaled_logit, scores)]
    proofs += [min(proofs, default=0.0)] * (len(candidates) - len(read))
    denials = [0.0] * len(candidates)
    if field.type == "yes_no":  # the two values of a unit deny one another
        denials = [proofs[number ^ 1] for number in range(len(candidates))]
    return [
        one._replace(features=one.features._replace(proved=proof, denied=denial))
        for one, proof, denial in zip(candidates, proofs, denials, strict=True)
    ]
