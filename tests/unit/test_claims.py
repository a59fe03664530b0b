"""Who a login says that somebody is, whatever a provider puts into its claims."""

import datetime as dt
from typing import Any

import pytest

from rag import errors
from rag.access.oidc import identity
from rag.config import load_config
from rag.types import Role

CLAIMS = {"iss": "https://login.example", "sub": "42", "iat": 1_800_000_000}
CONFIG = load_config(rag_oidc_groups_claim="groups", rag_oidc_role_claim="realm.roles")


def test_a_user_is_an_issuer_and_its_subject() -> None:
    found = identity(CLAIMS, load_config())
    assert found.user_id == "https://login.example|42"
    assert found.issued_at == dt.datetime(2027, 1, 15, 8, 0, tzinfo=dt.UTC)
    assert (found.name, found.email, found.role, found.groups) == (None, None, None, None)


def test_another_issuers_subject_is_another_user() -> None:
    assert identity({**CLAIMS, "iss": "https://other.example"}, CONFIG).user_id != identity(CLAIMS, CONFIG).user_id


@pytest.mark.parametrize("name", ["iss", "sub", "iat"])
@pytest.mark.parametrize("value", [None, "", " ", "x\n", True, [], "y" * 600, float("inf")])
def test_claims_that_do_not_say_who_it_is_are_refused(name: str, value: Any) -> None:
    with pytest.raises(errors.AuthError, match=name if name == "iat" else "iss|sub"):
        identity({**CLAIMS, name: value}, CONFIG)


def test_an_issuer_cannot_be_taken_for_another_with_a_longer_subject() -> None:
    with pytest.raises(errors.AuthError):
        identity({**CLAIMS, "iss": "https://login.example|4", "sub": "2"}, CONFIG)


@pytest.mark.parametrize(
    ("claims", "name", "email"),
    [
        ({"name": "Ann  Archer\n"}, "Ann Archer", None),
        ({"name": "", "preferred_username": "ann"}, "ann", None),
        ({"name": ["Ann"], "nickname": "an"}, "an", None),
        ({"name": "A" * 500}, "A" * 200, None),
        ({"email": "ann@example.org", "email_verified": True}, None, "ann@example.org"),
        ({"email": "ann@example.org", "email_verified": False}, None, None),
        ({"email": "ann@example.org", "email_verified": "true"}, None, None),
        ({"email": "ann@example.org"}, None, None),
    ],
)
def test_names_are_shown_and_addresses_once_verified(
    claims: dict[str, Any], name: str | None, email: str | None
) -> None:
    found = identity({**CLAIMS, **claims}, CONFIG)
    assert (found.name, found.email) == (name, email)


@pytest.mark.parametrize(
    ("given", "groups"),
    [
        (None, ()),
        ("legal", ("legal",)),
        (["legal", "finance", "legal", " "], ("finance", "legal")),
        ([1, None, {"a": "b"}, "a\nb", "é" * 300, "ok"], ("ok",)),
        ({"legal": True}, ()),
    ],
)
def test_groups_are_those_of_the_claim(given: Any, groups: tuple[str, ...]) -> None:
    assert identity({**CLAIMS, "groups": given}, CONFIG).groups == groups


@pytest.mark.parametrize(
    ("realm", "role"),
    [
        ({"roles": ["curator", "other"]}, Role.CURATOR),
        ({"roles": ["curator", "admin"]}, Role.ADMIN),
        ({"roles": "admin"}, Role.ADMIN),
        ({"roles": ["Admin", "administrator"]}, Role.MEMBER),
        ("admin", Role.MEMBER),
        (None, Role.MEMBER),
    ],
)
def test_a_role_is_the_most_that_the_claim_names(realm: Any, role: Role) -> None:
    assert identity({**CLAIMS, "realm": realm}, CONFIG).role is role


def test_a_claim_may_have_a_dot_in_its_name() -> None:
    config = load_config(rag_oidc_groups_claim="https://example.org/groups")
    assert identity({**CLAIMS, "https://example.org/groups": ["legal"]}, config).groups == ("legal",)


@pytest.mark.parametrize("name", ["iat", "nonce", "sid", "jti"])
def test_logins_of_a_user_are_told_apart(name: str) -> None:
    first, again = (identity({**CLAIMS, "nonce": "x"}, CONFIG) for _ in range(2))
    assert first.login_id == again.login_id
    assert identity({**CLAIMS, "nonce": "x", name: 5}, CONFIG).login_id != first.login_id
