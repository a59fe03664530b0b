"""Ground the sentences of an answer: find the quotes that prove each, judge it, and locate the quotes.

`Grounder.ground` compares the words of each claim with its sources, looks up its figures
(`figure_places`), and lets a judge of meaning (`judges`) decide what that leaves open, or about all claims.
"""

import functools
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rag import errors, types
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import numbers
from rag.answering.text.analyzed_text import analyze, is_fragment
from rag.answering.text.normalized_text import normalize
from rag.answering.text.numbers import Number
from rag.answering.verification import word_comparison
from rag.answering.verification.citations import (
    Claim,
    ParsedAnswer,
    checkable_statement,
    is_bare_reply,
    is_refusal,
    said_kinds,
    with_citations,
)
from rag.answering.verification.figure_places import NO_FIGURES, FigureCheck, FigureIndex, check_figures
from rag.answering.verification.judges import NOTHING_PROMPTED, MeaningJudge, MeaningVerdict, Prompted
from rag.answering.verification.open_claims import OpenClaim, missing_names, open_claim
from rag.answering.verification.quote_matching import MIN_COVERAGE, MIN_SHARED, AnswerSources, Quote
from rag.answering.verification.word_comparison import Judgement, judge_figures
from rag.messages import N_
from rag.retrieval import Reranker

Locate = Callable[[uuid.UUID, types.Passage, int, int], tuple[types.Region, ...]]
"""Return the boxes of `passage.text[start:end]` in the document of that id; () if they can't be found."""

MIN_STATED_WORDS = 3
"""Shorter statements, such as a bare figure, stand in many sources and say nothing about one."""

LOWERED = (types.Support.PARTLY, types.Support.NOT_STATED, types.Support.CONTRADICTED)
"""Verdicts of a judge that change nothing about a sentence which its source has word for word."""


MOST_WORDS = 0.8
"""Share of a statement's words with which a source is taken before a better ranked one with fewer."""

QuotesBySource = Mapping[str, Sequence[Quote]]
"""The quotes of a claim by the ids of their sources."""


class Grounded(NamedTuple):
    """The sentences of an answer with their verdicts, and all citations in order."""

    sentences: tuple[types.Sentence, ...]
    citations: tuple[types.Citation, ...]


