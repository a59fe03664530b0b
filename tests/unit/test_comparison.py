"""One question to several documents."""

import pytest

from rag import prompts
from rag.answering.extraction import quoted_answer
from rag.answering.extraction.quoted_answer import compose
from rag.answering.passages.statements import Label, Source, Statement
from rag.types import AnswerResponse, Span
from tests import sources


def spans(question: str, *names: str) -> list[Span]:
    return [Span(question.index(name), question.index(name) + len(name)) for name in names]


@pytest.mark.parametrize(
    ("question", "of_acme", "of_globex"),
    [
        (
            "compare the revenue of Acme and Globex in 2021",
            "What is the revenue of Acme in 2021?",
            "What is the revenue of Globex in 2021?",
        ),
        ("How many do Acme and Globex employ?", "How many do Acme employ?", "How many do Globex employ?"),
        ("What were Acme's and Globex's sales?", "What were Acme's sales?", "What were Globex's sales?"),
        (
            "How does Acme's margin compare with that of Globex in 2020?",
            "What is Acme's margin in 2020?",
            "What is Globex's margin in 2020?",
        ),
        ("Compare Acme's revenue with Globex's", "What is Acme's revenue?", "What is Globex's revenue?"),
        ("Compare Acme's sales with Globex's revenue", "What is Acme's sales?", "What is Globex's revenue?"),
        ("Is Acme older than Globex?", "Is Acme older?", "Is Globex older?"),
    ],
)
def test_each_is_asked_of_itself_alone(question: str, of_acme: str, of_globex: str) -> None:
    names = spans(question, "Acme", "Globex")
    assert [quoted_answer.question_for_one(question, names, own) for own in names] == [of_acme, of_globex]


@pytest.mark.parametrize(
    ("question", "is_to_each", "asked"),
    [
        ("In which of these reports is the auditor named?", True, "Is the auditor named?"),
        ("For each document, what is the notice period?", True, "What is the notice period?"),
        ("What is the notice period in both contracts?", True, "What is the notice period ?"),
        ("Which of these documents mentions ice?", True, "What is said about ice?"),
        ("Which report was signed last?", True, "Was signed last?"),
        ("What does each party owe?", False, None),
        ("Which companies were acquired?", True, None),
        ("Who reports to the board?", False, None),
    ],
)
def test_documents_are_asked_one_by_one(question: str, is_to_each: bool, asked: str | None) -> None:
    assert quoted_answer.asks_of_each(question) is is_to_each
    if asked is not None:
        assert quoted_answer.question_for_each(question) == asked


def answered(*lines: str) -> AnswerResponse:
    hit = sources.hit(*lines)
    parts: list[Statement | Label] = [Label("From the records:")]
    text = hit.passage.text
    parts += [Statement(line, (Source(hit, Span(text.index(line), text.index(line) + len(line))),)) for line in lines]
    return compose(parts, locate=lambda *_: ())


def test_answers_are_put_together_with_sources_of_their_own() -> None:
    first, second = answered("Apples are red.", "Pears are green."), answered("Plums are blue.")
    joined = quoted_answer.join([("a*b.pdf", first), ("c.pdf", second)])
    assert joined.answer == (
        "**a b.pdf**\n\nFrom the records:\n\nApples are red. [S1]\n\nPears are green. [S1]\n\n"
        "**c.pdf**\n\nFrom the records:\n\nPlums are blue. [S2]"
    )
    assert list(joined.sources) == ["S1", "S2"]
    assert [joined.answer[one.start : one.end] for one in joined.sentences] == [
        "Apples are red. [S1]", "Pears are green. [S1]", "Plums are blue. [S2]",
    ]  # fmt: skip
    assert [(one.citation_id, one.sentence, one.quote) for one in joined.citations] == [
        ("S1", 0, "Apples are red."), ("S1", 1, "Pears are green."), ("S2", 2, "Plums are blue."),
    ]  # fmt: skip


def test_marks_move_with_numbers_of_two_digits() -> None:
    answers = [(f"{number}.pdf", answered(f"Page {number} has words.")) for number in range(1, 12)]
    joined = quoted_answer.join(answers)
    assert [joined.answer[one.start : one.end] for one in joined.sentences] == [
        f"Page {number} has words. [S{number}]" for number in range(1, 12)
    ]


def test_documents_without_an_answer_are_named() -> None:
    none = AnswerResponse(
        status="insufficient_context", answer="No.", nearest=(sources.hit("Nuts."),), model="extractive"
    )
    joined = quoted_answer.join([("a.pdf", none), ("b.pdf", answered("Plums are blue."))])
    assert joined.status == "ok"
    assert joined.answer.startswith(f"**a.pdf**\n\n{prompts.NOTHING_FOUND_HERE}\n\n**b.pdf**")
    assert joined.sentences[0].citation_ids == ("S1",)
    both = quoted_answer.join([("a.pdf", none), ("b.pdf", none)])
    assert both.status == "insufficient_context"
    assert len(both.nearest) == 2
