"""`pagelight export`: a user's own documents and chats in open formats, and nothing of anybody else's."""

import json
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from tests import pdfs
from tests.acceptance.command_line import HARBOUR, pagelight, parsed

QUESTION = "How many ships did the harbour handle?"
BOBS = "Bob's merger with Acme is confidential."


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def library(settings: Path) -> dict[str, uuid.UUID]:
    """Ann has two documents in two indexes, one in the trash, and a chat; Bob has a document and a chat."""
    with RAGEngine(load_config()) as ann:
        ids = {}
        for name, index, content in (
            ("harbour.pdf", "default", pdfs.plain(HARBOUR)),
            ("topics.pdf", "second", pdfs.pages(3)),
            ("draft.pdf", "default", pdfs.plain(["A draft about nothing."])),
        ):
            ids[name] = ann.documents.process(ann.documents.add(content, name, index_name=index, enqueue=False).id).id
        ann.documents.trash([ids["draft.pdf"]])
        bob = ann.installation.for_user("bob")
        bob.documents.process(bob.documents.add(pdfs.plain([BOBS]), "bobs.pdf", enqueue=False).id)
        for engine, question in ((ann, QUESTION), (bob, "What of the merger?")):
            chat = engine.chats.start("A chat", document_ids=[one.id for one in engine.documents.list()])
            engine.store.conversations.append(chat.id, "user", question)
            response = engine.answer({"question": question})
            engine.store.conversations.append(chat.id, "assistant", response.answer, response)
    return ids


def test_everything_of_a_user_in_open_formats(library: dict[str, uuid.UUID], tmp_path: Path) -> None:
    folder = tmp_path / "out" / "mine"
    report = parsed("export", folder)
    assert {path.name for path in folder.iterdir()} == {
        "documents", "documents.jsonl", "chunks.jsonl", "conversations.jsonl"
    }  # fmt: skip
    with RAGEngine(load_config()) as engine:
        documents = {one.name: one for index in engine.indexes.list() for one in engine.documents.list(index.name)}
        chunks = {one.name: engine.store.chunks.of_document(one.id) for one in documents.values()}
        originals = {one.name: engine.files.original(one.id).read_bytes() for one in documents.values()}
    assert [*originals] == [path.name for path in sorted((folder / "documents").iterdir())]

    for line in lines(folder / "documents.jsonl"):
        document = documents[line["name"]]
        assert (folder / line["file"]).read_bytes() == originals[line["name"]]
        assert (line["id"], line["sha256"], line["pageCount"]) == (
            str(document.id), document.sha256, document.page_count
        )  # fmt: skip
        assert line["indexName"] == ("second" if line["name"] == "topics.pdf" else "default")

    written = lines(folder / "chunks.jsonl")
    assert report == {"folder": str(folder), "documents": 2, "chunks": len(written), "conversations": 1, "missing": []}
    for name, expected in chunks.items():
        found = [line for line in written if line["documentName"] == name]
        assert [line["text"] for line in found] == [chunk.text for chunk in expected]
        assert [line["pages"] for line in found] == [[*chunk.pages] for chunk in expected]
        assert [(line["lineStart"], line["lineEnd"]) for line in found] == [
            (chunk.line_start, chunk.line_end) for chunk in expected
        ]
        assert [[one["bbox"] for one in line["lines"]] for line in found] == [
            [[*one.bbox] for one in chunk.lines] for chunk in expected
        ]
        assert not any("vector" in line for line in found)

    (chat,) = lines(folder / "conversations.jsonl")
    question, answer = chat["messages"]
    assert (question["role"], question["content"]) == ("user", QUESTION)
    claim = answer["claims"][0]
    assert (claim["text"], claim["support"]) == (HARBOUR[0], "quoted")
    assert claim["reason"] == "These are the document's own words."
    citation = claim["evidence"][0]
    assert (citation["quote"], citation["page"], citation["verdict"]) == (HARBOUR[0], 1, "verified")
    assert citation["fileId"] == str(library["harbour.pdf"])
    (region,) = citation["regions"]
    assert region["pageNumber"] == 1
    assert len(region["rects"][0]) == 4


