"""Fields of a matrix as rows of the form's table."""

import uuid

import pytest

from rag import errors
from rag.types import FieldColumn, FieldDefinition
from rag.ui.language import use_language
from rag.ui.matrix.field_table import EMPTY, fields_of_rows, row_of

FIELDS = [
    FieldDefinition(
        id=uuid.uuid4(), name="Net sales", type="money", unit="million USD", required=True, example="$ 8,436"
    ),
    FieldDefinition(name="Rate", type="choice", choices=("fixed", "variable"), should_agree=True),
    FieldDefinition(
        name="Tranches",
        instruction="All loans",
        type="records",
        columns=(
            FieldColumn(name="lender"),
            FieldColumn(name="amount", type="money", unit="million USD"),
            FieldColumn(name="rate", type="choice", choices=("fixed", "variable")),
            FieldColumn(name="secured", type="yes_no"),
        ),
    ),
]


def test_a_field_comes_back_from_its_row_as_it_was() -> None:
    assert fields_of_rows(map(row_of, FIELDS)) == FIELDS


@pytest.mark.parametrize("language", ["en", "de"])
def test_types_are_read_as_they_are_shown(language: str) -> None:
    with use_language(language):
        names = [str(row_of(FieldDefinition(name="Amount", type=kind))["type"]) for kind in ("number", "money")]
        fields = fields_of_rows({**EMPTY, "name": name, "type": name} for name in names)
    assert [field.type for field in fields] == ["number", "money"]
    assert names == {"en": ["Number", "Money"], "de": ["Zahl", "Geldbetrag"]}[language]


def test_rows_without_words_are_no_fields_and_missing_cells_are_empty() -> None:
    pasted = {**dict.fromkeys(EMPTY), "name": "  Who is the\n auditor? "}
    assert fields_of_rows([dict(EMPTY), dict.fromkeys(EMPTY), pasted]) == [FieldDefinition(name="Who is the auditor?")]


def test_fields_of_one_name_are_refused() -> None:
    rows = [{**EMPTY, "name": "Ships", "type": kind} for kind in ("Number", "Text")]
    with pytest.raises(errors.ValidationError, match="Ships"):
        fields_of_rows(rows)
    assert len(fields_of_rows([rows[0], rows[0]])) == 2  # the engine takes them as one


def test_a_long_question_is_an_instruction() -> None:
    question = "What is the " + "very " * 50 + "last figure?"
    (field,) = fields_of_rows([{**EMPTY, "name": question}])
    assert (field.name, field.question) == (question[:200], question)


@pytest.mark.parametrize(
    ("parts", "column"),
    [
        ("lender", FieldColumn(name="lender")),
        ("Lender: Money [EUR]", FieldColumn(name="Lender", type="money", unit="EUR")),
        ("rate : choice [a|b ]", FieldColumn(name="rate", type="choice", choices=("a", "b"))),
    ],
)
def test_columns_are_read_as_people_write_them(parts: str, column: FieldColumn) -> None:
    (field,) = fields_of_rows([{**EMPTY, "name": "Loans", "type": "records", "parts": parts}])
    assert field.columns == (column,)


@pytest.mark.parametrize(
    ("kind", "parts", "message"),
    [
        ("choice", "", "choices"),
        ("records", " ; ", "columns"),
        ("records", "amount: gold", "amount: gold"),
        ("records", "rate: choice", "rate: choice"),
    ],
)
def test_what_cannot_be_read_is_said(kind: str, parts: str, message: str) -> None:
    with pytest.raises(errors.ValidationError, match=message):
        fields_of_rows([{**EMPTY, "name": "Loans", "type": kind, "parts": parts}])
