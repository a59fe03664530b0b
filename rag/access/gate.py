"""Authenticate the senders of requests, by key or as the only user of this machine, and check their permissions."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, Self

from rag import errors, types
from rag.access.oidc import TokenVerifier
from rag.access.rate_limits import RateLimiter
from rag.hosts import host_name, is_loopback

if TYPE_CHECKING:
    from rag.engine import Installation, RAGEngine

RETRY_SECONDS = 5
"""When a client may retry after an overload or a database failure."""


class Visitor(NamedTuple):
    """What a request tells of its sender; `secret` is None and the other fields are empty if they are not sent."""

    secret: str | None = None
    address: str = ""
    host: str = ""
    origin: str = ""
    forwarded_for: str = ""

    @classmethod
    def of(cls, headers: Mapping[str, str], client: tuple[str, int] | None) -> Self:
        """Make a visitor from a request's headers, with names in lower case, and its client's address and port."""
        return cls(
            secret=_secret(headers),
            address=client[0] if client else "",
            host=headers.get("host", ""),
            origin=headers.get("origin", ""),
            forwarded_for=headers.get("x-forwarded-for", ""),
        )


class Caller(NamedTuple):
    """The authenticated sender of a request; `engine` is bound to the user.

    `key` is None for the only user of this machine, who needs none.
    """

    engine: "RAGEngine"
    key: types.ApiKey | None

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self.engine.user_id

    @property
    def key_id(self) -> str:
        """The key's id, or "none"."""
        return str(self.key.id) if self.key else "none"

    def may(self, permission: types.Permission) -> bool:
        """Return whether the key has this permission, or one that implies it."""
        return self.key is None or self.key.allows(permission)

    def require(self, permission: types.Permission) -> None:
        """Raise ForbiddenError without this permission."""
        if not self.may(permission):
            raise errors.ForbiddenError(
                f"This key does not have the permission {permission!r}. Use one that does.",
                details={"permission": permission},
            )

    def require_admin(self) -> None:
        """Raise ForbiddenError unless the key has the permission and its user is an admin now."""
        self.require("admin")
        if not self._is_operator:
            self.engine.installation.accounts.require_admin(self.user_id)

    @property
    def may_administer(self) -> bool:
        """Whether `require_admin` passes."""
        try:
            self.require_admin()
        except errors.ForbiddenError:
            return False
        return True

    @property
    def _is_operator(self) -> bool:
        """Whether this is the operator of the installation: with `RAG_API_KEY`, or on this machine without any key."""
        from rag.engine.users.accounts import SHARED_KEY

        return self.key is None or self.key.id == SHARED_KEY.id


class Gate:
    """Authenticates requests.

    `RAG_API_KEY` acts as the user "local", a key of `pagelight keys` or a token of the login provider as its own user.
    While there is no key, requests of this machine act as "local"; pages of other sites in its browsers are refused.
    """

    def __init__(
        self, installation: "Callable[[], Installation]", *, needs_key: bool = False, door: types.Door = "rest"
    ) -> None:
        """`installation` is called for each request; with `needs_key` requests need a key even if none exists.

        The audit log names `door` as the origin.
        """
        self._installation = installation
        self._door: types.Door = door
        self._needs_key = needs_key
        self._limiter = RateLimiter(lambda: installation().store.rate_limits)
        self._tokens = TokenVerifier()

    def admit(self, visitor: Visitor) -> Caller:
        """Authenticate the sender of a request.

        Raises:
            errors.AuthError: a key is missing or wrong.
            errors.ForbiddenError: there is no key, and the request comes from elsewhere.
            errors.RateLimitError: the key was used too often within a minute, or the address tried too many.
        """
        shown = visitor.secret
        caller = self._without_key(visitor) if shown is None else self._by_key(shown, visitor.address)
        self._limiter.count(caller.key_id, self._installation().config.rag_rate_limit_per_minute)
        return caller

    def _by_key(self, secret: str, address: str) -> Caller:
        installation = self._installation()
        try:
            key = installation.authenticate(secret) or self._tokens.key(installation, secret)
            if key is None:
                raise errors.AuthError(
                    "The key is wrong, expired or revoked. Check it, or make another: pagelight keys."
                )
        except errors.AuthError:
            if installation.config.rag_rate_limit_per_minute:
                self._limiter.count_failure(address)
            raise
        return Caller(installation.for_user(key.user_id, types.RequestOrigin(self._door, address)), key)

    def _without_key(self, visitor: Visitor) -> Caller:
        if self._needs_key or self._installation().keys_exist():
            raise errors.AuthError("A key is needed. Send it as x-api-key, or as Authorization: Bearer.")
        if not _is_here(visitor):
            raise errors.ForbiddenError(
                "Without a key only requests of this machine are answered. Set RAG_API_KEY, or make a key: "
                "pagelight keys create."
            )
        if self._is_foreign(visitor):
            raise errors.ForbiddenError(
                "Pages of other sites are not answered without a key. Make one, and for REST set CORS_ORIGIN."
            )
        return Caller(
            self._installation().for_user(types.LOCAL_USER, types.RequestOrigin(self._door, visitor.address)), None
        )

    def _is_foreign(self, visitor: Visitor) -> bool:
        """Return whether a browser sent the request for a page of another site that is not in `CORS_ORIGIN`."""
        own = visitor.origin.partition("://")[2] == visitor.host
        return bool(visitor.origin) and not own and visitor.origin not in self._installation().config.cors_origins


def refusal_headers(error: errors.Error) -> dict[str, str]:
    """Return the HTTP headers of a refused request: how to authenticate, or when to try again."""
    if isinstance(error, errors.BusyError | errors.StoreUnavailableError):
        return {"retry-after": str(error.details.get("retry_after_seconds", RETRY_SECONDS))}
    return {"www-authenticate": "Bearer"} if error.http_status == HTTPStatus.UNAUTHORIZED else {}


def require_key(installation: "Installation", host: str) -> None:
    """Raise ConfigError if other machines reach `host` and there is neither RAG_API_KEY nor a key of a user."""
    if not is_loopback(host) and not installation.keys_exist():
        raise errors.ConfigError(
            f"Other machines can reach the server at {host}, so it needs a key. Make one: pagelight keys create --name "
            "LABEL. Or set RAG_API_KEY."
        )


def _secret(headers: Mapping[str, str]) -> str | None:
    """Return the key of a request; an empty one counts as wrong, not as missing."""
    if (given := headers.get("x-api-key")) is not None:
        return given.strip()
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _is_here(visitor: Visitor) -> bool:
    """Return whether a request comes from this machine, and for it: another name may have an owner elsewhere.

    A proxy on this machine has its address, whether it is trusted or not, but tells for whom it asks.
    """
    senders = (visitor.address, *filter(None, map(str.strip, visitor.forwarded_for.split(","))))
    return is_loopback(host_name(visitor.host)) and all(map(is_loopback, senders))
