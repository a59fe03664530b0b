"""Reading in lanes: words first, vectors in batches, what is next, what is cancelled, what a killed worker leaves."""

import contextlib
import datetime as dt
import errno
import itertools
import re
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from rag import errors, providers, worker
from rag.config import load_config
from rag.engine import RAGEngine
from rag.engine.ingestion.document_reader import EMBED_BATCH
from rag.ingestion import Ingestion, Reading
from rag.store.files.file_storage import UserFiles
from rag.store.jobs import scheduling
from rag.store.jobs.scheduling import MAX_ATTEMPTS
from rag.store.search.chunks import Chunks
from rag.store.store import Store
from rag.types import Document, DocumentStatus, EmbeddingSpace, Lane, reading_progress
from tests import forked, pdfs
from tests.embeddings import Embed, bag_of_words, register
from tests.integration.samples import SPACE, Owner, make_chunks, make_parsed, random_vector

DIMENSIONS = 64
PAGES = 2 * EMBED_BATCH + 8
"""A chunk each: two whole batches, and a part of one."""


def never() -> bool:
    return False


# --- What is next -------------------------------------------------------------------------------------


def queued(owner: Owner, name: str, *, size: int = 1000, seconds_ago: float = 0.0) -> uuid.UUID:
    """A document that waits for a worker, of `size` bytes."""
    document = owner.add(name)
    owner.db.of(owner.user_id).documents.enqueue(document.id)
    change(
        owner.db, "UPDATE documents SET size = %s, queued_at = now() - make_interval(secs => %s) WHERE id = %s",
        size, seconds_ago, document.id,
    )  # fmt: skip
    return document.id


def change(db: Store, statement: str, *values: object) -> None:
    with psycopg.connect(db._database.url, options="") as connection:  # as the owner, who takes on no role
        connection.execute(statement, values)


def take_all(db: Store, lane: Lane = Lane.READING, *, most_bytes: int | None = None) -> list[uuid.UUID]:
    """All that a lane has, in its order; what is taken is done."""
    order: list[uuid.UUID] = []
    while True:
        with db.document_scheduler.next(lane, most_bytes=most_bytes) as taken:
            if taken is None:
                return order
            order.append(taken.document_id)
            db.of(taken.user_id).documents.fail(taken.document_id, "code", "done")


def test_small_files_come_first_and_none_waits_for_ever(db: Store) -> None:
    ann = Owner.of(db, "ann")
    large, note = queued(ann, "large", size=9_000_000), queued(ann, "note", size=200)
    newer, old = queued(ann, "newer", size=3_000_000), queued(ann, "old", size=50_000_000, seconds_ago=700)
    assert take_all(db) == [old, note, newer, large]


def test_users_take_turns(db: Store) -> None:
    ann, bob, eve = (Owner.of(db, user) for user in ("ann", "bob", "eve"))
    many = [queued(ann, f"{number}", seconds_ago=100 - number) for number in range(4)]
    first, second = queued(bob, "first", seconds_ago=2), queued(bob, "second", seconds_ago=1)
    last = queued(eve, "last")
    assert take_all(db) == [many[0], first, last, many[1], second, many[2], many[3]]


def test_fifty_files_of_one_user_keep_no_note_of_another_waiting(db: Store) -> None:
    ann, bob = Owner.of(db, "ann"), Owner.of(db, "bob")
    for number in range(50):
        queued(ann, f"{number}", seconds_ago=60)
    with db.document_scheduler.next(Lane.READING) as busy:
        assert busy is not None
        note = queued(bob, "note")
        with db.document_scheduler.next(Lane.READING) as following:
            assert following is not None
            assert (busy.user_id, following.document_id) == ("ann", note)


def test_two_workers_are_never_at_the_same(db: Store) -> None:
    ann = Owner.of(db, "ann")
    first, second = queued(ann, "first", seconds_ago=5), queued(ann, "second")
    with (
        db.document_scheduler.next(Lane.READING) as one,
        db.document_scheduler.next(Lane.READING) as two,
        db.document_scheduler.next(Lane.READING) as three,
    ):
        assert one is not None
        assert two is not None
        assert ([one.document_id, two.document_id], three) == ([first, second], None)
    with db.document_scheduler.next(Lane.READING) as again:
        assert again is not None
        assert again.attempts == 2


