"""The number printed on a page: asked for, cited, and told by every door."""

import json
import uuid
from typing import Any

import pytest

from rag.contract import AnswerBody, SearchBody
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import AnswerResponse
from tests import pdfs

FRONT, PAGES = 3, 12
BIRDS = ("heron", "plover", "curlew", "dunlin", "avocet", "godwit", "ruff", "knot", "tern", "gull", "coot", "teal")


def report() -> bytes:
    """A cover, two Roman pages, then pages that count from 1; each is about a bird of its own."""
    with pymupdf.open() as document:
        for number in range(1, PAGES + 1):
            page = document.new_page(width=595, height=842)
            bird = BIRDS[number - 1]
            page.insert_text((72, 100), f"The {bird} nested in {1900 + number} beside the old canal of the town.")
            page.insert_text((72, 130), f"Wardens counted {number * 11} nests of the {bird} in that summer.")
            printed = {1: "", 2: "i", 3: "ii"}.get(number, str(number - FRONT))
            page.insert_text((290, 815), printed)
        return bytes(document.tobytes())


@pytest.fixture
def birds(engine: RAGEngine) -> uuid.UUID:
    added = engine.documents.add(report(), "birds.pdf", enqueue=False)
    return engine.documents.process(added.id).id


def asked_pages(engine: RAGEngine, question: str) -> list[int]:
    hits = engine.search({"query": question, "retrieval": {"min_score": 0}}).results
    return [hit.chunk.main_page for hit in hits]


def cited(answer: AnswerResponse) -> dict[int, str | None]:
    """Labels of the pages that are cited, by number."""
    return {citation.lines_in(hit)[0].page_number: citation.page_label for citation, hit in answer.cited}


def test_page_labels_are_stored_with_the_document(engine: RAGEngine, birds: uuid.UUID) -> None:
    labels = engine.documents.get(birds).page_labels
    assert labels == {number: str(number - FRONT) for number in range(FRONT + 1, PAGES + 1)}


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What is said on page 6?", 6 + FRONT),
        ("Was steht auf Seite 6?", 6 + FRONT),
        ("What is said on page 12?", 12),  # which no page has as its label
        ("What is said on the first page?", 1),
        ("What is said on page 1?", 1 + FRONT),
    ],
)
def test_a_page_is_meant_by_its_label_else_by_its_number(
    engine: RAGEngine, birds: uuid.UUID, question: str, page: int
) -> None:
    assert asked_pages(engine, question)[0] == page
    answer = engine.answer(question)
    assert answer.status == "ok"
    assert cited(answer).keys() == {page}


def test_an_answer_says_which_page_was_read(engine: RAGEngine, birds: uuid.UUID) -> None:
    labelled = engine.answer("Which nests did wardens count on page 6?")
    assert labelled.hint == "Page 6 was read by its printed number; it is page 9 of 12 in the file."
    numbered = engine.answer("Which nests did wardens count on page 12?")
    assert numbered.hint == "Page 12 of 12 in the file was read; its printed number is 9."
    assert engine.answer("Which nests did wardens count on the first page?").hint is None
    assert engine.answer("How many nests of the avocet did wardens count?").hint is None


def test_a_page_that_is_not_there_is_not_answered_from_another(engine: RAGEngine, birds: uuid.UUID) -> None:
    answer = engine.answer("Which nests did wardens count on page 40?")
    assert answer.status == "insufficient_context"
    assert answer.hint is not None
    assert answer.hint.startswith("The nearest passage is not on page 40.")


def test_roman_labels_are_pages(engine: RAGEngine) -> None:
    added = engine.documents.add(pdfs.labelled(), "book.pdf", enqueue=False)
    engine.documents.process(added.id)
    assert cited(engine.answer("What is said on page ii?")) == {2: "ii"}
    assert cited(engine.answer("What is said on page 2?")) == {4: "2"}


def test_two_pages_with_one_label_are_both_meant(engine: RAGEngine) -> None:
    added = engine.documents.add(pdfs.restarted(), "exhibits.pdf", enqueue=False)
    engine.documents.process(added.id)
    assert set(asked_pages(engine, "What is said on page 2?")[:2]) == {2, 5}
    assert asked_pages(engine, "What is said on the second page?")[0] == 2
    assert asked_pages(engine, "What is said on page F-1?")[0] == 6


def test_a_label_with_a_prefix_need_not_stand_on_the_page(engine: RAGEngine) -> None:
    added = engine.documents.add(pdfs.restarted(), "exhibits.pdf", enqueue=False)
    engine.documents.process(added.id)
    answer = engine.answer("What does page F-1 say?")
    assert cited(answer) == {6: "F-1"}
    assert answer.hint == "Page F-1 was read by its printed number; it is page 6 of 6 in the file."
    missing = engine.answer("What does page F-2 say?").hint
    assert missing is not None
    assert missing.startswith("The nearest passage is not on page f-2.")


def test_citations_and_hits_tell_what_is_printed_and_the_number(engine: RAGEngine, birds: uuid.UUID) -> None:
    answer = engine.answer("How many nests of the avocet did wardens count?")
    assert cited(answer) == {5: "2"}
    body: dict[str, Any] = json.loads(AnswerBody.of(answer).model_dump_json(by_alias=True))
    assert {(place["page"], place["pageLabel"]) for place in body["citations"]} == {(5, "2")}
    assert answer.contexts[0].page_name(5) == "p. 2 (page 5 of 12)"
    found = SearchBody.of(engine.search({"query": "The heron nested in 1901"})).results[0]
    assert (found.page, found.page_label) == (1, None)
