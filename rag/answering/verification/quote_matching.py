"""Match quotes and claims with the exact text of a passage, as character offsets.

A model's quote is only a hint: what is shown and highlighted is always a slice of the passage.
"""

import functools
import html
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rapidfuzz import fuzz

from rag import prompts, types
from rag.answering.passages.quotable_units import Unit, placed_lines, split_passage
from rag.answering.passages.table_text import declared_scales, scales_of_row
from rag.answering.text import numbers, term_weights
from rag.answering.text.analyzed_text import Text, refers_back
from rag.answering.text.measurement_units import currencies
from rag.answering.text.normalized_text import Undecorated, has_signs, normalize, undecorated
from rag.answering.text.sentences import one_line
from rag.answering.verification.citations import said_kinds
from rag.answering.verification.evidence import Column, Evidence, WordWeights
from rag.ingestion.language_detection import detect
from rag.retrieval import Reranker

NEAR_MATCH = 85.0
"""Minimum similarity (rapidfuzz's normalised indel similarity, 0..100) of a misspelt quote; below it is made up."""

MIN_NEAR_CHARS = 20
"""Shorter quotes must match exactly: they resemble too much by chance."""

MAX_ELISION_CHARS = 400
"""Maximum distance between the parts of a quote with an ellipsis."""

MIN_COVERAGE = 0.5
"""Minimum share of a claim's words, weighted by rarity, in a sentence shown as its source."""

MIN_RERANK_SCORE = 0.5
"""Minimum cross-encoder score of a paraphrase: the model's decision boundary (logit 0)."""

MIN_SHARED = 0.15
"""Minimum share of a claim's words in a proposed quote."""

SECOND_SENTENCE_GAIN = 0.15
"""Minimum gain in coverage for quoting a neighbouring sentence, too."""

RERANKED_SENTENCES = 6
LIKELY_UNITS = 12
"""Limits on the sentences of a passage that are compared with a claim whose own quotes do not prove it."""

NUMBER_WEIGHT = 3.0
"""Weight of a number in relation to a word: it identifies its source better."""


class Quote(NamedTuple):
    """A span of a passage and how it was found."""

    span: types.Span
    verdict: types.Verdict


