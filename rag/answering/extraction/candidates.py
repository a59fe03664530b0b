"""Collect candidate answers: the quotable units of the hits, scored against the question."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from rag import types
from rag.answering.extraction.answer_kinds import asked_kind
from rag.answering.extraction.question_intent import PRECISE, Kind, ParsedQuestion
from rag.answering.passages.quotable_units import Unit, split_passage
from rag.answering.passages.statements import display_text, quoted_row, words_at
from rag.answering.text import term_weights
from rag.answering.text.names import NumberedName
from rag.answering.text.sentences import is_answered_by_box, one_line
from rag.retrieval import Reranker

CANDIDATES = 24
"""Units per question that the cross-encoder reads; cheaper measures preselect them."""

MIN_CHARS = 12
"""Shorter units without cells are labels and page numbers."""


OWN_GAIN = 0.05
"""Minimum gain in relevance of a sentence over the one it refers back to."""

MAX_LOGIT = 8.0
"""Logit of the cross-encoder and the reader beyond which scores are 0 or 1 to three digits."""

_ELSEWHERE = re.compile(
    r"\binformation\b[^.]{0,80}\b(?:required|called\s+for)\b[^.]{0,60}\bitem\b.*\b(?:incorporated|included|contained|set\s+forth)\b",
    re.IGNORECASE | re.DOTALL,
)
"""An item of a filing that another document answers."""
_LABEL_ALONE = re.compile(r"\([A-ZÄÖÜ][^()]*\)")
"""A label of a form, which stands below its value: "(Address, including zip code)"."""
_CLAUSE_TITLE = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*[.)]?|[IVX]{1,4}[.)])\s+"
    r"(?:[^a-zß-ÿ]{3,60}|(?=.{3,60}$)[A-Z][\w’'-]*(?:[\s,;/&-]+(?:[A-Z][\w’'-]*|and|of|the|or|to|in|for|by|on))*\.)"
)
"""The title of a clause that is no heading: "23. GOVERNING LAW.", "10.7 Governing Law."."""

_REFERS_BACK = re.compile(
    r"(?:it|its|they|their|he|his|she|her|this|these|those|such|both|the latter|the former)\b", re.IGNORECASE
)


class Features(NamedTuple):
    """How well a unit answers, by each measure.

    `relevance` and `page_relevance` are the cross-encoder's logits, over `MAX_LOGIT`, for the unit in its context and
    for the chunk found; `answers` is the reader's, for the unit alone; `covered` is the share of the question's words,
    weighted by rarity, in the unit and its headings; `label` the match of a row's label; `kind` whether it holds the
    requested kind (0.5 if none is asked); `about` the share of the question's years and names on its page or in its
    document's name; `found` the hit's score and `rank` 1 over its rank; `near` whether the unit is in the chunk found.
    """

    relevance: float = 0.0
    answers: float = 0.0
    page_relevance: float = 0.0
    covered: float = 0.0
    label: float = 0.0
    kind: float = 0.5
    about: float = 1.0
    found: float = 0.0
    rank: float = 0.0
    near: float = 0.0


class Candidate(NamedTuple):
    """A unit of a hit's passage with its displayed text, its context and its features.

    `before` is the sentence that it refers back to; `is_certain` whether it is of the very kind that is asked for.
    """

    hit: types.Hit
    unit: Unit
    text: str
    context: str
    before: str | None = None
    features: Features = Features()
    is_certain: bool = False

    @property
    def page_number(self) -> int:
        """The page that it begins on."""
        return self.hit.passage.lines_of(*self.unit.span)[0].page_number

    def is_on(self, pages: AbstractSet[str]) -> bool:
        """Return whether it begins on one of these pages, given by number or label."""
        return not pages.isdisjoint({str(self.page_number), f"#{self.page_number}", self._label})

    def is_labelled(self, pages: AbstractSet[str]) -> bool:
        """Return whether it begins on one of these pages; a page with another label than its number has only that."""
        return not pages.isdisjoint({self._label, f"#{self.page_number}"})

    @property
    def _label(self) -> str:
        return self.hit.page_labels.get(self.page_number, str(self.page_number)).lower()

    def bears(self, name: NumberedName) -> bool:
        """Return whether it is about the thing of that name, by its words, its headings or the name of its row."""
        text, unit = self.hit.passage.text, self.unit
        header, row = words_at(text, unit.header).split(), self.hit.passage.lines_of(*unit.span)[0].row
        of_labels = row.cells[0].head if row and row.cells[0].head else header[0] if header else ""
        cells = [f"{cell.column} {words_at(text, cell.span)}" for cell in unit.cells]
        named = [self.context, f"{of_labels} {words_at(text, unit.label)}", *cells]
        return any(map(name.stands_in, named)) or any(map(name.begins, [self.text, *self.context.split(". ")]))

    def is_of_another(self, name: NumberedName) -> bool:
        """Return whether its own words name another thing of that kind only."""
        return not self.bears(name) and name.other_stands_in(self.text)

    def names(self, name: str) -> bool:
        """Return whether its own words, its headings or those of its columns have all the words of a name."""
        columns = " ".join(cell.column for cell in self.unit.cells)
        words = {*term_weights.words(f"{self.context} {_headings(self)} {columns} {self.hit.document_name}")}
        return words.issuperset(term_weights.words(name))

    @property
    def row(self) -> types.QuotedRow | None:
        """Its table row, or None."""
        return quoted_row(self.hit.passage.text, self.unit)


def collect_candidates(
    question: ParsedQuestion, hits: Sequence[types.Hit], reranker: Reranker | None
) -> list[Candidate]:
    """Return the closest candidates with all features but `answers`, without duplicates."""
    candidates = _preselect(question, _fitting(question, list(_units(question, hits))))
    if reranker is None or not candidates:
        return candidates
    read = {candidate.hit.chunk.id: candidate.hit for candidate in candidates}
    texts = [candidate.context for candidate in candidates]
    texts += [f"{hit.title or ''}. {hit.chunk.text}" for hit in read.values()]
    logits = [scaled_logit(score) for score in reranker.scores(question.text, texts)]
    pages = dict(zip(read, logits[len(candidates) :], strict=True))
    read_alone = {candidate.text: logit for candidate, logit in zip(candidates, logits, strict=False)}
    measured = []
    for candidate, logit in zip(candidates, logits, strict=False):
        # without the relevance of the sentence that it refers back to, and is read with
        before = read_alone.get(candidate.before or "")
        relevance = logit if before is None or logit >= before + OWN_GAIN else min(logit, before - OWN_GAIN)
        page_relevance = pages[candidate.hit.chunk.id]
        features = candidate.features._replace(relevance=relevance, page_relevance=page_relevance)
        measured.append(candidate._replace(features=features))
    return measured


def read_answers(question: ParsedQuestion, candidates: Sequence[Candidate], reader: Reranker) -> list[Candidate]:
    """Return the candidates with the feature `answers`."""
    scores = reader.scores(question.text, [candidate.text for candidate in candidates])
    return [
        candidate._replace(features=candidate.features._replace(answers=scaled_logit(score)))
        for candidate, score in zip(candidates, scores, strict=True)
    ]


def scaled_logit(score: float) -> float:
    """Return the logit of a probability as a feature, from -1 to 1."""
    score = min(max(score, 1e-9), 1 - 1e-9)
    return max(-1.0, min(1.0, math.log(score / (1 - score)) / MAX_LOGIT))


def _units(question: ParsedQuestion, hits: Sequence[types.Hit]) -> Iterator[Candidate]:
    """Yield each unit that can be an answer, each text of a document once."""
    seen: set[tuple[object, str]] = set()
    asked = asked_kind(question)
    for hit in hits:
        text = hit.passage.text
        heading, before = "", None
        for unit in asked.units(hit):
            shown = display_text(text, unit)
            if asked.answers(hit, unit, shown) and (hit.passage.document_id, shown) not in seen:
                seen.add((hit.passage.document_id, shown))
                yield Candidate(hit, unit, shown, _in_context(hit, unit, shown, heading, None), is_certain=True)
        for unit in split_passage(hit.passage):
            if unit.kind is types.BlockKind.HEADING:
                heading = one_line(text[slice(*unit.span)])
            shown = display_text(text, unit)
            borrowed: str | None = before if before and _REFERS_BACK.match(shown) else None
            is_certain = not unit.is_boilerplate and asked.answers(hit, unit, shown)
            may_answer = _can_answer(question, unit, shown) and asked.may_answer(f"{borrowed or ''} {shown}")
            if (may_answer or is_certain) and (hit.passage.document_id, shown) not in seen:
                seen.add((hit.passage.document_id, shown))
                context = _in_context(hit, unit, shown, heading, borrowed)
                yield Candidate(hit, unit, shown, context, borrowed, is_certain=is_certain)
            before = shown if unit.kind is types.BlockKind.TEXT else None


def _can_answer(question: ParsedQuestion, unit: Unit, shown: str) -> bool:
    """Return whether a unit says something new: no lead-in, no question.

    Headings only answer questions for a title or for what stands on a page.
    """
    if (
        unit.is_boilerplate
        or shown.endswith((":", "?"))
        or (not unit.cells and is_clause_title(shown))
        or _ELSEWHERE.search(shown)
        or _LABEL_ALONE.fullmatch(shown)
        or not ({*term_weights.content_words(shown)} - {*question.words} or is_answered_by_box(shown))
    ):
        return False
    if unit.kind is types.BlockKind.HEADING:
        return question.kind is Kind.TITLE or bool(question.pages)
    if unit.kind is types.BlockKind.TABLE:
        return bool(unit.cells)
    return len(shown) >= MIN_CHARS


def is_clause_title(text: str) -> bool:
    """Return whether a text is the title of a clause, which is no heading: "23. GOVERNING LAW."."""
    return _CLAUSE_TITLE.fullmatch(text) is not None


def _fitting(question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
    """Filter by requested page and by reliably recognised kinds, unless nothing is left."""
    if question.pages:
        labelled = [candidate for candidate in candidates if candidate.is_labelled(question.pages)]
        on_pages = [candidate for candidate in candidates if candidate.is_on(question.pages)]
        candidates = labelled or on_pages or candidates
    if question.kind in PRECISE:
        candidates = [candidate for candidate in candidates if question.holds_kind(candidate.text)] or candidates
    return candidates


def _in_context(hit: types.Hit, unit: Unit, shown: str, heading: str, before: str | None) -> str:
    """Return the unit with its document's title, its section, and the sentence it refers back to."""
    section = heading or (hit.chunk.section or "").rsplit(" > ", 1)[-1]
    about = [hit.title or "", section, words_at(hit.passage.text, unit.section)]
    if before:
        about.append(before)
    return ". ".join([*dict.fromkeys(part.rstrip(".:") for part in about if part), shown])


