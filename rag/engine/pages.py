"""Pages of documents: their text, their pictures, and where words stand on them."""

import uuid
from collections.abc import Sequence

from rag import errors, parsing
from rag.engine.workspace import Workspace
from rag.types import Highlight, Passage, Region


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

    def window(self, document_id: uuid.UUID, first: int, last: int, highlights: Sequence[Highlight] = ()) -> bytes:
        """Pages `first` to `last` as a PDF with `highlights` burnt in."""
        rendition = self._workspace.files.local_path(document_id, "rendition")
        return parsing.page_window(rendition, first=first, last=last, highlights=highlights)

    def locate(self, document_id: uuid.UUID, passage: Passage, start: int, end: int) -> tuple[Region, ...]:
        """The boxes of exactly the characters `passage.text[start:end]`.

        Of a document that was never rendered, whose blocks a caller brought, the boxes of its lines.
        """
        try:
            rendition = self._workspace.files.local_path(document_id, "rendition")
        except errors.NotFoundError:
            return passage.regions_of(start, end)
        return parsing.locate(rendition, passage, start, end)