_ELISION = re.compile(r"(?:(?<!\s)\s+)?(?:\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\)|\.{3,}|…)\s*")
_LEADING_BULLET = re.compile(r"^[-–—]\s+(?=\D)")
_MARKDOWN = re.compile(r"\*\*|`|\\(?=[^\w\s])")
_FIGURE = re.compile(r"[$€£¥₹]?\s?\d[\d.,]*\d|[$€£¥₹]?\s?\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_EDGES = " \t\r\n\"'“”‘’«»*_`"
_KINDS = "|".join(map(re.escape, prompts.CONTEXT_KINDS.values()))
_CONTEXT_MARKS = re.compile(rf"\[Page \d+\]|{_KINDS}|\|(?:\s*:?-{{3,}}:?\s*\|)+")
"""What the context of an answer adds to a passage: marks of pages and kinds, and the rules of Markdown tables."""


def _repeated_edges(passage: types.Passage) -> list[types.Span]:
    """Return the first and last two lines of its pages that other pages have, too, but for their numbers."""
    pages: dict[int, list[tuple[int, types.Line]]] = {}
    for offset, line in placed_lines(passage):
        pages.setdefault(line.page_number, []).append((offset, line))
    edges = [dict([*placed[:2], *placed[-2:]]) for placed in pages.values()]
    counts = Counter(text for page in edges for text in {re.sub(r"\d+", "0", line.text) for line in page.values()})
    return [
        types.Span(offset, offset + len(line.text))
        for page in edges
        for offset, line in page.items()
        if counts[re.sub(r"\d+", "0", line.text)] > 1
    ]


class QuotablePassage:
    """A passage prepared for finding many quotes in it."""

    def __init__(self, passage: types.Passage, titles: Sequence[str] = ()) -> None:
        """`titles` are the name and title of its document, and its section."""
        self.text = passage.text
        self.titles = tuple(titles)
        self.units: list[Unit] = split_passage(passage)
        self._page_edges = _repeated_edges(passage)
        self.scales: numbers.Scales = declared_scales(self.text) or None
        self._normalized = normalize(self.text)
        self._words = [term_weights.content_words(self.read(unit.span)) for unit in self.units]
        self._rarity = WordWeights(term_weights.idf(self._words))
        self._paraphrases: dict[tuple[str, Reranker], types.Span | None] = {}

    def slice(self, span: types.Span) -> str:
        """Return the passage's own characters."""
        return self.text[span.start : span.end]

    def read(self, span: types.Span) -> str:
        """Return the same on one line, hyphenated words joined."""
        return one_line(self.slice(span))

    # --- what words are held against a claim ---

    def evidence(self, span: types.Span) -> list[Evidence]:
        """Return the text at `span` with its context, sentence by sentence; table rows are always whole."""
        return [self._evidence_at(index, span) for index in self._indices(span)]

    @functools.cached_property
    def unit_evidence(self) -> list[Evidence]:
        """All units, whole, each with its context."""
        return [self._evidence_at(index, unit.span) for index, unit in enumerate(self.units)]

    @property
    def normalized(self) -> str:
        """The text reduced for comparison."""
        return self._normalized.text

    @functools.cached_property
    def word_weights(self) -> WordWeights:
        """The weights of its words, the rarer the greater."""
        return WordWeights(term_weights.idf([[word.key for word in text.content] for text in self._texts]))

    def units_at(self, span: types.Span) -> list[types.Span]:
        """Return the whole sentences and rows that `span` touches."""
        return [self.units[index].span for index in self._indices(span)]

    def likely_spans(self, claim: str) -> list[types.Span]:
        """Return the sentences and rows with most of the claim's words and figures, best first."""
        keys = Text(claim).content_keys
        values = frozenset(value for number in Text(claim).numbers for value in number.values)
        scores = [
            sum(self.word_weights.of(key) for key in keys & text.keys)
            + sum(bool(number.values & values) for number in text.numbers)
            for text in self._texts
        ]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])[:LIKELY_UNITS]
        return [self.units[index].span for index in order if scores[index] > 0]

    def quote_at(self, claim: str, span: types.Span) -> Quote:
        """Return `span` as a quote: VERIFIED if the claim occurs in it word for word, else CORRECTED."""
        exact = normalize(claim).text.rstrip(".") in normalize(self.slice(span)).text
        return Quote(span, types.Verdict.VERIFIED if exact else types.Verdict.CORRECTED)

    def mentioned_context(self, span: types.Span, claim: str) -> list[types.Span]:
        """Return the column names, unit and section of the rows at `span` that `claim` mentions."""
        asked = Text(claim)
        spans = []
        for index in self._indices(span):
            unit, row = self.units[index], self._texts[index]
            for other in (unit.header, unit.caption, unit.section):
                if other is None or (span.start <= other.start and other.end <= span.end):
                    continue
                text = Text(self.read(other))
                has_words = (asked.content_keys & text.keys) - row.keys
                has_scale = other == unit.caption and any(number.scale for number in asked.numbers)
                if has_words or has_scale:
                    spans.append(other)
        return list(dict.fromkeys(spans))

    def _indices(self, span: types.Span) -> list[int]:
        return [i for i, unit in enumerate(self.units) if unit.span.start < span.end and span.start < unit.span.end]

    @functools.cached_property
    def _texts(self) -> list[Text]:
        return [Text(self.read(unit.span)) for unit in self.units]

    def _evidence_at(self, index: int, span: types.Span) -> Evidence:
        unit = self.units[index]
        part = types.Span(max(span.start, unit.span.start), min(span.end, unit.span.end))
        is_whole = part == unit.span or unit.kind is types.BlockKind.TABLE
        captions = [self.read(other) for other in (unit.label, unit.header, unit.caption) if other]
        label, section = (self.read(other) if other else "" for other in (unit.label, unit.section))
        declared = scales_of_row(label, section, captions)
        beside = [self.read(header) for header in (unit.header, unit.caption, unit.section) if header]
        return Evidence(
            self._texts[index] if is_whole else Text(self.read(part)),
            row=self._named_row(unit) if unit.cells else None,
            header=Text("\n".join(beside)) if beside else None,
            around=tuple(self._context(index)),
            scales=self._possible_scales(unit, declared),
            declared=declared,
            columns=tuple(Column(cell.column, Text(self.read(cell.span))) for cell in unit.cells),
            currency=self._currency(unit) if unit.cells else None,
            weights=self.word_weights,
        )

    def _currency(self, unit: Unit) -> str | None:
        """Return a row's currency from its caption or column names, else the only one of the passage's tables."""
        label = unit.label if unit.label and declared_scales(self.read(unit.label)) else None
        for span in (label, unit.header, unit.caption, unit.section):
            if found := currencies(self.read(span)) if span else None:
                return next(iter(found)) if len(found) == 1 else None
        return next(iter(self._currencies)) if len(self._currencies) == 1 else None

    @functools.cached_property
    def _currencies(self) -> frozenset[str]:
        rows = (self.read(unit.span) for unit in self.units if unit.kind is types.BlockKind.TABLE)
        return frozenset[str]().union(*map(currencies, rows))

    def _possible_scales(self, unit: Unit, declared: numbers.Scales) -> numbers.Scales:
        """Return the scales its bare figures may have: for rows also the only scale that the page declares."""
        text = self.read(unit.span)
        if unit.kind is types.BlockKind.TEXT and text.endswith((".", "!", "?", ":", ";", "。", "！", "？")):
            return declared_scales(text)
        if declared is not None:
            return declared
        return self.scales if self.scales and len(self.scales) == 1 else None

    def _named_row(self, unit: Unit) -> Text:
        """Return a table row with its column names before its cells; figures get the years of their columns."""
        row = f"{self.read(unit.label) if unit.label else ''} –"
        years: dict[int, int] = {}
        for cell in unit.cells:
            row += f" {cell.column}: " if cell.column else " "
            found = {number.year for number in numbers.find_numbers(cell.column) if number.year is not None}
            content = self.read(cell.span)
            if len(found) == 1:
                years |= {len(row) + number.start: year for number in numbers.find_numbers(content) for year in found}
            row += f"{content};"
        return Text(row, years)

    def _context(self, index: int) -> Iterator[Text]:
        """Yield the titles, the heading above, and the sentence before one that refers back."""
        yield from map(Text, self.titles)
        heading = next((i for i in range(index - 1, -1, -1) if self.units[i].kind is types.BlockKind.HEADING), None)
        if heading is not None:
            yield self._texts[heading]
        if index and index - 1 != heading and refers_back(self._texts[index].text):
            yield self._texts[index - 1]

    # --- a quote that the model proposes ---

    def find(self, proposed: str) -> Quote | None:
        """Find `proposed` exactly, in parts, or nearly; return None if it does not occur."""
        proposed = _CONTEXT_MARKS.sub(" ", proposed).strip(_EDGES)
        exact = self._find_exact(proposed) or self._find_exact(html.unescape(proposed)) or self._find_loose(proposed)
        if exact is not None:
            return Quote(exact, types.Verdict.VERIFIED)
        parts = [part for part in _ELISION.split(proposed) if part.strip(_EDGES)]
        return self._find_parts(parts) if len(parts) > 1 else self._find_near(proposed)

    def _find_parts(self, parts: Sequence[str]) -> Quote | None:
        """Return the span from the first to the last part if they are close, else the longest part found."""
        spans = [span for part in parts if (span := self._find_exact(part) or self._find_loose(part))]
        if not spans:
            return None
        in_order = all(a.end <= b.start <= a.end + MAX_ELISION_CHARS for a, b in itertools.pairwise(spans))
        if in_order:
            return Quote(types.Span(spans[0].start, spans[-1].end), types.Verdict.CORRECTED)
        return Quote(max(spans, key=lambda span: span.end - span.start), types.Verdict.CORRECTED)

    def _find_exact(self, proposed: str) -> types.Span | None:
        for words in (proposed.strip(), proposed.strip(_EDGES + ".,;:")):
            wanted = normalize(words).text
            found = self._normalized.text.find(wanted) if wanted else -1
            while found >= 0:
                span = self._span(found, found + len(wanted))
                if self._is_whole(span):
                    return span
                found = self._normalized.text.find(wanted, found + 1)
        return None

    def _find_loose(self, proposed: str) -> types.Span | None:
        """Find a quote that leaves out bullets, cell borders, footnote marks, currency signs or empty cells."""
        proposed = _MARKDOWN.sub("", html.unescape(proposed)).strip(_EDGES + ".,;:")
        wanted = undecorated(_LEADING_BULLET.sub("", proposed))
        if not any(map(str.isalnum, wanted.normalized.text)):
            return None
        for text in self._undecorated:
            found = text.normalized.text.find(wanted.normalized.text)
            while found >= 0:
                end = found + len(wanted.normalized.text)
                span = types.Span(text.normalized.offsets[found], text.normalized.offsets[end - 1] + 1)
                if has_signs(wanted, text, found, end) and self._is_whole(span):
                    return span
                found = text.normalized.text.find(wanted.normalized.text, found + 1)
        return None

    @functools.cached_property
    def _undecorated(self) -> list[Undecorated]:
        """The passage without what a quote may leave out; then also without running heads and page numbers."""
        tables = [unit.span for unit in self.units if unit.kind is types.BlockKind.TABLE]
        boilerplate = [unit.span for unit in self.units if unit.is_boilerplate]
        heads = [offset for span in (*boilerplate, *self._page_edges) for offset in range(*span)]
        return [undecorated(self.text, left_out, tables) for left_out in ([], heads)[: 2 if heads else 1]]

    def _find_near(self, proposed: str) -> Quote | None:
        wanted = normalize(proposed).text
        if len(wanted) < MIN_NEAR_CHARS or len(wanted) > len(self._normalized.text):
            return None
        match = fuzz.partial_ratio_alignment(wanted, self._normalized.text, score_cutoff=NEAR_MATCH)
        if match is None or match.dest_end <= match.dest_start:
            return None
        start, end = self._span(match.dest_start, match.dest_end)
        while self._cuts_word(start):
            start -= 1
        while self._cuts_word(end):
            end += 1
        span = types.Span(start, end)
        is_same = set(_NUMBER.findall(proposed)) <= set(_NUMBER.findall(self.slice(span)))
        return Quote(span, types.Verdict.CORRECTED) if is_same else None

    def _span(self, start: int, end: int) -> types.Span:
        offsets = self._normalized.offsets
        return types.Span(offsets[start], offsets[end - 1] + 1)

    def _is_whole(self, span: types.Span) -> bool:
        """Return whether neither end cuts a word or a number, or leaves the sign of a number out."""
        return not (self._cuts_word(span.start) or self._cuts_word(span.end) or self._cuts_sign(span.start))

    def _cuts_sign(self, position: int) -> bool:
        """Return whether a minus sign, or the brackets of a negative figure, stand before and around the figure."""
        figure = _FIGURE.match(self.text, position)
        before = self.text[max(0, position - 3) : position].rstrip("$€£¥₹ ")
        if figure is None or not before:
            return False
        if before[-1] == "(":
            in_table = any(
                self.units[index].kind is types.BlockKind.TABLE
                for index in self._indices(types.Span(position, position + 1))
            )
            return in_table and self.text[figure.end() : figure.end() + 3].lstrip(" \t%")[:1] == ")"
        return before[-1] in "-−–" and self.text[position - 1] != " " and not before[:-1][-1:].isalnum()

    def _cuts_word(self, position: int) -> bool:
        around = self.text[max(0, position - 1) : position + 1]
        if position == 0 or len(around) < 2:
            return False
        if around[0].isdigit() and around[1] in ".,":
            return self.text[position + 1 : position + 2].isdigit()
        if around[0] in ".," and around[1].isdigit():
            return self.text[position - 2 : position - 1].isdigit()
        return all(c.isalnum() for c in around) and not term_weights.is_unspaced(around[0])

    # --- no quote proposed: the sentence that says the same ---

    def align(self, claim: str, reranker: Reranker | None = None, *, least: float = MIN_COVERAGE) -> Quote | None:
        """Return the sentence, or two neighbours, that states the claim; None if none does.

        VERIFIED if the claim occurs word for word, else CORRECTED.
        """
        exact = self._find_exact(claim)
        if exact is not None:
            return Quote(exact, types.Verdict.VERIFIED)
        best = self._best_window(claim)
        if best is not None and best[1] >= least:
            return Quote(best[0], types.Verdict.CORRECTED)
        span = self._best_paraphrase(claim, reranker) if reranker else None
        return Quote(span, types.Verdict.CORRECTED) if span else None

    def _weights(self, claim: str) -> dict[str, float]:
        """Return the share of each word of the claim in the weight of all."""
        weights = {
            word: self._rarity.of(word) * (NUMBER_WEIGHT if word[0].isdigit() else 1.0)
            for word in term_weights.content_words(claim)
        }
        total = sum(weights.values()) or 1.0
        return {word: weight / total for word, weight in weights.items()}

    @staticmethod
    def _covered(weights: Mapping[str, float], words: Iterable[str]) -> float:
        return sum(weights.get(word, 0.0) for word in set(words))

    def _best_window(self, claim: str) -> tuple[types.Span, float] | None:
        """Return the unit that covers the claim best, or two neighbours that cover clearly more."""
        weights = self._weights(claim)
        coverages = [self._covered(weights, words) for words in self._words]
        if not coverages:
            return None
        best = max(range(len(coverages)), key=lambda index: (coverages[index], -len(self._words[index])))
        span, coverage = self.units[best].span, coverages[best]
        for first in (best - 1, best):
            pair = self.units[max(first, 0) : first + 2]
            if len(pair) < 2 or any(unit.kind is not types.BlockKind.TEXT for unit in pair):
                continue
            both = self._covered(weights, [*self._words[first], *self._words[first + 1]])
            if both >= coverage + SECOND_SENTENCE_GAIN:
                span, coverage = types.Span(pair[0].span.start, pair[1].span.end), both
        return span, coverage

    def find_translated(self, claim: str) -> Quote | None:
        """Return the likeliest sentence in another language than the claim's that has all figures of it."""
        if not numbers.find_numbers(claim) or detect(claim) == detect(self.text):
            return None
        spans = self.likely_spans(claim)
        span = next((span for span in spans if not numbers.unsupported(claim, [self.read(span)])), None)
        return Quote(span, types.Verdict.CORRECTED) if span else None

    def _best_paraphrase(self, claim: str, reranker: Reranker) -> types.Span | None:
        """Return the sentence that the cross-encoder finds nearest to the claim, if near enough; asked once."""
        key = (claim, reranker)
        if key not in self._paraphrases:
            weights = self._weights(claim)
            coverages = [self._covered(weights, words) for words in self._words]
            order = sorted(range(len(coverages)), key=lambda index: -coverages[index])[:RERANKED_SENTENCES]
            scores = reranker.scores(claim, [self.read(self.units[index].span) for index in order]) if order else []
            score, index = max(zip(scores, order, strict=True), default=(0.0, 0))
            self._paraphrases[key] = self.units[index].span if score >= MIN_RERANK_SCORE else None
        return self._paraphrases[key]

    def shared(self, claim: str, span: types.Span) -> float:
        """Return the share of the claim's weighted words that the text at `span` has."""
        return self._covered(self._weights(claim), term_weights.content_words(self.read(span)))

    # --- numbers that a quote leaves open ---

    def context_with(self, span: types.Span, missing: Sequence[str]) -> list[types.Span]:
        """Return units around `span` with some of the `missing` numbers: column names, heading, neighbours."""
        wanted = " ".join(missing)
        spans: list[types.Span] = []
        for near in self._around(span):
            left = numbers.unsupported(wanted, [self.read(near)], scales=self.scales)
            if len(left) < len(numbers.find_numbers(wanted)):
                spans.append(near)
                wanted = " ".join(left)
            if not wanted:
                break
        return spans

    def _around(self, span: types.Span) -> list[types.Span]:
        inside = self._indices(span)
        if not inside:
            return []
        first, last = inside[0], inside[-1]
        nearby = [self.units[index].header for index in inside]
        nearby += [unit.span for unit in reversed(self.units[:first]) if unit.kind is types.BlockKind.HEADING][:1]
        nearby += [self.units[index].span for index in range(first, last + 1)]
        nearby += [self.units[index].span for index in (last + 1, first - 1) if 0 <= index < len(self.units)]
        return [near for near in dict.fromkeys(nearby) if near is not None and near != span]


