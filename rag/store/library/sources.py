"""The sources of documents: files that they follow, and the keys of uploads."""

import uuid
from collections.abc import Mapping, Sequence

from rag import types
from rag.store.library.documents import AttachmentCascade, to_document, unknown
from rag.store.server.database import Queries, UserDatabase
from rag.store.users import audit_log


class Sources:
    """The columns of a user's `documents` that say where they came from."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "sources")
        self._attachments = AttachmentCascade(database)

    def find(
        self, index_id: uuid.UUID, *, sources: Sequence[str] = (), prefix: str | None = None
    ) -> list[types.Document]:
        """Return documents whose source is in `sources` or starts with `prefix`, oldest first, trash included."""
        rows = self._queries.all("find", index_id=index_id, sources=[*sources], prefix=prefix)
        return [to_document(row) for row in rows]

    def show(self, sources: Mapping[uuid.UUID, str]) -> None:
        """Set the sources that answers show for documents."""
        self._queries.write("show", ids=[*sources], sources=[*sources.values()])

    def named(self, index_id: uuid.UUID, references: Sequence[str]) -> dict[str, list[uuid.UUID]]:
        """Return the documents of each reference: an id, a source, or the SHA-256 (hex) of one of these.

        References to no document, or only to documents in the trash, are left out.
        """
        found: dict[str, list[uuid.UUID]] = {}
        for row in self._queries.all("named", index_id=index_id, references=[*references]):
            found.setdefault(row["reference"], []).append(row["id"])
        return found

    def meant(self, index_id: uuid.UUID, sources: Sequence[str]) -> dict[str, set[uuid.UUID]]:
        """Return the documents of each source, which is given as in a filter, or by name or id."""
        found: dict[str, set[uuid.UUID]] = {}
        for row in self._queries.all("meant", index_id=index_id, sources=[*sources]):
            found.setdefault(row["source"], set()).add(row["id"])
        return found

    def supersede(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Take a document with its attachments out of the trash, move `older` ones there, and transfer their chats.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        with self._database.transaction() as connection:
            shown = self._queries.run(connection, "supersede", document_id=document_id, older=[*older]).fetchone()
            if shown is None:
                raise unknown(document_id)
            times = {document_id: shown["was_deleted_at"]}
            restored = [document_id, *self._attachments.restore(connection, times)]
            trashed = [*shown["hidden"], *self._attachments.trash(connection, shown["hidden"])]
            if shown["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", restored)
            audit_log.add_document_entries(self._database, connection, "document.trash", trashed)

    def find_by_upload_key(self, key: str) -> types.Document | None:
        """Return the document that was uploaded under a key, if it still exists."""
        row = self._queries.one("find_by_upload_key", key=key)
        return to_document(row) if row else None

    def set_upload_key(self, document_id: uuid.UUID, key: str) -> None:
        """Save the key under which a document was uploaded. Raises NotFoundError."""
        if not self._queries.write("set_upload_key", document_id=document_id, key=key):
            raise unknown(document_id)
