"""The ingestion pipeline: parse a stored original, split it into chunks, embed and store these.

A new document is searchable by words as soon as it is split; vectors follow in batches. A document that is searchable
already stays so until the new version replaces it in one transaction, after everything that can fail.

Splitting and embedding use LlamaIndex's `IngestionPipeline`. Writing does not, since with a document store the pipeline
deletes before it embeds.
"""

import tempfile
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from llama_index.core import ingestion, schema
from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.node_parser import NodeParser

from rag import errors, parsing, providers, tracing, types, vocabulary
from rag.config import Config
from rag.ingestion import language_detection
from rag.ingestion.chunking import SECTION_SEPARATOR, document_heading, search_text
from rag.ingestion.nodes import BlockNodeParser, FileDocument, chunks_of, lines_of
from rag.ingestion.subjects import learn_subject
from rag.messages import N_
from rag.store.files.file_storage import UserFiles
from rag.store.store import UserStore

FRONT_PAGES, FRONT_CHARACTERS = 2, 2500
"""The part of a document that identifies it: its first pages."""
TITLE_CHARACTERS = 250
"""Length of the beginning of a page that counts as its title."""
NAME_WEIGHT = 5
"""Weight of a document's name relative to its first pages, applied by repetition. Flat from 3 to 10.

Source: Robertson, Zaragoza, Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004.
"""


class Reading(NamedTuple):
    """What one reading of a document is done with.

    `on_parts` receives the attachments, whose files exist until it returns. When `is_cancelled` returns true, parsing
    ends with CancelledError. More than `max_chunks` raise LimitError.
    """

    on_progress: types.OnProgress = types.ignore_progress
    on_parts: Callable[[Sequence[types.UnpackedPart]], None] = lambda _: None
    is_cancelled: Callable[[], bool] = lambda: False
    max_chunks: int | None = None


UNWATCHED = Reading()