# --- the sources of an answer ---

KIND_CONTEXT = {
    types.BlockKind.STRUCK: "Struck out, crossed out, deleted words, text, sentence, clause, term, passage of the page",
    types.BlockKind.HIDDEN: "Hidden, invisible, not visible words, text, sentence, clause, term, passage of the page",
}
"""What invalid text is read under, so that a claim which says that it is struck out or hidden can be proved."""


class InvalidText(NamedTuple):
    """The struck out or hidden words of a source."""

    citation_id: str
    kind: types.BlockKind


class AnswerSources:
    """The sources of an answer by their citation ids.

    Words that are struck out or hidden are sources of their own, by an id like "S1 struck": they prove only claims that
    say so of them.
    """

    def __init__(self, hits: Mapping[str, types.Hit]) -> None:
        self._hits: dict[str, types.Hit] = {}
        self.invalid: dict[str, InvalidText] = {}
        for citation_id, hit in hits.items():
            nothing = types.Passage(document_id=hit.passage.document_id, lines=())
            self._hits[citation_id] = hit.of_kinds(types.EVIDENCE) or hit.model_copy(update={"passage": nothing})
        self.ids = tuple(self._hits)
        for citation_id, hit in hits.items():
            for kind in types.NO_EVIDENCE:
                if words := hit.of_kinds({kind}):
                    self._hits[f"{citation_id} {kind}"] = words
                    self.invalid[f"{citation_id} {kind}"] = InvalidText(citation_id, kind)
        self._passages: dict[str, QuotablePassage] = {}

    def hit(self, source: str) -> types.Hit:
        """Return a source, or its invalid text."""
        return self._hits[source]

    def passage(self, source: str) -> QuotablePassage:
        """Return the passage of a source, read under the name and title of its document and its section."""
        if source not in self._passages:
            hit, titles = self._hits[source], list(self.document_names(source))
            titles += [hit.chunk.section] if hit.chunk.section else []
            titles += [KIND_CONTEXT[self.invalid[source].kind]] if source in self.invalid else []
            self._passages[source] = QuotablePassage(hit.passage, titles=titles)
        return self._passages[source]

    def document_names(self, source: str) -> tuple[str, ...]:
        """Return the name and title of the document of a source."""
        hit = self._hits[source]
        return tuple(filter(None, [PurePath(hit.document_name).stem.replace("_", " "), hit.title]))

    def cited_id(self, source: str) -> str:
        """Return the citation id of a source or of invalid text."""
        return self.invalid[source].citation_id if source in self.invalid else source

    def read_for(self, statement: str, cited: Collection[str]) -> tuple[str, ...]:
        """Return the sources that a statement cites, with their invalid text if it speaks of it as such."""
        kinds = said_kinds(statement) if self.invalid else ()
        invalid = (key for key, words in self.invalid.items() if words.citation_id in cited and words.kind in kinds)
        return (*cited, *invalid)
