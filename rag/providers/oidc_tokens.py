"""Verify tokens of an OpenID Connect provider by its published keys."""

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx

from rag import errors
from rag.providers.http_connections import http_client

if TYPE_CHECKING:
    from joserfc.jwk import KeySet
    from joserfc.jwt import Token

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Asymmetric only: published keys must never verify a symmetric or unsigned token."""
KEY_CACHE_SECONDS = 3600.0
"""How long the provider's keys are cached."""
KEY_REFRESH_SECONDS = 30.0
"""Minimum age of the keys before a token with an unknown key fetches them again."""
FETCH_TIMEOUT_SECONDS = 10.0
LEEWAY_SECONDS = 60
"""Tolerated difference between the provider's clock and ours."""
MAX_BYTES = 1_000_000


class OpenIdProvider:
    """An issuer of tokens, whose keys are fetched on demand."""

    def __init__(self, issuer: str, audience: str) -> None:
        self._issuer = issuer
        self._audience = audience
        self._lock = threading.Lock()
        self._keys: KeySet | None = None
        self._fetched_at = 0.0

    def verify(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a valid token of this issuer and audience.

        Raises:
            errors.AuthError: the token is invalid.
            errors.ProviderError: the provider's keys cannot be fetched.
        """
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        registry = JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._audience},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        )
        try:
            claims = self._decode(token).claims
            registry.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError):
            raise errors.AuthError(
                "The token is not valid here: it is damaged, has expired, or was made by or for somebody else. Log in "
                "again for another."
            ) from None
        return claims

    def _decode(self, token: str) -> "Token":
        from joserfc import jwt
        from joserfc.errors import JoseError

        try:
            return jwt.decode(token, self._key_set(KEY_CACHE_SECONDS), algorithms=ALGORITHMS)
        except (JoseError, ValueError, KeyError):  # perhaps signed with a new key
            return jwt.decode(token, self._key_set(KEY_REFRESH_SECONDS), algorithms=ALGORITHMS)

    def _key_set(self, max_age_seconds: float) -> "KeySet":
        """Return the cached keys, fetched again if older."""
        with self._lock:
            if self._keys is None or time.monotonic() - self._fetched_at > max_age_seconds:
                self._keys = self._fetch()
                self._fetched_at = time.monotonic()
            return self._keys

    def _fetch(self) -> "KeySet":
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        metadata = self._json(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata.get("issuer") != self._issuer:
            raise errors.ProviderError(f"{self._issuer} says of itself that it is another. Correct RAG_OIDC_ISSUER.")
        try:
            return KeySet.import_key_set(self._json(str(metadata["jwks_uri"])))
        except (JoseError, ValueError, KeyError, TypeError):
            raise self._unreachable() from None

    def _json(self, url: str) -> Any:
        try:
            response = http_client().get(url, timeout=FETCH_TIMEOUT_SECONDS)
            response.raise_for_status()
            if len(response.content) > MAX_BYTES:
                raise self._unreachable()
            document = response.json()
        except (httpx.HTTPError, ValueError):
            raise self._unreachable() from None
        if not isinstance(document, dict):
            raise self._unreachable()
        return document

    def _unreachable(self) -> errors.ProviderError:
        return errors.ProviderError(
            f"The login provider {self._issuer} does not give its keys. Check that it runs, and RAG_OIDC_ISSUER."
        )
