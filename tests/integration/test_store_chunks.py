"""Chunks: written as a whole or not at all, and read back exactly."""

import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest

from rag import errors
from rag.store.store import Store
from rag.types import BlockKind, Chunk, Document, EmbeddingSpace, Line, Rect
from tests.integration.samples import SPACE, Owner, make_chunks, make_parsed, random_vector


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ann")


def test_chunks_round_trip(owner: Owner) -> None:
    document = owner.add("a.pdf")
    lines = (
        Line(number=7, page_number=2, bbox=Rect(1 / 3, 0.1, 2.5, 1e-7), text="Héading 数据", kind=BlockKind.HEADING),
        Line(number=8, page_number=2, bbox=Rect(1, 2, 3, 4), text="a\tb", kind=BlockKind.TABLE, starts_block=True),
        Line(number=9, page_number=3, bbox=Rect(5, 6, 7, 8), text="", starts_block=False),
    )
    chunk = Chunk(id=uuid.uuid4(), document_id=document.id, ordinal=0, lines=lines, section="1 › 2", context="T\n1")
    owner.db.of("ann").chunks.replace(
        document.id,
        SPACE,
        parsed=make_parsed(["x"] * 3),
        chunks=[chunk],
        vectors=[random_vector("x")],
        search_texts=["x"],
    )
    [(found, of_document)] = owner.db.of("ann").chunks.get([chunk.id])
    assert found == chunk
    assert of_document == owner.db.of("ann").documents.get(document.id).model_copy(update={"pages": ()})
    assert owner.db.of("ann").chunks.of_document(document.id) == [chunk]


def test_get_keeps_the_order_asked_for(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["one", "two", "three"])
    chunks = owner.db.of("ann").chunks.of_document(document.id)
    asked = [chunks[2].id, uuid.uuid4(), chunks[0].id]
    assert [chunk.id for chunk, _ in owner.db.of("ann").chunks.get(asked)] == [chunks[2].id, chunks[0].id]


def test_chunks_of_a_page_and_in_slices(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["one", "two", "three"])
    of_document = owner.db.of("ann").chunks.of_document
    assert [chunk.text for chunk in of_document(document.id, page_number=2)] == ["two"]
    assert [chunk.text for chunk in of_document(document.id, limit=1, offset=1)] == ["two"]
    assert of_document(document.id, page_number=9) == []


def test_a_page_is_put_together_from_overlapping_chunks(owner: Owner) -> None:
    document = owner.add("a.pdf")
    lines = [
        Line(number=number, page_number=1 + number // 4, bbox=Rect(0, number, 1, number + 1), text=f"line {number}")
        for number in range(1, 7)
    ]
    chunks = [
        Chunk(id=uuid.uuid4(), document_id=document.id, ordinal=ordinal, lines=tuple(lines[start:end]))
        for ordinal, (start, end) in enumerate([(0, 3), (1, 5), (4, 6)])
    ]
    owner.db.of("ann").chunks.replace(
        document.id,
        SPACE,
        parsed=make_parsed(["x", "y"]),
        chunks=chunks,
        vectors=[random_vector(chunk.ordinal) for chunk in chunks],
        search_texts=["x"] * 3,
    )
    found = owner.db.of("ann").chunks.page_lines([(document.id, 1), (document.id, 2), (document.id, 3)])
    assert found == {(document.id, 1): tuple(lines[:3]), (document.id, 2): tuple(lines[3:])}


def test_replacing_leaves_nothing_of_the_old(owner: Owner) -> None:
    document = owner.add("a.pdf")
    owner.fill(document, ["zebra", "lion", "zebra again"])
    owner.fill(document, ["only giraffes"])
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "zebra", 10).chunks == []
    assert len(owner.db.of(owner.user_id).chunks.lexical(owner.scope, "giraffe", 10).chunks) == 1
    assert len(owner.db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("zebra"), 10)) == 1
    assert owner.db.of("ann").documents.get(document.id).chunk_count == 1


class Vectors(list[list[float]]):
    """Vectors that do something when they are read, which is in the middle of the replacement."""

    def __init__(self, vectors: list[list[float]], meanwhile: Callable[[], object]) -> None:
        super().__init__(vectors)
        self._meanwhile = meanwhile

    def __iter__(self) -> Iterator[list[float]]:
        self._meanwhile()
        return super().__iter__()


def replace_all(owner: Owner, document: Document, text: str, meanwhile: Callable[[], object]) -> None:
    owner.db.of("ann").chunks.replace(
        document.id,
        SPACE,
        parsed=make_parsed([text]),
        chunks=make_chunks(document.id, [text]),
        vectors=Vectors([random_vector(text)], meanwhile),
        search_texts=[text],
    )


