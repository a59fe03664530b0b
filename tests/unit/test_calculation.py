"""Figures worked out from the cells of tables."""

import uuid
from collections.abc import Sequence

import pytest

from rag.answering.passages.statements import Label, Statement
from rag.answering.tables.calculation import calculate
from rag.answering.tables.figure_rows import figure_rows
from rag.answering.tables.requested_figures import FigureRequest, parse_request
from rag.types import BlockKind, Chunk, Hit, Line, Passage, Rect
from rag.vocabulary import landmarks, own_pages

DOCUMENT = uuid.UUID(int=7)
SHEET = (
    "Consolidated Balance Sheets",
    "(in millions)",
    "\t2021\t2020",
    "Cash and cash equivalents\t$ 81\t$ 66",
    "Inventories\t40\t30",
    "Other current assets\t9\t8",
    "Total current assets\t190\t166",
    "Total assets\t1,420\t1,380",
    "Total current liabilities\t95\t80",
    "Total liabilities\t700\t690",
    "Retained earnings\t512\t498",
    "Total Acme stockholders’ equity\t720\t690",
    "Total liabilities and stockholders’ equity\t1,420\t1,380",
)
INCOME = (
    "Consolidated Statements of Income",
    "(in millions)",
    "\t2021\t2020",
    "Net sales\t$ 500\t$ 400",
    "Cost of sales\t(300)\t(260)",
    "Operating income\t90\t(10)",
    "Income before income taxes\t80\t60",
    "Provision for income taxes\t20\t(15)",
    "Net income\t60\t45",
    "Basic earnings per share\t0.60\t0.45",
)


def page(lines: Sequence[str], number: int = 1, document_id: uuid.UUID = DOCUMENT) -> Hit:
    made = tuple(
        Line(
            number=100 * number + place,
            page_number=number,
            bbox=Rect(0, 10 * place, 500, 10 * place + 9),
            text=text,
            kind=BlockKind.TABLE if "\t" in text else BlockKind.TEXT,
            starts_block=place < 3,
        )
        for place, text in enumerate(lines)
    )
    chunk = Chunk(id=uuid.UUID(int=number), document_id=document_id, ordinal=number, lines=made)
    passage = Passage(document_id=document_id, lines=made)
    return Hit(chunk=chunk, passage=passage, document_name="acme.pdf", mime_type="application/pdf", final_score=1.0)


def asked(question: str) -> FigureRequest:
    found = parse_request(question, {"acme"})
    assert found is not None
    return found


def worked_out(question: str, hits: Sequence[Hit]) -> list[Statement | Label] | None:
    """From a document of these pages and no other."""
    return calculate(asked(question), hits, statements(hits))


def statements(hits: Sequence[Hit]) -> dict[str, frozenset[int]]:
    return own_pages(landmarks().find([line for hit in hits for line in hit.passage.lines]))


def said(question: str, *hits: Hit) -> list[str]:
    parts = worked_out(question, hits or (page(SHEET), page(INCOME, 2))) or []
    return [part.text for part in parts if isinstance(part, Statement)]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What was Acme's current ratio in 2021?", "Current ratio 2021 = 190 / 95 = 2.00"),
        ("current ratio", "Current ratio 2021 = 190 / 95 = 2.00"),
        (
            "What is the current ratio for FY2020? Round to three decimal places.",
            "Current ratio 2020 = 166 / 80 = 2.075",
        ),
        ("working capital in 2020", "Working capital 2020 = 166 − 80 = 86 million"),
        ("What is the gross margin in 2021?", "Gross margin 2021 = (500 − 300) / 500 = 40.0 %"),
        ("What was the operating margin in 2020?", "Operating margin 2020 = (−10) / 400 = −2.5 %"),
        ("effective tax rate 2021", "Effective tax rate 2021 = 20 / 80 = 25.0 %"),
        ("inventory turnover in 2021", "Inventory turnover 2021 = 300 / ((40 + 30) / 2) = 8.57"),
        ("return on equity (ROE) in 2021", "Return on equity 2021 = 60 / ((720 + 690) / 2) = 8.5 %"),
        ("What are total liabilities as a percentage of total assets in 2021?", "2021 = 700 / 1,420 = 49.3 %"),
        ("What was the change in net income from 2020 to 2021?", "= 60 − 45 = 15 million; 15 / 45 = 33.3 %"),
        ("Did other current assets increase in 2021?", "= 9 − 8 = 1 million; 1 / 8 = 12.5 %"),
    ],
)
def test_figures_are_worked_out(question: str, answer: str) -> None:
    (statement,) = said(question)
    assert answer in statement


