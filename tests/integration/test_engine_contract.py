"""The interface of `RAGEngine` for files by path: `ingest`, `query` and `delete`, with the embedded model."""

import hashlib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks import multiplied
from rag import errors
from rag.config import Config, load_config
from rag.engine import RAGEngine
from rag.types import AnswerRequest, Rect, RetrieveRequest, SearchRequest, TextBlock
from tests import pdfs

Create = Callable[[str, str], str]

MANY = 1000
MADE = 111
"""Of the many documents; the others are copies that the database makes of them, with vectors of their own."""
CHUNKS = "data_document_chunks_384"
WORDS = ("harbour", "orchard", "glacier", "library", "violin", "desert", "market", "engine", "theatre", "river")


@pytest.fixture
def config(database_url: str, tmp_path: Path) -> Config:
    return load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url)


@pytest.fixture
def engine(config: Config) -> Iterator[RAGEngine]:
    with RAGEngine(config) as opened:
        yield opened


@pytest.fixture
def create_test_file(tmp_path: Path) -> Create:
    folder = tmp_path / "documents"
    folder.mkdir()

    def create(name: str, content: str) -> str:
        (folder / name).write_text(content)
        return str(folder / name)

    return create


def hash_file_path(file_path: str) -> str:
    return hashlib.sha256(file_path.encode()).hexdigest()


def chunk_ids_for(engine: RAGEngine, file_path: str) -> list[uuid.UUID]:
    return [
        chunk.id
        for document in engine.documents.list()
        if document.source == file_path
        for chunk in engine.store.chunks.of_document(document.id)
    ]


def add_documents(engine: RAGEngine, count: int) -> None:
    """Documents of one sentence each, with the parsing left out."""
    for number in range(count):
        text = f"The {WORDS[number % len(WORDS)]} was inspected {number} times, and passed the test."
        document = engine.documents.add(text.encode(), f"notes of inspection {number}.txt", enqueue=False)
        block = TextBlock(page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text=text)
        engine.index_document(document.id, [block])


# --- the ten tests of the contract ---


def test_engine_ingest_single_file(engine: RAGEngine, create_test_file: Create) -> None:
    file_path = create_test_file("test.md", "# Title\nContent")

    result = engine.ingest([file_path])

    assert result["ingested_count"] == 1
    assert result["failed_count"] == 0
    assert result["chunk_count"] > 0
    assert result["failed_files"] == []


def test_engine_batch_ingest(engine: RAGEngine, create_test_file: Create) -> None:
    files = [
        create_test_file("doc1.md", "# Doc 1\nContent 1"),
        create_test_file("doc2.md", "# Doc 2\nContent 2"),
        create_test_file("doc3.md", "# Doc 3\nContent 3"),
    ]

    result = engine.ingest(files)

    assert result["ingested_count"] == 3
    assert result["chunk_count"] >= 3


def test_engine_ingest_partial_failure(engine: RAGEngine, create_test_file: Create) -> None:
    files = [
        create_test_file("valid.md", "# Valid\nContent"),
        "/nonexistent/file.md",
        create_test_file("also_valid.md", "# Also Valid\nContent"),
    ]

    result = engine.ingest(files)

    assert result["ingested_count"] == 2
    assert result["failed_count"] == 1
    assert "/nonexistent/file.md" in result["failed_files"]


def test_engine_query_returns_results(engine: RAGEngine, create_test_file: Create) -> None:
    engine.ingest([create_test_file("doc.md", "# Python\nPython is great.")])

    results = engine.query("What is Python?")

    assert len(results) > 0
    assert all(r.similarity_score >= 0.5 for r in results)
    assert "Python" in results[0].chunk.content


def test_engine_query_respects_constraints(engine: RAGEngine) -> None:
    add_documents(engine, 12)

    results = engine.query("test query")

    assert len(results) <= 5
    assert all(r.similarity_score >= 0.5 for r in results)
    assert len(engine.query("Which note says that the harbour was inspected?")) == 5


