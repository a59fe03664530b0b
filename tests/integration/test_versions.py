"""Versions of a document: which one is searched, when it takes over, what is thrown away with it, and old answers."""

import functools
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag import errors, providers
from rag.config import load_config
from rag.engine import Installation, RAGEngine
from rag.store.server.database import connect
from rag.store.store import Store
from rag.types import Change, Document, DocumentStatus
from tests import pdfs
from tests.embeddings import bag_of_words, register
from tests.integration.samples import SPACE, Owner, random_vector

FIRST = ["The harbour handled 4,812 ships in 2019.", "The pilots work in three shifts.", "A ferry leaves at noon."]
SECOND = ["The harbour handled 5,103 ships in 2020.", "The pilots work in three shifts.", "The mole was repaired."]


@pytest.fixture
def registry() -> providers.Registry:
    made = providers.Registry()
    register(made, "words", 384)
    return made


@pytest.fixture
def installation(database_url: str, tmp_path: Path, registry: providers.Registry) -> Iterator[Installation]:
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_embed_model="words:model")
    with Installation(config, registry=registry) as opened:
        yield opened


@pytest.fixture
def engine(installation: Installation) -> RAGEngine:
    return installation.for_user("ada")


def pdf(texts: Sequence[str]) -> bytes:
    """A page per text; the same bytes for the same texts."""
    return _pdf(tuple(texts))


@functools.cache
def _pdf(texts: tuple[str, ...]) -> bytes:
    return pdfs.pages(len(texts), line=lambda number: texts[number - 1], others=())


def add(
    engine: RAGEngine, texts: list[str], name: str = "harbour.pdf", *, replaces: uuid.UUID | None = None
) -> Document:
    """A document that waits to be read."""
    return engine.documents.add(pdf(texts), name, replaces=replaces, enqueue=False)


def read(
    engine: RAGEngine, texts: list[str], name: str = "harbour.pdf", *, replaces: uuid.UUID | None = None
) -> Document:
    """A document that is ready."""
    return engine.documents.process(add(engine, texts, name, replaces=replaces).id)


def searched(engine: RAGEngine) -> set[uuid.UUID]:
    """The documents that a search over everything finds."""
    request = {"query": "harbour pilots ferry mole ships", "retrieval": {"minScore": 0, "topK": 50}}
    return {hit.passage.document_id for hit in engine.search(request).results}


def two_versions(engine: RAGEngine) -> tuple[Document, Document]:
    first = read(engine, FIRST)
    second = read(engine, SECOND, replaces=first.id)
    return engine.documents.get(first.id), second