def test_large_files_are_not_for_the_lane_of_small_ones(db: Store) -> None:
    ann = Owner.of(db, "ann")
    queued(ann, "large", size=2_000)
    small = queued(ann, "small", size=1_000)
    assert take_all(db, most_bytes=1_500) == [small]


def test_only_what_waits_for_a_worker_is_taken(db: Store) -> None:
    ann = Owner.of(db, "ann")
    inline, trashed, ready = ann.add("inline"), queued(ann, "trashed"), ann.ready("ready", ["text"])
    db.of("ann").documents.trash([trashed])
    assert take_all(db) == []
    db.document_scheduler.enqueue_abandoned()  # whoever took it in does not read it any more
    db.of("ann").documents.requeue(ready.id)
    db.of("ann").documents.enqueue(ready.id)
    assert (take_all(db), take_all(db, Lane.RENEWING), take_all(db, Lane.EMBEDDING)) == ([inline.id], [ready.id], [])


# --- Words first --------------------------------------------------------------------------------------


def ship(page: int) -> str:
    return f"The ship number{page} carried cargo{page} of copper."


def fleet() -> bytes:
    """A chunk for each page."""
    return pdfs.pages(PAGES, line=lambda page: " ".join([ship(page)] * 6), others=())


class Counting:
    """An embedder that remembers what it embedded, and can be made to wait before it does."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.asked = threading.Event()
        self.may_go = threading.Event()
        self.may_go.set()
        self._embed: Embed = bag_of_words(DIMENSIONS)

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        self.asked.set()
        self.may_go.wait()
        return self._embed(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def engine(database_url: str, tmp_path: Path, embedder: Counting) -> Iterator[RAGEngine]:
    registry = providers.Registry()
    register(registry, "own", DIMENSIONS, embedder)
    config = load_config(rag_data_dir=tmp_path, rag_database_url=database_url, rag_embed_model="own:model")
    with RAGEngine(config, user_id="ann", registry=registry) as opened:
        yield opened


def do_next(engine: RAGEngine, lane: Lane) -> bool:
    return engine.installation.worker_tasks.process_next(lane, never) is not None


@pytest.fixture
def words_only(engine: RAGEngine) -> Document:
    """A document whose words are searched, and that has no vector yet."""
    document = engine.documents.add(fleet(), "fleet.pdf")
    assert do_next(engine, Lane.READING)
    return engine.documents.get(document.id)


def pages_found(engine: RAGEngine, page: int, **retrieval: Any) -> list[int]:
    """The pages that are found for what stands on one, the best first."""
    options = {"minScore": 0.0, "topK": 3, "passage": "chunk", **retrieval}
    results = engine.search({"query": f"Which cargo did number{page} carry?", "retrieval": options}).results
    return [hit.passage.page_number for hit in results]


def chunk_rows(engine: RAGEngine, document: Document) -> tuple[int, int]:
    """How many chunks a document has in the database, and how many of them a vector."""
    with psycopg.connect(engine.installation.database_url) as connection:
        row = connection.execute(
            "SELECT count(*), count(embedding) FROM stored_chunks WHERE document_id = %s", [document.id]
        ).fetchone()
    assert row is not None
    return row[0], row[1]


def test_words_are_searched_before_there_is_a_vector(engine: RAGEngine, words_only: Document) -> None:
    assert (words_only.status, words_only.searchable) == (DocumentStatus.EMBEDDING, True)
    assert (words_only.vector_count, words_only.chunk_count) == (0, PAGES)
    assert reading_progress(words_only) == "searchable by words, 0 % by meaning"
    assert pages_found(engine, 7)[0] == 7
    assert pages_found(engine, 7, diversity=0.5)[0] == 7
    assert pages_found(engine, 7, fusion="rrf")[0] == 7
    assert pages_found(engine, 7, mode="vector") == []
    assert engine.search({"query": "Which cargo did number7 carry?"}).results[0].vector_score is None
    answer = engine.answer("What did the ship number7 carry?")
    assert answer.citations[0].lines[0].page_number == 7


def test_each_batch_of_vectors_is_searched_at_once(engine: RAGEngine, words_only: Document) -> None:
    assert do_next(engine, Lane.EMBEDDING)
    partly = engine.documents.get(words_only.id)
    assert (partly.status, partly.vector_count) == (DocumentStatus.EMBEDDING, EMBED_BATCH)
    assert 1 in pages_found(engine, 1, mode="vector", topK=100)
    assert PAGES not in pages_found(engine, PAGES, mode="vector", topK=100)
    assert [pages_found(engine, page)[0] for page in (1, PAGES)] == [1, PAGES]
    while do_next(engine, Lane.EMBEDDING):
        pass
    done = engine.documents.get(words_only.id)
    assert (done.status, done.vector_count) == (DocumentStatus.READY, PAGES)
    assert PAGES in pages_found(engine, PAGES, mode="vector", topK=100)


def test_what_is_found_in_the_end_is_the_same_as_if_it_had_been_read_at_once(
    engine: RAGEngine, words_only: Document
) -> None:
    worker.run(engine.installation, wait=False)
    bob = engine.installation.for_user("bob")
    assert bob.documents.process(bob.documents.add(fleet(), "fleet.pdf", enqueue=False).id).status == "ready"

    def scores(of: RAGEngine) -> dict[int, float]:
        asked = {"query": "Which cargo did number9 carry?", "retrieval": {"minScore": 0.0, "topK": PAGES}}
        return {hit.passage.page_number: hit.final_score for hit in of.search(asked).results}

    assert engine.documents.get(words_only.id).status is DocumentStatus.READY
    assert scores(engine) == pytest.approx(scores(bob))


def test_a_document_is_embedded_by_one_worker_at_a_time(
    engine: RAGEngine, embedder: Counting, words_only: Document
) -> None:
    embedder.asked.clear()
    embedder.may_go.clear()
    first = threading.Thread(target=do_next, args=(engine, Lane.EMBEDDING))
    first.start()
    try:
        assert embedder.asked.wait(60)
        assert not do_next(engine, Lane.EMBEDDING)
    finally:
        embedder.may_go.set()
        first.join()
    assert chunk_rows(engine, words_only) == (PAGES, EMBED_BATCH)


def test_claiming_a_finished_document_says_that_it_is_finished(
    engine: RAGEngine, words_only: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it was claimed in vain, the lane that it waits for found it claimed, and nothing to do."""
    kept_off: list[bool] = []

    def claim_late(connection: psycopg.Connection[Any], subject: dict[str, object]) -> bool:
        monkeypatch.undo()
        db = engine.installation.store
        change(db, "UPDATE documents SET status = 'queued', renewing = true WHERE id = %s", words_only.id)
        claimed = scheduling.try_lock(connection, subject)
        kept_off.append(do_next(engine, Lane.RENEWING))
        return claimed

    monkeypatch.setattr(scheduling, "try_lock", claim_late)
    assert do_next(engine, Lane.EMBEDDING)
    assert kept_off == [False]