# --- measures that cost little ---------------------------------------------------------------------------------


def _preselect(question: ParsedQuestion, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the `CANDIDATES` closest candidates with all features but the cross-encoder's."""
    own = [term_weights.content_words(candidate.text) for candidate in candidates]
    under = [term_weights.content_words(_headings(candidate)) for candidate in candidates]
    weights = _Weights(term_weights.idf([*map(set.union, map(set, own), map(set, under))]), question.words)
    lexical = term_weights.bm25(question.words, own)
    top = max(lexical, default=0.0) or 1.0
    ranks: dict[int, int] = {}
    for candidate in candidates:
        ranks.setdefault(id(candidate.hit), len(ranks) + 1)
    about = {
        id(hit): question.share_named(page_and_names(hit)) for hit in {id(c.hit): c.hit for c in candidates}.values()
    }
    measured = []
    for candidate, words, above, score in zip(candidates, own, under, lexical, strict=True):
        chunk, lines = candidate.hit.chunk, candidate.hit.passage.lines_of(*candidate.unit.span)
        features = Features(
            covered=weights.covered({*words, *above}),
            label=_label(question, candidate, weights),
            kind=0.5 if question.kind in {Kind.TEXT, Kind.TITLE} else float(question.holds_kind(candidate.text)),
            about=about[id(candidate.hit)],
            found=candidate.hit.final_score,
            rank=1.0 / ranks[id(candidate.hit)],
            near=float(any(chunk.line_start <= line.number <= chunk.line_end for line in lines)),
        )
        also = max((weights.share(phrase, set(words)) for phrase in question.also), default=0.0)
        # It keeps far more than needed, so the weights of this preselection matter little
        closeness = (
            score / top
            + features.found
            + 0.8 * features.label
            + 0.5 * (weights.covered(words) + also)
            + 0.3 * (features.near + features.about + features.kind)
        )
        measured.append((closeness, candidate, features))
    measured.sort(key=lambda one: (not one[1].is_certain, not any(map(one[1].bears, question.numbered)), -one[0]))
    return [candidate._replace(features=features) for _, candidate, features in measured[:CANDIDATES]]


def page_and_names(hit: types.Hit) -> str:
    """Return a hit's page text with its document's names."""
    return f"{hit.passage.text} {hit.document_name} {hit.title or ''} {hit.chunk.context}"


def _headings(candidate: Candidate) -> str:
    """Return what a unit stands under: title, section and the lines that explain a row."""
    text, unit = candidate.hit.passage.text, candidate.unit
    lines = (words_at(text, span) for span in (unit.section, unit.header, unit.caption))
    return " ".join([candidate.hit.title or "", candidate.hit.chunk.section or "", *lines])


class _Weights:
    """Weights of a question's words; words absent from all candidates weigh little."""

    UNSEEN = 0.3

    def __init__(self, rarity: dict[str, float], words: Iterable[str]) -> None:
        self._rarity = rarity
        self._rarest = max(rarity.values(), default=1.0)
        self._asked = {word: rarity.get(word, self.UNSEEN * self._rarest) for word in words}
        self._total = sum(self._asked.values()) or 1.0

    def covered(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that `words` have."""
        return sum(self._asked.get(word, 0.0) for word in set(words)) / self._total

    def share(self, of: Iterable[str], within: set[str]) -> float:
        """Return the weighted share of the words `of` that are `within` others."""
        weights = {word: self._rarity.get(word, self._rarest) for word in of}
        return sum(weight for word, weight in weights.items() if word in within) / (sum(weights.values()) or 1.0)


def _label(question: ParsedQuestion, candidate: Candidate, weights: _Weights) -> float:
    """Return how well a row's label matches the question or one of its synonymous phrases."""
    if not candidate.unit.cells or candidate.unit.label is None:
        return 0.0
    label = set(term_weights.content_words(words_at(candidate.hit.passage.text, candidate.unit.label)))
    best = weights.share(label, set(question.words))
    for phrase in question.also:
        precision, recall = weights.share(label, set(phrase)), weights.share(phrase, label)
        best = max(best, 2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    return best
