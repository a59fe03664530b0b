"""How the installation is: what waits and runs, what was done, the room that is left, the last backup."""

import shutil
from pathlib import Path

import psycopg
import pytest

from rag import errors, worker
from rag.config import load_config
from rag.engine import RAGEngine
from rag.engine.operations.status import MB, SPACE_FACTOR, disk_spaces, require_free_space, warnings
from rag.types import DiskState, LaneStatus, Status
from tests import pdfs


def lane(status: Status, name: str) -> LaneStatus:
    return next(lane for lane in status.lanes if lane.lane == name)


def test_waiting_and_running_work_are_counted_apart(engine: RAGEngine) -> None:
    first = engine.documents.add(pdfs.plain(["The first."]), "first.pdf")
    engine.documents.add(pdfs.plain(["The second."]), "second.pdf")
    engine.installation.for_user("bob").documents.add(pdfs.plain(["The third."]), "third.pdf")
    before = engine.installation.status()
    assert (lane(before, "reading").waiting, lane(before, "reading").running, before.running) == (3, 0, ())
    assert (lane(before, "reading").oldest_seconds or 0) > 0
    assert any("no worker is alive" in warning for warning in before.warnings)

    with engine._workspace.store.documents.lock(first.id) as claimed:
        assert claimed
        during = engine.installation.status()
    assert (lane(during, "reading").waiting, lane(during, "reading").running) == (2, 1)
    (running,) = during.running
    assert (running.kind, running.user_id, running.id) == ("reading", "ada", first.id)
    assert "first.pdf" not in during.model_dump_json()

    worker.run(engine.installation, wait=False)
    after = engine.installation.status()
    assert [(found.waiting, found.running, found.oldest_seconds) for found in after.lanes] == [(0, 0, None)] * 5
    assert (after.library.users, after.library.documents, after.library.pages) == (2, 3, 3)
    assert after.library.original_bytes == sum(document.size for document in engine.documents.list()) + sum(
        document.size for document in engine.installation.for_user("bob").documents.list()
    )
    done = after.counts
    assert (done.documents_read, done.pages_read, done.chunks_embedded, dict(done.failures)) == (3, 3, 3, {})
    assert after.indexes.is_good


def test_failures_are_counted_by_their_codes_and_renewed_documents_once_more(engine: RAGEngine) -> None:
    good = engine.documents.add(pdfs.plain(["A sound page."]), "good.pdf")
    engine.documents.add(pdfs.plain(["A page."])[:400], "cut.pdf")
    worker.run(engine.installation, wait=False)
    assert dict(engine.installation.status().counts.failures) == {"unreadable_file": 1}
    engine.documents.retry(good.id)
    worker.run(engine.installation, wait=False)
    counts = engine.installation.status().counts
    assert (counts.documents_read, counts.chunks_embedded) == (2, 2)


def test_what_is_wrong_with_indexes_is_told(engine: RAGEngine, database_url: str) -> None:
    engine.documents.process(engine.documents.add(pdfs.plain(["A page."]), "a.pdf", enqueue=False).id)
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE documents SET vector_count = 0")
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'documents_pkey'::regclass")
    status = engine.installation.status()
    assert (status.indexes.missing_vectors, status.indexes.invalid) == (1, ("documents_pkey",))
    assert not status.indexes.is_good
    told = " ".join(status.warnings)
    assert "1 chunks of ready documents have no vector" in told
    assert "documents_pkey" in told


def test_the_last_backup_is_remembered_and_looked_for(engine: RAGEngine, tmp_path: Path) -> None:
    assert engine.installation.status().backup is None
    engine.documents.process(engine.documents.add(pdfs.plain(["A page."]), "a.pdf", enqueue=False).id)
    engine.installation.backup(tmp_path / "first.tar")
    manifest = engine.installation.backup(tmp_path / "second.tar")
    backup = engine.installation.status().backup
    assert backup is not None
    assert (backup.path, backup.created_at) == (str(tmp_path / "second.tar"), manifest.created_at)
    assert (backup.bytes, backup.documents) == ((tmp_path / "second.tar").stat().st_size, 1)
    assert backup.is_present
    assert backup.verified_at
    (tmp_path / "second.tar").rename(tmp_path / "elsewhere.tar")
    moved = engine.installation.status().backup
    assert moved is not None
    assert not moved.is_present


# --- room ---


def test_low_disk_space_is_a_warning(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free // MB
    low = load_config(rag_data_dir=tmp_path, rag_disk_warning_mb=free * 2, rag_disk_reserve_mb=0)
    full = load_config(rag_data_dir=tmp_path, rag_disk_reserve_mb=free * 2)
    good = load_config(rag_data_dir=tmp_path, rag_disk_warning_mb=0, rag_disk_reserve_mb=0)
    states = [[space.state for space in disk_spaces(config) if space.place == "data"] for config in (good, low, full)]
    assert states == [[DiskState.GOOD], [DiskState.LOW], [DiskState.FULL]]
    assert warnings(disk_spaces(good)) == ()
    assert "Make room soon" in warnings(disk_spaces(low))[0]
    assert "Uploads are refused" in warnings(disk_spaces(full))[0]


def test_a_file_is_refused_that_would_leave_less_than_the_reserve(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    config = load_config(rag_data_dir=tmp_path, rag_disk_reserve_mb=0)
    require_free_space(config, 1)
    with pytest.raises(errors.DiskFullError, match=r"not taken in.*RAG_DISK_RESERVE_MB") as refused:
        require_free_space(config, free * 2 // SPACE_FACTOR)
    assert refused.value.http_status == 507
    assert isinstance(refused.value, errors.StoreError)


def test_a_refused_upload_leaves_nothing(database_url: str, tmp_path: Path) -> None:
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_disk_reserve_mb=10**9)
    with RAGEngine(config) as engine:
        with pytest.raises(errors.DiskFullError):
            engine.documents.add(pdfs.plain(["A page."]), "a.pdf")
        assert engine.documents.list() == []
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
