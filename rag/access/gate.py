"""Who is asking: by key, or on this machine alone as its only user; and what they may do."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Self

from rag import errors
from rag.access import permissions
from rag.access.bearer_tokens import Tokens
from rag.access.rate_limits import RateLimiter
from rag.hosts import is_loopback
from rag.types import LOCAL_USER, ApiKey, Door, Permission, Whence

if TYPE_CHECKING:
    from rag.config import Config
    from rag.engine import Installation, RAGEngine

HOST = re.compile(r"(?P<name>\[[^\]]*\]|[^:]*)(:\d+)?")
"""What the header of that name has: a name or address, and perhaps a port."""


class Visitor(NamedTuple):
    """What a request shows of its sender. `secret` is None where none is shown; the others are empty then."""

    secret: str | None = None
    address: str = ""
    host: str = ""
    origin: str = ""

    @classmethod
    def of(cls, headers: Mapping[str, str], client: tuple[str, int] | None) -> Self:
        """The sender of a request with these headers, by their names in lower case, from this address and port."""
        return cls(
            secret=_secret(headers),
            address=client[0] if client else "",
            host=headers.get("host", ""),
            origin=headers.get("origin", ""),
        )


class Caller(NamedTuple):
    """Who sent a request. `engine` is bound to the user, so it reaches nothing of anybody else.

    `key` is None for the only user of this machine, who needs none.
    """

    engine: "RAGEngine"
    key: ApiKey | None

    @property
    def user_id(self) -> str:
        """The user."""
        return self.engine.user_id

    @property
    def key_id(self) -> str:
        """The key's id, or "none"."""
        return str(self.key.id) if self.key else "none"

    def may(self, permission: Permission) -> bool:
        """Whether this permission, or one that implies it, was given."""
        return self.key is None or self.key.allows(permission)

    def require(self, permission: Permission) -> None:
        """Raises ForbiddenError without this permission."""
        if not self.may(permission):
            raise errors.ForbiddenError(
                f"This key does not have the permission {permission!r}. Use one that does.",
                details={"permission": permission},
            )

    def require_admin(self) -> None:
        """Raises ForbiddenError unless the key is one of an admin, and made for that: who is none any more has none."""
        self.require("admin")
        if not self._is_of_the_installation:
            permissions.require_admin(self.engine.installation, self.user_id)

    @property
    def may_administer(self) -> bool:
        """Whether `require_admin` lets them."""
        try:
            self.require_admin()
        except errors.ForbiddenError:
            return False
        return True

    @property
    def _is_of_the_installation(self) -> bool:
        """Whether they have what whoever runs it gives nobody else: `RAG_API_KEY`, or this machine without any key."""
        from rag.engine.users.api_keys import SHARED_KEY

        return self.key is None or self.key.id == SHARED_KEY.id


class Gate:
    """Finds out who is asking.

    `RAG_API_KEY` is the user "local"; a key of `pagelight keys` is its own user, and so is a token of the login
    provider. While there is no key, whoever is on this machine is "local": a page of another site that is open in their
    browser is not, nor is another machine.
    """

    def __init__(
        self, installation: "Callable[[], Installation]", *, needs_key: bool = False, door: Door = "rest"
    ) -> None:
        """`installation` is asked for when somebody comes; `needs_key` asks for a key even where none has been made.

        `door` is what the audit tells of where they came in.
        """
        self._installation = installation
        self._door: Door = door
        self._needs_key = needs_key
        self._limiter = RateLimiter(lambda: installation().rates)
        self._tokens = Tokens()

    def admit(self, visitor: Visitor) -> Caller:
        """The sender of a request.

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
        return Caller(installation.for_user(key.user_id, Whence(self._door, address)), key)

    def _without_key(self, visitor: Visitor) -> Caller:
        if self._needs_key or self._installation().keys_exist():
            raise errors.AuthError("A key is needed. Send it as x-api-key, or as Authorization: Bearer.")
        if not (is_loopback(visitor.address) and _is_here(visitor.host)):
            raise errors.ForbiddenError(
                "Without a key only this machine is answered. Set RAG_API_KEY, or make keys: pagelight keys create."
            )
        if self._is_foreign(visitor):
            raise errors.ForbiddenError(
                "Pages of other sites are not answered without a key. Make one, and for REST set CORS_ORIGIN."
            )
        return Caller(self._installation().for_user(LOCAL_USER, Whence(self._door, visitor.address)), None)

    def _is_foreign(self, visitor: Visitor) -> bool:
        """Whether a browser sends it for a page that is neither of this server nor of a site in `CORS_ORIGIN`."""
        own = visitor.origin.partition("://")[2] == visitor.host
        return bool(visitor.origin) and not own and visitor.origin not in origins(self._installation().config)


def origins(config: "Config") -> list[str]:
    """The origins of `CORS_ORIGIN`, which has one or more, parted by commas."""
    return [origin.strip() for origin in (config.cors_origin or "").split(",") if origin.strip()]


def _secret(headers: Mapping[str, str]) -> str | None:
    """The key that a request shows. An empty one is a wrong one."""
    if (given := headers.get("x-api-key")) is not None:
        return given.strip()
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _is_here(host: str) -> bool:
    """Whether the header Host names this machine: where another name leads here, its owner is not this machine's."""
    found = HOST.fullmatch(host.lower())
    return found is not None and is_loopback(found["name"])
