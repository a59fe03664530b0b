"""The audit: what was done is told with it or not at all, and stays as it is."""

import datetime as dt
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from rag import errors, worker
from rag.engine import RAGEngine
from rag.store.store import Store, UserStore
from rag.types import AuditFilter, ChatMessage, RequestOrigin, Role, ShareRequest
from tests import mails, pdfs
from tests.integration.samples import Owner

OWNER = "owner"


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, OWNER)


def told(db: Store, user: str = OWNER, **asked: object) -> list[tuple[str, str, str]]:
    """Actor, action and name of the subject, the first first."""
    entries = db.of(user).audit.list(AuditFilter(**asked))  # type: ignore[arg-type]
    return [(entry.actor, entry.action, entry.subject_name) for entry in reversed(entries)]


def test_the_audit_records_changes_of_a_document(owner: Owner) -> None:
    documents = owner.db.of(OWNER, RequestOrigin("rest", "10.0.0.7")).documents
    document = owner.add("report.pdf")
    documents.trash([document.id])
    documents.restore([document.id])
    documents.trash([document.id])
    documents.purge([document.id])

    actions = ["upload", "trash", "restore", "trash", "purge"]
    assert told(owner.db) == [(OWNER, f"document.{action}", "report.pdf") for action in actions]
    last, *_ = owner.db.of(OWNER).audit.list()
    assert (last.door, last.address, last.owner, last.subject_id) == ("rest", "10.0.0.7", OWNER, str(document.id))


def test_a_failed_action_is_not_in_the_audit(owner: Owner) -> None:
    document = owner.add("report.pdf")
    with pytest.raises(errors.DuplicateError):
        owner.add("copy.pdf", sha256=document.sha256)
    owner.db.of(OWNER).documents.purge([document.id])
    owner.db.of("stranger").documents.trash([document.id])
    assert told(owner.db) == [(OWNER, "document.upload", "report.pdf")]


def test_the_audit_records_keys_and_shares(owner: Owner) -> None:
    own = owner.db.of(OWNER)
    key = own.api_keys.create(name="for the nightly run", digest=b"x", hint="pl_x", permissions=["write"])
    own.api_keys.revoke(key.id)
    asked = ShareRequest(grantee="friend")
    assert own.shares.share(owner.index.id, asked, is_admin=True)
    assert own.shares.unshare(owner.index.id, asked)
    assert not own.shares.unshare(owner.index.id, asked)

    assert told(owner.db) == [
        (OWNER, "key.create", "for the nightly run"),
        (OWNER, "key.revoke", "for the nightly run"),
        (OWNER, "share.give", "default"),
        (OWNER, "share.withdraw", "default"),
    ]
    assert told(owner.db, action="share") == told(owner.db)[2:]
    assert told(owner.db, action="key.revoke") == told(owner.db, action="revoke") == told(owner.db)[1:2]


def test_actions_on_shared_documents_are_in_both_audits(owner: Owner) -> None:
    document = owner.add("report.pdf")
    owner.db.of(OWNER).shares.share(owner.index.id, ShareRequest(grantee="friend", permission="write"), is_admin=True)
    owner.db.shared("friend", owner.index.id).documents.trash([document.id])

    assert told(owner.db)[-1] == ("friend", "document.trash", "report.pdf")
    assert told(owner.db, "friend") == [("friend", "document.trash", "report.pdf")]
    assert told(owner.db, "stranger") == []
    assert len(owner.db.audit.list()) == 3


@pytest.mark.parametrize(
    "statement", ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit", "TRUNCATE audit", "TRUNCATE audit CASCADE"]
)
def test_audit_entries_cannot_be_changed_or_deleted(owner: Owner, database_url: str, statement: str) -> None:
    owner.add("report.pdf")
    before = owner.db.of(OWNER).audit.list()
    with psycopg.connect(database_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)
    assert owner.db.of(OWNER).audit.list() == before


def test_deleting_old_audit_entries_is_recorded(owner: Owner) -> None:
    owner.add("report.pdf")
    assert owner.db.audit.forget(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), actor=OWNER, door="python") == 0
    assert len(told(owner.db)) == 1
    assert owner.db.audit.forget(dt.datetime.now(dt.UTC), actor=OWNER, door="cli") == 1
    (entry,) = owner.db.of(OWNER).audit.list()
    assert (entry.action, entry.details["rows"], entry.door) == ("audit.forget", 1, "cli")


def test_future_audit_entries_are_not_deleted(owner: Owner, database_url: str) -> None:
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


# --- accounts and logins ---

LOGIN = uuid.UUID(int=7)
NOW = dt.datetime.now(dt.UTC)
ACCOUNT: list[tuple[str, Callable[[UserStore], object], dict[str, object]]] = [
    ("account.role", lambda own: own.account.set_role(Role.ADMIN), {"role": "admin", "previous_role": "member"}),
    ("account.groups", lambda own: own.account.set_groups(["b", "a"]), {"groups": ["a", "b"], "previous_groups": []}),
    ("account.quota", lambda own: own.account.set_quota(0), {"quota_bytes": 0, "previous_quota_bytes": None}),
    ("login.open", lambda own: own.logins.open(LOGIN, NOW), {}),
    ("login.end", lambda own: own.logins.end(LOGIN), {}),
    ("login.end_all", lambda own: own.logins.end_all(), {}),
]


