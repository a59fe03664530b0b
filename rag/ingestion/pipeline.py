"""From a stored original to searchable chunks: render and parse, cut, embed, and replace what was there before.

Cutting and embedding are an `IngestionPipeline` of LlamaIndex. Writing is not: with a document store the pipeline
deletes before it embeds. Here everything that can fail happens before the one transaction that replaces the document's
chunks, so a failure leaves the old version searchable.
"""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from llama_index.core import ingestion, schema
from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.node_parser import NodeParser

from rag import errors, parsing, providers, vocabulary
from rag.config import Config
from rag.ingestion import languages
from rag.ingestion.chunking import SECTION_SEPARATOR, document_heading
from rag.ingestion.nodes import BlockNodeParser, FileDocument, chunks_of, lines_of
from rag.store import UserFiles, UserStore
from rag.types import (
    Chunk,
    Document,
    DocumentStatus,
    Index,
    Line,
    OnProgress,
    PageInfo,
    PageText,
    ParsedDocument,
    TextBlock,
    UnpackedPart,
    ignore_progress,
)

OnParts = Callable[[Sequence[UnpackedPart]], None]

FRONT_PAGES, FRONT_CHARACTERS = 2, 2500
"""The cover, or the cover and what follows it."""
TITLE_CHARACTERS = 250
"""So much of a page is its title: the lines that head it."""
NAME_WEIGHT = 5
"""What a word of a document's name counts beside one of its first pages. Flat from 3 to 10.

So often it is repeated, as in Robertson, Zaragoza, Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004.
"""


class Ingestion:
    """Takes documents of one index from their original to `ready`."""

    def __init__(
        self,
        *,
        config: Config,
        store: UserStore,
        files: UserFiles,
        index: Index,
        embedder: embeddings.BaseEmbedding,
        node_parser: NodeParser | None = None,
        landmarks: vocabulary.Landmarks,
    ) -> None:
        """`node_parser` cuts in the place of our own; `landmarks` finds the named parts of documents."""
        self._config = config
        self._store = store
        self._files = files
        self._index = index
        self._embedder = embedder
        self._landmarks = landmarks
        self._node_parser = node_parser or BlockNodeParser(options=index.chunking)

    def run(
        self,
        document: Document,
        on_progress: OnProgress,
        *,
        max_chunks: int | None = None,
        on_parts: OnParts | None = None,
    ) -> None:
        """Parse, cut, embed and store `document`; the old chunks stay searchable until the last step.

        `on_parts` gets the files that were in it, if any are; they are there until it returns.

        Raises:
            errors.LimitError: it has more than `max_chunks`.
            errors.SourceError: the file cannot be read.
            errors.ProviderError: the embedding vendor refuses.
            errors.StoreError: the database or file storage fails.
        """
        parsed = self._parse(document, on_progress, on_parts)
        self.index(document, parsed, on_progress, max_chunks=max_chunks)

    def read_pictures(self, document: Document) -> None:
        """Read the words in the pictures of a document that is searchable; equal chunks are not embedded again.

        Raises as `run`.
        """
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            rendition = Path(folder) / "rendition.pdf"
            again = parsing.read_file(
                self._files.local_path(document.id, "rendition"),  # where scans have their words already
                name=f"{document.name}.pdf",
                rendition=rendition,
                config=self._config.rag_parsing,
                pictures=True,
            )
            self._files.put(document.id, "rendition", rendition)
        self.index(document, _with_known(again, document), ignore_progress)

    def index(
        self, document: Document, parsed: ParsedDocument, on_progress: OnProgress, *, max_chunks: int | None = None
    ) -> None:
        """Cut, embed and store what was parsed."""
        name, given_title = self._store.catalogue.called(document.id)  # it may have been renamed meanwhile
        title = given_title or parsed.title
        file = FileDocument.of(document.id, name, parsed.model_copy(update={"title": title}))
        lines = lines_of(parsed)
        nodes = self._pipeline(on_progress, _Limit(document=document.name, most=max_chunks)).run(documents=[file])
        chunks = chunks_of(file, nodes)
        self._store.chunks.replace(
            document.id,
            self._index.space,
            parsed=parsed,
            chunks=chunks,
            vectors=[node.embedding or [] for node in nodes],
            search_texts=[node.get_content(metadata_mode=schema.MetadataMode.EMBED) for node in nodes],
            language=languages.detect(file.text),
            front=front(name, title, lines),
            landmarks=self._landmarks.find(lines, _labels(parsed)),
            pages=_page_texts(lines, chunks),
        )

    def _pipeline(self, on_progress: OnProgress, limit: "_Limit") -> ingestion.IngestionPipeline:
        def report(done: int) -> None:
            on_progress(DocumentStatus.EMBEDDING, done, limit.seen)

        embedder = providers.CachedEmbedding(self._embedder, self._index.space, self._store.embedding_cache, report)
        return ingestion.IngestionPipeline(transformations=[self._node_parser, limit, embedder], disable_cache=True)

    def _parse(self, document: Document, on_progress: OnProgress, on_parts: OnParts | None) -> ParsedDocument:
        source = self._files.local_path(document.id, "original")
        has_rendition = self._files.exists(document.id, "rendition")  # of an encrypted file from the beginning
        if has_rendition and parsing.needs_password(source):
            source = self._files.local_path(document.id, "rendition")
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            rendition, parts_folder = Path(folder) / "rendition.pdf", Path(folder) / "parts"
            parts_folder.mkdir()
            parsed = parsing.read_file(
                source,
                name=document.name,
                rendition=rendition,
                config=self._config.rag_parsing,
                on_progress=lambda done, total: on_progress(DocumentStatus.PARSING, done, total),
                parts_folder=parts_folder,
                unpacked=self._store.parts.unpacked(document.id),
            )
            self._files.put(document.id, "rendition", rendition)
            if on_parts:
                on_parts(parsed.parts)
        return parsed


