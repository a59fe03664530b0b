"""What could be an answer: the quotable units of what was found, each measured against the question."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rag.answering.extraction.question_intent import PRECISE, Asked, Kind
from rag.answering.passages.quotable_units import Unit, split_passage
from rag.answering.passages.statements import quoted_row, shown_text, words_at
from rag.answering.text import term_weights
from rag.answering.text.sentences import flowing
from rag.retrieval import Reranker
from rag.types import BlockKind, Hit, QuotedRow

CANDIDATES = 32
"""Units that the cross-encoder reads per question; the others are sorted out by cheaper measures."""

MIN_CHARS = 12
"""Shorter units without cells are labels and page numbers."""


OWN_GAIN = 0.05
"""Of relevance: so much more relevant must a sentence be that borrows its subject than the one it borrows from."""

MAX_LOGIT = 8.0
"""Of the cross-encoder; beyond it a score is 0 or 1 to three digits."""

_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|he|his|she|her|this|these|those|such|both|the latter|the former)\b", re.IGNORECASE
)


class Features(NamedTuple):
    """How well a unit answers, by each measure.

    `relevance` and `page_relevance` are the cross-encoder's logits for the unit in its context and for the chunk
    that was found around it, over `MAX_LOGIT`; `covered` is the share of the question's words, weighed by rarity, in
    the unit and what it stands under; `label` how much of a row's label is what is asked for; `kind` whether it holds
    something of the asked kind (0.5 where none is asked); `about` the share of the question's years and names on its
    page or in its document's name; `found` the hit's score and `rank` 1 over its place; `near` whether the unit is of
    the chunk that was found.
    """

    relevance: float = 0.0
    page_relevance: float = 0.0
    covered: float = 0.0
    label: float = 0.0
    kind: float = 0.5
    about: float = 1.0
    found: float = 0.0
    rank: float = 0.0
    near: float = 0.0


class Candidate(NamedTuple):
    """A unit of a hit's passage: where it stands, as it is shown, what it is read with, and its measures.

    `before` is the sentence that it refers back to, which it is read with, too.
    """

    hit: Hit
    unit: Unit
    text: str
    context: str
    before: str | None = None
    features: Features = Features()

    @property
    def page_number(self) -> int:
        """The page that it begins on."""
        return self.hit.passage.lines_of(*self.unit.span)[0].page_number

    def is_on(self, pages: AbstractSet[str]) -> bool:
        """Whether it begins on one of these pages, which are named by their numbers or by what is printed on them."""
        number = self.page_number
        return not pages.isdisjoint({str(number), self.hit.page_labels.get(number, "").lower()})

    @property
    def row(self) -> QuotedRow | None:
        """A row of a table, cell by cell; None of anything else."""
        return quoted_row(self.hit.passage.text, self.unit)


def measured(question: Asked, hits: Sequence[Hit], reranker: Reranker | None) -> list[Candidate]:
    """The candidates that come closest by the cheaper measures, with all of their features; each text once."""
    found = _cheaply(question, _fitting(question, list(_units(question, hits))))
    if reranker is None or not found:
        return found
    read = {candidate.hit.chunk.id: candidate.hit for candidate in found}
    texts = [candidate.context for candidate in found]
    texts += [f"{hit.title or ''}. {hit.chunk.text}" for hit in read.values()]
    logits = [_logit(score) for score in reranker.scores(question.text, texts)]
    pages = dict(zip(read, logits[len(found) :], strict=True))
    read_alone = {candidate.text: logit for candidate, logit in zip(found, logits, strict=False)}
    return [
        candidate._replace(
            features=candidate.features._replace(
                relevance=_own(logit, read_alone.get(candidate.before or "")),
                page_relevance=pages[candidate.hit.chunk.id],
            )
        )
        for candidate, logit in zip(found, logits, strict=False)
    ]


def _own(relevance: float, before: float | None) -> float:
    """The relevance of a sentence read with the one before it: what that one says already is not its own."""
    return relevance if before is None or relevance >= before + OWN_GAIN else min(relevance, before - OWN_GAIN)


def _logit(score: float) -> float:
    score = min(max(score, 1e-9), 1 - 1e-9)
    return max(-1.0, min(1.0, math.log(score / (1 - score)) / MAX_LOGIT))


def _units(question: Asked, hits: Sequence[Hit]) -> Iterator[Candidate]:
    """Each unit of the hits' passages that can be an answer, each text of a document once."""
    seen: set[tuple[object, str]] = set()
    for hit in hits:
        text = hit.passage.text
        heading, before = "", None
        for unit in split_passage(hit.passage):
            if unit.kind is BlockKind.HEADING:
                heading = flowing(text[slice(*unit.span)])
            shown = shown_text(text, unit)
            if _can_answer(question, unit, shown) and (hit.passage.document_id, shown) not in seen:
                seen.add((hit.passage.document_id, shown))
                borrowed: str | None = before if before and _REFERS_BACK.match(shown) else None
                yield Candidate(hit, unit, shown, _in_context(hit, unit, shown, heading, borrowed), borrowed)
            before = shown if unit.kind is BlockKind.TEXT else None


def _can_answer(question: Asked, unit: Unit, shown: str) -> bool:
    """Whether a unit says something that the question does not: no lead-in, no question.

    A heading does so only where a title is asked for, or what stands on a page.
    """
    if unit.is_furniture or shown.endswith((":", "?")) or not {*term_weights.content_words(shown)} - {*question.words}:
        return False
    if unit.kind is BlockKind.HEADING:
        return question.kind is Kind.TITLE or bool(question.pages)
    if unit.kind is BlockKind.TABLE:
        return bool(unit.cells)
    return len(shown) >= MIN_CHARS


