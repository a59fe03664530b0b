"""What the benchmark of faults counts: each broken promise is seen, and nothing else is."""

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pydantic
import pytest
from psycopg.rows import dict_row

from benchmarks.chaos import files
from benchmarks.chaos.census import Census
from benchmarks.chaos.ledger import Chat, Entry, Ledger, State, Version, Wrong
from benchmarks.chaos.services import Services
from rag.config import load_config
from rag.engine import Installation, RAGEngine

USER = "ann"


class World:
    """A user with a document and a chat, and the ledger that knows of them."""

    def __init__(self, engine: RAGEngine, connection: psycopg.Connection[dict[str, Any]], folder: Path) -> None:
        self.engine = engine
        self.connection = connection
        self.folder = folder
        self.services = Services(folder / "data", folder / "tmp", folder / "logs")
        self.ledger = Ledger()
        self.file = files.make(1, 2)
        document = engine.documents.add(self.file.content, self.file.name, enqueue=False)
        engine.documents.process(document.id)
        self.entry = Entry(USER, self.file.name, [Version(self.file.marker, self.file.sha256, document.id)])
        chat = engine.chats.start("About it")
        question = f"What is said of the {self.file.marker}?"
        engine.chats.ask(chat.id, question)
        self.chat = Chat(USER, chat.id, [question])
        self.ledger.entries.append(self.entry)
        self.ledger.chats.append(self.chat)

    @property
    def document_id(self) -> uuid.UUID:
        return self.entry.current.id

    def execute(self, statement: LiteralString) -> None:
        self.connection.execute(statement, {"id": self.document_id})

    def wrongs(self) -> set[Wrong]:
        """What is counted now."""
        Census(self.services, self.ledger, sweep_seconds=0).count(self.connection)
        return {violation.wrong for violation in self.ledger.violations}


@pytest.fixture
def world(database_url: str, tmp_path: Path) -> Iterator[World]:
    for name in ("data", "tmp", "logs"):
        (tmp_path / name).mkdir()
    config = load_config(
        rag_data_dir=tmp_path / "data", rag_database_url=pydantic.SecretStr(database_url), rag_embed_model="local"
    )
    with (
        Installation(config) as installation,
        psycopg.connect(database_url, row_factory=dict_row, autocommit=True) as connection,
    ):
        yield World(installation.for_user(USER), connection, tmp_path)


def test_nothing_is_wrong_where_everything_is_as_it_was_confirmed(world: World) -> None:
    assert not world.wrongs()
    world.engine.documents.trash([world.document_id])
    world.entry.states = {State.TRASHED}
    assert not world.wrongs()
    other = files.make(2, 1)
    added = world.engine.documents.add(other.content, other.name, enqueue=False)
    world.ledger.entries.append(Entry(USER, other.name, [Version(other.marker, other.sha256, added.id)]))
    world.engine.documents.purge([world.document_id])
    world.entry.states = {State.TRASHED, State.PURGED}  # as if no answer had come
    assert not world.wrongs()
    assert world.entry.is_surely(State.PURGED)


def test_documents_in_another_state_than_confirmed_are_lost(world: World) -> None:
    world.engine.documents.trash([world.document_id])
    assert world.wrongs() == {Wrong.LOST}


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("UPDATE documents SET status = 'failed' WHERE id = %(id)s", {Wrong.LOST}),
        ("UPDATE documents SET sha256 = 'other' WHERE id = %(id)s", {Wrong.LOST}),
        ("UPDATE documents SET superseded_by = id WHERE id = %(id)s", {Wrong.HALF}),
        ("DELETE FROM postings WHERE term <> 'the' AND block >> 20 = 0", {Wrong.HALF}),
        ("UPDATE data_document_chunks_384 SET embedding = NULL WHERE ordinal = 0", {Wrong.HALF}),
        ("DELETE FROM data_document_chunks_384 WHERE ordinal = 0", {Wrong.HALF}),
        ("UPDATE documents SET chunk_count = chunk_count - 1 WHERE id = %(id)s", {Wrong.DOUBLED}),
        ("DELETE FROM messages WHERE role = 'assistant'", {Wrong.LOST}),
        ("UPDATE messages SET content = 'something else' WHERE role = 'user'", {Wrong.LOST}),
        ("DELETE FROM conversations", {Wrong.LOST}),
    ],
)
def test_rows_that_are_not_as_confirmed_are_seen(world: World, statement: LiteralString, wrong: set[Wrong]) -> None:
    world.execute(statement)
    assert world.wrongs() == wrong


def test_another_document_of_the_same_upload_is_a_double_and_one_of_nobody_an_orphan(world: World) -> None:
    twice = world.engine.documents.add(world.file.content, world.file.name, index_name="other", enqueue=False)
    assert world.wrongs() == {Wrong.DOUBLED}
    world.engine.documents.trash([twice.id])
    world.engine.documents.purge([twice.id])
    world.ledger.violations.clear()
    unknown = files.make(2, 1)
    world.ledger.unanswered.add(unknown.sha256)
    world.engine.documents.add(unknown.content, unknown.name, enqueue=False)
    assert not world.wrongs()  # it was sent, and the answer may have been lost
    world.ledger.unanswered.clear()
    assert world.wrongs() == {Wrong.ORPHANED}


def test_files_of_nobody_are_orphans_and_missing_ones_are_lost(world: World) -> None:
    (original,) = (world.folder / "data" / "files").glob("*/*/original")
    draft = original.with_name(".original-abcdefgh")
    draft.write_bytes(b"half")
    (world.folder / "tmp" / "pagelight-12345678").mkdir()
    shutil.copytree(original.parent, original.parent.with_name(str(uuid.uuid4())))
    assert world.wrongs() == {Wrong.ORPHANED}
    assert len(world.ledger.violations) == 3
    world.ledger.violations.clear()
    original.unlink()
    assert world.wrongs() == {Wrong.LOST}
