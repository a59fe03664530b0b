"""Collect the evidence for a claim that words did not prove: the best sentences of the passages it cites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.answering.text.analyzed_text import analyze
from rag.answering.text.clauses import refers_back
from rag.answering.verification.entailment import UNRELATED, Judgement
from rag.answering.verification.missing_facts import missing_facts
from rag.answering.verification.quote_matching import QuotablePassage, Quote
from rag.types import BlockKind, Span, Support

MAX_EVIDENCE_CHARS = 1400
"""Limit of the evidence, about 300 tokens: the entailment model's time grows with it."""


class Place(NamedTuple):
    """A sentence of a source."""

    citation_id: str
    span: Span
    text: str


@dataclass(frozen=True)
class OpenClaim:
    """A claim that words did not prove.

    `places` are the sentences of its sources that may prove it, in reading order; `before` is the sentence of the
    answer before it, if that is proved and the claim refers back to it. `vetoes` are facts that speak against it.
    `replaced` are its words that stand where the evidence has others, `has_other_words` is whether the evidence lacks
    words of it, `is_contradicted` whether its words contradict the evidence.
    """

    text: str
    places: tuple[Place, ...]
    before: str = ""
    vetoes: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    has_other_words: bool = True
    is_contradicted: bool = False

    @property
    def evidence(self) -> str:
        """The sentences as one text."""
        return " ".join(filter(None, [self.before, *(place.text for place in self.places)]))


def open_claim(
    claim: str,
    passages: Mapping[str, QuotablePassage],
    quotes: Mapping[str, Sequence[Quote]],
    *,
    judgement: Judgement = UNRELATED,
    before: str = "",
) -> OpenClaim:
    """Return `claim` with its evidence from the cited `passages`, the sentences of the `quotes` first.

    `judgement` is that of the comparison of words, `before` the proved sentence before it.
    """
    chosen = {
        citation_id: _closest_spans(claim, passage, quotes.get(citation_id, ()), MAX_EVIDENCE_CHARS // len(passages))
        for citation_id, passage in passages.items()
    }
    places = tuple(
        Place(citation_id, span, passages[citation_id].read(span))
        for citation_id, spans in chosen.items()
        for span in spans
    )
    evidence = [piece for place in places for piece in passages[place.citation_id].evidence(place.span)]
    before = before if refers_back(claim) else ""
    around = [before, *(text for passage in passages.values() for text in (passage.text, *passage.titles))]
    known = frozenset[str]().union(*(analyze(text).keys for text in (before, *(place.text for place in places))))
    return OpenClaim(
        claim,
        places,
        before,
        tuple(dict.fromkeys([*judgement.vetoes, *missing_facts(claim, evidence, around)])),
        judgement.replaced,
        has_other_words=not analyze(claim).content_keys <= known,
        is_contradicted=judgement.support is Support.CONTRADICTED,
    )


def _closest_spans(claim: str, passage: QuotablePassage, quotes: Sequence[Quote], most: int) -> list[Span]:
    """Return the sentences nearest to the claim, in reading order, with the sentence before one that refers back.

    Table rows have figures without a sentence around them: what they prove is decided by words and columns.
    """
    has_figures = bool(analyze(claim).numbers)
    units = [unit.span for unit in passage.units if not (has_figures and unit.kind is BlockKind.TABLE)]
    quoted = [span for quote in quotes for span in passage.units_at(quote.span)]
    chosen: set[Span] = set()
    size = 0
    for span in dict.fromkeys([*quoted, *passage.likely_spans(claim), *units]):
        if span not in units or size + len(passage.read(span)) > most:
            continue
        chosen.add(span)
        size += len(passage.read(span))
        index = units.index(span)
        if index and refers_back(passage.read(span)) and units[index - 1] not in chosen:
            chosen.add(units[index - 1])
            size += len(passage.read(units[index - 1]))
    return sorted(chosen)
