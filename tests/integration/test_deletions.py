"""Files that nobody owns: what killed uploads, purges and backups leave is found and goes, and nothing else."""

import datetime as dt
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import psycopg
import pytest

from rag import errors
from rag.config import load_config
from rag.engine import RAGEngine
from rag.store.files import file_storage, orphans
from rag.store.files.file_storage import FileStore, Kind, UserFiles
from rag.store.store import Store
from rag.types import Document, DocumentStatus, OrphanReport
from tests import forked, pdfs
from tests.integration.samples import Owner

NOW = dt.timedelta(0)
PASSWORD = "open sesame"
OLD_SECONDS = 2 * 24 * 3600


@pytest.fixture(params=["local", "remote"])
def library(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[RAGEngine]:
    """Ada's engine over files of this machine, and over fsspec's memory, which stands for any that are elsewhere."""
    name = uuid.uuid4().hex
    url = None if request.param == "local" else f"memory://{name}"
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_storage_url=url)
    with RAGEngine(config, user_id="ada") as opened:
        yield opened
    memory = fsspec.filesystem("memory")
    if memory.exists(f"/{name}"):
        memory.rm(f"/{name}", recursive=True)


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of other programs is looked at, let alone cleared away."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def add(engine: RAGEngine, name: str = "harbour.pdf", **more: Any) -> Document:
    return engine.documents.add(pdfs.plain([f"The file {name} tells of ships."]), name, enqueue=False, **more)


def files_of(engine: RAGEngine, document_id: uuid.UUID) -> int:
    return engine._workspace.files.disk_usage(document_id).files


def noted(url: str) -> set[tuple[uuid.UUID, bool]]:
    with psycopg.connect(url) as connection:
        return {*connection.execute("SELECT document_id, draft FROM deletions").fetchall()}


def found(report: OrphanReport) -> dict[str, int]:
    return report.model_dump(exclude_defaults=True, exclude={"deleted", "bytes"})


def make_old(path: Path) -> None:
    for one in (path, *path.rglob("*")):
        os.utime(one, (time.time() - OLD_SECONDS,) * 2, follow_symlinks=False)


class StepFiles(FileStore):
    """Calls `on_step` before and after each step with files."""

    def __init__(self, url: str, cache_dir: Path, on_step: Callable[[str], None]) -> None:
        super().__init__(url, cache_dir)
        self.on_step = on_step

    def in_folder(self, owner: str) -> UserFiles:
        return StepUserFiles(super().in_folder(owner), self.on_step)


class StepUserFiles(UserFiles):
    def __init__(self, files: UserFiles, on_step: Callable[[str], None]) -> None:
        super().__init__(files._files, files._root, files._cache_dir)
        self._on_step = on_step

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        self._on_step(f"before {kind}")
        super().put(document_id, kind, path)
        self._on_step(f"after {kind}")

    def delete(self, document_id: uuid.UUID) -> None:
        self._on_step("before deletion")
        super().delete(document_id)
        self._on_step("after deletion")


def stepping(url: str, folder: Path, on_step: Callable[[str], None]) -> RAGEngine:
    """Ada's engine over the same files, in the steps of which something happens."""
    config = load_config(rag_data_dir=folder, rag_database_url=url)
    return RAGEngine(config, user_id="ada", files=StepFiles(config.storage_url, config.cache_dir, on_step))


KILLED = """
import os, sys, uuid
from pathlib import Path
from tests import pdfs
from tests.integration.test_deletions import PASSWORD, stepping

url, folder, step, wanted = sys.argv[1:]
engine = stepping(url, Path(folder), lambda at: os._exit(9) if at == step else None)
if wanted == "upload":
    engine.documents.add(pdfs.encrypted(PASSWORD), "locked.pdf", password=PASSWORD, enqueue=False)
else:
    engine.documents.purge([uuid.UUID(wanted)])
"""


def kill_at(step: str, wanted: str, url: str, folder: Path) -> None:
    """A process that is ended in the middle, as by kill -9 or the power."""
    assert forked.run(KILLED, url, folder, step, wanted) == 9


# --- purge ---


