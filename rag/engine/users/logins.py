"""Logins of browsers and tokens of the login provider: what is open, and how it is ended."""

import builtins
import datetime as dt
import uuid

from rag.engine.resources import Resources
from rag.engine.workspace import UNKNOWN_ORIGIN
from rag.store import Logins as UserLogins
from rag.types import Identity, Login, RequestOrigin


class Logins:
    """The logins of an installation. What is begun and ended is told in the audit, and by whom: see `by`."""

    def __init__(self, resources: Resources, actor: str | None = None, origin: RequestOrigin = UNKNOWN_ORIGIN) -> None:
        self._resources = resources
        self._actor = actor
        self._origin = origin

    def by(self, actor: str, origin: RequestOrigin) -> "Logins":
        """The same for whoever begins or ends them, and where from."""
        return Logins(self._resources, actor, origin)

    def open(self, identity: Identity) -> bool:
        """Whether a login is open; one that is new is opened, and what it says of the user is kept.

        One that is too old, was ended, or was issued before all were ended stays closed.
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
        """Whether a token issued to the user then may still open something."""
        return self._of(user_id).accepts(issued_at)

    def list(self, user_id: str) -> builtins.list[Login]:
        """Where a user is logged in, the last seen first."""
        return self._of(user_id).list(self._resources.config.session_lifetime)

    def end(self, user_id: str, login_id: uuid.UUID) -> None:
        """End a login: its cookie opens nothing any more."""
        self._of(user_id).end(login_id)

    def end_all(self, user_id: str) -> None:
        """End all logins of a user, and refuse every token issued until now. API keys stay."""
        self._of(user_id).end_all()

    def _of(self, user_id: str) -> UserLogins:
        return self._resources.store.of(user_id, self._origin, actor=self._actor).logins
