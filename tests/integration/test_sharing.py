"""Shared collections: who finds what as long as it is shared, and nothing else of its owner's, whatever is called."""

import dataclasses
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from rag import errors
from rag.store.store import SharedStore, Store, UserStore
from rag.types import ChunkingOptions, Document, DocumentEdit, FollowedDocuments, Matrix, SavedCell, Scope, ShareRequest
from tests.integration import test_store_isolation as strangers
from tests.integration.samples import IN_TRASH, SPACE, Owner, random_vector
from tests.integration.test_store_isolation import (
    FIELDS,
    NOW,
    OTHER_FIELDS,
    REVIEW,
    SECRET_FIELD,
    VICTIM,
    World,
    cell_of,
    lineage_of,
    snapshot,
)

TEXT = "what the whole team knows of Acme"
READER = ShareRequest(grantee="reader")
WRITER = ShareRequest(grantee="writer", permission="write")
GROUP = ShareRequest(grantee_kind="group", grantee="analysts")

world = strangers.world


@dataclasses.dataclass(frozen=True)
class Team:
    """A collection of the victim's that is shared, beside those that are not."""

    owner: Owner
    document: Document
    trashed: Document
    matrix: Matrix

    @property
    def db(self) -> Store:
        return self.owner.db

    def shared(self, asker: str) -> SharedStore:
        return self.db.shared(asker, self.owner.index.id)

    def give(self, asked: ShareRequest) -> None:
        assert self.db.of(VICTIM).shares.share(self.owner.index.id, asked, is_admin=True)

    def withdraw(self, asked: ShareRequest) -> None:
        assert self.db.of(VICTIM).shares.unshare(self.owner.index.id, asked)


def make_team(db: Store) -> Team:
    owner = Owner.of(db, VICTIM, name="team")
    document = owner.ready("known.pdf", [TEXT, "more that is known"])
    trashed = owner.ready("thrown away.pdf", ["what the team threw away"])
    rows, both = db.of(VICTIM).matrices, (document, trashed)
    matrix = rows.create("of the team", FIELDS, [lineage_of(one) for one in both], index_id=owner.index.id)
    rows.put(matrix.id, [(FIELDS[0], cell_of(one, "known to the team")) for one in both])
    rows.start_job(matrix.id, "team", 2)
    rows.save_template("of the team", FIELDS, owner.index.id)
    db.of(VICTIM).documents.trash([trashed.id])
    return Team(owner, document, trashed, rows.get(matrix.id))


@pytest.fixture(scope="module")
def beside(world: World) -> Team:
    """The shared collection of one who has others, too."""
    team = make_team(world.db)
    team.give(READER)
    team.give(WRITER)
    return team


@pytest.fixture
def team(db: Store) -> Team:
    return make_team(db)


@dataclasses.dataclass(frozen=True)
class Through:
    """The database as strangers' calls use it, where `of` gives what is shared with a user."""

    db: Store
    index_id: uuid.UUID

    def of(self, user_id: str) -> UserStore:
        return self.db.of(user_id) if user_id == VICTIM else self.db.shared(user_id, self.index_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)


@dataclasses.dataclass(frozen=True)
class Shared(World):
    """What the victim owns and does not share, to who is shared something else with."""

    through: Through

    @property
    def db(self) -> Store:
        return self.through  # type: ignore[return-value]  # stands in for it


NOT_THROUGH_A_SHARE = {
    "queue.enqueue",
    "queue.enqueue_job",
    "api_keys.create",
    "indexes.ensure",
    "conversations.create",
    "matrices.join_following",
}
"""Cases that make something of the caller's own, which a share has no place for."""