def test_the_audit_records_changes_of_an_account_with_the_actor(db: Store) -> None:
    own = db.of(OWNER, RequestOrigin("rest", "10.0.0.7"), actor="boss")
    for action, act, details in ACCOUNT:
        act(own)
        (entry, *_) = db.of(OWNER).audit.list()
        assert (entry.action, entry.actor, entry.owner) == (action, "boss", OWNER)
        assert (entry.door, entry.address, entry.details) == ("rest", "10.0.0.7", details)
        assert (entry.subject_kind, entry.subject_id) == ("account", OWNER)


def test_unchanged_fields_of_an_account_are_not_in_the_audit(db: Store) -> None:
    own = db.of(OWNER)
    for _ in range(2):
        own.account.set_role(Role.CURATOR)
        own.account.set_groups(["legal"])
        own.account.set_quota(5)
    own.logins.open(LOGIN, NOW, role=Role.CURATOR, groups=["legal"])
    own.logins.open(LOGIN, NOW, role=Role.ADMIN, groups=["board"])  # it is open already
    own.logins.end(uuid.uuid4())

    actions = ["account.role", "account.groups", "account.quota", "login.open"]
    assert [action for _, action, _ in told(db)] == actions
    db.of("x" * 600).account.set_role(Role.ADMIN)  # no account can be called so
    assert not told(db, "x" * 600)


def test_the_audit_records_what_a_login_changes_with_the_former_value(db: Store) -> None:
    own = db.of(OWNER, RequestOrigin("app"))
    own.account.set_groups(["given"])
    own.logins.open(uuid.uuid4(), NOW, role=Role.MEMBER, groups=["given", "legal"])
    own.logins.open(uuid.uuid4(), NOW, role=Role.ADMIN, groups=["board"])
    own.logins.open(uuid.uuid4(), NOW)  # it says nothing of them

    changes = [(entry.action, entry.details) for entry in reversed(own.audit.list()) if entry.action != "login.open"]
    assert changes == [
        ("account.groups", {"groups": ["given"], "previous_groups": []}),
        ("account.groups", {"groups": ["legal"], "previous_groups": [], "by_login": True}),
        ("account.role", {"role": "admin", "previous_role": "member", "by_login": True}),
        ("account.groups", {"groups": ["board"], "previous_groups": ["legal"], "by_login": True}),
    ]


# --- what a worker does ---


def done(engine: RAGEngine, action: str) -> set[tuple[str, str, str]]:
    """Name of the document, actor and door of each entry."""
    return {(entry.subject_name, entry.actor, entry.door) for entry in engine.audit.list(AuditFilter(action=action))}


def test_the_audit_records_attachments_as_uploads_of_their_user(engine: RAGEngine) -> None:
    engine.installation.accounts.set_role("ada", Role.CURATOR)
    engine.documents.add(mails.eml({"own.txt": b"Ada's words."}), "Own.eml")
    engine.sharing.share({"grantee": "bob", "permission": "write"})
    shared = engine.installation.for_user("bob", RequestOrigin("app")).for_index("shared:default")
    shared.documents.add(mails.eml({"inner.zip": mails.archive({"bobs.txt": b"Bob's words."})}), "Offer.eml")
    worker.run(engine.installation, wait=False)

    assert done(engine, "document.upload") == {
        ("Own.eml", "ada", "python"),
        ("own.txt", "ada", "worker"),
        ("Offer.eml", "bob", "app"),
        ("inner.zip", "bob", "worker"),
        ("bobs.txt", "bob", "worker"),
    }
    engine.documents.trash([document.id for document in engine.documents.list()])
    assert {actor for _, actor, _ in done(engine, "document.trash")} == {"ada"}