def _fitting(question: Asked, found: list[Candidate]) -> list[Candidate]:
    """Those on the asked pages, and those that hold what is recognised for sure, where there are any."""
    if question.pages:
        found = [candidate for candidate in found if candidate.is_on(question.pages)] or found
    if question.kind in PRECISE:
        found = [candidate for candidate in found if question.holds_kind(candidate.text)] or found
    return found


def _in_context(hit: Hit, unit: Unit, shown: str, heading: str, before: str | None) -> str:
    """The unit with what it is about: its document's title, its section, and the sentence that it refers back to."""
    section = heading or (hit.chunk.section or "").rsplit(" > ", 1)[-1]
    about = [hit.title or "", section, words_at(hit.passage.text, unit.section)]
    if before:
        about.append(before)
    return ". ".join([*dict.fromkeys(part.rstrip(".:") for part in about if part), shown])


# --- measures that cost little ---------------------------------------------------------------------------------


def _cheaply(question: Asked, found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with all features but the cross-encoder's, the closest `CANDIDATES` of them."""
    own = [term_weights.content_words(candidate.text) for candidate in found]
    under = [term_weights.content_words(_under(candidate)) for candidate in found]
    weights = _Weights(term_weights.rarity([*map(set.union, map(set, own), map(set, under))]), question.words)
    lexical = term_weights.bm25(question.words, own)
    top = max(lexical, default=0.0) or 1.0
    ranks: dict[int, int] = {}
    for candidate in found:
        ranks.setdefault(id(candidate.hit), len(ranks) + 1)
    about = {id(hit): question.share_named(whereabouts(hit)) for hit in {id(c.hit): c.hit for c in found}.values()}
    measured = []
    for candidate, words, above, score in zip(found, own, under, lexical, strict=True):
        features = Features(
            covered=weights.covered({*words, *above}),
            label=_label(question, candidate, weights),
            kind=_kind(question, candidate.text),
            about=about[id(candidate.hit)],
            found=candidate.hit.final_score,
            rank=1.0 / ranks[id(candidate.hit)],
            near=float(_is_near(candidate)),
        )
        also = max((weights.share(phrase, set(words)) for phrase in question.also), default=0.0)
        measured.append((_closeness(features, score / top, weights.covered(words), also), candidate, features))
    measured.sort(key=lambda one: -one[0])
    return [candidate._replace(features=features) for _, candidate, features in measured[:CANDIDATES]]


def _closeness(features: Features, lexical: float, covered: float, also: float) -> float:
    """What decides who is read by the cross-encoder; it keeps far more than it needs, so the weights matter little."""
    return (
        lexical
        + features.found
        + 0.8 * features.label
        + 0.5 * (covered + also)
        + 0.3 * (features.near + features.about + features.kind)
    )


def whereabouts(hit: Hit) -> str:
    """A hit's page, and what its document is called."""
    return f"{hit.passage.text} {hit.document_name} {hit.title or ''} {hit.chunk.context}"


def _under(candidate: Candidate) -> str:
    """What a unit stands under: its document's title, its section, and the lines that explain a row."""
    text, unit = candidate.hit.passage.text, candidate.unit
    lines = (words_at(text, span) for span in (unit.section, unit.header, unit.caption))
    return " ".join([candidate.hit.title or "", candidate.hit.chunk.section or "", *lines])


class _Weights:
    """How much the words of a question weigh; those that nothing of what was found has, weigh little."""

    UNSEEN = 0.3

    def __init__(self, rarity: dict[str, float], words: Iterable[str]) -> None:
        self._rarity = rarity
        self._rarest = max(rarity.values(), default=1.0)
        self._asked = {word: rarity.get(word, self.UNSEEN * self._rarest) for word in words}
        self._total = sum(self._asked.values()) or 1.0

    def covered(self, words: Iterable[str]) -> float:
        """The share of the question's weight that `words` have."""
        return sum(self._asked.get(word, 0.0) for word in set(words)) / self._total

    def share(self, of: Iterable[str], within: set[str]) -> float:
        """The share of the weight of some words that others have."""
        weights = {word: self._rarity.get(word, self._rarest) for word in of}
        return sum(weight for word, weight in weights.items() if word in within) / (sum(weights.values()) or 1.0)


def _label(question: Asked, candidate: Candidate, weights: _Weights) -> float:
    """How far a row's label is what is asked for: its words in the question, or in a phrase that means the same."""
    if not candidate.unit.cells or candidate.unit.label is None:
        return 0.0
    label = set(term_weights.content_words(words_at(candidate.hit.passage.text, candidate.unit.label)))
    best = weights.share(label, set(question.words))
    for phrase in question.also:
        precision, recall = weights.share(label, set(phrase)), weights.share(phrase, label)
        best = max(best, 2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return best


def _kind(question: Asked, text: str) -> float:
    return 0.5 if question.kind in (Kind.TEXT, Kind.TITLE) else float(question.holds_kind(text))


def _is_near(candidate: Candidate) -> bool:
    chunk = candidate.hit.chunk
    lines = candidate.hit.passage.lines_of(*candidate.unit.span)
    return any(chunk.line_start <= line.number <= chunk.line_end for line in lines)
