"""Keys of users for the REST API and the MCP server; of a secret only its digest is kept."""

import builtins
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Database, UserDatabase
from rag.store.users import audit_log
from rag.types import ApiKey, Permission

LAST_USE_SECONDS = 60.0
"""How often a key's last use is written down at most, so that not every request writes."""


class ApiKeys:
    """A user's rows of the table `api_keys`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("api_keys")

    def create(
        self,
        *,
        name: str,
        digest: bytes,
        hint: str,
        permissions: Sequence[Permission],
        expires_at: dt.datetime | None = None,
    ) -> ApiKey:
        """A new key for a secret with this SHA-256 `digest`."""
        parameters = {
            "id": uuid.uuid4(),
            "name": name,
            "digest": digest,
            "hint": hint,
            "permissions": [*permissions],
            "expires_at": expires_at,
        }
        return self._noted("key.create", parameters)[0]

    def list(self) -> builtins.list[ApiKey]:
        """All keys of a user, expired and revoked ones too, the latest first."""
        return [to_key(row) for row in self._database.all(self._queries["list"], {})]

    def revoke(self, key_id: uuid.UUID) -> ApiKey:
        """Let a key open nothing from now on. Raises NotFoundError."""
        revoked = self._noted("key.revoke", {"key_id": key_id})
        if not revoked:
            raise errors.NotFoundError(f"There is no key {key_id}. List the keys and check the id.")
        return revoked[0]

    def _noted(self, action: str, parameters: Mapping[str, object]) -> builtins.list[ApiKey]:
        """The keys that `create` or `revoke` touches, told in the audit."""
        with self._database.transaction() as connection:
            statement = self._queries[action.removeprefix("key.")]
            found = connection.execute(statement, self._database.bind(parameters)).fetchall()
            keys = [to_key(row) for row in found]
            for key in keys:
                rights = {"hint": key.hint, "permissions": [*key.permissions]}
                audit_log.note(
                    self._database, connection, action, audit_log.Subject("key", str(key.id), key.name), details=rights
                )
        return keys


def find(database: Database, digest: bytes) -> ApiKey | None:
    """The valid key whose secret has this SHA-256 digest; None if there is none, or it is expired or revoked.

    No user is asked for: whose key it is, is what the caller wants to know. That the database compares digests
    byte by byte tells a listener nothing: nobody can choose a secret by how its digest begins.
    """
    statements = named_queries.load("api_keys")
    row = database.one(statements["find"], {"digest": digest, "precision_seconds": LAST_USE_SECONDS})
    if row is None:
        return None
    if row.pop("is_stale"):
        parameters = {"user_id": row["user_id"], "key_id": row["id"], "precision_seconds": LAST_USE_SECONDS}
        database.write(statements["touch"], parameters)
        database.write(named_queries.load("accounts")["see"], parameters)
    return to_key(row)


def exist(database: Database) -> bool:
    """Whether anyone has a key that was not revoked. An expired one counts: it must not open a door to all."""
    row = database.one(named_queries.load("api_keys")["exist"], {})
    return bool(row and row["present"])


def to_key(row: Mapping[str, Any]) -> ApiKey:
    """A row of `api_keys`."""
    return ApiKey.model_validate({**row, "permissions": tuple(row["permissions"])})
