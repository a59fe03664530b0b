"""Collect the values in a document that a field may have, with what speaks for each."""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from rag import types
from rag.answering.extraction.candidates import is_clause_title, scaled_logit
from rag.answering.extraction.question_intent import PRECISE, Kind, ParsedQuestion, parse_question
from rag.answering.field_values import Value, parse_unit, same, values_in
from rag.answering.fields.agreement import read_answer
from rag.answering.fields.defined_terms import DefinedTerm, defined_terms, name_before
from rag.answering.fields.document_units import DocumentUnits, FieldUnit
from rag.answering.fields.text_spans import Likeness, has_form, likeness, spans
from rag.answering.passages.statements import words_at
from rag.answering.passages.table_text import scales_of_row
from rag.answering.text import term_weights
from rag.answering.text.numbers import Scales, find_numbers, readings
from rag.retrieval import Reranker
from rag.types import FieldDefinition
from rag.vocabulary import Figure, find_figure, is_labelled, years

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

TITLE_WORDS = 12
"""Words of a title; shorter ones are less likely one."""

_RESIDUAL = {"other", "others", "none", "unknown", "sonstige", "andere"}
"""Choices that no words state."""

SPAN_LOGIT = 20.0
"""How far the reader's logits of words are below those of the best ones, about, if they are no answer."""

SPANS = 16
"""Values per unit."""

PROVED = 16
"""Values whose words are proved by the model that judges claims."""

NEAR_CHARS = 60
"""Characters around a value in which words of the field are near."""


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


class ValueCandidate(NamedTuple):
    """A value with the unit that states it, the cell of its row, and what speaks for it."""

    place: FieldUnit
    value: Value
    features: Features
    cell: int | None = None