@pytest.mark.parametrize(
    "question",
    [
        "What was the net income in 2021 and how did it change?",
        "What was Acme's net income in 2021? Did it increase?",
        "net income 2021, and its growth",
    ],
)
def test_a_figure_is_given_beside_its_change_if_both_are_asked(question: str) -> None:
    (statement,) = said(question)
    assert (
        statement == "Net income, 2021: 60 million; change from 2020 to 2021 = 60 − 45 = 15 million; 15 / 45 = 33.3 %"
    )


@pytest.mark.parametrize("question", ["How did net income change in 2021?", "By how much did net income rise?"])
def test_of_a_change_alone_the_change_is_told(question: str) -> None:
    (statement,) = said(question)
    assert statement.startswith("Net income, change from 2020 to 2021 = 60 − 45")


def test_several_years_are_worked_out_one_by_one() -> None:
    assert said("How did the current ratio change from 2020 to 2021?") == [
        "Current ratio 2020 = 166 / 80 = 2.08",
        "Current ratio 2021 = 190 / 95 = 2.00",
    ]


def test_every_figure_is_quoted_with_its_row_and_its_years() -> None:
    hits = (page(SHEET), page(INCOME, 2))
    parts = worked_out("return on assets in 2021", hits)
    assert parts is not None
    (statement,) = [part for part in parts if isinstance(part, Statement)]
    quotes = [source.hit.passage.text[source.span.start : source.span.end] for source in statement.sources]
    assert "Net income\t60\t45" in quotes
    assert "Total assets\t1,420\t1,380" in quotes
    assert parts[0] == Label("Return on assets = net income / average total assets")


@pytest.mark.parametrize(
    "question",
    [
        "What is the gross margin of the ferry segment?",  # not all of the company
        "What is the average gross margin of 2019 to 2021?",
        "What is the inventory turnover, defined as sales by inventory?",
        "What was the adjusted EBITDA margin?",
        "Why did the gross margin fall?",
        "What is the gross margin in Q2 2021?",
        "What is the expected growth in net sales?",
        "What is the current ratio of Globex?",
        "Who grew the tallest sunflowers in the valley beyond the hills?",
    ],
)
def test_a_question_that_says_more_is_none_for_a_formula(question: str) -> None:
    found = parse_request(question, {"acme"})
    assert found is None or worked_out(question, (page(SHEET), page(INCOME, 2))) is None


def replaced(lines: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    assert any(old in line for line in lines)
    return tuple(line.replace(old, new) for line in lines)


def without(lines: Sequence[str], label: str) -> tuple[str, ...]:
    return tuple(line for line in lines if not line.startswith(label))


@pytest.mark.parametrize(
    ("question", "hits"),
    [
        # another line item with nearly the same label
        ("current ratio 2021", [page(without(SHEET, "Total current assets"))]),
        # another scale
        ("return on assets 2021", [page(SHEET), page(replaced(INCOME, "(in millions)", "(in thousands)"), 2)]),
        # another document
        ("return on assets 2021", [page(SHEET), page(INCOME, 2, uuid.UUID(int=8))]),
        # figures of three months
        ("operating margin 2021", [page(replaced(INCOME, "(in millions)", "(in millions) Three Months Ended"), 2)]),
        # two columns of one year
        ("operating margin 2021", [page(replaced(INCOME, "\t2021\t2020", "\t2021\t2021"), 2)]),
        # nobody knows which column is which year
        ("operating margin 2021", [page(replaced(INCOME, "\t2021\t2020", "\tNorth\tSouth"), 2)]),
        # a year that is not there
        ("current ratio 2019", [page(SHEET)]),
        # a tax that is printed below zero: a benefit or a deduction
        ("effective tax rate 2020", [page(INCOME, 2)]),
        # two rows of one label that differ
        ("operating margin 2021", [page([*INCOME, "Operating income\t70\t60"], 2)]),
        # a fiscal year that ends in January may be called by either year
        ("current ratio fiscal 2021", [page(replaced(SHEET, "\t2021\t2020", "\tJanuary 30, 2021\tJanuary 31, 2020"))]),
    ],
)
def test_no_calculation_is_better_than_a_wrong_one(question: str, hits: list[Hit]) -> None:
    parts = worked_out(question, hits) or []
    assert not any(" = " in part.text for part in parts if isinstance(part, Statement))


EARNINGS = (
    *INCOME[:-1],
    "Net income per share\t2.10\t1.90",
    "Diluted earnings per share\t0.58\t0.44",
    "Research and development\t(7)\t(6)",
)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What was the net income in the latest fiscal year?", ["Net income – 2021: 60; 2020: 45 (in millions)"]),
        ("What was Acme's net income in 2020?", ["Net income – 2021: 60; 2020: 45 (in millions)"]),
        ("What were the total revenues or net sales in 2021?", ["Net sales – 2021: $ 500; 2020: $ 400 (in millions)"]),
        ("What was revenue in 2020 and 2021?", ["Net sales, 2021: $500 million", "Net sales, 2020: $400 million"]),
        (
            "What were the total assets at the end of the fiscal year?",
            ["Total assets – 2021: 1,420; 2020: 1,380 (in millions)"],
        ),
        (
            "How much was spent on research and development?",
            ["Research and development – 2021: (7); 2020: (6) (in millions)"],
        ),
        (
            "What was the diluted earnings per share?",
            ["Diluted earnings per share, 2021: 0.58"],
        ),
        ("What was net income per share in 2020?", ["Net income per share, 2020: 1.90"]),
    ],
)
def test_a_line_item_is_read_off_its_own_row(question: str, answers: Sequence[str]) -> None:
    assert sorted(said(question, page(SHEET), page(EARNINGS, 2))) == sorted(answers)