def test_the_new_version_takes_over_in_one_moment(
    engine: RAGEngine, embedder: Counting, tmp_path: Path, words_only: Document
) -> None:
    worker.run(engine.installation, wait=False)
    changed = tmp_path / "changed.pdf"
    changed.write_bytes(pdfs.plain(["The lighthouse of Skagen burns all night."]))
    engine.installation.files.of("ann").put(words_only.id, "original", changed)
    engine.documents.retry(words_only.id)
    embedder.asked.clear()
    embedder.may_go.clear()
    renewing = threading.Thread(target=do_next, args=(engine, Lane.RENEWING))
    renewing.start()
    try:
        assert embedder.asked.wait(60)
        assert engine.documents.get(words_only.id).searchable
        assert pages_found(engine, 7, mode="lexical")[0] == 7
        assert chunk_rows(engine, words_only) == (PAGES, PAGES)
    finally:
        embedder.may_go.set()
        renewing.join()
    assert chunk_rows(engine, words_only) == (1, 1)
    assert engine.documents.get(words_only.id).status is DocumentStatus.READY
    assert engine.search({"query": "What burns all night?"}).results[0].passage.page_number == 1


def test_the_beginning_of_a_document_can_be_asked_while_the_rest_is_read(db: Store) -> None:
    ann = Owner.of(db, "ann")
    document, texts = ann.add("long.pdf"), ["a zebra", "a lion", "a whale"]
    db.of("ann").documents.update_progress(document.id, DocumentStatus.PARSING, 1, 3)

    def put(count: int, **more: Any) -> Document:
        db.of("ann").chunks.replace(
            document.id,
            SPACE,
            parsed=make_parsed(texts[:count]),
            chunks=make_chunks(document.id, texts[:count]),
            vectors=None,
            search_texts=texts[:count],
            while_read=True,
            **more,
        )
        return db.of("ann").documents.get(document.id)

    begun = put(1, partial=True)
    assert (begun.status, begun.searchable, begun.progress.done) == (DocumentStatus.PARSING, True, 1)
    assert len(db.of("ann").chunks.lexical(ann.scope, "zebra", 9).chunks) == 1
    assert db.of("ann").documents.lane(document.id) is Lane.READING
    db.of("ann").documents.cancel([document.id])
    assert db.of("ann").documents.resume(document.id).status is DocumentStatus.QUEUED  # words are missing, not vectors
    whole = put(3)
    assert (whole.status, whole.chunk_count) == (DocumentStatus.EMBEDDING, 3)
    assert db.of("ann").documents.lane(document.id) is Lane.EMBEDDING


