"""Documents and indexes: adding, listing, the trash, and what an index says about itself."""

import uuid

import pytest

from rag import errors, store
from rag.types import ChunkingOptions, DocumentStatus, EmbeddingSpace, PageInfo
from tests.integration.samples import SPACE, Owner, random_vector

HOSTILE = "x' or '1'='1"


@pytest.fixture
def owner(db: store.Store) -> Owner:
    return Owner.of(db, "ann")


def test_a_new_document_is_queued(owner: Owner) -> None:
    document = owner.add("report.pdf", source="s3://bucket/report.pdf")
    assert document.status is DocumentStatus.QUEUED
    assert document.source == "s3://bucket/report.pdf"
    assert owner.db.documents.get("ann", document.id) == document


def test_same_content_is_a_duplicate_also_of_the_trash(owner: Owner) -> None:
    first = owner.add("first.pdf", sha256="same")
    with pytest.raises(errors.DuplicateError) as live:
        owner.add("second.pdf", sha256="same")
    owner.db.documents.trash("ann", [first.id])
    with pytest.raises(errors.DuplicateError) as trashed:
        owner.add("second.pdf", sha256="same")
    assert dict(live.value.details) == {"document_id": first.id, "name": "first.pdf", "in_trash": False}
    assert trashed.value.details["in_trash"] is True


def test_same_content_in_another_index_or_of_another_user_is_no_duplicate(owner: Owner) -> None:
    owner.add("first.pdf", sha256="same")
    assert Owner.of(owner.db, "ann", name="second").add("first.pdf", sha256="same").sha256 == "same"
    assert Owner.of(owner.db, "bob").add("first.pdf", sha256="same").sha256 == "same"


def test_adding_to_an_unknown_index(owner: Owner) -> None:
    with pytest.raises(errors.NotFoundError):
        owner.db.documents.add(
            "ann", uuid.uuid4(), document_id=uuid.uuid4(), name="x", mime_type="x", sha256="x", size=1
        )


@pytest.mark.parametrize("user", [HOSTILE, "o'brien", "../../etc", "üser\n😀", "%", "a" * 300])
def test_any_user_id_is_just_a_name(db: store.Store, user: str) -> None:
    Owner.of(db, "ann").ready("secret.pdf", ["the secret merger"])
    owner = Owner.of(db, user)
    own = owner.ready("own.pdf", ["my own merger"])
    assert [document.id for document in db.documents.list(user, owner.index.id)] == [own.id]
    assert {hit.document_id for hit in db.chunks.lexical(owner.scope, "merger", 10).chunks} == {own.id}
    assert {hit.document_id for hit in db.chunks.dense(owner.scope, SPACE, random_vector("x"), 10)} == {own.id}
    assert db.queue.enqueue(user, own.id)
    assert not db.queue.enqueue(user, own.id)


def test_listing_searches_names_and_titles_literally(owner: Owner) -> None:
    report = owner.add("Annual_Report 100%.pdf")
    titled = owner.ready("x.pdf", ["text"])  # its title is "A title"
    found = owner.db.documents.list
    assert [document.id for document in found("ann", owner.index.id)] == [titled.id, report.id]
    assert [document.id for document in found("ann", owner.index.id, search="REPORT 100%")] == [report.id]
    assert [document.id for document in found("ann", owner.index.id, search="a TITLE")] == [titled.id]
    assert found("ann", owner.index.id, search="%_%") == []
    assert [document.id for document in found("ann", owner.index.id, limit=1, offset=1)] == [report.id]


def test_the_trash_hides_and_gives_back(owner: Owner) -> None:
    kept, thrown = owner.ready("kept.pdf", ["shared word"]), owner.ready("thrown.pdf", ["shared word too"])
    documents, chunks, index_id = owner.db.documents, owner.db.chunks, owner.index.id
    chunk = chunks.of_document("ann", thrown.id)[0]

    assert documents.trash("ann", [thrown.id, uuid.uuid4()]) == [thrown.id]
    assert documents.trash("ann", [thrown.id]) == []
    assert [document.id for document in documents.list("ann", index_id)] == [kept.id]
    assert [document.id for document in documents.list("ann", index_id, in_trash=True)] == [thrown.id]
    assert {hit.document_id for hit in chunks.lexical(owner.scope, "shared", 10).chunks} == {kept.id}
    assert {hit.document_id for hit in chunks.dense(owner.scope, SPACE, random_vector("x"), 10)} == {kept.id}
    assert set(chunks.lexical(owner.scope, "shared", 10).documents) == {kept.id}
    assert chunks.get("ann", [chunk.id]) == []
    assert chunks.of_document("ann", thrown.id) == []
    assert chunks.page_lines("ann", [(thrown.id, 1)]) == {}

    assert documents.restore("ann", [thrown.id, kept.id]) == [thrown.id]
    assert len(chunks.lexical(owner.scope, "shared", 10).chunks) == 2
    assert [found.id for found, _ in chunks.get("ann", [chunk.id])] == [chunk.id]


