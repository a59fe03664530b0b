"""Find the quotes that prove a claim.

Take the quotes that the model proposed; if they do not prove it, widen them to whole sentences, then align the claim
with the best sentences of the cited passages, then look for a paraphrase.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.text import numbers
from rag.answering.verification import checkable_statements, word_comparison
from rag.answering.verification.answer_sources import AnswerSources
from rag.answering.verification.citations import Claim
from rag.answering.verification.quote_matching import MIN_COVERAGE, MIN_SHARED, Quote
from rag.answering.verification.word_comparison import Judgement
from rag.retrieval import Reranker

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
        if checkable_statements.is_bare_reply(statement):
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
            places = [
                next((place for place in likely if not self._lacks(number.text, *place)), None)
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

    def _lacks(self, figure: str, source: str, span: types.Span) -> bool:
        return bool(numbers.unsupported(figure, [self._passage(source).read(span)]))

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
