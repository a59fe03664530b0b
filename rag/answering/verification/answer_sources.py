"""The sources of one answer, each prepared once for finding words and figures in it."""

from collections.abc import Collection, Mapping
from pathlib import PurePath
from typing import NamedTuple

from rag import types
from rag.answering.verification import checkable_statements
from rag.answering.verification.figure_places import FigureIndex
from rag.answering.verification.quote_matching import QuotablePassage

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
        kinds = checkable_statements.said_kinds(statement) if self.invalid else ()
        invalid = (key for key, words in self.invalid.items() if words.citation_id in cited and words.kind in kinds)
        return (*cited, *invalid)