def test_only_the_trash_is_purged(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["some words"])
    assert owner.db.documents.purge("ann", [document.id]) == []
    owner.db.documents.trash("ann", [document.id])
    assert owner.db.documents.purge("ann", [document.id]) == [document.id]
    with pytest.raises(errors.NotFoundError):
        owner.db.documents.get("ann", document.id)
    assert owner.db.chunks.lexical(owner.scope, "words", 10).chunks == []
    assert owner.add("a.pdf").status is DocumentStatus.QUEUED  # no longer a duplicate


def test_states(owner: Owner) -> None:
    document, documents = owner.add("a.pdf"), owner.db.documents
    documents.update_progress("ann", document.id, DocumentStatus.PARSING, 3, 10)
    parsing = documents.get("ann", document.id)
    documents.fail("ann", document.id, "unreadable_file", "It is damaged.")
    failed = documents.get("ann", document.id)
    requeued = documents.requeue("ann", document.id)
    assert (parsing.status, parsing.progress.done, parsing.progress.total) == (DocumentStatus.PARSING, 3, 10)
    assert (failed.status, failed.error_code, failed.error) == (
        DocumentStatus.FAILED,
        "unreadable_file",
        "It is damaged.",
    )
    assert (requeued.status, requeued.error, requeued.progress.done) == (DocumentStatus.QUEUED, None, 0)
    with pytest.raises(errors.NotFoundError):
        documents.fail("ann", uuid.uuid4(), "code", "message")


def test_unfinished_are_those_a_worker_must_read(owner: Owner) -> None:
    queued, parsing, failed, trashed = (owner.add(f"{name}.pdf") for name in ("queued", "parsing", "failed", "trashed"))
    owner.ready("ready.pdf", ["text"])
    owner.db.documents.update_progress("ann", parsing.id, DocumentStatus.PARSING, 1, 2)
    owner.db.documents.fail("ann", failed.id, "code", "message")
    owner.db.documents.trash("ann", [trashed.id])
    assert owner.db.documents.unfinished() == [("ann", queued.id), ("ann", parsing.id)]


def test_a_claim_is_exclusive_while_it_lasts(owner: Owner) -> None:
    document = owner.add("a.pdf")
    with owner.db.documents.claim("ann", document.id) as first, owner.db.documents.claim("ann", document.id) as second:
        assert (first, second) == (True, False)
    with owner.db.documents.claim("ann", document.id) as third:
        assert third


def test_a_ready_document_knows_its_pages(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["one", "two\nthree"])
    assert document.status is DocumentStatus.READY
    assert document.title == "A title"
    assert (document.page_count, document.chunk_count, document.line_count) == (2, 2, 2)
    assert document.pages == tuple(PageInfo(number=number, width=612.0, height=792.0) for number in (1, 2))
    assert document.indexed_at is not None


def test_an_index_with_documents_keeps_its_space(owner: Owner) -> None:
    other = EmbeddingSpace(provider="test", model="other", dimensions=768)
    owner.add("a.pdf")
    with pytest.raises(errors.IndexError, match="re-index"):
        owner.db.indexes.ensure("ann", "default", other, ChunkingOptions())
    assert owner.db.indexes.get("ann", "default").space == SPACE


def test_an_empty_index_takes_another_space(owner: Owner) -> None:
    other = EmbeddingSpace(provider="test", model="other", dimensions=768)
    index = owner.db.indexes.ensure("ann", "default", other, ChunkingOptions(chunk_size_chars=500))
    assert (index.id, index.space, index.generation) == (owner.index.id, other, 2)
    assert owner.db.indexes.get_by_id("ann", index.id) == index


def test_stats(owner: Owner) -> None:
    owner.ready("a.pdf", ["one two", "three"])
    owner.db.documents.trash("ann", [owner.ready("b.pdf", ["four"]).id])
    owner.db.documents.fail("ann", owner.add("c.pdf").id, "code", "message")
    stats = owner.db.indexes.stats("ann", owner.index.id)
    assert (stats.documents, stats.documents_in_trash, stats.failed_documents) == (2, 1, 1)
    assert (stats.pages, stats.chunks, stats.characters, stats.file_bytes) == (2, 2, 12, 3000)
    assert stats.database_bytes > 0


def test_deleting_an_index_takes_everything_along(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["words"])
    conversation = owner.db.conversations.create("ann", owner.index.id, title="chat")
    owner.db.indexes.delete("ann", owner.index.id)
    assert owner.db.indexes.list("ann") == []
    with pytest.raises(errors.NotFoundError):
        owner.db.documents.get("ann", document.id)
    with pytest.raises(errors.NotFoundError):
        owner.db.conversations.get("ann", conversation.id)