CLUB = (
    *INCOME[:3],
    "Net sales\t$ 500\t$ 400",
    "Membership fees\t20\t18",
    "Total revenue\t520\t418",
    "Net income\t60\t45",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What were net sales in 2021?", "Net sales – 2021: $ 500; 2020: $ 400 (in millions)"),
        ("What was the revenue in 2021?", "Total revenue – 2021: 520; 2020: 418 (in millions)"),
        (
            "What was the ratio of net sales to total assets in 2021?",
            "Net sales to total assets 2021 = 500 / 1,420 = 0.35",
        ),
        ("What was revenue to total assets in 2021?", "Revenue to total assets 2021 = 520 / 1,420 = 0.37"),
        ("What was the net profit margin in 2021?", "Net profit margin 2021 = 60 / 520 = 11.5 %"),
        (
            "What is the sales to stockholders' equity ratio in 2021?",
            "Sales to stockholders' equity 2021 = 520 / 720 = 0.72",
        ),
    ],
)
def test_the_row_that_the_question_names_comes_before_another_of_the_line_item(question: str, answer: str) -> None:
    assert said(question, page(SHEET), page(CLUB, 2)) == [answer]


def test_an_amount_that_ends_is_not_rounded() -> None:
    billions = (
        "Consolidated Balance Sheets",
        "(in billions)",
        "\t2021",
        "Total current assets\t1.250",
        "Total current liabilities\t0.516",
    )
    assert said("working capital in 2021", page(billions)) == ["Working capital 2021 = 1.250 − 0.516 = 0.734 billion"]


@pytest.mark.parametrize(
    "question",
    [
        "What was the average net income from 2020 to 2021?",  # means of years are not computed
        "What was the average net income?",
        "What were the average earnings per share from 2020 to 2021?",
        "What was the average size of ships in 2020 and 2021?",
    ],
)
def test_no_mean_is_worked_out_that_lacks_a_year_or_whose_years_are_not_named(question: str) -> None:
    request = parse_request(question, {"acme"})
    hits = [page(SHEET), page(INCOME, 2)]
    assert request is None or not calculate(request, hits, statements(hits))


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("What was the net income in 2021?", without(EARNINGS, "Net income\t")),  # of which is there a share's only
        ("What was the net income in 2019?", EARNINGS),
        ("What was the diluted earnings per share in 2021?", INCOME),
        ("What was the net income in 2021?", [*EARNINGS, "Net income\t70\t55"]),  # which of both?
        ("What was the net income?", [*EARNINGS, "Net income\t70\t45"]),  # of the latest year: not an earlier one
        ("What was the net income in 2021?", ("Segments (in millions)", "\t2021\t2020", "Net income\t9\t8")),
    ],
)
def test_a_line_item_that_is_not_sure_is_not_told(question: str, lines: Sequence[str]) -> None:
    assert said(question, page(lines)) == []


