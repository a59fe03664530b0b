"""User accounts, logins, API keys and the audit log."""

import datetime as dt
import enum
import uuid
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

import pydantic

from rag.types.base import Model

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


class Role(enum.StrEnum):
    """What a user may do: all work with their own documents, curators share, admins look after the installation."""

    MEMBER = "member"
    CURATOR = "curator"
    ADMIN = "admin"

    @property
    def may_share(self) -> bool:
        """Whether they may share collections with others."""
        return self is not Role.MEMBER

    @property
    def may_administer(self) -> bool:
        """Whether they may change what holds for all, and for other users."""
        return self is Role.ADMIN


class Account(Model):
    """A user. `quota_bytes` is of originals; None is what the installation allows. Times are right to the minute.

    `language` is the one that the user has chosen for the pages, such as `de`; None is that of the browser.

    `groups_by_login` are those of `groups` that the login provider names; the others were given here.
    """

    user_id: str
    role: Role = Role.MEMBER
    name: str | None = None
    email: str | None = None
    language: str | None = None
    groups: tuple[str, ...] = ()
    groups_by_login: tuple[str, ...] = ()
    quota_bytes: int | None = None
    created_at: dt.datetime | None = None
    last_seen_at: dt.datetime | None = None


class Storage(Model):
    """Bytes of a user's originals, those in the trash and of old versions included; `quota_bytes` None is no limit."""

    used_bytes: int
    quota_bytes: int | None = None


class AccountUse(Account):
    """A user and what they use: documents (parts, old versions and the trash included), bytes, keys and logins."""

    documents: int = 0
    used_bytes: int = 0
    keys: int = 0
    logins: int = 0


class Login(Model):
    """A browser in which a user is logged in; `last_seen_at` is right to the minute."""

    id: uuid.UUID
    user_id: str
    started_at: dt.datetime
    last_seen_at: dt.datetime


class Identity(Model):
    """Who a login or a token says that somebody is. Of a role or groups that are None it says nothing.

    `login_id` tells one login of the user from another; `email` is one that the provider has verified.
    """

    user_id: str
    login_id: uuid.UUID
    issued_at: dt.datetime
    name: str | None = None
    email: str | None = None
    role: Role | None = None
    groups: tuple[str, ...] | None = None


Door = Literal["app", "rest", "mcp", "cli", "worker", "python"]


class Whence(NamedTuple):
    """Where what is done comes from: through which door, and from which address, where there is one."""

    door: Door = "python"
    address: str = ""


class AuditEntry(Model):
    """Something that was done: by whom, to what and whose, when and from where."""

    id: int
    at: dt.datetime
    actor: str
    action: str
    owner: str
    subject_kind: str = ""
    subject_id: str = ""
    subject_name: str = ""
    door: str = ""
    address: str = ""
    details: Mapping[str, Any] = pydantic.Field(default_factory=dict)


class AuditFilter(NamedTuple):
    """Which entries are asked for: from `since` on and before `until`, of one actor, of an action or a part of one."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    actor: str | None = None
    action: str | None = None
