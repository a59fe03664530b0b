"""Who works here: on the command line, over REST, and by the tokens of a login provider."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from rag.engine import RAGEngine
from rag.types import Role
from tests import openid
from tests.acceptance import api
from tests.acceptance.command_line import pagelight

AUDIENCE = "https://pagelight.example"


@pytest.fixture(scope="module")
def provider() -> Iterator[openid.Provider]:
    with openid.serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def engine(
    shared_database_url: str, tmp_path_factory: pytest.TempPathFactory, provider: openid.Provider
) -> Iterator[RAGEngine]:
    folder = tmp_path_factory.mktemp("data")
    settings = {"rag_oidc_issuer": provider.url, "rag_oidc_audience": AUDIENCE, "rag_admins": f"{provider.url}|root"}
    with api.open_engine(shared_database_url, folder, **settings) as opened:
        yield opened


def bearer(base_url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=base_url, headers={"authorization": f"Bearer {token}"}, timeout=60)


# --- tokens ---


def test_a_token_is_its_user_as_the_login_is(base_url: str, engine: RAGEngine, provider: openid.Provider) -> None:
    with bearer(base_url, provider.token("ann", AUDIENCE)) as web:
        web.post("/indexes", json={"name": "anns"}).raise_for_status()
        assert api.error_of(web.get("/admin/users")) == (403, "forbidden")
    names = [index.name for index in engine.installation.for_user(f"{provider.url}|ann").indexes.list()]
    assert "anns" in names
    asked = provider.asked.count("/jwks")
    with bearer(base_url, provider.token("bob", AUDIENCE)) as web:
        assert "anns" not in web.get("/indexes").text
    assert provider.asked.count("/jwks") == asked  # it was kept


def test_a_token_has_the_rights_of_its_role(base_url: str, engine: RAGEngine, provider: openid.Provider) -> None:
    with (
        bearer(base_url, provider.token("root", AUDIENCE)) as root,
        bearer(base_url, provider.token("cat", AUDIENCE)) as cat,
    ):
        assert cat.get("/admin/users").status_code == 403
        user = f"{provider.url}|cat"
        edited = root.patch("/admin/users", json={"userId": user, "role": "admin", "groups": ["legal"], "quotaMb": 7})
        assert edited.json()["groups"] == ["legal"]
        assert edited.json()["quotaBytes"] == 7_000_000
        assert cat.get("/admin/users").status_code == 200
        assert root.patch("/admin/users", json={"userId": user, "quotaMb": None}).json()["quotaBytes"] is None
        assert root.patch("/admin/users", json={"userId": user, "role": "member"}).json()["groups"] == ["legal"]
        assert cat.get("/admin/users").status_code == 403
        assert api.error_of(root.patch("/admin/users", json={"userId": "nobody", "role": "admin"})) == (
            404,
            "not_found",
        )
        lowered = root.patch("/admin/users", json={"userId": f"{provider.url}|root", "role": "member"})
        assert api.error_of(lowered) == (409, "conflict")


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "pagelight"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": 1},
        {"exp": None},
        {"iat": 4_000_000_000},
        {"iat": None},
        {"sub": None},
        {"sub": ""},
        {"nbf": 4_000_000_000},
    ],
)
def test_tokens_for_another_audience_are_refused(
    base_url: str, provider: openid.Provider, claims: dict[str, Any]
) -> None:
    with bearer(base_url, provider.token("ann", AUDIENCE, **claims)) as web:
        assert api.error_of(web.get("/indexes")) == (401, "auth")


def test_tokens_with_a_wrong_or_missing_signature_are_refused(base_url: str, provider: openid.Provider) -> None:
    forger = RSAKey.generate_key(2048, {"kid": str(provider.key.kid), "alg": "RS256"})
    _, payload, signature = provider.token("ann", AUDIENCE).split(".")
    unsigned = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}
    for token in (
        provider.token("ann", AUDIENCE, key=forger),
        f"{unsigned}.{payload}.x",
        f"{unsigned}.{payload}.{signature}",
        "a.b.c",
    ):
        with bearer(base_url, token) as web:
            assert api.error_of(web.get("/indexes")) == (401, "auth"), token


def test_a_logout_everywhere_ends_tokens_too(base_url: str, provider: openid.Provider) -> None:
    with bearer(base_url, provider.token("dan", AUDIENCE)) as dan, api.client(base_url) as admin:
        assert dan.get("/indexes").status_code == 200
        assert admin.post("/admin/logout", json={"userId": f"{provider.url}|dan"}).status_code == 204
        assert api.error_of(dan.get("/indexes")) == (401, "auth")
        assert admin.get("/admin/logins", params={"user": f"{provider.url}|dan"}).json() == {"items": []}


# --- what keys allow to which role ---

ADMINS = ("/admin/users", "/admin/keys", "/admin/jobs", "/admin/logins?user=ann", "/status", "/metrics")


def test_a_demoted_admins_key_is_no_admins(base_url: str, engine: RAGEngine) -> None:
    secret = api.key_of(engine, "gil", "admin")
    engine.installation.accounts.set_role("gil", Role.ADMIN)
    with api.client(base_url, secret) as gil, api.client(base_url) as web:
        assert {gil.get(path).status_code for path in ADMINS} == {200}
        gil.get("/indexes")
        everybody = {entry["actor"] for entry in gil.get("/audit").json()["items"]}
        assert everybody > {"gil"}

        assert web.patch("/admin/users", json={"userId": "gil", "role": "member"}).json()["role"] == "member"
        for path in ADMINS:
            assert api.error_of(gil.get(path)) == (403, "forbidden"), path
        again = gil.patch("/admin/users", json={"userId": "gil", "role": "admin"})
        assert api.error_of(again) == (403, "forbidden")
        folder = gil.post("/reindex", json={"source": {"folderId": "/etc"}})
        assert "administrators" in folder.json()["error"]["message"]
        own = [(entry["actor"], entry["owner"]) for entry in gil.get("/audit").json()["items"]]
        assert own
        assert all("gil" in entry for entry in own)
        assert gil.get("/indexes").status_code == 200


def test_a_curator_makes_nobody_an_admin(base_url: str, engine: RAGEngine) -> None:
    secret = api.key_of(engine, "hal", "admin")
    engine.installation.accounts.set_role("hal", Role.CURATOR)
    with api.client(base_url, secret) as hal:
        for path in ADMINS:
            assert api.error_of(hal.get(path)) == (403, "forbidden"), path
        raised = hal.patch("/admin/users", json={"userId": "hal", "role": "admin"})
        assert api.error_of(raised) == (403, "forbidden")
    assert engine.installation.accounts.get("hal").role is Role.CURATOR


def test_an_admin_sees_only_their_own_with_a_key_that_reads(base_url: str, engine: RAGEngine) -> None:
    secret = api.key_of(engine, "ida", "read")
    engine.installation.accounts.set_role("ida", Role.ADMIN)
    with api.client(base_url, secret) as ida:
        assert api.error_of(ida.get("/admin/users")) == (403, "forbidden")
        own = [(entry["actor"], entry["owner"]) for entry in ida.get("/audit").json()["items"]]
        assert own
        assert all("ida" in entry for entry in own)


def test_a_curator_shares_with_a_token(base_url: str, engine: RAGEngine, provider: openid.Provider) -> None:
    with bearer(base_url, provider.token("joe", AUDIENCE)) as joe:
        joe.post("/indexes", json={"name": "default"})
        assert api.error_of(joe.put("/shares", json={"grantee": "ann"})) == (403, "forbidden")
        engine.installation.accounts.set_role(f"{provider.url}|joe", Role.CURATOR)
        given = joe.put("/shares", json={"grantee": "ann"})
        assert [share["grantee"] for share in given.json()["items"]] == ["ann"]
        assert joe.get("/shares").json() == given.json()
        assert joe.post("/shares/withdraw", json={"grantee": "ann"}).json()["items"] == []
        assert api.error_of(joe.get("/admin/users")) == (403, "forbidden")


def test_a_key_that_reads_shares_nothing(base_url: str, engine: RAGEngine) -> None:
    secret = api.key_of(engine, "kim", "read")
    engine.installation.accounts.set_role("kim", Role.CURATOR)
    with api.client(base_url, secret) as kim:
        for response in (
            kim.get("/shares"),
            kim.put("/shares", json={"grantee": "ann"}),
            kim.post("/shares/withdraw", json={"grantee": "ann"}),
        ):
            assert api.error_of(response) == (403, "forbidden")


# --- keys and jobs of all ---


@pytest.mark.parametrize("permission", ["read", "write"])
def test_only_admins_see_others(base_url: str, engine: RAGEngine, permission: str) -> None:
    with api.client(base_url, api.key_of(engine, "eve", permission)) as web:  # type: ignore[arg-type]  # a permission
        for path in ("/admin/users", "/admin/keys", "/admin/jobs", "/admin/logins?user=ann"):
            assert api.error_of(web.get(path)) == (403, "forbidden")
        for method, path in (("PATCH", "/admin/users"), ("POST", "/admin/logout")):
            assert api.error_of(web.request(method, path, json={"userId": "eve", "role": "admin"})) == (
                403,
                "forbidden",
            )
        assert api.error_of(web.delete(f"/admin/keys/{uuid.uuid4()}")) == (403, "forbidden")


def test_an_admin_revokes_anybodys_key(base_url: str, engine: RAGEngine) -> None:
    secret = api.key_of(engine, "finn", "read")
    with api.client(base_url, secret) as finn, api.client(base_url) as admin:
        assert finn.get("/indexes").status_code == 200
        listed = admin.get("/admin/keys")
        assert secret not in listed.text
        (key,) = [key for key in listed.json()["items"] if key["userId"] == "finn"]
        assert admin.delete(f"/admin/keys/{key['id']}").json()["revokedAt"]
        assert api.error_of(finn.get("/indexes")) == (401, "auth")
        assert any(one["userId"] == "finn" for one in admin.get("/admin/users").json()["items"])
        engine.installation.for_user("finn").jobs.start_reindex()
        assert [job["userId"] for job in admin.get("/admin/jobs").json()["items"]] == ["finn"]


# --- the command line ---


def test_users_on_the_command_line(settings: Path) -> None:
    user = "https://login.example|7"
    with RAGEngine() as engine:
        engine.installation.accounts.see(user)
    edit = {"userId": user, "role": "curator", "groups": ["legal", "finance"], "quotaMb": 5}
    pagelight("api", "PATCH", "/admin/users", "--json", json.dumps(edit))
    (found,) = json.loads(pagelight("api", "GET", "/admin/users").stdout)["items"]
    assert (found["role"], found["groups"], found["quotaBytes"]) == ("curator", ["finance", "legal"], 5_000_000)
    pagelight("api", "POST", "/admin/logout", "--json", json.dumps({"userId": user}))
    unknown = json.dumps({"userId": "nobody", "role": "admin"})
    assert "There is no user nobody" in pagelight("api", "PATCH", "/admin/users", "--json", unknown, code=5).output
    with RAGEngine() as engine:
        assert engine.installation.accounts.get("nobody").role is Role.MEMBER
