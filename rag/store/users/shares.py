"""Shares: which user or group may use which collection of another user."""

import builtins
import uuid

from rag import types
from rag.store.library import documents
from rag.store.library.indexes import to_index
from rag.store.server.database import Queries, UserDatabase
from rag.store.users import audit_log


class Shares:
    """The shares that a user gives others, and has from others."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "shares")

    def list(self, index_id: uuid.UUID | None = None) -> builtins.list[types.Share]:
        """Return the user's shares, of one index or of all."""
        return [types.Share(**row) for row in self._queries.all("list", index_id=index_id)]

    def colleagues(self, *, is_admin: bool) -> builtins.list[types.Grantee]:
        """Return all other users, then all groups, by name; none for a user who may not share. See `share`."""
        return [types.Grantee(**row) for row in self._queries.all("colleagues", is_admin=is_admin)]

    def share(self, index_id: uuid.UUID, request: types.ShareRequest, *, is_admin: bool = False) -> bool:
        """Share an index, or change the permission; False if the user may not, or has no such index.

        `is_admin` is true for users whom the configuration, not the account's role, makes admins.
        """
        return self._write("share", "share.give", index_id=index_id, is_admin=is_admin, **request.model_dump())

    def unshare(self, index_id: uuid.UUID, request: types.ShareRequest) -> bool:
        """Delete a share; False if there was none."""
        return self._write("unshare", "share.withdraw", index_id=index_id, **request.model_dump())

    def _write(self, query: str, action: str, **parameters: object) -> bool:
        """Run a query with an entry in the audit log, and return whether anything changed."""
        with self._database.transaction() as connection:
            for row in self._queries.run(connection, query, **parameters).fetchall():
                details = {name: row[name] for name in ("grantee_kind", "grantee", "permission")}
                subject = audit_log.Subject("index", str(row["index_id"]), row["name"])
                audit_log.add_entry(self._database, connection, action, subject, details=details)
                return True
        return False

    def shared_with_me(self) -> builtins.list[types.SharedIndex]:
        """Return the collections that others share with the user."""
        return [
            types.SharedIndex(index=to_index(row), owner_name=row["owner_name"], permission=row["permission"])
            for row in self._queries.all("shared_with_me")
        ]

    def holding(self, document_id: uuid.UUID) -> uuid.UUID:
        """Return the shared collection that a document is in. Raises NotFoundError if it is in none."""
        row = self._queries.one("holding", document_id=document_id)
        if row is None or row["index_id"] is None:
            raise documents.missing(self._database, document_id)
        return uuid.UUID(str(row["index_id"]))
