"""Browser sessions and tokens of the login provider."""

import builtins
import datetime as dt
import uuid

from rag import types
from rag.engine.resources import Resources
from rag.engine.workspace import UNKNOWN_ORIGIN
from rag.store import Logins as UserLogins


class Logins:
    """The logins of an installation. Changes are recorded in the audit log; see `by`."""

    def __init__(
        self, resources: Resources, actor: str | None = None, origin: types.RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        self._resources = resources
        self._actor = actor
        self._origin = origin

    def by(self, actor: str, origin: types.RequestOrigin) -> "Logins":
        """Return the logins as administered by `actor`."""
        return Logins(self._resources, actor, origin)

    def open(self, identity: types.Identity) -> bool:
        """Whether a login is valid; a new one is recorded with the user's name, email, role and groups.

        A login that is too old, was ended, or was issued before `end_all` stays invalid.
        """
        if identity.issued_at <= dt.datetime.now(dt.UTC) - self._resources.config.session_lifetime:
            return False
        logins = self._of(identity.user_id)
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
        return self._of(user_id).accepts(issued_at)

    def list(self, user_id: str) -> builtins.list[types.Login]:
        """Return a user's open logins, last seen first."""
        return self._of(user_id).list(self._resources.config.session_lifetime)

    def end(self, user_id: str, login_id: uuid.UUID) -> None:
        """End a login: its cookie becomes invalid."""
        self._of(user_id).end(login_id)

    def end_all(self, user_id: str) -> None:
        """End all logins of a user and reject all tokens issued so far. API keys stay valid."""
        self._of(user_id).end_all()

    def _of(self, user_id: str) -> UserLogins:
        return self._resources.store.of(user_id, self._origin, actor=self._actor).logins
