"""`pagelight keys`: a secret is shown once, and opens what its options say."""

import datetime as dt
import functools
import json
import logging
from collections.abc import Iterator

import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from tests.acceptance import command_line

pytestmark = pytest.mark.usefixtures("settings")

keys = functools.partial(command_line.pagelight, "keys")
parsed = functools.partial(command_line.parsed, "keys")


@pytest.fixture
def engine() -> Iterator[RAGEngine]:
    with RAGEngine(load_config()) as opened:
        yield opened


def test_the_secret_is_all_that_stdout_gets_and_opens_the_door(
    engine: RAGEngine, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        result = keys("create", "--name", "laptop")
    secret = result.stdout.removesuffix("\n")
    key = engine.installation.authenticate(secret)
    assert key is not None
    assert (key.name, key.user_id, key.permissions, key.expires_at) == ("laptop", "local", ("read",), None)
    assert "not shown again" in result.stderr
    assert secret not in result.stderr + caplog.text


def test_a_key_of_another_user_with_scopes_and_an_expiry(engine: RAGEngine) -> None:
    before = dt.datetime.now(dt.UTC)
    made = parsed(
        "create", "--user", "ada", "--name", "importer", "--scope", "write", "--scope", "read", "--expires=30d"
    )
    key = engine.installation.authenticate(made["secret"])
    assert key is not None
    assert (made["id"], made["userId"], made["permissions"]) == (str(key.id), "ada", ["read", "write"])
    assert key.expires_at is not None
    assert dt.timedelta(days=30) <= key.expires_at - before < dt.timedelta(days=30, minutes=5)


def test_the_audit_tells_who_made_and_revoked_anothers_key(engine: RAGEngine) -> None:
    made = parsed("create", "--user", "ada", "--name", "importer", "--scope", "admin")
    keys("revoke", made["id"], "--user", "ada")
    told = [(one.action, one.actor, one.owner, one.door) for one in engine.audit.list()]
    assert told == [("key.revoke", "local", "ada", "cli"), ("key.create", "local", "ada", "cli")]


def test_a_key_expires_at_the_end_of_the_named_day() -> None:
    made = parsed("create", "--name", "laptop", "--expires", "2999-01-31")
    assert dt.datetime.fromisoformat(made["expiresAt"]) == dt.datetime(2999, 2, 1, tzinfo=dt.UTC)


def test_listing_tells_keys_apart_without_their_secrets(engine: RAGEngine) -> None:
    used, unused = (parsed("create", "--name", name, "--user", "ada") for name in ("used", "unused"))
    engine.installation.authenticate(used["secret"])
    listed = parsed("list", "--user", "ada")
    assert [key["name"] for key in listed] == ["unused", "used"]
    assert [key["lastUsedAt"] is None for key in listed] == [True, False]
    table = keys("list", "--user", "ada")
    assert used["hint"] in table.stdout
    assert "never" in table.stdout
    for made in (used, unused):
        assert made["secret"] not in table.output + json.dumps(listed)
    assert parsed("list") == []
    assert "keys create" in keys("list").stdout


def test_only_the_owner_s_keys_are_revoked(engine: RAGEngine) -> None:
    made = parsed("create", "--name", "laptop", "--user", "ada")
    error = parsed("revoke", made["id"], "--user", "bob", code=5)["error"]
    assert error["code"] == "not_found"
    assert "keys list --user bob" in error["message"]
    assert engine.installation.authenticate(made["secret"])
    assert parsed("revoke", made["id"], "--user", "ada")["revokedAt"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--name", ""], "name of 1 to 100"),
        (["--name", "x", "--expires", "tomorrow"], "neither a number of days"),
        (["--name", "x", "--expires", "30"], "neither a number of days"),
        (["--name", "x", "--expires", "9999-12-31"], "neither a number of days"),
        (["--name", "x", "--expires", "0d"], "in the future"),
        (["--name", "x", "--expires", "2020-01-01"], "in the future"),
        (["--name", "x", "--user", " "], "printable"),
        (["--name", "x", "--user", "a\x00b"], "printable"),
        (["--name", "x", "--scope", "root"], "--scope is one of read, write, admin"),
        ([], "Missing option '--name'"),
    ],
)
def test_what_cannot_be_made_is_refused(wrong: list[str], message: str) -> None:
    assert message in " ".join(keys("create", *wrong, code=2).stderr.split())
    assert parsed("list") == []
