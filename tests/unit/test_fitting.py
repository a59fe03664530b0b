"""Whether quoted words give the figure that is asked for, and not another like it."""

import pytest

from rag.answering.extraction.answer_fit import Fit, fit, gives_of_year
from rag.types import QuotedRow

INCOME = "What was the net income in the latest fiscal year?"
ASSETS = "What were the total assets at the end of the fiscal year?"
PAID = "What were the dividends declared per share?"
EARNED = "What was the diluted earnings per share in the latest fiscal year?"


def row(label: str, *cells: str, columns: tuple[str, ...] = ("2021", "2020")) -> QuotedRow:
    return QuotedRow(label=label, columns=columns, cells=cells or ("60", "45"))


@pytest.mark.parametrize(
    ("question", "quoted", "expected"),
    [
        (INCOME, row("Net income"), Fit.GIVES),
        (INCOME, row("Net income (loss)"), Fit.GIVES),
        (INCOME, row("Net income per share"), Fit.OTHER),
        (INCOME, row("Net income per diluted common share"), Fit.OTHER),
        (INCOME, row("Net income growth"), Fit.OTHER),
        (INCOME, row("Net income attributable to Acme", "$ 3.92", "$ 1.65"), Fit.NEAR),  # a share's
        (INCOME, row("Net income attributable to Acme", "$ 392", "$ 165"), Fit.GIVES),
        (INCOME, row("Net income", "12 %", "10 %"), Fit.OTHER),
        (INCOME, row("Weighted-average shares outstanding"), Fit.OTHER),
        (INCOME, row("Net income attributable to noncontrolling interests"), Fit.NEAR),
        (INCOME, row("Operating income"), Fit.UNNAMED),
        (INCOME, row("Net income", columns=("December 31", "September 30")), Fit.NEAR),
        (INCOME, row("Net income", columns=("December 31, 2021", "September 30, 2021")), Fit.NEAR),
        (INCOME, row("Net income", columns=("Three months 2021", "Three months 2020")), Fit.NEAR),
        (INCOME, row("Net income", columns=("", "")), Fit.NEAR),
        (INCOME, row("Net income", "60", columns=("",)), Fit.GIVES),
        ("What was the net income in 2019?", row("Net income"), Fit.OTHER),
        ("What was Acme's net income in 2021?", row("Net income"), Fit.GIVES),
        ("What was the net income from ferries in 2021?", row("Net income"), Fit.NEAR),
        ("What was the net income from ferries in 2021?", row("Net income per share"), Fit.OTHER),
        (ASSETS, row("Total assets"), Fit.GIVES),
        (ASSETS, row("Total assets of the segment"), Fit.NEAR),
        (ASSETS, row("Total liabilities"), Fit.UNNAMED),
        (EARNED, row("Diluted earnings per share", "0.60", "0.45"), Fit.GIVES),
        (EARNED, row("Diluted", "0.60", "0.45"), Fit.NEAR),
        (EARNED, row("Net income"), Fit.UNNAMED),
    ],
)
def test_a_row_gives_the_line_item_that_its_label_names(question: str, quoted: QuotedRow, expected: Fit) -> None:
    assert fit(question, quoted.label, quoted) is expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (INCOME, "Net income was $60 million in 2021.", Fit.GIVES),
        (INCOME, "The ferry company’s net income rose by 33 % to $60 million.", Fit.GIVES),
        (INCOME, "Our net income of $60,120 was the highest ever.", Fit.GIVES),
        (INCOME, "Net income increased by $15 million, or 33%, in fiscal year 2021.", Fit.OTHER),
        (INCOME, "Net income grew 33%.", Fit.OTHER),
        (INCOME, "Net income per share was $2.10 in 2021.", Fit.OTHER),
        (INCOME, "Diluted EPS increased by $0.17, with net income attributable to shareholders up 30%.", Fit.OTHER),
        (INCOME, "Net income of the ferry segment was $9 million.", Fit.NEAR),
        (INCOME, "The segment net income was $9 million.", Fit.NEAR),
        (INCOME, "A loss of $34 million was recorded on long-lived assets.", Fit.UNNAMED),
        (INCOME, "Net income is what is left after taxes.", Fit.UNNAMED),
        ("What was revenue in 2021?", "Cost of revenue was $5 million in 2021.", Fit.NEAR),
        ("What was revenue in 2021?", "Revenue was $5 million in 2020.", Fit.OTHER),
        (EARNED, "Diluted earnings per share were $0.60.", Fit.GIVES),
        (INCOME, "Net income/(loss), 2021: 60 million", Fit.GIVES),
        (EARNED, "Diluted earnings per share (Earnings per share: Diluted), 2021: 0.60", Fit.GIVES),
        ("How did net income change?", "Net income increased by $15 million.", None),
        ("What was the effective tax rate?", "Provision for income taxes, 2021: 20 million", Fit.UNNAMED),
        ("What was the effective tax rate?", "The statutory rate is 21%.", Fit.NEAR),
        ("What was the effective tax rate?", "Our effective tax rate was 24.0%.", None),
        ("What was the effective tax rate?", "Benefits of $878 would affect the effective tax rate.", Fit.NEAR),
        ("What was the effective tax rate?", "Effective tax rate 2021 = 20 / 80 = 25.0 %", None),
        (PAID, "Cash dividends declared in 2021 totaled $12.98 per share, as compared to $2.70.", Fit.GIVES),
        (PAID, "The stock split of July 14, 2015 was made in the form of a stock dividend.", Fit.UNNAMED),
        (PAID, "Holders are entitled equally, on a per share basis, to any dividends.", Fit.UNNAMED),
        ("Does the company pay dividends?", "The board may declare dividends.", Fit.NEAR),
        ("Does the company pay dividends?", "Dividends are paid each quarter.", None),
        ("Who is the auditor?", "We have served as the Company’s auditor since 2002.", Fit.NEAR),
        ("Who is the auditor?", "The accounts are audited by Strand & Sons.", None),
        ("Who is the auditor?", "The Auditor", Fit.UNNAMED),
        ("Who is the auditor?", "Independent Auditor Fees", Fit.UNNAMED),
        ("Who is the auditor?", "The independent auditor is responsible for its opinion.", Fit.NEAR),
        ("Where are the headquarters?", "The headquarters are in Northmoor.", None),
        ("Where are the headquarters?", "The headquarters are large.", Fit.NEAR),
        ("Where are the headquarters?", "Notices go to the headquarters of the Company, to the Secretary.", Fit.NEAR),
        ("In which state is it founded?", "(State or other jurisdiction) (I.R.S. Employer No.)", Fit.NEAR),
        ("How many employees are there?", "Our employees are well trained.", Fit.NEAR),
        ("How many employees are there?", "Of the employees, 400 are pilots.", Fit.NEAR),
        ("How many employees are there?", "There are 412 employees.", None),
        ("What does the canteen serve?", "The canteen serves soup.", None),
    ],
)
def test_a_sentence_gives_a_line_item_that_it_names_and_says_to_be(
    question: str, text: str, expected: Fit | None
) -> None:
    assert fit(question, text) is expected


def test_a_figure_of_a_year_stands_with_that_year() -> None:
    question = "What was the revenue in 2021?"
    assert gives_of_year(question, 2021, "Revenue was $5 million in 2021.")
    assert not gives_of_year(question, 2021, "Revenue was $5 million.")
    assert not gives_of_year(question, 2021, "In 2021 a ship was sold.")
    assert gives_of_year(question, 2021, "", row("Revenue").model_copy(update={"asked": 0}))
    assert not gives_of_year(question, 2021, "", row("Revenue").model_copy(update={"asked": 1}))
