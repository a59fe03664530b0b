"""`pagelight backup` and `pagelight restore`: on a fresh machine everything two users see is as it was."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from psycopg import conninfo

from rag.config import load_config
from rag.engine import RAGEngine
from rag.store.server import embedded
from rag.types import AnswerResponse, DocumentStatus
from tests import forked, pdfs
from tests.acceptance.command_line import HARBOUR, ORCHARD, pagelight, parsed
from tests.databases import new_database
from tests.folders import open_folder

QUESTIONS = ("How many ships did the harbour handle?", "When does the harvest begin?", "What moves through topic 7?")
ANN, BOB = "local", "bob"
SECRET = "sk-not-to-be-kept"


class Library(NamedTuple):
    """The name of a database, and a data folder."""

    database: str
    folder: Path


@pytest.fixture(scope="module")
def prepared(shared_settings: Path, shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Documents and chats of two users, some in the trash, unread or failed; only copied."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "harbour.pdf").write_bytes(pdfs.plain(HARBOUR))
    (folder / "slides.pptx").write_bytes(pdfs.presentation())
    (folder / "draft.pdf").write_bytes(pdfs.plain(["A draft about nothing."]))
    assert parsed("ingest", folder)["ingested"] == 3
    pagelight("documents", "delete", "draft.pdf")
    with RAGEngine(load_config()) as ann:
        bob = ann.installation.for_user(BOB)
        for name, content in (("orchard.pdf", pdfs.plain(ORCHARD)), ("turned.pdf", pdfs.turned(90))):
            read = bob.documents.process(bob.documents.add(content, name, enqueue=False).id)
        bob.documents.process(bob.documents.add(pdfs.turned(180), "turned.pdf", replaces=read.id, enqueue=False).id)
        bob.documents.process(bob.documents.add(pdfs.pages(40), "topics.pdf", index_name="second", enqueue=False).id)
        bob.documents.add(pdfs.blank(), "unread.pdf")
        bob.documents.add(pdfs.encrypted("open sesame"), "locked.pdf")
        for engine in (ann, bob):
            chat = engine.chats.start("What was asked")
            for question in QUESTIONS:
                engine.store.conversations.append(chat.id, "user", question)
                response = engine.answer({"question": question})
                engine.store.conversations.append(chat.id, "assistant", response.answer, response)
    return Library(str(conninfo.conninfo_to_dict(shared_database_url)["dbname"]), shared_settings)


@pytest.fixture
def library(prepared: Library, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, as the library of this machine; returns the data folder."""
    shutil.copytree(prepared.folder, tmp_path / "data")
    with new_database(server_url, template=prepared.database) as url:
        move_to({"RAG_DATABASE_URL": url, "RAG_DATA_DIR": str(tmp_path / "data")}, monkeypatch)
        yield tmp_path / "data"


