"""Dense and lexical search against computations written out in Python."""

import datetime as dt
import math
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa

from rag.store.search import bm25, dense, search_terms
from rag.store.search.lexical import ADDED_WEIGHT, LexicalSearch
from rag.store.server.database import Database, UserDatabase
from rag.store.store import Store
from rag.types import Document, Landmark, PageText, Scope
from tests.integration.samples import SPACE, Owner, make_chunks, random_vector

WORDS = [
    *(
        "revenue",
        "profit",
        "loss",
        "market",
        "share",
        "growth",
        "debt",
        "asset",
        "equity",
        "dividend",
        "merger",
        "board",
    ),
    *("the", "of", "and", "a", "in", "was"),  # stop words, which count for nothing
]


def random_texts(seed: int, count: int) -> list[str]:
    source = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    return [" ".join(source.choices(WORDS, weights, k=source.randint(3, 60))) for _ in range(count)]


@pytest.fixture
def owner(db: Store) -> Owner:
    """One with documents of 1 to 200 chunks, beside another user with similar ones."""
    Owner.of(db, "bob").ready("b.pdf", random_texts(99, 40))
    owner = Owner.of(db, "ann")
    for seed, count in enumerate((1, 3, 200, 7)):
        owner.ready(f"{seed}.pdf", random_texts(seed, count), source=f"s3://bucket/{seed}")
    return owner


def lexemes(database_url: str, texts: list[str]) -> list[Counter[str]]:
    """What PostgreSQL's parser makes of texts."""
    query = "SELECT lexeme, cardinality(positions) FROM unnest(to_tsvector('english', %s))"
    with psycopg.connect(database_url) as connection:
        return [Counter(dict(connection.execute(query, [search_terms.normalize(text)]).fetchall())) for text in texts]


