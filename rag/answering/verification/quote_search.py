"""Find the quotes that prove a claim.

Take the quotes that the model proposed; if they do not prove it, widen them to whole sentences, then align the claim
with the best sentences of the cited passages, then look for a paraphrase.
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rag import types
from rag.answering.text import numbers
from rag.answering.verification import word_comparison
from rag.answering.verification.citations import Claim, is_bare_reply, said_kinds
from rag.answering.verification.figure_places import FigureIndex
from rag.answering.verification.quote_matching import MIN_COVERAGE, MIN_SHARED, QuotablePassage, Quote
from rag.answering.verification.word_comparison import Judgement
from rag.retrieval import Reranker

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
        self._figures: dict[str, FigureIndex] = {}

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

    def figures(self, source: str) -> FigureIndex:
        """Return the figures of a source."""
        if source not in self._figures:
            self._figures[source] = FigureIndex(self.passage(source))
        return self._figures[source]

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


MOST_WORDS = 0.8
"""Share of a statement's words with which a source is taken before a better ranked one with fewer."""

QuotesBySource = Mapping[str, Sequence[Quote]]
"""The quotes of a claim by the ids of their sources."""


class _Match(NamedTuple):
    """A span of a source, and its judgement for a claim."""

    source: str
    span: types.Span
    judgement: Judgement


class QuoteSearch:
    """Searches the sources of one answer for quotes; a `reranker` also finds paraphrases."""

    def __init__(self, sources: AnswerSources, reranker: Reranker | None) -> None:
        self._sources = sources
        self._passage = sources.passage
        self._reranker = reranker
        self._results: dict[tuple[object, ...], tuple[QuotesBySource, Judgement]] = {}

    def find(self, statement: str, claim: Claim) -> tuple[QuotesBySource, Judgement]:
        """Return the quotes of a claim, which makes a statement, and their verdict; searched once."""
        proposed = tuple((quote.citation_id, quote.text) for quote in claim.quotes)
        key = (statement, claim.sentence.citation_ids, proposed)
        if key not in self._results:
            self._results[key] = self._find(statement, claim)
        return self._results[key]

    def _find(self, statement: str, claim: Claim) -> tuple[QuotesBySource, Judgement]:
        sources = self._sources.read_for(statement, claim.sentence.citation_ids)
        if is_bare_reply(statement):
            return {source: [] for source in sources}, word_comparison.UNRELATED
        quotes: QuotesBySource = {source: self._locate_proposed(source, statement, claim) for source in sources}
        judgement = self.judge(statement, quotes)
        if not sources or judgement.support is types.Support.SUPPORTED:
            return quotes, judgement
        whole = {
            source: list(
                dict.fromkeys(
                    Quote(span, quote.verdict)
                    for quote in quotes[source]
                    for span in self._passage(source).units_at(quote.span)
                )
            )
            for source in quotes
        }
        for others in (whole, self.align(statement, sources)):
            better = self.judge(statement, others)
            if better.rank > judgement.rank:
                quotes, judgement = others, better
        if judgement.support is types.Support.NOT_VERIFIED:
            quotes, judgement = self._find_paraphrase(statement, quotes, judgement)
        least = MIN_COVERAGE / len(sources)  # each of several sources may cover its part only
        return {source: quotes[source] or self.nearest(source, statement, least) for source in quotes}, judgement

    def judge(self, statement: str, quotes: QuotesBySource) -> Judgement:
        """Return the verdict of quotes, with their context, on a statement."""
        evidence = [
            piece
            for source in quotes
            for quote in quotes[source]
            for piece in self._passage(source).evidence(quote.span)
        ]
        return word_comparison.judge(statement, evidence)

    def align(self, statement: str, sources: Sequence[str]) -> QuotesBySource:
        """Return the sentence or row that proves the statement best, or one for each of its clauses.

        For a computation, the first likely one that has each figure.
        """

        @functools.cache
        def best(part: str) -> _Match | None:
            matches = [
                _Match(source, span, word_comparison.judge_whole(part, self._passage(source).evidence(span)))
                for source in sources
                for span in self._passage(source).likely_spans(part)
            ]
            match = max(matches, key=lambda match: match.judgement.rank, default=None)
            return match if match and match.judgement.support is not types.Support.NOT_VERIFIED else None

        def judge(part: str) -> Judgement:
            match = best(part)
            return match.judgement if match else word_comparison.UNRELATED

        if numbers.shows_computation(statement):
            likely = [(source, span) for source in sources for span in self._passage(source).likely_spans(statement)]
            texts = {(source, span): [self._passage(source).read(span)] for source, span in likely}
            places = [
                next((place for place in likely if not numbers.unsupported(number.text, texts[place])), None)
                for number in numbers.find_numbers(statement)
            ]
        else:
            clauses = word_comparison.judge_by_clause(statement, judge).clauses
            places = [(match.source, match.span) if (match := best(clause)) else None for clause in clauses]
        quotes: dict[str, list[Quote]] = {source: [] for source in sources}
        for source, span in filter(None, dict.fromkeys(places)):
            quotes[source].append(self._passage(source).quote_at(statement, span))
        return quotes

    def find_all(self, source: str, texts: Sequence[str]) -> list[Quote]:
        """Return the texts that a source has, as its quotes."""
        return [quote for text in texts if (quote := self._passage(source).find(text))]

    def nearest(self, source: str, statement: str, least: float) -> list[Quote]:
        """Return the sentence nearest to a statement, if it has the share `least` of its words or paraphrases it."""
        quote = self._passage(source).align(statement, self._reranker, least=least)
        return [quote] if quote else []

    def nearest_source(self, statement: str) -> Sequence[str]:
        """Return the first source with most of the words of a statement, else one with a paraphrase, if any."""
        for least, reranker in ((MOST_WORDS, None), (MIN_COVERAGE, None), (MIN_COVERAGE, self._reranker)):
            for source in self._sources.ids:
                if self._passage(source).align(statement, reranker, least=least):
                    return [source]
        return []

    def _locate_proposed(self, source: str, statement: str, claim: Claim) -> list[Quote]:
        """Return the located quotes that the model proposed.

        A verbatim one stays if it has any word or figure of the claim, or stands beside one that has, as a table's head
        beside its row; a corrected one needs more of them.
        """
        passage, cited = self._passage(source), self._sources.cited_id(source)
        quotes = self.find_all(source, [quote.text for quote in claim.quotes if quote.citation_id in (cited, None)])
        verbatim = [quote for quote in quotes if quote.verdict is types.Verdict.VERIFIED]
        is_kept = any(passage.shared(statement, quote.span) > 0 for quote in verbatim)
        return list(
            dict.fromkeys(
                quote
                for quote in quotes
                if (is_kept and quote in verbatim) or passage.shared(statement, quote.span) >= MIN_SHARED
            )
        )

    def _find_paraphrase(
        self, statement: str, quotes: QuotesBySource, judgement: Judgement
    ) -> tuple[QuotesBySource, Judgement]:
        """Look for a paraphrase by the cross-encoder, or for the same figures in another language."""
        for source in quotes:
            passage = self._passage(source)
            if quote := passage.find_paraphrase(statement, self._reranker):
                loose = max(
                    (word_comparison.judge_paraphrase(statement, piece) for piece in passage.evidence(quote.span)),
                    key=lambda judged: judged.rank,
                )
                if loose.support is types.Support.PARTLY:
                    return {**quotes, source: [quote]}, loose
        return quotes, judgement
