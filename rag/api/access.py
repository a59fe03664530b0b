"""Who is asking: by key, or on this machine alone as its only user; and what they may do."""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from rag import errors
from rag.addresses import is_loopback
from rag.engine import Installation, RAGEngine
from rag.rate_limits import RateLimiter
from rag.types import LOCAL_USER, PERMISSIONS, Permission

_KEY = APIKeyHeader(name="x-api-key", auto_error=False, description="A key of `pagelight keys create`, or RAG_API_KEY.")
_BEARER = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


class Caller:
    """Who sent a request. `engine` is bound to the user, so it reaches nothing of anybody else."""

    def __init__(self, engine: RAGEngine, key_id: str, permissions: tuple[Permission, ...]) -> None:
        self.engine = engine
        self.key_id = key_id
        self._permissions = permissions

    @property
    def user_id(self) -> str:
        """The user."""
        return self.engine.user_id

    def may(self, permission: Permission) -> bool:
        """Whether this permission, or one that implies it, was given."""
        return any(PERMISSIONS.index(mine) >= PERMISSIONS.index(permission) for mine in self._permissions)

    def require(self, permission: Permission) -> None:
        """Raises ForbiddenError without this permission."""
        if not self.may(permission):
            raise errors.ForbiddenError(
                f"This key does not have the permission {permission!r}. Use one that does.",
                details={"permission": permission},
            )


class Gate:
    """Finds out who is asking.

    `RAG_API_KEY` is the user "local"; a key of `pagelight keys` is its own user. While there is neither, whoever is on
    this machine is "local": a page of another site that is open in their browser is not, nor is another machine.
    """

    def __init__(self, installation: Installation, limiter: RateLimiter, *, needs_key: bool = False) -> None:
        self._installation = installation
        self._needs_key = needs_key
        self._limiter = limiter
        self._origins = set(origins(installation))

    def admit(self, request: Request, secret: str | None) -> Caller:
        """The sender of a request.

        Raises:
            errors.AuthError: a key is missing or wrong.
            errors.ForbiddenError: no key is configured, and the request comes from elsewhere.
            errors.RateLimitError: the key was used too often within a minute.
        """
        caller = self._by_key(request, secret) if secret else self._without_key(request)
        self._limiter.count(caller.key_id, self._installation.config.rag_rate_limit_per_minute)
        return caller

    def _by_key(self, request: Request, secret: str) -> Caller:
        key = self._installation.authenticate(secret)
        if key is None:
            if self._installation.config.rag_rate_limit_per_minute:
                self._limiter.count_failure(_address(request))
            raise errors.AuthError("The key is wrong, expired or revoked. Check it, or make another: pagelight keys.")
        return Caller(self._installation.for_user(key.user_id), str(key.id), key.permissions)

    def _without_key(self, request: Request) -> Caller:
        if self._needs_key or self._installation.keys_exist():
            raise errors.AuthError("A key is needed. Send it in the header x-api-key.")
        if not (is_loopback(_address(request)) and is_loopback(request.url.hostname or "")):
            raise errors.ForbiddenError(
                "Without a key only this machine is answered. Set RAG_API_KEY, or make keys: pagelight keys create."
            )
        origin = request.headers.get("origin")
        if origin and origin not in self._origins and urlsplit(origin).netloc != request.headers.get("host"):
            raise errors.ForbiddenError(
                "Pages of other sites are not answered without a key. Set RAG_API_KEY and CORS_ORIGIN."
            )
        return Caller(self._installation.for_user(LOCAL_USER), "none", ("admin",))


def origins(installation: Installation) -> list[str]:
    """The origins of `CORS_ORIGIN`, which has one or more, parted by commas."""
    return [origin.strip() for origin in (installation.config.cors_origin or "").split(",") if origin.strip()]


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def caller(
    request: Request,
    key: Annotated[str | None, Security(_KEY)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Caller:
    """The sender of a request, whatever they may do. For the log it is kept with the request."""
    gate: Gate = request.app.state.gate
    found = gate.admit(request, key or (bearer.credentials if bearer else None))
    request.state.user_id = found.user_id
    request.state.key_id = found.key_id
    return found


def _with(permission: Permission) -> Callable[[Caller], Caller]:
    def permitted(sender: Annotated[Caller, Depends(caller)]) -> Caller:
        sender.require(permission)
        return sender

    return permitted


Reader = Annotated[Caller, Depends(_with("read"))]
Writer = Annotated[Caller, Depends(_with("write"))]
Admin = Annotated[Caller, Depends(_with("admin"))]