def plain_shares(texts: list[Counter[str]], query: Counter[str], least: int) -> list[float]:
    """Okapi BM25 with k1 = 1.2 and b = 0.4, text by text, as shares of what has each word twice; see `bm25`."""
    mean = sum(text.total() for text in texts) / len(texts)
    frequency = {term: sum(term in text for text in texts) for term in query}
    size = max(len(texts), least)
    idf = {term: math.log(1 + (size - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}
    reachable = sum(query[term] * idf[term] for term in query) * 2 * 2.2 / (2 + 1.2)
    return [
        sum(
            query[term] * idf[term] * text[term] * 2.2 / (text[term] + 1.2 * (0.6 + 0.4 * text.total() / mean))
            for term in query
            if text[term]
        )
        / reachable
        for text in texts
    ]


QUERY = "What was the revenue growth and the merger of the boards?"


@pytest.mark.parametrize("names", [("0.pdf", "1.pdf", "2.pdf", "3.pdf"), ("1.pdf", "3.pdf"), ("0.pdf",)])
def test_lexical_is_bm25_in_the_scope(owner: Owner, database_url: str, names: tuple[str, ...]) -> None:
    documents = [document for document in owner.db.of("ann").documents.list(owner.index.id) if document.name in names]
    chunks = [chunk for document in documents for chunk in owner.db.of("ann").chunks.of_document(document.id)]
    texts = lexemes(database_url, [chunk.text for chunk in chunks])
    expected = plain_shares(texts, lexemes(database_url, [QUERY])[0], bm25.MIN_CHUNKS)
    by_id = {chunk.id: score for chunk, score in zip(chunks, expected, strict=True) if score > 0}

    scope = owner.scope_of(document_ids=[document.id for document in documents])
    found = owner.db.of("ann").chunks.lexical(scope, QUERY, 1000).chunks

    assert {hit.chunk_id: hit.score for hit in found} == pytest.approx(by_id)
    assert [hit.score for hit in found] == pytest.approx(sorted(by_id.values(), reverse=True))
    assert owner.db.of("ann").chunks.lexical(scope, QUERY, 5).chunks == found[:5]
    pages = {chunk.id: (chunk.document_id, chunk.page_number) for chunk in chunks}
    assert all(pages[hit.chunk_id] == (hit.document_id, hit.page_number) for hit in found)


def test_a_word_counts_as_often_as_the_question_has_it(owner: Owner, database_url: str) -> None:
    asked = "revenue, revenue and once more revenue of the merger"
    documents = owner.db.of("ann").documents.list(owner.index.id)
    chunks = [chunk for document in documents for chunk in owner.db.of("ann").chunks.of_document(document.id)]
    (query,) = lexemes(database_url, [asked])
    texts = lexemes(database_url, [chunk.text for chunk in chunks])
    expected = plain_shares(texts, query, bm25.MIN_CHUNKS)
    by_id = {chunk.id: score for chunk, score in zip(chunks, expected, strict=True) if score > 0}
    found = owner.db.of("ann").chunks.lexical(owner.scope, asked, 1000).chunks
    assert query["revenu"] == 3
    assert {hit.chunk_id: hit.score for hit in found} == pytest.approx(by_id)


def test_what_is_added_counts_less_and_never_more_than_once(owner: Owner) -> None:
    def scores(query: str, *added: str) -> dict[uuid.UUID, float]:
        found = owner.db.of("ann").chunks.lexical(owner.scope, query, 1000, added=added).chunks
        return {hit.chunk_id: hit.score for hit in found}

    alone, other, asked = scores("merger"), scores("revenue"), scores("merger revenue")
    both = next(key for key in alone if key in other and abs(alone[key] - other[key]) > 0.01)
    share = (asked[both] - other[both]) / (alone[both] - other[both])  # what "merger" counts of the two words
    rarer = (1 - share) / share
    expected = {key: alone.get(key, 0.0) + ADDED_WEIGHT * rarer * other.get(key, 0.0) for key in asked}
    assert scores("merger", "revenue", "the revenues") == pytest.approx(expected)
    assert scores("merger", "merger") == alone


def test_what_is_added_does_not_say_which_document_is_meant(filed: tuple[Owner, dict[str, Document]]) -> None:
    owner, documents = filed
    chunks = owner.db.of("filer").chunks
    found = chunks.lexical(owner.scope, "acme", 10, added=["zenith", "third page"])
    assert [*found.fronts] == [documents["acme.pdf"].id]
    assert found.documents == {}
    assert found.pages == []
    assert len(found.chunks) == 6  # all have "page" in them


def test_lexical_documents_is_bm25_of_whole_documents(owner: Owner, database_url: str) -> None:
    documents = owner.db.of("ann").documents.list(owner.index.id)
    bags = [
        sum(
            lexemes(database_url, [chunk.text for chunk in owner.db.of("ann").chunks.of_document(document.id)]),
            Counter(),
        )
        for document in documents
    ]
    expected = plain_shares(bags, lexemes(database_url, [QUERY])[0], bm25.MIN_DOCUMENTS)
    found = owner.db.of(owner.user_id).chunks.lexical(owner.scope, QUERY, 10).documents
    assert found == pytest.approx(
        {document.id: score for document, score in zip(documents, expected, strict=True) if score > 0}
    )
    assert [*found.values()] == sorted(found.values(), reverse=True)


@pytest.mark.parametrize(
    "query", ["", "the of and", "?!", "unheardof", "' OR 1=1 --", "\x00", "a" * 4000, "& | ! <-> :*"]
)
def test_questions_without_a_known_term_find_nothing(owner: Owner, query: str) -> None:
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, query, 10).chunks == []
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, query, 10).documents == {}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Revenue of $1,234.5 million", "1234.5"),
        ("Revenue of 1234.5 million", "How much is 1,234.5?"),
        ("as filed on Form 10-K", "10K filing"),
        ("as filed in the 10K", "the form 10-K"),
        ("in the years 2019-2020", "2020"),
        ("a margin of -5%", "5%"),
        ("关系数据库系统的基础", "什么是数据库？"),
        ("東京タワーの高さ", "東京タワー"),
        ("profit/loss account", "loss"),
        ("the co-operative's members", "member of a cooperative co-operative"),
        ("eﬃcient oﬃces", "efficient office"),
    ],
)
def test_numbers_names_and_scripts_are_found(db: Store, text: str, query: str) -> None:
    owner = Owner.of(db, "ann")
    document = owner.ready("a.pdf", ["something else", text])
    assert [hit.page_number for hit in db.of(owner.user_id).chunks.lexical(owner.scope, query, 10).chunks] == [2]
    assert [*db.of(owner.user_id).chunks.lexical(owner.scope, query, 10).documents] == [document.id]


