"""Questions that are suggested: of the document's kind, found when they were tried, and the reader's own."""

import psycopg
import pytest

from rag import errors
from rag.engine import Installation, RAGEngine
from tests import pdfs
from tests.library import add

LEASE = (
    "Lease agreement",
    "This agreement was made between Harbour Board of Lindmark and Nordlicht Ferries Ltd.",
    "The term of the agreement is ten years and begins on 1 March 2021.",
    "The tenant pays a rent of 4,200 euros a month, due on the third working day.",
    "Either party may terminate the agreement with six months notice in writing.",
    "The agreement is governed by the laws of Norway.",
)
TERMS = (
    "Terms of the harbour",
    '"Quay" means the eastern quay of the harbour with its two cranes.',
    '"Herring Season" means the weeks from the first of May to the last of August.',
)


def test_a_report_is_asked_what_reports_are_asked(ada: RAGEngine) -> None:
    report = add(ada, pdfs.annual_report("Acme Harbours"), "acme.pdf")
    suggested = ada.questions.suggestions(report)
    assert {"What was the revenue?", "What was the net income?"} <= {*suggested}
    assert suggested[-1] == "Summarise the document."
    for question in suggested:
        answer = ada.answer(question, report)
        assert answer.status == "ok"
        assert answer.confidence in (None, "likely")


def test_a_contract_is_not_asked_what_its_terms_mean(ada: RAGEngine) -> None:
    suggested = ada.questions.suggestions(add(ada, pdfs.plain((*LEASE[:2], LEASE[-1], *TERMS[1:])), "lease.pdf"))
    assert "Which law governs the agreement?" in suggested
    assert not any("Quay" in question or "Herring" in question for question in suggested)


def test_questions_without_a_likely_answer_are_not_suggested(ada: RAGEngine) -> None:
    words = ("Lease agreement of the parties", "The parties like the agreement.")
    suggested = ada.questions.suggestions(add(ada, pdfs.plain(words), "lease.pdf"))
    assert not any("law" in question or "term" in question for question in suggested)


def test_suggestions_are_computed_once_and_stored_without_document_text(ada: RAGEngine, database_url: str) -> None:
    lease = add(ada, pdfs.plain(TERMS), "terms.pdf")
    first = ada.questions.suggestions(lease)
    assert "What does “Quay” mean?" in first
    (cache,) = [one for one in ada.store.caches.stats() if one.kind == "suggestions"]
    assert (cache.entries, cache.hits, cache.misses) == (1, 0, 1)
    assert ada.questions.suggestions(lease) == first
    (cache,) = [one for one in ada.store.caches.stats() if one.kind == "suggestions"]
    assert (cache.entries, cache.hits) == (1, 1)
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT completion FROM completion_cache WHERE kind = 'suggestions'").fetchall()
    assert "Quay" not in str(rows)


def test_suggestions_of_another_user_are_not_shown(installation: Installation, ada: RAGEngine) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    ada.questions.suggestions(lease)
    with pytest.raises(errors.NotFoundError):
        installation.for_user("bob").questions.suggestions(lease)


def test_what_is_not_read_yet_is_not_asked(ada: RAGEngine) -> None:
    waiting = ada.documents.add(pdfs.plain(LEASE), "lease.pdf", enqueue=False)
    assert ada.questions.suggestions(waiting.id) == ()


def test_after_an_answer_what_is_known_of_the_document_is_suggested(ada: RAGEngine) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    question = "Which law governs the agreement?"
    assert ada.answer(question).follow_ups == ()  # nothing is known yet, and nobody waits for it
    known = [one for one in ada.questions.suggestions(lease) if one != question]
    assert ada.answer(question).follow_ups == tuple(known[:3])
    add(ada, pdfs.plain(), "herons.pdf")
    named = tuple(f"{one} (in lease.pdf)" for one in known[:3])
    assert ada.answer(question).follow_ups == named
    assert ada.answer(question, lease).follow_ups == tuple(known[:3])


def test_a_question_that_names_a_document_at_its_end_asks_it_alone(ada: RAGEngine) -> None:
    oldest = add(ada, pdfs.plain(LEASE), "lease.pdf")
    newest = add(ada, pdfs.plain([line.replace("Norway", "Chile") for line in LEASE]), "lease (2).pdf")
    for name, document_id, law in (("lease.pdf", oldest, "Norway"), ("lease (2).pdf", newest, "Chile")):
        answer = ada.answer(f"Which law governs the agreement? (in {name})")
        assert {hit.chunk.document_id for hit in answer.contexts} == {document_id}
        assert law in answer.answer