class _Compared(NamedTuple):
    """A claim, its statement ("" if it makes none), and the quotes and verdict found by comparing words."""

    claim: Claim
    statement: str
    quotes: QuotesBySource
    judgement: Judgement
    figures: FigureCheck = NO_FIGURES
    rests_on: types.BlockKind | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is a statement with sources about which words did not decide."""
        is_statement = bool(self.statement) and not is_refusal(self.claim.sentence.text)
        is_left = not self.judgement.is_decided and self.rests_on is None
        return is_statement and bool(self.claim.sentence.citation_ids) and is_left


class Grounder:
    """Find and judge quotes for claims in the sources of one answer.

    A claim that rests on nothing but struck out or hidden words is not verified.
    """

    def __init__(
        self,
        sources: Mapping[str, types.Hit],
        *,
        locate: Locate,
        reranker: Reranker | None = None,
        judge: MeaningJudge | None = None,
        prompted: Prompted = NOTHING_PROMPTED,
    ) -> None:
        """`sources` maps citation ids to hits; a `reranker` also finds paraphrases, a `judge` decides about them.

        `prompted` is what the writer of the answer was given.
        """
        self._sources = AnswerSources(sources)
        self._search = QuoteSearch(self._sources, reranker)
        self._locate = locate
        self._judge = judge
        self._prompted = prompted
        self._figures: dict[str, FigureIndex] = {}
        self._compared: dict[tuple[tuple[Claim, ...], str], Sequence[_Compared]] = {}

    def ground(self, claims: Sequence[Claim], text: str = "", *, by_meaning: bool = True) -> Grounded:
        """Return each claim's sentence with its verdict, and all citations, at least one for each cited id.

        `text` is the answer around the claims; headings and table rows are recognised by it. Without `by_meaning`, the
        judge is not asked.
        """
        compared = self._compare(claims, text)
        verdicts: list[MeaningVerdict | None] = [None] * len(compared)
        if by_meaning and self._judge and (indexes := self._left_to_judge(compared)):
            open_claims = [self._open_claim(index, compared) for index in indexes]
            for index, judged in zip(indexes, self._judge.judge(open_claims, self._prompted), strict=True):
                verdicts[index] = judged
        sentences: list[types.Sentence] = []
        citations: list[types.Citation] = []
        for index, pair in enumerate(zip(compared, verdicts, strict=True)):
            result, verdict = self._without_invalid(*pair)
            sentence, quotes, judgement = self._with_verdict(result), result.quotes, result.judgement
            if verdict is not None and not (verdict.support in LOWERED and self._is_verbatim(result)):
                sentence = sentence.model_copy(
                    update={
                        "support": verdict.support,
                        "missing": verdict.missing,
                        "judged_by": verdict.judged_by,
                        "probability": verdict.probability,
                        "rests_on": None,
                    }
                )
                quotes, judgement = self._quotes_of(result, verdict), judgement._replace(support=verdict.support)
            sentences.append(sentence)
            citations += self._citations(index, result.statement or result.claim.sentence.text, quotes, judgement)
        return Grounded(tuple(sentences), tuple(citations))

    def find(self, citation_id: str, words: str) -> types.Citation | None:
        """Return a citation of words that a source has, which are no struck out or hidden ones; None if it has not."""
        found = self._search.find_all(citation_id, [words])
        return self.cite(0, citation_id, found[0]) if found else None

    def leaves_open(self, claims: Sequence[Claim], text: str = "") -> bool:
        """Return whether words leave a claim to the judge; False if there is none."""
        return bool(self._left_to_judge(self._compare(claims, text)))

    def attribute(self, answer: ParsedAnswer) -> ParsedAnswer:
        """Return `answer` with citations for statements that cite nothing, or a source that says something else.

        Small language models answer from the sources, but write no marks or those of other sources. Who quotes a source
        word for word means that one.
        """
        cited: dict[int, Sequence[str]] = {}
        for index, claim in enumerate(answer.claims):
            statement = checkable_statement(claim.sentence, answer.text)
            text = analyze(statement)
            if len(text.words) + len(text.numbers) < MIN_STATED_WORDS or is_refusal(statement):
                continue
            _, judgement = self._search.find(statement, claim)
            if judgement.support is types.Support.SUPPORTED:
                continue
            if invalid := self._find_invalid(statement, claim):
                cited[index] = [self._sources.cited_id(source) for source in invalid]
            elif not self._search.is_quoted(statement, claim):
                cited[index] = self._better_sources(statement, claim.sentence.citation_ids, judgement)
        return with_citations(answer, cited)

    def _better_sources(self, statement: str, cited: Sequence[str], judgement: Judgement) -> Sequence[str]:
        """Return the sources that prove more of a statement than those it cites; () if there are none.

        For a statement that cites nothing, or nothing that is related to it, the source with most of its words will do.
        """
        aligned = self._search.align(statement, self._sources.ids)
        better = self._search.judge(statement, aligned)
        is_open = not cited or judgement.held < word_comparison.MIN_PARTLY
        if better.support is types.Support.SUPPORTED or (is_open and better.rank > judgement.rank):
            return [source for source, quotes in aligned.items() if quotes]
        return () if cited else self._search.nearest_source(statement)

    # --- what words and figures say ---

    def _compare(self, claims: Sequence[Claim], text: str) -> Sequence[_Compared]:
        """Compare the words and figures of all claims with their sources; an answer that is judged is compared once."""
        key = (tuple(claims), text)
        if key in self._compared:
            return self._compared[key]
        compared: list[_Compared] = []
        for claim in claims:
            statement = checkable_statement(claim.sentence, text)
            compared.append(_Compared(claim, statement, *self._search.find(statement or claim.sentence.text, claim)))
        checks = [self._check_figures(result) for result in compared]
        proved = [[*check.proved_in(analyze(result.statement))] for check, result in zip(checks, compared, strict=True)]
        for index, (result, check) in enumerate(zip(compared, checks, strict=True)):
            if check.absent:  # a figure may follow from those of another claim of the answer
                others = [figure for other, figures in enumerate(proved) if other != index for figure in figures]
                checks[index] = self._check_figures(result, others)
        checked = [
            result._replace(figures=check, judgement=judge_figures(result.judgement, check))
            for result, check in zip(compared, checks, strict=True)
        ]
        self._compared[key] = [
            self._resting_on(result, self._find_invalid(result.statement, result.claim))
            if result.judgement.support is not types.Support.SUPPORTED and result.claim.sentence.citation_ids
            else result
            for result in checked
        ]
        return self._compared[key]

    def _check_figures(self, result: _Compared, known: Sequence[Number] = ()) -> FigureCheck:
        """Look up the figures of a claim in the sources that it cites, and those in none of these in all sources."""
        statement, sources = result.statement, self._sources
        if not analyze(statement).numbers or not result.claim.sentence.citation_ids:
            return NO_FIGURES
        quoted = {
            source: [
                span
                for quote in (*quotes, *self._search.verbatim(source, result.claim))
                for span in sources.passage(source).units_at(quote.span)
            ]
            for source, quotes in result.quotes.items()
        }
        indexes = {source: self._figures_of(source) for source in self._read_for(result)}
        check = check_figures(statement, indexes, quoted, known, self._prompted.question)
        if not check.absent or not (self._judge and self._judge.reads_all):
            return check
        return check_figures(statement, {source: self._figures_of(source) for source in sources.ids}, quoted, known)

    def _figures_of(self, source: str) -> FigureIndex:
        if source not in self._figures:
            self._figures[source] = FigureIndex(self._sources.passage(source))
        return self._figures[source]

    def _read_for(self, result: _Compared) -> tuple[str, ...]:
        return self._sources.read_for(result.statement, result.claim.sentence.citation_ids)

    def _with_verdict(self, result: _Compared) -> types.Sentence:
        sentence, support = result.claim.sentence, result.judgement.support
        states_nothing = not result.statement or is_refusal(sentence.text)
        if support is not types.Support.SUPPORTED and states_nothing:
            return sentence
        if not sentence.citation_ids:
            return sentence.model_copy(update={"support": types.Support.UNCITED})
        if result.rests_on is not None:
            return sentence.model_copy(update={"support": types.Support.NOT_VERIFIED, "rests_on": result.rests_on})
        if support is types.Support.SUPPORTED and is_fragment(result.statement):
            # the words stand in the source; that they answer the question is not judged
            return sentence.model_copy(update={"support": types.Support.QUOTED})
        if support is types.Support.PARTLY:
            # Only a name or a count that the sources have nowhere is a missing part: other words may mean the same.
            passages = [self._sources.passage(source) for source in self._read_for(result)]
            texts = [text for passage in passages for text in (passage.text, *passage.titles)]
            lacks_count = bool(result.figures.counts) and result.judgement.held >= word_comparison.MIN_HELD
            if not lacks_count and not missing_names(result.statement, [self._prompted.question, *texts]):
                support = types.Support.NOT_VERIFIED
        judged_by = None if support is types.Support.NOT_VERIFIED else types.SAME_WORDS
        update = {"support": support, "missing": result.judgement.missing, "judged_by": judged_by}
        return sentence.model_copy(update=update)

    # --- what a judge decides ---

    def _left_to_judge(self, compared: Sequence[_Compared]) -> list[int]:
        """Return the indexes of the claims that the judge is asked about.

        One that reads the sources is asked about all, also about a bare "Yes", unless the answer is only a refusal.
        """
        if self._judge is None:
            return []
        if not self._judge.reads_all:
            return [index for index, result in enumerate(compared) if result.is_open]
        texts = [result.claim.sentence.text for result in compared]
        indexes = [i for i, text in enumerate(texts) if compared[i].statement or is_bare_reply(text)]
        return [] if all(is_refusal(texts[index]) for index in indexes) else indexes

    def _open_claim(self, index: int, compared: Sequence[_Compared]) -> OpenClaim:
        result, before = compared[index], compared[index - 1] if index else None
        is_proved = before is not None and before.judgement.support is types.Support.SUPPORTED
        names = {self._sources.document_names(source) for source in result.claim.sentence.citation_ids}
        return open_claim(
            result.statement or result.claim.sentence.text,
            {source: self._sources.passage(source) for source in self._read_for(result)},
            result.quotes,
            judgement=result.judgement,
            before=before.statement if before is not None and is_proved else "",
            names=names.pop() if len(names) == 1 else (),
            figures=result.figures._replace(misplaced=()) if self._is_verbatim(result) else result.figures,
            citation_ids=result.claim.sentence.citation_ids,
        )

    def _quotes_of(self, result: _Compared, verdict: MeaningVerdict) -> QuotesBySource:
        """Return the sentences that a verdict rests on; sources without one keep the quotes of the comparison."""
        quotes: dict[str, list[Quote]] = {}
        for sentence in verdict.sentences:
            quote = self._sources.passage(sentence.citation_id).quote_at(result.statement, sentence.span)
            quotes.setdefault(sentence.citation_id, []).append(quote)
        for words in verdict.words:
            named = [words.citation_id] if words.citation_id in self._sources.ids else []
            for source in dict.fromkeys([*named, *result.quotes, *self._sources.ids]):
                if located := self._sources.passage(source).find(words.text):
                    quotes.setdefault(source, []).append(located)
                    break
        own = {source: self._search.verbatim(source, result.claim) for source in result.quotes}
        compared = {source: with_others(own[source], others) for source, others in result.quotes.items()}
        return {source: quotes.get(source) or others for source, others in compared.items()} | quotes

    def _is_verbatim(self, result: _Compared) -> bool:
        """Return whether a source that a sentence cites has it word for word; a name or figure is no sentence."""
        if not result.statement or is_fragment(result.statement):
            return False
        words = normalize(result.statement).text.rstrip(".")
        return any(words in self._sources.passage(source).normalized for source in self._read_for(result))

    # --- what is struck out or hidden ---

    def _find_invalid(self, statement: str, claim: Claim) -> QuotesBySource:
        """Return the quotes of a claim in struck out or hidden words that alone say it; none if it speaks of them.

        These are the words that its writer quotes, or that prove it, or that alone have its figures.
        """
        cited = claim.sentence.citation_ids or self._sources.ids
        sources = [source for source, words in self._sources.invalid.items() if words.citation_id in cited]
        if not sources or not statement or said_kinds(statement):
            return {}
        passage, search = self._sources.passage, self._search
        proposed = [quote.text for quote in claim.quotes]
        unknown = [text for text in proposed if not any(passage(valid).find(text) for valid in cited)]
        if quotes := {source: own for source in sources if (own := search.find_all(source, unknown))}:
            return quotes
        figures = numbers.unsupported(statement, [passage(valid).text for valid in cited])
        for source in sources:
            aligned = search.align(statement, [source])
            is_proof = search.judge(statement, aligned).support is types.Support.SUPPORTED
            if is_proof or (figures and not numbers.unsupported(" ".join(figures), [passage(source).text])):
                quotes[source] = [*(aligned[source] or search.nearest(source, statement, 0.0))]
        return {source: own for source, own in quotes.items() if own}

    def _resting_on(self, result: _Compared, invalid: QuotesBySource) -> _Compared:
        """Return a claim that only these struck out or hidden words say as such, with them as its quotes."""
        if not invalid:
            return result
        cited = {self._sources.cited_id(source) for source in invalid}
        kept = {source: quotes for source, quotes in result.quotes.items() if source not in cited}
        kind = self._sources.invalid[next(iter(invalid))].kind
        return result._replace(quotes=kept | dict(invalid), judgement=word_comparison.UNRELATED, rests_on=kind)

    def _without_invalid(
        self, result: _Compared, verdict: MeaningVerdict | None
    ) -> tuple[_Compared, MeaningVerdict | None]:
        """Return a claim and its verdict, without what the judge concluded from struck out or hidden words alone."""
        if verdict is None or not self._sources.invalid or said_kinds(result.statement):
            return result, verdict
        texts = [words.text for words in verdict.words]
        if any(self._search.find_all(source, texts) for source in self._sources.ids) or verdict.sentences:
            return result, verdict
        invalid = {
            source: quotes for source in self._sources.invalid if (quotes := self._search.find_all(source, texts))
        }
        if verdict.support not in (types.Support.CONTRADICTED, types.Support.NOT_STATED):
            result = self._resting_on(result, invalid)
        return result, None if invalid or result.rests_on else verdict

    # --- how quotes are shown ---

    def _citations(
        self, index: int, statement: str, quotes: QuotesBySource, judgement: Judgement
    ) -> Iterator[types.Citation]:
        """Yield the citations of a sentence: its quotes with their column names and neighbours that complete them."""
        missing = self._missing_numbers(statement, quotes, judgement)
        complete: dict[str, list[Quote]] = {}
        for source, own in quotes.items():
            passage, complete[source] = self._sources.passage(source), list(own)
            for quote in own:
                beside = passage.context_with(quote.span, missing) if missing else []
                for span in dict.fromkeys([*beside, *passage.mentioned_context(quote.span, statement)]):
                    outside = [
                        one for one in complete[source] if one.span.start < span.start or span.end < one.span.end
                    ]
                    complete[source] = [*outside, Quote(span, quote.verdict)]
        missing = self._missing_numbers(statement, complete, judgement)
        for source, own in complete.items():
            shown: list[Quote | None] = [*dict.fromkeys(own)]
            for citation in shown or [None]:
                yield self.cite(index, source, citation, missing)

    def _missing_numbers(self, statement: str, quotes: QuotesBySource, judgement: Judgement) -> tuple[str, ...]:
        """Return numbers that no quote has; for a proved claim, document titles may supply the year."""
        passages = {source: self._sources.passage(source) for source in quotes}
        texts = [passages[source].read(quote.span) for source in quotes for quote in quotes[source]]
        if judgement.support is types.Support.SUPPORTED:
            texts += [title for passage in passages.values() for title in passage.titles]
        scales = numbers.union_scales(passage.scales for passage in passages.values())
        return numbers.unsupported(statement, texts, scales=scales)

    def cite(self, sentence: int, source: str, quote: Quote | None, missing: tuple[str, ...] = ()) -> types.Citation:
        """Return a citation for sentence number `sentence`; it is unverified if numbers are `missing` from all quotes.

        Raises:
            errors.GroundingError: the document cannot be read any more.
        """
        hit = self._sources.hit(source)
        lines = hit.passage.lines_of(*quote.span) if quote else ()
        regions = self._regions(hit, quote.span) if quote else ()
        return types.Citation(
            citation_id=self._sources.cited_id(source),
            sentence=sentence,
            quote=self._sources.passage(source).slice(quote.span) if quote else None,
            lines=lines,
            regions=regions,
            verdict=quote.verdict if quote and not missing else types.Verdict.UNVERIFIED,
            unsupported_numbers=missing,
            cells=_cells(regions),
            page_label=hit.page_labels.get((lines or hit.chunk.lines)[0].page_number),
        )

    def cite_unit(self, sentence: int, citation_id: str, unit: Unit, row: types.QuotedRow | None) -> types.Citation:
        """Return a verbatim citation of a unit of a source for sentence number `sentence`.

        A row is highlighted with its column names and the line that gives its unit. Raises as `cite`.
        """
        hit = self._sources.hit(citation_id)
        citation = self.cite(sentence, citation_id, Quote(unit.span, types.Verdict.VERIFIED))
        beside = [region for span in unit.spans[1:] for region in self._regions(hit, span)]
        regions = dict.fromkeys([*citation.regions, *beside])
        cells = citation.cells
        if row is not None and row.asked is not None:
            cells = _cells(self._regions(hit, unit.cells[row.asked].span))
        return citation.model_copy(update={"row": row, "regions": tuple(regions), "cells": cells})

    def _regions(self, hit: types.Hit, span: types.Span) -> tuple[types.Region, ...]:
        try:
            return self._locate(hit.passage.document_id, hit.passage, *span)
        except errors.SourceError as error:
            raise errors.GroundingError(
                N_(
                    "A quote cannot be located in {name}, whose kept pages cannot be read any more. Have the document "
                    "read again."
                ),
                name=hit.document_name,
                details={"document_id": str(hit.passage.document_id)},
            ) from error


def _cells(regions: Sequence[types.Region]) -> str | None:
    return ", ".join(dict.fromkeys(region.cells for region in regions if region.cells)) or None


# --- the quotes of a claim ---


def with_others(own: Sequence[Quote], found: Sequence[Quote]) -> list[Quote]:
    """Return a writer's own quotes, word for word, before those found by words, which hold some of them.

    Other words may prove a claim by themselves, but what it rests on is for its writer to say.
    """
    kept = [
        quote
        for quote in own
        if quote.verdict is types.Verdict.VERIFIED
        and not any(one.span.start <= quote.span.start and quote.span.end <= one.span.end for one in found)
    ]
    return [*kept, *found]


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
        proposed = {source: self._locate_proposed(source, statement, claim) for source in sources}
        quotes: QuotesBySource = proposed
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
        least = MIN_COVERAGE / len(sources)  # each of several sources may cover its part only
        found = {source: quotes[source] or self.nearest(source, statement, least) for source in quotes}
        quotes = found
        if judgement.support is not types.Support.SUPPORTED:
            quotes = {source: with_others(proposed[source], others) for source, others in found.items()}
        if judgement.support is types.Support.NOT_VERIFIED and not judgement.missing:  # what the nearest words lack
            judgement = judgement._replace(missing=self.judge(statement, quotes).missing)
        return quotes, judgement

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
        """Return the sentence nearest to a statement: with the share `least` of its words, or a paraphrase."""
        passage = self._passage(source)
        quote = passage.align(statement, self._reranker, least=least) or passage.find_translated(statement)
        return [quote] if quote else []

    def nearest_source(self, statement: str) -> Sequence[str]:
        """Return the first source with most of the words of a statement, else one with a paraphrase, if any."""
        for least, reranker in ((MOST_WORDS, None), (MIN_COVERAGE, None), (MIN_COVERAGE, self._reranker)):
            for source in self._sources.ids:
                if self._passage(source).align(statement, reranker, least=least):
                    return [source]
        return []

    def is_quoted(self, statement: str, claim: Claim) -> bool:
        """Return whether a source that a claim cites has a quote of it word for word, with a word of it or figures."""
        return any(
            passage.shared(statement, quote.span) > 0 or any(map(str.isdigit, passage.read(quote.span)))
            for source in claim.sentence.citation_ids
            for passage in [self._passage(source)]
            for quote in self.verbatim(source, claim)
        )

    def verbatim(self, source: str, claim: Claim) -> list[Quote]:
        """Return the quotes of several words that the writer of a claim took from a source word for word."""
        cited = self._sources.cited_id(source)
        texts = [quote.text for quote in claim.quotes if quote.citation_id in (cited, None)]
        found = self.find_all(source, [text for text in texts if len(text.split()) >= MIN_STATED_WORDS])
        return [quote for quote in found if quote.verdict is types.Verdict.VERIFIED]

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
