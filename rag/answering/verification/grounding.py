"""Ground the sentences of an answer: find the quotes that prove each, judge it, and locate the quotes.

For each claim: take the quotes that the model proposed; if they do not prove it, widen them to whole sentences, then
align the claim with the best sentences of the cited passages, then look for a paraphrase. The verdict comes from
`entailment.judge`, which compares words. A judge of meaning decides what that leaves open, and a language model about
all claims.
"""

import functools
import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rag import errors, types
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import clauses, numbers
from rag.answering.text.analyzed_text import analyze
from rag.answering.text.normalized_text import normalize
from rag.answering.text.numbers import Number
from rag.answering.verification import checkable_statements, entailment
from rag.answering.verification.citations import Claim, ParsedAnswer, with_citations
from rag.answering.verification.entailment import Judgement, judge_figures
from rag.answering.verification.figure_places import NO_FIGURES, FigureCheck, FigureIndex, check_figures
from rag.answering.verification.meaning import NOTHING_PROMPTED, MeaningJudge, MeaningVerdict, Prompted
from rag.answering.verification.missing_facts import missing_names
from rag.answering.verification.open_claims import OpenClaim, open_claim
from rag.answering.verification.quote_matching import MIN_COVERAGE, MIN_SHARED, QuotablePassage, Quote
from rag.messages import N_
from rag.retrieval import Reranker

Locate = Callable[[uuid.UUID, types.Passage, int, int], tuple[types.Region, ...]]
"""Return the boxes of `passage.text[start:end]` in the document of that id; () if they can't be found."""

MIN_STATED_WORDS = 3
"""Shorter statements, such as a bare figure, stand in many sources and say nothing about one."""

MOST_WORDS = 0.8
"""Share of a statement's words with which a source is taken before a better ranked one with fewer."""

KIND_CONTEXT = {
    types.BlockKind.STRUCK: "Struck out, crossed out, deleted words, text, sentence, clause, term, passage of the page",
    types.BlockKind.HIDDEN: "Hidden, invisible, not visible words, text, sentence, clause, term, passage of the page",
}
"""What invalid text is read under, so that a claim which says that it is struck out or hidden can be proved."""

LOWERED = (types.Support.PARTLY, types.Support.NOT_STATED, types.Support.CONTRADICTED)
"""Verdicts of a judge that change nothing about a sentence which its source has word for word."""

QuotesBySource = Mapping[str, Sequence[Quote]]
"""The quotes of a claim by the ids of their sources."""


class Grounded(NamedTuple):
    """The sentences of an answer with their verdicts, and all citations in order."""

    sentences: tuple[types.Sentence, ...]
    citations: tuple[types.Citation, ...]


class _Match(NamedTuple):
    """A span of a source, and its judgement for a claim."""

    citation_id: str
    span: types.Span
    judgement: Judgement


