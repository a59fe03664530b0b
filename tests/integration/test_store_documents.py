"""Documents and indexes: adding, listing, the trash, and what an index says about itself."""

import uuid

import pytest

from rag import errors
from rag.store.store import Store
from rag.types import ChunkingOptions, DocumentQuery, DocumentStatus, EmbeddingSpace, PageInfo
from tests.integration.samples import IN_TRASH, SPACE, Owner, random_vector

HOSTILE = "x' or '1'='1"


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ann")


def test_a_new_document_is_queued(owner: Owner) -> None:
    document = owner.add("report.pdf", source="s3://bucket/report.pdf")
    assert document.status is DocumentStatus.QUEUED
    assert document.source == "s3://bucket/report.pdf"
    assert owner.db.of("ann").documents.get(document.id) == document


def test_same_content_is_a_duplicate_also_of_the_trash(owner: Owner) -> None:
    first = owner.add("first.pdf", sha256="same")
    with pytest.raises(errors.DuplicateError) as live:
        owner.add("second.pdf", sha256="same")
    owner.db.of("ann").documents.trash([first.id])
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
        owner.db.of("ann").documents.add(
            uuid.uuid4(), document_id=uuid.uuid4(), name="x", mime_type="x", sha256="x", size=1
        )


@pytest.mark.parametrize("user", [HOSTILE, "o'brien", "../../etc", "üser\n😀", "%", "a" * 300])
def test_any_user_id_is_just_a_name(db: Store, user: str) -> None:
    Owner.of(db, "ann").ready("secret.pdf", ["the secret merger"])
    owner = Owner.of(db, user)
    own = owner.ready("own.pdf", ["my own merger"])
    assert [document.id for document in db.of(user).documents.list(owner.index.id)] == [own.id]
    assert {hit.document_id for hit in db.of(owner.user_id).chunks.lexical(owner.scope, "merger", 10).chunks} == {
        own.id
    }
    assert {
        hit.document_id for hit in db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("x"), 10)
    } == {own.id}
    assert db.queue.enqueue(user, own.id)
    assert not db.queue.enqueue(user, own.id)


def test_listing_searches_names_and_titles_literally(owner: Owner) -> None:
    report = owner.add("Annual_Report 100%.pdf")
    titled = owner.ready("x.pdf", ["text"])  # its title is "A title"
    found = owner.db.of("ann").documents.list
    assert [document.id for document in found(owner.index.id)] == [titled.id, report.id]
    assert [document.id for document in found(owner.index.id, DocumentQuery(search="REPORT 100%"))] == [report.id]
    assert [document.id for document in found(owner.index.id, DocumentQuery(search="a TITLE"))] == [titled.id]
    assert found(owner.index.id, DocumentQuery(search="%_%")) == []
    assert [document.id for document in found(owner.index.id, limit=1, offset=1)] == [report.id]


def test_the_trash_hides_and_gives_back(owner: Owner) -> None:
    kept, thrown = owner.ready("kept.pdf", ["shared word"]), owner.ready("thrown.pdf", ["shared word too"])
    documents, chunks, index_id = owner.db.of("ann").documents, owner.db.of("ann").chunks, owner.index.id
    chunk = chunks.of_document(thrown.id)[0]

    assert documents.trash([thrown.id, uuid.uuid4()]) == [thrown.id]
    assert documents.trash([thrown.id]) == []
    assert [document.id for document in documents.list(index_id)] == [kept.id]
    assert [document.id for document in documents.list(index_id, IN_TRASH)] == [thrown.id]
    assert {hit.document_id for hit in chunks.lexical(owner.scope, "shared", 10).chunks} == {kept.id}
    assert {hit.document_id for hit in chunks.dense(owner.scope, SPACE, random_vector("x"), 10)} == {kept.id}
    assert set(chunks.lexical(owner.scope, "shared", 10).documents) == {kept.id}
    assert chunks.get([chunk.id]) == []
    assert chunks.of_document(thrown.id) == []
    assert chunks.page_lines([(thrown.id, 1)]) == {}

    assert documents.restore([thrown.id, kept.id]) == [thrown.id]
    assert len(chunks.lexical(owner.scope, "shared", 10).chunks) == 2
    assert [found.id for found, _ in chunks.get([chunk.id])] == [chunk.id]


