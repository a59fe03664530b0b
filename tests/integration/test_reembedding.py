"""Another embedding model for an index with documents: with the embedded model and two models of words."""

import concurrent.futures
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import errors, providers
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import DocumentStatus, Rect, TextBlock
from tests import embeddings, pdfs

LOCAL = "local:bge-small-en-v1.5"
WORDS = "words:model"
"""Vectors of the same size as the embedded model's."""
SHORT = "short:model"
BLIND = "blind:model"

FACTS = {
    "harbour.pdf": "The harbour of Lindmark handled 4,812 ships in 2019.",
    "orchard.pdf": "The orchard grows eleven kinds of pears.",
    "quarry.pdf": "The quarry near Oberstein sells red granite.",
}
QUESTIONS = {
    "harbour.pdf": "How many ships did the harbour handle?",
    "orchard.pdf": "How many kinds of pears grow?",
    "quarry.pdf": "What does the quarry sell?",
}


@pytest.fixture
def registry() -> providers.Registry:
    registry = providers.Registry()
    embeddings.register(registry, "words", 384)
    embeddings.register(registry, "short", 96)
    embeddings.register(registry, "blind", 96, embeddings.blind(96))
    return registry


@pytest.fixture
def engine(database_url: str, tmp_path: Path, registry: providers.Registry) -> Iterator[RAGEngine]:
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url)
    with RAGEngine(config, user_id="ada", registry=registry) as opened:
        yield opened


@pytest.fixture
def library(engine: RAGEngine) -> dict[str, uuid.UUID]:
    """Names and ids of three ready documents."""
    return {name: add(engine, name, text) for name, text in FACTS.items()}


def add(engine: RAGEngine, name: str, text: str) -> uuid.UUID:
    document = engine.documents.process(engine.documents.add(pdfs.plain([text]), name, enqueue=False).id)
    assert document.status is DocumentStatus.READY
    return document.id


def block(text: str, number: int = 1) -> TextBlock:
    """A line on a page of its own."""
    return TextBlock(page_number=number, bbox=Rect(72, 60, 300, 75), line_start=number, line_end=number, text=text)


def found(engine: RAGEngine, query: str) -> list[tuple[str, float]]:
    """Names and similarities of what a search by meaning finds, best first."""
    response = engine.search({"query": query, "retrieval": {"mode": "vector", "minScore": 0}})
    return [(hit.document_name, round(hit.vector_score or 0.0, 4)) for hit in response.results]


def states(engine: RAGEngine) -> dict[str, str]:
    return {one.space.name: one.state.value for one in engine.indexes.generations().list()}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("model", [WORDS, SHORT])
def test_a_generation_is_built_switched_to_and_rolled_back(engine: RAGEngine, model: str) -> None:
    before = {query: found(engine, query) for query in QUESTIONS.values()}
    told: list[tuple[int, int]] = []
    generation = engine.indexes.generations("default").build(model, lambda _, done, total: told.append((done, total)))

    assert (generation.state, generation.progress.done, generation.progress.total) == ("ready", 3, 3)
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    assert told == sorted(told)
    assert {query: found(engine, query) for query in QUESTIONS.values()} == before
    assert states(engine) == {LOCAL: "active", model: "ready"}

    assert engine.indexes.generations().switch().space.name == model
    after = {query: found(engine, query) for query in QUESTIONS.values()}
    assert [hits[0][0] for hits in after.values()] == list(QUESTIONS)
    assert all(after[query] != before[query] for query in before)
    assert engine.indexes.models()["embedding"] == model
    assert engine.answer({"question": QUESTIONS["orchard.pdf"]}).contexts[0].document_name == "orchard.pdf"

    assert engine.indexes.generations().rollback().space.name == LOCAL
    assert {query: found(engine, query) for query in QUESTIONS.values()} == before
    with pytest.raises(errors.IndexError, match="go back"):
        engine.indexes.generations().rollback()

    engine.indexes.generations().switch()
    assert {query: found(engine, query) for query in QUESTIONS.values()} == after
    (dropped,) = engine.indexes.generations().drop()
    assert dropped.space.name == LOCAL
    assert states(engine) == {model: "active"}
    assert {query: found(engine, query) for query in QUESTIONS.values()} == after
    with pytest.raises(errors.IndexError, match="go back"):
        engine.indexes.generations().rollback()


