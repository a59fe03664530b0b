"""What an owner says of documents: names, titles, authors, days and tags, and which are left out of searches."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rag import ingestion
from rag.engine.library.saved_filters import resolved
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.types import (
    DEFAULT_INDEX,
    Document,
    DocumentEdit,
    DocumentQuery,
    Model,
    TagCount,
    Tags,
)

EVERY_DOCUMENT = DocumentQuery()


class _Tagging(Model):
    add: Tags
    remove: Tags


class Catalogue:
    """One user's say in the documents of all indexes, and which there are, in short."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def ids(self, asked: DocumentQuery = EVERY_DOCUMENT, index_name: str = DEFAULT_INDEX) -> list[uuid.UUID]:
        """The ids of all documents that `documents.list` would give, newest first. Raises as that."""
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.document_metadata.ids(index.id, self._resolved(asked))

    def count(self, asked: DocumentQuery = EVERY_DOCUMENT, index_name: str = DEFAULT_INDEX) -> int:
        """How many documents `documents.list` would give. Raises as that."""
        index = self._workspace.asked_index(index_name)
        return self._workspace.store.document_metadata.count(index.id, self._resolved(asked))

    def edit(self, document_id: uuid.UUID, changes: DocumentEdit | Mapping[str, Any]) -> Document:
        """Change name, title, author, day or tags, or disable a document; what is not given stays as it is.

        It is found by its new name and title at once. Its chunks show them to the models when it is read again.

        Raises:
            errors.ValidationError: a value is too long, empty, or no line of text.
            errors.NotFoundError: there is no such document.
        """
        asked, store = parse(DocumentEdit, changes), self._workspace.store
        before = store.documents.get(document_id)
        if "name" in asked.given:
            asked = DocumentEdit(**{**asked.model_dump(exclude_unset=True), "name": named(asked.name, before.name)})
        after = store.document_metadata.edit(document_id, asked)
        if (before.name, before.title) != (after.name, after.title):
            self._refresh_front(after)
        return after

    def tag(
        self, document_ids: Sequence[uuid.UUID], *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Sequence[uuid.UUID]:
        """Put tags on documents, and take others off. Returns those that were touched.

        Raises:
            errors.ValidationError: a tag is too long, empty, or no line of text.
        """
        asked = parse(_Tagging, {"add": [*add], "remove": [*remove]})
        return self._workspace.store.document_metadata.tag(document_ids, added=asked.add, removed=asked.remove)

    def tags(self, index_name: str = DEFAULT_INDEX) -> list[TagCount]:
        """The tags of an index's documents, each with their number. Raises NotFoundError."""
        return self._workspace.store.document_metadata.tags(self._workspace.asked_index(index_name).id)

    def move(self, document_ids: Sequence[uuid.UUID], index_name: str) -> Sequence[uuid.UUID]:
        """Move documents with all that was made of them into another of the user's indexes, made if there is none.

        Returns those that were moved: all of them, or none where it raises.

        Raises:
            errors.ConflictError: the index has another embedding model or other chunks, has the content of one already,
                or one is being read, follows a folder, or is a part of another.
        """
        index = self._workspace.ensure_index(index_name)
        return self._workspace.store.collection_moves.move(document_ids, index.id)

    def _refresh_front(self, document: Document) -> None:
        """Let a document be found by what it is called now. What was not read yet is found by it when it is."""
        if not document.chunk_count:
            return
        chunks = self._workspace.store.chunks
        pages = chunks.page_lines([(document.id, number + 1) for number in range(ingestion.FRONT_PAGES)])
        lines = [line for key in sorted(pages) for line in pages[key]]
        chunks.refresh_front(document.id, ingestion.identifying_text(document.name, document.title, lines))

    def _resolved(self, asked: DocumentQuery) -> DocumentQuery:
        return asked.model_copy(update={"filters": resolved(self._workspace.store, asked.filters)})


def named(name: str, before: str) -> str:
    """`name` with the ending of the name `before`: it tells other programs, and this one, what kind of file it is."""
    ending = PurePath(before).suffix
    has_ending = name.casefold().endswith(ending.casefold()) and len(name) > len(ending)
    return name if has_ending else name + ending
