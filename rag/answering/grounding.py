"""Tying an answer's sentences to their sources: for each a verbatim quote, its boxes and a verdict."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence

from rag import errors
from rag.answering import numbers
from rag.answering.citations import Claim
from rag.answering.quotes import MIN_COVERAGE, QuotablePassage, Quote
from rag.retrieval import Reranker
from rag.types import Citation, Hit, Passage, Region, Span, Verdict

Locate = Callable[[uuid.UUID, Passage, int, int], tuple[Region, ...]]
"""Boxes of the characters `passage.text[start:end]` in the document of that id; () if they can't be found."""


class Grounder:
    """Finds the quotes for claims in the sources of one answer; each source is prepared once."""

    def __init__(self, sources: Mapping[str, Hit], *, locate: Locate, reranker: Reranker | None = None) -> None:
        """`sources` maps citation ids to hits; a `reranker` also finds what says the same in other words."""
        self._sources = sources
        self._locate = locate
        self._reranker = reranker
        self._passages: dict[str, QuotablePassage] = {}

    def ground(self, claims: Sequence[Claim]) -> tuple[Citation, ...]:
        """The citations of all claims, in their order; at least one for each id that a claim cites."""
        return tuple(citation for index, claim in enumerate(claims) for citation in self._citations(index, claim))

    def _citations(self, index: int, claim: Claim) -> Iterator[Citation]:
        found = {citation_id: self._quotes(citation_id, claim) for citation_id in claim.sentence.citation_ids}
        missing = self._missing(claim, found)
        if missing:
            found = {citation_id: self._complete(citation_id, quotes, missing) for citation_id, quotes in found.items()}
            missing = self._missing(claim, found)
        for citation_id, quotes in found.items():
            if not quotes:
                yield self.cite(index, citation_id, None, missing)
            for quote in quotes:
                yield self.cite(index, citation_id, quote, missing)

    def cite(self, sentence: int, citation_id: str, quote: Quote | None, missing: tuple[str, ...] = ()) -> Citation:
        """The citation of sentence number `sentence`; one that states numbers which no quote has is never verified.

        Raises:
            errors.GroundingError: the document cannot be read any more.
        """
        hit = self._sources[citation_id]
        return Citation(
            citation_id=citation_id,
            sentence=sentence,
            quote=self.passage(citation_id).slice(quote.span) if quote else None,
            lines=hit.passage.lines_of(*quote.span) if quote else (),
            regions=self._regions(hit, quote.span) if quote else (),
            verdict=quote.verdict if quote and not missing else Verdict.UNVERIFIED,
            unsupported_numbers=missing,
        )

    def _regions(self, hit: Hit, span: Span) -> tuple[Region, ...]:
        try:
            return self._locate(hit.passage.document_id, hit.passage, *span)
        except errors.SourceError as error:
            raise errors.GroundingError(
                f"A quote cannot be located in {hit.document_name}, whose kept pages cannot be read any more. "
                "Have the document read again.",
                details={"document_id": str(hit.passage.document_id)},
            ) from error

    def passage(self, citation_id: str) -> QuotablePassage:
        """The prepared passage of a source."""
        if citation_id not in self._passages:
            self._passages[citation_id] = QuotablePassage(self._sources[citation_id].passage)
        return self._passages[citation_id]

    def _quotes(self, citation_id: str, claim: Claim) -> list[Quote]:
        """Where the proposed quotes stand; if none does, or none has to do with the claim, what says the same."""
        passage = self.passage(citation_id)
        proposed = [quote.text for quote in claim.quotes if quote.citation_id in (citation_id, None)]
        found = [quote for text in proposed if (quote := passage.find(text))]
        fitting = [quote for quote in found if passage.supports(claim.sentence.text, quote.span)]
        if fitting:
            return list(dict.fromkeys(fitting))
        least = MIN_COVERAGE / len(claim.sentence.citation_ids)  # each of several sources may cover its part only
        aligned = passage.align(claim.sentence.text, self._reranker, least=least)
        return [aligned] if aligned else found[:1]

    def _missing(self, claim: Claim, found: Mapping[str, Sequence[Quote]]) -> tuple[str, ...]:
        quotes = [self.passage(source).read(quote.span) for source in found for quote in found[source]]
        scales = frozenset[float]().union(*(self.passage(citation_id).scales for citation_id in found))
        return numbers.unsupported(claim.sentence.text, quotes, scales=scales)

    def _complete(self, citation_id: str, quotes: Sequence[Quote], missing: Sequence[str]) -> list[Quote]:
        """`quotes` with what stands beside them and holds `missing` numbers: a table's header, the whole sentence."""
        complete = list(quotes)
        for quote in quotes:
            for span in self.passage(citation_id).context_of(quote.span, missing):
                complete = [other for other in complete if not _within(other.span, span)]
                complete.append(Quote(span, quote.verdict))
        return list(dict.fromkeys(complete))


def _within(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end