@pytest.mark.parametrize("asker", ["reader", "writer"])
@pytest.mark.parametrize("method", sorted(strangers.CASES.keys() - NOT_THROUGH_A_SHARE))
def test_a_share_reaches_nothing_else_of_its_owner(world: World, beside: Team, method: str, asker: str) -> None:
    before = snapshot(world)  # of what is shared with others, too
    fields = {field.name: getattr(world, field.name) for field in dataclasses.fields(world)}
    seen = Shared(**fields, through=Through(world.db, beside.owner.index.id))
    try:
        found = strangers.CASES[method](seen, asker)
    except (errors.NotFoundError, errors.ForbiddenError):
        found = None
    if isinstance(found, list):  # without what is shared
        found = [one for one in found if beside.owner.index.id not in (vars(one).get("index_id"), vars(one).get("id"))]
    assert not found, f"{method} as {asker}"
    assert snapshot(world) == before


def snapshot_of(team: Team) -> object:
    """What a call could have changed in the shared collection."""
    documents, index_id = team.db.of(VICTIM).documents, team.owner.index.id
    rows = team.db.of(VICTIM).matrices
    matrices = rows.list(), rows.cells(team.matrix.id), rows.templates(), team.db.of(VICTIM).jobs.list()
    return documents.list(index_id), documents.list(index_id, IN_TRASH), team.db.of(VICTIM).shares.list(), matrices


EDITED_FIELDS = [FIELDS[0].model_copy(update={"name": "Their secret"}), FIELDS[1], *OTHER_FIELDS]

NO_PLACE: dict[str, Callable[[SharedStore, Team], object]] = {
    "indexes.ensure": lambda s, _: s.indexes.ensure("team", SPACE, ChunkingOptions(chunk_size_chars=500)),
    "indexes.delete": lambda s, t: s.indexes.delete(t.owner.index.id),
    "api_keys.create": lambda s, _: s.api_keys.create(name="x", digest=b"x", hint="x", permissions=["admin"]),
    "shares.list": lambda s, _: s.shares.list(),
    "shares.share": lambda s, t: s.shares.share(t.owner.index.id, READER, is_admin=True),
    "shares.unshare": lambda s, t: s.shares.unshare(t.owner.index.id, READER),
    "shares.matrices": lambda s, _: s.shares.matrices(),
    "matrices.create": lambda s, t: s.matrices.create("theirs", FIELDS, [], index_id=t.owner.index.id),
    "matrices.edit: name": lambda s, t: s.matrices.edit(t.matrix.id, name="theirs"),
    "matrices.edit: documents": lambda s, t: s.matrices.edit(t.matrix.id, lineage_ids=[]),
    "matrices.edit: following": lambda s, t: s.matrices.edit(
        t.matrix.id, follows=FollowedDocuments(index_id=t.owner.index.id), sets_follows=True
    ),
    "matrices.edit: sharing": lambda s, t: s.matrices.edit(t.matrix.id, fields=EDITED_FIELDS, sets_index=True),
    "matrices.edit: a field less": lambda s, t: s.matrices.edit(t.matrix.id, fields=EDITED_FIELDS[1:]),
    "matrices.put": lambda s, t: s.matrices.put(t.matrix.id, [(FIELDS[0], cell_of(t.document, "theirs"))]),
    "matrices.delete": lambda s, t: s.matrices.delete(t.matrix.id),
    "matrices.open": lambda s, _: s.matrices.open(),
    "matrices.join_following": lambda s, t: s.matrices.join_following([t.document.id]),
    "matrices.save_template": lambda s, t: s.matrices.save_template("of the team", OTHER_FIELDS, t.owner.index.id),
    "matrices.delete_template": lambda s, _: s.matrices.delete_template("of the team"),
    "jobs.list": lambda s, _: s.jobs.list(),
    "jobs.create": lambda s, t: s.jobs.create("matrix", "team", {"matrix_id": str(t.matrix.id)}),
    "jobs.start": lambda s, t: s.jobs.start(_job(t)),
    "jobs.finish": lambda s, t: s.jobs.finish(_job(t), {}),
    "jobs.save_step": lambda s, t: s.jobs.save_step(_job(t), "1", []),
}


@pytest.mark.parametrize("method", NO_PLACE)
@pytest.mark.parametrize("asker", ["reader", "writer"])
def test_what_a_share_has_no_place_for_is_refused(beside: Team, asker: str, method: str) -> None:
    before = snapshot_of(beside)
    with pytest.raises(errors.ForbiddenError):
        NO_PLACE[method](beside.shared(asker), beside)
    assert snapshot_of(beside) == before


