"""Metadata that users give documents: names, titles, authors, dates, tags, and whether they are disabled."""

import uuid
from collections.abc import Sequence

from rag import types
from rag.store.library.documents import EVERY_DOCUMENT, list_parameters, to_document, unknown
from rag.store.server.database import Queries, UserDatabase


class DocumentMetadata:
    """The columns of a user's `documents` that the user may change."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "document_metadata")
        self._listing = Queries(database, "documents")

    def ids(self, index_id: uuid.UUID, asked: types.DocumentQuery = EVERY_DOCUMENT) -> list[uuid.UUID]:
        """Return the ids of all documents that `Documents.list` would return, newest first."""
        return [row["id"] for row in self._listing.all("ids", **list_parameters(index_id, asked))]

    def count(self, index_id: uuid.UUID, asked: types.DocumentQuery = EVERY_DOCUMENT) -> int:
        """Return how many documents `Documents.list` would return."""
        row = self._listing.one("count", **list_parameters(index_id, asked))
        return int(row["documents"]) if row else 0

    def edit(self, document_id: uuid.UUID, edit: types.DocumentEdit) -> types.Document:
        """Change the fields that `edit` gives. Raises NotFoundError."""
        given = {name: getattr(edit, name) if name in edit.given else None for name in types.DocumentEdit.model_fields}
        sets = {f"sets_{name}": name in edit.given for name in ("title", "author", "dated")}
        given["tags"] = None if given["tags"] is None else [*edit.tags]
        edited = self._queries.write("edit", document_id=document_id, **given, **sets)
        if not edited:
            raise unknown(document_id)
        return to_document(edited[0])

    def tag(self, ids: Sequence[uuid.UUID], *, added: Sequence[str], removed: Sequence[str]) -> Sequence[uuid.UUID]:
        """Add tags to documents and remove others, and return the ids of the documents."""
        return [row["id"] for row in self._queries.write("tag", ids=[*ids], added=[*added], removed=[*removed])]

    def tags(self, index_id: uuid.UUID) -> list[types.TagCount]:
        """Return the tags of an index in alphabetical order."""
        return [types.TagCount(**row) for row in self._queries.all("tags", index_id=index_id)]

    def names(self, document_id: uuid.UUID) -> tuple[str, str | None]:
        """Return a document's name, and the title that the user gave it, if any. Raises NotFoundError."""
        row = self._queries.one("names", document_id=document_id)
        if row is None:
            raise unknown(document_id)
        return row["name"], row["given_title"]