def test_nothing_of_another_user_is_in_it(library: dict[str, uuid.UUID], tmp_path: Path) -> None:
    parsed("export", tmp_path / "anns", "--vectors")
    with RAGEngine(load_config(), user_id="bob") as bob:
        assert bob.exports.write(tmp_path / "bobs")[:3] == (1, 1, 1)
        assert bob.installation.for_user("nobody").exports.write(tmp_path / "nobodys")[:3] == (0, 0, 0)
    everything = {
        user: b"".join(path.read_bytes() for path in (tmp_path / user).rglob("*") if path.is_file())
        for user in ("anns", "bobs", "nobodys")
    }
    assert b"Acme" not in everything["anns"]
    assert b"bob" not in everything["anns"].lower()
    assert b"Lindmark" not in everything["bobs"]
    assert all(str(one).encode() not in everything["bobs"] for one in library.values())
    assert everything["nobodys"] == b""


@pytest.mark.usefixtures("library")
def test_an_export_of_one_index_may_have_vectors(tmp_path: Path) -> None:
    parsed("export", tmp_path / "second", "--index", "second", "--vectors")
    assert [line["name"] for line in lines(tmp_path / "second" / "documents.jsonl")] == ["topics.pdf"]
    for line in lines(tmp_path / "second" / "chunks.jsonl"):
        assert len(line["vector"]) == 384
        assert sum(value * value for value in line["vector"]) == pytest.approx(1)
    assert parsed("export", tmp_path / "third", "--index", "third", code=5)["error"]["code"] == "not_found"
    assert not (tmp_path / "third").exists()


@pytest.mark.parametrize("name", ["../../outside.pdf", "/etc/outside.pdf", "..", "..\\outside.pdf", "a\n/outside.pdf"])
def test_no_name_of_a_document_leads_out_of_the_folder(
    library: dict[str, uuid.UUID], tmp_path: Path, name: str
) -> None:
    rename(name, *library.values())
    folder = tmp_path / "deep" / "er" / "mine"
    parsed("export", folder)
    files = [line["file"] for line in lines(folder / "documents.jsonl")]
    assert len(set(files)) == 2
    assert {path.relative_to(folder).as_posix() for path in (folder / "documents").iterdir()} == {*files}
    outside = [path for path in tmp_path.rglob("*outside*") if folder not in path.parents]
    assert outside == []
    assert [line["name"] for line in lines(folder / "documents.jsonl")] == [name, name]


def rename(name: str, *ids: uuid.UUID) -> None:
    """As no door lets anyone name a document."""
    config = load_config()
    assert config.rag_database_url is not None
    with psycopg.connect(config.rag_database_url.get_secret_value()) as connection:
        connection.execute("UPDATE documents SET name = %s WHERE id = ANY (%s)", (name, [*ids]))


def test_a_folder_with_something_in_it_stays_as_it_is(library: dict[str, uuid.UUID], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("important")
    assert "not empty" in pagelight("export", tmp_path / "mine", code=2).stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    (tmp_path / "mine" / "notes.txt").unlink()
    pagelight("export", tmp_path / "mine")


def test_a_file_where_the_folder_should_be(library: dict[str, uuid.UUID], tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("important")
    assert "cannot be written" in pagelight("export", tmp_path / "mine", code=5).stderr
    assert (tmp_path / "mine").read_text() == "important"


def test_an_export_that_fails_leaves_nothing(library: dict[str, uuid.UUID], tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(_stage: str, done: int, total: int) -> None:
        raise StoppedError

    (tmp_path / "there").mkdir()
    with RAGEngine(load_config()) as engine:
        for name in ("there", "new"):
            with pytest.raises(StoppedError):
                engine.exports.write(tmp_path / name, on_progress=stop)
    assert [*(tmp_path / "there").iterdir()] == []
    assert not (tmp_path / "new").exists()


def test_a_lost_file_is_named(library: dict[str, uuid.UUID], settings: Path, tmp_path: Path) -> None:
    with RAGEngine(load_config()) as engine:
        engine.files.original(library["harbour.pdf"]).unlink()
    assert parsed("export", tmp_path / "mine")["missing"] == ["harbour.pdf"]
    files = {line["name"]: line["file"] for line in lines(tmp_path / "mine" / "documents.jsonl")}
    assert files == {"harbour.pdf": None, "topics.pdf": "documents/topics.pdf"}
    assert "harbour.pdf is not in the storage" in pagelight("export", tmp_path / "again").stderr