class Ingestion:
    """Ingests documents of one index."""

    def __init__(
        self,
        *,
        config: Config,
        store: UserStore,
        files: UserFiles,
        index: types.Index,
        embedder: embeddings.BaseEmbedding,
        node_parser: NodeParser | None = None,
        landmarks: vocabulary.Landmarks,
    ) -> None:
        """`node_parser` replaces the default one; `landmarks` finds the named parts of documents."""
        self._config = config
        self._store = store
        self._files = files
        self._index = index
        self._embedder = embedder
        self._landmarks = landmarks
        self._node_parser = node_parser or BlockNodeParser(options=index.chunking)

    def read_words(self, document: types.Document, reading: Reading) -> None:
        """Parse and split `document` and make it searchable by words; `embed` adds the vectors.

        The first pages of a long document become searchable before the rest is read.

        Raises:
            errors.CancelledError: the reading was cancelled.
            errors.LimitError: the document has too many chunks.
            errors.SourceError: the file cannot be read.
            errors.StoreError: the database or file storage fails.
        """

        def begin(beginning: types.ParsedDocument, rendition: Path) -> None:
            self._store.put_rendition(self._files, document.id, rendition)
            cut = self._cut(document, beginning, _Limit(document=document.name))
            self._store_chunks(document, cut, vectors=None, partial=True, while_read=True)

        parsed = self._parse(document, reading, on_beginning=begin)
        cut = self._cut(document, parsed, _Limit(document=document.name, most=reading.max_chunks))
        self._store_chunks(document, cut, vectors=None, while_read=True)
        reading.on_progress(types.DocumentStatus.EMBEDDING, 0, len(cut.chunks))

    def embed(self, document_id: uuid.UUID, limit: int) -> bool:
        """Embed the next `limit` chunks of a document; return False if none was missing.

        Raises:
            errors.CancelledError: the document was cancelled meanwhile; nothing is stored.
            errors.IndexError: the index was switched to another embedding model.
            errors.ProviderError: the embedding vendor refuses.
            errors.StoreError: the database fails.
        """
        chunks = self._store.chunks.without_vector(document_id, self._index.space, limit)
        found = self._embedding().get_text_embedding_batch([search_text(chunk) for chunk in chunks])
        vectors = {chunk.id: vector for chunk, vector in zip(chunks, found, strict=True)}
        if not self._store.chunks.add_missing_vectors(document_id, self._index.space, vectors):
            raise errors.CancelledError
        return bool(chunks)

    def renew(self, document: types.Document, reading: Reading) -> None:
        """Parse, split, embed and store `document`; its old chunks stay searchable until the last step.

        Raises as `read_words`, and ProviderError.
        """
        self.index(document, self._parse(document, reading), reading, while_read=True)

    def read_pictures(self, document: types.Document) -> None:
        """Add the words in pictures to a searchable document; unchanged chunks are not embedded again.

        Raises as `renew`.
        """
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            rendition = Path(folder) / "rendition.pdf"
            again = parsing.read_file(
                self._files.local_path(document.id, "rendition"),  # where scans already have a text layer
                name=f"{document.name}.pdf",
                rendition=rendition,
                config=self._config.rag_parsing,
                pictures=True,
            )
            self._store.put_rendition(self._files, document.id, rendition)
        self.index(document, _with_original_metadata(again, document))

    def index(
        self,
        document: types.Document,
        parsed: types.ParsedDocument,
        reading: Reading = UNWATCHED,
        *,
        while_read: bool = False,
    ) -> None:
        """Split, embed and store a parsed document. Raises as `renew`."""
        limit = _Limit(document=document.name, most=reading.max_chunks)
        embedding = self._embedding(lambda done: reading.on_progress(types.DocumentStatus.EMBEDDING, done, limit.seen))
        cut = self._cut(document, parsed, limit, embedding)
        vectors = [node.embedding or [] for node in cut.nodes]
        self._store_chunks(document, cut, vectors=vectors, while_read=while_read)

    def _embedding(self, on_batch: Callable[[int], None] = lambda _: None) -> providers.CachedEmbedding:
        return providers.CachedEmbedding(self._embedder, self._index.space, self._store.embedding_cache, on_batch)

    def _cut(self, document: types.Document, parsed: types.ParsedDocument, *steps: schema.TransformComponent) -> "_Cut":
        name, given_title = self._store.documents.names(document.id)  # it may have been renamed meanwhile
        title = given_title or parsed.title
        file = FileDocument.of(document.id, name, parsed.model_copy(update={"title": title}))
        pipeline = ingestion.IngestionPipeline(transformations=[self._node_parser, *steps], disable_cache=True)
        with tracing.span("chunk", document=document.id, pages=len(parsed.pages)) as step:
            nodes = pipeline.run(documents=[file])
            step.add(chunks=len(nodes))
            own_lines = [line for line in lines_of(parsed) if line.kind in types.PAGE_TEXT]
            language = language_detection.detect(types.lines_text(own_lines))
            parsed = parsed.model_copy(update={"subject": learn_subject(name, title, own_lines)})
            return _Cut(parsed, name, title, nodes, chunks_of(file, nodes), language)

    def _store_chunks(
        self,
        document: types.Document,
        cut: "_Cut",
        *,
        vectors: Sequence[Sequence[float]] | None,
        partial: bool = False,
        while_read: bool = False,
    ) -> None:
        lines = [line for line in lines_of(cut.parsed) if line.kind in types.PAGE_TEXT]
        with tracing.span("index", document=document.id, chunks=len(cut.chunks), partial=partial):
            self._store.chunks.replace(
                document.id,
                self._index.space,
                parsed=cut.parsed,
                chunks=cut.chunks,
                vectors=vectors,
                search_texts=[node.get_content(metadata_mode=schema.MetadataMode.EMBED) for node in cut.nodes],
                language=cut.language,
                front=identifying_text(cut.name, cut.title, lines),
                landmarks=self._landmarks.find(
                    lines, {page.number: page.label for page in cut.parsed.pages if page.label}
                ),
                pages=_page_texts(lines, cut.chunks),
                partial=partial,
                while_read=while_read,
            )

    def _parse(
        self,
        document: types.Document,
        reading: Reading,
        *,
        on_beginning: Callable[[types.ParsedDocument, Path], None] | None = None,
    ) -> types.ParsedDocument:
        source = self._files.local_path(document.id, "original")
        has_rendition = self._files.exists(document.id, "rendition")  # of an encrypted file from the beginning
        if has_rendition and parsing.needs_password(source):
            source = self._files.local_path(document.id, "rendition")
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder, tracing.span("parse") as step:
            rendition, parts_folder = Path(folder) / "rendition.pdf", Path(folder) / "parts"
            parts_folder.mkdir()
            parsed = parsing.read_file(
                source,
                name=document.name,
                rendition=rendition,
                config=self._config.rag_parsing,
                on_progress=lambda done, total: reading.on_progress(types.DocumentStatus.PARSING, done, total),
                on_beginning=on_beginning,
                is_cancelled=reading.is_cancelled,
                parts_folder=parts_folder,
                unpacked=self._store.attachments.unpacked(document.id),
            )
            step.add(document=document.id, pages=len(parsed.pages), blocks=len(parsed.blocks))
            self._store.put_rendition(self._files, document.id, rendition)
            reading.on_parts(parsed.parts)
        return parsed


