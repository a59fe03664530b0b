"""Bearer tokens of the login provider, for programs that act for whoever is logged in with them."""

import re
import threading
import uuid
from typing import TYPE_CHECKING

from rag import errors
from rag.access.oidc_claims import LOGINS, identity
from rag.types import ApiKey, Permission

if TYPE_CHECKING:
    from rag.engine import Installation
    from rag.providers import OpenIdProvider

TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""A JSON Web Token, signed."""
MAX_CHARS = 16_000


class Tokens:
    """Takes the tokens of `RAG_OIDC_ISSUER` that are made for `RAG_OIDC_AUDIENCE`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._provider: OpenIdProvider | None = None

    def key(self, installation: "Installation", secret: str) -> ApiKey | None:
        """What stands for the token's user, who may do what their role says; None where it is no token.

        Raises:
            errors.AuthError: it is not valid, or the user has ended all logins since.
            errors.ProviderError: the provider's keys cannot be had.
        """
        config = installation.config
        if not (config.rag_oidc_issuer and config.rag_oidc_audience):
            return None
        if len(secret) > MAX_CHARS or not TOKEN.fullmatch(secret):
            return None
        claims = self._of(config.rag_oidc_issuer, config.rag_oidc_audience).verify(secret)
        user = identity(claims, config)
        accounts = installation.accounts
        if not installation.logins.accepts(user.user_id, user.issued_at):
            raise errors.AuthError("All logins of this user were ended since. Log in again for another token.")
        accounts.see(user.user_id)
        permission: Permission = "admin" if accounts.get(user.user_id).role.may_administer else "write"
        return ApiKey(
            id=uuid.uuid5(LOGINS, user.user_id),
            user_id=user.user_id,
            name="OpenID Connect",
            hint="",
            permissions=(permission,),
            created_at=user.issued_at,
        )

    def _of(self, issuer: str, audience: str) -> "OpenIdProvider":
        from rag.providers import OpenIdProvider

        with self._lock:
            if self._provider is None:
                self._provider = OpenIdProvider(issuer, audience)
            return self._provider
