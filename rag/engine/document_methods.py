"""Documents: taken in, read, looked at, thrown away; and the work on them in the background."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rag import errors, parsing
from rag.engine.base import EngineBase
from rag.engine.interface import deleted, ingested, named
from rag.engine.library import FileContent
from rag.store import Health
from rag.types import DEFAULT_INDEX, Chunk, Document, DocumentStatus, Highlight, OnProgress, Passage, Region, TextBlock


class DocumentMethods(EngineBase):
    """What can be done with documents and their pages."""

    def add_file(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = DEFAULT_INDEX,
        password: str | None = None,
        source: str | None = None,
        enqueue: bool = True,
    ) -> Document:
        """Take a file in; a worker reads it unless `enqueue` is False: then call `process`. Raises as `Library.add`."""
        document = self._library.add(content, name, self.index(index_name), password=password, source=source)
        return self._enqueue(document) if enqueue else document

    def upload(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = DEFAULT_INDEX,
        password: str | None = None,
        key: str | None = None,
    ) -> tuple[Document, bool]:
        """Take a file in for a worker to read; the same file once more under the same `key` is the same document.

        Returns the document, and whether it is new. Raises as `add_file`, and:
            errors.ValidationError: another file came under this key.
        """
        index = self.index(index_name)

        def add(path: Path) -> Document:
            return self._enqueue(self._library.add(path, name, index, password=password))

        return self._library.add_once(content, index, key, add)

    def _enqueue(self, document: Document) -> Document:
        if document.status is DocumentStatus.QUEUED:
            self._resources.store.queue.enqueue(self.user_id, document.id)
        return document

    def unlock(self, document_id: uuid.UUID, password: str) -> Document:
        """Give an encrypted document its password; it is read next. Raises PasswordError if it is wrong."""
        return self._enqueue(self._library.unlock(document_id, password))

    def retry(self, document_id: uuid.UUID) -> Document:
        """Read a failed document again."""
        return self._enqueue(self._library.retry(document_id))

    def process(self, document_id: uuid.UUID, on_progress: OnProgress | None = None) -> Document:
        """Read a queued document here and now; its failure is recorded on it."""
        return self._library.process(document_id, on_progress)

    def index_document(self, document_id: uuid.UUID, blocks: Sequence[TextBlock]) -> Document:
        """Make a document searchable by the caller's own blocks."""
        return self._library.index_blocks(document_id, blocks)

    def documents(
        self,
        index_name: str = DEFAULT_INDEX,
        *,
        search: str | None = None,
        in_trash: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Document]:
        """Documents of an index, newest first; `search` looks in their names and titles. Raises NotFoundError."""
        return self._resources.store.documents.list(
            self.user_id, self._asked(index_name).id, search=search, in_trash=in_trash, limit=limit, offset=offset
        )

    def document(self, document_id: uuid.UUID) -> Document:
        """One document, in the trash or not. Raises NotFoundError."""
        return self._resources.store.documents.get(self.user_id, document_id)

    def trash(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Put documents in the trash: out of every search at once, restorable. Returns those that were touched."""
        return self._resources.store.documents.trash(self.user_id, document_ids)

    def ingest(self, file_paths: Sequence[str | Path], index_name: str = DEFAULT_INDEX) -> dict[str, Any]:
        """Take in files by path; one that was taken in before is replaced if it changed. A failure stops no other file.

        Returns `ingested_count` (files that are in the index now), `failed_count`, `chunk_count` (chunks made now) and
        `failed_files` (their paths, as given).

        Raises:
            errors.ValidationError: no paths are given.
        """
        paths = named("file_paths", file_paths)
        reports = self._folders.ingest([Path(path) for path in paths], self.index(index_name))
        return ingested(paths, reports)

    def delete(self, document_ids: Sequence[str | uuid.UUID], index_name: str = DEFAULT_INDEX) -> dict[str, Any]:
        """Put documents in the trash by id, by path or URL, or by the SHA-256 of path or URL.

        Returns `deleted_count` (documents), `deleted_ids` and `not_found_ids` (as given).

        Raises:
            errors.ValidationError: no ids are given.
        """
        references = named("document_ids", document_ids)
        found = self._resources.store.documents.named(self.user_id, self._asked(index_name).id, references)
        touched = self.trash([document_id for ids in found.values() for document_id in ids])
        return deleted(references, found, touched)

    def restore(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Take documents out of the trash."""
        return self._resources.store.documents.restore(self.user_id, document_ids)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Remove documents in the trash for good."""
        return self._library.purge(document_ids)

    def original(self, document_id: uuid.UUID) -> Path:
        """The file as it was uploaded."""
        return self._library.original(document_id)

    def rendition(self, document_id: uuid.UUID) -> Path:
        """The PDF that is shown and highlighted."""
        return self._library.rendition(document_id)

    def chunks(
        self, document_id: uuid.UUID, page_number: int | None = None, *, limit: int | None = None, offset: int = 0
    ) -> list[Chunk]:
        """A document's chunks in reading order, or those on one page."""
        return self._resources.store.chunks.of_document(
            self.user_id, document_id, page_number=page_number, limit=limit, offset=offset
        )

    def chunk(self, chunk_id: uuid.UUID) -> Chunk:
        """One chunk, of a document in the trash or not. Raises NotFoundError."""
        found = self._resources.store.chunks.get(self.user_id, [chunk_id])
        if not found:
            raise errors.NotFoundError(
                f"There is no chunk {chunk_id}. Search again: its document may have been re-read."
            )
        return found[0][0]

    def pages_text(self, document_id: uuid.UUID, page_numbers: Sequence[int]) -> Passage:
        """All lines of some pages, each once though chunks overlap; none of pages without text."""
        asked = [(document_id, number) for number in page_numbers]
        found = self._resources.store.chunks.page_lines(self.user_id, asked)
        return Passage(document_id=document_id, lines=tuple(line for page in asked for line in found.get(page, ())))

    # --- pages ---

    def page_window(self, document_id: uuid.UUID, first: int, last: int, highlights: Sequence[Highlight] = ()) -> bytes:
        """Pages `first` to `last` as a PDF with `highlights` burnt in."""
        return parsing.page_window(self.rendition(document_id), first=first, last=last, highlights=highlights)

    def page_image(
        self, document_id: uuid.UUID, page_number: int, *, zoom: float = 2.0, regions: Sequence[Region] = ()
    ) -> bytes:
        """A page as PNG at `zoom` pixels per point, the boxes of `regions` drawn on it."""
        return parsing.page_image(self.rendition(document_id), page_number, zoom=zoom, regions=regions)

    def locate(self, document_id: uuid.UUID, passage: Passage, start: int, end: int) -> tuple[Region, ...]:
        """The boxes of exactly the characters `passage.text[start:end]`.

        Of a document that was never rendered, whose blocks a caller brought, the boxes of its lines.
        """
        try:
            rendition = self.rendition(document_id)
        except errors.NotFoundError:
            return passage.regions_of(start, end)
        return parsing.locate(rendition, passage, start, end)

    # --- work in the background, of all users ---

    def run_queue(
        self,
        process: Callable[[str, uuid.UUID], None],
        run_job: Callable[[str, uuid.UUID], None],
        *,
        wait: bool = True,
    ) -> None:
        """Call `process` with user and document for each queued one, and `run_job` with user and job.

        Until SIGINT or SIGTERM, or without `wait` while any is left.
        """
        self._resources.store.queue.run(process, run_job, wait=wait)

    def recover_queue(self) -> int:
        """Queue again what a killed worker left behind; returns how many documents are to be read."""
        self._resources.store.queue.discard_stalled()
        unfinished = self._resources.store.documents.unfinished()
        for user_id, document_id in unfinished:
            self._resources.store.queue.enqueue(user_id, document_id)
        for user_id, job_id in self._resources.store.jobs.unfinished():
            self._resources.store.queue.enqueue_job(user_id, job_id)
        return len(unfinished)

    def health(self) -> Health:
        """What the database says of itself, and how many workers are alive. Raises StoreError if it is unreachable."""
        return self._resources.store.health()
