"""User accounts, logins, API keys and the audit log, and what users share."""

import datetime as dt
import enum
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args

import pydantic

from rag.types.base import LINE, Input, Model
from rag.types.documents import Index

Permission = Literal["read", "write", "admin"]

LOCAL_USER = "local"
"""The user of an app without login, of the command line, and of RAG_API_KEY."""

PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
"""In ascending order; each permission includes those before it."""


class ApiKey(Model):
    """An API key of a user, without its secret.

    `hint` is the beginning of the secret; `last_used_at` has a resolution of one minute.
    """

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
        """Return whether the key is valid now."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= dt.datetime.now(dt.UTC) else "valid"

    def allows(self, permission: Permission) -> bool:
        """Whether the key includes this permission; expiry and revocation are not considered."""
        return any(PERMISSIONS.index(mine) >= PERMISSIONS.index(permission) for mine in self.permissions)


class Role(enum.StrEnum):
    """A user's role: members use their own documents, curators also share, admins also administer."""

    MEMBER = "member"
    CURATOR = "curator"
    ADMIN = "admin"

    @property
    def may_share(self) -> bool:
        """Whether the role may share collections."""
        return self is not Role.MEMBER

    @property
    def may_administer(self) -> bool:
        """Whether the role may change installation settings and other users."""
        return self is Role.ADMIN


class Account(Model):
    """A user account. Times have a resolution of one minute.

    `quota_bytes` limits the originals, None applies the installation's limit. `language` is the UI language, such as
    `de`, None follows the browser. `groups_by_login` is the part of `groups` that comes from the login provider.
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
    """A user's storage: bytes of originals, including trash and old versions; `quota_bytes` None is unlimited."""

    used_bytes: int
    quota_bytes: int | None = None


class AccountUse(Account):
    """An account with its usage; `documents` includes attachments, old versions and the trash."""

    documents: int = 0
    used_bytes: int = 0
    keys: int = 0
    logins: int = 0


class Login(Model):
    """A login session in a browser; `last_seen_at` has a resolution of one minute."""

    id: uuid.UUID
    user_id: str
    started_at: dt.datetime
    last_seen_at: dt.datetime


class Identity(Model):
    """The identity claims of a login or token; `role` and `groups` are None if not claimed.

    `login_id` identifies the login; `email` was verified by the provider.
    """

    user_id: str
    login_id: uuid.UUID
    issued_at: dt.datetime
    name: str | None = None
    email: str | None = None
    role: Role | None = None
    groups: tuple[str, ...] | None = None


Door = Literal["app", "rest", "mcp", "cli", "worker", "python"]


class RequestOrigin(NamedTuple):
    """The origin of a request: its interface and, if known, its network address."""

    door: Door = "python"
    address: str = ""


class AuditEntry(Model):
    """An audit log entry: who did what to whose object, when and from where."""

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
    """A filter of audit entries: `since` inclusive, `until` exclusive; `action` matches a part of the name."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    actor: str | None = None
    action: str | None = None


GranteeKind = Literal["user", "group"]
SharePermission = Literal["read", "write"]


class Recipient(Input):
    """A user or group to share with."""

    grantee_kind: GranteeKind = "user"
    grantee: Annotated[str, pydantic.Field(min_length=1, max_length=500, pattern=LINE)]


class ShareRequest(Recipient):
    """A request to share a collection with a user or group."""

    permission: SharePermission = "read"


class Grantee(Model):
    """A user or group to share with; `name` and `email` come from the login provider."""

    kind: GranteeKind
    id: str
    name: str | None = None
    email: str | None = None


class Share(Model):
    """A collection that its owner (`user_id`) shares with a user or group."""

    user_id: str
    index_id: uuid.UUID
    index_name: str
    grantee_kind: GranteeKind
    grantee: str
    permission: SharePermission
    created_at: dt.datetime


class SharedIndex(Model):
    """A collection shared with a user; `owner_name` comes from the login provider."""

    index: Index
    owner_name: str | None
    permission: SharePermission


class LinkRequest(Recipient):
    """A request to share a conversation, or with `message_id` one answer and its question."""

    message_id: uuid.UUID | None = None


class AnswerLink(Model):
    """A conversation, or one answer, that a user shares with a user or group."""

    user_id: str
    id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    grantee_kind: GranteeKind
    grantee: str
    created_at: dt.datetime


class SharedAnswer(Model):
    """A conversation or answer shared with a user, its owner and collection."""

    id: uuid.UUID
    owner: str
    owner_name: str | None
    index_id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    created_at: dt.datetime