@pytest.fixture
def fresh(library: Path, server_url: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of another machine."""
    with new_database(server_url) as url:
        yield {"RAG_DATABASE_URL": url, "RAG_DATA_DIR": str(tmp_path / "fresh")}


def move_to(machine: dict[str, str], environment: pytest.MonkeyPatch) -> None:
    for name, value in machine.items():
        environment.setenv(name, value)


class Seen(NamedTuple):
    """What a user sees."""

    documents: list[object]
    versions: list[object]
    trash: list[object]
    files: list[bytes]
    chunks: list[object]
    vectors: list[object]
    results: list[object]
    answers: list[object]
    pictures: list[bytes]
    conversations: list[object]


def seen(engine: RAGEngine) -> Seen:
    names = [index.name for index in engine.indexes.list()]
    documents = [engine.documents.get(one.id) for name in names for one in engine.documents.list(name)]
    trash = [one for name in names for one in engine.documents.list(name, in_trash=True)]
    ready = [one for one in documents if one.status is DocumentStatus.READY]
    chunks = [chunk for one in ready for chunk in engine.store.chunks.of_document(one.id)]
    vectors = engine.installation.store.of(engine.user_id).chunks.vectors([chunk.id for chunk in chunks])
    asked = [(name, question) for name in names for question in QUESTIONS]
    answers = [engine.answer({"question": question, "indexName": name}) for name, question in asked]
    return Seen(
        documents=[*documents],
        versions=[[engine.documents.get(version.id) for version in engine.versions.list(one.id)] for one in documents],
        trash=[*trash],
        files=[
            path.read_bytes()
            for one in ready
            for path in (engine.files.original(one.id), engine.files.rendition(one.id))
        ],
        chunks=[*chunks],
        vectors=[vectors[chunk.id].tolist() for chunk in chunks],
        results=[
            engine.search({"query": question, "indexName": name, "retrieval": {"minScore": 0}}).results
            for name, question in asked
        ],
        answers=[timeless(answer) for answer in answers],
        pictures=[
            engine.pages.image(hit.chunk.document_id, region.page_number, regions=[region])
            for answer in answers
            for citation, hit in answer.cited
            for region in citation.regions
        ],
        conversations=[(chat, engine.chats.messages(chat.id)) for name in names for chat in engine.chats.list(name)],
    )


def timeless(answer: AnswerResponse) -> dict[str, Any]:
    """All but when it was made, and how long it took."""
    return answer.model_dump(exclude={"usage": True, "provenance": {"at"}})


def test_a_fresh_machine_has_the_same_documents_answers_citations_and_chats(
    library: Path, fresh: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "backup.tar"
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with RAGEngine(load_config(rag_gen_model="extractive")) as engine:
        before = {user: seen(engine.installation.for_user(user)) for user in (ANN, BOB)}
        _, key = engine.installation.for_user(BOB).keys.create("laptop")
    asked = parsed("ask", QUESTIONS[0], "--model", "extractive")

    written = parsed("backup", archive)
    assert (written["documents"], written["missing"], written["rows"]["conversations"]) == (9, 0, 2)
    assert SECRET.encode() not in archive.read_bytes()
    assert key.encode() not in archive.read_bytes()
    assert parsed("restore", archive, "--check") == written

    move_to(fresh, monkeypatch)
    assert parsed("restore", archive) == written
    with RAGEngine(load_config(rag_gen_model="extractive")) as engine:
        for user, earlier in before.items():
            later = seen(engine.installation.for_user(user))
            for what, expected in earlier._asdict().items():
                assert getattr(later, what) == expected, (user, what)
        owner = engine.installation.authenticate(key)
        assert owner is not None
        assert owner.user_id == BOB
    assert max(len(versions) for versions in before[BOB].versions) == 2  # type: ignore[arg-type]  # they are lists
    assert before[ANN].pictures
    assert before[BOB].pictures
    assert [answer["status"] for answer in before[BOB].answers].count("ok") >= 2  # type: ignore[index]  # they are dicts
    again = parsed("ask", QUESTIONS[0], "--model", "extractive")
    assert (again["answer"], again["citations"]) == (asked["answer"], asked["citations"])
    assert "4,812" in again["answer"]


@pytest.mark.usefixtures("library")
def test_uploads_and_questions_work_after_a_restore(
    fresh: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was unread is read, what was locked is unlocked, and new files get into the same index."""
    pagelight("backup", tmp_path / "backup.tar")
    move_to(fresh, monkeypatch)
    pagelight("restore", tmp_path / "backup.tar")
    (tmp_path / "new.pdf").write_bytes(pdfs.plain(["Kites were flown over the pier."]))
    assert parsed("ingest", tmp_path / "new.pdf")["ingested"] == 1
    assert parsed("search", "kites over the pier")["results"][0]["fileName"] == "new.pdf"
    pagelight("worker", "--once")
    with RAGEngine(load_config()) as engine:
        bob = engine.installation.for_user(BOB)
        states = {document.name: document.status for document in bob.documents.list()}
        assert states["unread.pdf"] is DocumentStatus.FAILED  # it is blank, as somebody has found out by now
        (locked,) = [document for document in bob.documents.list() if document.name == "locked.pdf"]
        bob.documents.unlock(locked.id, "open sesame")
        assert bob.documents.process(locked.id).status is DocumentStatus.READY


@pytest.mark.usefixtures("library")
def test_the_embedded_server_takes_what_comes_from_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = parsed("ask", QUESTIONS[0])
    pagelight("backup", tmp_path / "backup.tar")
    monkeypatch.delenv("RAG_DATABASE_URL")
    monkeypatch.setitem(embedded.SETTINGS, "fsync", "off")
    with open_folder() as folder:
        monkeypatch.setenv("RAG_DATA_DIR", f"{folder}/data")
        assert "9 documents" in pagelight("restore", tmp_path / "backup.tar").stdout
        with RAGEngine(load_config()) as engine:  # keeps the server for the commands
            engine.documents.list()
            again = parsed("ask", QUESTIONS[0])
            assert (again["answer"], again["citations"]) == (asked["answer"], asked["citations"])
            pagelight("backup", folder / "again.tar")
        assert parsed("restore", folder / "again.tar", "--check")["documents"] == 9


# Refused


@pytest.mark.usefixtures("settings")
def test_a_backup_is_told_in_the_audit(tmp_path: Path) -> None:
    pagelight("backup", tmp_path / "backup.tar")
    (told,) = json.loads(pagelight("api", "GET", "/audit?action=export").stdout)["items"]
    assert (told["actor"], told["door"], told["subjectName"]) == ("local", "cli", "backup.tar")


@pytest.mark.usefixtures("settings")
def test_a_damaged_archive_is_named_and_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "backup.tar"
    pagelight("backup", archive)
    sound = archive.read_bytes()
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")  # checking needs no database
    assert "Checked" in pagelight("restore", archive, "--check").stdout
    for damaged in (sound[: len(sound) // 2], sound.replace(b"0002_documents", b"0002_documentz"), b"", b"%PDF-1.7"):
        archive.write_bytes(damaged)
        for arguments in ([], ["--check"]):
            assert parsed("restore", archive, *arguments, code=5)["error"]["code"] == "unreadable_file"
    assert parsed("restore", tmp_path / "nowhere.tar", code=5)["error"]["code"] == "source"


# While a file is taken in


@pytest.mark.long
def test_backups_while_files_are_taken_in_are_whole(
    settings: Path, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each restores, and each document in it is complete or to be read yet."""
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.pdf").write_bytes(pdfs.pages(15, line=f"Log {number}, page {{}}.".format))
    process = forked.start(forked.PAGELIGHT, "ingest", folder, output=tmp_path / "printed")
    archives: list[Path] = []
    while process.exitcode is None:
        archives.append(tmp_path / f"{len(archives)}.tar")
        pagelight("backup", archives[-1])
    assert process.exitcode == 0
    numbers = []
    for archive in (archives[len(archives) * tenths // 10] for tenths in (5, 8)):
        with new_database(server_url) as url:
            move_to({"RAG_DATABASE_URL": url, "RAG_DATA_DIR": str(tmp_path / archive.stem)}, monkeypatch)
            pagelight("restore", archive)
            with RAGEngine(load_config()) as engine:
                documents = engine.documents.list()
                ready = [document for document in documents if document.status is DocumentStatus.READY]
                for document in ready:
                    assert len(engine.store.chunks.of_document(document.id)) == document.chunk_count > 0
                    assert engine.pages.image(document.id, document.page_count)
                pagelight("worker", "--once")
                assert {document.status for document in engine.documents.list()} <= {DocumentStatus.READY}
                numbers.append(len(ready))
    assert numbers == sorted(numbers)


# Full disks, Ctrl-C, kills

LIMITED = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (32768, 32768))
{forked.PAGELIGHT}
"""


@pytest.mark.usefixtures("library")
def test_a_full_disk_leaves_no_half_archive(tmp_path: Path) -> None:
    """The limit on the size of a file is met in the middle, as the end of a disk is."""
    folder = tmp_path / "safe"
    folder.mkdir()
    code = forked.run(LIMITED, "backup", folder / "backup.tar", output=tmp_path / "printed")
    printed = (tmp_path / "printed").read_text()
    assert code == 5, printed
    assert "backup.tar cannot be written: File too large" in printed
    assert list(folder.iterdir()) == []
