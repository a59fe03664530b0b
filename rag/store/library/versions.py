"""Versions of documents: rows of `documents` with the same `lineage_id`.

One version is current and searched; the others name another version in `superseded_by`. The schema does the takeover
(`supersede` and the trigger `take_over`), as part of any statement that makes a version ready.
"""

import uuid
from collections.abc import Sequence

from rag import types
from rag.store.library.documents import to_document, unknown
from rag.store.server.database import Queries, UserDatabase
from rag.store.users import audit_log


class Versions:
    """The columns of a user's `documents` that relate versions."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "versions")

    def list(self, ids: Sequence[uuid.UUID], *, in_trash: bool = True) -> list[types.Document]:
        """Return all versions of the documents that have `ids` among their versions, the latest first."""
        return [to_document(row) for row in self._queries.all("list", ids=[*ids], in_trash=in_trash)]

    def of_same_name(self, index_id: uuid.UUID, name: str, sha256: str) -> types.Document | None:
        """Return the document that a file of this name and of new content may be a new version of."""
        row = self._queries.one(
            "of_same_name", index_id=index_id, name=name, sha256=sha256, containers=[*types.CONTAINERS]
        )
        return to_document(row) if row else None

    def take_over(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Make a document the current version in place of `older` ones, out of the trash, and transfer their chats.

        Mails and archives have attachments but no versions: see `Sources.supersede`.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        with self._database.transaction() as connection:
            taker = self._queries.run(connection, "take_over", document_id=document_id, older=[*older]).fetchone()
            if taker is None:
                raise unknown(document_id)
            if taker["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", [document_id])

    def make_current(self, document_id: uuid.UUID) -> bool:
        """Make an older version the current one; False if it is none, is not ready, or is in the trash."""
        return bool(self._queries.write("make_current", document_id=document_id))
