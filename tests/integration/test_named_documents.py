"""Questions that name what documents are about are asked of these documents."""

import uuid

import pytest

from rag.engine import RAGEngine
from rag.engine.questions.composite_answers import CompositeAnswers
from rag.types import AnswerRequest, DocumentEdit, Subject
from tests import pdfs

REPORTS = {
    "a1.pdf": ("Quayside Corporation", "We employ 412 people.", "Revenue of Quayside Corporation was 31 million."),
    "b2.pdf": ("Millbrook Inc.", "We employ 977 people.", "Revenue of Millbrook Inc. was 58 million."),
    "c3.pdf": ("Orchard notes", "Pears ripen in August.", "Nobody counts the people in the orchard."),
}
EMPLOYEES = "How many people does Quayside employ?"


@pytest.fixture
def library(engine: RAGEngine) -> dict[str, uuid.UUID]:
    """Three documents; two say "we" of companies that their first lines name."""
    ids = {}
    for name, lines in REPORTS.items():
        document = engine.documents.add(pdfs.plain(list(lines)), name, enqueue=False)
        engine.documents.process(document.id)
        ids[name] = document.id
    return ids


def test_what_a_document_is_about_is_learned_and_can_be_changed(
    engine: RAGEngine, library: dict[str, uuid.UUID]
) -> None:
    assert "Quayside Corporation" in engine.documents.get(library["a1.pdf"]).subject.names
    edited = engine.documents.edit(library["c3.pdf"], DocumentEdit(subject=Subject(names=("Hollin Farm",))))
    assert edited.subject.names == ("Hollin Farm",)
    engine.documents.process(engine.documents.retry(library["c3.pdf"]).id)
    assert engine.documents.get(library["c3.pdf"]).subject.names == ("Hollin Farm",)
    restored = engine.documents.edit(library["c3.pdf"], DocumentEdit(subject=None))
    assert "Hollin Farm" not in restored.subject.names


def test_only_the_named_document_is_searched_unless_that_is_switched_off(
    engine: RAGEngine, library: dict[str, uuid.UUID]
) -> None:
    found = engine.search({"query": EMPLOYEES, "retrieval": {"min_score": 0.0}})
    assert {hit.document_name for hit in found.results} == {"a1.pdf"}
    everywhere = engine.search({"query": EMPLOYEES, "retrieval": {"min_score": 0.0, "routing": False}})
    assert {hit.document_name for hit in everywhere.results} == {*REPORTS}


def test_the_answer_tells_whom_it_asked_and_a_follow_up_stays_there(
    engine: RAGEngine, library: dict[str, uuid.UUID]
) -> None:
    answer = engine.answer(EMPLOYEES)
    assert "412" in answer.answer
    assert answer.retrieval.named == {library["a1.pdf"]: "a1.pdf"}
    turns = [{"role": "user", "content": EMPLOYEES}, {"role": "assistant", "content": answer.answer}]
    following = engine.answer({"question": "And what was their revenue?", "history": turns})
    assert "31 million" in following.answer
    assert "58 million" not in following.answer
    elsewhere = engine.answer({"question": "When do pears ripen?", "history": turns})
    assert "August" in elsewhere.answer


def test_each_company_is_asked(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    answer = engine.answer("How many people do Quayside and Millbrook employ?")
    assert {"412", "977"} <= {*answer.answer.replace("[", " ").split()}
    assert {*answer.retrieval.named.values()} == {"a1.pdf", "b2.pdf"}


def test_what_is_asked_of_one_is_not_compared_with_others(engine: RAGEngine, library: dict[str, uuid.UUID]) -> None:
    answer = engine.answer("What are Quayside's people and the pears?")
    assert {*answer.retrieval.named.values()} == {"a1.pdf"}


@pytest.mark.parametrize(
    "question", ["hollybank revenue?", "What was the revenue of Hollybank?", "Hollybank net sales"]
)
def test_a_figure_of_somebody_whom_no_document_is_about_is_refused(
    engine: RAGEngine, library: dict[str, uuid.UUID], question: str
) -> None:
    answer = engine.answer({"question": question, "retrieval": {"min_score": 0.0}})
    assert answer.status == "insufficient_context"
    assert answer.hint is not None
    assert "No document that was searched is about" in answer.hint
    assert (
        "58 million"
        in engine.answer(question.replace("Hollybank", "Millbrook").replace("hollybank", "millbrook")).answer
    )


def test_a_model_that_counts_is_not_given_the_shown_items_of_a_list(engine: RAGEngine) -> None:
    lines = ["The rules of the quay are as follows:", "• Tie up your boats.", "• Feed no gulls.", "• Pay your berth."]
    engine.documents.process(engine.documents.add(pdfs.plain(lines), "quay.pdf", enqueue=False).id)
    workspace = engine._workspace
    request = AnswerRequest(question="What are the rules?")
    composite = CompositeAnswers(workspace, workspace.find_index(request.index_name), request, engine.answer)
    assert composite.model_passages("What are the rules?")
    assert composite.events("How many rules does the document list?")
    assert composite.model_passages("How many rules does the document list?") == []
