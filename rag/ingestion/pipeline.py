"""From a stored original to searchable chunks: render and parse, cut, embed, and replace what was there before.

Everything that can fail happens before the one transaction that replaces the document's chunks, so a
failure leaves the old version searchable.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from llama_index.core.base.embeddings import base as embeddings

from rag import errors, parsing
from rag.config import Config
from rag.ingestion import chunking
from rag.ingestion.embedding import embed_cached
from rag.store import FileStore, Store
from rag.types import Chunk, Document, DocumentStatus, Index, OnProgress, PageInfo, ParsedDocument, TextBlock


class Ingestion:
    """Takes documents of one index from their original to `ready`."""

    def __init__(
        self,
        *,
        config: Config,
        store: Store,
        files: FileStore,
        index: Index,
        embedder: embeddings.BaseEmbedding,
    ) -> None:
        self._config = config
        self._store = store
        self._files = files
        self._index = index
        self._embedder = embedder

    def run(self, document: Document, on_progress: OnProgress, *, max_chunks: int | None = None) -> None:
        """Parse, cut, embed and store `document`; the old chunks stay searchable until the last step.

        Raises:
            errors.LimitError: it has more than `max_chunks`.
            errors.SourceError: the file cannot be read.
            errors.ProviderError: the embedding vendor refuses.
            errors.StoreError: the database or file storage fails.
        """
        parsed = self._parse(document, on_progress)
        self.index(document, parsed, on_progress, max_chunks=max_chunks)

    def index(
        self, document: Document, parsed: ParsedDocument, on_progress: OnProgress, *, max_chunks: int | None = None
    ) -> None:
        """Cut, embed and store what was parsed."""
        chunks = chunking.split_blocks(
            parsed.blocks,
            document_id=document.id,
            name=document.name,
            title=parsed.title,
            options=self._index.chunking,
        )
        if max_chunks is not None and len(chunks) > max_chunks:
            raise errors.LimitError(
                f"{document.name} has {len(chunks):,} chunks, and {max_chunks:,} more are allowed. "
                "Raise maxChunks, or leave the file out.",
                details={"chunks": len(chunks), "allowed": max_chunks},
            )
        texts = [chunking.search_text(chunk) for chunk in chunks]
        vectors = list(self._embed(document.user_id, texts, on_progress))
        self._replace(document, parsed, chunks, texts, vectors)

    def _parse(self, document: Document, on_progress: OnProgress) -> ParsedDocument:
        source = self._files.local_path(document.user_id, document.id, "original")
        if parsing.needs_password(source):  # then its decrypted form was kept when the password was given
            source = self._files.local_path(document.user_id, document.id, "rendition")
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            rendition = Path(folder) / "rendition.pdf"
            parsed = parsing.read_file(
                source,
                name=document.name,
                rendition=rendition,
                config=self._config.rag_parsing,
                on_progress=lambda done, total: on_progress(DocumentStatus.PARSING, done, total),
            )
            self._files.put(document.user_id, document.id, "rendition", rendition)
        return parsed

    def _embed(self, user_id: str, texts: Sequence[str], on_progress: OnProgress) -> Iterator[Sequence[float]]:
        return embed_cached(
            texts,
            store=self._store,
            user_id=user_id,
            space=self._index.space,
            embedder=self._embedder,
            on_progress=lambda done, total: on_progress(DocumentStatus.EMBEDDING, done, total),
        )

    def _replace(
        self,
        document: Document,
        parsed: ParsedDocument,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        vectors: Sequence[Sequence[float]],
    ) -> None:
        self._store.chunks.replace(
            document.user_id,
            document.id,
            self._index.space,
            parsed=parsed,
            chunks=chunks,
            vectors=vectors,
            search_texts=texts,
        )


def from_blocks(document: Document, blocks: Sequence[TextBlock]) -> ParsedDocument:
    """What parsing would have made of `document` had it found `blocks`; page sizes stay those already known."""
    numbers = sorted({block.page_number for block in blocks})
    known = {page.number: page for page in document.pages}
    pages = tuple(known.get(number) or PageInfo(number=number, width=0.0, height=0.0) for number in numbers)
    return ParsedDocument(title=document.title, pages=document.pages or pages, blocks=tuple(blocks))
