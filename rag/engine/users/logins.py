"""Browser sessions and tokens of the login provider."""

import builtins
import datetime as dt
import uuid

from rag import types
from rag.engine.resources import Administration


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
