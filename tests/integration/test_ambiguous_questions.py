"""A question that is asked of each document of a kind, and names none: which is meant is asked back."""

from collections.abc import Iterator

import pytest

from rag.config import load_config
from rag.engine import Installation, RAGEngine
from rag.engine.questions.ambiguity import is_asked_of_each
from rag.types import AnswerResponse
from tests import pdfs
from tests.library import add

NAMES = ("Acme Harbours", "Birch Mills", "Cedar Lines", "Dune Foods", "Elm Motors")
KEEPER = "The lighthouse keeper of Lindmark recorded the tide at dawn in a green book."
REVENUE = "What was the revenue?"


@pytest.fixture(scope="module")
def installation(module_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    data = tmp_path_factory.mktemp("data")
    with Installation(load_config(rag_data_dir=data, rag_database_url=module_url)) as opened:
        for user, names in (("ada", NAMES), ("bob", NAMES[:3])):
            engine = opened.for_user(user)
            for number, name in enumerate(names):
                add(engine, pdfs.annual_report(name, employees=str(400 + number)), f"{name.replace(' ', '_')}.pdf")
            add(engine, pdfs.plain([KEEPER]), "keeper.pdf")
        yield opened


@pytest.fixture(scope="module")
def ada(installation: Installation) -> RAGEngine:
    return installation.for_user("ada")


def named(answer: AnswerResponse) -> list[str]:
    return [hit.document_name for hit in answer.nearest]


def test_an_ambiguous_question_offers_each_document_with_a_passage(ada: RAGEngine) -> None:
    answer = ada.answer(REVENUE)
    assert (answer.status, answer.answer) == (
        "insufficient_context",
        "Which of the 5 documents? Name one, or choose it, and ask again.",
    )
    assert sorted(named(answer)) == [f"{name.replace(' ', '_')}.pdf" for name in NAMES]
    assert answer.follow_ups == tuple(f"{REVENUE} (in {name})" for name in named(answer))
    chosen = ada.answer(answer.follow_ups[2])
    assert chosen.status == "ok"
    assert {hit.document_name for hit in chosen.contexts} == {named(answer)[2]}


def test_a_chosen_text_for_refusals_is_kept(ada: RAGEngine) -> None:
    answer = ada.answer({"question": REVENUE, "options": {"insufficient_evidence_message": "Unknown."}})
    assert answer.answer == "Unknown."
    assert answer.hint == "Which of the 5 documents? Name one, or choose it, and ask again."


@pytest.mark.parametrize(
    "question",
    [
        "What was the revenue of Birch Mills?",
        "What was the revenue of Acme Harbours in 2021?",
        "What did the lighthouse keeper record?",
        "What was the revenue? (in Birch_Mills.pdf)",
    ],
)
def test_a_question_about_one_document_is_answered(ada: RAGEngine, question: str) -> None:
    answer = ada.answer(question)
    assert answer.status == "ok"
    assert len({hit.document_name for hit in answer.contexts}) == 1


def test_a_follow_up_is_about_the_document_that_was_chosen(ada: RAGEngine) -> None:
    chat = ada.chats.start("Revenue").id
    ada.chats.ask(chat, f"{REVENUE} (in Birch_Mills.pdf)")
    answer = ada.chats.ask(chat, "And in 2020?").response
    assert answer is not None
    assert answer.question == "What was the revenue in 2020? (in Birch_Mills.pdf)"
    assert {hit.document_name for hit in answer.contexts} == {"Birch_Mills.pdf"}


def test_a_selected_document_is_meant(ada: RAGEngine) -> None:
    (birch,) = [one.id for one in ada.documents.list() if one.name.startswith("Birch")]
    assert ada.answer(REVENUE, birch).status == "ok"


def test_as_many_documents_as_answers_are_shown_are_answered(installation: Installation) -> None:
    answer = installation.for_user("bob").answer(REVENUE)
    assert not answer.answer.startswith("Which of")
    assert "Dune_Foods.pdf" not in str(answer)  # of another user


def test_ranks_do_not_tell_how_near_documents_are(ada: RAGEngine) -> None:
    answer = ada.answer({"question": REVENUE, "retrieval": {"fusion": "rrf"}})
    assert not answer.answer.startswith("Which of")


@pytest.mark.parametrize(
    ("question", "of_each"),
    [
        ("What was the net income?", True),
        ("What were the total assets in 2022?", True),
        ("Who is the chief executive officer?", True),
        ("Which law governs the contract?", True),
        ("Wer ist der Abschlussprüfer?", True),
        ("Wie hoch waren die Umsatzerlöse?", True),
        ("How does a lighthouse work?", False),
        ("What is attention?", False),
        ("What was the revenue of Nordlicht?", False),
        ("Wie funktioniert ein Leuchtturm?", False),
    ],
)
def test_only_what_each_document_has_for_itself_is_asked_back(ada: RAGEngine, question: str, of_each: bool) -> None:
    assert is_asked_of_each(ada._workspace, ada.indexes.ensure().space, question) is of_each
