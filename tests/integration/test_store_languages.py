"""Words are searched by the stems of their document's language."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from rag import errors
from rag.ingestion.language_detection import LANGUAGES
from rag.store.search import search_terms
from rag.store.store import Store
from rag.types import SIMPLE, Document, Scope
from tests.integration.samples import Owner

HOUSES = ["Das Haus am See ist alt.", "Der Garten liegt daneben."]
GIFTS = ["A gift was given in the garden.", "The old house stood by the lake."]


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ann")


@pytest.fixture
def german(owner: Owner) -> Document:
    return owner.ready("haus.pdf", HOUSES, language="german")


def found(owner: Owner, query: str, scope: Scope | None = None) -> list[tuple[uuid.UUID, int]]:
    """Document and page of what has words of the query, best first."""
    hits = owner.db.of(owner.user_id).chunks.lexical(scope or owner.scope, query, 10).chunks
    return [(hit.document_id, hit.page_number) for hit in hits]


def scores(owner: Owner, query: str, document: Document) -> tuple[list[float], float | None]:
    """Those of a document's chunks and of the document, in a search of all documents."""
    matches = owner.db.of(owner.user_id).chunks.lexical(owner.scope, query, 10)
    return [hit.score for hit in matches.chunks if hit.document_id == document.id], matches.documents.get(document.id)


def test_a_word_is_found_in_another_form(owner: Owner, german: Document) -> None:
    assert german.language == "german"
    assert found(owner, "Wo stehen die Häuser?") == [(german.id, 1)]
    assert found(owner, "in den Gärten") == [(german.id, 2)]


def test_stems_match_only_in_their_own_language(owner: Owner) -> None:
    english = owner.ready("gift.pdf", GIFTS)
    owner.ready("kraut.pdf", ["Das Gift im Kraut."], language="german")
    assert found(owner, "gifting") == [(english.id, 1)]  # its English stem is the German word for poison


def test_stop_words_are_those_of_the_question(owner: Owner) -> None:
    """What is none in a document's language is rare there, and would outweigh what is asked."""
    english = owner.ready("war.pdf", ["Soldiers die in a war."])
    german = owner.ready("krieg.pdf", ["Soldaten im Krieg, wie in The Art of War."], language="german")
    other = owner.ready("wojna.pdf", ["the co to jest"], language=SIMPLE)
    assert found(owner, "When did the soldiers die?") == [(english.id, 1)]
    assert found(owner, "Wann war die Schlacht der Soldaten?") == [(german.id, 1)]
    assert found(owner, "What is the art?") == [(german.id, 1)]
    assert found(owner, "jest") == [(other.id, 1)]
    for question in ("What is the?", "was", "der die das"):
        assert found(owner, question) == []


def test_english_may_be_asked_where_no_document_is(owner: Owner) -> None:
    german = owner.ready("krieg.pdf", ["Die Kunst", "The Art of War, ein Buch"], language="german")
    assert found(owner, "Which is the book of the Kunst?") == [(german.id, 1)]


def test_each_language_has_its_own_statistics(owner: Owner, german: Document) -> None:
    alone = scores(owner, "Häuser und Gärten", german)
    owner.ready("gift.pdf", [*GIFTS * 20, "haus"])
    assert len(alone[0]) == 2
    assert scores(owner, "Häuser und Gärten", german) == alone


def test_chunks_of_all_languages_are_ranked_together(owner: Owner) -> None:
    """Whatever the order in which the documents came."""
    first = owner.ready("a.pdf", ["Tesla und die Elektrizität"], language="german")
    second = owner.ready("b.pdf", ["nothing", "Tesla and the motor", "Tesla"])
    third = owner.ready("c.pdf", ["Tesla", "sonst nichts"], language="german")
    assert set(found(owner, "Tesla")) == {(first.id, 1), (second.id, 2), (second.id, 3), (third.id, 1)}
    matches = owner.db.of("ann").chunks.lexical(owner.scope, "Tesla", 10)
    ranked = [hit.score for hit in matches.chunks]
    assert ranked == sorted(ranked, reverse=True)
    assert set(matches.documents) == {first.id, second.id, third.id}
    scope = owner.scope.model_copy(update={"must_include": ("motor", "Elektrizität"), "must_include_mode": "any"})
    assert set(found(owner, "Tesla", scope)) == {(first.id, 1), (second.id, 2)}
    assert set(found(owner, "Tesla", owner.scope_of(document_ids=[third.id]))) == {(third.id, 1)}


def test_read_anew_a_document_may_be_of_another_language(owner: Owner) -> None:
    document = owner.ready("haus.pdf", HOUSES)
    assert document.language == "english"
    assert found(owner, "Häuser") == []
    owner.fill(document, HOUSES, language="german")
    assert found(owner, "Häuser") == [(document.id, 1)]
    (listed,) = owner.db.of("ann").documents.list(owner.index.id)
    assert listed.language == "german"


def test_a_language_that_postgresql_does_not_know_is_refused(owner: Owner, german: Document, database_url: str) -> None:
    with pytest.raises(errors.StoreError):
        owner.fill(german, HOUSES, language="klingon")
    with psycopg.connect(database_url) as connection, pytest.raises(psycopg.errors.UndefinedObject):
        connection.execute("UPDATE documents SET language = 'klingon'")
    assert found(owner, "Häuser") == [(german.id, 1)]


@pytest.fixture(scope="module")
def connection(server_url: str) -> Iterator[psycopg.Connection[tuple[list[str]]]]:
    with psycopg.connect(server_url) as connected:
        yield connected


@pytest.mark.parametrize("language", sorted({*LANGUAGES.values(), SIMPLE}))
def test_pairs_of_characters_have_no_stems(connection: psycopg.Connection[tuple[list[str]]], language: str) -> None:
    pairs = search_terms.normalize("数据库 データ 데이터").split()
    query = "SELECT tsvector_to_array(to_tsvector(%s::regconfig, %s))"
    (kept,) = connection.execute(query, [language, " ".join(pairs)]).fetchone() or ([],)
    assert sorted(kept) == sorted(pairs)