# --- Cancelled ----------------------------------------------------------------------------------------


def test_a_document_that_waits_is_cancelled_and_tried_again(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.plain(), "a.pdf")
    assert engine.documents.cancel([document.id, uuid.uuid4()]) == [document.id]
    cancelled = engine.documents.get(document.id)
    assert (cancelled.status, cancelled.error_code, cancelled.error) == (
        DocumentStatus.FAILED, "cancelled", "Reading was cancelled. Retry to go on.",
    )  # fmt: skip
    assert engine.documents.cancel([document.id]) == []
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.FAILED
    engine.documents.retry(document.id)
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.READY


def test_a_document_is_cancelled_while_its_pages_are_read(engine: RAGEngine) -> None:
    document = engine.documents.add(fleet(), "fleet.pdf", enqueue=False)

    def cancel(stage: str, done: int, _: int) -> None:
        if (stage, done) == ("parsing", 3):
            engine.documents.cancel([document.id])

    cancelled = engine.documents.process(document.id, cancel)
    assert (cancelled.status, cancelled.error_code, cancelled.searchable) == (DocumentStatus.FAILED, "cancelled", False)
    assert chunk_rows(engine, document) == (0, 0)


def test_what_is_embedded_of_a_cancelled_document_is_not_embedded_again(
    engine: RAGEngine, embedder: Counting, words_only: Document
) -> None:
    do_next(engine, Lane.EMBEDDING)
    embedder.asked.clear()
    embedder.may_go.clear()
    second = threading.Thread(target=do_next, args=(engine, Lane.EMBEDDING))
    second.start()
    assert embedder.asked.wait(60)
    engine.documents.cancel([words_only.id])
    embedder.may_go.set()
    second.join()
    cancelled = engine.documents.get(words_only.id)
    assert (cancelled.status, cancelled.error_code) == (DocumentStatus.FAILED, "cancelled")
    assert (cancelled.vector_count, chunk_rows(engine, cancelled)) == (EMBED_BATCH, (PAGES, EMBED_BATCH))
    assert pages_found(engine, 7)[0] == 7  # its words were found, and are
    resumed = engine.documents.retry(words_only.id)
    assert (resumed.status, resumed.progress.done, resumed.progress.total) == (
        DocumentStatus.EMBEDDING,
        EMBED_BATCH,
        PAGES,
    )
    embedder.texts.clear()
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(words_only.id).status is DocumentStatus.READY
    assert len(embedder.texts) == PAGES - 2 * EMBED_BATCH  # the second batch was computed, and vectors are cached