def test_a_purge_gives_a_receipt_that_is_counted(library: RAGEngine, database_url: str) -> None:
    documents = [library.documents.process(add(library, name).id) for name in ("a.pdf", "b.pdf", "c.pdf")]
    assert {document.status for document in documents} == {DocumentStatus.READY}
    first, second, third = (document.id for document in documents)
    library.documents.trash([first, second])
    size = sum(library._workspace.files.disk_usage(one).bytes for one in (first, second))
    with psycopg.connect(database_url) as connection:
        count = "SELECT count(*), count(embedding) FROM document_chunks WHERE document_id = ANY (%s)"
        chunks, vectors = connection.execute(count, [[first, second]]).fetchone() or (0, 0)

        def rows() -> int:
            tables = ("documents", "postings", "landmarks", "upload_keys", "document_chunks")
            counted = " + ".join(f"(SELECT count(*) FROM {table})" for table in tables)
            return int((connection.execute(f"SELECT {counted}").fetchone() or (0,))[0])

        before = rows()
        receipt = library.documents.purge([first, second, third])
        assert receipt.rows == before - rows() > 2
    assert set(receipt.document_ids) == {first, second}
    assert (receipt.chunks, receipt.vectors) == (chunks, vectors) == (2, 2)
    assert (receipt.files, receipt.bytes, receipt.unfinished) == (4, size, 0)
    assert files_of(library, third) == 2
    assert noted(database_url) == set()


@pytest.mark.long
@pytest.mark.parametrize("step", ["before deletion", "after deletion"])
def test_a_killed_purge_is_gone_on_with(engine: RAGEngine, database_url: str, step: str) -> None:
    purged, kept = add(engine, "purged.pdf"), add(engine, "kept.pdf")
    engine.documents.trash([purged.id])
    kill_at(step, str(purged.id), database_url, engine.config.rag_data_dir)
    assert noted(database_url) == {(purged.id, False)}
    assert files_of(engine, purged.id) == (step == "before deletion")
    assert engine.installation.cleanup.finish_deletions(NOW) == 1
    assert files_of(engine, purged.id) == 0
    assert files_of(engine, kept.id) == 1
    assert noted(database_url) == set()
    assert engine.installation.cleanup.finish_deletions(NOW) == 0


def test_a_worker_goes_on_with_it_unless_it_is_going_on(engine: RAGEngine, database_url: str) -> None:
    document = add(engine)
    engine.documents.trash([document.id])
    engine._workspace.store.documents.purge([document.id])
    engine.installation.worker_tasks.clean_up()
    assert files_of(engine, document.id) == 1
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE deletions SET created_at = now() - interval '2 minutes'")
    engine.installation.worker_tasks.clean_up()
    assert files_of(engine, document.id) == 0


def test_a_storage_that_fails_keeps_no_purge_from_its_end(database_url: str, tmp_path: Path) -> None:
    fails = [True]

    def fail(step: str) -> None:
        if step == "before deletion" and fails:
            raise errors.StoreError("The storage is away.")

    engine = stepping(database_url, tmp_path / "data", fail)
    with engine:
        document = add(engine)
        engine.documents.trash([document.id])
        receipt = engine.documents.purge([document.id])
        assert (receipt.document_ids, receipt.files, receipt.unfinished) == ((document.id,), 0, 1)
        engine.installation.cleanup.finish_deletions(NOW)
        assert noted(database_url) == {(document.id, False)}
        fails.clear()
        engine.installation.cleanup.finish_deletions(NOW)
        assert files_of(engine, document.id) == 0
        assert noted(database_url) == set()


def test_deleting_an_index_deletes_its_files(db: Store, database_url: str) -> None:
    owner = Owner.of(db, "ann")
    documents = {owner.add("a.pdf").id, owner.add("b.pdf").id}
    db.of("ann").indexes.delete(owner.index.id)
    assert noted(database_url) == {(document, False) for document in documents}


# --- upload ---


