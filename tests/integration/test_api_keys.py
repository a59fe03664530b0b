"""Keys: made, found by their secret, expired, revoked; the secret itself is nowhere."""

import datetime as dt
import hashlib
import logging
import uuid

import psycopg
import pytest
from pydantic import SecretStr

from rag import errors
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import Permission

NOW = dt.datetime.now(dt.UTC)
SOON = NOW + dt.timedelta(hours=1)


def change(database_url: str, assignment: str, key_id: uuid.UUID) -> None:
    """Let time pass for a key."""
    with psycopg.connect(database_url) as connection:
        connection.execute(f"UPDATE api_keys SET {assignment} WHERE id = %s", [key_id])


def test_a_secret_opens_what_its_key_says(engine: RAGEngine) -> None:
    key, secret = engine.keys.create(" laptop ", ["write", "read", "write"], SOON)
    assert secret.startswith(key.hint)
    assert (key.name, key.user_id, key.permissions, key.expires_at) == ("laptop", "ada", ("read", "write"), SOON)
    found = engine.installation.for_user("someone else").installation.authenticate(secret)
    assert found is not None
    assert (found.id, found.user_id) == (key.id, "ada")


@pytest.mark.parametrize(
    ("held", "allowed"),
    [
        (["read"], {"read"}),
        (["write"], {"read", "write"}),
        (["admin"], {"read", "write", "admin"}),
        (["admin", "read"], {"read", "write", "admin"}),
    ],
)
def test_admin_implies_write_implies_read(engine: RAGEngine, held: list[Permission], allowed: set[str]) -> None:
    key, _ = engine.keys.create("key", held)
    wanted: tuple[Permission, ...] = ("read", "write", "admin")
    assert {permission for permission in wanted if key.allows(permission)} == allowed


