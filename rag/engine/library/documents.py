"""Add, read, trash, restore and purge documents."""

import builtins
import functools
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from rag import errors, tracing, types
from rag.engine.ingestion.document_reader import DocumentReader
from rag.engine.library import saved_filters
from rag.engine.library.attachments import Attachments
from rag.engine.library.file_names import display_name
from rag.engine.library.originals import FileContent, Originals, as_file, sha256_of
from rag.engine.workspace import Workspace
from rag.messages import N_

NO_FILTERS = types.Filters()


class Documents:
    """One user's documents in all indexes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._originals = Originals(workspace)
        self._reader = DocumentReader(workspace)
        self._parts = Attachments(workspace)

    def list(
        self,
        index_name: str = types.DEFAULT_INDEX,
        *,
        search: str | None = None,
        filters: types.Filters = NO_FILTERS,
        status: types.DocumentStatus | None = None,
        disabled: bool | None = None,
        in_trash: bool = False,
        order_by: types.DocumentOrder = "added",
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> builtins.list[types.Document]:
        """Return the documents of an index, newest first by default.

        `search` matches a part of names, titles, authors and tags. Lists the current version of each document, and new
        versions that are not ready yet. `disabled` selects only, or excludes, disabled documents. Raises NotFoundError
        if there is no such index or saved filter.
        """
        index = self._workspace.requested_index(index_name)
        asked = types.DocumentQuery(
            search=search,
            filters=saved_filters.resolve_filters(self._workspace.store, filters),
            status=status,
            disabled=disabled,
            in_trash=in_trash,
        )
        return self._workspace.store.documents.list(
            index.id, asked, order_by=order_by, descending=descending, limit=limit, offset=offset
        )

    def get(self, document_id: uuid.UUID) -> types.Document:
        """Return a document, in the trash or not. Raises NotFoundError, PurgedError if it was purged."""
        return self._workspace.store.documents.get(document_id)

    # --- adding ---

    def add(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = types.DEFAULT_INDEX,
        password: str | None = None,
        source: str | None = None,
        enqueue: bool = True,
        replaces: uuid.UUID | None = None,
        on_same_name: types.OnSameName = "keep",
    ) -> types.Document:
        """Add a file; a worker reads it, or with `enqueue` False the caller does by `process`.

        An encrypted file without a password waits for it. With `replaces` it becomes the next version of that document,
        which it replaces atomically when it is ready; until then, and if it fails, the old version stays searchable.
        `on_same_name` says what to do if the index has a document of the same name.

        Raises:
            errors.UnsupportedFileError: the file type is not supported.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.QuotaError: the user's quota is used up.
            errors.NotFoundError: there is no document to replace.
            errors.ConflictError: the document to replace is in the trash, or follows a file.
            errors.SameNameError: `on_same_name` is "ask" and a document has the name; `details` have its
                `document_id`, `name`, `version` and `created_at`.
        """
        index = self._index_of(replaces, index_name)
        with as_file(content) as path:
            return self._add_file(
                path,
                name,
                index,
                password=password,
                source=source,
                enqueue=enqueue,
                replaces=replaces,
                on_same_name=on_same_name,
            )

    def _add_file(
        self,
        path: Path,
        name: str,
        index: types.Index,
        *,
        password: str | None,
        replaces: uuid.UUID | None,
        on_same_name: types.OnSameName,
        source: str | None = None,
        key: str | None = None,
        enqueue: bool = True,
    ) -> types.Document:
        with tracing.span("upload") as step:
            replaced = replaces or self._same_name(path, name, index, on_same_name)
            document = self._originals.keep(
                path, name, index, password=password, source=source, replaces=replaced, upload_key=key
            )
            step.add(document=document.id, bytes=document.size, mime_type=document.mime_type)
            if (traced := tracing.current_traceparent()) is not None:
                self._workspace.store.reading_queue.set_trace(document.id, traced)
            return self._enqueue(document) if enqueue else document

    def _index_of(self, replaces: uuid.UUID | None, index_name: str) -> types.Index:
        """Return the index for a file, which for a new version is that of the document it replaces."""
        if replaces is None:
            return self._workspace.ensure_index(index_name)
        replaced = self._workspace.store.documents.get(replaces)
        return self._workspace.store.indexes.get_by_id(replaced.index_id)

    def _same_name(self, path: Path, name: str, index: types.Index, on_same_name: types.OnSameName) -> uuid.UUID | None:
        """Return the document of the same name that the file is a new version of."""
        if on_same_name == "keep":
            return None
        found = self._workspace.store.versions.of_same_name(index.id, display_name(name), sha256_of(path))
        if found and on_same_name == "ask":
            raise errors.SameNameError(
                N_(
                    "{name} (version {version}) is in the index with other content. Say whether this is a new version "
                    "of it, or a document of its own."
                ),
                name=found.name,
                version=found.version,
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
        index_name: str = types.DEFAULT_INDEX,
        password: str | None = None,
        key: str | None = None,
        replaces: uuid.UUID | None = None,
        on_same_name: types.OnSameName = "keep",
    ) -> tuple[types.Document, bool]:
        """Add a file for a worker to read; the same file under the same idempotency `key` is the same document.

        Returns the document, and whether it is new. Raises as `add`, and:
            errors.ValidationError: the key was used for another file.
        """
        with as_file(content) as path:
            index = self._index_of(replaces, index_name)
            add = functools.partial(
                self._add_file,
                path,
                name,
                index,
                password=password,
                replaces=replaces,
                on_same_name=on_same_name,
                key=key,
            )
            return (add(), True) if key is None else self._add_once(path, key, index, add)

    def _add_once(
        self, path: Path, key: str, index: types.Index, add: Callable[[], types.Document]
    ) -> tuple[types.Document, bool]:
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
                sources.set_upload_key(document.id, key)  # of a document whose missing file was restored
                return document, True
        if (known.index_id, known.sha256) != (index.id, sha256_of(path)):
            raise errors.ValidationError(
                N_("The idempotency key was used for another file. Send this one under a new key."),
                details={"field": "Idempotency-Key", "document_id": str(known.id)},
            )
        if self._originals.restore_file(known.id, path):
            known = self._enqueue(self._workspace.store.documents.get(known.id))
        return known, False

    def _enqueue(self, document: types.Document) -> types.Document:
        if document.status not in types.UNFINISHED:
            return document
        with tracing.span("queue", document=document.id):
            enqueued = self._workspace.store.reading_queue.enqueue(document.id)
            self._workspace.queue.enqueue(self._workspace.user_id, document.id)
        return enqueued

    # --- reading ---

    def unlock(self, document_id: uuid.UUID, password: str) -> types.Document:
        """Decrypt a document that waits for its password, and queue it. Raises PasswordError for a wrong password."""
        self._originals.unlock(document_id, password)
        return self.retry(document_id)

    def retry(self, document_id: uuid.UUID) -> types.Document:
        """Queue a document that failed or was cancelled, from where it stopped, or a ready one to be read again.

        Raises NotFoundError if it is in the trash or gone.
        """
        return self._enqueue(self._workspace.store.reading_queue.resume(document_id))

    def process(
        self, document_id: uuid.UUID, on_progress: types.OnProgress = types.ignore_progress, *, again: bool = False
    ) -> types.Document:
        """Read a queued document in this process, or with `again` re-read it; a failure is recorded on the document.

        Waits if another process reads it. Until it is done, and if it fails, the earlier content stays searchable.
        Raises NotFoundError if, with `again`, it is in the trash or gone.
        """
        return self._reader.read(document_id, on_progress, again=again)

    def cancel(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Cancel the reading of documents. Returns the ids of those affected.

        What is searchable already stays; `retry` resumes. A document that was being re-read stays as it was before.
        """
        return self._workspace.store.reading_queue.cancel(document_ids)

    def read_pictures(self, document_id: uuid.UUID) -> types.Document:
        """Recognise the text in the pictures of a ready document in this process.

        The document stays searchable meanwhile, and if it fails. Raises ReadingInterruptedError if the system ended the
        process; try again.
        """
        return self._reader.read_pictures(document_id)

    # --- trash ---

    def trash(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Move documents to the trash, which takes them out of every search at once. Returns the ids of those moved.

        All versions go with the current one; an older version goes alone. Attachments go along, unless another current
        document has them, too.
        """
        return self._workspace.store.documents.trash(document_ids)

    def restore(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Restore documents from the trash, with what went there along with them. Returns the ids of those restored."""
        return self._workspace.store.documents.restore(document_ids)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> types.PurgeReceipt:
        """Delete documents in the trash for good, with their files and the versions that `trash` takes along."""
        return self._originals.purge(document_ids)
