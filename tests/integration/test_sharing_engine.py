"""Engines of shared collections: what a reader and a writer can do with real documents, and when that ends."""

import datetime as dt
import inspect
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from rag import errors, worker
from rag.config import load_config
from rag.engine import Installation, RAGEngine, to_csv
from rag.types import AuditEntry, Document, DocumentEdit, DocumentQuery, FilledMatrix, Matrix, Rect, Role, TextBlock

SECRET = "The merger of Acme with Borealis is planned for the eleventh of March."
KNOWN = "The harbour of Lindmark was dredged to a depth of fourteen metres."
QUESTION = "How deep is the harbour of Lindmark?"


class Team(NamedTuple):
    """An owner with a shared collection and what is not shared."""

    owner: RAGEngine
    index_id: uuid.UUID
    known: Document
    secret: Document
    trashed: Document

    def opened(self, asker: str) -> RAGEngine:
        return self.owner.installation.for_user(asker).for_index(str(self.index_id))


@pytest.fixture(scope="module")
def team(module_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    config = load_config(rag_data_dir=tmp_path_factory.mktemp("data"), rag_database_url=module_url)
    with Installation(config) as installation:
        owner = installation.for_user("local")
        secret = add(owner, "secret.txt", SECRET, "default")
        known = add(owner, "known.txt", KNOWN, "team")
        trashed = add(owner, "old.txt", "What the team threw away.", "team")
        owner.documents.trash([trashed.id])
        for grantee, permission in (("reader", "read"), ("writer", "write")):
            owner.sharing.share({"grantee": grantee, "permission": permission}, "team")
        index_id = owner.sharing.list("team")[0].index_id
        yield Team(owner, index_id, known, secret, trashed)


def add(engine: RAGEngine, name: str, text: str, index_name: str) -> Document:
    document = engine.documents.add(text.encode(), name, index_name=index_name, enqueue=False)
    block = TextBlock(page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text=text)
    return engine.index_document(document.id, [block])


def test_a_reader_searches_asks_and_keeps_the_chat(team: Team) -> None:
    reader = team.owner.installation.for_user("reader")
    for name in (str(team.index_id), "shared:team"):
        found = reader.search({"index_name": name, "query": QUESTION})
        assert [hit.document_name for hit in found.results] == ["known.txt"]
        assert "fourteen" in reader.answer({"index_name": name, "question": QUESTION}).answer
    with pytest.raises(errors.NotFoundError):
        reader.search({"index_name": "team", "query": QUESTION})  # a name alone is one's own

    shared = reader.for_document(team.known.id)
    assert shared.files.original(team.known.id).read_bytes() == KNOWN.encode()
    chat = shared.chats.start("The harbour")
    shared.chats.ask(chat.id, QUESTION)
    assert [own.id for own in shared.chats.list()] == [chat.id]
    assert not team.owner.chats.list("team")
    with pytest.raises(errors.NotFoundError):
        team.owner.chats.get(chat.id)


def test_no_other_collection_of_the_owner_opens_from_a_shared_one(team: Team) -> None:
    reader = team.opened("reader")
    other = team.owner.indexes.ensure("private").id
    for call in (
        lambda: reader.for_collection(str(other)),
        lambda: reader.for_collection("private"),
        lambda: reader.for_document(team.secret.id),
        lambda: reader._workspace.narrow(other),
        lambda: reader._workspace.open_shared(other),
    ):
        with pytest.raises(errors.NotFoundError):
            call()
    assert [document.id for document in reader.for_collection(str(team.index_id)).documents.list()] == [team.known.id]


def test_a_readers_notes_are_theirs_alone(team: Team) -> None:
    place = {"regions": [{"page_number": 1, "rects": [(0, 0, 9, 9)]}], "quote": "fourteen metres", "note": "Ask them."}
    reader = team.opened("reader")
    shared, rows = reader.annotations, reader.store.annotations
    kept = shared.add(team.known.id, place)
    assert rows.list(team.known.id) == [kept]
    assert shared.edit(team.known.id, kept.id, "Asked.").note == "Asked."
    assert not team.owner.store.annotations.list(team.known.id)
    assert not team.opened("writer").store.annotations.list(team.known.id)
    with pytest.raises(errors.NotFoundError):
        team.owner.store.annotations.delete(team.known.id, kept.id)
    with pytest.raises(errors.NotFoundError):
        shared.add(team.secret.id, place)
    rows.delete(team.known.id, kept.id)
    assert not rows.list(team.known.id)


def test_what_is_withdrawn_is_gone_from_open_engines_and_old_answers_keep_their_quotes_only(team: Team) -> None:
    team.owner.sharing.share({"grantee": "guest"}, "team")
    guest = team.owner.installation.for_user("guest")
    shared = guest.for_index(str(team.index_id))
    chat = shared.chats.start("The harbour")
    answer = shared.chats.ask(chat.id, QUESTION).response
    assert answer
    assert any("fourteen" in (citation.quote or "") for citation in answer.citations)

    team.owner.sharing.unshare({"grantee": "guest"}, "team")

    for call in (
        lambda: shared.search({"query": QUESTION}),
        lambda: shared.answer({"question": QUESTION}),
        lambda: shared.chats.ask(chat.id, QUESTION),
        lambda: shared.files.original(team.known.id),
        lambda: shared.pages.text(team.known.id, [1]),
        lambda: guest.for_document(team.known.id),
        lambda: guest.for_index("shared:team"),
    ):
        with pytest.raises(errors.NotFoundError):
            call()
    assert [own.id for own in guest.chats.list()] == [chat.id]
    kept = guest.chats.messages(chat.id)[-1]
    assert kept.content == answer.answer
    assert kept.response
    assert kept.response.citations == answer.citations
    quoted = {line.number for citation in answer.citations for line in citation.lines}
    for hit in kept.response.contexts:
        assert not any(line.text for line in hit.passage.lines if line.number not in quoted)


Call = Callable[[RAGEngine, Document], object]

REACHES: dict[str, Call] = {
    "documents.get": lambda e, d: e.documents.get(d.id),
    "documents.retry": lambda e, d: e.documents.retry(d.id),
    "documents.overview": lambda e, d: e.documents.overview(d.id),
    "documents.improve_overview": lambda e, d: e.documents.improve_overview(d.id),
    "documents.estimate_overview": lambda e, d: e.documents.estimate_overview(d.id),
    "documents.process": lambda e, d: e.documents.process(d.id, again=True),
    "documents.unlock": lambda e, d: e.documents.unlock(d.id, "password"),
    "documents.cancel": lambda e, d: e.documents.cancel([d.id]),
    "documents.read_pictures": lambda e, d: e.documents.read_pictures(d.id),
    "documents.trash": lambda e, d: e.documents.trash([d.id]),
    "documents.restore": lambda e, d: e.documents.restore([d.id]),
    "documents.purge": lambda e, d: e.documents.purge([d.id]),
    "documents.add": lambda e, d: e.documents.add(b"new", "new.txt", replaces=d.id),
    "documents.upload": lambda e, d: e.documents.upload(b"new", "new.txt", replaces=d.id),
    "documents.list": lambda e, d: [one for one in e.documents.list() if one.id == d.id],
    "tables.list": lambda e, d: e.tables.list(d.id),
    "tables.query": lambda e, d: e.tables.query(d.id, sql="SELECT 1"),
    "tables.read": lambda e, d: e.tables.read(d.id),
    "tables.answer": lambda e, d: e.tables.read(d.id),  # which gives the table that is asked
    "tables.ask_model": lambda e, d: e.tables.read(d.id),  # which gives the tables that are chosen from
    "files.original": lambda e, d: e.files.original(d.id),
    "files.rendition": lambda e, d: e.files.rendition(d.id),
    "files.download": lambda e, d: e.files.download(d.id),
    "files.archive": lambda e, d: e.files.archive([d.id]),
    "documents.attachments": lambda e, d: e.documents.attachments(d.id),
    "versions.list": lambda e, d: e.versions.list(d.id),
    "versions.before": lambda e, d: e.versions.before(d.id),
    "versions.diff": lambda e, d: e.versions.diff(d.id, d.id),
    "versions.make_current": lambda e, d: e.versions.make_current(d.id),
    "pages.text": lambda e, d: e.pages.text(d.id, [1]).lines,
    "pages.image": lambda e, d: e.pages.image(d.id, 1),
    "chunks.of_document": lambda e, d: e.store.chunks.of_document(d.id),
    "documents.edit": lambda e, d: e.documents.edit(d.id, DocumentEdit(title="theirs")),
    "documents.tag": lambda e, d: e.documents.tag([d.id], add=["theirs"]),
    "documents.ids": lambda e, d: d.id in e.documents.ids(),
    "documents.count": lambda e, d: e.documents.count(DocumentQuery(search=d.name)),
    "documents.tags": lambda e, _: e.documents.tags(),
    "documents.move": lambda e, d: e.documents.move([d.id], "another"),
    "keys.list": lambda e, _: e.store.api_keys.list(),
    "keys.create": lambda e, _: e.keys.create("theirs", ["admin"]),
    "jobs.list": lambda e, _: e.store.jobs.list(),
    "sharing.list": lambda e, _: e.sharing.list(),
    "sharing.share": lambda e, _: e.sharing.share({"grantee": "another"}),
    "sharing.unshare": lambda e, _: e.sharing.unshare({"grantee": "reader"}),
    "audit.forget": lambda e, d: e.audit.forget(d.created_at),
    "indexes.ensure": lambda e, _: e.indexes.ensure("another"),
    "delete": lambda e, d: e.delete([d.id])["deleted_ids"],
    "index_document": lambda e, d: e.index_document(d.id, []),
    "inspect_index": lambda e, _: e.inspect_index("another"),
    "search": lambda e, d: e.search({"query": SECRET, "retrieval": {"filters": {"document_ids": [d.id]}}}).results,
}
"""Calls on what is not shared: each must be refused, or give nothing."""


@pytest.mark.parametrize("asker", ["reader", "writer"])
@pytest.mark.parametrize("method", REACHES)
def test_nothing_else_of_the_owner_is_reached(team: Team, method: str, asker: str) -> None:
    before = state(team.owner)
    try:
        found = REACHES[method](team.opened(asker), team.secret)
    except (errors.NotFoundError, errors.ForbiddenError, errors.ValidationError):
        found = None
    assert not found
    assert state(team.owner) == before


def state(owner: RAGEngine) -> Any:
    indexes = owner.indexes.list()
    return [owner.documents.list(index.name, in_trash=trash) for index in indexes for trash in (False, True)], (
        owner.sharing.list(),
        owner.store.api_keys.list(),
    )


def test_every_call_on_documents_is_tried(team: Team) -> None:
    nouns = {"documents": team.owner.documents, "files": team.owner.files, "tables": team.owner.tables}
    public = {
        f"{noun}.{name}"
        for noun, part in nouns.items()
        for name, _ in inspect.getmembers(type(part), callable)
        if not name.startswith("_")
    }
    assert public - {"documents.fetch"} <= REACHES.keys()  # which takes in a file, as `documents.add` does


def test_a_writer_uploads_renames_tags_trashes_and_restores(team: Team) -> None:
    writer = team.opened("writer")
    added = writer.documents.add(b"Added by the writer.", "added.txt")
    assert (added.user_id, added.index_id) == ("local", team.index_id)
    assert team.owner.documents.get(added.id).name == "added.txt"
    assert writer.documents.edit(added.id, {"name": "renamed.txt"}).name == "renamed.txt"
    assert writer.documents.edit(team.known.id, {"title": "The harbour"}).title == "The harbour"
    assert writer.documents.tag([added.id], add=["mine"]) == [added.id]
    assert writer.documents.trash([added.id]) == [added.id]
    assert writer.documents.restore([added.id]) == [added.id]
    assert writer.documents.trash([added.id]) == [added.id]
    with pytest.raises(errors.ForbiddenError):
        writer.documents.purge([added.id])
    assert team.owner.documents.purge([added.id]).document_ids == (added.id,)

    told = [(entry.actor, entry.action) for entry in team.owner.audit.list() if entry.subject_id == str(added.id)]
    assert told == [("local", "document.purge")] + [
        ("writer", f"document.{action}") for action in ("trash", "restore", "trash", "upload")
    ]


def test_when_a_document_was_purged_is_told_to_its_owner_alone(team: Team) -> None:
    gone = add(team.owner, "gone.txt", "What the team will throw away for good.", "team")
    before = dt.datetime.now(dt.UTC)
    team.owner.documents.trash([gone.id])
    team.owner.documents.purge([gone.id])
    with pytest.raises(errors.PurgedError) as told:
        team.owner.documents.get(gone.id)
    assert before <= told.value.purged_at <= dt.datetime.now(dt.UTC)
    with pytest.raises(errors.PurgedError):
        team.owner.for_document(gone.id)
    assert "throw away" not in str(told.value.details)
    stranger = team.owner.installation.for_user("stranger")
    for other in (stranger, team.opened("reader"), team.opened("writer")):
        for look in (other.documents.get, other.for_document):
            with pytest.raises(errors.NotFoundError) as refused:
                look(gone.id)
            assert not isinstance(refused.value, errors.PurgedError)


def test_no_cell_of_the_audit_is_a_formula(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\t=1", "plain"]
    entries = [
        AuditEntry(id=1, at="2026-01-01T00:00:00Z", actor="a", action="b", owner="a", subject_name=name)
        for name in names
    ]
    cells = [row.split(",")[4] for row in to_csv(entries).splitlines()[1:]]
    assert cells == [f"'{name}" for name in names[:-1]] + ["plain"]


def test_who_may_share_sees_whom_with_and_nobody_else_does(team: Team) -> None:
    installation = team.owner.installation
    curator, member = installation.for_user("curator"), installation.for_user("member")
    installation.accounts.set_role("curator", Role.CURATOR)
    installation.accounts.set_groups("member", ["legal"])

    found = [(one.kind, one.id) for one in curator.sharing.colleagues()]
    assert {("user", "member"), ("group", "legal")} <= {*found}
    assert ("user", "curator") not in found
    assert [kind for kind, _ in found] == sorted((kind for kind, _ in found), reverse=True)
    assert member.sharing.colleagues() == []


def test_what_readers_noted_goes_with_the_document(team: Team, module_url: str) -> None:
    document = add(team.owner, "noted.txt", "The quay is closed in winter.", "team")
    place = {"regions": [{"page_number": 1, "rects": [[72, 72, 200, 90]]}], "note": "closed!"}
    team.opened("reader").annotations.add(document.id, place)
    team.owner.documents.trash([document.id])
    assert notes_on(document, module_url) == 1
    team.owner.documents.purge([document.id])
    assert notes_on(document, module_url) == 0


def notes_on(document: Document, url: str) -> int:
    """How many notes of all users are there, whoever may still read the document."""
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM annotations WHERE document_id = %s", [document.id])
        return int((found.fetchone() or (0,))[0])


# --- matrices ---

DEPTH = {"name": "Depth", "instruction": "To what depth was the harbour dredged?"}


@pytest.fixture
def matrix(team: Team) -> Iterator[Matrix]:
    """A matrix that is shared with the collection, and filled; its job has ended."""
    created = shared_matrix(team, [team.known])
    worker.run(team.owner.installation, wait=False)
    yield created
    team.owner.matrices.delete(created.id)


def shared_matrix(team: Team, documents: Sequence[Document], **request: object) -> Matrix:
    ids = [document.id for document in documents]
    return team.owner.matrices.create(
        {"name": "Harbours", "document_ids": ids, "fields": [DEPTH], "index_name": "team", **request}
    )


def opened_by(team: Team, user: str, matrix: Matrix) -> RAGEngine:
    return team.owner.installation.for_user(user).for_matrix(matrix.id)


def decide(engine: RAGEngine, filled: FilledMatrix, state: str, **request: object) -> FilledMatrix:
    cell = filled.cells[0]
    seen = cell.review and cell.review.reviewed_at
    place = (filled.matrix.id, cell.cell.lineage_id, cell.cell.field_id)
    engine.matrices.review(*place, {"state": state, "seen_at": seen, **request})
    return engine.matrices.get(filled.matrix.id)


def test_colleagues_review_one_matrix_and_see_who_decided(team: Team, matrix: Matrix, module_url: str) -> None:
    with psycopg.connect(module_url) as connection:
        connection.execute("INSERT INTO accounts (user_id, name) VALUES ('writer', 'Wanda') ON CONFLICT DO NOTHING")
        connection.execute("UPDATE accounts SET name = 'Wanda' WHERE user_id = 'writer'")
    writer, owner = opened_by(team, "writer", matrix), team.owner
    seen = writer.matrices.get(matrix.id)
    assert (seen.cells[0].cell.state, seen.permission, seen.matrix.user_id) == ("found", "write", "local")
    corrected = decide(writer, seen, "corrected", value="14 metres")
    review = owner.matrices.get(matrix.id).cells[0].review
    assert review == corrected.cells[0].review
    assert review
    assert (review.value, review.reviewed_by, review.reviewer) == ("14 metres", "writer", "Wanda")
    with pytest.raises(errors.ConflictError):  # who looked before that
        decide(owner, seen, "accepted")
    again = decide(owner, owner.matrices.get(matrix.id), "accepted").cells[0].review
    assert again
    assert (again.reviewed_by, again.reviewer) == ("local", None)
    assert opened_by(team, "reader", matrix).matrices.get(matrix.id).cells[0].review == again


def test_a_job_that_a_colleague_starts_is_the_owners(team: Team) -> None:
    matrix = shared_matrix(team, [team.known], pilot=1)
    team.owner.matrices.cancel(matrix.id)
    writer = opened_by(team, "writer", matrix)
    job = writer.matrices.fill(matrix.id, {"pilot": None})
    assert (job.user_id, job.kind) == ("local", "matrix")
    assert writer.matrices.fill(matrix.id).id == job.id
    assert team.owner.installation.for_user("writer").store.jobs.list() == []
    worker.run(team.owner.installation, wait=False)
    filled = writer.matrices.get(matrix.id)
    assert filled.job
    assert (filled.job.id, filled.job.status, filled.matrix.pilot) == (job.id, "done", None)
    assert "fourteen" in str(filled.cells[0].cell.value)
    actors = [one.actor for one in team.owner.audit.list() if one.subject_id == str(matrix.id)]
    assert actors == ["writer"]
    writer.matrices.fill(matrix.id)
    stopped = writer.matrices.cancel(matrix.id)
    assert stopped
    assert stopped.status == "cancelled"
    team.owner.matrices.delete(matrix.id)


def test_who_ends_a_pilot_while_it_is_filled_is_audited(team: Team) -> None:
    """The job that is at it goes on with the other documents, at the owner's cost."""
    matrix = shared_matrix(team, [team.known], pilot=1)
    assert opened_by(team, "writer", matrix).matrices.fill(matrix.id, {"pilot": None}).id == matrix.job_id
    told = [(one.actor, one.action) for one in team.owner.audit.list() if one.subject_id == str(matrix.id)]
    assert told == [("writer", "matrix.fill")]
    team.owner.matrices.delete(matrix.id)


def test_readers_only_read_a_matrix_and_export_it(team: Team, matrix: Matrix) -> None:
    reader, rows = opened_by(team, "reader", matrix), team.owner.matrices
    seen = reader.matrices.get(matrix.id)
    assert (seen.cells, seen.permission) == (rows.get(matrix.id).cells, "read")
    assert b"fourteen" in reader.matrices.export(matrix.id, "csv")
    entry = team.owner.audit.list()[0]
    assert (entry.actor, entry.owner, entry.action) == ("reader", "local", "export")
    calls: list[Callable[[], object]] = [
        lambda: decide(reader, seen, "accepted"),
        lambda: reader.matrices.fill(matrix.id),
        lambda: reader.matrices.fill(matrix.id, {"pilot": 1}),
        lambda: reader.matrices.cancel(matrix.id),
        lambda: reader.matrices.edit(matrix.id, {}),
    ]
    for call in calls:
        with pytest.raises(errors.ForbiddenError):
            call()
    assert rows.get(matrix.id) == seen.model_copy(update={"permission": None})


def test_a_writer_adds_and_changes_fields_which_are_filled(team: Team, matrix: Matrix) -> None:
    request = {"fields": [{**DEPTH, "id": str(matrix.fields[0].id), "name": "Dredged to"}, "Who dredged it?"]}
    with pytest.raises(errors.ForbiddenError):
        opened_by(team, "reader", matrix).matrices.edit(matrix.id, request)
    writer = opened_by(team, "writer", matrix)
    edited = writer.matrices.edit(matrix.id, {**request, "seen_at": matrix.edited_at})
    assert [one.name for one in edited.fields] == ["Dredged to", "Who dredged it?"]
    assert edited.fields[0].id == matrix.fields[0].id
    assert writer.matrices.progress(matrix.id).to_fill == 2
    worker.run(team.owner.installation, wait=False)
    filled = team.owner.matrices.get(matrix.id)
    assert (filled.to_fill, "fourteen" in str(filled.cells[0].cell.value)) == (0, True)


@pytest.mark.parametrize("asker", ["reader", "writer"])
def test_what_a_matrix_is_about_its_owner_decides(team: Team, matrix: Matrix, asker: str) -> None:
    colleague, before = opened_by(team, asker, matrix), team.owner.matrices.get(matrix.id)
    request = {"name": "theirs", "document_ids": [team.known.id], "fields": [DEPTH]}
    calls: list[Callable[[], object]] = [
        lambda: colleague.matrices.create(request),
        lambda: colleague.matrices.create({**request, "index_name": "team"}),
        lambda: colleague.matrices.edit(matrix.id, {"fields": ["Who dredged it?"]}),  # removes the one that was there
        lambda: colleague.matrices.edit(matrix.id, {"name": "theirs"}),
        lambda: colleague.matrices.edit(matrix.id, {"document_ids": [team.secret.id]}),
        lambda: colleague.matrices.edit(matrix.id, {"index_name": None}),
        lambda: colleague.matrices.delete(matrix.id),
        lambda: colleague.templates.save("theirs", {"fields": [DEPTH]}),
        lambda: colleague.templates.delete("theirs"),
        lambda: colleague.matrices.extract({"fields": [DEPTH], "document_ids": [team.secret.id]}),
    ]
    for call in calls:
        with pytest.raises((errors.ForbiddenError, errors.NotFoundError)):
            call()
    assert team.owner.matrices.get(matrix.id) == before


def test_a_matrix_is_found_as_long_as_it_is_shared(team: Team, matrix: Matrix) -> None:
    installation, hidden = team.owner.installation, shared_matrix(team, [team.secret], index_name=None)
    team.owner.sharing.share({"grantee": "guest"}, "team")
    guest = installation.for_user("guest")
    assert [(one.id, one.permission, one.user_id) for one in guest.matrices.list()] == [(matrix.id, "read", "local")]
    shared = guest.for_matrix(matrix.id)
    assert [(one.id, one.permission) for one in shared.matrices.list()] == [(matrix.id, "read")]
    for engine in (guest, shared):
        for call in (engine.for_matrix, engine.matrices.get, engine.matrices.job):
            with pytest.raises(errors.NotFoundError):
                call(hidden.id)
    team.owner.matrices.edit(matrix.id, {"index_name": None})
    assert guest.matrices.list() == []
    with pytest.raises(errors.NotFoundError):
        shared.matrices.get(matrix.id)
    team.owner.matrices.edit(matrix.id, {"index_name": "team"})
    assert shared.matrices.get(matrix.id).matrix.id == matrix.id
    team.owner.sharing.unshare({"grantee": "guest"}, "team")
    for gone in (lambda: shared.matrices.get(matrix.id), lambda: guest.for_matrix(matrix.id)):
        with pytest.raises(errors.NotFoundError):
            gone()
    team.owner.matrices.delete(hidden.id)


def test_a_shared_matrix_has_documents_of_its_collection_only(team: Team, matrix: Matrix) -> None:
    follows = {"follows": {"index_name": "default"}}
    calls: list[Callable[[], object]] = [
        lambda: shared_matrix(team, [team.known, team.secret]),
        lambda: shared_matrix(team, [team.known], **follows),
        lambda: team.owner.matrices.edit(matrix.id, {"document_ids": [team.known.id, team.secret.id]}),
        lambda: team.owner.matrices.edit(matrix.id, follows),
        lambda: team.owner.matrices.edit(matrix.id, {"index_name": "default"}),
    ]
    for call in calls:
        with pytest.raises(errors.ValidationError):
            call()
    assert team.owner.matrices.get(matrix.id).matrix.lineage_ids == matrix.lineage_ids


def test_a_template_of_a_collection_is_used_where_it_is_shared(team: Team) -> None:
    team.owner.templates.save("harbours", {"fields": ["How deep is it?"], "index_name": "team"})
    team.owner.templates.save("harbours", {"fields": [DEPTH]})
    team.owner.templates.save("hidden", {"fields": [DEPTH]})
    reader = team.opened("reader")
    (template,) = [one for one in reader.templates.list() if one.index_id]
    assert (template.name, template.is_own) == ("harbours", False)
    row = reader.extract("harbours", [team.known.id]).rows[0]
    assert "fourteen" in str(row.fields["Depth"].value)
    for engine, name in ((reader, "hidden"), (team.owner.installation.for_user("reader"), "harbours")):
        with pytest.raises(errors.NotFoundError):
            engine.templates.get(name)
    for name in ("harbours", "hidden"):
        team.owner.templates.delete(name)
