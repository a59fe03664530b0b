"""Accounts: roles, groups, logins that end, and quotas that hold."""

import concurrent.futures
import datetime as dt
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import errors
from rag.config import MEGABYTE, load_config
from rag.engine import Installation
from rag.types import Identity, IndexRequest, Role
from tests import mails, pdfs

ANN = "https://login.example|ann"
BOB = "https://login.example|bob"


@pytest.fixture
def installation(database_url: str, tmp_path: Path) -> Iterator[Installation]:
    """Where Ann is an admin by the settings."""
    settings = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_admins=f"x, {ANN}")
    with Installation(settings) as opened:
        yield opened


def login(user_id: str, *, ago: dt.timedelta = dt.timedelta(), **claims: object) -> Identity:
    started = dt.datetime.now(dt.UTC) - ago
    return Identity.model_validate({"user_id": user_id, "login_id": uuid.uuid4(), "issued_at": started, **claims})


# --- roles ---


def test_an_unknown_user_is_a_member(installation: Installation) -> None:
    assert installation.accounts.get(BOB).role is Role.MEMBER
    with pytest.raises(errors.ForbiddenError):
        installation.accounts.require_admin(BOB)
    assert installation.accounts.list() == []


@pytest.mark.parametrize("role", Role)
def test_a_changed_role_applies_at_once(installation: Installation, role: Role) -> None:
    installation.accounts.set_role(BOB, role)
    assert installation.accounts.get(BOB).role is role
    assert (role.may_share, role.may_administer) == (role is not Role.MEMBER, role is Role.ADMIN)
    installation.accounts.set_role(BOB, Role.MEMBER)
    assert installation.accounts.get(BOB).role is Role.MEMBER


def test_an_admin_by_the_settings_stays_one(installation: Installation) -> None:
    with pytest.raises(errors.ConflictError, match="RAG_ADMINS"):
        installation.accounts.set_role(ANN, Role.MEMBER)
    installation.logins.open(login(ANN, role="member"))
    assert installation.accounts.get(ANN).role is Role.ADMIN
    assert {one.user_id: one.role for one in installation.accounts.list()} == {ANN: Role.ADMIN}


def test_groups_come_from_the_login_and_from_the_admin(installation: Installation) -> None:
    accounts = installation.accounts
    installation.logins.open(login(BOB, groups=("legal", "sales")))
    assert accounts.set_groups(BOB, ["sales", " board ", "board"]).groups == ("board", "legal", "sales")
    assert accounts.get(BOB).groups_by_login == ("legal",)
    installation.logins.open(login(BOB, groups=("finance",)))
    assert accounts.get(BOB).groups == ("board", "finance", "sales")
    installation.logins.open(login(BOB))
    assert accounts.get(BOB).groups_by_login == ("finance",)
    assert accounts.set_groups(BOB, []).groups == ("finance",)
    for name in ("", " ", "a\nb", "é" * 300):
        with pytest.raises(errors.ValidationError):
            accounts.set_groups(BOB, ["ok", name])


# --- logins ---


def test_a_login_is_open_until_it_is_ended(installation: Installation) -> None:
    here, there = login(BOB, name="Bob"), login(BOB, name="Robert")
    assert installation.logins.open(here)
    assert installation.logins.open(there)
    assert {one.id for one in installation.logins.list(BOB)} == {here.login_id, there.login_id}
    installation.logins.end(BOB, here.login_id)
    assert not installation.logins.open(here)
    assert installation.logins.open(there)
    assert [one.id for one in installation.logins.list(BOB)] == [there.login_id]


def test_an_ended_login_changes_nothing(installation: Installation) -> None:
    accounts, old = installation.accounts, login(BOB, role="admin", groups=("board",))
    assert installation.logins.open(old)
    assert installation.logins.open(login(BOB, name="Bob", role="member", groups=()))
    installation.logins.end(BOB, old.login_id)
    assert not installation.logins.open(old)
    found = accounts.get(BOB)
    assert (found.name, found.role, found.groups) == ("Bob", Role.MEMBER, ())


def test_a_logout_everywhere_ends_logins_not_yet_seen(installation: Installation) -> None:
    seen, unseen = login(BOB), login(BOB)
    others = login(ANN)
    assert installation.logins.open(seen)
    assert installation.logins.open(others)
    installation.logins.end_all(BOB)
    assert not installation.logins.open(seen)
    assert not installation.logins.open(unseen)
    assert not installation.logins.accepts(BOB, unseen.issued_at)
    assert installation.logins.open(others)
    assert installation.logins.accepts(ANN, others.issued_at)
    assert installation.logins.open(login(BOB, ago=-dt.timedelta(seconds=2)))  # the provider gives whole seconds


def test_a_login_ends_with_its_time(installation: Installation) -> None:
    lifetime = installation.config.session_lifetime
    assert not installation.logins.open(login(BOB, ago=lifetime + dt.timedelta(seconds=1)))
    assert installation.logins.open(login(BOB, ago=lifetime - dt.timedelta(minutes=1)))


# --- what admins see ---