def _labels(parsed: ParsedDocument) -> dict[int, str]:
    """The numbers printed on its pages, by the pages' own."""
    return {page.number: page.label for page in parsed.pages if page.label}


def _with_known(again: ParsedDocument, document: Document) -> ParsedDocument:
    """What was read from the rendition, with what only the original told."""
    known = {page.number: page for page in document.pages}
    pages = (
        page.model_copy(update={"ocr": known[page.number].ocr, "error": page.error or known[page.number].error})
        if page.number in known
        else page
        for page in again.pages
    )
    return again.model_copy(
        update={
            "pages": tuple(pages),
            "completeness": document.completeness,
            "note": "\n".join(dict.fromkeys(note for note in (document.note, again.note) if note)) or None,
        }
    )


def front(name: str, title: str | None, lines: Sequence[Line]) -> str:
    """What says which document it is: its name and title, by which people call it, and the beginning of its text."""
    beginning = "\n".join(line.text for line in lines if line.page_number <= FRONT_PAGES)
    return "\n".join([*[document_heading(name, title)] * NAME_WEIGHT, beginning[:FRONT_CHARACTERS]])


def _page_texts(lines: Iterable[Line], chunks: Iterable[Chunk]) -> dict[int, PageText]:
    """Every page by its number, with its beginning and the headings of its chunks' sections for a title."""
    texts: dict[int, list[str]] = {}
    headings: dict[int, dict[str, None]] = {}
    for line in lines:
        texts.setdefault(line.page_number, []).append(line.text)
    for chunk in chunks:
        if chunk.section:
            headings.setdefault(chunk.main_page, {})[chunk.section.rpartition(SECTION_SEPARATOR)[2]] = None
    whole = {number: "\n".join(page) for number, page in texts.items()}
    return {
        number: PageText(text, "\n".join([text[:TITLE_CHARACTERS], *headings.get(number, ())]))
        for number, text in whole.items()
    }


class _Limit(schema.TransformComponent):
    """Lets no more than `most` nodes of a document through, and remembers how many there were."""

    document: str
    most: int | None = None
    seen: int = 0

    def __call__(self, nodes: Sequence[schema.BaseNode], **_: object) -> Sequence[schema.BaseNode]:
        """Raises LimitError if there are more."""
        self.seen = len(nodes)
        if self.most is not None and len(nodes) > self.most:
            raise errors.LimitError(
                f"{self.document} has {len(nodes):,} chunks, and {self.most:,} more are allowed. "
                "Raise maxChunks, or leave the file out.",
                details={"chunks": len(nodes), "allowed": self.most},
            )
        return nodes


def from_blocks(document: Document, blocks: Sequence[TextBlock]) -> ParsedDocument:
    """What parsing would have made of `document` had it found `blocks`; page sizes stay those already known.

    Raises:
        errors.ValidationError: there is no text in them.
    """
    if not any(line.text.strip() for block in blocks for line in block.to_lines()):
        raise errors.ValidationError(
            "The blocks have no text. Give at least one, or delete the document.", details={"field": "blocks"}
        )
    numbers = sorted({block.page_number for block in blocks})
    known = {page.number: page for page in document.pages}
    pages = tuple(known.get(number) or PageInfo(number=number, width=0.0, height=0.0) for number in numbers)
    return ParsedDocument(
        title=document.title,
        author=document.author,
        dated=document.dated,
        pages=document.pages or pages,
        blocks=tuple(blocks),
    )