def test_without_one_of_the_cells_the_others_are_shown() -> None:
    parts = worked_out("current ratio 2021", [page(without(SHEET, "Total current liabilities"))])
    assert parts is not None
    assert "not recognised in the passages read: total current liabilities" in parts[0].text
    assert [part.text for part in parts[1:]] == ["Total current assets, 2021: 190 million"]


def test_a_ratio_that_is_printed_is_not_worked_out() -> None:
    printed = [*INCOME, "Effective tax rate\t24.5%\t23.0%"]
    assert said("effective tax rate in 2021", page(printed, 2)) == ["Effective tax rate, 2021: 24.5 %"]


def test_the_row_of_the_questions_own_words_comes_before_one_that_means_the_same() -> None:
    both = [*INCOME[:4], "Total revenues\t520\t415", *INCOME[4:]]
    assert said("growth of net sales in 2021", page(both, 2))[0].startswith("Net sales, change from 2020 to 2021 = 500")


def test_a_table_without_a_statement_counts_by_itself() -> None:
    table = ("Key figures (in millions)", "\t2021\t2020", "Revenue\t50\t40", "Gross profit\t20\t15")
    assert said("gross margin in 2021", page(table)) == ["Gross margin 2021 = 20 / 50 = 40.0 %"]


OWNED = "Net income attributable to Acme Inc. common shareholders"
HEADING = "Earnings per common share attributable to Acme common shareholders"
OWNERS = (
    *INCOME[:-2],
    "Net income before allocation to noncontrolling interests\t62\t46",
    "Less: Net income attributable to noncontrolling interests\t2\t1",
    "Net income attributable to Acme Inc. common shareholders\t60\t45",
    "Earnings per common share––basic:\t",
    "Discontinued operations\t(0.08)\t0.46",
    "Net income attributable to Acme Inc. common shareholders\t$ 0.60\t$ 0.45",
    "Earnings per common share––diluted:\t",
    "Net income attributable to Acme Inc. common shareholders\t$ 0.58\t$ 0.44",
    "Weighted-average shares––diluted\t103\t102",
)
HEADED = (
    *INCOME[:-1],
    "Earnings per common share attributable to\t",
    "Acme common shareholders:\t",
    "Basic (Note 18)\t$ 0.60\t$ 0.45",
    "Diluted (Note 18)\t$ 0.58\t$ 0.44",
    "Weighted-average shares outstanding:\t",
    "Diluted\t103\t102",
)


@pytest.mark.parametrize(
    ("question", "lines", "answer"),
    [
        (
            "What was the net income?",
            OWNERS,
            "Net income attributable to Acme Inc. common shareholders – 2021: 60; 2020: 45 (in millions)",
        ),
        (
            "What was the diluted earnings per share?",
            OWNERS,
            f"Diluted earnings per share (Earnings per common share––diluted: {OWNED}), 2021: $0.58",
        ),
        (
            "What was the basic earnings per share in 2020?",
            OWNERS,
            f"Basic earnings per share (Earnings per common share––basic: {OWNED}), 2020: $0.45",
        ),
        ("What was the net income?", HEADED, "Net income – 2021: 60; 2020: 45 (in millions)"),
        ("What was EPS?", HEADED, f"Earnings per share ({HEADING}: Diluted (Note 18)), 2021: $0.58"),
        (
            "How did earnings per share change?",
            HEADED,
            f"{HEADING}: Diluted (Note 18), change from 2020 to 2021 = 0.58 − 0.44 = 0.14; 0.14 / 0.44 = 31.8 %",
        ),
        (
            "What was the diluted earnings per share?",
            HEADED,
            f"Diluted earnings per share ({HEADING}: Diluted (Note 18)), 2021: $0.58",
        ),
    ],
)
def test_a_heading_says_what_is_of_a_share(question: str, lines: Sequence[str], answer: str) -> None:
    assert said(question, page(lines)) == [answer]


def test_shares_that_earnings_are_divided_by_are_not_per_share() -> None:
    shares = (*INCOME, "Shares used to compute earnings per share\t103\t102")
    rows = figure_rows([page(shares)], {})
    (row,) = [row for row in rows if row.label.startswith("Shares")]
    assert not row.is_per_unit