def test_a_cancelled_second_reading_leaves_a_document_as_it_was(engine: RAGEngine, words_only: Document) -> None:
    worker.run(engine.installation, wait=False)
    ready = engine.documents.get(words_only.id)

    def cancel(stage: str, *_: int) -> None:
        if stage == "embedding":
            engine.documents.cancel([ready.id])

    after = engine.documents.process(ready.id, cancel, again=True)
    assert (after.status, after.error_code, after.indexed_at) == (DocumentStatus.READY, None, ready.indexed_at)
    assert [chunk.id for chunk in engine.store.chunks.of_document(ready.id)]
    assert pages_found(engine, 7)[0] == 7
    assert not do_next(engine, Lane.RENEWING)


# --- Failures -----------------------------------------------------------------------------------------

WORKER = """
import os, sys
from pathlib import Path
from rag import providers
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import Lane
from tests.embeddings import bag_of_words, register

def embed(texts):
    embedded.extend(texts)
    if len(embedded) > 32 * int(batches):
        os._exit(9)
    return model(texts)

url, folder, batches = sys.argv[1:]
embedded, model, registry = [], bag_of_words(64), providers.Registry()
register(registry, "own", 64, embed)
config = load_config(rag_data_dir=Path(folder), rag_database_url=url, rag_embed_model="own:model")
engine = RAGEngine(config, user_id="ann", registry=registry)
engine.installation.worker_tasks.process_next(Lane.READING, lambda: False)
while engine.installation.worker_tasks.process_next(Lane.EMBEDDING, lambda: False):
    pass
"""


@pytest.mark.long
@pytest.mark.parametrize("batches", [0, 1])
def test_what_a_killed_worker_leaves_is_finished_by_the_next(
    engine: RAGEngine, database_url: str, tmp_path: Path, batches: int
) -> None:
    document = engine.documents.add(fleet(), "fleet.pdf")
    assert forked.run(WORKER, database_url, tmp_path, batches) == 9
    left = engine.documents.get(document.id)
    assert (left.status, left.vector_count) == (DocumentStatus.EMBEDDING, batches * EMBED_BATCH)
    assert chunk_rows(engine, left) == (PAGES, batches * EMBED_BATCH)
    assert pages_found(engine, 7)[0] == 7
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.READY
    assert chunk_rows(engine, left) == (PAGES, PAGES)


def pass_time(db: Store, document: Document) -> None:
    """It is later: what was to wait has waited."""
    change(db, "UPDATE documents SET retry_after = now() WHERE id = %s AND retry_after IS NOT NULL", document.id)


def begin(engine: RAGEngine, document: Document) -> None:
    """The beginning of a document is searched, as it is while the rest of a long one is read."""
    text = "a zebra"
    engine.installation.store.of("ann").chunks.replace(
        document.id,
        engine.indexes.ensure().space,
        parsed=make_parsed([text]),
        chunks=make_chunks(document.id, [text]),
        vectors=None,
        search_texts=[text],
        partial=True,
        while_read=True,
    )


def test_a_document_that_ends_its_worker_again_and_again_is_given_up(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.plain(), "a.pdf")
    db = engine.installation.store
    for attempt in range(MAX_ATTEMPTS):
        pass_time(db, document)
        with db.document_scheduler.next(Lane.READING) as taken:
            assert taken is not None  # and is lost with its worker
            if attempt == 1:
                begin(engine, document)  # what ended its worker comes after that
        with db.document_scheduler.next(Lane.READING) as again:  # once it may have been chance
            assert (again is None) == (attempt > 0)
            if again:
                db.document_scheduler.give_back(again)
    pass_time(db, document)
    assert do_next(engine, Lane.READING)
    given_up = engine.documents.get(document.id)
    assert (given_up.status, given_up.error_code) == (DocumentStatus.FAILED, "unreadable_file")
    assert "Split the file" in (given_up.error or "")
    engine.documents.retry(document.id)
    assert do_next(engine, Lane.READING)
    assert engine.documents.get(document.id).searchable


