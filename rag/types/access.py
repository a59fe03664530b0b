"""Who may do what: the keys that open the REST API and the MCP server."""

import datetime as dt
import uuid
from typing import Literal, get_args

from rag.types.text import Model

Permission = Literal["read", "write", "admin"]

LOCAL_USER = "local"
"""Who uses an app without a login, the command line, and RAG_API_KEY."""

PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
"""From the least to the most: who may administer may write, and who may write may read."""


class ApiKey(Model):
    """A user's key, without its secret. `hint` is how the secret begins; `last_used_at` is right to the minute."""

    id: uuid.UUID
    user_id: str
    name: str
    hint: str
    permissions: tuple[Permission, ...]
    created_at: dt.datetime
    expires_at: dt.datetime | None = None
    last_used_at: dt.datetime | None = None
    revoked_at: dt.datetime | None = None

    def state(self) -> Literal["valid", "expired", "revoked"]:
        """What it is worth now."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= dt.datetime.now(dt.UTC) else "valid"

    def allows(self, permission: Permission) -> bool:
        """Whether the key has this permission, or one that implies it. Says nothing of expiry and revocation."""
        return any(PERMISSIONS.index(mine) >= PERMISSIONS.index(permission) for mine in self.permissions)
