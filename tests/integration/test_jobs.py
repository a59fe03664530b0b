"""Jobs: long work that a user starts, a worker does, and nobody but the user sees."""

import uuid
from pathlib import Path

import fsspec
import pytest

from rag import errors, worker
from rag.engine import RAGEngine
from tests import pdfs

PAGES = {1: "The harbour handled 4,812 ships.", 2: "The orchard grows eleven kinds of pears."}


@pytest.fixture
def document_id(engine: RAGEngine) -> uuid.UUID:
    added = engine.documents.add(pdfs.pages(2, line=PAGES.__getitem__), "facts.pdf", enqueue=False)
    assert engine.documents.process(added.id).status == "ready"
    return added.id


def test_reindexing_reads_every_document_anew(engine: RAGEngine, document_id: uuid.UUID) -> None:
    before = engine.documents.get(document_id).indexed_at
    job = engine.jobs.start_reindex()
    worker.run(engine.installation, wait=False)
    assert engine.store.jobs.get(job.id).result == {
        "documents": 1,
        "ready": 1,
        "failed": 0,
        "folders": [],
        "unreadableFolders": 0,
    }
    after = engine.documents.get(document_id)
    assert after.status == "ready"
    assert after.indexed_at is not None
    assert before is not None
    assert after.indexed_at > before


def test_a_folder_is_followed(engine: RAGEngine, tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "one.pdf").write_bytes(pdfs.plain())
    job = engine.jobs.start_reindex({"indexName": "reports", "source": {"folderId": str(folder)}})
    worker.run(engine.installation, wait=False)
    done = engine.store.jobs.get(job.id)
    assert (done.kind, done.status) == ("sync", "done")
    assert done.result is not None
    assert done.result["added"] == 1
    assert [document.name for document in engine.documents.list("reports")] == ["one.pdf"]


def test_reindexing_catches_up_with_the_folders_that_are_followed(
    engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("reports", "letters", "once"):
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / f"{name}.txt").write_text(f"One of the {name}.")
    monkeypatch.chdir(tmp_path)
    engine.sync_index({"source": {"folderId": "reports", "includeSubfolders": False}})
    engine.sync_index({"source": {"folderId": "letters"}})
    engine.build_index({"source": {"folderId": "once"}})
    engine.installation.for_user("bob").sync_index({"source": {"folderId": "once"}})
    monkeypatch.chdir("/")  # a worker may run elsewhere
    for name in ("reports", "letters", "once"):
        (tmp_path / name / "new.txt").write_text(f"A new one of the {name}.")
        (tmp_path / name / "below" / "deep.txt").write_text(f"Below the {name}.")
    (tmp_path / "reports" / "reports.txt").unlink()
    job = engine.jobs.start_reindex()
    worker.run(engine.installation, wait=False)
    done = engine.store.jobs.get(job.id)
    assert done.result is not None, done
    assert {document.shown_source for document in engine.documents.list()} == {
        *("new.txt", "letters.txt", "below/deep.txt", "once.txt")
    }
    assert len(engine.documents.list()) == 5  # both new.txt
    assert sorted((found["added"], found["removed"]) for found in done.result["folders"]) == [(1, 1), (2, 0)]
    assert (done.result["documents"], done.result["ready"], done.result["unreadableFolders"]) == (3, 2, 0)
    assert [document.name for document in engine.installation.for_user("bob").documents.list()] == ["once.txt"]


def test_a_followed_folder_that_is_gone_stops_nothing_and_removes_nothing(engine: RAGEngine, tmp_path: Path) -> None:
    for name in ("gone", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"The first of {name}.")
        engine.sync_index({"source": {"folderId": str(tmp_path / name)}})
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    (tmp_path / "kept" / "b.txt").write_text("The second.")
    job = engine.jobs.start_reindex()
    worker.run(engine.installation, wait=False)
    done = engine.store.jobs.get(job.id)
    assert done.result is not None, done
    assert (done.status, done.result["unreadableFolders"], done.result["ready"]) == ("done", 1, 2)
    assert len(engine.documents.list()) == 3


def test_what_is_remembered_of_a_folder_has_no_key(engine: RAGEngine) -> None:
    files = fsspec.filesystem("memory")
    files.pipe_file("/ada:a-password@followed/a.txt", b"The first.")
    try:
        source = {"folderId": "memory://ada:a-password@followed"}
        engine.sync_index({"source": source, "auth": {"apiKey": "sk-secret"}})
        index = engine.indexes.ensure()
        (kept,) = engine.installation.store.of("ada").indexes.followed(index.id)
    finally:
        files.rm("/ada:a-password@followed", recursive=True)
    assert "memory://" in str(kept)
    assert "a-password" not in str(kept)
    assert "sk-secret" not in str(kept)


def test_a_job_that_fails_says_why(engine: RAGEngine) -> None:
    job = engine.jobs.start_reindex({"indexName": "x", "source": {"folderId": "/there/is/no/such/folder"}})
    worker.run(engine.installation, wait=False)
    failed = engine.store.jobs.get(job.id)
    assert (failed.status, failed.error_code) == ("failed", "source")
    assert failed.error
    assert engine.jobs.run(job.id) == failed  # what has ended is not done again


def test_jobs_are_listed_the_latest_first(engine: RAGEngine, document_id: uuid.UUID) -> None:
    first = engine.jobs.start_reindex()
    matrix = engine.matrices.create({"name": "m", "documentIds": [document_id], "fields": ["How many?"]})
    assert matrix.job_id
    second = engine.store.jobs.get(matrix.job_id)
    assert (second.status, second.kind, second.result) == ("queued", "matrix", None)
    assert [job.id for job in engine.store.jobs.list()] == [second.id, first.id]
    assert [job.id for job in engine.store.jobs.list(kind="reindex")] == [first.id]
    assert [job.id for job in engine.store.jobs.list(limit=1, offset=1)] == [first.id]


def test_an_invalid_job_is_refused_at_once(engine: RAGEngine, document_id: uuid.UUID) -> None:
    with pytest.raises(errors.NotFoundError):
        engine.jobs.start_reindex({"indexName": "no such index"})
    assert engine.store.jobs.list() == []
