"""Jobs at the same time, fair between users; cancelled, given way, and gone on with where they stood."""

import itertools
import signal
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from rag import errors, worker
from rag.engine import RAGEngine
from rag.engine import jobs as engine_jobs
from rag.engine.ingestion.folders import FileIngestion
from rag.engine.library.documents import Documents
from rag.engine.questions.questions import Questions
from rag.store.jobs.scheduling import MAX_ATTEMPTS, ClaimedJob
from rag.store.store import Store
from rag.types import AnswerRequest, AnswerResponse, DocumentStatus, FileReport, Job, Lane
from tests import forked, pdfs

QUESTIONS = 6
NO_ANSWER = AnswerResponse(status="insufficient_context", answer="", model="none")


def add_log(engine: RAGEngine) -> uuid.UUID:
    """A document of the user's that matrices can ask."""
    added = engine.documents.add(pdfs.plain(), "log.pdf", enqueue=False)
    assert engine.documents.process(added.id).status is DocumentStatus.READY
    return added.id


def start(engine: RAGEngine, count: int = QUESTIONS, word: str = "Question") -> Job:
    """A job that asks so many questions of the user's document."""
    (document,) = engine.documents.list()
    questions = [f"{word} {number}?" for number in range(count)]
    matrix = engine.matrices.create({"name": word, "documentIds": [document.id], "fields": questions})
    assert matrix.job_id
    return engine.store.jobs.get(matrix.job_id)


@pytest.fixture
def document_id(engine: RAGEngine) -> uuid.UUID:
    return add_log(engine)


@pytest.fixture
def job(engine: RAGEngine, document_id: uuid.UUID) -> Job:
    return start(engine)


def watch(monkeypatch: pytest.MonkeyPatch, before: Callable[[str], object] = lambda _: None) -> list[str]:
    """The questions that are asked from now on; none has an answer, and `before` is called before each."""
    asked = list[str]()

    def answer(_: Questions, request: AnswerRequest) -> AnswerResponse:
        asked.append(request.question)
        before(request.question)
        return NO_ANSWER

    monkeypatch.setattr(Questions, "answer", answer)
    return asked


def watch_files(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object] = lambda: None) -> list[str]:
    """The files that are taken in from now on; `before` is called before each."""
    take, taken = FileIngestion._ingest, list[str]()

    def watched(self: FileIngestion, path: Path, *arguments: Any) -> FileReport:
        taken.append(path.name)
        before()
        return take(self, path, *arguments)

    monkeypatch.setattr(FileIngestion, "_ingest", watched)
    return taken


def folder_of(folder: Path, count: int) -> Path:
    """A folder with so many files."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{folder.name} {number}.txt").write_text(f"This is {number} of {folder.name}.")
    return folder


def do_job(engine: RAGEngine) -> Job | None:
    return engine.installation.worker_tasks.run_next_job(lambda: False)


def change(engine: RAGEngine, statement: str) -> None:
    with psycopg.connect(engine.installation.database_url) as connection:
        connection.execute(statement.encode())


def pass_time(engine: RAGEngine) -> None:
    """It is later: what was to wait has waited."""
    change(engine, "UPDATE jobs SET retry_after = now() WHERE retry_after IS NOT NULL")


# --- Where it stood -----------------------------------------------------------------------------------

WORKER = """
import os, signal, sys
from pathlib import Path
from rag.config import load_config
from rag.engine import RAGEngine
from rag.engine.questions.questions import Questions

url, folder, most = sys.argv[1:]
answer, asked = Questions.answer, []

def dying(self, request):
    if len(asked) == int(most):
        os.kill(os.getpid(), signal.SIGKILL)
    asked.append(request)
    return answer(self, request)

