"""Add, read, list, edit, trash, restore and purge documents."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from rag import errors, ingestion, tracing, types
from rag.engine import matrix_filling
from rag.engine.ingestion.document_reader import DocumentReader
from rag.engine.library.files import Attachments, FileContent, Originals, as_file, display_name, sha256_of
from rag.engine.library.saved_filters import resolve_filters
from rag.engine.questions.overviews import Overviews
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.providers import WebDownloader

NO_FILTERS = types.Filters()
EVERYTHING = types.DocumentQuery()
ANY_MODEL = types.GenerationOptions()
"""The language model of the settings."""


class _Tagging(types.Model):
    add: types.Tags
    remove: types.Tags = ()


class Documents:
    """One user's documents in all indexes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._originals = Originals(workspace)
        self._reader = DocumentReader(workspace)
        self._attachments = Attachments(workspace)

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
        query = types.DocumentQuery(search=search, filters=filters, status=status, disabled=disabled, in_trash=in_trash)
        return self._workspace.store.documents.list(
            index.id, self._resolved(query), order_by=order_by, descending=descending, limit=limit, offset=offset
        )

    def ids(
        self, query: types.DocumentQuery = EVERYTHING, index_name: str = types.DEFAULT_INDEX
    ) -> builtins.list[uuid.UUID]:
        """Return the ids of the documents that `documents.list` would return, newest first. Raises as that."""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.documents.ids(index.id, self._resolved(query))

    def count(self, query: types.DocumentQuery = EVERYTHING, index_name: str = types.DEFAULT_INDEX) -> int:
        """Return the number of documents that `documents.list` would return. Raises as that."""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.documents.count(index.id, self._resolved(query))

    def get(self, document_id: uuid.UUID) -> types.Document:
        """Return a document, in the trash or not. Raises NotFoundError, PurgedError if it was purged."""
        return self._workspace.store.documents.get(document_id)

    def attachments(self, *document_ids: uuid.UUID) -> builtins.list[types.Document]:
        """Return the attachments of mails and archives, recursively, including those in the trash."""
        return self._attachments.of(*document_ids)

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
        tags: Sequence[str] = (),
        key: str | None = None,
    ) -> types.Document:
        """Add a file; a worker reads it, or with `enqueue` False the caller does by `process`.

        An encrypted file without a password waits for it. With `replaces` it becomes the next version of that document,
        which it replaces atomically when it is ready; until then, and if it fails, the old version stays searchable.
        `on_same_name` says what to do if the index has a document of the same name. `tags` are added; those of a new
        version at once to the document, which keeps them. For `key` see `upload`.

        Raises:
            errors.ValidationError: a tag is empty, too long, or not a single line.
            errors.UnsupportedFileError: the file type is not supported.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.QuotaError: the user's quota is used up.
            errors.NotFoundError: there is no document to replace.
            errors.ConflictError: the document to replace is in the trash, or follows a file.
            errors.SameNameError: `on_same_name` is "ask" and a document has the name; `details` have its
                `document_id`, `name`, `version` and `created_at`.
        """
        index, given = self._index_of(replaces, index_name), parse(_Tagging, {"add": [*tags]}).add
        with as_file(content) as path, tracing.span("upload") as step:
            replaced = replaces or self._same_name(path, name, index, on_same_name)
            document = self._originals.keep(
                path, name, index, password=password, source=source, replaces=replaced, upload_key=key
            )
            step.add(document=document.id, bytes=document.size, mime_type=document.mime_type)
            if (traced := tracing.current_traceparent()) is not None:
                self._workspace.store.documents.set_trace(document.id, traced)
            if given:  # before it is read, when it joins the matrices that follow a tag
                document = self._tag_version(document.id, given)
            return self._enqueue(document) if enqueue else document

    def _index_of(self, replaces: uuid.UUID | None, index_name: str) -> types.Index:
        """Return the index for a file, which for a new version is that of the document it replaces."""
        if replaces is None:
            return self._workspace.ensure_index(index_name)
        replaced = self._workspace.store.documents.get(replaces)
        return self._workspace.store.indexes.get_by_id(replaced.index_id)

    def _tag_version(self, document_id: uuid.UUID, tags: Sequence[str]) -> types.Document:
        """Add tags to a version, to the current one, whose tags it will take over, and to those that do so before."""
        versions = self._workspace.store.versions.list([document_id])
        current = next((one.version for one in versions if one.superseded_by is None), 1)
        self.tag([document_id, *(one.id for one in versions if one.version >= current)], add=tags)
        return self._workspace.store.documents.get(document_id)

    def _same_name(self, path: Path, name: str, index: types.Index, on_same_name: types.OnSameName) -> uuid.UUID | None:
        if on_same_name == "keep":
            return None
        same = self._workspace.store.versions.of_same_name(index.id, display_name(name), sha256_of(path))
        if same and on_same_name == "ask":
            raise errors.SameNameError(
                N_(
                    "{name} (version {version}) is in the index with other content. Say whether this is a new version "
                    "of it, or a document of its own."
                ),
                name=same.name,
                version=same.version,
                details={
                    "document_id": same.id,
                    "name": same.name,
                    "version": same.version,
                    "created_at": same.created_at.isoformat(),
                },
            )
        return same.id if same else None

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
        tags: Sequence[str] = (),
    ) -> tuple[types.Document, bool]:
        """Add a file for a worker to read; the same file under the same idempotency `key` is the same document.

        Returns the document, and whether it is new. Raises as `add`, and:
            errors.ValidationError: the key was used for another file.
        """
        sources = self._workspace.store.sources
        with as_file(content) as path:
            earlier = sources.find_by_upload_key(key) if key else None
            if earlier is None:
                try:
                    document = self.add(
                        path,
                        name,
                        index_name=index_name,
                        password=password,
                        replaces=replaces,
                        on_same_name=on_same_name,
                        tags=tags,
                        key=key,
                    )
                except errors.DuplicateError:
                    earlier = sources.find_by_upload_key(key) if key else None
                    if earlier is None:  # else it is the same upload, sent twice at the same time
                        raise
                else:
                    if key:  # not known yet to a document whose missing file was restored
                        sources.set_upload_key(document.id, key)
                    return document, True
            index = self._index_of(replaces, index_name)
            if (earlier.index_id, earlier.sha256) != (index.id, sha256_of(path)):
                raise errors.ValidationError(
                    N_("The idempotency key was used for another file. Send this one under a new key."),
                    details={"field": "Idempotency-Key", "document_id": str(earlier.id)},
                )
            if tags:  # the first attempt may have ended before
                earlier = self._tag_version(earlier.id, tags)
            if self._originals.restore_file(earlier.id, path):
                earlier = self._enqueue(self._workspace.store.documents.get(earlier.id))
            return earlier, False

    def fetch(
        self,
        address: str,
        *,
        index_name: str = types.DEFAULT_INDEX,
        on_same_name: types.OnSameName = "keep",
        web: WebDownloader | None = None,
    ) -> types.Document:
        """Download a file from a public URL and add it as a document. `web` fetches it.

        Raises as `add`, and:
            errors.ValidationError: it is no http or https URL.
            errors.ForbiddenError: its host is not public, or RAG_WEB_ADDRESSES is off.
            errors.LimitError: the file is too large, or takes too long.
            errors.SourceError: it cannot be fetched.
        """
        if not self._workspace.config.rag_web_addresses:
            raise errors.ForbiddenError(
                N_(
                    "Files are not fetched from the web here: RAG_WEB_ADDRESSES is off. Save the file in your browser "
                    "and upload it."
                )
            )
        fetcher = web or WebDownloader(self._workspace.config.rag_parsing.max_file_mb)
        with fetcher.fetch(address) as file:
            return self.add(file.path, file.name, index_name=index_name, source=address, on_same_name=on_same_name)

    def _enqueue(self, document: types.Document) -> types.Document:
        if document.status not in types.UNFINISHED:
            return document
        with tracing.span("queue", document=document.id):
            return self._workspace.enqueue(document.id)

    # --- overview ---

    def overview(self, document_id: uuid.UUID) -> types.DocumentOverview:
        """Return what a document is, its key facts with their places, and questions for it. Raises NotFoundError."""
        return Overviews(self._workspace).get(document_id)

    def improve_overview(
        self, document_id: uuid.UUID, generation: types.GenerationOptions | Mapping[str, Any] = ANY_MODEL
    ) -> types.DocumentOverview:
        """Have a language model write the key facts, of which those are kept that their quotes prove.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConfigError: no language model is set up.
            errors.ConflictError: the document is not read yet, or was read again meanwhile.
            errors.ForbiddenError: the document is shared for reading only.
            errors.ProviderError: the model refuses or is down.
            errors.GroundingError: the document proves nothing of what the model wrote.
        """
        return Overviews(self._workspace).improve(document_id, parse(types.GenerationOptions, generation))

    def estimate_overview(
        self, document_id: uuid.UUID, generation: types.GenerationOptions | Mapping[str, Any] = ANY_MODEL
    ) -> types.OverviewEstimate:
        """Return the tokens and the cost of `improve_overview`; raises as that, but no model is called."""
        return Overviews(self._workspace).estimate(document_id, parse(types.GenerationOptions, generation))

    # --- metadata ---

    def edit(self, document_id: uuid.UUID, changes: types.DocumentEdit | Mapping[str, Any]) -> types.Document:
        """Change the name, title, author, date or tags of a document, or disable it; other fields stay.

        The name is cleaned as that of an upload: of a path its last part, without characters that cannot be seen.
        The new name and title can be searched at once; language models see them after the document is read again.

        Raises:
            errors.ValidationError: a value is empty, too long, or not a single line.
            errors.NotFoundError: there is no such document.
        """
        edit, store = parse(types.DocumentEdit, changes), self._workspace.store
        before = store.documents.get(document_id)
        if "name" in edit.given:
            name = with_extension(display_name(edit.name), before.name)
            edit = types.DocumentEdit(**{**edit.model_dump(exclude_unset=True), "name": name})
        after = store.documents.edit(document_id, edit)
        if "tags" in edit.given:
            matrix_filling.follow(self._workspace, [document_id])
        if after.chunk_count and (before.name, before.title) != (after.name, after.title):
            # it was read already: make it searchable by its new name and title
            pages = store.chunks.page_lines([(after.id, number + 1) for number in range(ingestion.FRONT_PAGES)])
            lines = [line for page in sorted(pages) for line in pages[page]]
            store.chunks.refresh_front(after.id, ingestion.identifying_text(after.name, after.title, lines))
        return after

    def tag(
        self, document_ids: Sequence[uuid.UUID], *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Sequence[uuid.UUID]:
        """Add and remove tags of documents. Returns the ids of those that changed.

        Raises ValidationError if a tag is empty, too long, or not a single line.
        """
        parsed = parse(_Tagging, {"add": [*add], "remove": [*remove]})
        changed = self._workspace.store.documents.tag(document_ids, added=parsed.add, removed=parsed.remove)
        if parsed.add:
            matrix_filling.follow(self._workspace, changed)
        return changed

    def tags(self, index_name: str = types.DEFAULT_INDEX) -> builtins.list[types.TagCount]:
        """Return the tags of an index with their numbers of documents. Raises NotFoundError."""
        return self._workspace.store.documents.tags(self._workspace.requested_index(index_name).id)

    def move(self, document_ids: Sequence[uuid.UUID], index_name: str) -> Sequence[uuid.UUID]:
        """Move documents into another of the user's indexes, created if needed. Returns the ids of those moved.

        Raises ConflictError if the index has another embedding model, other chunking or the same content; or a document
        is being read, follows a folder, or is an attachment. Nothing is moved.
        """
        index = self._workspace.ensure_index(index_name)
        return self._workspace.store.documents.move(document_ids, index.id)

    def _resolved(self, query: types.DocumentQuery) -> types.DocumentQuery:
        return query.model_copy(update={"filters": resolve_filters(self._workspace.store, query.filters)})

    # --- reading ---

    def unlock(self, document_id: uuid.UUID, password: str) -> types.Document:
        """Decrypt a document that waits for its password, and queue it. Raises PasswordError for a wrong password."""
        self._originals.unlock(document_id, password)
        return self.retry(document_id)

    def retry(self, document_id: uuid.UUID) -> types.Document:
        """Queue a document that failed or was cancelled, from where it stopped, or a ready one to be read again.

        Raises NotFoundError if it is in the trash or gone.
        """
        return self._enqueue(self._workspace.store.documents.resume(document_id))

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
        return self._workspace.store.documents.cancel(document_ids)

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


def with_extension(name: str, before: str) -> str:
    """Return `name` with the extension of `before`, which tells the type of the file."""
    ending = PurePath(before).suffix
    has_ending = name.casefold().endswith(ending.casefold()) and len(name) > len(ending)
    return name if has_ending else name + ending
