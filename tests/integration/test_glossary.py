"""A user's glossary in force: in searches and in documents that are read, in every process, and nobody else's."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest

from rag import errors, vocabulary
from rag.engine import RAGEngine
from rag.engine.indexes.glossary import MAX_BYTES
from rag.types import Rewriting, SearchRequest
from tests import pdfs

GLOSSARY = """title = "Harbour"  # our own words

[[synonyms]]
terms = ["moggy", "quayside crane"]

[[places]]
name = "berth sheet"
terms = ["berth sheet"]
titles = ["daily berth sheet"]
marks = ["first line ashore", "gangs ordered"]

[[items]]
terms = ["idle hours", "cash"]
place = "berth sheet"
"""
LOST = GLOSSARY.replace('place = "berth sheet"', 'place = "a place of an earlier version"')
PAPERS = {
    "cranes.pdf": ["The quayside crane lifts 95 tonnes."],
    "pears.pdf": ["The orchard grows eleven kinds of pears."],
    "berth.pdf": ["Daily berth sheet", "First line ashore at 04:10.", "Gangs ordered: 3."],
}


def take_in(engine: RAGEngine, *names: str) -> dict[str, uuid.UUID]:
    """Ready documents."""
    found = {}
    for name in names or PAPERS:
        added = engine.documents.add(pdfs.plain(PAPERS[name]), name, enqueue=False)
        found[name] = engine.documents.process(added.id).id
    return found


def found(engine: RAGEngine, query: str) -> list[str]:
    """Documents by words, best first."""
    request = SearchRequest.model_validate({"query": query, "retrieval": {"mode": "lexical", "min_score": 0}})
    return [hit.document_name for hit in engine.search(request).results]


def rewritings(engine: RAGEngine, query: str) -> tuple[Rewriting, ...]:
    """As a search's trace has them."""
    trace = engine.search({"query": query, "retrieval": {"trace": True}}).trace
    assert trace is not None
    return trace.rewritings


def landmarks(engine: RAGEngine, document_id: uuid.UUID) -> set[str]:
    url = engine.config.rag_database_url
    assert url is not None
    with psycopg.connect(url.get_secret_value()) as connection:
        rows = connection.execute("SELECT name FROM landmarks WHERE document_id = %s", [document_id])
        return {name for (name,) in rows}


@pytest.fixture
def elsewhere(engine: RAGEngine) -> Iterator[RAGEngine]:
    """The same user's engine as another process has it: with a connection of its own."""
    with RAGEngine(engine.config, user_id=engine.user_id) as opened:
        yield opened


def test_there_is_none_at_first(engine: RAGEngine) -> None:
    assert engine.glossary.get() == ""
    engine.glossary.clear()
    assert engine.glossary.widener() is vocabulary.widener()
    assert engine.glossary.landmarks() is vocabulary.landmarks()


def test_it_is_kept_as_it_was_written_and_replaced(engine: RAGEngine) -> None:
    summary = engine.glossary.set(GLOSSARY)
    assert (summary.title, summary.synonyms, summary.places, summary.items) == ("Harbour", 1, 1, 1)
    assert (summary.derived, summary.abbreviations) == (0, 0)
    assert engine.glossary.get() == GLOSSARY
    engine.glossary.set('\ufefftitle = "Mill"\r\n')
    assert engine.glossary.get() == 'title = "Mill"\r\n'
    engine.glossary.clear()
    assert engine.glossary.get() == ""


def test_a_search_knows_the_words_at_once_in_every_process(engine: RAGEngine, elsewhere: RAGEngine) -> None:
    take_in(engine)
    kept = elsewhere.as_retriever()
    assert found(engine, "the moggy") == found(elsewhere, "the moggy") == []
    engine.glossary.set(GLOSSARY)
    assert found(engine, "the moggy") == found(elsewhere, "the moggy") == ["cranes.pdf"]
    assert kept._widener() is vocabulary.widener(GLOSSARY)  # one that was made before
    (rewriting,) = rewritings(elsewhere, "the moggy")
    assert (rewriting.found, rewriting.added, rewriting.trade) == ("moggy", ("quayside crane",), "Harbour")
    elsewhere.glossary.clear()
    assert found(engine, "the moggy") == []


def test_it_is_the_users_alone(engine: RAGEngine) -> None:
    bob = engine.installation.for_user("bob")
    take_in(bob)
    engine.glossary.set(GLOSSARY)
    assert found(bob, "the moggy") == []
    assert bob.glossary.explain("the moggy") == ()
    bob.glossary.clear()
    bob.glossary.set('title = "Bob\'s"')
    assert engine.glossary.get() == GLOSSARY


def test_landmarks_are_those_of_the_house_when_a_document_is_read(engine: RAGEngine) -> None:
    before = take_in(engine, "berth.pdf")["berth.pdf"]
    assert "berth sheet" not in landmarks(engine, before)
    engine.glossary.set(GLOSSARY)
    bob = engine.installation.for_user("bob")
    assert "berth sheet" not in landmarks(bob, take_in(bob, "berth.pdf")["berth.pdf"])
    engine.documents.trash([before])
    engine.documents.purge([before])
    after = take_in(engine, "berth.pdf", "pears.pdf")
    assert "berth sheet" in landmarks(engine, after["berth.pdf"])
    assert "berth sheet" not in landmarks(engine, after["pears.pdf"])
    assert ("berth sheet",) in [
        one.added for one in rewritings(engine, "How many idle hours?") if one.kind == "landmark"
    ]


def test_a_question_is_explained_by_the_house_and_the_trades(engine: RAGEngine) -> None:
    engine.glossary.set(GLOSSARY)
    explained = engine.glossary.explain("What do the moggies have to do with the quick ratio in FY23?")
    assert [(one.kind, one.trade) for one in explained][:3] == [
        ("period", None),
        ("synonym", "Harbour"),
        ("derived", "Finance"),
    ]
    assert ("balance sheet",) in [one.added for one in explained if one.kind == "landmark"]
    assert engine.glossary.explain("Who wrote this?") == ()


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", "title: is missing"),
        ("moggy = crane", "not valid TOML"),
        ('title = "x"\nsynonym = []', "synonym: unknown key"),
        (LOST, "names places that none defines: “a place of an earlier version”"),
        ('title = "x"  # \ud800', "cannot be stored"),
    ],
)
def test_what_is_no_glossary_is_refused_and_the_old_one_stays(engine: RAGEngine, toml: str, message: str) -> None:
    engine.glossary.set(GLOSSARY)
    with pytest.raises(errors.ValidationError, match=message):
        engine.glossary.set(toml)
    assert engine.glossary.get() == GLOSSARY


def test_it_may_be_large_and_no_larger(engine: RAGEngine) -> None:
    head = 'title = "x"  # '
    engine.glossary.set(head + "é" * ((MAX_BYTES - len(head)) // 2))
    with pytest.raises(errors.LimitError, match="of 200 kB that it may have"):
        engine.glossary.set(head + "é" * ((MAX_BYTES - len(head)) // 2 + 1))


def test_one_that_no_longer_fits_stops_no_search(engine: RAGEngine, caplog: pytest.LogCaptureFixture) -> None:
    """A later version may have lost a place of the packaged vocabularies; the text is there to be corrected."""
    engine._workspace.store.glossary.put(LOST)
    take_in(engine)
    assert found(engine, "the orchard") == ["pears.pdf"]
    assert "does not fit this version" in caplog.text
    assert "earlier" not in caplog.text  # nothing of what it says
    assert engine.glossary.get() == LOST