def test_only_the_trash_is_purged(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["some words"])
    assert owner.db.of("ann").documents.purge([document.id]).document_ids == ()
    owner.db.of("ann").documents.trash([document.id])
    assert owner.db.of("ann").documents.purge([document.id]).document_ids == (document.id,)
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").documents.get(document.id)
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "words", 10).chunks == []
    assert owner.add("a.pdf").status is DocumentStatus.QUEUED  # no longer a duplicate


def test_a_document_moves_between_its_states(owner: Owner) -> None:
    document, documents = owner.add("a.pdf"), owner.db.of("ann").documents
    documents.update_progress(document.id, DocumentStatus.PARSING, 3, 10)
    parsing = documents.get(document.id)
    documents.fail(document.id, "unreadable_file", "It is damaged.")
    failed = documents.get(document.id)
    requeued = documents.requeue(document.id)
    assert (parsing.status, parsing.progress.done, parsing.progress.total) == (DocumentStatus.PARSING, 3, 10)
    assert (failed.status, failed.error_code, failed.error) == (
        DocumentStatus.FAILED,
        "unreadable_file",
        "It is damaged.",
    )
    assert (requeued.status, requeued.error, requeued.progress.done) == (DocumentStatus.QUEUED, None, 0)
    with pytest.raises(errors.NotFoundError):
        documents.fail(uuid.uuid4(), "code", "message")


def test_unfinished_are_those_a_worker_must_read(owner: Owner) -> None:
    queued, parsing, failed, trashed = (owner.add(f"{name}.pdf") for name in ("queued", "parsing", "failed", "trashed"))
    owner.ready("ready.pdf", ["text"])
    owner.db.of("ann").documents.update_progress(parsing.id, DocumentStatus.PARSING, 1, 2)
    owner.db.of("ann").documents.fail(failed.id, "code", "message")
    owner.db.of("ann").documents.trash([trashed.id])
    assert owner.db.document_scheduler.unfinished() == [("ann", queued.id), ("ann", parsing.id)]


def test_a_claim_is_exclusive_while_it_lasts(owner: Owner) -> None:
    document = owner.add("a.pdf")
    with (
        owner.db.of("ann").documents.lock(document.id) as first,
        owner.db.of("ann").documents.lock(document.id) as second,
    ):
        assert (first, second) == (True, False)
    with owner.db.of("ann").documents.lock(document.id) as third:
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
        owner.db.of("ann").indexes.ensure("default", other, ChunkingOptions())
    assert owner.db.of("ann").indexes.get("default").space == SPACE


def test_an_empty_index_takes_another_space(owner: Owner) -> None:
    other = EmbeddingSpace(provider="test", model="other", dimensions=768)
    index = owner.db.of("ann").indexes.ensure("default", other, ChunkingOptions(chunk_size_chars=500))
    assert (index.id, index.space, index.generation) == (owner.index.id, other, 2)
    assert owner.db.of("ann").indexes.get_by_id(index.id) == index


def test_statistics_count_documents_pages_and_chunks(owner: Owner) -> None:
    owner.ready("a.pdf", ["one two", "three"])
    owner.db.of("ann").documents.trash([owner.ready("b.pdf", ["four"]).id])
    owner.db.of("ann").documents.fail(owner.add("c.pdf").id, "code", "message")
    stats = owner.db.of("ann").indexes.stats(owner.index.id)
    assert (stats.documents, stats.documents_in_trash, stats.failed_documents) == (2, 1, 1)
    assert (stats.pages, stats.chunks, stats.characters, stats.file_bytes) == (2, 2, 12, 3000)
    assert stats.database_bytes > 0


def test_deleting_an_index_takes_everything_along(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["words"])
    conversation = owner.db.of("ann").conversations.create(owner.index.id, title="chat")
    owner.db.of("ann").indexes.delete(owner.index.id)
    assert owner.db.of("ann").indexes.list() == []
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").documents.get(document.id)
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").conversations.get(conversation.id)
