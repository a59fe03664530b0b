"""Pages of documents: text, pictures, outlines, word search, and copies with highlighted quotes."""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rag import errors, parsing, types
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.export import Translate, mark_of, reason_of
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.messages import N_
from rag.store.users.audit_log import Subject

ZOOM_RANGE = (0.1, 6.0)
"""Pixels per point in which a page is drawn."""
MAX_WORDS_CHARS = 2000
INTERCHANGEABLE = ("'’‘ʼ`", '"“”„«»', "-‐‑‒–—−")
"""Characters that match each other."""
LINE_BREAK = r"(?:[-\u00ad]\s*\n\s*|\u00ad)?"
"""A word may be hyphenated at the end of a line, between any two letters."""


class MarkedCopy(NamedTuple):
    """A PDF with highlights, of the marked pages or all pages."""

    highlights: tuple[types.Highlight, ...]
    content: bytes

    @property
    def page_numbers(self) -> tuple[int, ...]:
        """The marked pages, by their numbers in the document."""
        return tuple(sorted({highlight.region.page_number for highlight in self.highlights}))


class Pages:
    """Pages of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def text(self, document_id: uuid.UUID, page_numbers: Sequence[int]) -> types.Passage:
        """Return the lines of pages, each once though chunks overlap."""
        pages = [(document_id, number) for number in page_numbers]
        lines = self._workspace.store.chunks.page_lines(pages)
        return types.Passage(
            document_id=document_id, lines=tuple(line for page in pages for line in lines.get(page, ()))
        )

    def image(
        self, document_id: uuid.UUID, page_number: int, *, zoom: float = 2.0, regions: Sequence[types.Region] = ()
    ) -> bytes:
        """Return a page as PNG at `zoom` pixels per point, with the boxes of `regions`.

        Raises:
            errors.ValidationError: the zoom is not within `ZOOM_RANGE`.
        """
        least, most = ZOOM_RANGE
        if not least <= zoom <= most:  # also if it is no number
            raise errors.ValidationError(
                N_("A page is drawn at {least} to {most} pixels per point. Give such a number."),
                least=f"{least:g}",
                most=f"{most:g}",
            )
        rendition = self._workspace.files.local_path(document_id, "rendition")
        return parsing.page_image(rendition, page_number, zoom=zoom, regions=regions)

    def find(self, document_id: uuid.UUID, words: str) -> list[types.PageCount]:
        """Count occurrences of `words` by page; `found_on` returns the places."""
        texts = self._workspace.store.chunks.page_texts(document_id)
        counts = ((number, sum(1 for _ in find_words(words, text))) for number, text in texts.items())
        return [types.PageCount(page_number=number, count=count) for number, count in counts if count]

    def found_on(self, document_id: uuid.UUID, page_number: int, words: str) -> list[tuple[types.Region, ...]]:
        """Return the boxes of each occurrence of `words` on a page."""
        page = self.text(document_id, [page_number])
        return [self.locate(document_id, page, *span) for span in find_words(words, page.text)]

    def outline(self, document_id: uuid.UUID) -> tuple[types.OutlineEntry, ...]:
        """Return the bookmarks of the file, or the headings found in it."""
        rendition = self._workspace.files.local_path(document_id, "rendition")
        return parsing.bookmarks(rendition) or tuple(_headings(self._workspace.store.chunks.of_document(document_id)))

    def place(self, document_id: uuid.UUID, region: types.Region, *, zoom: float = 2.0) -> bytes:
        """Return a page section with `region` highlighted as PNG. Raises NotFoundError."""
        rendition = self._workspace.files.local_path(document_id, "rendition")
        return parsing.region_image(rendition, region, zoom=zoom)

    def marked(
        self, response: types.AnswerResponse, document_id: uuid.UUID, *, whole: bool = False, say: Translate = str
    ) -> MarkedCopy:
        """Return the pages that `response` quotes, or all with `whole`, with highlights and notes.

        `say` translates the notes. Raises NotFoundError if it quotes nothing of this document, or the document is gone.
        """
        rendition = self._workspace.files.local_path(document_id, "rendition")
        highlights = _highlights(response, document_id, say)
        write = parsing.annotated_pdf if whole else parsing.annotated_excerpt
        return MarkedCopy(highlights, write(rendition, highlights))

    def download(self, document_id: uuid.UUID, copy: MarkedCopy) -> bytes:
        """Return a marked copy's content for download, which is recorded in the audit log. Raises NotFoundError."""
        subject = Subject("document", str(document_id), self._workspace.store.documents.get(document_id).name)
        self._workspace.store.audit.add("export", subject, owner=self._workspace.user_id, format="marked")
        return copy.content

    def locate(self, document_id: uuid.UUID, passage: types.Passage, start: int, end: int) -> tuple[types.Region, ...]:
        """Return the boxes of the characters `passage.text[start:end]`.

        For a document without rendition, whose blocks the caller parsed, the boxes of its lines.
        """
        try:
            rendition = self._workspace.files.local_path(document_id, "rendition")
        except errors.NotFoundError:
            return types.Passage(document_id=passage.document_id, lines=passage.lines_of(start, end)).regions
        return parsing.locate(rendition, passage, start, end)