def test_a_term_too_long_for_a_key_harms_nothing(db: Store) -> None:
    owner = Owner.of(db, "ann")
    owner.ready("a.pdf", [f"zebra {'x' * 1000} lion"])
    assert len(db.of(owner.user_id).chunks.lexical(owner.scope, "lion", 10).chunks) == 1


def test_dense_is_the_cosine_order(owner: Owner) -> None:
    query = np.array(random_vector("a question"))
    documents = owner.db.of("ann").documents.list(owner.index.id)
    chunks = [chunk for document in documents for chunk in owner.db.of("ann").chunks.of_document(document.id)]
    vectors = np.array([random_vector(chunk.text) for chunk in chunks])
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    expected = sorted(((max(score, 0.0), chunk.id) for chunk, score in zip(chunks, cosines, strict=True)), reverse=True)

    found = owner.db.of(owner.user_id).chunks.dense(owner.scope, SPACE, query.tolist(), 10)

    assert [hit.chunk_id for hit in found] == [chunk_id for _, chunk_id in expected[:10]]
    assert [hit.score for hit in found] == pytest.approx([score for score, _ in expected[:10]], abs=1e-5)


def test_dense_scores_are_clipped(db: Store) -> None:
    owner = Owner.of(db, "ann")
    owner.ready("a.pdf", ["text"])
    opposite = [-value for value in random_vector("text")]
    assert db.of(owner.user_id).chunks.dense(owner.scope, SPACE, opposite, 1)[0].score == 0.0
    assert db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("text"), 1)[0].score == pytest.approx(
        1.0
    )


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, {"a.pdf", "b.txt", "c.pdf"}),
        ({"mime_types": ["application/pdf"]}, {"a.pdf", "c.pdf"}),
        ({"sources": ["s3://x/b"]}, {"b.txt"}),
        ({"source_prefix": "s3://"}, {"b.txt", "c.pdf"}),
        ({"source_prefix": "s3://%"}, set()),
        ({"source_prefix": "s3://", "mime_types": ["application/pdf"]}, {"c.pdf"}),
        ({"sources": ["' or '1'='1"]}, set()),
        ({"document_ids": [uuid.UUID(int=1)]}, set()),
    ],
)
def test_filters_hold_in_every_search(db: Store, filters: dict[str, object], names: set[str]) -> None:
    owner = Owner.of(db, "ann")
    documents = {
        owner.ready("a.pdf", ["some words here"]).id: "a.pdf",
        owner.ready("b.txt", ["words there"], source="s3://x/b").id: "b.txt",
        owner.ready("c.pdf", ["words"], source="s3://y/c").id: "c.pdf",
    }
    scope = owner.scope_of(**filters)
    assert {documents[hit.document_id] for hit in db.of("ann").chunks.lexical(scope, "words", 10).chunks} == names
    assert {
        documents[hit.document_id] for hit in db.of("ann").chunks.dense(scope, SPACE, random_vector("x"), 10)
    } == names
    assert {documents[found] for found in db.of("ann").chunks.lexical(scope, "words", 10).documents} == names


def test_indexes_of_one_user_are_apart(db: Store) -> None:
    first, second = Owner.of(db, "ann"), Owner.of(db, "ann", name="second")
    document = first.ready("a.pdf", ["words"])
    second.ready("b.pdf", ["words"])
    assert [hit.document_id for hit in db.of(first.user_id).chunks.lexical(first.scope, "words", 10).chunks] == [
        document.id
    ]
    assert [
        hit.document_id for hit in db.of(first.user_id).chunks.dense(first.scope, SPACE, random_vector("x"), 10)
    ] == [document.id]