READS: dict[str, Callable[[SharedStore, Team], object]] = {
    "documents.get": lambda s, t: s.documents.get(t.document.id),
    "documents.list": lambda s, t: s.documents.list(t.owner.index.id),
    "documents.languages": lambda s, t: s.documents.languages([t.document.id]),
    "documents.page_labels": lambda s, t: s.documents.page_labels([(t.document.id, 1)]),
    "documents.names": lambda s, t: s.documents.names(t.document.id),
    "indexes.find": lambda s, t: s.indexes.find("team"),
    "indexes.get": lambda s, t: s.indexes.get("team"),
    "indexes.list": lambda s, t: s.indexes.list(),
    "indexes.stats": lambda s, t: s.indexes.stats(t.owner.index.id).documents,
    "versions.list": lambda s, t: s.versions.list([t.document.id]),
    "sources.named": lambda s, t: s.sources.named(t.owner.index.id, [str(t.document.id)])[str(t.document.id)],
    "sources.resolve": lambda s, t: s.sources.resolve(t.owner.index.id, ["known.pdf"]),
    "chunks.dense": lambda s, t: s.chunks.dense(Scope(index_id=t.owner.index.id), SPACE, random_vector(TEXT), 5),
    "chunks.lexical": lambda s, t: s.chunks.lexical(Scope(index_id=t.owner.index.id), TEXT, 5).chunks,
    "chunks.of_document": lambda s, t: s.chunks.of_document(t.document.id),
    "chunks.get": lambda s, t: s.chunks.get([_chunk(t)]),
    "chunks.find": lambda s, t: s.chunks.find(_chunk(t)),
    "chunks.vectors": lambda s, t: s.chunks.vectors([_chunk(t)]),
    "chunks.in_scope": lambda s, t: s.chunks.in_scope(Scope(index_id=t.owner.index.id), [_chunk(t)]),
    "chunks.with_words": lambda s, t: s.chunks.with_words(t.owner.index.id, "whole team", 5),
    "chunks.page_lines": lambda s, t: s.chunks.page_lines([(t.document.id, 1)]),
    "matrices.list": lambda s, _: s.matrices.list(),
    "matrices.get": lambda s, t: s.matrices.get(t.matrix.id),
    "matrices.documents": lambda s, t: s.matrices.documents([lineage_of(t.document)]),
    "matrices.lineages": lambda s, t: s.matrices.lineages([t.document.id]),
    "matrices.cells": lambda s, t: s.matrices.cells(t.matrix.id),
    "matrices.compared": lambda s, t: s.matrices.compared(t.matrix.id, [SECRET_FIELD]),
    "matrices.rows": lambda s, t: s.matrices.rows(t.matrix, ""),
    "matrices.templates": lambda s, _: s.matrices.templates(),
    "jobs.get": lambda s, t: s.jobs.get(_job(t)),
}
"""What a share is for."""


def _chunk(team: Team) -> uuid.UUID:
    return team.db.of(VICTIM).chunks.of_document(team.document.id)[0].id


def _job(team: Team) -> uuid.UUID:
    assert team.matrix.job_id
    return team.matrix.job_id


