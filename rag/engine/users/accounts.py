"""User accounts: roles, groups, quotas and preferences. `rag.access.permissions` decides who may administer them."""

import builtins
import re
from collections.abc import Sequence

from rag import errors, types
from rag.config import MEGABYTE
from rag.engine.resources import Administration
from rag.engine.users.api_keys import AllKeys
from rag.engine.workspace import Workspace
from rag.messages import N_

MAX_GROUP_BYTES = 512
MAX_QUOTA_MB = 1_000_000_000
JOBS_SHOWN = 200


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

    @property
    def keys(self) -> AllKeys:
        """The API keys of all users."""
        return AllKeys(self._resources, self._actor, self._origin)

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