@pytest.mark.long
def test_engine_query_with_a_thousand_documents(engine: RAGEngine, create_test_file: Create) -> None:
    """How long it takes is measured by `python -m benchmarks contract`."""
    add_documents(engine, MADE)
    with psycopg.connect(engine.installation.database_url) as connection:
        multiplied.multiply(connection, CHUNKS, engine.user_id, (MANY - 1) // MADE)
    file_path = create_test_file("treaty.md", "# Treaty\nThe treaty of Lindmark was signed in a lighthouse.")
    engine.ingest([file_path])

    results = engine.query("Where was the treaty of Lindmark signed?")

    assert len(engine.documents.list()) == MANY
    assert 0 < len(results) <= 5
    assert all(r.similarity_score >= 0.5 for r in results)
    assert "lighthouse" in results[0].chunk.content


def test_engine_delete_document(engine: RAGEngine, create_test_file: Create) -> None:
    file_path = create_test_file("doc.md", "# Content\nText")
    engine.ingest([file_path])

    doc_id = hash_file_path(file_path)
    result = engine.delete([doc_id])

    assert result["deleted_count"] == 1
    assert doc_id in result["deleted_ids"]
    assert result["not_found_ids"] == []

    query_results = engine.query("Content")
    assert all(r.chunk.metadata["source_file"] != file_path for r in query_results)


def test_engine_delete_not_found(engine: RAGEngine) -> None:
    result = engine.delete(["nonexistent_id"])

    assert result["deleted_count"] == 0
    assert "nonexistent_id" in result["not_found_ids"]


def test_engine_persistence(config: Config, create_test_file: Create) -> None:
    with RAGEngine(config) as engine1:
        file_path = create_test_file("persist_test.md", "# Persistent\nData")
        engine1.ingest([file_path])

        with RAGEngine(config) as engine2:
            results = engine2.query("Persistent")
            assert len(results) > 0
            assert "Persistent" in results[0].chunk.content


def test_engine_reingest_updates(engine: RAGEngine, create_test_file: Create) -> None:
    file_path = create_test_file("doc.md", "# Original\nOriginal content")
    engine.ingest([file_path])

    create_test_file("doc.md", "# Updated\nUpdated content")
    engine.ingest([file_path])

    results = engine.query("Updated")
    assert len(results) > 0
    assert "Updated" in results[0].chunk.content

    all_results = engine.query("content")
    source_files = [r.chunk.metadata["source_file"] for r in all_results]
    assert source_files.count(file_path) == len(set(chunk_ids_for(engine, file_path)))
    assert not any("Original" in r.chunk.content for r in all_results)


# --- and what its words leave open ---


def test_nothing_given_is_an_error_that_names_the_field(engine: RAGEngine) -> None:
    for call, field in ((engine.ingest, "file_paths"), (engine.delete, "document_ids")):
        with pytest.raises(ValueError, match=field):
            call([])
        with pytest.raises(errors.ValidationError, match=field):
            call("one string")
    for text in ("", "ab", "  a  "):
        with pytest.raises(ValueError, match="query_text"):
            engine.query(text)


def test_what_is_no_list_is_an_error_that_names_the_field(engine: RAGEngine) -> None:
    for call, field in ((engine.ingest, "file_paths"), (engine.delete, "document_ids")):
        for value in (None, 5):
            with pytest.raises(errors.ValidationError, match=field):
                call(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, 5, ["a list"], "", "   ", " \n\u00a0", "x" * 5000, "zero\x00byte"])
def test_a_query_that_is_blank_too_long_or_no_text_is_refused_at_every_door_of_python(
    engine: RAGEngine, text: Any
) -> None:
    doors: list[Callable[[], object]] = [
        lambda: engine.query(text),
        lambda: engine.search({"query": text}),
        lambda: engine.search(SearchRequest(query=text)),
        lambda: engine.answer(text),
        lambda: engine.answer({"question": text}),
        lambda: engine.answer(AnswerRequest(question=text)),
        lambda: engine.questions.search({"query": text}),
        lambda: engine.questions.answer(text),
        lambda: [*engine.questions.stream({"question": text})],
        lambda: engine.questions.explain({"query": text}, "passage"),
        lambda: engine.chats.ask(engine.chats.start("Chat").id, text),
        lambda: engine.retrieval_api.retrieve({"query": text}),
        lambda: engine.retrieval_api.retrieve(RetrieveRequest(query=text)),
        lambda: engine.retrieval_api.validate({"test_queries": [text]}),
    ]
    for door in doors:
        with pytest.raises(errors.ValidationError, match=r"query|queries|question|request") as caught:
            door()
        assert "^" not in caught.value.message


