"""Who a login or a token says that somebody is: the claims of OpenID Connect, read with care.

A user is an issuer and one of its subjects. Names and addresses of mail change, and a provider may hand them to
somebody else, so they are shown and decide nothing.
"""

import datetime as dt
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag import errors
from rag.types import Identity, Role

if TYPE_CHECKING:
    from rag.config import Config

BETWEEN = "|"
"""Between issuer and subject: no URL has it, so two pairs never make the same user."""
MAX_USER_BYTES = 512
MAX_GROUP_BYTES = 512
MAX_NAME_CHARS = 200
LOGINS = uuid.UUID("5a8f4a0e-6d0b-4a53-9d9c-4d1a3fd35f3b")
"""The namespace of the ids of logins."""
TOLD_APART = ("iat", "auth_time", "nonce", "sid", "jti")
"""The claims by which one login of a user differs from another."""


def identity(claims: Mapping[str, Any], config: "Config") -> Identity:
    """Who these claims, which have been verified, are about.

    Raises:
        errors.AuthError: they do not say whom they are about, or when they were issued.
    """
    user_id = BETWEEN.join(_required(claims, name) for name in ("iss", "sub"))
    if BETWEEN in str(claims["iss"]) or len(user_id.encode()) > MAX_USER_BYTES:
        raise _incomplete("iss")
    login = "\n".join([user_id, *(f"{name}={claims.get(name)}" for name in TOLD_APART)])
    return Identity(
        user_id=user_id,
        login_id=uuid.uuid5(LOGINS, login),
        issued_at=_issued_at(claims),
        name=next((name for key in ("name", "preferred_username", "nickname") if (name := _shown(claims, key))), None),
        email=_shown(claims, "email") if claims.get("email_verified") is True else None,
        role=_role(claims, config.rag_oidc_role_claim),
        groups=_groups(claims, config.rag_oidc_groups_claim),
    )


def _required(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise _incomplete(name)
    return value


def _incomplete(name: str) -> errors.AuthError:
    return errors.AuthError(
        f"The login provider does not say whom this is about: its claim {name!r} is missing or cannot be used. Ask "
        "whoever looks after the provider.",
        details={"claim": name},
    )


def _issued_at(claims: Mapping[str, Any]) -> dt.datetime:
    seconds = claims.get("iat")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise _incomplete("iat")
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise _incomplete("iat") from None


def _shown(claims: Mapping[str, Any], name: str) -> str | None:
    """A claim that is only shown."""
    value = claims.get(name)
    if not isinstance(value, str):
        return None
    return " ".join("".join(char if char.isprintable() else " " for char in value).split())[:MAX_NAME_CHARS] or None


def _role(claims: Mapping[str, Any], claim: str | None) -> Role | None:
    """The most that the claim names; a member where it names no role, None where no claim is asked for."""
    if not claim:
        return None
    named = set(_texts(claims, claim))
    return next((role for role in (Role.ADMIN, Role.CURATOR) if role.value in named), Role.MEMBER)


def _groups(claims: Mapping[str, Any], claim: str | None) -> tuple[str, ...] | None:
    """The groups of the claim, none where it is missing; None where no claim is asked for."""
    if not claim:
        return None
    names = {text.strip() for text in _texts(claims, claim)}
    return tuple(sorted(name for name in names if name.isprintable() and 0 < len(name.encode()) <= MAX_GROUP_BYTES))


def _texts(claims: Mapping[str, Any], path: str) -> list[str]:
    """The texts of a claim: one, or a list of them. What is within another is named with dots."""
    value: Any = claims.get(path)
    if value is None:
        value = claims
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    values = value if isinstance(value, list | tuple) else [value]
    return [text for text in values if isinstance(text, str)]