def test_the_audit_records_changes_by_jobs_as_the_workers(engine: RAGEngine, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("The tide table.")

    def follow() -> None:
        engine.jobs.start_reindex({"source": {"folderId": str(folder)}})
        worker.run(engine.installation, wait=False)

    follow()
    (folder / "a.txt").rename(tmp_path / "a.txt")
    follow()
    (tmp_path / "a.txt").rename(folder / "a.txt")
    follow()
    for action in ("upload", "trash", "restore"):
        assert done(engine, f"document.{action}") == {("a.txt", "ada", "worker")}


def test_what_a_sync_puts_in_anothers_place_is_told(engine: RAGEngine, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    former, changed = (mails.eml({name: name.encode()}, text=name) for name in ("a.txt", "b.txt"))

    def told_of(content: bytes | None, name: str) -> list[tuple[str, str]]:
        """What is told of a sync, the first first."""
        known = len(engine.audit.list())
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content)
        engine.sync_index({"source": {"folderId": str(folder)}})
        told = [*reversed(engine.audit.list())][known:]
        return [(one.action.removeprefix("document."), one.subject_name) for one in told]

    assert told_of(former, "Offer.eml") == [("upload", "Offer.eml"), ("upload", "a.txt")]
    assert told_of(changed, "Offer.eml") == [
        *(("upload", name) for name in ("Offer.eml", "b.txt")),
        *(("trash", name) for name in ("Offer.eml", "a.txt")),
    ]
    assert told_of(former, "Offer.eml") == [
        *(("restore", name) for name in ("Offer.eml", "a.txt")),
        *(("trash", name) for name in ("Offer.eml", "b.txt")),
    ]
    told_of(None, "Offer.eml")

    assert told_of(b"First.", "c.txt") == [("upload", "c.txt")]
    assert told_of(b"Second.", "c.txt") == [("upload", "c.txt")]  # of which the first is an older version
    assert told_of(None, "c.txt") == [("trash", "c.txt")]
    assert told_of(b"First.", "c.txt") == [("restore", "c.txt")]


# --- what is taken along ---

FACT = "The harbour of Lindmark handled 4,812 ships in 2019."
FROM = RequestOrigin("rest", "10.0.0.7")


class Taken(NamedTuple):
    """What there is to take along, and where to."""

    engine: RAGEngine
    folder: Path
    document_ids: list[uuid.UUID]
    answer: ChatMessage
    matrix_id: uuid.UUID

    def marked(self) -> object:
        """As the app shows it before it is downloaded."""
        assert self.answer.response
        return self.engine.pages.marked(self.answer.response, self.document_ids[0])


@pytest.fixture
def taken(engine: RAGEngine, tmp_path: Path) -> Taken:
    at_door = engine.installation.for_user("ada", FROM)
    contents = {"harbour.pdf": pdfs.plain([FACT]), "other.pdf": pdfs.plain(["Another."])}
    added = [at_door.documents.add(content, name, enqueue=False) for name, content in contents.items()]
    ids = [at_door.documents.process(one.id).id for one in added]
    answer = at_door.chats.ask(at_door.chats.start("Ships").id, "How many ships did the harbour handle in 2019?")
    matrix = at_door.matrices.create({"name": "Harbours", "documentIds": ids, "fields": ["How many ships?"]})
    return Taken(at_door, tmp_path, ids, answer, matrix.id)


def back_up(taken: Taken) -> object:
    return taken.engine.installation.backup(taken.folder / "all.tar", actor="ada", origin=FROM)


def copy_marked(taken: Taken) -> object:
    answers, answer = taken.engine.answers, taken.answer
    return answers.marked(answer.conversation_id, answer.id, taken.document_ids[0])


def download_marked(taken: Taken) -> object:
    assert taken.answer.response
    pages, document_id = taken.engine.pages, taken.document_ids[0]
    return pages.download(document_id, pages.marked(taken.answer.response, document_id))


EXPORTS: list[tuple[Callable[[Taken], object], list[tuple[str, str, str]]]] = [
    (lambda t: t.engine.exports.write(t.folder / "all"), [("export", "index", "all")]),
    (lambda t: t.engine.matrices.export(t.matrix_id, "csv"), [("export", "matrix", "Harbours")]),
    (lambda t: t.engine.answers.export(t.answer.conversation_id, "text"), [("answer.export", "conversation", "Ships")]),
    (
        lambda t: t.engine.files.archive(t.document_ids).close(),
        [("export", "document", "harbour.pdf"), ("export", "document", "other.pdf")],
    ),
    (lambda t: t.engine.files.download(t.document_ids[1]), [("export", "document", "other.pdf")]),
    (Taken.marked, []),
    (copy_marked, [("export", "document", "harbour.pdf")]),
    (download_marked, [("export", "document", "harbour.pdf")]),
    (back_up, [("export", "backup", "all.tar")]),
]
"""How something is taken along, and what is told of it: action, kind and name of what was."""


def test_the_audit_records_exports(taken: Taken) -> None:
    expected = []
    for take, entries in EXPORTS:
        take(taken)
        expected += entries
        found = [*reversed(taken.engine.audit.list(AuditFilter(action="export")))]
        assert [(one.action, one.subject_kind, one.subject_name) for one in found] == expected
    assert {(one.actor, one.owner, one.door, one.address) for one in found} == {("ada", "ada", *FROM)}


def test_the_owners_audit_records_exports_by_others(taken: Taken) -> None:
    taken.engine.installation.accounts.set_role("ada", Role.CURATOR)
    taken.engine.sharing.share({"grantee": "bob", "permission": "read"})
    shared = taken.engine.installation.for_user("bob").for_index("shared:default")
    shared.files.archive(taken.document_ids).close()
    shared.files.download(taken.document_ids[0])
    told = taken.engine.audit.list(AuditFilter(action="export"))
    assert [(one.actor, one.owner, one.subject_name) for one in reversed(told)] == [
        ("bob", "ada", name) for name in ("harbour.pdf", "other.pdf", "harbour.pdf")
    ]
