"""Where documents came from: files that they follow, and the keys of uploads."""

import uuid
from collections.abc import Mapping, Sequence

from rag.store.library.attachment_cascade import AttachmentCascade
from rag.store.library.documents import to_document, unknown
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.store.users import audit_log
from rag.types import Document


class Sources:
    """What a user's rows of the table `documents` tell of where they came from."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("sources")
        self._parts = AttachmentCascade(database)

    def find(self, index_id: uuid.UUID, *, sources: Sequence[str] = (), prefix: str | None = None) -> list[Document]:
        """Documents whose source is one of `sources` or begins with `prefix`, those in the trash too, oldest first."""
        parameters = {"index_id": index_id, "sources": [*sources], "prefix": prefix}
        return [to_document(row) for row in self._database.all(self._queries["find"], parameters)]

    def show(self, sources: Mapping[uuid.UUID, str]) -> None:
        """Let answers show these `sources` of documents from now on."""
        parameters = {"ids": [*sources], "sources": [*sources.values()]}
        self._database.write(self._queries["show"], parameters)

    def named(self, index_id: uuid.UUID, references: Sequence[str]) -> dict[str, list[uuid.UUID]]:
        """Which documents each of `references` means: their ids, their sources, or the SHA-256 of these (hex).

        What means none, or only documents in the trash, is left out.
        """
        parameters = {"index_id": index_id, "references": [*references]}
        found: dict[str, list[uuid.UUID]] = {}
        for row in self._database.all(self._queries["named"], parameters):
            found.setdefault(row["reference"], []).append(row["id"])
        return found

    def meant(self, index_id: uuid.UUID, sources: Sequence[str]) -> dict[str, set[uuid.UUID]]:
        """The documents that each of `sources` means: as in a filter of sources, or by their name or id."""
        parameters = {"index_id": index_id, "sources": [*sources]}
        found: dict[str, set[uuid.UUID]] = {}
        for row in self._database.all(self._queries["meant"], parameters):
            found.setdefault(row["source"], set()).add(row["id"])
        return found

    def supersede(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Take a document out of the trash and put `older` ones there, in one moment; chats go along.

        Parts go with them.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        parameters = self._database.bind({"document_id": document_id, "older": [*older]})
        with self._database.transaction() as connection:
            shown = connection.execute(self._queries["supersede"], parameters).fetchone()
            if shown is None:
                raise unknown(document_id)
            restored = [document_id, *self._parts.restore(connection, {document_id: shown["was_deleted_at"]})]
            trashed = [*shown["hidden"], *self._parts.trash(connection, shown["hidden"])]
            if shown["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", restored)
            audit_log.add_document_entries(self._database, connection, "document.trash", trashed)

    def find_by_upload_key(self, key: str) -> Document | None:
        """The document that came with an upload under this key, if it is still there."""
        row = self._database.one(self._queries["of_upload_key"], {"key": key})
        return to_document(row) if row else None

    def keep_upload_key(self, document_id: uuid.UUID, key: str) -> None:
        """Remember under which key a document came. Raises NotFoundError."""
        self._change("keep_upload_key", document_id, {"key": key})

    def _change(self, query: str, document_id: uuid.UUID, parameters: Mapping[str, object]) -> None:
        if not self._database.write(self._queries[query], {"document_id": document_id, **parameters}):
            raise unknown(document_id)
