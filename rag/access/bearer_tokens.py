"""Authenticate bearer tokens of the OpenID Connect provider."""

import re
import threading
import uuid
from typing import TYPE_CHECKING

from rag import errors, types
from rag.access.oidc_claims import LOGIN_NAMESPACE, identity
from rag.messages import N_

if TYPE_CHECKING:
    from rag.engine import Installation
    from rag.providers import OpenIdProvider

_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""A signed JSON Web Token."""
MAX_CHARS = 16_000


class TokenVerifier:
    """Accepts tokens of `RAG_OIDC_ISSUER` that are issued for `RAG_OIDC_AUDIENCE`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._provider: OpenIdProvider | None = None

    def key(self, installation: "Installation", secret: str) -> types.ApiKey | None:
        """Return a key for the token's user with the permissions of their role; None if `secret` is no token.

        Raises:
            errors.AuthError: the token is not valid, or was issued before all logins of its user were ended.
            errors.ProviderError: the provider's keys cannot be fetched.
        """
        config = installation.config
        if not (config.rag_oidc_issuer and config.rag_oidc_audience):
            return None
        if len(secret) > MAX_CHARS or not _TOKEN.fullmatch(secret):
            return None
        claims = self._provider_of(config.rag_oidc_issuer, config.rag_oidc_audience).verify(secret)
        user = identity(claims, config)
        accounts = installation.accounts
        if not installation.logins.accepts(user.user_id, user.issued_at):
            raise errors.AuthError(N_("All logins of this user were ended since. Log in again for another token."))
        accounts.see(user.user_id)
        permission: types.Permission = "admin" if accounts.get(user.user_id).role.may_administer else "write"
        return types.ApiKey(
            id=uuid.uuid5(LOGIN_NAMESPACE, user.user_id),
            user_id=user.user_id,
            name="OpenID Connect",
            hint="",
            permissions=(permission,),
            created_at=user.issued_at,
        )

    def _provider_of(self, issuer: str, audience: str) -> "OpenIdProvider":
        from rag.providers import OpenIdProvider

        with self._lock:
            if self._provider is None:
                self._provider = OpenIdProvider(issuer, audience)
            return self._provider
