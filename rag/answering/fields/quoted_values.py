"""Read a field without a language model: the likeliest value among those that the document states, or none."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.fields.confidence import Evidence, confidence
from rag.answering.fields.document_units import DocumentUnits
from rag.answering.fields.listed_records import read_records
from rag.answering.fields.value_candidates import Judges, ValueCandidate, collect_values
from rag.answering.fields.value_weights import ABSENT, REQUIRED, WEIGHTS
from rag.answering.verification.grounding import Grounder, Locate
from rag.messages import N_
from rag.types import FieldDefinition

NEEDS_MODEL = N_("Lists of records are read by a language model. Connect one in the settings, then fill again.")


RECORDS_LIKELIHOOD = 0.7
"""The share of lists that are right."""


class FoundFor(NamedTuple):
    """What a search for a field found, and how the vocabulary put it."""

    response: types.SearchResponse
    rewritings: Sequence[types.Rewriting]


class Tools(NamedTuple):
    """The models that judge units, and the lookup of words on a page."""

    judges: Judges
    locate: Locate


class Likelihoods(NamedTuple):
    """The likeliest candidate, the probability of its value, and that no value is stated."""

    best: ValueCandidate | None
    value: float
    absent: float


def read_quoted(
    field: FieldDefinition,
    document: DocumentUnits,
    found_for: FoundFor,
    tools: Tools,
) -> types.FoundField:
    """Return the likeliest value of a field that the document states, with the unit that states it, or not stated."""
    candidates = collect_values(field, document, found_for.response, found_for.rewritings, tools.judges)
    chosen = weigh(field, candidates)
    pages = tuple(
        sorted(
            {one.place.page for one in candidates}
            | {page for hit in found_for.response.results for page in hit.chunk.pages}
        )
    )
    if chosen.best is None or chosen.absent > chosen.value:
        evidence = Evidence(field.type, "not_stated", chosen.absent, by_model=False)
        return types.FoundField(
            state="not_stated", confidence=confidence(evidence), pages_read=pages, model=EXTRACTIVE_MODEL
        )
    place, value = chosen.best.place, chosen.best.value
    row = place.row
    if row is not None and chosen.best.cell is not None:
        row = row.model_copy(update={"asked": chosen.best.cell})
    cited = Grounder({"S1": place.hit}, locate=tools.locate).cite_unit(0, "S1", place.unit, row)
    quote = types.CellCitation(
        quote=cited.quote or place.text, page_number=place.page, page_label=cited.page_label, regions=cited.regions
    )
    evidence = Evidence(field.type, "found", chosen.value, by_model=False)
    return types.FoundField(
        state="found",
        value=value.value,
        unit=value.unit,
        words=value.words,
        citations=(quote,),
        confidence=confidence(evidence),
        pages_read=pages,
        model=EXTRACTIVE_MODEL,
    )


def read_listed(field: FieldDefinition, document: DocumentUnits, locate: Locate) -> types.FoundField:
    """Return the records of a field that the document lists, or failed where only a language model can read them."""
    found = read_records(field, document)
    if not found:
        return types.FoundField(state="failed", reason=NEEDS_MODEL)
    citations: dict[tuple[int, int], types.CellCitation] = {}
    for record in found:
        cited = Grounder({"S1": record.hit}, locate=locate).cite_unit(0, "S1", record.unit, None)
        page = record.hit.passage.lines_of(*record.unit.span)[0].page_number
        citations[page, record.unit.span.start] = types.CellCitation(
            quote=cited.quote or "", page_number=page, page_label=cited.page_label, regions=cited.regions
        )
    evidence = Evidence(field.type, "found", RECORDS_LIKELIHOOD, by_model=False)
    return types.FoundField(
        state="found",
        value=tuple({column.name: record.values.get(column.name) for column in field.columns} for record in found),
        words="; ".join(str(record.values[field.columns[0].name]) for record in found),
        citations=tuple(citations.values()),
        confidence=confidence(evidence),
        pages_read=tuple(sorted({page.chunk.main_page for page in document.pages})),
        model=EXTRACTIVE_MODEL,
    )


def weigh(field: FieldDefinition, candidates: Sequence[ValueCandidate]) -> Likelihoods:
    """Return the likeliest value: a conditional logit over the candidates and the alternative that none is right.

    Candidates with the same value add up.
    """
    weights = WEIGHTS[field.type]
    absent = ABSENT[field.type] + (REQUIRED[field.type] if field.required else 0.0)
    scores = [sum(map(float.__mul__, map(float, one.features), weights)) for one in candidates]
    most = max([absent, *scores])
    shares = [math.exp(score - most) for score in scores]
    total = sum(shares) + math.exp(absent - most)
    of_value: dict[object, float] = {}
    for one, share in zip(candidates, shares, strict=True):
        of_value[_key(one)] = of_value.get(_key(one), 0.0) + share / total
    if not candidates:
        return Likelihoods(None, 0.0, 1.0)
    likeliest = max(of_value, key=lambda key: of_value[key])
    best = max(range(len(candidates)), key=lambda number: (_key(candidates[number]) == likeliest, shares[number]))
    return Likelihoods(candidates[best], of_value[likeliest], math.exp(absent - most) / total)


def _key(candidate: ValueCandidate) -> object:
    value = candidate.value.value
    return value.casefold().strip(" .,") if isinstance(value, str) else value