def test_the_heading_is_quoted_where_it_is_a_part_of_the_name() -> None:
    parts = worked_out("diluted earnings per share", [page(HEADED)])
    assert parts is not None
    (statement,) = [part for part in parts if isinstance(part, Statement)]
    quotes = [source.hit.passage.text[source.span.start : source.span.end] for source in statement.sources]
    assert quotes == ["Diluted (Note 18)\t$ 0.58\t$ 0.44", "2021\t2020", "Acme common shareholders:"]


def test_what_belongs_to_other_owners_is_not_the_net_income() -> None:
    others = [*without(INCOME, "Net income"), "Net income attributable to noncontrolling interests\t2\t1"]
    assert said("What was the net income?", page(others)) == []


def test_a_ratio_of_an_earlier_year_is_not_taken_for_the_latest() -> None:
    benefit = replaced(INCOME, "Provision for income taxes\t20\t(15)", "Provision for income taxes\t(20)\t15")
    told = said("What was the effective tax rate?", page(benefit, 2))
    assert not any("=" in text for text in told)
    assert said("effective tax rate 2020", page(benefit, 2)) == ["Effective tax rate 2020 = 15 / 60 = 25.0 %"]


def test_the_latest_fiscal_year_is_the_latest_whatever_it_is_called() -> None:
    early = replaced(INCOME, "\t2021\t2020", "\tJanuary 30, 2021\tJanuary 31, 2020")
    (answer,) = said("What was the net income in the latest fiscal year?", page(early))
    assert answer == "Net income – January 30, 2021: 60; January 31, 2020: 45 (in millions)"


AFFILIATE = (
    "Statement of operations of Globex, an affiliate (in millions)",
    "\t2021\t2020",
    "Net sales\t$ 50\t$ 44",
    "Gross profit\t9\t8",
    "Net income\t4\t3",
)


@pytest.mark.parametrize("own", [page(EARNINGS, 2), page(replaced(EARNINGS, "Net income\t", "Result\t"), 2)])
@pytest.mark.parametrize("question", ["What was the net income in 2021?", "change in net income in 2021"])
def test_an_affiliates_statement_is_not_the_documents_own(question: str, own: Hit) -> None:
    """Though the own one is not among what was found, or cannot be read."""
    affiliate = page(AFFILIATE, 9)
    assert said(question, affiliate)  # alone it is a statement as any
    of_document = statements([own, affiliate])
    assert calculate(asked(question), [affiliate], of_document) is None


def test_a_line_item_is_taken_from_the_own_statement_among_several() -> None:
    answer = ["Net income – 2021: 60; 2020: 45 (in millions)"]
    assert said("net income in 2021", page(AFFILIATE, 9), page(EARNINGS, 2)) == answer


# --- debt ---------------------------------------------------------------------------------------------------------

DEBT = (*SHEET, "Current portion of long-term debt\t8\t7", "Long-term debt, excluding current portion\t60\t50")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((), ["Total debt 2021 = 8 + 60 = 68 million"]),
        (("Short-term borrowings\t5\t4",), ["Total debt 2021 = 5 + 8 + 60 = 73 million"]),
    ],
)
def test_debt_is_added_up_from_all_its_rows(rows: tuple[str, ...], expected: list[str]) -> None:
    assert said("total debt in 2021", page((*DEBT, *rows))) == expected


def test_debt_is_not_what_matures_late_alone() -> None:
    assert said("total debt in 2021", page((*SHEET, "Long-term debt\t60\t50"))) == []


@pytest.mark.parametrize(
    ("texts", "is_read"),
    [
        (["In fiscal 2021 we grew.", "Fiscal 2021 was better than fiscal 2020, fiscal 2019 was not."], True),
        (["In fiscal 2020 we grew.", "Fiscal 2020 was better than fiscal 2019 and fiscal 2018."], False),
        (["In fiscal 2021 we expect to grow, as in fiscal 2020, fiscal 2020 and fiscal 2020."], False),
        ([], False),
    ],
)
def test_a_fiscal_year_that_ends_early_is_read_if_the_document_names_it_by_its_end(
    texts: list[str], is_read: bool
) -> None:
    early = page(replaced(INCOME, "\t2021\t2020", "\tJanuary 30, 2021\tJanuary 31, 2020"))
    request = parse_request("What was the net income in fiscal 2021?")
    assert request is not None
    assert bool(calculate(request, [early], statements([early]), texts)) is is_read


def test_a_line_item_may_be_called_by_what_no_statement_prints() -> None:
    assert said("What was the top line in 2021?") == ["Net sales – 2021: $ 500; 2020: $ 400 (in millions)"]
