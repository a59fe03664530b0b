"""Questions are told apart from how they are to be answered, and their own definitions are computed."""

import pytest

from rag.answering.tables.requested_figures import FigureRequest, expression, parse_request, separate
from rag.vocabulary import Formula

RATIO = "What is the current ratio of 2021?"


def requested(question: str) -> tuple[FigureRequest, Formula]:
    found = parse_request(question, {"acme"})
    assert found is not None
    assert found.formula is not None
    return found, found.formula


@pytest.mark.parametrize(
    "text",
    [
        f"{RATIO} Round your answer to two decimal places.",
        f"{RATIO}Answer in millions.",
        f"{RATIO} Please base your judgments on the balance sheet. Give it in percent.",
        "We need to calculate a metric. Please answer the following question: What is the current ratio of 2021?",
        "Based primarily on the balance sheet and the notes, What is the current ratio of 2021?",
        "Considering the data in the balance sheet, What is the current ratio of 2021? State it as a ratio.",
        "What is the current ratio of 2021? Antworte auf Deutsch.",
    ],
)
def test_how_to_answer_is_no_part_of_the_question(text: str) -> None:
    assert separate(text) == (RATIO, None)


@pytest.mark.parametrize(
    "text",
    [
        RATIO,
        "What is the current ratio? And what is the quick ratio?",
        "Acme bought Brine in 2020. What did it pay?",  # which Brine is told by the other sentence
        "Round the current ratio of 2021.",
        "In 2021, what was the current ratio?",
    ],
)
def test_what_says_more_stays_whole(text: str) -> None:
    assert separate(text) == (text, None)


@pytest.mark.parametrize(
    "sentence",
    [
        "Inventory turnover is defined as: COGS / average inventory.",
        "Define inventory turnover as COGS / average inventory.",
        "Inventory turnover equals COGS / average inventory",
    ],
)
def test_a_term_is_defined_beside_the_question(sentence: str) -> None:
    question = "What is the inventory turnover?"
    _, definition = separate(f"{question} {sentence}")
    assert definition is not None
    assert (definition.term.lower(), definition.words) == ("inventory turnover", "COGS / average inventory")


@pytest.mark.parametrize(
    ("words", "parsed"),
    [
        ("(FY2021 COGS) / (average inventory between FY2020 and FY2021)", "[cost of sales] / average[inventories]"),
        (
            "total current assets divided by total current liabilities",
            "[total current assets] / [total current liabilities]",
        ),
        (
            "365 * (average accounts payable between FY2020 and FY2021) / (FY2021 COGS + change in inventory)",
            "365 * average[accounts payable] / ( [cost of sales] + change[inventories] )",
        ),
        ("operating income plus depreciation and amortization", "[operating income] + [depreciation and amortization]"),
        ("the sum of all rows with the word debt", None),
        ("net income", None),
        ("net income / number of ferries", None),
    ],
)
def test_a_definition_in_words_is_an_expression_if_all_of_it_is_known(words: str, parsed: str | None) -> None:
    assert expression(words) == parsed


def test_a_formula_is_computed_as_the_question_defines_it() -> None:
    asked = "What was the inventory turnover of Acme in FY2021?"
    _, usual = requested(asked)
    found, own = requested(f"{asked} Inventory turnover is defined as: FY2021 revenue / FY2021 inventory.")
    assert usual.expressions == ("[cost of sales] / average[inventories]",)
    assert own.expressions == ("[revenue] / [inventories]",)
    assert (own.unit, found.years) == (usual.unit, (2021,))


@pytest.mark.parametrize(
    ("definition", "is_computed"),
    [
        ("Define EBITDA as operating income + depreciation and amortization.", True),  # as the margin takes it
        ("Define EBITDA as operating income + interest expense.", False),
        ("Define EBITDA as what is left in the end.", False),
        ("Define the tide as operating income + depreciation and amortization.", False),
    ],
)
def test_a_part_that_is_defined_otherwise_is_not_computed(definition: str, is_computed: bool) -> None:
    found = parse_request(f"What was the EBITDA margin of Acme in 2021? {definition}", {"acme"})
    assert (found is not None) is is_computed
