"""A user's documents: taking files in, reading them, throwing them away and getting them back."""

import builtins
import functools
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from rag import errors, tracing
from rag.engine.ingestion.document_reader import Reader
from rag.engine.library import saved_filters
from rag.engine.library.attachments import Parts
from rag.engine.library.originals import FileContent, Originals, as_file, display_name, sha256_of
from rag.engine.workspace import Workspace
from rag.types import (
    DEFAULT_INDEX,
    UNFINISHED,
    Document,
    DocumentOrder,
    DocumentQuery,
    DocumentStatus,
    Filters,
    Index,
    OnProgress,
    OnSameName,
    PurgeReceipt,
    ignore_progress,
)

EVERYTHING = Filters()


class Documents:
    """One user's documents in all indexes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._originals = Originals(workspace)
        self._reader = Reader(workspace)
        self._parts = Parts(workspace)

    def list(
        self,
        index_name: str = DEFAULT_INDEX,
        *,
        search: str | None = None,
        filters: Filters = EVERYTHING,
        status: DocumentStatus | None = None,
        disabled: bool | None = None,
        in_trash: bool = False,
        order_by: DocumentOrder = "added",
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[Document]:
        """Documents of an index, newest first unless asked otherwise; `search` looks in their names and titles.

        Of a document's versions the one that is searched, and new ones that are not ready yet. Disabled ones are there,
        too, unless `disabled` is False; with True, only these.

        Raises:
            errors.NotFoundError: there is no such index, or no such saved filter.
        """
        index = self._workspace.asked_index(index_name)
        asked = DocumentQuery(
            search=search,
            filters=saved_filters.resolved(self._workspace.store, filters),
            status=status,
            disabled=disabled,
            in_trash=in_trash,
        )
        return self._workspace.store.documents.list(
            index.id,
            asked,
            order_by=order_by,
            descending=descending,
            limit=limit,
            offset=offset,
        )

    def get(self, document_id: uuid.UUID) -> Document:
        """One document, in the trash or not. Raises NotFoundError."""
        return self._workspace.store.documents.get(document_id)

    # --- taking in ---

    def add(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = DEFAULT_INDEX,
        password: str | None = None,
        source: str | None = None,
        enqueue: bool = True,
        replaces: uuid.UUID | None = None,
        on_same_name: OnSameName = "keep",
    ) -> Document:
        """Take a file in; a worker reads it unless `enqueue` is False: then call `process`.

        An encrypted one without its password waits for it. With `replaces` it is the next version of that document, in
        the document's index, and takes over in one moment when it is ready; until then, and if it fails, the document
        is searched as it is. `on_same_name` says what becomes of one whose name a document of the index has.

        Raises:
            errors.UnsupportedFileError: a kind of file that cannot be taken in.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.QuotaError: the user has no room for it.
            errors.NotFoundError: there is no document that it could replace.
            errors.ConflictError: the document to replace is in the trash, or follows a file.
            errors.SameNameError: `on_same_name` is "ask", and a document has the name; `details` have its
                `document_id`, `name`, `version` and `created_at`.
        """
        index = self._index_of(replaces, index_name)
        with as_file(content) as path:
            return self._take_in(
                path,
                name,
                index,
                password=password,
                source=source,
                enqueue=enqueue,
                replaces=replaces,
                on_same_name=on_same_name,
            )

    def _take_in(
        self,
        path: Path,
        name: str,
        index: Index,
        *,
        password: str | None,
        replaces: uuid.UUID | None,
        on_same_name: OnSameName,
        source: str | None = None,
        key: str | None = None,
        enqueue: bool = True,
    ) -> Document:
        with tracing.span("upload") as step:
            replaced = replaces or self._same_name(path, name, index, on_same_name)
            document = self._originals.keep(
                path, name, index, password=password, source=source, replaces=replaced, upload_key=key
            )
            step.add(document=document.id, bytes=document.size, mime_type=document.mime_type)
            if (traced := tracing.current_traceparent()) is not None:
                self._workspace.store.reading_queue.set_trace(document.id, traced)
            return self._enqueue(document) if enqueue else document

    def _index_of(self, replaces: uuid.UUID | None, index_name: str) -> Index:
        """The index that a file goes into: that of the document whose version it is."""
        if replaces is None:
            return self._workspace.ensure_index(index_name)
        replaced = self._workspace.store.documents.get(replaces)
        return self._workspace.store.indexes.get_by_id(replaced.index_id)

    def _same_name(self, path: Path, name: str, index: Index, on_same_name: OnSameName) -> uuid.UUID | None:
        """The document that the file is a new version of because it has the name."""
        if on_same_name == "keep":
            return None
        found = self._workspace.store.versions.of_same_name(index.id, display_name(name), sha256_of(path))
        if found and on_same_name == "ask":
            raise errors.SameNameError(
                f"{found.name} (version {found.version}) is in the index with other content. Say whether this is a new "
                "version of it, or a document of its own.",
                details={
                    "document_id": found.id,
                    "name": found.name,
                    "version": found.version,
                    "created_at": found.created_at.isoformat(),
                },
            )
        return found.id if found else None

    def upload(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = DEFAULT_INDEX,
        password: str | None = None,
        key: str | None = None,
        replaces: uuid.UUID | None = None,
        on_same_name: OnSameName = "keep",
    ) -> tuple[Document, bool]:
        """Take a file in for a worker to read; the same file once more under the same `key` is the same document.

        Returns the document, and whether it is new. Raises as `add`, and:
            errors.ValidationError: another file came under this key.
        """
        with as_file(content) as path:
            index = self._index_of(replaces, index_name)
            add = functools.partial(
                self._take_in,
                path,
                name,
                index,
                password=password,
                replaces=replaces,
                on_same_name=on_same_name,
                key=key,
            )
            return (add(), True) if key is None else self._add_once(path, key, index, add)

    def _add_once(self, path: Path, key: str, index: Index, add: Callable[[], Document]) -> tuple[Document, bool]:
        sources = self._workspace.store.sources
        known = sources.find_by_upload_key(key)
        if known is None:
            try:
                document = add()
            except errors.DuplicateError:  # the same upload, sent twice at the same time
                known = sources.find_by_upload_key(key)
                if known is None:
                    raise
            else:
                sources.set_upload_key(document.id, key)  # of one that was there, and lacked its file
                return document, True
        if (known.index_id, known.sha256) != (index.id, sha256_of(path)):
            raise errors.ValidationError(
                "The idempotency key was used for another file. Send this one under a new key.",
                details={"field": "Idempotency-Key", "document_id": str(known.id)},
            )
        if self._originals.mend(known.id, path):
            known = self._enqueue(self._workspace.store.documents.get(known.id))
        return known, False

    def _enqueue(self, document: Document) -> Document:
        if document.status not in UNFINISHED:
            return document
        with tracing.span("queue", document=document.id):
            enqueued = self._workspace.store.reading_queue.enqueue(document.id)
            self._workspace.queue.enqueue(self._workspace.user_id, document.id)
        return enqueued

    # --- reading ---

    def unlock(self, document_id: uuid.UUID, password: str) -> Document:
        """Give an encrypted document its password; it is read next. Raises PasswordError if it is wrong."""
        self._originals.unlock(document_id, password)
        return self.retry(document_id)

    def retry(self, document_id: uuid.UUID) -> Document:
        """Have a worker go on with a document that failed or was cancelled, or read one again that was ready.

        What is done is kept. Raises NotFoundError if it is in the trash, or gone.
        """
        return self._enqueue(self._workspace.store.reading_queue.resume(document_id))

    def process(
        self, document_id: uuid.UUID, on_progress: OnProgress = ignore_progress, *, again: bool = False
    ) -> Document:
        """Read a queued document here and now, or with `again` one that was read before; a failure is recorded on it.

        It is done when this returns: if another process is at it, this one waits for that. Until it is done, and if it
        fails, what was read before is found.

        Raises:
            errors.NotFoundError: with `again`, it is in the trash, or gone.
        """
        return self._reader.read(document_id, on_progress, again=again)

    def cancel(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """End the reading of documents, or their waiting for it. Returns those that were touched.

        What is found of them already stays; `retry` goes on from there. One that was read again is as it was before.
        """
        return self._workspace.store.reading_queue.cancel(document_ids)

    def read_pictures(self, document_id: uuid.UUID) -> Document:
        """Add the words in the pictures of a ready document that has such `pictures_waiting`, here and now.

        Meanwhile it is found without them, and if it fails also afterwards.

        Raises:
            errors.ReadingInterruptedError: the system ended it; it can be tried again.
        """
        return self._reader.read_pictures(document_id)

    # --- throwing away ---

    def trash(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Put documents in the trash: out of every search at once, restorable. Returns those that were touched.

        All versions go along with the one that is searched; another one goes by itself. What was in a mail or an
        archive goes along, but for what another one in sight has, too.
        """
        return self._workspace.store.documents.trash(document_ids)

    def restore(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Take documents out of the trash, and what went there with them. Returns those that were touched."""
        return self._workspace.store.documents.restore(document_ids)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> PurgeReceipt:
        """Remove documents in the trash for good, files included, with their versions as `trash` has them.

        Returns which, and what there was of them and is gone.
        """
        return self._originals.purge(document_ids)