class AskedField(NamedTuple):
    """A field, the question that its name and instruction are, the words of its name, and where it is looked for."""

    field: FieldDefinition
    question: ParsedQuestion
    name: tuple[str, ...]
    document: DocumentUnits

    @property
    def is_title(self) -> bool:
        """Whether it is the title of the document, which is told by its letters, not by what it says."""
        return self.field.type == "text" and self.question.kind is Kind.TITLE

    @property
    def is_precise(self) -> bool:
        """Whether a text field asks for one word of a certain form: an address of the net, a code."""
        example = self.field.example or ""
        is_code = len(example.split()) == 1 and any(map(str.isdigit, example))
        return self.field.type == "text" and (self.question.kind in PRECISE or is_code)


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
                _of_value(
                    asked,
                    _Stated(unit, value, place, cell, [one for one, _ in values]),
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
    subjects = {_plain(one) for one in (*document.subject.names, document.title or "")}
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
            defined=max((_closeness_of(asked, term.term) for term in defined_terms(unit.text)), default=0.0),
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
        if field.type == "text" and _plain(unit.text) in subjects:
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
    return _closeness_of(asked, label)


def _closeness_of(asked: AskedField, label: str) -> float:
    """Return how close a label is to the field's name, or to another way to say it (F1 of words by rarity)."""
    words = frozenset(term_weights.content_words(label))
    best = 0.0
    for phrase in (asked.name, asked.question.words, *asked.question.also):
        document = asked.document
        recall, precision = document.covered(phrase, words), document.covered([*words], frozenset(phrase))
        best = max(best, 2 * recall * precision / (recall + precision) if recall + precision else 0.0)
    return best


def _defining(asked: AskedField, unit: FieldUnit, value: Value) -> float:
    """Return how close the term is to the field's name that the unit defines by the value."""
    best = 0.0
    for term in defined_terms(unit.text):
        if not term.start <= value.start <= value.end <= term.end:
            continue
        if asked.field.type == "text":
            is_it = (value.start, value.end) == _defined_text(unit.text, term)
        else:  # the last figure before a term in brackets, the first one behind a term that begins a definition
            between = (value.end, term.end) if term.is_behind else (term.start, value.start)
            is_it = not any(map(str.isdigit, unit.text[slice(*between)]))
        if is_it:
            best = max(best, _closeness_of(asked, term.term))
    return best


def _defined_text(text: str, term: DefinedTerm) -> types.Span | None:
    """Return what a term stands for: the name before it, or the words that follow it."""
    if term.is_behind:
        return name_before(text, term.start, term.end)
    words = text[term.start : term.end]
    start = term.start + len(words) - len(words.lstrip(" :"))
    return types.Span(start, term.start + len(words.rstrip(" .;"))) if words.strip(" :.;") else None


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
        defined = [_defined_text(text, term) for term in defined_terms(text)]
        for span in dict.fromkeys([*spans(text), *filter(None, defined)]):
            words = text[slice(*span)]
            if _plain(words) in asked.document.terms:  # "Tenant" is who somebody is called
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


_MOST, _LEAST = (
    re.compile(rf"\b(?:{names})", re.IGNORECASE)
    for names in (
        "max|highest|largest|greatest|upper|höchst|größt|ober",
        "min(?:im|\\b)|lowest|smallest|least|lower|niedrigst|kleinst|unter",
    )
)
"""What fields ask for the most or the least of several figures."""


_IN_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


# --- what speaks for a value ---


class _Stated(NamedTuple):
    """A value in a unit, its number there, its cell, and all values of the unit."""

    unit: FieldUnit
    value: Value
    place: int
    cell: int | None
    values: Sequence[Value]


def _of_value(asked: AskedField, stated: _Stated, shared: Features) -> Features:
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
        said = read_answer(_whether(field), unit.text).says
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


def _of_text(asked: AskedField, stated: _Stated, shared: Features, near: frozenset[str]) -> Features:
    document, (unit, value, place, *_) = asked.document, stated
    own = term_weights.content_words(value.words)
    known = {*asked.question.words, *asked.name}
    features = Features(
        order=1 / (1 + place),
        repeated=math.log(max(1, document.pages_with(value.words))),
        new=sum(word not in known for word in own) / max(1, len(own)),
        subject=float(_plain(value.words) in map(_plain, document.subject.names)),
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


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


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


_PREVIOUS = re.compile(
    r"\b(?:previous|prior|preceding)\s+(?:\w+\s+)?(?:year|period|quarter|month)|\b(?:vorjahr|vorperiode|vorquartal)",
    re.IGNORECASE,
)


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


def _counted(field: FieldDefinition, candidates: Sequence[ValueCandidate]) -> list[ValueCandidate]:
    """Add how often each value is stated, by different units."""
    if field.type in {"yes_no", "choice", "text"}:
        return [*candidates]
    kept: list[tuple[Value, set[int]]] = []
    groups: list[set[int]] = []
    for candidate in candidates:
        group = next((pages for value, pages in kept if _same(candidate.value, value, field)), None)
        if group is None:
            group = set()
            kept.append((candidate.value, group))
        group.add(candidate.place.unit.span.start + 100_000 * candidate.place.page)
        groups.append(group)
    return [
        candidate._replace(features=candidate.features._replace(repeated=math.log(len(group))))
        for candidate, group in zip(candidates, groups, strict=True)
    ]


def _same(one: Value, other: Value, field: FieldDefinition) -> bool:
    if one.value == other.value:
        return True
    return same(one, other, field.type)


def _whether(field: FieldDefinition) -> str:
    """Return the question of a yes/no field."""
    asked = re.match(r"[^?]+\?", field.instruction or field.name)
    return asked[0] if asked else f"Is there {field.name}?"


def query_of(field: FieldDefinition) -> str:
    """Return what is searched for: a field's name and its instruction."""
    return f"{field.name}: {field.instruction}" if field.instruction else field.name


_ASKING = re.compile(r"\s*(?:do|does|did|is|are|was|were|has|have|can|may|will)\s+(?=\w)", re.IGNORECASE)


def claim(field: FieldDefinition, value: Value) -> str:
    """Return the statement that a field has a value."""
    if field.type == "yes_no":
        asked = _whether(field)
        verb = _ASKING.match(asked)
        said = asked[verb.end() if verb else 0 :].rstrip("? ")
        return f"{said}." if value.value else f"It is not the case that {said}."
    words = str(value.value) if field.type == "choice" else value.words
    return f"{field.name}: {words}."


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