@pytest.mark.long
@pytest.mark.parametrize(
    ("step", "put"), [("before rendition", 0), ("after rendition", 1), ("before original", 1), ("after original", 2)]
)
def test_a_killed_upload_leaves_nothing_for_ever(engine: RAGEngine, database_url: str, step: str, put: int) -> None:
    """The rendition of an encrypted file is the decrypted one."""
    kill_at(step, "upload", database_url, engine.config.rag_data_dir)
    assert engine.documents.list() == []
    ((document_id, is_draft),) = noted(database_url)
    assert is_draft
    assert files_of(engine, document_id) == put
    engine.installation.cleanup.finish_deletions()
    assert noted(database_url) == {(document_id, True)}, "it may be going on"
    engine.installation.cleanup.finish_deletions(NOW)
    assert files_of(engine, document_id) == 0
    assert noted(database_url) == set()


@pytest.mark.parametrize("step", ["before original", "after original"])
def test_a_failing_upload_leaves_nothing_at_all(database_url: str, tmp_path: Path, step: str) -> None:
    def fail(at: str) -> None:
        if at == step:
            raise errors.StoreError("The disk is full.")

    with stepping(database_url, tmp_path / "data", fail) as engine:
        with pytest.raises(errors.StoreError, match="full"):
            add(engine, password=None)
        with pytest.raises(errors.StoreError, match="full"):
            engine.documents.add(pdfs.encrypted(PASSWORD), "locked.pdf", password=PASSWORD, enqueue=False)
    assert [path for path in (tmp_path / "data" / "files").rglob("*") if path.is_file()] == []
    assert noted(database_url) == set()


