"""Documents kept in order: names, tags, authors, dates, what is disabled, and filters under a name."""

import datetime as dt
import uuid
from typing import Any

import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Document, DocumentEdit, DocumentQuery, Filters
from tests import pdfs


def paper(text: str, **metadata: str) -> bytes:
    """A page that says of itself what `metadata` says."""
    with pymupdf.open(stream=pdfs.plain([text]), filetype="pdf") as document:
        document.set_metadata(metadata)
        return bytes(document.tobytes())


def take_in(engine: RAGEngine, name: str, text: str, **metadata: str) -> Document:
    added = engine.documents.add(paper(text, **metadata), name, enqueue=False)
    return engine.documents.process(added.id)


def found(engine: RAGEngine, query: str, **retrieval: Any) -> list[str]:
    """Names of documents, best first."""
    hits = engine.search({"query": query, "retrieval": {"min_score": 0, **retrieval}}).results
    return [hit.document_name for hit in hits]


def listed(engine: RAGEngine, **filters: Any) -> set[str]:
    return {document.name for document in engine.documents.list(filters=Filters(**filters))}


@pytest.fixture
def lease(engine: RAGEngine) -> Document:
    return take_in(
        engine, "scan0001.pdf", "The rent is 1,200 a month.", author="Ann Smith", creationDate="D:20210304101500Z"
    )


@pytest.fixture
def bob(engine: RAGEngine) -> RAGEngine:
    """Another user of the same installation."""
    return engine.installation.for_user("bob")


# --- what the file says, and what its owner says ---


def test_author_and_date_are_read_and_what_the_owner_gives_outlives_reading_again(
    engine: RAGEngine, lease: Document
) -> None:
    assert (lease.author, lease.dated) == ("Ann Smith", dt.date(2021, 3, 4))
    given = engine.documents.edit(lease.id, {"title": "Lease of the pier", "author": "Cem", "dated": "2020-12-31"})
    assert (given.title, given.author, given.dated) == ("Lease of the pier", "Cem", dt.date(2020, 12, 31))
    again = engine.documents.process(lease.id, again=True)
    assert (again.title, again.author, again.dated) == ("Lease of the pier", "Cem", dt.date(2020, 12, 31))
    cleared = engine.documents.edit(lease.id, {"title": None, "author": None, "dated": None})
    assert (cleared.title, cleared.author, cleared.dated) == (lease.title, "Ann Smith", dt.date(2021, 3, 4))


def test_fields_not_given_stay(engine: RAGEngine, lease: Document) -> None:
    engine.documents.edit(lease.id, DocumentEdit(tags=("Legal",), author="Cem"))
    edited = engine.documents.edit(lease.id, DocumentEdit(disabled=True))
    assert (edited.name, edited.tags, edited.author, edited.disabled) == ("scan0001.pdf", ("Legal",), "Cem", True)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("Lease of the pier", "Lease of the pier.pdf"),
        ("  lease 2.0 ", "lease 2.0.pdf"),
        ("Lease.PDF", "Lease.PDF"),
        ("lease.docx", "lease.docx.pdf"),
        (".pdf", ".pdf.pdf"),
        ("../../x", "x.pdf"),
        ("C:\\Temp\\x.pdf", "x.pdf"),
        ("..", "unnamed.pdf"),
        ("annual\u202efdp", "annualfdp.pdf"),
    ],
)
def test_a_name_keeps_its_ending(engine: RAGEngine, lease: Document, asked: str, kept: str) -> None:
    assert engine.documents.edit(lease.id, {"name": asked}).name == kept


def test_names_lose_characters_that_turn_their_letters_around(engine: RAGEngine) -> None:
    turned, isolated = "Lease \u202eesael", "\u2067Ann\u2069"
    document = take_in(engine, "scan.pdf", "The rent is 900 a month.", title=turned, author=isolated)
    assert (document.title, document.author) == ("Lease esael", "Ann")
    given = engine.documents.edit(document.id, {"title": turned, "author": isolated, "tags": [turned]})
    assert (given.title, given.author, given.tags) == ("Lease esael", "Ann", ("Lease esael",))
    with pytest.raises(errors.ValidationError):
        engine.documents.edit(document.id, {"title": "\u202e"})
    assert engine.filters.save(turned, Filters(author="Ann")).name == "Lease esael"
    chat = engine.chats.start(turned)
    assert chat.title == "Lease esael"
    engine.chats.update(chat.id, title=isolated)
    assert engine.chats.get(chat.id).title == "Ann"
    index = engine.indexes.ensure(turned)
    assert index.name == "Lease esael"
    assert engine.indexes.ensure(turned).id == engine.indexes.ensure("Lease esael").id == index.id
    matrix = engine.matrices.create({"name": turned, "document_ids": [document.id], "fields": ["How much?"]})
    assert matrix.name == "Lease esael"


