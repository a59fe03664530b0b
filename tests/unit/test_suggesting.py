"""Questions that are offered: the text can answer them."""

import uuid

import pytest

from rag.answering.conversation import suggested_questions
from rag.types import AnswerResponse, BlockKind, Chunk, Citation, QuotedRow, Verdict
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


def test_after_a_row_another_year_the_next_row_and_what_stands_near() -> None:
    table = "\t2022\t2021\nStaff\t110\t98\nAccounts payable\t74\t61\nInventories\t12\t9"
    hit = sources.hit((BlockKind.TABLE, table))
    row = QuotedRow(label="Staff", columns=("2022", "2021"), cells=("110", "98"), asked=0)
    citation = Citation(citation_id="S1", sentence=0, quote="Staff", regions=(), verdict=Verdict.VERIFIED, row=row)
    answer = AnswerResponse(
        status="ok", answer="110 [S1]", citations=(citation,), sources={"S1": hit}, model="extractive"
    )
    around = [chunk("Supply Contracts", PROSE)]
    assert suggested_questions.follow_ups("How many staff were there in 2022?", answer, around) == (
        "How many staff were there in 2021?",
        "What was “Accounts payable” in 2022?",
        "What is said about “Supply Contracts”?",
    )
    again = suggested_questions.follow_ups("What is said about “Supply Contracts”?", answer, around)
    assert again == ("What was “Accounts payable” in 2022?",)
    assert suggested_questions.follow_ups(
        "Wie viele Mitarbeiter hatte das Unternehmen im Jahr 2022?", answer, around
    ) == (
        "Wie viele Mitarbeiter hatte das Unternehmen im Jahr 2021?",
        "Wie hoch war „Accounts payable“ im Jahr 2022?",
        "Was steht über „Supply Contracts“?",
    )
    refusal = answer.model_copy(update={"status": "insufficient_context"})
    assert suggested_questions.follow_ups("How many staff?", refusal, around) == ()


def test_a_document_is_asked_in_its_own_language() -> None:
    text = (
        "Die Verträge mit den Mühlen in Norwegen und Chile laufen mindestens bis 2027. "
        "Nach dem Brand in Bergen sank die Menge laut den Verträgen um 12 Prozent."
    )
    assert suggested_questions.starter_questions([chunk("Verträge mit Mühlen", text)]) == (
        "Was steht über „Verträge mit Mühlen“?",
    )
    assert suggested_questions.starter_questions([chunk("Supply Contracts", PROSE)]) == (
        "What is said about “Supply Contracts”?",
    )
    assert suggested_questions.starter_questions([]) == ()
