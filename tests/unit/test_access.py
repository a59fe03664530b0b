"""Who is let in, by what a request shows of its sender: the rules that hold at REST and at MCP alike."""

import datetime as dt
import uuid
from typing import cast

import pytest

from rag import errors
from rag.access import rate_limits
from rag.access.gate import Caller, Gate, Visitor, require_key
from rag.access.rate_limits import RateLimiter
from rag.config import load_config
from rag.engine import Installation, RAGEngine
from rag.hosts import is_loopback
from rag.types import PERMISSIONS, ApiKey, Permission, RequestOrigin

HERE = Visitor(address="127.0.0.1", host="localhost:3001")
ELSEWHERE = Visitor(address="192.0.2.7", host="evil.example", origin="http://evil.example")
SITE = "https://front.example"


def key_of(user_id: str, *permissions: Permission) -> ApiKey:
    return ApiKey(
        id=uuid.uuid5(uuid.NAMESPACE_DNS, user_id),
        user_id=user_id,
        name="test",
        hint="",
        permissions=permissions or ("read",),
        created_at=dt.datetime.now(dt.UTC),
    )


UNKNOWN_ORIGIN = RequestOrigin()


class Keys:
    """What the gate asks an installation for, with keys by their secrets."""

    def __init__(self, keys: dict[str, ApiKey]) -> None:
        self.config = load_config(rag_rate_limit_per_minute=0, cors_origin=f"https://x.example, {SITE}")
        self._keys = keys

    def authenticate(self, secret: str) -> ApiKey | None:
        return self._keys.get(secret)

    def keys_exist(self) -> bool:
        return bool(self._keys)

    def for_user(self, user_id: str, _origin: RequestOrigin = UNKNOWN_ORIGIN) -> RAGEngine:
        return RAGEngine(self.config, user_id=user_id)


KEYS = {"of ada": key_of("ada"), "of bob": key_of("bob")}


def gate_of(keys: dict[str, ApiKey], *, needs_key: bool = False) -> Gate:
    installation = cast(Installation, Keys(keys))
    return Gate(lambda: installation, needs_key=needs_key)


# --- without any key ---


@pytest.mark.parametrize(
    "visitor",
    [
        HERE,
        HERE._replace(address="::1", host="[::1]:3001"),
        HERE._replace(host="127.0.0.1"),
        HERE._replace(host="LOCALHOST:3001"),
        HERE._replace(origin="http://localhost:3001"),
        HERE._replace(origin=SITE),
    ],
)
def test_without_any_key_this_machine_is_the_local_user(visitor: Visitor) -> None:
    caller = gate_of({}).admit(visitor)
    assert (caller.user_id, caller.key_id) == ("local", "none")
    assert all(map(caller.may, PERMISSIONS))


@pytest.mark.parametrize(
    "visitor",
    [
        ELSEWHERE,
        *(HERE._replace(address=address) for address in ("", "192.0.2.7", "10.0.0.1", "2001:db8::1")),
        *(
            HERE._replace(host=host)
            for host in (
                *("", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "localhost:evil"),
                *("evil@localhost", "localhost/x", "[", "[::1", "[::1]evil.example", "::1", ":3001"),
            )
        ),
        *(
            HERE._replace(origin=origin)
            for origin in (
                *("null", "http://evil.example", "http://localhost:6274", "http://localhost", "http://["),
                *("localhost:3001", f"{SITE}.evil.example", "http://evil.example://localhost:3001"),
            )
        ),
    ],
)
def test_without_any_key_nobody_else_is_let_in(visitor: Visitor) -> None:
    with pytest.raises(errors.ForbiddenError):
        gate_of({}).admit(visitor)


# --- with keys ---


@pytest.mark.parametrize("visitor", [HERE, ELSEWHERE])
def test_a_key_is_its_user_from_wherever_it_comes(visitor: Visitor) -> None:
    caller = gate_of(KEYS).admit(visitor._replace(secret="of ada"))
    assert (caller.user_id, caller.key_id) == ("ada", str(KEYS["of ada"].id))


@pytest.mark.parametrize("keys", [{}, KEYS])
@pytest.mark.parametrize("secret", ["", "wrong", "of", "OF ADA"])
def test_a_wrong_key_is_refused_even_where_none_is_needed(keys: dict[str, ApiKey], secret: str) -> None:
    with pytest.raises(errors.AuthError, match="wrong"):
        gate_of(keys).admit(HERE._replace(secret=secret))


