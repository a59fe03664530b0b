"""Vectors of two models beside each other: which of them are searched, and what becomes of both."""

import concurrent.futures
import threading
import time
import uuid

import psycopg
import pytest

from rag import errors
from rag.store.store import Store
from rag.types import EmbeddingGeneration, EmbeddingSpace, GenerationState
from tests.integration.samples import SPACE, Owner, random_vector

SAME_SIZE = EmbeddingSpace(provider="test", model="another", dimensions=384)
OTHER_SIZE = EmbeddingSpace(provider="test", model="wide", dimensions=768)
NEW_TABLE = EmbeddingSpace(provider="test", model="odd", dimensions=48)
SPACES = [SAME_SIZE, OTHER_SIZE, NEW_TABLE]

PAUSE_SECONDS = 0.01
PATIENCE_SECONDS = 60.0
TEXTS = ["the first text of the two", "the second text of the two"]


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ann")


def vector(space: EmbeddingSpace, text: str) -> list[float]:
    """Of a text in a space other than the owner's."""
    return random_vector((space.model, text), space.dimensions)


def embed(owner: Owner, space: EmbeddingSpace, document_id: uuid.UUID) -> bool:
    chunks = owner.db.of(owner.user_id).chunks.to_embed(document_id)
    vectors = [vector(space, chunk.text) for chunk in chunks]
    return owner.db.of(owner.user_id).chunks.add_vectors(document_id, space, chunks=chunks, vectors=vectors)


def build(owner: Owner, space: EmbeddingSpace) -> EmbeddingGeneration:
    generation = owner.db.of(owner.user_id).generations.add(owner.index.id, space)
    for document_id in owner.db.of(owner.user_id).generations.missing(generation):
        assert embed(owner, space, document_id)
    return present(owner, generation.generation)


def present(owner: Owner, number: int) -> EmbeddingGeneration:
    (found,) = [one for one in owner.db.of(owner.user_id).generations.list(owner.index.id) if one.generation == number]
    return found


def nearest(owner: Owner, space: EmbeddingSpace, query: list[float]) -> list[tuple[uuid.UUID, float]]:
    return [
        (hit.chunk_id, round(hit.score, 4))
        for hit in owner.db.of(owner.user_id).chunks.dense(owner.scope, space, query, 10)
    ]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.model)
def test_both_spaces_are_searched_apart_and_the_same_chunks_found(owner: Owner, space: EmbeddingSpace) -> None:
    document = owner.ready("a.pdf", TEXTS)
    first, second = owner.db.of("ann").chunks.of_document(document.id)
    assert build(owner, space).state is GenerationState.READY

    old = nearest(owner, SPACE, random_vector(TEXTS[1]))
    new = nearest(owner, space, vector(space, TEXTS[1]))

    assert [chunk_id for chunk_id, _ in old] == [chunk_id for chunk_id, _ in new] == [second.id, first.id]
    assert old[0][1] == new[0][1] == 1.0
    assert nearest(owner, space, random_vector(TEXTS[1], space.dimensions))[0][1] < 0.5
    index = owner.db.of("ann").generations.switch(present(owner, 2))
    assert index is not None
    assert (index.space, index.generation) == (space, 2)
    assert owner.db.of("ann").chunks.of_document(document.id) == [first, second]
    assert [chunk for chunk, _ in owner.db.of("ann").chunks.get([second.id, first.id])] == [second, first]
    assert [hit.chunk_id for hit in owner.db.of(owner.user_id).chunks.lexical(owner.scope, "second", 10).chunks] == [
        second.id
    ]
    assert len(owner.db.of("ann").chunks.page_lines([(document.id, 1), (document.id, 2)])) == 2
    assert nearest(owner, space, vector(space, TEXTS[1])) == new
    assert nearest(owner, SPACE, random_vector(TEXTS[1])) == old