def _with_original_metadata(again: types.ParsedDocument, document: types.Document) -> types.ParsedDocument:
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


class _Cut(NamedTuple):
    """A document split into chunks, with their nodes and its language, name and title."""

    parsed: types.ParsedDocument
    name: str
    title: str | None
    nodes: Sequence[schema.BaseNode]
    chunks: Sequence[types.Chunk]
    language: str


def identifying_text(name: str, title: str | None, lines: Sequence[types.Line]) -> str:
    """Return the text that identifies a document: its name and title, and the beginning of its text."""
    beginning = "\n".join(
        line.text for line in lines if line.page_number <= FRONT_PAGES and line.kind in types.PAGE_TEXT
    )
    return "\n".join([*[document_heading(name, title)] * NAME_WEIGHT, beginning[:FRONT_CHARACTERS]])


def _page_texts(lines: Iterable[types.Line], chunks: Iterable[types.Chunk]) -> dict[int, types.PageText]:
    """Return the text of each page; its title is its beginning and the section headings of its chunks."""
    texts: dict[int, list[str]] = {}
    headings: dict[int, dict[str, None]] = {}
    for line in lines:
        texts.setdefault(line.page_number, []).append(line.text)
    for chunk in chunks:
        if chunk.section and chunk.kinds & types.PAGE_TEXT:
            headings.setdefault(chunk.main_page, {})[chunk.section.rpartition(SECTION_SEPARATOR)[2]] = None
    whole = {number: "\n".join(page) for number, page in texts.items()}
    return {
        number: types.PageText(text, "\n".join([text[:TITLE_CHARACTERS], *headings.get(number, ())]))
        for number, text in whole.items()
    }


class _Limit(schema.TransformComponent):
    """A transformation that counts the nodes of a document and refuses more than `most`."""

    document: str
    most: int | None = None
    seen: int = 0

    def __call__(self, nodes: Sequence[schema.BaseNode], **_: object) -> Sequence[schema.BaseNode]:
        """Return `nodes`. Raises LimitError if there are too many."""
        self.seen = len(nodes)
        if self.most is not None and len(nodes) > self.most:
            raise errors.LimitError(
                N_(
                    "{document} has {count} chunks, and {limit} more are allowed. Raise maxChunks, or leave the file "
                    "out."
                ),
                document=self.document,
                count=f"{len(nodes):,}",
                limit=f"{self.most:,}",
                details={"chunks": len(nodes), "allowed": self.most},
            )
        return nodes


def from_blocks(document: types.Document, blocks: Sequence[types.TextBlock]) -> types.ParsedDocument:
    """Create a parsed document from `blocks`, with the page sizes of `document`. Raises ValidationError."""
    if not any(line.text.strip() for block in blocks for line in block.to_lines()):
        raise errors.ValidationError(
            N_("The blocks have no text. Give at least one, or delete the document."), details={"field": "blocks"}
        )
    numbers = sorted({block.page_number for block in blocks})
    known = {page.number: page for page in document.pages}
    pages = tuple(known.get(number) or types.PageInfo(number=number, width=0.0, height=0.0) for number in numbers)
    return types.ParsedDocument(
        title=document.title,
        author=document.author,
        dated=document.dated,
        pages=document.pages or pages,
        blocks=tuple(blocks),
    )
