"""Who works with an installation: roles, what they use of it, and their logins."""

import datetime as dt
import enum
import uuid

from rag.types.text import Model


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