@pytest.mark.usefixtures("lease")
def test_the_library_is_searched_by_name_title_author_and_tag(engine: RAGEngine, bob: RAGEngine) -> None:
    other = take_in(engine, "note.pdf", "Nobody came.", title="Minutes", author="Cem Thornwick")
    engine.documents.edit(other.id, {"tags": ["Council 2021", "Ärger"]})
    take_in(bob, "bob.pdf", "Bob's.", author="Cem Thornwick")

    def names(search: str) -> list[str]:
        assert engine.documents.count(DocumentQuery(search=search)) == len(engine.documents.list(search=search))
        return [document.name for document in engine.documents.list(search=search)]

    for words in ("NOTE", "minut", "thornWICK", "council 2", "ärger"):
        assert names(words) == ["note.pdf"], words
    assert names("ann smith") == ["scan0001.pdf"]
    assert names("wick Council") == []  # one field has all the words
    engine.documents.edit(other.id, {"author": "Dora"})
    assert names("Thornwick") == []  # what the owner says stands instead of what the file says


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "  "},
        {"name": "x" * 256},
        {"name": "two\nlines"},
        {"name": None},
        {"title": ""},
        {"tags": ["x" * 65]},
        {"tags": [" "]},
        {"tags": ["a\tb"]},
        {"tags": [str(number) for number in range(51)]},
        {"dated": "tomorrow"},
        {"dated": 20240101},
        {"disabled": 1},
        {"owner": "bob"},
    ],
)
def test_invalid_metadata_is_refused_and_changes_nothing(
    engine: RAGEngine, lease: Document, changes: dict[str, Any]
) -> None:
    with pytest.raises(errors.ValidationError):
        engine.documents.edit(lease.id, changes)
    assert engine.documents.get(lease.id) == lease


def test_a_renamed_document_is_found_by_its_new_name_at_once(engine: RAGEngine, lease: Document) -> None:
    others = [take_in(engine, f"note{number}.pdf", f"The rent is {number}00 a month.") for number in range(1, 5)]
    assert found(engine, "Kestrelmoor")[0] != "note3.pdf"
    engine.documents.edit(others[2].id, {"name": "Kestrelmoor lease"})
    assert found(engine, "Kestrelmoor")[0] == "Kestrelmoor lease.pdf"
    engine.documents.edit(others[3].id, {"title": "Agreement with Thornwick"})
    assert found(engine, "agreement with Thornwick")[0] == "note4.pdf"
    engine.documents.edit(others[2].id, {"name": "note3"})
    assert found(engine, "Kestrelmoor")[0] != "note3.pdf"
    engine.documents.process(others[3].id, again=True)
    assert found(engine, "agreement with Thornwick")[0] == "note4.pdf"
    assert engine.store.chunks.of_document(others[3].id)[0].context.endswith("Agreement with Thornwick")


# --- tags ---


def test_tags_keep_their_case_and_are_the_same_without_it(engine: RAGEngine, lease: Document) -> None:
    assert engine.documents.edit(lease.id, {"tags": [" Legal ", "ÄRGER", "legal", "ärger"]}).tags == ("Legal", "ÄRGER")
    assert listed(engine, tags=("LEGAL", "ärger")) == {"scan0001.pdf"}
    assert listed(engine, tags=("legal", "other")) == set()


def test_many_documents_are_tagged_at_once(engine: RAGEngine, lease: Document) -> None:
    note = take_in(engine, "note.pdf", "The rent rises.")
    engine.documents.edit(note.id, {"tags": ["draft", "Pier"]})
    ids = [lease.id, note.id]
    assert set(engine.documents.tag([*ids, uuid.uuid4()], add=["pier", "2024"], remove=["DRAFT"])) == set(ids)
    assert engine.documents.get(lease.id).tags == ("pier", "2024")
    assert engine.documents.get(note.id).tags == ("Pier", "2024")
    assert [(tag.name.casefold(), tag.documents) for tag in engine.documents.tags()] == [("2024", 2), ("pier", 2)]
    engine.documents.trash([note.id])
    assert [tag.documents for tag in engine.documents.tags()] == [1, 1]
    with pytest.raises(errors.ValidationError):
        engine.documents.tag(ids, add=["\x00"])


