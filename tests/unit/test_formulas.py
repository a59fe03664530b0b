"""Definitions of figures that are worked out from others."""

import pytest

from rag.vocabulary.formulas import (
    Definitions,
    Figure,
    Operand,
    definitions,
    is_labelled,
    parse_expression,
    plain_label,
)

(FINANCE,) = definitions()


@pytest.mark.parametrize("formula", FINANCE.formulas, ids=lambda formula: formula.name)
def test_every_definition_can_be_read(formula: object) -> None:
    found = FINANCE.formula(formula.name)  # type: ignore[attr-defined]
    assert found is not None
    assert found[0] is formula
    assert all(any(isinstance(part, Operand) for part in parts) for parts in found[0].parsed)


def test_each_term_names_one_formula() -> None:
    terms = [term.lower() for formula in FINANCE.formulas for term in formula.terms]
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is Acme's gross margin in 2021?", "gross margin"),
        ("the D/E ratio", "debt-to-equity ratio"),
        ("What is the EBITDA margin?", "EBITDA margin"),
        ("days payable outstanding (DPO)", "days payable outstanding"),
        ("the non-EBITDA costs", None),
        ("the marginal gross tonnage", None),
    ],
)
def test_a_formula_is_known_by_its_longest_term(question: str, name: str | None) -> None:
    found = FINANCE.formula(question)
    assert (found[0].name if found else None) == name


@pytest.mark.parametrize(
    ("label", "figure"),
    [
        ("Total current assets", "total current assets"),
        ("TOTAL CURRENT ASSETS (Note 3)", "total current assets"),
        ("Other current assets", None),
        ("Total Acme Harbours stockholders’ equity", "total shareholders' equity"),
        ("Total liabilities and stockholders’ equity", None),
        ("Net income (loss)", "net income"),
        ("Net income per share", "earnings per share"),
        ("Net income per employee", None),
        ("Accounts receivable, net of allowances of $12 and $9, respectively", "accounts receivable"),
        ("Cost of sales 2", "cost of sales"),
    ],
)
def test_a_label_is_a_line_item_only_as_a_whole(label: str, figure: str | None) -> None:
    found = [one.name for one in FINANCE.figures if is_labelled(one, label) is not None]
    assert found == ([figure] if figure else [])


@pytest.mark.parametrize(
    ("name", "figure"), [("Profit (loss)", "net profit"), ("sales", "sales"), ("Turnover", "revenue"), ("costs", None)]
)
def test_a_line_item_is_found_by_its_name_else_by_a_label_of_the_first_that_has_it(
    name: str, figure: str | None
) -> None:
    figures = (
        Figure("revenue", ("sales", "turnover")),
        Figure("sales", ("turnover",)),
        Figure("net profit", ("profit",)),
    )
    found = Definitions("Trade", figures, ()).figure(name)
    assert (found.name if found else None) == figure


def test_an_expression_is_signs_numbers_and_line_items() -> None:
    assert parse_expression("365 * average[accounts payable] / ([cost of sales] + change[inventories])") == (
        "365", "*", Operand("accounts payable", "average"), "/", "(", Operand("cost of sales"), "+",
        Operand("inventories", "change"), ")",
    )  # fmt: skip


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(ValueError, match="from character 8 on"):
        parse_expression("[sales] % 3")


def test_labels_are_compared_without_notes_and_signs() -> None:
    assert plain_label("Property, plant & equipment – net (1)") == "property plant & equipment net"
