"""Follow-up questions made whole by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.conversation.followups import condense, standalone
from rag.types import Message

DIALOGUES = [
    # a period
    [
        ("What was Acme's revenue in 2021?", "What was Acme's revenue in 2021?"),
        ("And in 2020?", "What was Acme's revenue in 2020?"),
        ("and the year before?", "What was Acme's revenue in 2019?"),
        ("and net income?", "What was Acme's net income in 2019?"),
        ("what about Globex?", "What was Globex's net income in 2019?"),
    ],
    # a quarter, and a year that keeps it
    [
        ("What was revenue in Q2 2021?", "What was revenue in Q2 2021?"),
        ("and Q3?", "What was revenue in Q3 2021?"),
        ("and in 2020?", "What was revenue in Q3 2020?"),
        ("compared to 2019?", "What was revenue in Q3 2020, compared to 2019?"),
    ],
    # a reason, and what it stands for
    [
        ("How did the gross margin of Acme change in 2021?", "How did the gross margin of Acme change in 2021?"),
        ("Why?", "Why did the gross margin of Acme change in 2021?"),
    ],
    [
        ("What was the total revenue of Acme in 2021?", "What was the total revenue of Acme in 2021?"),
        ("how much of it is foreign?", "How much of the total revenue of Acme in 2021 is foreign?"),
    ],
    # a contract
    [
        ("What is the contract term?", "What is the contract term?"),
        ("Can it be extended?", "Can the contract term be extended?"),
        ("And the notice period?", "Can the notice period be extended?"),
    ],
    # a phrase with the same preposition
    [
        ("How much did Acme spend on research in 2020?", "How much did Acme spend on research in 2020?"),
        ("and on marketing?", "How much did Acme spend on marketing in 2020?"),
        ("Globex?", "How much did Globex spend on marketing in 2020?"),
    ],
    # people and counts
    [
        ("How many employees did Acme have in 2020?", "How many employees did Acme have in 2020?"),
        ("and offices?", "How many offices did Acme have in 2020?"),
        ("2018?", "How many offices did Acme have in 2018?"),
        ("Who is the auditor of Acme?", "Who is the auditor of Acme?"),
        ("and the CEO?", "Who is the CEO of Acme?"),
    ],
    # places of a document
    [
        ("What does table 3 show?", "What does table 3 show?"),
        ("and table 4?", "What does table 4 show?"),
    ],
    # other languages
    [
        ("Wie hoch war der Umsatz von Acme im Jahr 2021?", "Wie hoch war der Umsatz von Acme im Jahr 2021?"),
        ("Und im Jahr 2020?", "Wie hoch war der Umsatz von Acme im Jahr 2020?"),
        ("und der Gewinn?", "Wie hoch war der Gewinn von Acme im Jahr 2020?"),
        ("Und bei Globex?", "Wie hoch war der Gewinn von Globex im Jahr 2020?"),
        ("Und warum?", "Was erklärt der Gewinn von Globex im Jahr 2020?"),
    ],
    [
        ("Quel était le chiffre d'affaires en 2021 ?", "Quel était le chiffre d'affaires en 2021 ?"),
        ("et en 2020 ?", "Quel était le chiffre d'affaires en 2020?"),
        ("¿Cuál fue el ingreso neto de Acme en 2021?", "¿Cuál fue el ingreso neto de Acme en 2021?"),
        ("¿Y en 2020?", "¿Cuál fue el ingreso neto de Acme en 2020?"),
    ],
]


@pytest.mark.parametrize("turns", DIALOGUES, ids=lambda turns: turns[-1][0])
def test_the_dialogues_cover_the_ways_of_following_up(turns: list[tuple[str, str]]) -> None:
    asked = [question for question, _ in turns]
    understood = [standalone(question, asked[:place]) for place, question in enumerate(asked)]
    assert understood == [meant for _, meant in turns]


WHOLE = [
    "What was Acme's revenue in 2021?",
    "Which risks does the report name?",
    "What does the company say about its employees?",
    "Is it possible to cancel the contract early?",
    "How long does it take to charge the battery?",
    "Who are the defendants?",
    "List all subsidiaries",
    "data protection officer contact",
    "What is this document about?",
    "How did the board justify its decision?",
    "And what was the total revenue of Globex in 2019?",
    "Does the agreement say when it ends?",
    "When does the lease end?",
    "Summarise this report",
    "compare the revenue of Acme and Globex",
    "What happens to tenants when they leave?",
    "net income 2020 by segment and region for the group",
    "Termination clause",
    "Is that document confidential?",
    "What is the notice period in the lease?",
    "Thanks",
    "ok",
    "?",
    "What is said about the pension plan and its funding?",
    "Did Globex increase its dividend?",
    "Welche Risiken nennt der Bericht?",
    "How much of it is foreign once the exchange rates of the last three years are taken into account?",
]


@pytest.mark.parametrize("question", WHOLE)
def test_a_whole_question_stays_as_it_is(question: str) -> None:
    assert standalone(question, ["What was Initech's profit in 2018?"]) == question


@pytest.mark.parametrize(
    ("before", "question", "meant"),
    [
        (
            "What was Acme's revenue in 2021?",
            "What were its operating expenses?",
            "What were Acme's operating expenses in 2021?",
        ),
        ("What was Acme's revenue in 2021?", "When did they acquire Globex?", "When did Acme acquire Globex?"),
        ("What was Acme's revenue in 2021?", "And what was net income?", "What was net income for Acme in 2021?"),
        ("What was the total revenue in FY2021?", "and 2019?", "What was the total revenue in FY2019?"),
        (
            "How did revenue change from 2019 to 2020?",
            "and from 2018 to 2019?",
            "How did revenue change from 2018 to 2019?",
        ),
        ("What was revenue as of March 31, 2021?", "and 2020?", "What was revenue as of March 31, 2020?"),
        ("What was the gross margin?", "in 2020?", "What was the gross margin in 2020?"),
        ("What was the gross margin in 2021?", "EBITDA?", "What was the EBITDA in 2021?"),
        (
            "What was Acme's revenue?",
            "as a percentage of assets?",
            "What was Acme's revenue, as a percentage of assets?",
        ),
        ("Who signed the lease?", "When?", "Who signed the lease – When?"),
        ("Who is the CEO?", "When did she join?", "When did she join (Who is the CEO)?"),
        ("What is the interest rate on the loan?", "Is that fixed?", "Is the interest rate on the loan fixed?"),
        ("Who chairs the audit committee?", "and the risk committee?", "Who chairs the risk committee?"),
        ("What does section 4.2 say?", "and section 5?", "What does section 5 say?"),
        ("Was Acme profitable in 2020?", "And Globex in 2021?", "Was Globex profitable in 2021?"),
    ],
)
def test_what_is_left_out_comes_from_before(before: str, question: str, meant: str) -> None:
    assert standalone(question, [before]) == meant


def test_names_that_are_known_are_known_in_any_spelling() -> None:
    before = "what was the revenue of acme in 2021?"
    assert standalone("and globex?", [before], ["acme", "globex"]) == "What was the revenue of globex in 2021?"
    assert standalone("and globex?", [before]) != "What was the revenue of globex in 2021?"


def test_the_same_year_is_the_last_one_that_was_named() -> None:
    earlier = ["What was Acme's revenue in fiscal 2021?", "Who audits the company?"]
    meant = "What was the net income in fiscal 2021?"
    assert standalone("What was the net income in the same fiscal year?", earlier) == meant


@pytest.mark.parametrize(
    "question",
    [
        "Compare the 2021 revenue with the costs in the same year",
        "What was the revenue in the same quarter of the previous year?",
        "What was the revenue in the same quarter last year?",
        "Which of the many auditors that the company has ever had signed the report in the same year as the tax form?",
        "dividends paid this year",
        "IT security budget",
    ],
)
def test_a_question_with_its_own_period_and_a_search_for_keywords_stay_as_they_are(question: str) -> None:
    assert standalone(question, ["What was Acme's revenue in 2023?"]) == question


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What share of sales was that?", "What share of sales was that (Acme R&D expense in 2022)?"),
        ("fee if they don't comply?", "Fee if they don't comply (Who must audit Acme)?"),
    ],
)
def test_a_pronoun_stands_for_what_the_question_before_asks(question: str, meant: str) -> None:
    before = "Acme R&D expense in 2022?" if "that" in question else "Who must audit Acme?"
    assert standalone(question, [before]) == meant


def test_the_first_question_is_never_changed() -> None:
    assert standalone("And in 2020?", []) == "And in 2020?"


def test_without_a_model_only_the_users_turns_are_read() -> None:
    history = [
        Message(role="user", content="What was Acme's revenue in 2021?"),
        Message(role="assistant", content="Why?"),
    ]
    assert condense("And in 2020?", history, None) == "What was Acme's revenue in 2020?"


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_that_is_asked_fails(before: str, question: str) -> None:
    assert isinstance(standalone(question, [before]), str)