@pytest.mark.parametrize("asker", ["reader", "writer", "analyst"])
def test_a_shared_collection_is_readable_until_unshared(team: Team, database_url: str, asker: str) -> None:
    asked = {"reader": READER, "writer": WRITER, "analyst": GROUP}[asker]
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO accounts (user_id) VALUES ('analyst')")
        connection.execute("INSERT INTO memberships VALUES ('analyst', 'analysts')")
    with pytest.raises(errors.NotFoundError):
        team.shared(asker)
    team.give(asked)
    opened = team.shared(asker)

    assert [shared.index.id for shared in team.db.of(asker).shares.shared_with_me()] == [team.owner.index.id]
    assert team.db.of(asker).shares.holding(team.document.id) == team.owner.index.id
    assert [(one.id, one.permission) for one in team.db.of(asker).shares.matrices()] == [
        (team.matrix.id, asked.permission)
    ]
    for method, call in READS.items():
        assert call(opened, team), method

    team.withdraw(asked)

    assert not team.db.of(asker).shares.shared_with_me() + team.db.of(asker).shares.matrices()
    for method, call in READS.items():
        with pytest.raises(errors.NotFoundError):
            assert call(opened, team) is None, method  # an engine that was opened before is no way round


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM memberships WHERE user_id = 'analyst'",
        "DELETE FROM accounts WHERE user_id = 'analyst'",
        f"DELETE FROM accounts WHERE user_id = '{VICTIM}'",
        f"DELETE FROM indexes WHERE user_id = '{VICTIM}' AND name = 'team'",
    ],
)
def test_a_share_ends_with_the_membership_the_account_and_the_collection(
    team: Team, database_url: str, statement: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(f"INSERT INTO accounts (user_id) VALUES ('analyst'), ('{VICTIM}') ON CONFLICT DO NOTHING")
        connection.execute("INSERT INTO memberships VALUES ('analyst', 'analysts')")
    team.give(GROUP)
    opened = team.shared("analyst")
    assert opened.documents.get(team.document.id).id == team.document.id

    with psycopg.connect(database_url) as connection:
        connection.execute(statement)

    with pytest.raises(errors.NotFoundError):
        opened.documents.get(team.document.id)
    with pytest.raises(errors.NotFoundError):
        team.shared("analyst")


def test_the_trash_is_not_for_readers(team: Team) -> None:
    team.give(READER)
    reader = team.shared("reader")
    assert reader.documents.list(team.owner.index.id, IN_TRASH) == []
    assert reader.indexes.stats(team.owner.index.id).documents_in_trash == 0
    assert reader.chunks.with_words(team.owner.index.id, "threw away", 5) == []
    with pytest.raises(errors.NotFoundError):
        reader.documents.get(team.trashed.id)
    with pytest.raises(errors.NotFoundError):
        team.db.of("reader").shares.holding(team.trashed.id)
    assert team.db.of(VICTIM).chunks.with_words(team.owner.index.id, "threw away", 5)


def test_a_former_writer_does_not_see_the_trash(team: Team) -> None:
    team.give(WRITER)
    opened = team.shared("writer")
    assert opened.documents.get(team.trashed.id).id == team.trashed.id
    team.give(WRITER.model_copy(update={"permission": "read"}))
    with pytest.raises((errors.ForbiddenError, errors.NotFoundError)):
        opened.documents.get(team.trashed.id)
    with pytest.raises(errors.NotFoundError):
        opened.documents.get(team.trashed.id)


@pytest.mark.parametrize("role", [None, "member", "curator", "admin"])
def test_curators_and_admins_share(team: Team, database_url: str, role: str | None) -> None:
    if role:
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "INSERT INTO accounts (user_id, role) VALUES (%s, %s) ON CONFLICT (user_id) DO UPDATE "
                "SET role = excluded.role",
                [VICTIM, role],
            )
    given = team.db.of(VICTIM).shares.share(team.owner.index.id, READER)
    assert given is (role in {"curator", "admin"})
    assert bool(team.db.of("reader").shares.shared_with_me()) is given


def test_nobody_shares_what_is_not_theirs(team: Team) -> None:
    assert not team.db.of("reader").shares.share(team.owner.index.id, READER, is_admin=True)
    assert not team.db.of("reader").shares.unshare(team.owner.index.id, READER)
    assert team.db.of("reader").shares.shared_with_me() == []


