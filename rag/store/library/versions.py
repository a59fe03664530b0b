"""Versions of documents: rows of `documents` that share their `lineage_id`.

One of them is searched, the others name another version in `superseded_by`. How one takes over is told in the schema
(`supersede` and the trigger `take_over`), so that it is part of whatever statement makes a version ready.
"""

import uuid
from collections.abc import Sequence

from rag.store.library.documents import to_document, unknown
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.store.users import audit_log
from rag.types import CONTAINERS, Document


class Versions:
    """What a user's rows of the table `documents` tell of versions."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("versions")

    def list(self, ids: Sequence[uuid.UUID], *, in_trash: bool = True) -> list[Document]:
        """All versions of documents that have these among their versions, without `pages`, the latest first."""
        rows = self._database.all(self._queries["list"], {"ids": [*ids], "in_trash": in_trash})
        return [to_document(row) for row in rows]

    def of_same_name(self, index_id: uuid.UUID, name: str, sha256: str) -> Document | None:
        """The document that a file of this name, whose content is in no document, may be a new version of."""
        parameters = {"index_id": index_id, "name": name, "sha256": sha256, "containers": [*CONTAINERS]}
        row = self._database.one(self._queries["of_same_name"], parameters)
        return to_document(row) if row else None

    def take_over(self, document_id: uuid.UUID, older: Sequence[uuid.UUID]) -> None:
        """Make a document the version that is searched in the place of `older` ones, in one moment; chats go along.

        It comes out of the trash for that. Mails and archives have parts, but no versions: see `Sources.supersede`.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        bound = self._database.bind({"document_id": document_id, "older": [*older]})
        with self._database.transaction() as connection:
            taker = connection.execute(self._queries["take_over"], bound).fetchone()
            if taker is None:
                raise unknown(document_id)
            if taker["thrown_away"]:
                audit_log.add_document_entries(self._database, connection, "document.restore", [document_id])

    def make_current(self, document_id: uuid.UUID) -> bool:
        """Let an older version be searched again, as the latest; False if it is none, or not ready, or in the trash."""
        return bool(self._database.write(self._queries["make_current"], {"document_id": document_id}))
