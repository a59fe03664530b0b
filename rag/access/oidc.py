"""OpenID Connect: read the identity of a user from claims, and authenticate bearer tokens of the provider.

A user is identified by issuer and subject. Names and mail addresses may change or be reassigned, so they are
only shown.
"""

import datetime as dt
import re
import threading
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag import errors, types
from rag.messages import N_

if TYPE_CHECKING:
    from rag.config import Config
    from rag.engine import Installation
    from rag.providers import OpenIdProvider

SEPARATOR = "|"
"""Separates issuer and subject; it never occurs in a URL, so different pairs never make the same id."""
MAX_USER_BYTES = 512
MAX_GROUP_BYTES = 512
MAX_NAME_CHARS = 200
LOGIN_NAMESPACE = uuid.UUID("5a8f4a0e-6d0b-4a53-9d9c-4d1a3fd35f3b")
"""The UUID namespace of login ids."""
LOGIN_CLAIMS = ("iat", "auth_time", "nonce", "sid", "jti")
"""Claims that differ between logins of the same user."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
"""A signed JSON Web Token."""
MAX_TOKEN_CHARS = 16_000


def identity(claims: Mapping[str, Any], config: "Config") -> types.Identity:
    """Return the identity in verified claims.

    Raises:
        errors.AuthError: the user or the time of issue is missing.
    """
    user_id = SEPARATOR.join(_required(claims, name) for name in ("iss", "sub"))
    if SEPARATOR in str(claims["iss"]) or len(user_id.encode()) > MAX_USER_BYTES:
        raise _invalid_claim("iss")
    login = "\n".join([user_id, *(f"{name}={claims.get(name)}" for name in LOGIN_CLAIMS)])
    return types.Identity(
        user_id=user_id,
        login_id=uuid.uuid5(LOGIN_NAMESPACE, login),
        issued_at=_issued_at(claims),
        name=next(
            (name for key in ("name", "preferred_username", "nickname") if (name := _display_text(claims, key))), None
        ),
        email=_display_text(claims, "email") if claims.get("email_verified") is True else None,
        role=_role(claims, config.rag_oidc_role_claim),
        groups=_groups(claims, config.rag_oidc_groups_claim),
    )


def _required(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _invalid_claim(name)
    return value


def _invalid_claim(name: str) -> errors.AuthError:
    return errors.AuthError(
        N_(
            "The login provider does not say whom this is about: its claim {name} is missing or cannot be used. Ask "
            "whoever looks after the provider."
        ),
        name=repr(name),
        details={"claim": name},
    )


def _issued_at(claims: Mapping[str, Any]) -> dt.datetime:
    seconds = claims.get("iat")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise _invalid_claim("iat")
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise _invalid_claim("iat") from None


def _display_text(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    if not isinstance(value, str):
        return None
    return " ".join("".join(char if char.isprintable() else " " for char in value).split())[:MAX_NAME_CHARS] or None


def _role(claims: Mapping[str, Any], claim: str | None) -> types.Role | None:
    """Return the highest role in the claim, or member if it has none; None if no claim is configured."""
    if not claim:
        return None
    named = set(_texts(claims, claim))
    return next((role for role in (types.Role.ADMIN, types.Role.CURATOR) if role.value in named), types.Role.MEMBER)


def _groups(claims: Mapping[str, Any], claim: str | None) -> tuple[str, ...] | None:
    """Return the groups in the claim; None if no claim is configured."""
    if not claim:
        return None
    names = {text.strip() for text in _texts(claims, claim)}
    return tuple(sorted(name for name in names if name.isprintable() and 0 < len(name.encode()) <= MAX_GROUP_BYTES))


def _texts(claims: Mapping[str, Any], path: str) -> list[str]:
    """Return the texts of a claim, which is a text or a list; dots in its path lead into nested claims."""
    value: Any = claims.get(path)
    if value is None:
        value = claims
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    values = value if isinstance(value, list | tuple) else [value]
    return [text for text in values if isinstance(text, str)]


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
        if len(secret) > MAX_TOKEN_CHARS or not _TOKEN.fullmatch(secret):
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