Questions.answer = dying
config = load_config(rag_data_dir=Path(folder), rag_database_url=url)
RAGEngine(config, user_id="ada").installation.worker_tasks.run_next_job(lambda: False)
"""


@pytest.mark.long
def test_a_matrix_whose_worker_is_killed_goes_on_at_the_next_question(
    engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, folder = engine.installation.database_url, engine.config.rag_data_dir
    assert forked.run(WORKER, url, folder, 4) == -signal.SIGKILL
    left = engine.store.jobs.get(job.id)
    assert (left.status, left.progress.done, left.progress.total) == ("running", 4, QUESTIONS)
    shown = list[int]()
    asked = watch(monkeypatch, lambda _: shown.append(engine.store.jobs.get(job.id).progress.done))
    worker.run(engine.installation, wait=False)
    done = engine.store.jobs.get(job.id)
    assert (asked, shown) == (["Question 4?", "Question 5?"], [4, 5])
    assert (done.status, done.progress.done) == ("done", QUESTIONS)
    assert done.started_at == left.started_at
    assert done.result is not None
    assert done.result["found"] + done.result["notStated"] == QUESTIONS


def test_documents_that_were_read_again_are_not_read_a_third_time(
    engine: RAGEngine, document_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = engine.documents.add(pdfs.plain(), "other.pdf", enqueue=False)
    engine.documents.process(other.id)
    job = engine.jobs.start_reindex()
    process, read = Documents.process, []

    def dying(self: Documents, found: uuid.UUID, *, again: bool) -> object:
        read.append(found)
        if len(read) == 2:
            raise SystemExit  # as a killed worker does nothing more
        return process(self, found, again=again)

    monkeypatch.setattr(Documents, "process", dying)
    with pytest.raises(SystemExit):
        do_job(engine)
    do_job(engine)
    assert read == [other.id, document_id, document_id]
    done = engine.store.jobs.get(job.id)
    assert done.result is not None
    assert (done.status, done.result["ready"]) == ("done", 2)


def test_a_job_that_ends_its_worker_again_and_again_is_given_up(engine: RAGEngine, job: Job) -> None:
    db = engine.installation.store
    for attempt in range(MAX_ATTEMPTS):
        pass_time(engine)
        with db.job_scheduler.next() as taken:
            assert taken is not None
            db.of("ada").jobs.start(job.id)  # and is lost with its worker
        with db.job_scheduler.next() as again:  # once it may have been chance
            assert (again is None) == (attempt > 0)
    pass_time(engine)
    assert do_job(engine)
    given_up = engine.store.jobs.get(job.id)
    assert (given_up.status, given_up.error_code) == ("failed", "reading_interrupted")
    assert "ended every time" in (given_up.error or "")


def test_a_job_that_could_not_go_on_does_so_later(engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(query: str) -> None:
        if query == "Question 3?":
            raise errors.StoreError("The database's disk is full.")

    with monkeypatch.context() as full:
        asked = watch(full, refuse)
        assert do_job(engine)
    assert len(asked) == 4
    left = engine.store.jobs.get(job.id)
    assert (left.status, left.error) == ("queued", "The database's disk is full.")
    assert left.retry_after
    assert do_job(engine) is None
    pass_time(engine)
    assert engine.installation.store.document_scheduler.is_due()
    asked = watch(monkeypatch)
    worker.run(engine.installation, wait=False)
    assert (asked[0], engine.store.jobs.get(job.id).status, engine.store.jobs.get(job.id).error) == (
        "Question 3?",
        "done",
        None,
    )


def test_a_worker_that_stops_leaves_its_job_to_the_next(
    engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = watch(monkeypatch)
    for _ in range(MAX_ATTEMPTS + 1):
        engine.installation.worker_tasks.run_next_job(lambda: len(asked) % 2 == 1)
        asked.append("stopped")
    assert engine.store.jobs.get(job.id).status == "done"
    assert [query for query in asked if query != "stopped"] == [f"Question {n}?" for n in range(QUESTIONS)]


# --- Cancelled ----------------------------------------------------------------------------------------


def test_a_job_that_waits_is_cancelled(engine: RAGEngine, job: Job) -> None:
    cancelled = engine.store.jobs.cancel(job.id)
    assert (cancelled.status, cancelled.error_code, cancelled.result) == ("cancelled", "cancelled", None)
    assert cancelled.finished_at
    assert do_job(engine) is None
    assert engine.store.jobs.cancel(job.id) == cancelled
    with pytest.raises(errors.NotFoundError):
        engine.store.jobs.cancel(uuid.uuid4())
    with pytest.raises(errors.NotFoundError):
        engine.installation.for_user("bob").store.jobs.cancel(job.id)


def test_a_running_job_ends_after_its_question(engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def cancel(query: str) -> None:
        if query == "Question 2?":
            engine.store.jobs.cancel(job.id)

    asked = watch(monkeypatch, cancel)
    worker.run(engine.installation, wait=False)
    assert len(asked) == 3
    assert (engine.store.jobs.get(job.id).status, engine.store.jobs.get(job.id).result) == ("cancelled", None)


def test_a_sync_ends_after_its_file(engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = engine.jobs.start_reindex({"source": {"folderId": str(folder_of(tmp_path / "a", 3))}})
    taken = watch_files(monkeypatch, lambda: engine.store.jobs.cancel(job.id))
    worker.run(engine.installation, wait=False)
    assert (engine.store.jobs.get(job.id).status, len(taken)) == ("cancelled", 1)


def test_a_reindex_that_follows_folders_ends_after_its_file(
    engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b"):
        engine.sync_index({"source": {"folderId": str(folder_of(tmp_path / name, 1))}})
        folder_of(tmp_path / name, 3)
    job = engine.jobs.start_reindex()
    taken = watch_files(monkeypatch, lambda: engine.store.jobs.cancel(job.id))
    worker.run(engine.installation, wait=False)
    assert (engine.store.jobs.get(job.id).status, len(taken)) == ("cancelled", 1)
    assert "follows" not in caplog.text


# --- At the same time ---------------------------------------------------------------------------------


def test_matrices_are_filled_side_by_side(
    engine: RAGEngine, document_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=60)  # breaks unless two are asked at the same time
    jobs = [start(engine, 2) for _ in range(2)]
    watch(monkeypatch, lambda _: both.wait())
    worker.run(engine.installation, wait=False, concurrency=2)
    assert [engine.store.jobs.get(job.id).status for job in jobs] == ["done", "done"]


def order(db: Store) -> list[uuid.UUID]:
    """All jobs as workers take them; what is taken is done."""
    taken_up: list[uuid.UUID] = []
    while True:
        with db.job_scheduler.next() as taken:
            if taken is None:
                return taken_up
            taken_up.append(taken.job_id)
            db.of(taken.user_id).jobs.start(taken.job_id)
            db.of(taken.user_id).jobs.fail(taken.job_id, "code", "done")


def test_users_take_turns_and_small_jobs_come_first(db: Store) -> None:
    def create(user: str, kind: Any, cells: int = 0) -> uuid.UUID:
        return db.of(user).jobs.create(kind, "default", {"cells": cells}).id

    large, sync, small = create("ann", "matrix", 60), create("ann", "sync"), create("ann", "matrix", 5)
    first, second = create("bob", "matrix", 60), create("bob", "matrix", 60)
    assert order(db) == [small, first, large, second, sync]


def test_a_matrix_is_weighed_by_its_cells(engine: RAGEngine, document_id: uuid.UUID) -> None:
    medium, large, small = (start(engine, count).id for count in (25, 50, 2))
    assert order(engine.installation.store) == [small, medium, large]


def test_one_job_at_a_time_takes_files_into_an_index(db: Store) -> None:
    for user, kind, index in (
        *(("ann", "sync", "a"), ("ann", "reindex", "a"), ("ann", "sync", "b"), ("bob", "sync", "a")),
        ("ann", "matrix", "a"),
    ):
        db.of(user).jobs.create(kind, index, {"cells": 1})  # type: ignore[arg-type]  # each is a kind

    def what(taken: ClaimedJob | None) -> tuple[str, str, str] | None:
        if taken is None:
            return None
        job = db.of(taken.user_id).jobs.get(taken.job_id)
        return job.user_id, job.kind, job.index_name

    with (
        db.job_scheduler.next() as first,
        db.job_scheduler.next() as second,
        db.job_scheduler.next() as third,
        db.job_scheduler.next() as fourth,
        db.job_scheduler.next() as none,
    ):
        assert {what(taken) for taken in (first, second, third, fourth)} == {
            *(("ann", "matrix", "a"), ("bob", "sync", "a"), ("ann", "sync", "a"), ("ann", "sync", "b"))
        }
        assert none is None


def test_a_sync_that_finds_another_at_its_index_waits(engine: RAGEngine, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("The first.")
    index = engine.indexes.ensure()
    job = engine.jobs.start_reindex({"source": {"folderId": str(tmp_path / "folder")}})
    documents = engine.installation.store.of("ada").documents
    with documents.lock(uuid.uuid5(index.id, "intake")) as claimed:  # as the command line has it
        assert claimed
        assert do_job(engine)
    assert (engine.store.jobs.get(job.id).status, engine.store.jobs.get(job.id).error_code) == ("queued", "index")
    pass_time(engine)
    assert do_job(engine)
    assert engine.store.jobs.get(job.id).status == "done"


# --- In turns -----------------------------------------------------------------------------------------


def test_a_short_job_is_done_before_long_ones_of_another_user_that_have_all_threads(
    engine: RAGEngine, document_id: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_jobs, "TIME_SLICE_SECONDS", 0.0)
    bob = engine.installation.for_user("bob")
    add_log(bob)
    long = {word: start(engine, 40, word).id for word in ("First", "Second")}
    short: list[uuid.UUID] = []
    both = threading.Barrier(2, lambda: short.append(start(bob, 3, "Short").id), timeout=60)
    shown: dict[str, list[int]] = {word: [] for word in long}
    waited: list[str] = []

    def look(query: str) -> None:
        word, _, number = query.rstrip("?").partition(" ")
        if word not in long:
            return
        job = engine.store.jobs.get(long[word])
        assert job.status == "running"
        shown[word].append(job.progress.done)
        if number == "0":
            both.wait()  # each has a thread
        elif number == "39":
            waited.append(bob.store.jobs.get(short[0]).status)

    asked = watch(monkeypatch, look)
    worker.run(engine.installation, wait=False, concurrency=2)
    assert waited == ["done", "done"]
    assert shown == {word: [*range(40)] for word in long}
    assert len(asked) == len({*asked}) == 83
    assert {engine.store.jobs.get(job).status for job in long.values()} == {"done"}


class TwoSteps:
    """A turn of two steps."""

    def __init__(self) -> None:
        self._steps = itertools.count()

    def is_over(self) -> bool:
        return next(self._steps) >= 2


def test_users_take_turns_on_one_thread(engine: RAGEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_jobs, "_TimeSlice", TwoSteps)
    for user in (engine, *(engine.installation.for_user(name) for name in ("bob", "carl"))):
        add_log(user)
        start(user, 4, user.user_id)
    asked = watch(monkeypatch)
    worker.run(engine.installation, wait=False, concurrency=1)
    assert [query.split()[0] for query in asked] == ["ada", "ada", "bob", "bob", "carl", "carl"] * 2


def test_a_sync_that_gave_way_goes_on_at_the_next_file(
    engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_jobs, "_TimeSlice", TwoSteps)
    taken = watch_files(monkeypatch)
    jobs = []
    for user in (engine, engine.installation.for_user("bob")):
        folder = folder_of(tmp_path / user.user_id, 3)
        jobs.append((user, user.jobs.start_reindex({"source": {"folderId": str(folder)}}).id))
    assert do_job(engine)
    left = engine.store.jobs.get(jobs[0][1])
    assert (left.status, left.progress.done, left.finished_at, left.retry_after) == ("running", 2, None, None)
    worker.run(engine.installation, wait=False, concurrency=1)
    assert taken == ["ada 0.txt", "ada 1.txt", "bob 0.txt", "bob 1.txt", "ada 2.txt", "bob 2.txt"]
    for user, job_id in jobs:
        done = user.store.jobs.get(job_id)
        assert done.result is not None
        assert (done.status, done.result["added"], done.result["unchanged"], done.progress.done) == ("done", 3, 0, 3)


def test_a_job_gives_way_to_nobody_who_has_a_thread_or_does_not_wait(
    engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_jobs, "_TimeSlice", TwoSteps)
    other = start(engine)  # of the same user
    bob = engine.installation.for_user("bob")
    add_log(bob)
    served, _ = (start(bob).id for _ in range(2))
    watch(monkeypatch)
    with engine.installation.store.of("bob").jobs.lock(served):
        assert do_job(engine)
        assert [engine.store.jobs.get(one.id).status for one in (job, other)] == ["done", "queued"]


def test_a_turn_is_long_enough_to_get_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(engine_jobs, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def over(turn: engine_jobs._TimeSlice, at: float) -> bool:
        now[0] = at
        return turn.is_over()

    short = engine_jobs._TimeSlice()
    assert [over(short, at) for at in (1, engine_jobs.TIME_SLICE_SECONDS, 1 + engine_jobs.TIME_SLICE_SECONDS)] == [
        False,
        False,
        True,
    ]
    now[0] = 0
    long = engine_jobs._TimeSlice()  # that goes through a large folder first
    assert [over(long, at) for at in (1000, 1999, 2000)] == [False, False, True]


# --- Uploads first ------------------------------------------------------------------------------------


def test_a_job_lets_an_upload_go_first(engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_jobs, "YIELD_SECONDS", 600.0)  # of a slow machine
    uploads: list[uuid.UUID] = []
    ready: list[bool] = []

    def upload(query: str) -> None:
        ready.extend(engine.documents.get(found).status is DocumentStatus.READY for found in uploads)
        if query == "Question 1?":
            uploads.append(engine.documents.add(pdfs.pages(5), "upload.pdf").id)
            readers.append(threading.Thread(target=read))
            readers[0].start()

    def read() -> None:
        for lane in (Lane.READING, Lane.EMBEDDING):
            while engine.installation.worker_tasks.process_next(lane, lambda: False):
                pass

    readers: list[threading.Thread] = []
    watch(monkeypatch, upload)
    assert do_job(engine)
    readers[0].join()
    assert engine.store.jobs.get(job.id).status == "done"
    assert ready == [True] * (QUESTIONS - 2)


def test_a_job_does_not_wait_for_ever_for_uploads(engine: RAGEngine, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_jobs, "YIELD_SECONDS", 0.1)
    engine.documents.add(pdfs.plain(), "upload.pdf")
    with engine.installation.store.document_scheduler.next(Lane.READING) as taken:
        assert taken  # and takes long
        assert do_job(engine)
    assert engine.store.jobs.get(job.id).status == "done"
