"""Questions that are offered: the text can answer them."""

import uuid

import pytest

from rag.answering.conversation import suggested_questions
from rag.types import AnswerResponse, BlockKind, Chunk, Citation, QuotedRow, Verdict
from rag.vocabulary import document_kinds, marked_kind
from tests import sources

PROSE = (
    "Supply contracts with mills in Norway and Chile run until 2027 at least. "
    "The supply of pulp fell by 12 percent after the fire in Bergen."
)
CONTENTS = "\n".join(f"Supply contracts and {name} {number}" for number, name in enumerate("abcdefg", start=4))


def chunk(section: str, *blocks: sources.Block) -> Chunk:
    lines = sources.lines(*blocks)
    return Chunk(document_id=uuid.uuid4(), lines=lines, id=uuid.uuid4(), ordinal=0, section=section)


@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("Supply Contracts", CONTENTS),
        ("Supply Contracts", "See the notes."),
        ("Table of Contents", PROSE),
        ("SUPPLY CONTRACTS", PROSE),
        ("Item 7", PROSE),
        ("Supply", PROSE),
        ("Supply contracts with mills in Norway and Chile run until 2027", PROSE),
    ],
)
def test_what_has_no_text_about_itself_is_no_topic(section: str, text: str) -> None:
    assert suggested_questions.topics([chunk(section, text)]) == []


def test_headings_over_text_about_them_are_topics_those_that_say_most_in_order() -> None:
    general = "Supply risks are what they are in any such trade. Supply risks may or may not come to be at any time."
    sections = {"Part I > Supply Contracts": PROSE, "Supply Risks": general, "Pulp from Bergen": PROSE, "Fire": PROSE}
    chunks = [chunk(section, text) for section, text in sections.items()]
    assert suggested_questions.topics(chunks) == ["Supply Contracts", "Supply Risks", "Pulp from Bergen"]
    more = [*chunks, chunk("Contracts until Fire", PROSE)]
    assert suggested_questions.topics(more) == ["Supply Contracts", "Pulp from Bergen", "Contracts until Fire"]
    assert suggested_questions.topics([chunks[0], chunks[1], chunks[0]]) == [
        "Supply Risks"
    ]  # the other is a running head


def test_after_a_row_another_year_the_next_row_and_what_the_document_is_known_to_answer() -> None:
    table = "\t2022\t2021\nStaff\t110\t98\nAccounts payable\t74\t61\nInventories\t12\t9"
    hit = sources.hit((BlockKind.TABLE, table), name="mill.pdf")
    row = QuotedRow(label="Staff", columns=("2022", "2021"), cells=("110", "98"), asked=0)
    citation = Citation(citation_id="S1", sentence=0, quote="Staff", regions=(), verdict=Verdict.VERIFIED, row=row)
    answer = AnswerResponse(
        status="ok", answer="110 [S1]", citations=(citation,), sources={"S1": hit}, model="extractive"
    )
    question, known = (
        "How many staff were there in 2022?",
        ("How many staff were there in 2022?", "Who is the auditor?"),
    )
    assert suggested_questions.follow_ups(question, answer, known) == (
        "How many staff were there in 2021?",
        "What was “Accounts payable” in 2022?",
        "Who is the auditor?",
    )
    assert suggested_questions.follow_ups(question, answer, known, is_alone=False) == (
        "How many staff were there in 2021?",
        "What was “Accounts payable” in 2022? (in mill.pdf)",
        "Who is the auditor? (in mill.pdf)",
    )
    assert suggested_questions.follow_ups("Wie viele Mitarbeiter hatte das Unternehmen im Jahr 2022?", answer) == (
        "Wie viele Mitarbeiter hatte das Unternehmen im Jahr 2021?",
        "Wie hoch war „Accounts payable“ im Jahr 2022?",
    )
    refusal = answer.model_copy(update={"status": "insufficient_context"})
    assert suggested_questions.follow_ups("How many staff?", refusal, known) == ()


