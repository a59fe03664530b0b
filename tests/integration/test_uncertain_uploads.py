"""Uploads whose end nobody was told of, that lost their file, or that came twice at the same time."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from rag import errors, worker
from rag.config import load_config
from rag.engine import RAGEngine
from rag.store.files.file_storage import UserFiles
from rag.types import Document, DocumentStatus
from tests import pdfs
from tests.severing import Severing, severing

PLAIN = pdfs.plain()


@pytest.fixture
def way(database_url: str) -> Iterator[Severing]:
    with severing(database_url) as opened:
        yield opened


@pytest.fixture
def severed(way: Severing, tmp_path: Path) -> Iterator[RAGEngine]:
    """Ada's engine, whose connections may be lost."""
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=way.url)
    with RAGEngine(config, user_id="ada") as opened:
        opened.indexes.ensure()
        yield opened


def files_of(engine: RAGEngine) -> UserFiles:
    return engine.installation.files.of("ada")


@pytest.mark.parametrize("key", [None, "key-1"])
def test_an_upload_that_was_saved_is_taken_although_the_answer_was_lost(
    severed: RAGEngine, way: Severing, key: str | None
) -> None:
    way.sever(b"INSERT INTO documents")
    document, is_new = severed.documents.upload(PLAIN, "a.pdf", key=key)
    assert way.severed.is_set()
    assert is_new
    assert [found.id for found in severed.documents.list()] == [document.id]
    worker.run(severed.installation, wait=False)
    assert severed.documents.get(document.id).status is DocumentStatus.READY
    if key:
        assert severed.documents.upload(PLAIN, "a.pdf", key=key)[0].id == document.id


def test_what_may_have_been_saved_keeps_its_file(
    severed: RAGEngine, way: Severing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is gone with the answer, so that nobody can look whether it was saved."""
    way.sever(b"INSERT INTO documents")
    with monkeypatch.context() as unreachable:

        def refuse(*_: object) -> Document:
            raise errors.StoreError("The database cannot be reached.")

        unreachable.setattr("rag.store.library.documents.Documents.get", refuse)
        with pytest.raises(errors.StoreError, match="lost while it saved"):
            severed.documents.upload(PLAIN, "a.pdf")
    worker.run(severed.installation, wait=False)
    (document,) = severed.documents.list()
    assert document.status is DocumentStatus.READY
    assert files_of(severed).exists(document.id, "original")


def test_what_was_not_saved_leaves_no_file(engine: RAGEngine, database_url: str, tmp_path: Path) -> None:
    engine.documents.upload(PLAIN, "a.pdf")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE documents ADD CONSTRAINT small CHECK (size < 1) NOT VALID")
    with pytest.raises(errors.StoreError):
        engine.documents.upload(pdfs.pages(1), "b.pdf")
    assert len([*(tmp_path / "data" / "files").glob("*/*")]) == 1


# --- Without its file ---------------------------------------------------------------------------------


@pytest.fixture
def bare(engine: RAGEngine) -> Document:
    """A document whose row was saved, and whose file is not there."""
    document = engine.documents.add(PLAIN, "a.pdf")
    files_of(engine).delete(document.id)
    return document


@pytest.mark.parametrize("key", [None, "key-1"])
@pytest.mark.parametrize("is_tried", [False, True])
def test_a_document_that_lost_its_file_gets_it_by_uploading_again(
    engine: RAGEngine, bare: Document, key: str | None, is_tried: bool
) -> None:
    if is_tried:
        worker.run(engine.installation, wait=False)
        marked = engine.documents.get(bare.id)
        assert (marked.status, marked.error_code) == (DocumentStatus.FAILED, "not_found")
        assert "Upload the file again" in (marked.error or "")
    again, is_new = engine.documents.upload(PLAIN, "a.pdf", key=key)
    assert (again.id, is_new, again.error) == (bare.id, True, None)
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(bare.id).status is DocumentStatus.READY
    with pytest.raises(errors.DuplicateError):
        engine.documents.upload(PLAIN, "a.pdf")
    if key:
        assert engine.documents.upload(PLAIN, "a.pdf", key=key)[1] is False


def test_uploading_again_restores_a_trashed_document_without_its_file(engine: RAGEngine, bare: Document) -> None:
    engine.documents.trash([bare.id])
    assert engine.documents.upload(PLAIN, "a.pdf")[0].id == bare.id
    worker.run(engine.installation, wait=False)
    assert [document.status for document in engine.documents.list()] == [DocumentStatus.READY]


def test_the_same_key_gives_a_document_its_file_back(engine: RAGEngine) -> None:
    document, _ = engine.documents.upload(PLAIN, "a.pdf", key="key-1")
    files_of(engine).delete(document.id)
    assert engine.documents.upload(PLAIN, "a.pdf", key="key-1")[0].id == document.id
    assert files_of(engine).exists(document.id, "original")


def test_an_encrypted_document_gets_its_file_back_with_its_password(engine: RAGEngine) -> None:
    content = pdfs.encrypted("secret")
    document = engine.documents.add(content, "a.pdf")
    files_of(engine).delete(document.id)
    engine.documents.upload(content, "a.pdf")
    assert engine.documents.get(document.id).status is DocumentStatus.NEEDS_PASSWORD
    files_of(engine).delete(document.id)
    engine.documents.upload(content, "a.pdf", password="secret")
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).status is DocumentStatus.READY


def test_a_followed_file_gets_its_document_its_file_back(engine: RAGEngine, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.pdf").write_bytes(PLAIN)
    folder = {"source": {"folderId": str(tmp_path / "folder")}}
    (report,) = engine.sync_index(folder).files
    assert report.document_id
    files_of(engine).delete(report.document_id)
    assert engine.documents.process(report.document_id, again=True).status is DocumentStatus.FAILED
    engine.sync_index(folder)
    assert [found.status for found in engine.documents.list()] == [DocumentStatus.READY]


# --- At the same time ---------------------------------------------------------------------------------


def test_the_same_upload_twice_at_the_same_time_is_one_document_for_both(
    engine: RAGEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.indexes.ensure()
    both = threading.Barrier(2)
    put = UserFiles.put

    def together(*arguments: object) -> None:
        both.wait(60)  # neither has found the other's key
        put(*arguments)  # type: ignore[arg-type]  # whatever it was

    monkeypatch.setattr(UserFiles, "put", together)
    with ThreadPoolExecutor(2) as threads:
        sent = [threads.submit(engine.documents.upload, PLAIN, "a.pdf", key="key-1") for _ in range(2)]
        ids = {upload.result()[0].id for upload in sent}
        assert sorted(upload.result()[1] for upload in sent) == [False, True]
    (document,) = engine.documents.list()
    assert ids == {document.id}
    assert [folder.name for folder in (tmp_path / "data" / "files").glob("*/*")] == [str(document.id)]


def test_two_files_under_one_key_at_the_same_time_are_not_both_taken(
    engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.indexes.ensure()
    both = threading.Barrier(2)
    put = UserFiles.put

    def together(*arguments: object) -> None:
        both.wait(60)
        put(*arguments)  # type: ignore[arg-type]  # whatever it was

    monkeypatch.setattr(UserFiles, "put", together)

    def upload(content: bytes) -> uuid.UUID | None:
        try:
            return engine.documents.upload(content, "a.pdf", key="key-1")[0].id
        except errors.ValidationError:
            return None

    with ThreadPoolExecutor(2) as threads:
        ids = [*threads.map(upload, [PLAIN, pdfs.pages(1)])]
    (document,) = engine.documents.list()
    assert sorted(ids, key=bool) == [None, document.id]