def test_a_chat_over_a_shared_collection_outlives_it(team: Team) -> None:
    team.give(READER)
    reader = team.shared("reader")
    kept = reader.conversations.create(team.owner.index.id, title="about the team")
    assert (kept.user_id, kept.index_owner) == ("reader", VICTIM)
    assert team.db.of(VICTIM).conversations.list(team.owner.index.id) == []
    own = Owner.of(team.db, "reader")
    assert team.db.of("reader").conversations.list(own.index.id, with_lost=True) == []

    team.withdraw(READER)
    with pytest.raises(errors.NotFoundError):
        reader.conversations.create(team.owner.index.id, title="another")
    team.db.of(VICTIM).indexes.delete(team.owner.index.id)
    left = team.db.of(VICTIM).matrices
    assert [one.index_id for one in left.list()] + [one.index_id for one in left.templates()] == [None, None]

    assert team.db.of("reader").conversations.get(kept.id) == kept
    assert team.db.of("reader").conversations.list(own.index.id, with_lost=True) == [kept]


WRITES: dict[str, Callable[[SharedStore, Team], object]] = {
    "documents.trash": lambda s, t: s.documents.trash([t.document.id]),
    "documents.restore": lambda s, t: s.documents.restore([t.trashed.id]),
    "documents.edit": lambda s, t: s.documents.edit(t.document.id, DocumentEdit(title="theirs")),
    "documents.tag": lambda s, t: s.documents.tag([t.document.id], added=["theirs"], removed=[]),
    "chunks.refresh_front": lambda s, t: s.chunks.refresh_front(t.document.id, "theirs"),
    "documents.add": lambda s, t: s.documents.add(
        t.owner.index.id, document_id=uuid.uuid4(), name="new", mime_type="text/plain", sha256="new", size=1
    ),
    "documents.enqueue": lambda s, t: s.documents.enqueue(t.document.id),
    "documents.resume": lambda s, t: s.documents.resume(t.document.id),
    "sources.set_upload_key": lambda s, t: s.sources.set_upload_key(t.document.id, "key"),
    "matrices.review": lambda s, t: _review(s, t.matrix, t.document),
    "matrices.edit": lambda s, t: s.matrices.edit(t.matrix.id, fields=EDITED_FIELDS),
    "matrices.set_pilot": lambda s, t: s.matrices.set_pilot(t.matrix.id, 1),
    "matrices.start_job": lambda s, t: s.matrices.start_job(t.matrix.id, "team", 2),
    "jobs.cancel": lambda s, t: s.jobs.cancel(_job(t)),
}
"""What a writer may."""


def _review(store: UserStore, matrix: Matrix, document: Document) -> SavedCell:
    return store.matrices.review(matrix.id, lineage_of(document), SECRET_FIELD, REVIEW, seen_at=None)


@pytest.mark.parametrize("method", WRITES)
def test_writers_write_and_readers_do_not(team: Team, method: str) -> None:
    team.give(READER)
    team.give(WRITER)
    before = snapshot_of(team)
    with pytest.raises((errors.ForbiddenError, errors.NotFoundError)):
        WRITES[method](team.shared("reader"), team)
    assert snapshot_of(team) == before

    writer = team.shared("writer")
    WRITES[method](writer, team)
    team.withdraw(WRITER)
    with pytest.raises(errors.NotFoundError):
        WRITES[method](writer, team)


def test_nobody_but_the_owner_purges(team: Team) -> None:
    team.give(WRITER)
    with pytest.raises(errors.ForbiddenError):
        team.shared("writer").documents.purge([team.trashed.id])
    assert team.db.of(VICTIM).documents.get(team.trashed.id).deleted_at


def test_keys_of_uploads_are_not_the_owners(team: Team) -> None:
    team.give(WRITER)
    writer = team.shared("writer")
    team.db.of(VICTIM).sources.set_upload_key(team.document.id, "key")
    assert writer.sources.find_by_upload_key("key") is None
    writer.sources.set_upload_key(team.trashed.id, "key")
    mine, theirs = team.db.of(VICTIM).sources.find_by_upload_key("key"), writer.sources.find_by_upload_key("key")
    assert mine is not None
    assert mine.id == team.document.id
    assert theirs is not None
    assert theirs.id == team.trashed.id


# --- matrices ---