def test_a_drop_takes_the_rows_of_that_generation_only(owner: Owner, database_url: str) -> None:
    document = owner.ready("a.pdf", TEXTS)
    second = build(owner, SAME_SIZE)
    owner.db.of("ann").generations.drop(second)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT generation, count(*) FROM stored_chunks GROUP BY 1").fetchall() == [(1, 2)]
    assert nearest(owner, SAME_SIZE, vector(SAME_SIZE, TEXTS[0])) == []
    build(owner, OTHER_SIZE)  # it has the number now
    for change in (owner.db.of("ann").generations.switch, owner.db.of("ann").generations.drop):
        with pytest.raises(errors.NotFoundError, match="dropped"):
            change(second)
    with pytest.raises(errors.NotFoundError, match="dropped"):
        embed(owner, SAME_SIZE, document.id)


def test_the_same_space_is_the_same_generation(owner: Owner) -> None:
    added = owner.db.of("ann").generations.add(owner.index.id, SAME_SIZE)
    assert owner.db.of("ann").generations.add(owner.index.id, SAME_SIZE) == added
    assert owner.db.of("ann").generations.add(owner.index.id, SPACE).state is GenerationState.ACTIVE
    with pytest.raises(errors.EmbeddingCapabilityError):
        owner.db.of("ann").generations.add(owner.index.id, EmbeddingSpace(provider="x", model="y", dimensions=5000))
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").generations.add(uuid.uuid4(), SAME_SIZE)


def test_a_replaced_document_has_no_vectors_of_its_old_text(owner: Owner) -> None:
    document, kept = owner.ready("a.pdf", TEXTS), owner.ready("b.pdf", ["kept"])
    stale = owner.db.of("ann").chunks.to_embed(document.id)
    for space in SPACES:
        build(owner, space)
    owner.fill(document, ["new text"])
    for number, space in enumerate(SPACES, start=2):
        assert owner.db.of("ann").generations.missing(present(owner, number)) == [document.id]
        vectors = [vector(space, chunk.text) for chunk in stale]
        assert not owner.db.of("ann").chunks.add_vectors(document.id, space, chunks=stale, vectors=vectors)
        assert len(nearest(owner, space, vector(space, "kept"))) == 1
    assert [chunk.document_id for chunk in owner.db.of("ann").chunks.to_embed(kept.id)] == [kept.id]


def test_a_purged_document_is_gone_everywhere_and_stays_so(owner: Owner, database_url: str) -> None:
    document = owner.ready("a.pdf", TEXTS)
    chunks = owner.db.of("ann").chunks.to_embed(document.id)
    build(owner, OTHER_SIZE)
    build(owner, SAME_SIZE)
    owner.db.of("ann").documents.trash([document.id])
    owner.db.of("ann").documents.purge([document.id])
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM stored_chunks").fetchone() == (0,)
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").chunks.add_vectors(
            document.id, SAME_SIZE, chunks=chunks, vectors=[vector(SAME_SIZE, chunk.text) for chunk in chunks]
        )


@pytest.mark.long
def test_documents_replaced_while_switches_happen_are_always_whole(owner: Owner) -> None:
    """A writer either comes before a switch, which then waits for its vectors, or after it, and is told so."""
    document = owner.ready("a.pdf", TEXTS)
    build(owner, SAME_SIZE)
    stop, refused = threading.Event(), threading.Event()

    def write() -> None:
        while not stop.is_set():
            try:
                owner.fill(document, TEXTS)
            except errors.IndexError:
                refused.set()
            time.sleep(PAUSE_SECONDS)  # or a switch might wait for ever for the vectors of what was just written

    def read() -> set[int]:
        seen = set()
        while not stop.is_set():
            seen.add(len(owner.db.of("ann").chunks.of_document(document.id)))
            seen.add(len(owner.db.of(owner.user_id).chunks.lexical(owner.scope, "second text", 10).chunks))
        return seen

    with concurrent.futures.ThreadPoolExecutor() as threads:
        writer, reader = threads.submit(write), threads.submit(read)
        try:
            for number in (2, *(1, 2) * 5):
                space = present(owner, number).space
                while owner.db.of("ann").generations.switch(present(owner, number)) is None:
                    embed(owner, space, document.id)
            assert refused.wait(PATIENCE_SECONDS)  # the writer does not know of the generation that is now in use
        finally:
            stop.set()
        assert reader.result() == {2}
        writer.result()
