"""User accounts: roles, groups, quotas, logins and preferences. The caller checks `Accounts.require_admin`."""

import builtins
import datetime as dt
import hashlib
import re
import secrets
import uuid
from collections.abc import Callable, Sequence
from typing import Self

from rag import errors, types
from rag.config import MEGABYTE, Config
from rag.engine.workspace import UNKNOWN_ORIGIN, Resources, Workspace
from rag.messages import N_
from rag.store.store import Store, UserStore
from rag.store.users.accounts import ApiKeys

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


MAX_GROUP_BYTES = 512
MAX_QUOTA_MB = 1_000_000_000
JOBS_SHOWN = 200


class Administration:
    """Binds who acts on the accounts of all users, and from where; both are recorded in the audit log."""

    def __init__(
        self, resources: Resources, actor: str | None = None, origin: types.RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Bind `actor`; None is the user acted upon."""
        self._resources = resources
        self._actor = actor
        self._origin = origin

    def by(self, actor: str, origin: types.RequestOrigin) -> Self:
        """Return the same as administered by `actor`."""
        return type(self)(self._resources, actor, origin)

    def _of(self, user_id: str) -> UserStore:
        return self._resources.store.of(user_id, self._origin, actor=self._actor)


class Accounts(Administration):
    """The accounts of an installation. Changes are recorded in the audit log; see `by`."""

    def get(self, user_id: str) -> types.Account:
        """Return a user's account with the effective role; users named in `RAG_ADMINS` are always admins.

        An unknown user gets a member's account.
        """
        account = self._of(user_id).account.get()
        named = user_id in self._resources.config.admins
        return account.model_copy(update={"role": types.Role.ADMIN}) if named else account

    def storage(self, user_id: str) -> types.Storage:
        """Return the bytes of originals that a user has, and the quota."""
        return self._of(user_id).account.storage(self._resources.config.quota_bytes)

    def see(self, user_id: str) -> None:
        """Record that the user was active; creates the account on first use."""
        self._of(user_id).account.see()

    def require_admin(self, user_id: str) -> None:
        """Raise ForbiddenError if the user is no admin now; to be asked before each action for admins."""
        if not self.get(user_id).role.may_administer:
            raise errors.ForbiddenError(
                N_("Only administrators may do this. Ask one of them, or have RAG_ADMINS name you.")
            )

    # --- for admins ---

    def list(self) -> builtins.list[types.AccountUse]:
        """Return all users with their effective role and usage."""
        config = self._resources.config
        return [
            user.model_copy(update={"role": types.Role.ADMIN}) if user.user_id in config.admins else user
            for user in self._resources.store.accounts.list(config.session_lifetime)
        ]

    def find(self, user_id: str) -> types.AccountUse:
        """Return one user of `list`. Raises NotFoundError, so that a typo does not give a role to nobody."""
        for user in self.list():
            if user.user_id == user_id:
                return user
        raise errors.NotFoundError(N_("There is no user {id}. List them: pagelight api GET /admin/users"), id=user_id)

    def set_role(self, user_id: str, role: types.Role) -> types.Account:
        """Set a user's role. Raises ConflictError if `RAG_ADMINS` names the user, who stays an admin."""
        if user_id in self._resources.config.admins and role is not types.Role.ADMIN:
            raise errors.ConflictError(
                N_("{id} is an administrator by RAG_ADMINS. Take the name out of it first."), id=user_id
            )
        self._of(user_id).account.set_role(role)
        return self.get(user_id)

    def set_groups(self, user_id: str, groups: Sequence[str]) -> types.Account:
        """Set a user's groups, in addition to those from the login provider.

        Raises ValidationError if a group's name is empty, too long or not printable.
        """
        self._of(user_id).account.set_groups(sorted(set(map(_valid_group, groups))))
        return self.get(user_id)

    def set_quota(self, user_id: str, megabytes: int | None) -> types.Storage:
        """Set a user's quota of originals in megabytes; None is the installation's default.

        Raises ValidationError if the quota is out of range.
        """
        if megabytes is not None and not 0 <= megabytes <= MAX_QUOTA_MB:
            raise errors.ValidationError(
                N_("A quota has from 0 to {limit} megabytes."), limit=f"{MAX_QUOTA_MB:,}", details={"field": "quota_mb"}
            )
        self._of(user_id).account.set_quota(None if megabytes is None else megabytes * MEGABYTE)
        return self.storage(user_id)

    def list_keys(self) -> builtins.list[types.ApiKey]:
        """Return all users' API keys without secrets, latest first."""
        return self._resources.store.accounts.api_keys()

    def keys_of(self, user_id: str) -> UserKeys:
        """Return a user's API keys."""
        return UserKeys(lambda: self._of(user_id).api_keys)

    def revoke_key(self, key_id: uuid.UUID) -> types.ApiKey:
        """Revoke any user's API key. Raises NotFoundError."""
        owner = next((key.user_id for key in self.list_keys() if key.id == key_id), types.LOCAL_USER)
        return self._of(owner).api_keys.revoke(key_id)

    def jobs(self) -> builtins.list[types.Job]:
        """Return all users' latest jobs without their results."""
        return self._resources.store.accounts.jobs(JOBS_SHOWN)


def _valid_group(name: str) -> str:
    stripped = name.strip()
    if not stripped or not stripped.isprintable() or len(stripped.encode()) > MAX_GROUP_BYTES:
        raise errors.ValidationError(
            N_("A group's name has 1 to {limit} bytes, all of them printable."),
            limit=MAX_GROUP_BYTES,
            details={"field": "groups"},
        )
    return stripped


class Logins(Administration):
    """The logins of an installation. Changes are recorded in the audit log; see `by`."""

    def open(self, identity: types.Identity) -> bool:
        """Whether a login is valid; a new one is recorded with the user's name, email, role and groups.

        A login that is too old, was ended, or was issued before `end_all` stays invalid.
        """
        if identity.issued_at <= dt.datetime.now(dt.UTC) - self._resources.config.session_lifetime:
            return False
        logins = self._of(identity.user_id).logins
        if logins.is_open(identity.login_id):
            return True
        logins.open(
            identity.login_id,
            identity.issued_at,
            name=identity.name,
            email=identity.email,
            role=identity.role,
            groups=identity.groups,
        )
        return logins.is_open(identity.login_id)

    def accepts(self, user_id: str, issued_at: dt.datetime) -> bool:
        """Whether a token issued to the user at that time is still valid."""
        return self._of(user_id).logins.accepts(issued_at)

    def list(self, user_id: str) -> builtins.list[types.Login]:
        """Return a user's open logins, last seen first."""
        return self._of(user_id).logins.list(self._resources.config.session_lifetime)

    def end(self, user_id: str, login_id: uuid.UUID) -> None:
        """End a login: its cookie becomes invalid."""
        self._of(user_id).logins.end(login_id)

    def end_all(self, user_id: str) -> None:
        """End all logins of a user and reject all tokens issued so far. API keys stay valid."""
        self._of(user_id).logins.end_all()


_LANGUAGE = re.compile(r"[a-z]{2,3}")


class Profile:
    """One user's preferences; `accounts.get` returns them with the account."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def choose_language(self, language: str | None) -> None:
        """Set the language of the UI (such as `de`); None follows the browser.

        Raises ValidationError if it is no language tag.
        """
        if language is not None and not _LANGUAGE.fullmatch(language):
            raise errors.ValidationError(
                N_("{language} is no tag of a language. Give one such as en or de."), language=repr(language)
            )
        self._workspace.store.account.set_language(language)