@pytest.mark.usefixtures("library")
def test_invalid_builds_switches_and_drops_are_refused(engine: RAGEngine) -> None:
    with pytest.raises(errors.IndexError, match="pagelight reembed"):
        engine.indexes.generations().switch()
    assert engine.indexes.generations("default").build(LOCAL).state == "active"
    assert engine.indexes.generations().drop() == []
    with pytest.raises(errors.IndexError, match="uses the vectors"):
        engine.indexes.generations("default").drop(1)
    for call in (engine.indexes.generations().switch, engine.indexes.generations().drop):
        with pytest.raises(errors.NotFoundError, match="no generation 7"):
            call(7)
    with pytest.raises(errors.ValidationError, match="no-such"):
        engine.indexes.generations("default").build("no-such-model")
    with pytest.raises(errors.NotFoundError):
        engine.indexes.generations("no such index").build(WORDS)


def test_changes_during_a_build_reach_both_generations(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    changed = threading.Event()

    def change(_stage: str, done: int, _total: int) -> None:
        if done and not changed.is_set():
            changed.set()
            add(engine, "meadow.pdf", "The meadow is mown twice a year.")
            engine.index_document(library["harbour.pdf"], [block("Zeppelins moor at the mast.")])
            engine.documents.trash([library["orchard.pdf"], library["quarry.pdf"]])
            engine.documents.purge([library["orchard.pdf"]])

    generation = engine.indexes.generations("default").build(WORDS, change)
    assert changed.is_set()
    assert (generation.state, generation.progress.total) == ("ready", 3)
    for _ in range(2):
        for query, name in (("zeppelins at the mast", "harbour.pdf"), ("how often the meadow is mown", "meadow.pdf")):
            assert found(engine, query)[0][0] == name
        assert {name for name, _ in found(engine, "pears and granite")} == {"harbour.pdf", "meadow.pdf"}
        engine.documents.restore([library["quarry.pdf"]])
        assert found(engine, "red granite of the quarry")[0][0] == "quarry.pdf"
        engine.documents.trash([library["quarry.pdf"]])
        engine.indexes.generations("default").switch(generation.generation)
    assert engine.indexes.ensure().space.name == WORDS


@pytest.mark.usefixtures("library")
def test_a_model_that_is_unknown_here_is_not_switched_to(engine: RAGEngine) -> None:
    engine.indexes.generations("default").build(WORDS)
    with (
        RAGEngine(engine.config, user_id="ada") as elsewhere,
        pytest.raises(errors.EmbeddingCapabilityError, match="words"),
    ):
        elsewhere.indexes.generations().switch()
    assert states(engine) == {LOCAL: "active", WORDS: "ready"}


@pytest.mark.usefixtures("library")
def test_what_comes_after_a_build_is_embedded_before_the_switch_and_before_the_way_back(engine: RAGEngine) -> None:
    engine.indexes.generations("default").build(WORDS)
    add(engine, "meadow.pdf", "The meadow is mown twice a year.")
    assert states(engine)[WORDS] == "building"
    engine.indexes.generations().switch()
    assert found(engine, "how often is the meadow mown")[0][0] == "meadow.pdf"
    add(engine, "mill.pdf", "The mill grinds rye.")
    engine.indexes.generations().rollback()
    assert found(engine, "what does the mill grind")[0][0] == "mill.pdf"
    assert engine.indexes.ensure().space.name == LOCAL


@pytest.mark.usefixtures("library")
def test_a_document_that_is_read_while_the_switch_happens_gets_the_new_vectors(engine: RAGEngine) -> None:
    engine.indexes.generations("default").build(SHORT)
    document = engine.documents.add(pdfs.plain(["The mill grinds rye."]), "mill.pdf", enqueue=False)

    def switch(stage: str, _done: int, _total: int) -> None:
        if stage == DocumentStatus.EMBEDDING:
            engine.indexes.generations("default").switch(2)

    assert engine.documents.process(document.id, switch).status is DocumentStatus.READY
    assert found(engine, "what does the mill grind")[0][0] == "mill.pdf"


class _Stop(Exception):  # noqa: N818  # not an error
    pass


def test_a_broken_off_build_goes_on_where_it_was(
    database_url: str, tmp_path: Path, registry: providers.Registry
) -> None:
    embedded: list[str] = []

    def count(texts: list[str]) -> list[list[float]]:
        embedded.extend(texts)
        return embeddings.bag_of_words(24)(texts)

    embeddings.register(registry, "counting", 24, count)
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url, rag_embed_model=SHORT)
    with RAGEngine(config, registry=registry) as engine:
        for log in range(2):
            document_id = add(engine, f"log {log}.pdf", f"Log {log}.")
            engine.index_document(document_id, [block(f"Entry {n} of log {log}. " * 40, n) for n in range(1, 101)])
        total = engine.inspect_index().chunks
        assert total == 200

        def stop(_stage: str, done: int, _total: int) -> None:
            if done > total / 2:
                raise _Stop

        with pytest.raises(_Stop):
            engine.indexes.generations("default").build("counting:model", stop)
        half = engine.indexes.generations().list()[1]
        assert half.state == "building"
        assert 0 < half.progress.done < total
        assert total / 2 < len(embedded) < total
        engine.indexes.generations("default").build("counting:model")
        assert len(embedded) == len(set(embedded)) == total
        engine.indexes.generations().switch()