def _headings(chunks: Iterable[types.Chunk]) -> Iterator[types.OutlineEntry]:
    """Yield each heading that begins a section, at its line, else at the start of the chunk."""
    before: list[str] = []
    for chunk in chunks:
        if not chunk.kinds & types.PAGE_TEXT:
            continue
        path = chunk.section.split(SECTION_SEPARATOR) if chunk.section else []
        same = next((i for i, (new, old) in enumerate(zip(path, before, strict=False)) if new != old), len(before))
        for level, title in enumerate(path[same:], start=same + 1):
            heads = (line for line in chunk.lines if line.kind is types.BlockKind.HEADING and line.text in title)
            line = next(heads, chunk.lines[0])
            yield types.OutlineEntry(level=level, title=title, page_number=line.page_number, y=line.bbox.y0)
        before = path


def _highlights(response: types.AnswerResponse, document_id: uuid.UUID, say: Translate) -> tuple[types.Highlight, ...]:
    """Return the quoted regions; words quoted twice are marked once, with both notes."""
    notes: dict[types.Region, list[str]] = defaultdict(list)
    for label, (citation, hit) in zip(response.labels, response.cited, strict=True):
        if hit.passage.document_id == document_id:
            sentence, mark = response.sentences[citation.sentence], mark_of(response, citation.sentence, say)
            labels = map(say, types.set_apart_labels(citation.lines_in(hit)))
            verdict = " · ".join(filter(None, [label, *labels, mark, reason_of(sentence, say)]))
            for region in citation.regions:
                notes[region].append(f"{verdict}\n{sentence.text}")
    return tuple(types.Highlight(region=region, note="\n\n".join(own)) for region, own in notes.items())


def find_words(words: str, text: str) -> Iterator[types.Span]:
    """Yield where `words` stand in `text`, ignoring case, line breaks, hyphenation and styles of quotation marks."""
    parts = [LINE_BREAK.join(map(_letter, word)) for word in words[:MAX_WORDS_CHARS].split()]
    if parts:
        for match in re.finditer(r"\s+".join(parts), text, re.IGNORECASE):
            yield types.Span(*match.span())


def _letter(letter: str) -> str:
    alike = next((group for group in INTERCHANGEABLE if letter in group), None)
    return f"[{re.escape(alike)}]" if alike else re.escape(letter)


class Annotations:
    """One user's highlights and notes; they are private, also in shared documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add(self, document_id: uuid.UUID, request: types.AnnotationRequest | Mapping[str, Any]) -> types.Annotation:
        """Highlight a region, with or without a note. Raises ValidationError and NotFoundError."""
        parsed = parse(types.AnnotationRequest, request)
        regions = [types.Region(page_number=region.page_number, rects=region.rects) for region in parsed.regions]
        return self._workspace.store.annotations.add(document_id, regions, parsed.quote, parsed.note)

    def edit(self, document_id: uuid.UUID, annotation_id: uuid.UUID, note: str) -> types.Annotation:
        """Change a note. Raises ValidationError if it is too long, NotFoundError if there is no such annotation."""
        return self._workspace.store.annotations.edit(
            document_id, annotation_id, parse(types.AnnotationEdit, {"note": note}).note
        )
