"""Who shares which collection with whom."""

import builtins
import uuid
from collections.abc import Mapping
from typing import Any

from rag import errors
from rag.store.library.indexes import to_index
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.store.users import audit_log
from rag.types import Grantee, Share, SharedIndex, ShareRequest


class Shares:
    """What a user shares, and what others share with the user."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("shares")

    def list(self, index_id: uuid.UUID | None = None) -> builtins.list[Share]:
        """What the user shares, of one index or of all."""
        return [Share(**row) for row in self._database.all(self._queries["list"], {"index_id": index_id})]

    def colleagues(self, *, is_admin: bool) -> builtins.list[Grantee]:
        """Everybody else, then every group, by name; nobody for a user who may not share. `is_admin` as in `give`."""
        return [Grantee(**row) for row in self._database.all(self._queries["colleagues"], {"is_admin": is_admin})]

    def give(self, index_id: uuid.UUID, asked: ShareRequest, *, is_admin: bool = False) -> bool:
        """Share an index, or change how; False if the user may not, or has no such index.

        `is_admin` is one whom the installation, and not an account's role, makes one.
        """
        parameters = {"index_id": index_id, "is_admin": is_admin, **asked.model_dump()}
        return self._noted("share.give", parameters)

    def withdraw(self, index_id: uuid.UUID, asked: ShareRequest) -> bool:
        """Share it no longer, from now on; False if it was not."""
        return self._noted("share.withdraw", {"index_id": index_id, **asked.model_dump()})

    def _noted(self, action: str, parameters: Mapping[str, object]) -> bool:
        """Whether `give` or `withdraw` did anything, which the audit tells."""
        with self._database.transaction() as connection:
            statement = self._queries[action.removeprefix("share.")]
            for row in connection.execute(statement, self._database.bind(parameters)).fetchall():
                details = {name: row[name] for name in ("grantee_kind", "grantee", "permission")}
                subject = audit_log.Subject("index", str(row["index_id"]), row["name"])
                audit_log.note(self._database, connection, action, subject, details=details)
                return True
        return False

    def with_me(self) -> builtins.list[SharedIndex]:
        """What others share with the user now."""
        return [_shared(row) for row in self._database.all(self._queries["with_me"], {})]

    def holding(self, document_id: uuid.UUID) -> uuid.UUID:
        """The shared collection that a document is in. Raises NotFoundError if none is."""
        row = self._database.one(self._queries["holding"], {"document_id": document_id})
        if row is None or row["index_id"] is None:
            raise errors.NotFoundError(f"There is no document {document_id}. List the documents and check the id.")
        return uuid.UUID(str(row["index_id"]))


def _shared(row: Mapping[str, Any]) -> SharedIndex:
    return SharedIndex(index=to_index(row), owner_name=row["owner_name"], permission=row["permission"])
