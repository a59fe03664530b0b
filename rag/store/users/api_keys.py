"""API keys for REST and MCP. Only the digest of a key's secret is stored."""

import builtins
import datetime as dt
import uuid
from collections.abc import Sequence

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Database, Queries, UserDatabase
from rag.store.users import audit_log

LAST_USE_SECONDS = 60.0
"""Precision of a key's last use, so that not every request writes."""


class ApiKeys:
    """A user's rows of the table `api_keys`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "api_keys")

    def create(
        self,
        *,
        name: str,
        digest: bytes,
        hint: str,
        permissions: Sequence[types.Permission],
        expires_at: dt.datetime | None = None,
    ) -> types.ApiKey:
        """Add a key for a secret with this SHA-256 `digest`."""
        values = {"name": name, "digest": digest, "hint": hint, "permissions": [*permissions], "expires_at": expires_at}
        return self._write("create", id=uuid.uuid4(), **values)[0]

    def list(self) -> builtins.list[types.ApiKey]:
        """Return the user's keys, expired and revoked ones too, the latest first."""
        return [types.ApiKey(**row) for row in self._queries.all("list")]

    def revoke(self, key_id: uuid.UUID) -> types.ApiKey:
        """Revoke a key at once. Raises NotFoundError."""
        revoked = self._write("revoke", key_id=key_id)
        if not revoked:
            raise errors.NotFoundError(N_("There is no key {id}. List the keys and check the id."), id=key_id)
        return revoked[0]

    def _write(self, query: str, **parameters: object) -> builtins.list[types.ApiKey]:
        """Run `create` or `revoke` with entries in the audit log, and return the keys."""
        with self._database.transaction() as connection:
            keys = [types.ApiKey(**row) for row in self._queries.run(connection, query, **parameters)]
            for key in keys:
                subject = audit_log.Subject("key", str(key.id), key.name)
                details = {"hint": key.hint, "permissions": [*key.permissions]}
                audit_log.add_entry(self._database, connection, f"key.{query}", subject, details=details)
        return keys


def find(database: Database, digest: bytes) -> types.ApiKey | None:
    """Return the valid key whose secret has this SHA-256 digest, of any user; None if there is none.

    The database need not compare digests in constant time: nobody can choose a secret by the start of its digest.
    """
    queries = Queries(database, "api_keys")
    row = queries.one("find", digest=digest, precision_seconds=LAST_USE_SECONDS)
    if row is None:
        return None
    if row.pop("is_stale"):
        queries.write("touch", user_id=row["user_id"], key_id=row["id"], precision_seconds=LAST_USE_SECONDS)
        Queries(database, "accounts").write("see", user_id=row["user_id"], precision_seconds=LAST_USE_SECONDS)
    return types.ApiKey(**row)


def exist(database: Database) -> bool:
    """Return whether anyone has a key that was not revoked; an expired one counts, it must not allow open access."""
    row = Queries(database, "api_keys").one("exist")
    return bool(row and row["present"])