@pytest.mark.usefixtures("library")
def test_a_drop_ends_the_build(engine: RAGEngine) -> None:
    def drop(_stage: str, done: int, _total: int) -> None:
        if done == 1:
            engine.indexes.generations().drop()

    with pytest.raises(errors.IndexError, match="were dropped while"):
        engine.indexes.generations("default").build(WORDS, drop)
    assert states(engine) == {LOCAL: "active"}
    assert found(engine, QUESTIONS["quarry.pdf"])[0][0] == "quarry.pdf"


@pytest.mark.usefixtures("library")
def test_two_processes_do_not_build_the_same_generation(engine: RAGEngine) -> None:
    refused: list[str] = []

    def build_too(_stage: str, _done: int, _total: int) -> None:
        with pytest.raises(errors.IndexError, match="Another process") as caught:
            engine.indexes.generations("default").build(WORDS)
        refused.append(caught.value.code)

    assert engine.indexes.generations("default").build(WORDS, build_too).state == "ready"
    assert refused


@pytest.mark.usefixtures("library")
def test_searches_never_mix_spaces_nor_come_back_empty_while_switching(engine: RAGEngine) -> None:
    query = QUESTIONS["harbour.pdf"]
    old = found(engine, query)
    engine.indexes.generations("default").build(WORDS)
    engine.indexes.generations().switch()
    new = found(engine, query)
    assert old != new
    assert len(old) == len(new) == 3
    stop = threading.Event()

    def search() -> list[list[tuple[str, float]]]:
        results = []
        while not stop.is_set():
            results.append(found(engine, query))
        return results

    with concurrent.futures.ThreadPoolExecutor() as threads:
        searches = [threads.submit(search) for _ in range(4)]
        try:
            for generation in (1, 2) * 10:
                engine.indexes.generations("default").switch(generation)
        finally:
            stop.set()
        seen = [result for done in searches for result in done.result()]
    assert all(result in (old, new) for result in seen)
    assert old in seen
    assert new in seen


@pytest.mark.usefixtures("library")
def test_the_setting_is_refused_with_the_command_until_the_switch(
    engine: RAGEngine, registry: providers.Registry
) -> None:
    config = engine.config.model_copy(update={"rag_embed_model": SHORT})
    with RAGEngine(config, user_id="ada", registry=registry) as changed:
        with pytest.raises(errors.IndexError, match=f"re-index.*pagelight reembed --index default --model {SHORT}"):
            changed.search({"query": "ships"})
        changed.indexes.generations("default").build(SHORT)
        with pytest.raises(errors.IndexError, match="re-index"):
            changed.documents.list()
        changed.indexes.generations().switch()
        assert found(changed, QUESTIONS["harbour.pdf"])[0][0] == "harbour.pdf"
        assert changed.indexes.ensure("another").space.name == SHORT
    assert found(engine, QUESTIONS["harbour.pdf"])[0][0] == "harbour.pdf"