def test_everybody_who_owns_something_is_listed(installation: Installation) -> None:
    content = pdfs.plain(["A pear."])
    bob = installation.for_user(BOB)
    kept = bob.documents.add(content, "pear.pdf", enqueue=False)
    bob.documents.trash([kept.id])
    key, secret = installation.for_user("program").keys.create("p", ["read"])
    installation.for_user("program").keys.create("q", ["read"])
    assert installation.authenticate(secret)
    found = {one.user_id: one for one in installation.accounts.list()}
    assert (found[BOB].documents, found[BOB].used_bytes) == (1, len(content))
    assert (found["program"].keys, found["program"].last_seen_at is not None) == (2, True)
    assert {one.name for one in installation.accounts.list_keys()} == {"p", "q"}
    installation.accounts.revoke_key(key.id)
    assert installation.authenticate(secret) is None
    with pytest.raises(errors.NotFoundError):
        installation.accounts.revoke_key(uuid.uuid4())
    with pytest.raises(errors.NotFoundError):
        installation.accounts.find("bobby")


def test_jobs_of_all_are_listed_without_what_was_asked(installation: Installation) -> None:
    for user in (ANN, BOB):
        installation.for_user(user).jobs.start_reindex()
    found = installation.accounts.jobs()
    assert {job.user_id for job in found} == {ANN, BOB}
    assert [job.result for job in found] == [None, None]


# --- quotas ---


def text(number: int, size: int = 300_000) -> bytes:
    """A file of so many bytes that no other is equal to."""
    return (f"{number}: pears" + " pear" * (size // 5)).encode()[:size]


def test_a_quota_refuses_an_upload_and_states_its_figures(installation: Installation) -> None:
    installation.accounts.set_quota(BOB, 1)
    documents = installation.for_user(BOB).documents
    kept = [documents.add(text(number), f"{number}.txt", enqueue=False) for number in range(3)]
    with pytest.raises(errors.QuotaError, match=r"0\.3 MB, and you use 0\.9 of 1\.0 MB") as refused:
        documents.add(text(3), "3.txt", enqueue=False)
    assert dict(refused.value.details) == {"size": 300_000, "used_bytes": 900_000, "quota_bytes": MEGABYTE}
    documents.trash([kept[0].id])
    with pytest.raises(errors.QuotaError):
        documents.add(text(3), "3.txt", enqueue=False)
    with pytest.raises(errors.DuplicateError):  # room is not what it lacks
        documents.add(text(0), "0.txt", enqueue=False)
    documents.purge([kept[0].id])
    documents.add(text(3), "3.txt", enqueue=False)
    documents.add(text(4, 100_000), "4.txt", enqueue=False)  # to the last byte
    assert installation.accounts.storage(BOB).used_bytes == MEGABYTE
    installation.for_user(ANN).documents.add(text(5), "5.txt", enqueue=False)


def test_a_new_version_counts_beside_the_old_one(installation: Installation) -> None:
    installation.accounts.set_quota(BOB, 1)
    documents = installation.for_user(BOB).documents
    first = documents.add(text(0, 600_000), "0.txt", enqueue=False)
    with pytest.raises(errors.QuotaError):
        documents.add(text(1, 600_000), "0.txt", enqueue=False, replaces=first.id)
    documents.add(text(1, 400_000), "0.txt", enqueue=False, replaces=first.id)


def test_concurrent_uploads_do_not_exceed_the_quota(installation: Installation) -> None:
    installation.accounts.set_quota(BOB, 1)
    documents, start = installation.for_user(BOB).documents, threading.Barrier(8)

    def add(number: int) -> bool:
        start.wait()
        try:
            documents.add(text(number), f"{number}.txt", enqueue=False)
        except errors.QuotaError:
            return False
        return True

    documents.list()  # makes the index
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(add, range(8))) == 3
    assert installation.accounts.storage(BOB).used_bytes == 900_000


def test_the_default_quota_applies_without_a_personal_one(database_url: str, tmp_path: Path) -> None:
    settings = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_quota_mb=0)
    with Installation(settings) as installation:
        with pytest.raises(errors.QuotaError):
            installation.for_user(ANN).documents.add(text(0), "0.txt", enqueue=False)
        installation.accounts.set_quota(ANN, 1)
        installation.for_user(ANN).documents.add(text(0), "0.txt", enqueue=False)
        assert installation.accounts.set_quota(ANN, None).quota_bytes == 0
        for megabytes in (-1, 10**12):
            with pytest.raises(errors.ValidationError):
                installation.accounts.set_quota(ANN, megabytes)


def test_folders_and_archives_name_files_beyond_the_quota(installation: Installation, tmp_path: Path) -> None:
    installation.accounts._of(BOB).account.set_quota(2000)
    engine = installation.for_user(BOB)
    (folder := tmp_path / "papers").mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_bytes(text(number, 600))
    report = engine.sync_index(IndexRequest.model_validate({"source": {"folderId": str(folder)}}))
    assert [(file.state, file.code) for file in report.files] == [*[("added", None)] * 3, ("failed", "quota")]
    archive = mails.archive({"pear.txt": text(9, 600)})
    container = engine.documents.process(engine.documents.add(archive, "pears.zip", enqueue=False).id)
    (part,) = container.parts
    assert part.document_id is None
    assert "you use" in str(part.reason)