def test_a_document_whose_commit_was_not_confirmed_keeps_its_files(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stepping(database_url, tmp_path / "data", lambda _: None) as engine:
        documents = type(engine._workspace.store.documents)
        commit = documents.add

        def lose(self: Any, *arguments: Any, **named: Any) -> Document:
            commit(self, *arguments, **named)
            raise errors.StoreError("The connection to the database was lost.")

        with monkeypatch.context() as patch:
            patch.setattr(documents, "add", lose)
            with pytest.raises(errors.StoreError, match="lost"):
                add(engine)
        (document,) = engine.documents.list()
        assert engine.files.original(document.id).is_file()
        assert noted(database_url) == set()


@pytest.mark.parametrize("step", ["before original", "after original"])
def test_files_of_a_running_upload_are_no_orphans(database_url: str, tmp_path: Path, step: str) -> None:
    swept: list[OrphanReport] = []

    def sweep(at: str) -> None:
        if at == step:
            swept.append(engine.installation.cleanup.find_orphans(delete=True, include_unconfirmed=True))

    with stepping(database_url, tmp_path / "data", sweep) as engine:
        document = add(engine)
        assert engine.files.original(document.id).is_file()
        assert noted(database_url) == set()
    assert [found(report) for report in swept] == [{}]


def test_an_upload_that_comes_after_its_sweep_is_refused_and_leaves_no_row(database_url: str, tmp_path: Path) -> None:
    """As one that was stopped for a day between its file and its row."""

    def sweep(at: str) -> None:
        if at == "after original":
            engine.installation.cleanup.finish_deletions(NOW)

    with stepping(database_url, tmp_path / "data", sweep) as engine:
        with pytest.raises(errors.StoreError, match="again"):
            add(engine)
        assert engine.documents.list() == []
        engine.installation._files.on_step = lambda _: None  # type: ignore[union-attr]
        assert engine.files.original(add(engine).id).is_file()


def test_a_rendition_that_comes_after_the_purge_does_not_stay(library: RAGEngine, tmp_path: Path) -> None:
    document = add(library)
    library.documents.trash([document.id])
    library.documents.purge([document.id])
    rendition = tmp_path / "rendition.pdf"
    rendition.write_bytes(pdfs.plain())
    with pytest.raises(errors.NotFoundError):
        library._workspace.store.put_rendition(library._workspace.files, document.id, rendition)
    assert files_of(library, document.id) == 0


def test_the_same_file_in_the_same_place_twice_keeps_the_first_one(engine: RAGEngine) -> None:
    """A part has always the same id: the upload that loses must not take the files of the other along."""
    document_id = uuid.uuid4()
    originals = engine.documents._originals
    index = engine._workspace.ensure_index("default")
    content = pdfs.plain()
    first = originals.keep(content, "a.pdf", index, document_id=document_id)
    with pytest.raises(errors.DuplicateError):
        originals.keep(content, "a.pdf", index, document_id=document_id)
    assert engine.files.original(first.id).is_file()


# --- what no row knows ---


def stray(engine: RAGEngine, tmp_path: Path) -> uuid.UUID:
    """A file without any row."""
    document_id = uuid.uuid4()
    path = tmp_path / "stray"
    path.write_bytes(b"nobody's")
    engine._workspace.files.put(document_id, "original", path)
    return document_id


def test_files_that_no_row_knows_are_found_and_go_when_they_are_old(library: RAGEngine, tmp_path: Path) -> None:
    kept, other = add(library, "a.pdf"), add(library, "b.pdf")
    lost = stray(library, tmp_path)
    cleanup = library.installation.cleanup
    assert found(cleanup.find_orphans(delete=True)) == {}
    assert found(cleanup.find_orphans(older_than=NOW)) == {"unowned": 1}
    assert files_of(library, lost) == 1
    report = cleanup.find_orphans(delete=True, older_than=NOW)
    assert (found(report), report.bytes, report.deleted) == ({"unowned": 1}, len(b"nobody's"), True)
    assert files_of(library, lost) == 0
    assert [files_of(library, document.id) for document in (kept, other)] == [1, 1]
    assert found(cleanup.find_orphans(older_than=NOW)) == {}


def test_a_storage_that_is_mostly_unknown_is_left_alone(library: RAGEngine, tmp_path: Path) -> None:
    """It is another installation's, or the database is not the one it was."""
    add(library, "a.pdf")
    strays = [stray(library, tmp_path) for _ in range(2)]
    cleanup = library.installation.cleanup
    report = cleanup.find_orphans(delete=True, older_than=NOW)
    assert (found(report), report.count) == ({"unconfirmed": 2}, 0)
    assert [files_of(library, one) for one in strays] == [1, 1]
    assert found(cleanup.find_orphans(delete=True, include_unconfirmed=True, older_than=NOW)) == {"unowned": 2}
    assert [files_of(library, one) for one in strays] == [0, 0]


def test_a_folder_that_comes_to_be_known_is_not_deleted(db: Store, tmp_path: Path) -> None:
    """Between the look and the deletion a part of the same id comes again."""
    owner = Owner.of(db, "ann")
    files = FileStore(f"memory://{uuid.uuid4().hex}", Path("/nowhere"))
    document = owner.add("a.pdf")
    folder = file_storage.DocumentFolder(file_storage.folder_name("ann"), document.id)
    stranger = file_storage.DocumentFolder(file_storage.folder_name("bob"), document.id)
    assert db.all_deletions.unknown([folder, stranger]) == {stranger}
    upload = tmp_path / "upload"
    upload.write_bytes(b"words")
    for place, is_left in ((folder, True), (stranger, False)):
        files.in_folder(place.owner).put(document.id, "original", upload)
        db.all_deletions.delete_unknown(files.in_folder(place.owner), place)
        assert files.in_folder(place.owner).exists(document.id, "original") is is_left


def test_partial_files_and_temporary_folders_go_when_they_are_old(
    engine: RAGEngine, own_temporary_folder: Path
) -> None:
    root = engine.config.rag_data_dir / "files"
    folder = engine.files.original(add(engine).id).parent
    cleanup = engine.installation.cleanup

    def litter() -> None:
        (root / ".partial" / ".original-abcd1234").write_bytes(b"half")
        working = own_temporary_folder / "pagelight-ab_c1234"
        working.mkdir()
        (working / "decrypted.pdf").write_bytes(b"secret")
        (own_temporary_folder / "pagelight-0-0123456789abcdef").mkdir()  # of a socket
        (own_temporary_folder / "others-abcd1234").mkdir()

    litter()
    assert found(cleanup.find_orphans(delete=True)) == {}
    for place in (root, own_temporary_folder):
        make_old(place)
    report = cleanup.find_orphans(delete=True)
    assert found(report) == {"partial_files": 2}
    assert report.bytes == len(b"half") + len(b"secret")
    assert [path.name for path in folder.iterdir()] == ["original"]
    assert sorted(path.name for path in own_temporary_folder.iterdir()) == [
        "others-abcd1234",
        "pagelight-0-0123456789abcdef",
    ]
    assert [*(root / ".partial").iterdir()] == []


def test_a_temporary_folder_in_use_is_not_deleted(engine: RAGEngine, own_temporary_folder: Path) -> None:
    working = own_temporary_folder / "pagelight-ab_c1234"
    working.mkdir()
    make_old(own_temporary_folder)
    (working / "upload").write_bytes(b"just now")
    os.utime(working, (time.time() - OLD_SECONDS,) * 2)
    assert found(engine.installation.cleanup.find_orphans(delete=True)) == {}
    assert (working / "upload").exists()


def test_a_working_folder_that_vanishes_while_others_are_looked_at_is_nobodys(own_temporary_folder: Path) -> None:
    for name in ("pagelight-ab_c1234", "pagelight-ab_c5678"):
        (own_temporary_folder / name / "pictures").mkdir(parents=True)
    looking = orphans.temporary_folders(NOW)
    assert next(looking).kind == "partial_files"
    for folder in own_temporary_folder.iterdir():
        shutil.rmtree(folder)
    assert [*looking] == []


def test_copies_of_remote_files_go_with_their_documents(database_url: str, tmp_path: Path) -> None:
    """A purge on one machine leaves the copies of another, until that one looks."""
    url = f"memory://{uuid.uuid4().hex}"
    machines = [
        RAGEngine(
            load_config(rag_data_dir=tmp_path / name, rag_database_url=database_url, rag_storage_url=url), user_id="ada"
        )
        for name in ("one", "two")
    ]
    one, two = machines
    with one, two:
        gone, kept = add(one, "gone.pdf"), add(one, "kept.pdf")
        copies = [two.files.original(document.id) for document in (gone, kept)]
        one.documents.trash([gone.id])
        one.documents.purge([gone.id])
        assert [copy.exists() for copy in copies] == [True, True]
        assert found(two.installation.cleanup.find_orphans(delete=True)) == {"copies": 1}
        assert [copy.exists() for copy in copies] == [False, True]


KILLED_BACKUP = """
import os, sys
from pathlib import Path
from rag.config import load_config
from rag.engine import Installation

url, folder, path, stage = sys.argv[1:]
installation = Installation(load_config(rag_data_dir=Path(folder), rag_database_url=url))
installation.backup(Path(path), lambda at, done, total: os._exit(9) if at == stage else None)
"""


@pytest.mark.long
@pytest.mark.parametrize("stage", ["tables", "check"])
def test_the_partial_file_of_a_killed_backup_is_deleted_by_the_next_one(
    engine: RAGEngine, database_url: str, tmp_path: Path, stage: str
) -> None:
    safe = tmp_path / "safe"
    safe.mkdir()
    add(engine)
    assert forked.run(KILLED_BACKUP, database_url, engine.config.rag_data_dir, safe / "a.tar", stage) == 9
    (partial,) = safe.iterdir()
    names: list[str] = []

    def back_up_too(stage: str, done: int, total: int) -> None:
        if stage == "check" and not names:
            names.append("b.tar")
            engine.installation.backup(safe / "b.tar")

    engine.installation.backup(safe / "c.tar", back_up_too)
    assert not partial.exists()
    assert sorted(path.name for path in safe.iterdir()) == ["b.tar", "c.tar"], "one that is being written stays"


def test_the_storage_is_cleaned_by_one_process_at_a_time(library: RAGEngine, tmp_path: Path) -> None:
    add(library, "a.pdf")
    stray(library, tmp_path)
    deletions = library.installation.store.all_deletions
    with deletions.alone() as is_alone:
        assert is_alone
        assert found(library.installation.cleanup.find_orphans(delete=True, older_than=NOW)) == {}
    assert found(library.installation.cleanup.find_orphans(delete=True, older_than=NOW)) == {"unowned": 1}