@pytest.mark.long
@pytest.mark.parametrize("compared", [dense.COMPARED, 0])
def test_a_small_share_is_found_whole_through_the_index(
    db: Store, database_url: str, monkeypatch: pytest.MonkeyPatch, compared: int
) -> None:
    """HNSW alone would run into the many chunks of others and give up; the scope's few are all found."""
    monkeypatch.setattr(dense, "COMPARED", compared)
    Owner.of(db, "big").ready("big.pdf", [f"text {number}" for number in range(3000)])
    owner = Owner.of(db, "small")
    owner.ready("small.pdf", [f"own {number}" for number in range(20)])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    assert len(db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("text 7"), 20)) == 20


TERMS_OF_SALE = {
    "refunds.pdf": [
        "A partial refund is paid\nwithin 30 days.",
        "Refunds are\npaid in full.",
        "Nothing is paid back: 50% off.",
    ],
    "shipping.pdf": ["A partial delivery is paid on receipt."],
}


@pytest.mark.parametrize(
    ("keywords", "mode", "expected"),
    [
        (("refund",), "all", {"A partial refund", "Refunds are"}),
        (("refund", "partial"), "all", {"A partial refund"}),
        (("refund", "partial"), "any", {"A partial refund", "Refunds are", "A partial delivery"}),
        (("paid within 30",), "all", {"A partial refund"}),
        (("50% off.",), "all", {"Nothing is"}),
        (("50",), "all", {"Nothing is"}),
        ((".*",), "any", set()),
        (("unheard of",), "any", set()),
    ],
)
def test_required_words_hold_in_both_searches(
    db: Store, keywords: tuple[str, ...], mode: Literal["all", "any"], expected: set[str]
) -> None:
    owner = Owner.of(db, "ann")
    for name, texts in TERMS_OF_SALE.items():
        owner.ready(name, texts)
    scope = owner.scope.model_copy(update={"must_include": keywords, "must_include_mode": mode})
    found = [
        db.of("ann").chunks.lexical(scope, "paid", 10).chunks,
        db.of("ann").chunks.dense(scope, SPACE, random_vector("paid"), 10),
    ]
    for candidates in found:
        chunks = db.of("ann").chunks.get([candidate.chunk_id for candidate in candidates])
        assert {" ".join(chunk.text.split()[:3]).removesuffix(" paid") for chunk, _ in chunks} == expected


def test_documents_are_filtered_by_the_day_they_were_added(db: Store) -> None:
    owner = Owner.of(db, "ann")
    added = owner.ready("a.pdf", ["words"]).created_at
    later = added + dt.timedelta(days=1)

    def count(**filters: object) -> tuple[int, int]:
        scope = owner.scope_of(**filters)
        dense = db.of("ann").chunks.dense(scope, SPACE, random_vector("words"), 10)
        return len(dense), len(db.of("ann").chunks.lexical(scope, "words", 10).chunks)

    assert count(added_after=added, added_before=later) == (1, 1)
    assert count(added_after=later) == (0, 0)
    assert count(added_before=added) == (0, 0)


SHEET = Landmark("balance sheet", 2, 0.75)


@pytest.fixture
def filed(owner: Owner) -> tuple[Owner, dict[str, Document]]:
    """Two documents whose fronts and landmarks differ, their texts do not."""
    filer = Owner.of(owner.db, "filer")
    documents = {}
    for name in ("acme.pdf", "zenith.pdf"):
        documents[name] = filer.add(name)
        filer.fill(
            documents[name],
            ["one page", "another page", "a third page"],
            front=f"{name.removesuffix('.pdf')} annual report",
            landmarks=[SHEET, Landmark("balance sheet", 3, 0.5), Landmark("page 9", 9, 1.0)],
        )
    return filer, documents


def test_fronts_tell_which_document_is_meant(filed: tuple[Owner, dict[str, Document]]) -> None:
    owner, documents = filed
    found = owner.db.of("filer").chunks.lexical(owner.scope, "the report of Zenith", 10)
    assert found.chunks == []
    assert [*found.fronts] == [documents["zenith.pdf"].id, documents["acme.pdf"].id]  # both are reports
    assert found.fronts[documents["zenith.pdf"].id] > found.fronts[documents["acme.pdf"].id] > 0
    alone = owner.scope_of(document_ids=[documents["acme.pdf"].id])
    found = owner.db.of("filer").chunks.lexical(alone, "the report of Zenith", 10)
    assert [*found.fronts] == [documents["acme.pdf"].id]