def test_a_document_can_be_put_in_the_trash_while_it_is_replaced(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["old zebra"])
    replace_all(owner, document, "new lion", lambda: owner.db.of("ann").documents.trash([document.id]))
    assert owner.db.of("ann").documents.get(document.id).deleted_at is not None
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "lion", 10).chunks == []


def test_the_old_chunks_are_found_until_the_new_ones_are_there(owner: Owner) -> None:
    document = owner.ready("a.pdf", ["old zebra"])
    seen: list[tuple[int, int]] = []

    def look() -> None:
        found = [owner.db.of(owner.user_id).chunks.lexical(owner.scope, word, 10).chunks for word in ("zebra", "lion")]
        seen.append((len(found[0]), len(found[1])))

    replace_all(owner, document, "new lion", look)
    look()
    assert seen == [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("vectors", "text"),
    [
        ([random_vector("new"), [1.0, 2.0]], "new text"),  # a vector of another size breaks the COPY half way
        ([random_vector("new"), random_vector("newer")], "a zero byte \x00 in the text"),
        ([random_vector("new"), random_vector("newer")], "half a character \ud800"),
    ],
)
def test_a_failing_replacement_leaves_the_old_chunks(owner: Owner, vectors: list[list[float]], text: str) -> None:
    document = owner.ready("a.pdf", ["old zebra"])
    before = owner.db.of("ann").chunks.of_document(document.id)
    texts = ["new lion", text]
    with pytest.raises((errors.StoreError, errors.ValidationError)):
        owner.db.of("ann").chunks.replace(
            document.id,
            SPACE,
            parsed=make_parsed(texts),
            chunks=make_chunks(document.id, texts),
            vectors=vectors,
            search_texts=texts,
        )
    assert owner.db.of("ann").chunks.of_document(document.id) == before
    assert [hit.chunk_id for hit in owner.db.of(owner.user_id).chunks.lexical(owner.scope, "zebra", 10).chunks] == [
        before[0].id
    ]
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "lion", 10).chunks == []
    assert owner.db.of("ann").documents.get(document.id) == document


def test_another_space_than_the_index_has(owner: Owner) -> None:
    document = owner.add("a.pdf")
    with pytest.raises(errors.IndexError, match="re-index"):
        owner.db.of("ann").chunks.replace(
            document.id,
            EmbeddingSpace(provider="test", model="other", dimensions=384),
            parsed=make_parsed(["x"]),
            chunks=make_chunks(document.id, ["x"]),
            vectors=[random_vector("x")],
            search_texts=["x"],
        )


@pytest.mark.parametrize("dimensions", [3, 1536, 1700, 3072, 4000])
def test_any_vector_size(db: Store, dimensions: int) -> None:
    owner = Owner.of(db, "ann", space=EmbeddingSpace(provider="test", model="sized", dimensions=dimensions))
    document = owner.ready("a.pdf", ["one", "two", "word " * 1000])
    best, *_ = db.of(owner.user_id).chunks.dense(owner.scope, owner.index.space, random_vector("two", dimensions), 3)
    assert best.page_number == 2
    assert best.score == pytest.approx(1.0, abs=1e-3)
    assert len(db.of("ann").chunks.of_document(document.id)) == 3
    assert db.of(owner.user_id).chunks.lexical(owner.scope, "two", 3).chunks[0].chunk_id == best.chunk_id


@pytest.mark.parametrize("dimensions", [0, 4001])
def test_a_vector_size_that_cannot_be_indexed(owner: Owner, dimensions: int) -> None:
    space = EmbeddingSpace(provider="test", model="sized", dimensions=dimensions)
    with pytest.raises(errors.EmbeddingCapabilityError):
        owner.db.of(owner.user_id).chunks.dense(owner.scope, space, [], 3)


def test_the_view_shows_chunks_of_all_sizes(db: Store, database_url: str) -> None:
    for dimensions in (3, 384, 3072):
        space = EmbeddingSpace(provider="test", model="sized", dimensions=dimensions)
        Owner.of(db, "ann", name=f"of {dimensions}", space=space).ready("a.pdf", ["content"])
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT id, document_id, content, vector_dims(embedding), page_number, x0, y0, x1, y1, "
            "line_start, line_end FROM document_chunks"
        ).fetchall()
    assert sorted(row[3] for row in rows) == [3, 384, 3072]
    assert {row[2] for row in rows} == {"content"}
    assert {row[5:9] for row in rows} == {(72.1, 11.3, 540.7, 21.2)}
    assert {type(row[0]) for row in rows} == {uuid.UUID}


def test_a_purged_document_leaves_no_row_behind(owner: Owner, database_url: str) -> None:
    document = owner.ready("a.pdf", ["some words", "more words"])
    owner.db.of("ann").documents.trash([document.id])
    owner.db.of("ann").documents.purge([document.id])
    with psycopg.connect(database_url) as connection:
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM data_document_chunks_384), (SELECT count(*) FROM postings)"
        ).fetchone()
    assert counts == (0, 0)