def test_a_section_is_asked_for_in_the_documents_own_language() -> None:
    text = (
        "Die Verträge mit den Mühlen in Norwegen und Chile laufen mindestens bis 2027. "
        "Nach dem Brand in Bergen sank die Menge laut den Verträgen um 12 Prozent."
    )
    german = suggested_questions.topic_questions([chunk("Verträge mit Mühlen", text)], "german")
    assert german == ("Fasse den Abschnitt „Verträge mit Mühlen“ zusammen.",)
    english = suggested_questions.topic_questions([chunk("Supply Contracts", PROSE)], "english")
    assert english == ("Summarise the section “Supply Contracts”.",)


def test_the_terms_that_are_used_most_are_asked_for() -> None:
    text = (
        '“Pulp” means wood fibre. "Closing Date" shall mean the last day. “Mill” refers to the mill in Bergen. '
        "“Grade” means quality. The Mill ships Pulp. The Mill makes Pulp of one Grade. The Mill is old."
    )
    assert suggested_questions.term_questions([chunk("Definitions", text)], "english") == (
        "What does “Mill” mean?",
        "What does “Pulp” mean?",
        "What does “Grade” mean?",
    )
    german = [chunk("Begriffe", "„Ware“ bedeutet Zellstoff. „Werk“ bezeichnet die Mühle in Bergen.")]
    assert suggested_questions.term_questions(german, "german") == (
        "Was bedeutet „Ware“?",
        "Was bedeutet „Werk“?",
    )
    assert suggested_questions.term_questions(german, "french") == ()  # where definitions are not recognised


def test_the_kind_is_the_nearest_by_meaning_unless_two_are_as_near() -> None:
    near = dict.fromkeys(document_kinds(), 1.0)
    assert suggested_questions.nearest_kind({**near, "paper": 1.2}) == document_kinds()["paper"]
    assert suggested_questions.nearest_kind({**near, "paper": 1.2, "manual": 1.18}) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Mietvertrag: Der Vermieter vermietet. Die Kündigungsfrist beträgt drei Monate.", "contract"),
        ("Geschäftsbericht mit Konzernabschluss und Lagebericht", "annual_report"),
        ("Verordnung. Das Gesetz tritt am Tage nach der Verkündung in Kraft.", "statute"),
        ("The herons nested beside the mill.", None),
    ],
)
def test_a_kind_is_recognised_by_phrases_without_vectors(text: str, kind: str | None) -> None:
    assert marked_kind(text) == kind


def test_each_kind_has_questions_in_english_and_german() -> None:
    for kind in document_kinds().values():
        assert kind.questions.keys() == {"english", "german"}
        assert all(mark == mark.lower() for mark in kind.marks)


@pytest.mark.parametrize("name", ["mill.pdf", "mill (2).pdf", "a) b (in c.pdf"])
def test_a_document_named_at_the_end_is_told_from_the_question(name: str) -> None:
    asked = suggested_questions.in_document("Who is the auditor?", name)
    assert suggested_questions.without_document(asked, ["other.pdf", name]) == ("Who is the auditor?", name)
    assert suggested_questions.without_document(asked, ["other.pdf"]) == (asked, None)
    assert suggested_questions.may_name_document(asked)
    alone = suggested_questions.in_document("", name)
    assert suggested_questions.without_document(alone, [name]) == (alone, None)


@pytest.mark.parametrize(
    "asked",
    [
        "Who is the auditor? (mill.pdf)",
        "Who is the auditor (in Mill.pdf)?",
        "Who is the auditor in mill.pdf?",
        "Who is the auditor? (from mill.pdf)",
    ],
)
def test_a_document_may_be_named_in_other_ways(asked: str) -> None:
    assert suggested_questions.may_name_document(asked)
    assert suggested_questions.without_document(asked, ["a mill.pdf", "mill.pdf"]) == (
        "Who is the auditor?",
        "mill.pdf",
    )


@pytest.mark.parametrize("asked", ["Who is the auditor of the mill?", "What is in mill", "What was revenue (2021)?"])
def test_words_that_are_no_name_stay(asked: str) -> None:
    assert suggested_questions.without_document(asked, ["mill.pdf", "2021.pdf"]) == (asked, None)