def test_landmarks_are_found_in_the_scope(filed: tuple[Owner, dict[str, Document]]) -> None:
    owner, documents = filed
    acme = documents["acme.pdf"].id

    def at(scope: Scope, *names: str) -> list[tuple[uuid.UUID, int, float]]:
        found = owner.db.of("filer").chunks.lexical(scope, "anything", 10, landmarks=names).landmarks
        return [(mark.document_id, mark.page_number, mark.score) for mark in found]

    alone = owner.scope_of(document_ids=[acme])
    assert at(alone, "balance sheet", "table 4") == [(acme, 2, 0.75), (acme, 3, 0.5)]
    assert {document for document, _, _ in at(owner.scope, "balance sheet")} == {item.id for item in documents.values()}
    assert at(alone) == at(alone, "page 9") == []  # no chunk is of page 9
    must = alone.model_copy(update={"must_include": ("third",)})
    assert at(must, "balance sheet") == [(acme, 3, 0.5)]
    owner.db.of("filer").documents.trash([acme])
    assert at(alone, "balance sheet") == []


def test_a_document_that_is_replaced_has_its_new_landmarks_and_front_only(
    filed: tuple[Owner, dict[str, Document]],
) -> None:
    owner, documents = filed
    owner.fill(documents["acme.pdf"], ["a page"], front="omega", landmarks=[Landmark("cover page", 1, 1.0)])
    alone = owner.scope_of(document_ids=[documents["acme.pdf"].id])
    found = owner.db.of("filer").chunks.lexical(alone, "acme", 10, landmarks=["balance sheet", "cover page"])
    assert [mark.score for mark in found.landmarks] == [1.0]
    assert found.fronts == {}


def test_whole_pages_and_their_titles_are_fields_of_their_own(owner: Owner) -> None:
    """The word is in another chunk of the page, or heads it; each chunk of the page is told of."""
    reader = Owner.of(owner.db, "reader")
    document = reader.add("paged.pdf")
    chunks = reader.fill(
        document,
        ["oats", "barley", "rye"],
        pages={
            1: PageText("oats by the walnut", "oats"),
            2: PageText("barley", "walnut barley"),
            3: PageText("rye", "rye"),
        },
    )

    def pages(query: str, **scope: object) -> dict[uuid.UUID, float]:
        found = reader.db.of("reader").chunks.lexical(reader.scope_of(**scope), query, 10).pages
        return {candidate.chunk_id: candidate.score for candidate in found}

    found = pages("walnut")  # the one page has it in its text, the other in its title
    assert [*found] == [chunks[0].id, chunks[1].id]
    assert 0.5 > found[chunks[0].id] > found[chunks[1].id] > 0.1
    assert found[chunks[0].id] < pages("rye")[chunks[2].id] <= 1.0  # text and title
    assert pages("hazel") == {}
    assert pages("walnut", mime_types=["text/plain"]) == {}
    assert reader.db.of("reader").chunks.lexical(reader.scope, "walnut", 10).chunks == []


def test_all_chunks_of_a_page_have_its_score(owner: Owner) -> None:
    reader = Owner.of(owner.db, "reader of long pages")
    document = reader.add("long.pdf")
    texts = ["oats", "more oats", "barley", "more barley", "rye"]
    chunks = [
        chunk.model_copy(update={"lines": tuple(line.model_copy(update={"page_number": page}) for line in chunk.lines)})
        for chunk, page in zip(make_chunks(document.id, texts), [1, 1, 2, 2, 3], strict=True)
    ]
    reader.put(document, chunks, texts, pages={2: PageText("a walnut", ""), 3: PageText("no nut", "")})
    found = reader.db.of(reader.user_id).chunks.lexical(reader.scope, "walnut", 10).pages
    assert {candidate.chunk_id for candidate in found} == {chunks[2].id, chunks[3].id}