def test_a_new_version_takes_over_when_it_is_ready(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    chat = engine.chats.start("about it", document_ids=[first.id])
    waiting = add(engine, SECOND, replaces=first.id)
    assert (waiting.version, waiting.lineage_id) == (2, first.id)
    assert searched(engine) == {first.id}
    assert [(one.version, one.status) for one in engine.documents.list()] == [
        (2, DocumentStatus.QUEUED),
        (1, DocumentStatus.READY),
    ]
    second = engine.documents.process(waiting.id)
    assert (second.status, second.superseded_by) == (DocumentStatus.READY, None)
    assert searched(engine) == {second.id}
    assert engine.documents.get(first.id).superseded_by == second.id
    assert [one.id for one in engine.documents.list()] == [second.id]
    assert [one.version for one in engine.versions.list(first.id)] == [2, 1]
    assert engine.chats.get(chat.id).document_ids == (second.id,)
    assert engine.store.chunks.of_document(first.id)  # for the answers that quote it


def test_no_search_sees_both_versions_or_none(db: Store, database_url: str) -> None:
    """Whichever statement makes it ready or brings it back; a process that is killed before has done nothing."""
    owner = Owner.of(db, "ann")
    old = owner.ready("x.txt", ["the old words"])
    new = owner.add("x.txt", sha256="new", replaces=old.id)
    db.of("ann").documents.trash([new.id])
    owner.fill(new, ["the new words"])

    def found() -> set[uuid.UUID]:
        return {hit.document_id for hit in db.of("ann").chunks.dense(owner.scope, SPACE, random_vector("x"), 10)}

    for end, searched_then in (("ROLLBACK", old.id), ("COMMIT", new.id)):
        with connect(database_url) as writer:
            writer.execute("UPDATE documents SET deleted_at = NULL WHERE id = %s", (new.id,))
            writer.execute("SELECT take_over('ann', ARRAY[%s], NULL)", (new.id,))
            assert found() == {old.id}
            writer.execute(end)
        assert found() == {searched_then}


def test_until_it_is_ready_and_if_it_fails_the_old_version_is_searched(
    engine: RAGEngine, registry: providers.Registry
) -> None:
    first = read(engine, FIRST)

    def refuse(_: list[str]) -> list[list[float]]:
        raise errors.ProviderError("The vendor is down.")

    register(registry, "words", 384, refuse)
    engine.installation.models.forget_provider("words")
    second = read(engine, SECOND, replaces=first.id)
    assert second.status is DocumentStatus.FAILED
    assert {one.id: one.superseded_by for one in engine.documents.list()} == {second.id: first.id, first.id: None}
    register(registry, "words", 384, bag_of_words(384))
    engine.installation.models.forget_provider("words")
    assert searched(engine) == {first.id}
    assert engine.indexes.stats().failed_documents == 1
    engine.documents.retry(second.id)
    assert engine.documents.process(second.id).status is DocumentStatus.READY
    assert searched(engine) == {second.id}
    assert engine.indexes.stats().failed_documents == 0


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_new_versions_the_later_one_stays(engine: RAGEngine, order: tuple[int, int]) -> None:
    first = read(engine, FIRST)
    waiting = [add(engine, SECOND, replaces=first.id), add(engine, ["A third text of ships."], replaces=first.id)]
    assert [one.version for one in waiting] == [2, 3]
    for place in order:
        engine.documents.process(waiting[place].id)
    assert searched(engine) == {waiting[1].id}
    assert [one.id for one in engine.documents.list()] == [waiting[1].id]
    assert [one.version for one in engine.versions.list(first.id)] == [3, 2, 1]


def test_two_new_versions_that_come_at_the_same_time_are_counted(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    made: list[Document] = []
    threads = [
        threading.Thread(target=lambda own=number: made.append(add(engine, [f"Ships {own}."], replaces=first.id)))
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.version for one in made) == [2, 3, 4, 5, 6, 7]


def test_versions_that_get_ready_at_the_same_time_leave_one(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    waiting = [add(engine, [f"Ships of the year {number}."], replaces=first.id) for number in range(4)]
    threads = [threading.Thread(target=engine.documents.process, args=(one.id,)) for one in waiting]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert searched(engine) == {waiting[-1].id}


def test_an_older_version_names_the_document_too(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    third = read(engine, ["A third text of ships."], replaces=first.id)
    assert third.version == 3
    assert searched(engine) == {third.id}
    assert engine.documents.get(second.id).superseded_by == third.id


def test_what_the_owner_said_of_the_document_goes_along(engine: RAGEngine, database_url: str) -> None:
    first = read(engine, FIRST)
    with connect(database_url) as connection:
        connection.execute("UPDATE documents SET tags = '{port}', given_title = 'Port', disabled = true")
    second = read(engine, SECOND, replaces=first.id)
    assert (second.tags, second.title, second.disabled) == (("port",), "Port", True)


# --- throwing away ---


def test_the_trash_takes_all_versions_and_gives_them_back(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    assert engine.documents.trash([second.id]) == [second.id]
    assert searched(engine) == set()
    assert engine.documents.list() == []
    assert [one.id for one in engine.documents.list(in_trash=True)] == [second.id]
    assert engine.documents.get(first.id).deleted_at is not None
    assert engine.documents.restore([second.id]) == [second.id]
    assert searched(engine) == {second.id}
    assert engine.documents.get(first.id).deleted_at is None


def test_an_older_version_is_thrown_away_and_purged_by_itself(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    third = read(engine, ["A third text of ships."], replaces=second.id)
    engine.documents.trash([second.id])
    assert searched(engine) == {third.id}
    assert [one.id for one in engine.documents.list(in_trash=True)] == [second.id]
    assert engine.documents.purge([second.id]).document_ids == (second.id,)
    assert [one.version for one in engine.versions.list(third.id)] == [3, 1]
    assert engine.documents.get(first.id).superseded_by == third.id
    assert searched(engine) == {third.id}


def test_a_purge_leaves_nothing_of_any_version(engine: RAGEngine, database_url: str, tmp_path: Path) -> None:
    first, second = two_versions(engine)
    waiting = add(engine, ["A third text of ships."], replaces=second.id)
    engine.documents.trash([second.id])
    assert set(engine.documents.purge([second.id]).document_ids) == {first.id, second.id, waiting.id}
    for gone in (first, second, waiting):
        with pytest.raises(errors.NotFoundError):
            engine.documents.get(gone.id)
        with pytest.raises(errors.NotFoundError):
            engine.files.original(gone.id)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    with connect(database_url) as connection:
        for table in ("documents", "document_chunks", "postings", "landmarks"):
            assert connection.execute(f"SELECT count(*) AS n FROM {table}").fetchone() == {"n": 0}


def test_a_new_version_that_was_called_off_does_not_take_over_until_it_is_restored(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    second = add(engine, SECOND, replaces=first.id)
    engine.documents.trash([second.id])
    assert engine.documents.process(second.id).status is DocumentStatus.READY
    assert searched(engine) == {first.id}
    assert [one.id for one in engine.documents.list()] == [first.id]
    engine.documents.restore([second.id])
    assert searched(engine) == {second.id}


def test_a_document_in_the_trash_gets_no_new_version(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    engine.documents.trash([first.id])
    with pytest.raises(errors.ConflictError, match="trash"):
        add(engine, SECOND, replaces=first.id)
    assert engine.documents.list() == []


def test_a_document_that_follows_a_folder_gets_its_versions_there(engine: RAGEngine, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "harbour.txt").write_text(FIRST[0])
    request = {"source": {"folderId": str(folder)}}
    engine.sync_index(request)
    (first,) = engine.documents.list()
    with pytest.raises(errors.ConflictError, match="follows"):
        engine.documents.add(b"Other ships.", "harbour.txt", replaces=first.id)
    assert engine.documents.add(b"Other ships.", "harbour.txt", on_same_name="ask", enqueue=False).version == 1
    (folder / "harbour.txt").write_text(SECOND[0])
    engine.sync_index(request)
    assert [(one.version, one.superseded_by is None) for one in engine.versions.list(first.id)] == [
        (2, True),
        (1, False),
    ]
    (folder / "harbour.txt").unlink()
    assert engine.sync_index(request).count("removed") == 1
    (folder / "harbour.txt").write_text(FIRST[0])
    assert engine.sync_index(request).count("added") + engine.sync_index(request).count("unchanged") >= 1
    assert first.id in searched(engine)


def test_mails_and_archives_have_parts_and_no_versions(engine: RAGEngine) -> None:
    def mail(text: str) -> bytes:
        return f"From: a@example.org\r\nSubject: Ships\r\nMIME-Version: 1.0\r\n\r\n{text}\r\n".encode()

    first = engine.documents.add(mail("Ships came."), "ships.eml", enqueue=False)
    assert first.mime_type == "message/rfc822"
    with pytest.raises(errors.ConflictError, match="mail"):
        engine.documents.add(mail("Ships went."), "ships.eml", replaces=first.id)
    assert engine.documents.add(mail("Ships went."), "ships.eml", on_same_name="version", enqueue=False).version == 1


# --- tags that are given with a version ---


def tagged(engine: RAGEngine, texts: list[str], *tags: str, **given: Any) -> Document:
    return engine.documents.upload(pdf(texts), "harbour.pdf", tags=tags, **given)[0]


def tags_when_read(engine: RAGEngine, document: Document) -> tuple[str, ...]:
    return engine.documents.process(document.id).tags


def test_tags_given_with_a_version_stay_whichever_version_it_is_said_to_replace(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    third = tagged(engine, ["Third."], "signed", replaces=first.id)
    assert third.tags == ("signed",)
    assert [engine.documents.get(one.id).tags for one in (first, second)] == [(), ("signed",)]
    assert tags_when_read(engine, third) == ("signed",)


def test_tags_given_while_other_versions_wait_stay(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    second = add(engine, SECOND, replaces=first.id)
    third = tagged(engine, ["Third."], "signed", replaces=second.id)
    assert tags_when_read(engine, second) == ("signed",)
    assert tags_when_read(engine, third) == ("signed",)


@pytest.mark.parametrize("is_read", [True, False], ids=["read", "waiting"])
@pytest.mark.parametrize("by_name", [True, False], ids=["name", "id"])
def test_an_upload_sent_again_gives_the_tags_that_the_first_attempt_did_not(
    engine: RAGEngine, by_name: bool, is_read: bool
) -> None:
    first = read(engine, FIRST)
    given: dict[str, Any] = {"on_same_name": "version"} if by_name else {"replaces": first.id}
    second = tagged(engine, SECOND, key="key-1", **given)  # as if the process had ended before it tagged
    if is_read:
        engine.documents.process(second.id)
    again = tagged(engine, SECOND, "signed", key="key-1", **given)
    assert (again.id, again.tags) == (second.id, ("signed",))
    if not is_read:
        assert tags_when_read(engine, again) == ("signed",)


# --- the same name, the same content ---


def test_a_file_of_the_same_name_is_asked_about(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    with pytest.raises(errors.SameNameError) as asked:
        engine.documents.add(pdf(SECOND), "harbour.pdf", on_same_name="ask")
    assert asked.value.details["document_id"] == first.id
    assert engine.documents.add(pdf(SECOND), "harbour.pdf", on_same_name="version", enqueue=False).version == 2
    assert engine.documents.add(pdf(["x"]), "harbour.pdf", enqueue=False).lineage_id != first.id
    assert engine.documents.add(pdf(["y"]), "other.pdf", on_same_name="ask", enqueue=False).version == 1
    with pytest.raises(errors.DuplicateError):
        engine.documents.add(pdf(FIRST), "harbour.pdf", on_same_name="ask")


def test_the_content_of_an_older_version_is_a_duplicate_and_can_be_gone_back_to(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    with pytest.raises(errors.DuplicateError, match="version 1") as raised:
        add(engine, FIRST, replaces=second.id)
    assert raised.value.details["version"] == 1
    again = engine.versions.make_current(first.id)
    assert (again.version, again.superseded_by) == (3, None)
    assert searched(engine) == {first.id}
    assert engine.documents.get(second.id).superseded_by == first.id
    with pytest.raises(errors.ConflictError):
        engine.versions.make_current(first.id)


def test_older_versions_are_not_counted(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    before = engine.indexes.stats()
    read(engine, SECOND, replaces=first.id)
    after = engine.indexes.stats()
    assert (after.documents, after.pages, after.chunks) == (before.documents, before.pages, before.chunks)
    assert sum(after.languages.values()) == after.chunks
    engine.documents.trash([one.id for one in engine.documents.list()])
    assert engine.indexes.stats().documents_in_trash == 1


def test_an_index_read_anew_leaves_older_versions(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    engine.documents.process(first.id, again=True)
    assert searched(engine) == {second.id}
    assert [one.id for one in engine.jobs.documents_to_reindex()] == [second.id]


# --- other users ---


# --- old answers, and what differs ---


def test_old_answers_say_what_became_of_their_quotes(engine: RAGEngine) -> None:
    first = read(engine, FIRST)
    chat = engine.chats.start("harbour")
    turns = [
        engine.chats.ask(chat.id, question)
        for question in (
            "How many ships did the harbour handle?",
            "In how many shifts do the pilots work?",
            "When does a ferry leave?",
        )
    ]
    answers = [turn.response for turn in turns if turn.response]
    assert engine.versions.later_places(answers) == [{}, {}, {}]
    second = read(engine, ["An inserted page.", *SECOND], replaces=first.id)
    changes = {}
    for answer, places in zip(answers, engine.versions.later_places(answers), strict=True):
        for number, place in places.items():
            changes[answer.citations[number].quote] = place
    assert {quote: place.change for quote, place in changes.items()} == {
        FIRST[0]: Change.CHANGED,
        FIRST[1]: Change.UNCHANGED,
        FIRST[2]: Change.REMOVED,
    }
    assert [place.label for place in changes.values()] == [
        "v1; changed in v2 (page 2)",
        "v1; unchanged in v2 (page 3)",
        "v1; removed in v2",
    ]
    assert {place.document_id for place in changes.values()} == {second.id}
    engine.documents.trash([second.id])
    assert engine.versions.later_places(answers[:1]) == [{}]


def test_versions_are_compared_by_paragraph(engine: RAGEngine) -> None:
    first, second = two_versions(engine)
    diff = engine.versions.diff(first.id, second.id)
    assert [(one.kind, one.old and one.old.text, one.new and one.new.text) for one in diff.changes] == [
        ("changed", FIRST[0], SECOND[0]),
        ("removed", FIRST[2], None),
        ("added", None, SECOND[2]),
    ]
    assert diff.unchanged == 1
    assert diff.changes[0].new is not None
    assert diff.changes[0].new.page_number == 1
    assert diff.changes[0].new.regions[0].rects
    assert engine.versions.diff(first.id, first.id).changes == ()
    waiting = add(engine, ["x y"], replaces=second.id)
    with pytest.raises(errors.ConflictError, match="not read"):
        engine.versions.diff(first.id, waiting.id)


def test_only_changed_passages_are_embedded(engine: RAGEngine, registry: providers.Registry) -> None:
    embedded: list[str] = []

    def counted(texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return bag_of_words(384)(texts)

    register(registry, "words", 384, counted)
    engine.installation.models.forget_provider("words")
    texts = [f"# Berth {number}\n\n" + f"Word{number} " * 150 for number in range(10)]
    first = engine.documents.add("\n\n".join(texts).encode(), "berths.md", enqueue=False)
    engine.documents.process(first.id)
    before = len(embedded)
    assert before >= 10
    edited = [*texts[:4], "# Quay\n\n" + "Crane " * 150, texts[4].replace("Word4", "Name4", 1), *texts[5:]]
    second = engine.documents.add("\n\n".join(edited).encode(), "berths.md", replaces=first.id, enqueue=False)
    assert engine.documents.process(second.id).chunk_count > before
    again = embedded[before:]
    assert len(again) <= 4  # what is new and what was changed, and what a page that ends elsewhere cuts elsewhere
    assert not [text for text in again if "Word0" in text or "Word1" in text]


def test_a_version_that_became_ready_in_the_trash_takes_over_with_the_others(db: Store) -> None:
    owner = Owner.of(db, "ann")
    old = owner.ready("x.txt", ["the old words"])
    new = owner.add("x.txt", sha256="new", replaces=old.id)
    db.of("ann").documents.trash([old.id])
    owner.fill(new, ["the new words"])
    db.of("ann").documents.restore([old.id])
    hits = db.of("ann").chunks.dense(owner.scope, SPACE, random_vector("x"), 10)
    assert {hit.document_id for hit in hits} == {new.id}
