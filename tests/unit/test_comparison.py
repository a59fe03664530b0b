"""One question to several documents."""

import pytest

from rag import prompts
from rag.answering.extraction import quoted_answer
from rag.answering.extraction.quoted_answer import compose
from rag.answering.passages.statements import Label, Source, Statement
from rag.types import AnswerResponse, Span
from rag.vocabulary import find_periods, years
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


@pytest.mark.parametrize(
    ("question", "is_so"),
    [("Which supplier or vendor is named?", False), ("How do the notice periods differ?", True)],
)
def test_a_choice_of_words_compares_no_documents(question: str, is_so: bool) -> None:
    assert quoted_answer.compares(question) is is_so


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


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("which of the companies spent the most on buybacks in its latest year?", "How much was spent on buybacks in"),
        ("Which of these companies had the highest revenue in 2021?", "What was the revenue in 2021"),
        ("Which of the companies paid the most for audits?", "How much was paid for audits"),
    ],
)
def test_each_is_asked_for_the_figure_that_a_superlative_is_about(question: str, asked: str) -> None:
    assert quoted_answer.question_for_each(question).startswith(asked)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Did Acme have more branches in its 2021 or 2022 annual report?",
            ["Acme: how many branches in its 2021 annual report", "Acme: how many branches in its 2022 annual report"],
        ),
        ("How did Acme describe its ferries in the 2021 and 2022 filings?", None),
        ("What was Acme's revenue in 2021 and 2022?", []),  # one report has both years
        ("What does Acme's 2021 report say of the year 2022?", []),
    ],
)
def test_reports_of_one_company_are_asked_by_their_periods(question: str, asked: list[str] | None) -> None:
    texts = quoted_answer.questions_for_reports(question, find_periods(question))
    if asked is None:
        assert [[*years(text)] for text in texts] == [[2021], [2022]]
    else:
        assert [text.rstrip("?") for text in texts] == asked


def answer(text: str, likelihood: float | None) -> AnswerResponse:
    hit = sources.hit(text)
    composed = compose([Statement(text, (Source(hit, Span(0, len(text))),))], locate=sources.locate)
    return composed.model_copy(update={"likelihood": likelihood})


@pytest.mark.parametrize(("likelihood", "is_silent"), [(0.3, True), (0.4, False), (0.5, False)])
def test_beside_a_likely_answer_an_unlikely_one_says_nothing(likelihood: float, is_silent: bool) -> None:
    likely, other = answer("Acme repurchased 40 shares.", 0.7), answer("Globex has a chart of shares.", likelihood)
    joined = quoted_answer.join([("Acme", likely), ("Globex", other)])
    assert "Acme repurchased 40 shares." in joined.answer
    assert (prompts.NOTHING_FOUND_HERE in joined.answer) is is_silent
    assert joined.likelihood == (0.7 if is_silent else likelihood)


def test_where_none_is_likely_all_are_shown() -> None:
    joined = quoted_answer.join(
        [("Acme", answer("Acme has shares.", 0.5)), ("Globex", answer("Globex has a chart.", 0.3))]
    )
    assert prompts.NOTHING_FOUND_HERE not in joined.answer