@contextmanager
def explained(*off: str) -> Iterator[list[str]]:
    """The plans of the dense searches in this block, by their very statements; ways of planning may be `off`."""
    plans: list[str] = []

    @sa.event.listens_for(sa.Engine, "before_cursor_execute")
    def explain(_: object, cursor: Any, statement: str, parameters: Any, *__: object) -> None:
        if "<=>" in statement:
            for setting in off:
                cursor.execute(f"SET LOCAL enable_{setting} = off")
            cursor.execute(f"EXPLAIN {statement}", parameters)
            plans.append("\n".join(str(row) for row in cursor.fetchall()))

    try:
        yield plans
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", explain)


@pytest.mark.parametrize(
    ("compared", "dimensions", "used"),
    [
        (dense.COMPARED, 384, None),
        (dense.COMPARED, 8, None),
        (0, 384, "codes_idx"),
        (0, 1700, "codes_idx"),
        (0, 8, "embedding_idx"),
    ],
)
def test_a_small_scope_is_compared_with_each_vector(
    db: Store, monkeypatch: pytest.MonkeyPatch, compared: int, dimensions: int, used: str | None
) -> None:
    """A graph loses neighbours, so it is asked only of too many: that of codes, or of vectors too short for these."""
    monkeypatch.setattr(dense, "COMPARED", compared)
    space = SPACE.model_copy(update={"dimensions": dimensions})
    owner = Owner.of(db, "ann", space=space)
    owner.ready("a.pdf", random_texts(1, 40))
    with explained("seqscan", "bitmapscan", "sort") as plans:
        db.of("ann").chunks.dense(owner.scope, space, random_vector("x", dimensions), 5)
    (plan,) = plans
    assert [name for name in ("codes_idx", "embedding_idx") if name in plan] == ([used] if used else [])


def test_the_candidates_of_codes_hold_the_true_neighbours(
    db: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 800 chunks 200 are compared by their vectors, and another user's, which are the same, are not among them."""
    texts = [f"text {number}" for number in range(800)]
    owners = [Owner.of(db, user) for user in ("ann", "bob")]
    documents = [owner.ready("a.pdf", texts) for owner in owners]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    alike = [[random_vector(text) for text in texts[start : start + 10]] for start in range(0, 200, 10)]
    questions = [np.sum(vectors, axis=0).tolist() for vectors in alike]

    def search(question: list[float]) -> list[tuple[uuid.UUID, float]]:
        found = db.of("ann").chunks.dense(owners[0].scope, SPACE, question, 10)
        assert {candidate.document_id for candidate in found} == {documents[0].id}
        return [(candidate.chunk_id, candidate.score) for candidate in found]

    exact = [search(question) for question in questions]
    monkeypatch.setattr(dense, "COMPARED", 0)
    monkeypatch.setattr(dense, "CANDIDATES", 200)
    with explained("seqscan", "bitmapscan", "sort") as plans:
        by_codes = [search(question) for question in questions]
    assert len(plans) == len(questions)
    assert all("codes_idx" in plan for plan in plans)
    assert all(found == sorted(found, key=lambda hit: -hit[1]) for found in by_codes)
    recall = sum(len({*true} & {*found}) for true, found in zip(exact, by_codes, strict=True)) / 200
    assert recall > 0.98


def test_postings_looked_up_and_read_through_find_the_same(owner: Owner, database_url: str) -> None:
    """What is outside the scope, or in the trash, counts for nothing either way."""
    owner.db.of("ann").documents.trash([owner.ready("trash.pdf", random_texts(11, 30)).id])
    database = Database(database_url, pool_size=1)
    database.open()
    try:
        for scope in (owner.scope, owner.scope_of(sources=["s3://bucket/2", "s3://bucket/3"])):
            read, looked_up = (
                LexicalSearch(UserDatabase(database, "ann"), looked_up=most).search(scope, QUERY, 500)
                for most in (0, 1000)
            )
            assert read == looked_up
            assert read.chunks
    finally:
        database.close()