def crowd_out(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let keeping a file fail, as it does on a full disk."""

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(UserFiles, "put", refuse)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.StoreError("The disk is full. Make room."), "store"),
        (OSError(errno.ENOSPC, "No space left on device"), "store"),
        (MemoryError(), "reading_interrupted"),
        (errors.ReadingInterruptedError("The system ended it."), "reading_interrupted"),
    ],
)
def test_what_the_machine_lacks_is_no_fault_of_the_document(
    engine: RAGEngine, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    document = engine.documents.add(fleet(), "fleet.pdf")
    with monkeypatch.context() as full:
        crowd_out(full, error)
        assert do_next(engine, Lane.READING)
    left = engine.documents.get(document.id)
    assert (left.status, left.error_code) == (DocumentStatus.QUEUED, code)
    assert left.error
    assert re.fullmatch(r"tried again in \d+ s", reading_progress(left) or "")
    assert engine.documents.list()[0].retry_after == left.retry_after
    note = engine.documents.add(pdfs.plain(), "note.pdf")
    assert do_next(engine, Lane.READING)  # and keeps nobody waiting
    assert not do_next(engine, Lane.READING)
    assert engine.documents.get(note.id).searchable
    assert not engine.installation.store.document_scheduler.is_due()
    pass_time(engine.installation.store, document)
    assert engine.installation.store.document_scheduler.is_due()
    worker.run(engine.installation, wait=False)
    done = engine.documents.get(document.id)
    assert (done.status, done.error, done.retry_after) == (DocumentStatus.READY, None, None)


def test_what_goes_on_failing_is_given_up_and_a_user_may_try_at_once(
    engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = engine.documents.add(fleet(), "fleet.pdf")
    pauses = []
    with monkeypatch.context() as full:
        crowd_out(full, errors.StoreError("The disk is full. Make room."))
        for _ in range(MAX_ATTEMPTS):
            assert do_next(engine, Lane.READING)
            left = engine.documents.get(document.id)
            if left.retry_after:
                pauses.append((left.retry_after - dt.datetime.now(dt.UTC)).total_seconds())
            pass_time(engine.installation.store, document)
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert all(later > 2 * sooner for sooner, later in itertools.pairwise(pauses))
    assert (left.status, left.retry_after) == (DocumentStatus.FAILED, None)
    assert left.error == f"The disk is full. Make room. It was tried {MAX_ATTEMPTS} times."
    engine.documents.retry(document.id)
    with monkeypatch.context() as full:
        crowd_out(full, errors.StoreError("The disk is full. Make room."))
        assert do_next(engine, Lane.READING)
    assert engine.documents.get(document.id).retry_after
    assert not do_next(engine, Lane.READING)
    assert engine.documents.retry(document.id).retry_after is None  # there is room now, says the user
    assert do_next(engine, Lane.READING)
    assert engine.documents.get(document.id).searchable


@pytest.mark.long
def test_a_parser_that_is_killed_each_time_does_not_fail_its_document(
    engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    more_than_a_pipe_holds = pdfs.pages(400, line=lambda page: " ".join([ship(page)] * 6), others=())
    document = engine.documents.add(more_than_a_pipe_holds, "fleet.pdf")
    read_words, killed = Ingestion.read_words, set()

    def kill() -> None:
        for child in psutil.Process().children(recursive=True)[::-1]:
            with contextlib.suppress(psutil.Error):  # it has ended with another
                if "rag.parsing.worker.fork_server" in child.cmdline():
                    child.kill()
                    killed.add(child.pid)

    def read(into: Ingestion, document: Document, reading: Reading) -> None:
        def record(*progress: Any) -> None:
            kill()
            reading.on_progress(*progress)

        read_words(into, document, reading._replace(on_progress=record))

    with monkeypatch.context() as deadly:
        deadly.setattr(Ingestion, "read_words", read)
        assert do_next(engine, Lane.READING)
    left = engine.documents.get(document.id)
    assert len(killed) > 3
    assert (left.status, left.error_code) == (DocumentStatus.QUEUED, "reading_interrupted")
    pass_time(engine.installation.store, document)
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.READY


def test_a_batch_of_vectors_that_fails_is_tried_again_in_its_lane(
    engine: RAGEngine, words_only: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise errors.StoreError("The database's disk is full.")

    with monkeypatch.context() as full:
        full.setattr(Chunks, "add_missing_vectors", refuse)
        assert do_next(engine, Lane.EMBEDDING)
    left = engine.documents.get(words_only.id)
    assert (left.status, left.searchable) == (DocumentStatus.EMBEDDING, True)
    assert (reading_progress(left) or "").startswith("tried again in")
    assert not do_next(engine, Lane.EMBEDDING)
    pass_time(engine.installation.store, words_only)
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(words_only.id).status is DocumentStatus.READY


def test_a_worker_that_stops_leaves_its_document_to_the_next(engine: RAGEngine) -> None:
    document = engine.documents.add(fleet(), "fleet.pdf")
    assert engine.installation.worker_tasks.process_next(Lane.READING, lambda: True)
    assert engine.documents.get(document.id).status is DocumentStatus.PARSING
    with engine.installation.store.document_scheduler.next(Lane.READING) as taken:
        assert taken is not None
        assert taken.attempts == 1
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.READY


def test_an_embedder_that_fails_leaves_words_and_is_tried_again(
    database_url: str, tmp_path: Path, engine: RAGEngine, words_only: Document
) -> None:
    def refuse(_: list[str]) -> list[list[float]]:
        raise errors.ProviderError("The vendor is down.")

    registry = providers.Registry()
    register(registry, "own", DIMENSIONS, refuse)
    config = load_config(rag_data_dir=tmp_path, rag_database_url=database_url, rag_embed_model="own:model")
    with RAGEngine(config, user_id="ann", registry=registry) as broken:
        assert do_next(broken, Lane.EMBEDDING)
    failed = engine.documents.get(words_only.id)
    assert (failed.status, failed.error_code, failed.searchable) == (DocumentStatus.FAILED, "provider", True)
    assert pages_found(engine, 7)[0] == 7
    assert engine.documents.retry(words_only.id).status is DocumentStatus.EMBEDDING
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(words_only.id).status is DocumentStatus.READY


def test_vectors_of_a_model_that_the_index_left_finish_nothing(db: Store) -> None:
    ann = Owner.of(db, "ann")
    document, text = ann.add("a.pdf"), "a zebra"
    chunks = make_chunks(document.id, [text])
    ann.put(document, chunks, [text])
    beside = EmbeddingSpace(provider="test", model="beside", dimensions=384)
    generation = db.of("ann").generations.add(ann.index.id, beside)
    db.of("ann").chunks.replace(
        document.id, SPACE, parsed=make_parsed([text]), chunks=chunks, vectors=None, search_texts=[text]
    )
    assert db.of("ann").generations.missing(generation) == [document.id]
    db.of("ann").chunks.add_vectors(document.id, beside, chunks=chunks, vectors=[random_vector(text)])
    assert db.of("ann").generations.switch(generation) is not None
    with pytest.raises(errors.IndexError):
        db.of("ann").chunks.add_missing_vectors(document.id, SPACE, {chunks[0].id: random_vector(text)})
    assert db.of("ann").chunks.without_vector(document.id, beside, 9) == []
    assert db.of("ann").chunks.add_missing_vectors(document.id, beside, {})
    assert db.of("ann").documents.get(document.id).status is DocumentStatus.READY
    (active, left) = db.of("ann").generations.list(ann.index.id)[::-1]
    assert db.of("ann").generations.missing(left) == [document.id]  # to go back, it is completed first
    assert (active.progress.done, left.progress.done) == (1, 0)