def test_the_secret_is_neither_stored_nor_logged(
    engine: RAGEngine, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        key, secret = engine.keys.create("laptop")
        engine.installation.authenticate(secret)
    with psycopg.connect(database_url) as connection:
        (row,) = connection.execute("SELECT digest, a::text FROM api_keys a").fetchall()
    assert row[0] == hashlib.sha256(secret.encode()).digest()
    assert secret not in row[1]
    assert len(key.hint) < len(secret) / 4  # so that what is left is beyond guessing
    assert secret not in caplog.text
    assert secret not in repr(engine.store.api_keys.list())


@pytest.mark.parametrize(
    "wrong",
    ["", "pl_", "pl_" + "a" * 43, "pl_" + "a" * 42, "pl_" + "a" * 44, "a" * 1_000_000, "pl_' or '1'='1", "\x00", "é"],
)
def test_another_secret_opens_nothing(engine: RAGEngine, wrong: str) -> None:
    engine.keys.create("laptop")
    assert engine.installation.authenticate(wrong) is None


def test_the_shared_key_is_an_admins_of_the_local_user(engine: RAGEngine) -> None:
    config = engine.config.model_copy(update={"rag_api_key": SecretStr("the shared secret")})
    with RAGEngine(config) as shared:
        found = shared.installation.authenticate("the shared secret")
        assert found is not None
        assert (found.user_id, found.permissions) == ("local", ("admin",))
        for wrong in ("", "the shared secre", "the shared secret ", "THE SHARED SECRET", "the shared secre\u0163"):
            assert shared.installation.authenticate(wrong) is None


def test_what_cannot_be_a_secret_is_not_looked_up(engine: RAGEngine, caplog: pytest.LogCaptureFixture) -> None:
    """Without a database there is no answer to give; a malformed secret needs none."""
    secret = engine.keys.create("laptop")[1]
    engine.installation.close()
    unreachable = load_config(rag_database_url="postgresql://localhost:1/none", rag_data_dir=engine.config.rag_data_dir)
    with RAGEngine(unreachable) as cut_off:
        assert cut_off.installation.authenticate(secret + "\n") is None
        assert cut_off.installation.authenticate(" " + secret) is None
        with pytest.raises(errors.StoreError):
            cut_off.installation.authenticate(secret)


def test_an_expired_key_opens_nothing_but_still_closes_the_door(engine: RAGEngine, database_url: str) -> None:
    key, secret = engine.keys.create("laptop", expires_at=SOON)
    assert engine.installation.authenticate(secret)
    change(database_url, "expires_at = now()", key.id)
    assert engine.installation.authenticate(secret) is None
    assert engine.installation.keys_exist()


def test_a_revoked_key_opens_nothing(engine: RAGEngine) -> None:
    key, secret = engine.keys.create("laptop")
    _, other = engine.keys.create("server")
    revoked = engine.store.api_keys.revoke(key.id)
    assert revoked.revoked_at is not None
    assert engine.installation.authenticate(secret) is None
    assert engine.installation.authenticate(other)
    assert engine.store.api_keys.revoke(key.id) == revoked  # the first time counts


def test_keys_exist_until_the_last_is_revoked(engine: RAGEngine) -> None:
    assert not engine.installation.keys_exist()
    key, _ = engine.keys.create("laptop")
    assert engine.installation.for_user("bob").installation.keys_exist()
    engine.store.api_keys.revoke(key.id)
    assert not engine.installation.keys_exist()


def test_keys_of_another_user_are_neither_listed_nor_revoked(engine: RAGEngine) -> None:
    key, secret = engine.keys.create("laptop")
    other = engine.installation.for_user("bob")
    assert other.store.api_keys.list() == []
    with pytest.raises(errors.NotFoundError, match=str(key.id)):
        other.store.api_keys.revoke(key.id)
    assert engine.installation.authenticate(secret)


def test_the_latest_key_is_listed_first(engine: RAGEngine) -> None:
    for name in ("first", "second"):
        engine.keys.create(name)
    kept = engine.store.api_keys.list()
    assert [key.name for key in kept] == ["second", "first"]


def test_the_last_use_is_written_once_a_minute(engine: RAGEngine, database_url: str) -> None:
    key, secret = engine.keys.create("laptop")
    assert engine.store.api_keys.list()[0].last_used_at is None
    engine.installation.authenticate(secret)
    first = engine.store.api_keys.list()[0].last_used_at
    assert first is not None
    engine.installation.authenticate(secret)
    assert engine.store.api_keys.list()[0].last_used_at == first
    change(database_url, "last_used_at = now() - interval '61 seconds'", key.id)
    engine.installation.authenticate(secret)
    last = engine.store.api_keys.list()[0].last_used_at
    assert last is not None
    assert last >= first


@pytest.mark.parametrize("name", ["a", "a" * 100, "é", " a "])
def test_a_name_may_be_short_or_long(engine: RAGEngine, name: str) -> None:
    assert engine.keys.create(name)[0].name == name.strip()


@pytest.mark.parametrize("name", ["", "  ", "a" * 101, "two\nlines", "zero\x00byte", "\x1b[31m"])
def test_a_name_must_be_readable(engine: RAGEngine, name: str) -> None:
    with pytest.raises(errors.ValidationError, match="name of 1 to 100"):
        engine.keys.create(name)


@pytest.mark.parametrize("permissions", [[], ["root"], ["read", ""]])
def test_permissions_must_be_known(engine: RAGEngine, permissions: list[Permission]) -> None:
    with pytest.raises(errors.ValidationError, match="read, write, admin"):
        engine.keys.create("laptop", permissions)
    assert engine.store.api_keys.list() == []


@pytest.mark.parametrize("expires_at", [NOW, NOW.replace(tzinfo=None) + dt.timedelta(days=2)])
def test_an_expiry_must_lie_ahead(engine: RAGEngine, expires_at: dt.datetime) -> None:
    with pytest.raises(errors.ValidationError, match="in the future and have a time zone"):
        engine.keys.create("laptop", expires_at=expires_at)
