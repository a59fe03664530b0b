"""Pages of documents: their text, their pictures, where words stand on them, and copies with what an answer quotes."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rag import errors, parsing
from rag.engine.workspace import Workspace
from rag.types import AnswerResponse, Citation, Highlight, Passage, Region, Sentence


class MarkedCopy(NamedTuple):
    """A PDF of the pages on which a document's `highlights` stand."""

    highlights: tuple[Highlight, ...]
    content: bytes

    @property
    def page_numbers(self) -> tuple[int, ...]:
        """Its pages, by their numbers in the document."""
        return tuple(sorted({highlight.region.page_number for highlight in self.highlights}))


class Pages:
    """One user's pages."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def text(self, document_id: uuid.UUID, page_numbers: Sequence[int]) -> Passage:
        """All lines of some pages, each once though chunks overlap; none of pages without text."""
        asked = [(document_id, number) for number in page_numbers]
        found = self._workspace.store.chunks.page_lines(asked)
        return Passage(document_id=document_id, lines=tuple(line for page in asked for line in found.get(page, ())))

    def image(
        self, document_id: uuid.UUID, page_number: int, *, zoom: float = 2.0, regions: Sequence[Region] = ()
    ) -> bytes:
        """A page as PNG at `zoom` pixels per point, the boxes of `regions` drawn on it."""
        rendition = self._workspace.files.local_path(document_id, "rendition")
        return parsing.page_image(rendition, page_number, zoom=zoom, regions=regions)

    def marked(self, response: AnswerResponse, document_id: uuid.UUID) -> MarkedCopy:
        """The pages on which `response` quotes the document, each quote lit, with its sentence and verdict as a note.

        Raises:
            errors.NotFoundError: it quotes nothing of this document, or the document is gone.
        """
        rendition = self._workspace.files.local_path(document_id, "rendition")
        found = _highlights(response, document_id)
        return MarkedCopy(found, parsing.marked_copy(rendition, found))

    def locate(self, document_id: uuid.UUID, passage: Passage, start: int, end: int) -> tuple[Region, ...]:
        """The boxes of exactly the characters `passage.text[start:end]`.

        Of a document that was never rendered, whose blocks a caller brought, the boxes of its lines.
        """
        try:
            rendition = self._workspace.files.local_path(document_id, "rendition")
        except errors.NotFoundError:
            return passage.regions_of(start, end)
        return parsing.locate(rendition, passage, start, end)


def _highlights(response: AnswerResponse, document_id: uuid.UUID) -> tuple[Highlight, ...]:
    """What the answer quotes of the document; words quoted twice are marked once, with both notes."""
    notes: dict[Region, list[str]] = defaultdict(list)
    for label, (citation, hit) in zip(response.labels, response.cited, strict=True):
        if hit.passage.document_id == document_id and citation.sentence not in response.struck:
            for region in citation.regions:
                notes[region].append(_note(label, citation, response.sentences[citation.sentence]))
    return tuple(Highlight(region=region, note="\n\n".join(own)) for region, own in notes.items())


def _note(label: str, citation: Citation, sentence: Sentence) -> str:
    missing = ", ".join(sentence.missing or citation.unsupported_numbers)
    warning = f"\nNot in the quoted words: {missing}" if missing else ""
    verdict = f"{sentence.support}, " if sentence.support else ""
    return f"{label} · {verdict}quote {citation.verdict.value}\n{sentence.text}{warning}"
