"""Metadata of documents: names, titles, authors, dates, tags, and which are disabled."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rag import ingestion, types
from rag.engine.library.file_names import display_name
from rag.engine.library.saved_filters import resolve_filters
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace

EVERY_DOCUMENT = types.DocumentQuery()


class _Tagging(types.Model):
    add: types.Tags
    remove: types.Tags


class Catalogue:
    """Queries and edits the metadata of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def ids(
        self, asked: types.DocumentQuery = EVERY_DOCUMENT, index_name: str = types.DEFAULT_INDEX
    ) -> list[uuid.UUID]:
        """Return the ids of the documents that `documents.list` would return, newest first. Raises as that."""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.document_metadata.ids(index.id, self._resolved(asked))

    def count(self, asked: types.DocumentQuery = EVERY_DOCUMENT, index_name: str = types.DEFAULT_INDEX) -> int:
        """Return the number of documents that `documents.list` would return. Raises as that."""
        index = self._workspace.requested_index(index_name)
        return self._workspace.store.document_metadata.count(index.id, self._resolved(asked))

    def edit(self, document_id: uuid.UUID, changes: types.DocumentEdit | Mapping[str, Any]) -> types.Document:
        """Change the name, title, author, date or tags of a document, or disable it; other fields stay.

        The name is cleaned as that of an upload: of a path its last part, without characters that cannot be seen.
        The new name and title can be searched at once; language models see them after the document is read again.

        Raises:
            errors.ValidationError: a value is empty, too long, or not a single line.
            errors.NotFoundError: there is no such document.
        """
        asked, store = parse(types.DocumentEdit, changes), self._workspace.store
        before = store.documents.get(document_id)
        if "name" in asked.given:
            name = with_extension(display_name(asked.name), before.name)
            asked = types.DocumentEdit(**{**asked.model_dump(exclude_unset=True), "name": name})
        after = store.document_metadata.edit(document_id, asked)
        if (before.name, before.title) != (after.name, after.title):
            self._refresh_front(after)
        return after

    def tag(
        self, document_ids: Sequence[uuid.UUID], *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Sequence[uuid.UUID]:
        """Add and remove tags of documents. Returns the ids of those that changed.

        Raises ValidationError if a tag is empty, too long, or not a single line.
        """
        parsed = parse(_Tagging, {"add": [*add], "remove": [*remove]})
        return self._workspace.store.document_metadata.tag(document_ids, added=parsed.add, removed=parsed.remove)

    def tags(self, index_name: str = types.DEFAULT_INDEX) -> list[types.TagCount]:
        """Return the tags of an index with their numbers of documents. Raises NotFoundError."""
        return self._workspace.store.document_metadata.tags(self._workspace.requested_index(index_name).id)

    def move(self, document_ids: Sequence[uuid.UUID], index_name: str) -> Sequence[uuid.UUID]:
        """Move documents into another of the user's indexes, created if needed. Returns the ids of those moved.

        Raises ConflictError if the index has another embedding model, other chunking or the same content; or a document
        is being read, follows a folder, or is an attachment. Nothing is moved.
        """
        index = self._workspace.ensure_index(index_name)
        return self._workspace.store.collection_moves.move(document_ids, index.id)

    def _refresh_front(self, document: types.Document) -> None:
        """Make a document that was read already searchable by its new name and title."""
        if not document.chunk_count:
            return
        chunks = self._workspace.store.chunks
        pages = chunks.page_lines([(document.id, number + 1) for number in range(ingestion.FRONT_PAGES)])
        lines = [line for key in sorted(pages) for line in pages[key]]
        chunks.refresh_front(document.id, ingestion.identifying_text(document.name, document.title, lines))

    def _resolved(self, asked: types.DocumentQuery) -> types.DocumentQuery:
        return asked.model_copy(update={"filters": resolve_filters(self._workspace.store, asked.filters)})


def with_extension(name: str, before: str) -> str:
    """Return `name` with the extension of `before`, which tells the type of the file."""
    ending = PurePath(before).suffix
    has_ending = name.casefold().endswith(ending.casefold()) and len(name) > len(ending)
    return name if has_ending else name + ending
