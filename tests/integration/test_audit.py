"""The audit: what was done is told with it or not at all, and stays as it is."""

import datetime as dt

import psycopg
import pytest

from rag import errors, store
from rag.types import AuditFilter, ShareRequest, Whence
from tests.integration.samples import Owner

OWNER = "owner"


@pytest.fixture
def owner(db: store.Store) -> Owner:
    return Owner.of(db, OWNER)


def told(db: store.Store, user: str = OWNER, **asked: object) -> list[tuple[str, str, str]]:
    """Actor, action and name of the subject, the first first."""
    entries = db.of(user).audit.list(AuditFilter(**asked))  # type: ignore[arg-type]
    return [(entry.actor, entry.action, entry.subject_name) for entry in reversed(entries)]


def test_what_becomes_of_a_document_is_told(owner: Owner) -> None:
    documents = owner.db.of(OWNER, Whence("rest", "10.0.0.7")).documents
    document = owner.add("report.pdf")
    documents.trash([document.id])
    documents.restore([document.id])
    documents.trash([document.id])
    documents.purge([document.id])

    actions = ["upload", "trash", "restore", "trash", "purge"]
    assert told(owner.db) == [(OWNER, f"document.{action}", "report.pdf") for action in actions]
    last, *_ = owner.db.of(OWNER).audit.list()
    assert (last.door, last.address, last.owner, last.subject_id) == ("rest", "10.0.0.7", OWNER, str(document.id))


def test_what_did_not_happen_is_not_told(owner: Owner) -> None:
    document = owner.add("report.pdf")
    with pytest.raises(errors.DuplicateError):
        owner.add("copy.pdf", sha256=document.sha256)
    owner.db.of(OWNER).documents.purge([document.id])
    owner.db.of("stranger").documents.trash([document.id])
    assert told(owner.db) == [(OWNER, "document.upload", "report.pdf")]


def test_keys_and_shares_are_told(owner: Owner) -> None:
    own = owner.db.of(OWNER)
    key = own.api_keys.create(name="for the nightly run", digest=b"x", hint="pl_x", permissions=["write"])
    own.api_keys.revoke(key.id)
    asked = ShareRequest(grantee="friend")
    assert own.shares.give(owner.index.id, asked, is_admin=True)
    assert own.shares.withdraw(owner.index.id, asked)
    assert not own.shares.withdraw(owner.index.id, asked)

    assert told(owner.db) == [
        (OWNER, "key.create", "for the nightly run"),
        (OWNER, "key.revoke", "for the nightly run"),
        (OWNER, "share.give", "default"),
        (OWNER, "share.withdraw", "default"),
    ]
    assert told(owner.db, action="share") == told(owner.db)[2:]
    assert told(owner.db, action="key.revoke") == told(owner.db)[1:2]


def test_what_others_do_to_shared_things_is_told_to_both(owner: Owner) -> None:
    document = owner.add("report.pdf")
    owner.db.of(OWNER).shares.give(owner.index.id, ShareRequest(grantee="friend", permission="write"), is_admin=True)
    owner.db.shared("friend", owner.index.id).documents.trash([document.id])

    assert told(owner.db)[-1] == ("friend", "document.trash", "report.pdf")
    assert told(owner.db, "friend") == [("friend", "document.trash", "report.pdf")]
    assert told(owner.db, "stranger") == []
    assert len(owner.db.audit.list()) == 3


@pytest.mark.parametrize(
    "statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit", "TRUNCATE audit", "TRUNCATE audit CASCADE"]
)
def test_nothing_of_it_is_changed_or_removed(owner: Owner, database_url: str, statement: str) -> None:
    owner.add("report.pdf")
    before = owner.db.of(OWNER).audit.list()
    with psycopg.connect(database_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)
    assert owner.db.of(OWNER).audit.list() == before


def test_what_is_let_go_of_is_told(owner: Owner) -> None:
    owner.add("report.pdf")
    assert owner.db.audit.forget(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), actor=OWNER, door="python") == 0
    assert len(told(owner.db)) == 1
    assert owner.db.audit.forget(dt.datetime.now(dt.UTC), actor=OWNER, door="cli") == 1
    (entry,) = owner.db.of(OWNER).audit.list()
    assert (entry.action, entry.details["rows"], entry.door) == ("audit.forget", 1, "cli")


def test_what_is_to_come_is_not_let_go_of(owner: Owner, database_url: str) -> None:
    """Nor is what is told of it, whoever asks the server."""
    owner.add("report.pdf")
    before = owner.db.of(OWNER).audit.list()
    tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    with pytest.raises(errors.ValidationError, match="what is past"):
        owner.db.audit.forget(tomorrow, actor=OWNER, door="cli")
    with psycopg.connect(database_url) as connection:
        for future in (tomorrow, "infinity"):
            with pytest.raises(psycopg.errors.InvalidParameterValue), connection.transaction():
                connection.execute("SELECT forget_audit('nobody', %s, 'nowhere')", [future])
    assert owner.db.of(OWNER).audit.list() == before