# --- filters ---


def test_filters_hold_in_lists_and_searches(engine: RAGEngine, lease: Document) -> None:
    take_in(engine, "note.pdf", "The rent rises.", author="Zoë ÖZ", creationDate="D:20240102")
    take_in(engine, "bare.pdf", "The rent falls.")
    engine.documents.edit(lease.id, {"tags": ["Pier"]})
    for filters, names in [
        ({"tags": ["pier"]}, {"scan0001.pdf"}),
        ({"author": "öz"}, {"note.pdf"}),
        ({"dated_after": "2021-03-05"}, {"note.pdf"}),
        ({"dated_after": "2021-03-04", "dated_before": "2024-01-02"}, {"scan0001.pdf"}),
        ({"tags": ["pier"], "author": "öz"}, set()),
    ]:
        assert set(found(engine, "rent", filters=filters)) == names, filters
        assert set(found(engine, "rent", filters=filters, mode="lexical")) == names, filters
        assert {document.name for document in engine.documents.list(filters=Filters.model_validate(filters))} == names


def test_a_disabled_document_is_kept_and_not_searched(engine: RAGEngine, lease: Document) -> None:
    take_in(engine, "note.pdf", "The rent rises.")
    assert set(found(engine, "rent")) == {"scan0001.pdf", "note.pdf"}
    engine.documents.edit(lease.id, {"disabled": True})
    assert found(engine, "rent") == ["note.pdf"]
    answer = engine.answer("What is the rent a month?")
    assert {hit.document_name for hit in [*answer.contexts, *answer.nearest]} == {"note.pdf"}
    names = [document.name for document in engine.documents.list(disabled=False)]
    assert (names, [document.name for document in engine.documents.list(disabled=True)]) == (
        ["note.pdf"],
        ["scan0001.pdf"],
    )
    assert engine.store.chunks.of_document(lease.id)
    why = engine.questions.explain({"query": "rent"}, "The rent is 1,200")
    assert (why.stage, "disabled" in why.message) == ("filters", True)
    engine.documents.edit(lease.id, {"disabled": False})
    assert set(found(engine, "rent")) == {"scan0001.pdf", "note.pdf"}


def test_a_filter_is_saved_and_named_in_requests(engine: RAGEngine, lease: Document) -> None:
    take_in(engine, "note.pdf", "The rent rises.", author="Zoë", creationDate="D:20240102")
    engine.filters.save(" Old ones ", Filters(dated_before=dt.date(2022, 1, 1)))
    engine.filters.save("all leases", {"tags": ["lease"]})
    assert [saved.name for saved in engine.store.saved_filters.list()] == ["all leases", "Old ones"]
    assert engine.store.saved_filters.get("Old ones").filters == Filters(dated_before=dt.date(2022, 1, 1))
    assert found(engine, "rent", filters={"saved": "Old ones"}) == ["scan0001.pdf"]
    assert listed(engine, saved="Old ones") == {"scan0001.pdf"}
    answer = engine.answer({"question": "What is the rent?", "retrieval": {"filters": {"saved": "Old ones"}}})
    assert {hit.document_name for hit in answer.contexts} == {"scan0001.pdf"}

    assert found(engine, "rent", filters={"saved": "Old ones", "author": "zoë"}) == []
    assert found(engine, "rent", filters={"saved": "Old ones", "dated_before": "2025-01-01", "author": "zoë"}) == [
        "note.pdf"
    ]
    engine.store.saved_filters.delete("Old ones")
    for call in (
        engine.store.saved_filters.get,
        engine.store.saved_filters.delete,
        lambda name: found(engine, "rent", filters={"saved": name}),
    ):
        with pytest.raises(errors.NotFoundError):
            call("Old ones")


@pytest.mark.parametrize(
    ("name", "filters"),
    [("", {"tags": ["x"]}), ("x", {}), ("x", {"saved": "x"}), ("x", {"tag": "x"}), ("x", {"tags": 1})],
)
def test_an_invalid_filter_is_not_saved(engine: RAGEngine, name: str, filters: dict[str, Any]) -> None:
    with pytest.raises(errors.ValidationError):
        engine.filters.save(name, filters)
    assert engine.store.saved_filters.list() == []


# --- other users ---
