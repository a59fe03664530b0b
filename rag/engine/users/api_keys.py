"""API keys for the REST API and the MCP server."""

import datetime as dt
import hashlib
import re
import secrets
import uuid
from collections.abc import Callable, Sequence

from rag import errors, types
from rag.config import Config
from rag.store.store import Store
from rag.store.users.api_keys import ApiKeys

PREFIX = "pl_"
SECRET_BYTES = 32
SECRET_PATTERN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
"""The form of `secrets.token_urlsafe(SECRET_BYTES)`."""

HINT_CHARS = len(PREFIX) + 4
MAX_NAME_CHARS = 100


SHARED_KEY = types.ApiKey(
    id=uuid.UUID(int=0),
    user_id=types.LOCAL_USER,
    name="RAG_API_KEY",
    hint="",
    permissions=("admin",),
    created_at=dt.datetime.fromtimestamp(0, dt.UTC),
)
"""Represents `RAG_API_KEY`, which is no row of the database."""


class UserKeys:
    """One user's keys."""

    def __init__(self, rows: Callable[[], ApiKeys]) -> None:
        """`rows` opens the store's keys of the user."""
        self._rows = rows

    def create(
        self, name: str, permissions: Sequence[types.Permission] = ("read",), expires_at: dt.datetime | None = None
    ) -> tuple[types.ApiKey, str]:
        """Create a key. Returns it and its secret, which is not stored and cannot be shown again.

        Raises ValidationError if the name is empty, too long or not printable, the permissions are empty or unknown, or
        the expiry is past or has no time zone.
        """
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        key = self._rows().create(
            name=_valid_name(name),
            digest=_digest(secret),
            hint=secret[:HINT_CHARS],
            permissions=_valid_permissions(permissions),
            expires_at=_valid_expiry(expires_at),
        )
        return key, secret

    def list(self) -> list[types.ApiKey]:
        """Return the user's keys, including expired and revoked ones, latest first."""
        return self._rows().list()

    def revoke(self, key_id: uuid.UUID) -> types.ApiKey:
        """Revoke a key. Raises NotFoundError."""
        return self._rows().revoke(key_id)


def authenticate(config: Config, store: Callable[[], Store], secret: str) -> types.ApiKey | None:
    """Return the valid key with this secret, or None.

    `RAG_API_KEY` is an admin key of the local user. Malformed secrets are not looked up. `secret` is decoded as
    Latin-1, the character set of HTTP headers.
    """
    shared = config.rag_api_key
    if shared and secrets.compare_digest(secret.encode("latin-1", "replace"), shared.get_secret_value().encode()):
        return SHARED_KEY
    return store().accounts.find_key(_digest(secret)) if SECRET_PATTERN.fullmatch(secret) else None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _valid_name(name: str) -> str:
    stripped = name.strip()
    if not 0 < len(stripped) <= MAX_NAME_CHARS or not stripped.isprintable():
        raise errors.ValidationError(
            f"A key needs a name of 1 to {MAX_NAME_CHARS} printable characters.", details={"field": "name"}
        )
    return stripped


def _valid_permissions(permissions: Sequence[types.Permission]) -> list[types.Permission]:
    unknown = [permission for permission in permissions if permission not in types.PERMISSIONS]
    if unknown or not permissions:
        raise errors.ValidationError(
            f"A key needs one or more of the permissions {', '.join(types.PERMISSIONS)}.",
            details={"field": "permissions"},
        )
    return [permission for permission in types.PERMISSIONS if permission in permissions]


def _valid_expiry(expires_at: dt.datetime | None) -> dt.datetime | None:
    if expires_at is None:
        return None
    if expires_at.tzinfo is None or expires_at <= dt.datetime.now(dt.UTC):
        raise errors.ValidationError(
            "A key's expiry must lie in the future and have a time zone.", details={"field": "expires_at"}
        )
    return expires_at
