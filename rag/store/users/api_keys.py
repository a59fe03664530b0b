"""API keys for REST and MCP. Only the digest of a key's secret is stored."""

import builtins
import datetime as dt
import uuid
from collections.abc import Sequence

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Queries, UserDatabase
from rag.store.users import audit_log


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