def test_what_the_owner_alone_may_know_is_not_shown_in_a_shared_matrix(team: Team) -> None:
    """A document of another collection, or one that was moved there, and the trash."""
    rows = team.db.of(VICTIM).matrices
    private = Owner.of(team.db, VICTIM, name="private")
    secret, moved = private.ready("secret.pdf", ["a secret"]), team.owner.ready("moved.pdf", ["moved away"])
    lineages = [*team.matrix.lineage_ids, lineage_of(secret), lineage_of(moved)]
    rows.edit(team.matrix.id, lineage_ids=lineages)
    rows.put(team.matrix.id, [(FIELDS[0], cell_of(one, "a secret answer")) for one in (secret, moved)])
    team.db.of(VICTIM).documents.move([moved.id], private.index.id)
    assert len(rows.cells(team.matrix.id)) == 4
    before = cell_of(team.trashed, "of a version in the trash")
    for cell in (before.model_copy(update={"lineage_id": lineage_of(team.document)}), cell_of(team.document, "known")):
        rows.put(team.matrix.id, [(FIELDS[0], cell)])
    for asked in (READER, WRITER):
        team.give(asked)
        shared = team.shared(asked.grantee)
        shown = {cell.cell.document_id for cell in shared.matrices.cells(team.matrix.id)}
        assert shown == {team.document.id, *([team.trashed.id] if asked is WRITER else [])}
        compared = shared.matrices.compared(team.matrix.id, [SECRET_FIELD])
        assert {cell.cell.document_id for cell in compared} == shown
        known = shared.matrices.cells(team.matrix.id, lineage_ids=[lineage_of(team.document)])
        for one in (*known, *(one for one in compared if one.cell.document_id == team.document.id)):
            assert (one.previous and one.previous.value) == (before.value if asked is WRITER else None)
        assert {*shared.matrices.rows(team.matrix, "")} == {lineage_of(team.document)}
        assert {*shared.matrices.lineages([secret.id, moved.id, *shown])} == shown
        assert [one.id for one in shared.matrices.documents(lineages)] == [team.document.id]
        for document in (secret, moved):
            with pytest.raises((errors.NotFoundError, errors.ForbiddenError)):
                shared.matrices.review(team.matrix.id, lineage_of(document), SECRET_FIELD, REVIEW, seen_at=NOW)
    assert not any(cell.review for cell in rows.cells(team.matrix.id))


@pytest.mark.parametrize("is_shared", [False, True])
def test_other_matrices_and_jobs_of_the_owner_are_not_reached(team: Team, is_shared: bool) -> None:
    """Neither those that are not shared, nor those of a collection that the writer does not have."""
    owner, elsewhere = team.db.of(VICTIM), Owner.of(team.db, VICTIM, name="private")
    team.give(WRITER)
    writer = team.shared("writer")
    job = owner.jobs.create("reindex", "team", {"matrix_id": str(team.matrix.id)})
    index_id = elsewhere.index.id if is_shared else None
    hidden = owner.matrices.create("hidden", FIELDS, [lineage_of(team.document)], index_id=index_id)
    owner.matrices.put(hidden.id, [(FIELDS[0], cell_of(team.document, "a secret answer"))])
    filling = owner.matrices.start_job(hidden.id, "team", 1)
    owner.matrices.save_template("hidden", FIELDS, index_id)
    assert [one.id for one in writer.matrices.list()] == [team.matrix.id]
    assert [one.id for one in team.db.of("writer").shares.matrices()] == [team.matrix.id]
    assert [one.name for one in writer.matrices.templates()] == ["of the team"]
    assert writer.matrices.cells(hidden.id) == []
    calls: list[Callable[[], object]] = [
        lambda: writer.matrices.get(hidden.id),
        lambda: writer.matrices.set_pilot(hidden.id, 1),
        lambda: writer.matrices.edit(hidden.id, fields=EDITED_FIELDS),
        lambda: writer.matrices.start_job(hidden.id, "team", 1),
        lambda: _review(writer, hidden, team.document),
        lambda: writer.jobs.cancel(filling.id),
        lambda: writer.jobs.get(job.id),
        lambda: writer.jobs.cancel(job.id),
    ]
    for call in calls:
        with pytest.raises(errors.NotFoundError):
            call()
    assert owner.matrices.get(hidden.id).fields == (*FIELDS,)
    assert not owner.matrices.cells(hidden.id)[0].is_outdated
    assert {one.status for one in owner.jobs.list()} == {"queued"}