class _Compared(NamedTuple):
    """A claim, its statement ("" if it makes none), and the quotes and verdict found by comparing words."""

    claim: Claim
    statement: str
    found: QuotesBySource
    judgement: Judgement
    figures: FigureCheck = NO_FIGURES
    rests_on: types.BlockKind | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is a statement with sources about which words did not decide."""
        is_statement = bool(self.statement) and not checkable_statements.is_refusal(self.claim.sentence.text)
        is_left = not self.judgement.is_decided and self.rests_on is None
        return is_statement and bool(self.claim.sentence.citation_ids) and is_left


class Grounder:
    """Find and judge quotes for claims in the sources of one answer; each source is prepared once.

    Words that are struck out or hidden are kept as sources of their own, by an id like "S1 struck": they prove only
    claims that say so of them, and a claim that rests on nothing else is not verified.
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
        self._sources: dict[str, types.Hit] = {}
        self._invalid: dict[str, tuple[str, types.BlockKind, types.Hit]] = {}
        for citation_id, hit in sources.items():
            nothing = types.Passage(document_id=hit.passage.document_id, lines=())
            self._sources[citation_id] = hit.of_kinds(types.EVIDENCE) or hit.model_copy(update={"passage": nothing})
            for kind in types.NO_EVIDENCE:
                if marked := hit.of_kinds({kind}):
                    self._invalid[f"{citation_id} {kind}"] = citation_id, kind, marked
        self._locate = locate
        self._reranker = reranker
        self._judge = judge
        self._prompted = prompted
        self._passages: dict[str, QuotablePassage] = {}
        self._indexes: dict[str, FigureIndex] = {}
        self._compared: dict[tuple[tuple[Claim, ...], str], Sequence[_Compared]] = {}
        self._found: dict[tuple[object, ...], tuple[QuotesBySource, Judgement]] = {}

    def ground(self, claims: Sequence[Claim], text: str = "", *, by_meaning: bool = True) -> Grounded:
        """Return each claim's sentence with its verdict, and all citations, at least one for each cited id.

        `text` is the answer around the claims; headings and table rows are recognised by it. Without `by_meaning`, the
        judge is not asked.
        """
        compared = self._compare_all(claims, text)
        verdicts = self._judge_meaning(compared) if by_meaning else [None] * len(compared)
        pairs = [self._without_invalid(*pair) for pair in zip(compared, verdicts, strict=True)]
        sentences: list[types.Sentence] = []
        citations: list[types.Citation] = []
        for index, (one, verdict) in enumerate(pairs):
            sentence, found, judgement = self._with_verdict(one), one.found, one.judgement
            if verdict is not None and not (verdict.support in LOWERED and self._is_verbatim(one)):
                sentence = _with_meaning(sentence, verdict)
                found, judgement = self._quotes_of(one, verdict), judgement._replace(support=verdict.support)
            sentences.append(sentence)
            citations += self._citations(index, one.statement or one.claim.sentence.text, found, judgement)
        return Grounded(tuple(sentences), tuple(citations))

    def leaves_open(self, claims: Sequence[Claim], text: str = "") -> bool:
        """Return whether words leave a claim to the judge; False if there is none."""
        return self._judge is not None and bool(self._asked(self._compare_all(claims, text)))

    def attribute(self, answer: ParsedAnswer) -> ParsedAnswer:
        """Return `answer` with citations for statements that cite nothing, or a source that says something else.

        Small language models answer from the sources, but write no marks or those of other sources.
        """
        found: dict[int, Sequence[str]] = {}
        for index, claim in enumerate(answer.claims):
            statement = checkable_statements.checkable_statement(claim.sentence, answer.text)
            said = analyze(statement)
            if len(said.words) + len(said.numbers) < MIN_STATED_WORDS or checkable_statements.is_refusal(statement):
                continue
            _, judgement = self._find_quotes(statement, claim)
            if judgement.support is types.Support.SUPPORTED:
                continue
            if invalid := self._find_invalid(statement, claim):
                found[index] = [self._invalid[source][0] for source in invalid]
            else:
                found[index] = self._better_sources(statement, claim.sentence.citation_ids, judgement)
        return with_citations(answer, found)

    def _better_sources(self, statement: str, cited: Sequence[str], judgement: Judgement) -> Sequence[str]:
        """Return the sources that prove more of a statement than those it cites; () if there are none.

        For a statement that cites nothing, or nothing that is related to it, the source with most of its words will do.
        """
        aligned = self._align(statement, list(self._sources))
        better = self._judgement(statement, aligned)
        is_open = not cited or judgement.held < entailment.MIN_PARTLY
        if better.support is types.Support.SUPPORTED or (is_open and better.rank > judgement.rank):
            return [source for source, quotes in aligned.items() if quotes]
        return () if cited else self._nearest_sources(statement)

    def _nearest_sources(self, statement: str) -> Sequence[str]:
        """Return the first source with most of the words of a statement, else one with a paraphrase, if any."""
        near = (
            source
            for least, reranker in ((MOST_WORDS, None), (MIN_COVERAGE, None), (MIN_COVERAGE, self._reranker))
            for source in self._sources
            if self.passage(source).align(statement, reranker, least=least)
        )
        return list(itertools.islice(near, 1))

    def _compare_all(self, claims: Sequence[Claim], text: str) -> Sequence[_Compared]:
        """Compare all claims of an answer with their sources; an answer that is judged is compared once."""
        key = (tuple(claims), text)
        if key not in self._compared:
            compared = self._with_figures([self._compare(claim, text) for claim in claims])
            self._compared[key] = [self._resting_on_invalid(one) for one in compared]
        return self._compared[key]

    def _compare(self, claim: Claim, text: str) -> _Compared:
        statement = checkable_statements.checkable_statement(claim.sentence, text)
        return _Compared(claim, statement, *self._find_quotes(statement or claim.sentence.text, claim))

    # --- where its figures stand ---

    def _with_figures(self, compared: Sequence[_Compared]) -> list[_Compared]:
        """Look up the figures of all claims; a figure may follow from those of another claim of the answer."""
        checks = [self._check_figures(one) for one in compared]
        known = [[*check.proved_in(analyze(one.statement))] for check, one in zip(checks, compared, strict=True)]
        for number, (one, check) in enumerate(zip(compared, checks, strict=True)):
            if check.absent:
                others = [figure for other, figures in enumerate(known) if other != number for figure in figures]
                checks[number] = self._check_figures(one, others)
        return [
            one._replace(figures=check, judgement=judge_figures(one.judgement, check))
            for one, check in zip(compared, checks, strict=True)
        ]

    def _check_figures(self, one: _Compared, known: Sequence[Number] = ()) -> FigureCheck:
        """Look up the figures of a claim in the sources that it cites, and those in none of these in all sources."""
        if not analyze(one.statement).numbers or not one.claim.sentence.citation_ids:
            return NO_FIGURES
        quoted = {
            source: [span for quote in quotes for span in self.passage(source).units_at(quote.span)]
            for source, quotes in one.found.items()
        }
        indexes = {source: self._index(source) for source in self._ids(one.statement, one.claim)}
        check = check_figures(one.statement, indexes, quoted, known, self._prompted.question)
        if not check.absent or not (self._judge and self._judge.reads_all):
            return check
        return check_figures(one.statement, {source: self._index(source) for source in self._sources}, quoted, known)

    # --- what a judge decides ---

    def _asked(self, compared: Sequence[_Compared]) -> list[int]:
        """Return the indexes of the claims that the judge is asked about.

        One that reads the sources is asked about all, also about a bare "Yes", unless the answer is only a refusal.
        """
        if self._judge is None:
            return []
        if not self._judge.reads_all:
            return [number for number, one in enumerate(compared) if one.is_open]
        asked = [
            number
            for number, one in enumerate(compared)
            if one.statement or checkable_statements.is_bare_reply(one.claim.sentence.text)
        ]
        are_refusals = all(checkable_statements.is_refusal(compared[number].claim.sentence.text) for number in asked)
        return [] if are_refusals else asked

    def _judge_meaning(self, compared: Sequence[_Compared]) -> list[MeaningVerdict | None]:
        """Return the judge's verdict for each claim that it is asked about, None for the others."""
        verdicts: list[MeaningVerdict | None] = [None] * len(compared)
        asked = self._asked(compared)
        if self._judge and asked:
            judged = self._judge.judge([self._open_claim(number, compared) for number in asked], self._prompted)
            for number, verdict in zip(asked, judged, strict=True):
                verdicts[number] = verdict
        return verdicts

    def _open_claim(self, number: int, compared: Sequence[_Compared]) -> OpenClaim:
        one = compared[number]
        before = compared[number - 1] if number else None
        is_proved = before is not None and before.judgement.support is types.Support.SUPPORTED
        names = {_document_names(self._sources[source]) for source in one.claim.sentence.citation_ids}
        return open_claim(
            one.statement or one.claim.sentence.text,
            {source: self.passage(source) for source in self._ids(one.statement, one.claim)},
            one.found,
            judgement=one.judgement,
            before=before.statement if before is not None and is_proved else "",
            names=names.pop() if len(names) == 1 else (),
            figures=one.figures,
        )

    def _index(self, citation_id: str) -> FigureIndex:
        if citation_id not in self._indexes:
            self._indexes[citation_id] = FigureIndex(self.passage(citation_id))
        return self._indexes[citation_id]

    def _quotes_of(self, one: _Compared, verdict: MeaningVerdict) -> QuotesBySource:
        """Return the sentences that a verdict rests on; sources without one keep the quotes of the comparison."""
        found: dict[str, list[Quote]] = {}
        for place in verdict.places:
            quote = self.passage(place.citation_id).quote_at(one.statement, place.span)
            found.setdefault(place.citation_id, []).append(quote)
        for words in verdict.words:
            named = [words.citation_id] if words.citation_id and words.citation_id in self._sources else []
            for source in dict.fromkeys([*named, *one.found, *self._sources]):
                if located := self.passage(source).find(words.text):
                    found.setdefault(source, []).append(located)
                    break
        kept = {source: found.get(source) or quotes for source, quotes in one.found.items()}
        return kept | {source: quotes for source, quotes in found.items() if source not in kept}

    def _is_verbatim(self, one: _Compared) -> bool:
        """Return whether a source that a sentence cites has it word for word; a name or figure is no sentence."""
        if not one.statement or clauses.is_fragment(one.statement):
            return False
        words = normalize(one.statement).text.rstrip(".")
        return any(words in self.passage(source).normalized for source in self._ids(one.statement, one.claim))

    # --- what is struck out or hidden ---

    def _ids(self, statement: str, claim: Claim) -> tuple[str, ...]:
        """Return the sources that a claim cites, with their invalid text if it speaks of it as such."""
        cited = claim.sentence.citation_ids
        kinds = checkable_statements.said_kinds(statement) if self._invalid else ()
        return (*cited, *(source for source, (own, kind, _) in self._invalid.items() if own in cited and kind in kinds))

    def _find_invalid(self, statement: str, claim: Claim) -> QuotesBySource:
        """Return the quotes of a claim in struck out or hidden words that alone say it; none if it speaks of them.

        These are the words that its writer quotes, or that prove it, or that alone have its figures.
        """
        cited = claim.sentence.citation_ids or tuple(self._sources)
        sources = [source for source, (own, _, _) in self._invalid.items() if own in cited]
        if not sources or not statement or checkable_statements.said_kinds(statement):
            return {}
        proposed = [quote.text for quote in claim.quotes]
        unknown = [text for text in proposed if not any(self.passage(own).find(text) for own in cited)]
        found = {source: quotes for source in sources if (quotes := self._find_all(source, unknown))}
        if found:
            return found
        figures = numbers.unsupported(statement, [self.passage(own).text for own in cited])
        for source in sources:
            aligned = self._align(statement, [source])
            is_proof = self._judgement(statement, aligned).support is types.Support.SUPPORTED
            if is_proof or (figures and not numbers.unsupported(" ".join(figures), [self.passage(source).text])):
                found[source] = [*(aligned[source] or self._nearest(source, statement, 0.0))]
        return {source: quotes for source, quotes in found.items() if quotes}

    def _find_all(self, source: str, texts: Sequence[str]) -> list[Quote]:
        return [quote for text in texts if (quote := self.passage(source).find(text))]

    def _resting_on_invalid(self, one: _Compared) -> _Compared:
        """Return a claim that only struck out or hidden words say as such, with these as its quotes."""
        if one.judgement.support is types.Support.SUPPORTED or not one.claim.sentence.citation_ids:
            return one
        return self._quoting_invalid(one, self._find_invalid(one.statement, one.claim))

    def _quoting_invalid(self, one: _Compared, found: QuotesBySource) -> _Compared:
        if not found:
            return one
        sources = {self._invalid[source][0] for source in found}
        kept = {source: quotes for source, quotes in one.found.items() if source not in sources}
        kind = self._invalid[next(iter(found))][1]
        return one._replace(found=kept | dict(found), judgement=entailment.UNRELATED, rests_on=kind)

    def _without_invalid(
        self, one: _Compared, verdict: MeaningVerdict | None
    ) -> tuple[_Compared, MeaningVerdict | None]:
        """Return a claim and its verdict, without what the judge concluded from struck out or hidden words alone."""
        if verdict is None or not self._invalid or checkable_statements.said_kinds(one.statement):
            return one, verdict
        words = [quoted.text for quoted in verdict.words]
        if any(self.passage(source).find(text) for source in self._sources for text in words) or verdict.places:
            return one, verdict
        found = {source: quotes for source in self._invalid if (quotes := self._find_all(source, words))}
        if found and verdict.support not in (types.Support.CONTRADICTED, types.Support.NOT_STATED):
            one = self._quoting_invalid(one, found)
        return one, None if found or one.rests_on else verdict

    # --- which words prove a claim ---

    def _find_quotes(self, claimed: str, claim: Claim) -> tuple[QuotesBySource, Judgement]:
        """Return the quotes of a claim and their verdict; found once."""
        proposed = tuple((quote.citation_id, quote.text) for quote in claim.quotes)
        key = (claimed, claim.sentence.citation_ids, proposed)
        if key not in self._found:
            self._found[key] = self._search_quotes(claimed, claim)
        return self._found[key]

    def _search_quotes(self, claimed: str, claim: Claim) -> tuple[QuotesBySource, Judgement]:
        """Return the proposed, widened, aligned or paraphrasing quotes of a claim, and their verdict."""
        ids = self._ids(claimed, claim)
        if checkable_statements.is_bare_reply(claimed):
            return {citation_id: [] for citation_id in ids}, entailment.UNRELATED
        found: QuotesBySource = {citation_id: self._locate_proposed(citation_id, claimed, claim) for citation_id in ids}
        judgement = self._judgement(claimed, found)
        if not ids or judgement.support is types.Support.SUPPORTED:
            return found, judgement
        for other in (self._widen(found), self._align(claimed, ids)):
            better = self._judgement(claimed, other)
            if better.rank > judgement.rank:
                found, judgement = other, better
        if judgement.support is types.Support.NOT_VERIFIED:
            found, judgement = self._find_paraphrase(claimed, found, judgement)
        least = MIN_COVERAGE / len(ids)  # each of several sources may cover its part only
        return {source: found[source] or self._nearest(source, claimed, least) for source in found}, judgement

    def _locate_proposed(self, citation_id: str, claimed: str, claim: Claim) -> list[Quote]:
        """Return the located quotes that the model proposed.

        A verbatim one stays if it has any word or figure of the claim, or stands beside one that has, as a table's head
        beside its row; a corrected one needs more of them.
        """
        passage = self.passage(citation_id)
        own = self._invalid[citation_id][0] if citation_id in self._invalid else citation_id
        proposed = [quote.text for quote in claim.quotes if quote.citation_id in (own, None)]
        found = [quote for text in proposed if (quote := passage.find(text))]
        verbatim = [quote for quote in found if quote.verdict is types.Verdict.VERIFIED]
        is_kept = any(passage.shared(claimed, quote.span) > 0 for quote in verbatim)
        return list(
            dict.fromkeys(
                quote
                for quote in found
                if (is_kept and quote in verbatim) or passage.shared(claimed, quote.span) >= MIN_SHARED
            )
        )

    def _judgement(self, claimed: str, found: QuotesBySource) -> Judgement:
        evidence = [
            piece for source in found for quote in found[source] for piece in self.passage(source).evidence(quote.span)
        ]
        return entailment.judge(claimed, evidence)

    def _widen(self, found: QuotesBySource) -> QuotesBySource:
        """Extend quotes to their whole sentences and rows."""
        return {
            source: list(
                dict.fromkeys(
                    Quote(span, quote.verdict)
                    for quote in found[source]
                    for span in self.passage(source).units_at(quote.span)
                )
            )
            for source in found
        }

    def _align(self, claimed: str, ids: Sequence[str]) -> QuotesBySource:
        """Return the sentence or row that proves the claim best, or one for each of its clauses."""

        @functools.cache
        def best(part: str) -> _Match | None:
            return self._best(part, ids)

        def judge(part: str) -> Judgement:
            place = best(part)
            return place.judgement if place else entailment.UNRELATED

        if numbers.shows_computation(claimed):
            places = [
                place for number in numbers.find_numbers(claimed) if (place := self._find_figure(number, claimed, ids))
            ]
        else:
            parts = entailment.judge_by_clause(claimed, judge).clauses
            places = [place for part in parts if (place := best(part))]
        found: dict[str, list[Quote]] = {citation_id: [] for citation_id in ids}
        for citation_id, span in dict.fromkeys((place.citation_id, place.span) for place in places):
            found[citation_id].append(self.passage(citation_id).quote_at(claimed, span))
        return found

    def _find_figure(self, number: numbers.Number, claimed: str, ids: Sequence[str]) -> _Match | None:
        """Return the first likely sentence or row that has a figure."""
        for citation_id in ids:
            for span in self.passage(citation_id).likely_spans(claimed):
                if not numbers.unsupported(number.text, [self.passage(citation_id).read(span)]):
                    return _Match(citation_id, span, entailment.UNRELATED)
        return None

    def _best(self, claimed: str, ids: Sequence[str]) -> _Match | None:
        places = [
            _Match(citation_id, span, self._judge_whole(claimed, citation_id, span))
            for citation_id in ids
            for span in self.passage(citation_id).likely_spans(claimed)
        ]
        best = max(places, key=lambda place: place.judgement.rank, default=None)
        return best if best and best.judgement.support is not types.Support.NOT_VERIFIED else None

    def _judge_whole(self, claimed: str, citation_id: str, span: types.Span) -> Judgement:
        return entailment.judge_whole(claimed, self.passage(citation_id).evidence(span))

    def _find_paraphrase(
        self, claimed: str, found: QuotesBySource, judgement: Judgement
    ) -> tuple[QuotesBySource, Judgement]:
        """Look for a paraphrase by the cross-encoder, or for the same figures in another language."""
        for source in found:
            passage = self.passage(source)
            quote = passage.find_paraphrase(claimed, self._reranker)
            if quote is None:
                continue
            loose = max(
                (entailment.judge_paraphrase(claimed, piece) for piece in passage.evidence(quote.span)),
                key=lambda judged: judged.rank,
            )
            if loose.support is types.Support.PARTLY:
                return {**found, source: [quote]}, loose
        return found, judgement

    def _nearest(self, citation_id: str, claimed: str, least: float) -> list[Quote]:
        quote = self.passage(citation_id).align(claimed, self._reranker, least=least)
        return [quote] if quote else []

    def passage(self, citation_id: str) -> QuotablePassage:
        """Return the prepared passage of a source."""
        if citation_id not in self._passages:
            hit, titles = self._hit(citation_id), _titles(self._hit(citation_id))
            if citation_id in self._invalid:
                titles = (*titles, KIND_CONTEXT[self._invalid[citation_id][1]])
            self._passages[citation_id] = QuotablePassage(hit.passage, titles=titles)
        return self._passages[citation_id]

    def _hit(self, source: str) -> types.Hit:
        """Return a source, or its invalid text."""
        return self._invalid[source][2] if source in self._invalid else self._sources[source]

    def _with_verdict(self, one: _Compared) -> types.Sentence:
        """Return a sentence with the verdict of words and facts."""
        sentence, support = one.claim.sentence, one.judgement.support
        if support is not types.Support.SUPPORTED and (
            not one.statement or checkable_statements.is_refusal(sentence.text)
        ):
            return sentence
        if not sentence.citation_ids:
            return sentence.model_copy(update={"support": types.Support.UNCITED})
        if one.rests_on is not None:
            return sentence.model_copy(update={"support": types.Support.NOT_VERIFIED, "rests_on": one.rests_on})
        if support is types.Support.SUPPORTED and clauses.is_fragment(one.statement):
            # the words stand in the source; that they answer the question is not judged
            return sentence.model_copy(update={"support": types.Support.QUOTED})
        if support is types.Support.PARTLY and not self._lacks_a_fact(one):
            support = types.Support.NOT_VERIFIED
        judged_by = None if support is types.Support.NOT_VERIFIED else types.SAME_WORDS
        missing = one.judgement.missing
        return sentence.model_copy(update={"support": support, "missing": missing, "judged_by": judged_by})

    def _lacks_a_fact(self, one: _Compared) -> bool:
        """Return whether the sources say the rest of a claim, but have a name or a count of it nowhere.

        Other words that they do not have may mean the same as theirs.
        """
        passages = [self.passage(source) for source in self._ids(one.statement, one.claim)]
        texts = [text for passage in passages for text in (passage.text, *passage.titles)]
        is_count_missing = bool(one.figures.counts) and one.judgement.held >= entailment.MIN_HELD
        return is_count_missing or bool(missing_names(one.statement, [self._prompted.question, *texts]))

    # --- how they are shown ---

    def _citations(
        self, index: int, claimed: str, found: QuotesBySource, judgement: Judgement
    ) -> Iterator[types.Citation]:
        missing = self._missing_numbers(claimed, found, judgement)
        found = {source: self._with_context(source, quotes, claimed, missing) for source, quotes in found.items()}
        missing = self._missing_numbers(claimed, found, judgement)
        for citation_id, quotes in found.items():
            if not quotes:
                yield self.cite(index, citation_id, None, missing)
            for quote in quotes:
                yield self.cite(index, citation_id, quote, missing)

    def cite(
        self, sentence: int, citation_id: str, quote: Quote | None, missing: tuple[str, ...] = ()
    ) -> types.Citation:
        """Return a citation for sentence number `sentence`; it is unverified if numbers are `missing` from all quotes.

        Raises:
            errors.GroundingError: the document cannot be read any more.
        """
        hit = self._hit(citation_id)
        lines = hit.passage.lines_of(*quote.span) if quote else ()
        regions = self._regions(hit, quote.span) if quote else ()
        return types.Citation(
            citation_id=self._invalid[citation_id][0] if citation_id in self._invalid else citation_id,
            sentence=sentence,
            quote=self.passage(citation_id).slice(quote.span) if quote else None,
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
        hit = self._sources[citation_id]
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

    def _missing_numbers(self, claimed: str, found: QuotesBySource, judgement: Judgement) -> tuple[str, ...]:
        """Return numbers that no quote has; for a proved claim, document titles may supply the year."""
        quotes = [self.passage(source).read(quote.span) for source in found for quote in found[source]]
        if judgement.support is types.Support.SUPPORTED:
            quotes += [title for source in found for title in self.passage(source).titles]
        scales = numbers.union_scales(self.passage(citation_id).scales for citation_id in found)
        return numbers.unsupported(claimed, quotes, scales=scales)

    def _with_context(
        self, citation_id: str, quotes: Sequence[Quote], claimed: str, missing: Sequence[str]
    ) -> list[Quote]:
        """Add to `quotes` their column names and neighbouring units with `missing` numbers."""
        passage = self.passage(citation_id)
        complete = list(quotes)
        for quote in quotes:
            beside = passage.context_with(quote.span, missing) if missing else []
            for span in dict.fromkeys([*beside, *passage.mentioned_context(quote.span, claimed)]):
                complete = [other for other in complete if not _within(other.span, span)]
                complete.append(Quote(span, quote.verdict))
        return list(dict.fromkeys(complete))


def _with_meaning(sentence: types.Sentence, verdict: MeaningVerdict) -> types.Sentence:
    return sentence.model_copy(
        update={
            "support": verdict.support,
            "missing": verdict.missing,
            "judged_by": verdict.judged_by,
            "probability": verdict.probability,
            "rests_on": None,
        }
    )


def _titles(hit: types.Hit) -> tuple[str, ...]:
    """Return what a passage is read under: the name and title of its document, and its section."""
    return (*_document_names(hit), *filter(None, [hit.chunk.section]))


def _document_names(hit: types.Hit) -> tuple[str, ...]:
    """Return the name and title of the document of a hit."""
    return tuple(filter(None, [PurePath(hit.document_name).stem.replace("_", " "), hit.title]))


def _cells(regions: Sequence[types.Region]) -> str | None:
    """Return the spreadsheet cells of a quote."""
    return ", ".join(dict.fromkeys(region.cells for region in regions if region.cells)) or None


def _within(span: types.Span, other: types.Span) -> bool:
    return other.start <= span.start and span.end <= other.end