def test_an_engine_that_cannot_be_opened_is_a_runtime_error(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2"
    with RAGEngine(load_config(rag_data_dir=tmp_path, rag_database_url=url)) as engine, pytest.raises(RuntimeError):
        engine.query("anything")


def test_chunks_of_the_same_page_are_results_of_their_own(engine: RAGEngine) -> None:
    document = engine.documents.add(b"Notes of an inspection.", "notes.txt", enqueue=False)
    sentence = "The harbour was inspected, and its crane passed the test. "
    blocks = [
        TextBlock(page_number=page, bbox=Rect(0, 0, 9, 9), line_start=line, line_end=line, text=sentence * 20)
        for line, page in enumerate((1, 1, 1, 2, 2, 2), start=1)
    ]
    assert engine.index_document(document.id, blocks).chunk_count == 6
    results = engine.query("Was the crane of the harbour inspected?")
    assert len(results) == len({result.chunk.metadata["chunk_id"] for result in results}) == 5
    assert {result.chunk.metadata["page_number"] for result in results} == {1, 2}


def test_of_a_folder_the_files_in_it_are_taken(engine: RAGEngine, tmp_path: Path) -> None:
    folder, empty = tmp_path / "reports", tmp_path / "empty"
    for path in (folder / "old", folder / ".git", empty):
        path.mkdir(parents=True)
    for name in ("new.md", "old/one.txt", ".git/config.txt", "logo.png"):
        (folder / name).write_text("# Pears\nPears ripen in August.\n")
    result = engine.ingest([folder, empty])
    assert (result["ingested_count"], result["failed_files"]) == (2, [str(empty)])
    assert {document.name for document in engine.documents.list()} == {"new.md", "one.txt"}


def test_nothing_is_found_before_anything_is_taken_in(engine: RAGEngine) -> None:
    assert engine.query("What is Python?") == []


def test_results_tell_where_they_stand_and_come_best_first(engine: RAGEngine, create_test_file: Create) -> None:
    path = create_test_file("python.md", "# Python\nPython is great.")
    engine.ingest([path, create_test_file("pears.md", "# Pears\nPears are a fruit that ripens in August.")])
    results = engine.query("Is Python great?")
    (document,) = (document for document in engine.documents.list() if document.name == "python.md")
    metadata = results[0].chunk.metadata
    assert (metadata["source_file"], metadata["file_name"]) == (path, "python.md")
    assert (metadata["document_id"], metadata["page_number"]) == (str(document.id), 1)
    scores = [result.similarity_score for result in results]
    assert scores == sorted(scores, reverse=True)
    assert [result.rank for result in results] == list(range(1, len(results) + 1))


def test_taking_in_the_same_again_changes_nothing(engine: RAGEngine, create_test_file: Create) -> None:
    path = create_test_file("doc.md", "# Title\nContent")
    engine.ingest([path])
    before = engine.documents.list()
    assert engine.ingest([path]) == {"ingested_count": 1, "failed_count": 0, "chunk_count": 0, "failed_files": []}
    assert engine.documents.list() == before


def test_a_document_is_deleted_by_id_or_path_and_comes_back_when_taken_in_again(
    engine: RAGEngine, create_test_file: Create
) -> None:
    by_path, by_id = (create_test_file(name, f"# {name}\nContent") for name in ("path.md", "id.md"))
    engine.ingest([by_path, by_id])
    document_id = next(str(document.id) for document in engine.documents.list() if document.source == by_id)
    result = engine.delete([by_path, document_id, "/elsewhere.md"])
    assert result == {
        "deleted_count": 2,
        "deleted_ids": [by_path, document_id],
        "not_found_ids": ["/elsewhere.md"],
    }
    assert engine.documents.list() == []
    assert engine.delete([by_path])["not_found_ids"] == [by_path]  # it is in the trash
    assert engine.ingest([by_id])["ingested_count"] == 1
    assert [str(document.id) for document in engine.documents.list()] == [document_id]


def test_a_change_that_cannot_be_read_leaves_the_old_version(engine: RAGEngine, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(pdfs.plain(["The harbour handled 4,812 ships."]))
    engine.ingest([path])
    path.write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    assert engine.ingest([path])["failed_files"] == [str(path)]
    assert "4,812" in engine.query("How many ships did the harbour handle?")[0].chunk.content
    assert engine.documents.list(in_trash=True) == []


def test_users_take_in_query_and_delete_their_own(engine: RAGEngine, create_test_file: Create) -> None:
    path = create_test_file("doc.md", "# Python\nPython is great.")
    engine.ingest([path])
    other = engine.installation.for_user("other")
    assert other.query("What is Python?") == []
    assert other.delete([path, hash_file_path(path)])["deleted_count"] == 0
    assert len(engine.query("What is Python?")) == 1


def test_a_bare_question_is_answered_with_its_contexts(engine: RAGEngine, create_test_file: Create) -> None:
    paths = [
        create_test_file("harbour.md", "# Harbour\nThe harbour handled 4,812 ships in 2019."),
        create_test_file("orchard.md", "# Orchard\nThe orchard sold 731 crates of pears in 2019."),
    ]
    engine.ingest(paths)
    harbour = next(document.id for document in engine.documents.list() if document.name == "harbour.md")
    response = engine.answer("How many ships were handled in 2019?", document_id=harbour)
    assert "4,812" in response.answer
    assert response.retrieval.top_k == 5
    assert [hit.document_name for hit in response.contexts] == ["harbour.md"]
    narrowed = engine.answer({"question": "How many crates of pears were sold?"}, document_id=str(harbour))
    assert "731" not in narrowed.answer
    with pytest.raises(errors.ValidationError, match="document_id"):
        engine.answer("How many ships?", document_id="not an id")