def test_this_machine_too_needs_a_key_once_there_is_one() -> None:
    with pytest.raises(errors.AuthError, match="is needed"):
        gate_of(KEYS).admit(HERE)


def test_where_a_key_is_always_needed_nothing_is_opened_to_say_so() -> None:
    def fail() -> Installation:
        raise AssertionError

    with pytest.raises(errors.AuthError, match="is needed"):
        Gate(fail, needs_key=True).admit(HERE)


@pytest.mark.parametrize("held", PERMISSIONS)
def test_a_key_allows_its_permission_and_those_below(held: Permission) -> None:
    caller = Caller(RAGEngine(load_config()), key_of("ada", held))
    allowed = PERMISSIONS[: PERMISSIONS.index(held) + 1]
    for permission in PERMISSIONS:
        if permission in allowed:
            caller.require(permission)
        else:
            with pytest.raises(errors.ForbiddenError, match=permission):
                caller.require(permission)


# --- how often ---


class Counted:
    """What all processes have counted, as the database answers."""

    def __init__(self, *waits: float) -> None:
        self.waits = [*waits]
        self.asked: list[str] = []

    def count(self, who: str, per_minute: int) -> float:
        self.asked.append(f"{who} {per_minute}")
        return self.waits.pop(0)


def test_a_refused_client_stays_refused_until_the_limit_ends() -> None:
    counted, now = Counted(0.0, 2.5, 0.0, 0.0), [100.0]
    limiter = RateLimiter(lambda: counted, clock=lambda: now[0])
    limiter.count("ada", 600)
    for moment, seconds in ((100.0, 3), (101.0, 2), (102.4, 1)):
        now[0] = moment
        with pytest.raises(errors.RateLimitError) as refused:
            limiter.count("ada", 600)
        assert refused.value.details["retry_after_seconds"] == seconds
    limiter.count("bob", 600)
    now[0] = 102.6
    limiter.count("ada", 600)
    assert counted.asked == ["ada 600", "ada 600", "bob 600", "ada 600"]


def test_without_a_limit_nobody_is_counted() -> None:
    counted = Counted()
    RateLimiter(lambda: counted).count("ada", 0)
    assert counted.asked == []


def test_ended_refusals_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "MAX_REMEMBERED", 2)
    counted, now = Counted(1.0, 5.0, 9.0), [0.0]
    limiter = RateLimiter(lambda: counted, clock=lambda: now[0])
    for who, moment in (("ann", 0.0), ("bob", 0.0), ("cem", 2.0), ("bob", 3.0)):
        now[0] = moment
        with pytest.raises(errors.RateLimitError):
            limiter.count(who, 1)
    assert counted.asked == ["ann 1", "bob 1", "cem 1"]
    assert [*limiter._refused_until] == ["bob", "cem"]


# --- what a request shows ---


@pytest.mark.parametrize(
    ("headers", "secret"),
    [
        ({}, None),
        ({"x-api-key": "a"}, "a"),
        ({"x-api-key": " a "}, "a"),
        ({"x-api-key": ""}, ""),
        ({"x-api-key": "", "authorization": "Bearer b"}, ""),
        ({"x-api-key": "a", "authorization": "Bearer b"}, "a"),
        ({"authorization": "Bearer b"}, "b"),
        ({"authorization": "bearer  b"}, "b"),
        ({"authorization": "Bearer"}, ""),
        ({"authorization": "Basic YTpi"}, None),
        ({"authorization": ""}, None),
    ],
)
def test_a_key_is_shown_in_one_of_two_headers(headers: dict[str, str], secret: str | None) -> None:
    assert Visitor.of(headers, ("127.0.0.1", 1)) == Visitor(secret, "127.0.0.1")


def test_a_request_without_an_address_is_from_nowhere() -> None:
    headers = {"host": "localhost", "origin": "null"}
    assert Visitor.of(headers, None) == Visitor(None, "", "localhost", "null")


# --- where to listen ---


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"])
def test_this_machine_alone_may_be_served_without_a_key(host: str) -> None:
    assert is_loopback(host)
    require_key(cast(Installation, Keys({})), host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "reports.example", "localhost.example", ""])
def test_other_machines_are_served_only_with_a_key(host: str) -> None:
    with pytest.raises(errors.ConfigError, match="pagelight keys create"):
        require_key(cast(Installation, Keys({})), host)
    require_key(cast(Installation, Keys(KEYS)), host)
