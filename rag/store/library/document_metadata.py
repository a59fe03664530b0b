"""What owners say of their documents: names, titles, authors, days, tags, and what is disabled."""

import uuid
from collections.abc import Sequence

from rag.store.library.documents import EVERY_DOCUMENT, listed, to_document, unknown
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Document, DocumentEdit, DocumentQuery, TagCount


class DocumentMetadata:
    """A user's columns of the table `documents` that are the user's to change."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("catalogue")
        self._listing = named_queries.load("documents")

    def ids(self, index_id: uuid.UUID, asked: DocumentQuery = EVERY_DOCUMENT) -> list[uuid.UUID]:
        """The ids of all that `documents.list` would give, newest first."""
        return [row["id"] for row in self._database.all(self._listing["ids"], listed(index_id, asked))]

    def count(self, index_id: uuid.UUID, asked: DocumentQuery = EVERY_DOCUMENT) -> int:
        """How many documents `documents.list` would give."""
        row = self._database.one(self._listing["count"], listed(index_id, asked))
        return int(row["documents"]) if row else 0

    def edit(self, document_id: uuid.UUID, edit: DocumentEdit) -> Document:
        """Change what is given of `edit`. Raises NotFoundError."""
        given = {name: getattr(edit, name) if name in edit.given else None for name in DocumentEdit.model_fields}
        sets = {f"sets_{name}": name in edit.given for name in ("title", "author", "dated")}
        tags = None if given["tags"] is None else [*edit.tags]
        parameters = {"document_id": document_id, **given, **sets, "tags": tags}
        edited = self._database.write(self._queries["edit"], parameters)
        if not edited:
            raise unknown(document_id)
        return to_document(edited[0])

    def tag(self, ids: Sequence[uuid.UUID], *, added: Sequence[str], removed: Sequence[str]) -> Sequence[uuid.UUID]:
        """Put tags on documents and take others off; returns those that were touched."""
        touched = self._database.write(self._queries["tag"], {"ids": [*ids], "added": [*added], "removed": [*removed]})
        return [row["id"] for row in touched]

    def tags(self, index_id: uuid.UUID) -> list[TagCount]:
        """The tags of an index in the order of the alphabet."""
        return [TagCount(**row) for row in self._database.all(self._queries["tags"], {"index_id": index_id})]

    def called(self, document_id: uuid.UUID) -> tuple[str, str | None]:
        """What a document is called now: its name, and the title that the owner gave, if any. Raises NotFoundError."""
        row = self._database.one(self._queries["called"], {"document_id": document_id})
        if row is None:
            raise unknown(document_id)
        return row["name"], row["given_title"]
