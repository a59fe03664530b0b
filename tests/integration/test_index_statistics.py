"""What an index is made of, as the database counts it, and what is amiss in it."""

import uuid

import psycopg
import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.store.library.indexes import Indexes
from rag.store.store import Store
from rag.types import Chunk, Completeness, DocumentStatus
from tests import pdfs
from tests.integration.samples import Owner, make_chunks, make_parsed


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ada")


def surveys(owner: Owner) -> Indexes:
    return owner.db.of(owner.user_id).indexes


def put_pages(owner: Owner, name: str, pages: int, *, texts: dict[int, str]) -> uuid.UUID:
    """A ready document of so many pages, with a chunk on those that have a text."""
    document = owner.add(name)
    chunks: list[Chunk] = []
    for ordinal, number in enumerate(texts):
        placed = make_chunks(document.id, [""] * (number - 1) + [texts[number]])[-1]
        chunks.append(placed.model_copy(update={"ordinal": ordinal}))
    owner.db.of(owner.user_id).chunks.replace(
        document.id,
        owner.index.space,
        parsed=make_parsed(["x"] * pages),
        chunks=chunks,
        vectors=[[float(number)] * owner.index.space.dimensions for number in texts],
        search_texts=[*texts.values()],
    )
    return document.id


def test_pages_without_text_are_named_the_worst_document_first(owner: Owner) -> None:
    put_pages(owner, "scan.pdf", 5, texts={2: "words"})
    blank = put_pages(owner, "blank.pdf", 2, texts={})
    put_pages(owner, "whole.pdf", 1, texts={1: "words"})
    owner.add("unread.pdf")
    summary = surveys(owner).wordless(owner.index.id)
    assert (summary.documents, summary.pages) == (2, 6)
    assert [(one.name, one.page_count, one.wordless, one.first) for one in summary.worst] == [
        ("scan.pdf", 5, 4, (1, 3, 4, 5)),
        ("blank.pdf", 2, 2, (1, 2)),
    ]
    owner.db.of("ada").documents.trash([blank])
    assert surveys(owner).wordless(owner.index.id).pages == 4


# --- what is amiss ----------------------------------------------------------------------------------


def test_findings_name_what_is_amiss_and_mending_lines_it_up(engine: RAGEngine) -> None:
    assert engine.indexes.findings() == []
    whole = engine.documents.add(pdfs.plain(), "whole.pdf", enqueue=False)
    engine.documents.process(whole.id)
    locked = engine.documents.add(pdfs.encrypted("a word"), "locked.pdf")
    broken = [engine.documents.add(pdfs.plain([f"Number {i}."]), f"broken{i}.pdf", enqueue=False) for i in range(7)]
    for document in broken:
        engine.installation.workspace("ada").store.documents.fail(document.id, "parsing_failed", "It *broke*.")
    failed, waiting = sorted(engine.indexes.findings(), key=lambda finding: finding.kind)
    assert (failed.kind, failed.count, waiting.kind, waiting.count) == ("failed", 7, "password", 1)
    assert [(one.name, one.error) for one in failed.documents] == [(f"broken{i}.pdf", "It *broke*.") for i in range(5)]
    assert [one.document_id for one in waiting.documents] == [locked.id]
    with pytest.raises(errors.ValidationError, match="password"):
        engine.indexes.repair("password")
    assert set(engine.indexes.repair("failed")) == {document.id for document in broken}
    assert [finding.kind for finding in engine.indexes.findings()] == ["password"]
    assert {engine.documents.get(document.id).status for document in broken} == {DocumentStatus.QUEUED}
    assert engine.documents.get(whole.id).status is DocumentStatus.READY


@pytest.mark.parametrize(
    ("kept", "kinds"),
    [(2000, []), (1998, []), (1997, ["incomplete"])],
)
def test_missing_characters_are_a_finding_if_they_are_many(
    owner: Owner, database_url: str, kept: int, kinds: list[str]
) -> None:
    document = owner.ready("cut.pdf", ["some text"])
    found = Completeness(source_characters=2000, kept_characters=kept)
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "UPDATE documents SET completeness = %s WHERE id = %s", [found.model_dump_json(), document.id]
        )
    assert [finding.kind for finding in surveys(owner).findings(owner.index.id)] == kinds
    assert found.is_complete == (not kinds)


def test_a_document_can_be_among_several_findings(owner: Owner, database_url: str) -> None:
    document = owner.ready("odd.pdf", ["some text", "more text"])
    owner.ready("empty.pdf", [])
    with psycopg.connect(database_url) as connection:  # no reading goes so wrong
        connection.execute(
            "UPDATE documents SET vector_count = 1, failed_pages = '{3,7}', "
            """completeness = '{"source_characters": 100, "kept_characters": 90, "missing": []}' WHERE id = %s""",
            [document.id],
        )
    found = {finding.kind: finding.documents for finding in surveys(owner).findings(owner.index.id)}
    assert found.keys() == {"vectors", "pages", "incomplete", "wordless"}
    assert [one.name for one in found["wordless"]] == ["empty.pdf"]
    assert found["vectors"][0].missing_vectors == 1
    assert found["pages"][0].failed_pages == (3, 7)
    assert found["incomplete"][0].completeness is not None
    assert found["incomplete"][0].completeness.summary == "90 of 100 (90 %)"
    (only,) = surveys(owner).findings(owner.index.id, kind="pages")
    assert only.kind == "pages"
