"""Searching and answering while others delete, restore and read again: nothing deleted or foreign comes back."""

import uuid
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import pytest

from rag.config import load_config
from rag.engine import RAGEngine
from tests import pdfs

THREADS = 8
ROUNDS = 2
QUESTION = "How many ships did the harbour handle?"


@pytest.fixture
def ann(database_url: str, tmp_path: Path) -> Iterator[RAGEngine]:
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url)
    with RAGEngine(config, user_id="ann") as opened:
        yield opened


def add(engine: RAGEngine, number: int) -> uuid.UUID:
    """A document that answers the question with a number of its own."""
    text = [f"The harbour of town {number} handled {number:,} ships.", "Its crane lifts 95 tonnes."]
    document = engine.documents.add(pdfs.plain(text), f"{number}.pdf", enqueue=False)
    return engine.documents.process(document.id).id


def found(engine: RAGEngine) -> set[uuid.UUID]:
    retrieval = {"top_k": 50, "min_score": 0.0}
    return {hit.chunk.document_id for hit in engine.search({"query": QUESTION, "retrieval": retrieval}).results}


def cited(engine: RAGEngine) -> set[uuid.UUID]:
    response = engine.answer({"question": QUESTION, "retrieval": {"top_k": 50, "min_score": 0.0}})
    hits = [*response.contexts, *response.nearest]
    return {hit.chunk.document_id for hit in hits}


def disturb(engine: RAGEngine, own: uuid.UUID, mine: set[uuid.UUID]) -> None:
    """Delete, restore and read again one document that no other thread touches, looking after each step."""
    for _ in range(ROUNDS):
        engine.documents.trash([own])
        for seen in (found(engine), cited(engine)):
            assert own not in seen
            assert seen <= mine
        engine.documents.restore([own])
        assert own in found(engine)
        engine.documents.retry(own)
        engine.documents.process(own)
        seen = found(engine)
        assert own in seen
        assert seen <= mine


@pytest.mark.long
@pytest.mark.timeout(600)
def test_deleted_and_foreign_documents_never_come_back(ann: RAGEngine) -> None:
    bob = ann.installation.for_user("bob")
    owners = [(engine, {add(engine, 1000 + number) for number in range(THREADS // 2)}) for engine in (ann, bob)]
    with futures.ThreadPoolExecutor(THREADS) as threads:
        running = [threads.submit(disturb, engine, own, mine) for engine, mine in owners for own in mine]
        for done in futures.as_completed(running):
            done.result()
    for engine, mine in owners:
        assert found(engine) == mine