def test_a_writer_edits_fields_and_their_values_become_out_of_date(team: Team) -> None:
    """Those of documents that the writer may not see, too: the field means something else."""
    owner, private = team.db.of(VICTIM), Owner.of(team.db, VICTIM, name="private")
    moved = team.owner.ready("moved.pdf", ["moved away"])
    owner.matrices.edit(team.matrix.id, lineage_ids=[*team.matrix.lineage_ids, lineage_of(moved)])
    owner.matrices.put(team.matrix.id, [(FIELDS[0], cell_of(moved, "a secret answer"))])
    owner.documents.move([moved.id], private.index.id)
    seen = owner.matrices.get(team.matrix.id).edited_at
    team.give(WRITER)
    edited = team.shared("writer").matrices.edit(team.matrix.id, fields=EDITED_FIELDS, seen_at=seen)
    assert owner.matrices.get(team.matrix.id) == edited
    assert edited.fields == (*EDITED_FIELDS,)
    assert [one.is_outdated for one in owner.matrices.cells(team.matrix.id)] == [True] * 3
    with pytest.raises(errors.ConflictError):
        owner.matrices.edit(team.matrix.id, fields=FIELDS, seen_at=seen)


def test_an_edit_that_changes_nothing_is_none(team: Team) -> None:
    """The form that another user has open can still be saved."""
    team.give(WRITER)
    owner, writer = team.db.of(VICTIM), team.shared("writer")
    before = owner.matrices.get(team.matrix.id)
    assert writer.matrices.edit(before.id) == before
    same: dict[str, Any] = {"name": before.name, "fields": [*before.fields], "lineage_ids": [*before.lineage_ids]}
    everything = {**same, "follows": before.follows, "sets_follows": True, "index_id": before.index_id}
    assert owner.matrices.edit(before.id, **everything, sets_index=True) == before
    assert owner.matrices.get(before.id) == before
    owner.matrices.edit(before.id, **{**same, "name": "of all of us"}, seen_at=before.edited_at)
    assert [one for one in owner.audit.list() if one.subject_kind == "matrix"] == []
    writer.matrices.edit(before.id, fields=before.fields[::-1])
    (told,) = (one for one in owner.audit.list() if one.subject_kind == "matrix")
    assert told.details == {"field": sorted(one.name for one in before.fields), "shared": True}


def test_the_audit_names_who_edited_filled_and_decided_about_a_shared_matrix(team: Team) -> None:
    team.give(WRITER)
    owner, writer = team.db.of(VICTIM), team.shared("writer")
    writer.matrices.edit(team.matrix.id, fields=EDITED_FIELDS)
    writer.matrices.start_job(team.matrix.id, "team", 2, is_asked=True)
    decided = _review(writer, team.matrix, team.document).review
    assert decided
    assert decided == REVIEW.model_copy(update={"sha256": team.document.sha256})  # what is there, whatever was seen
    (saved,) = owner.matrices.cells(team.matrix.id, lineage_ids=[lineage_of(team.document)])
    assert saved.review == decided
    hidden = owner.matrices.create("hidden", FIELDS, [lineage_of(team.document)])
    owner.matrices.put(hidden.id, [(FIELDS[0], cell_of(team.document, "a secret answer"))])
    _review(owner, hidden, team.document)

    told = [one for one in owner.audit.list() if one.subject_kind == "matrix"]
    assert [(one.actor, one.action, one.owner, one.subject_name) for one in told] == [
        ("writer", "matrix.review", VICTIM, "of the team"),
        ("writer", "matrix.fill", VICTIM, "of the team"),
        ("writer", "matrix.edit", VICTIM, "of the team"),
    ]
    assert told[2].details == {"field": ["Secret", "Their secret", "What is it?"], "shared": True}
    decision = {"document_id": str(team.document.id), "field": EDITED_FIELDS[0].name, "decision": "corrected"}
    assert told[0].details == {**decision, "shared": True}
