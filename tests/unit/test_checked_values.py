"""Values that a language model gives are checked with their units, and odd replies spoil nothing."""

import json
from typing import Any

import pytest

from rag import errors
from rag.answering.fields.agreement import same_value
from rag.answering.fields.checked_values import corrected_value, states
from rag.answering.fields.model_reply import UNTOLD, read_reply
from rag.types import CellValue, FieldColumn, FieldDefinition, MatrixRequest

PARTIES = FieldDefinition(
    name="Parties", type="records", columns=(FieldColumn(name="Name"), FieldColumn(name="Share", type="percentage"))
)


@pytest.mark.parametrize(
    ("kind", "given", "quote", "page", "is_stated"),
    [
        ("money", (5.0, "million EUR"), "Revenue was EUR 5 million", "", True),
        ("money", (5.0, "million EUR"), "Revenue was $5 million", "", False),
        ("money", (3.5, "billion USD"), "Revenue was $3.5 billion", "", True),
        ("money", (394_328_000_000.0, "USD"), "Net sales\t394,328", "(in millions)", True),
        ("money", (394_328.0, "USD"), "Net sales\t394,328", "(in millions)", False),
        ("number", (30.0, "days"), "within thirty (30) days", "(in millions)", True),
        ("number", (24.0, "months"), "a term of two (2) years", "", True),
        ("number", (23.01, "USD per share"), "Diluted earnings per share\t$ 23.01", "(in millions)", True),
        ("percentage", (12.5, "%"), "a margin of 12.5 %", "", True),
        ("date", ("2023-12-31", None), "ended December 31, 2023", "", True),
        ("date", ("2022-12-31", None), "ended December 31, 2023", "", False),
    ],
)
def test_a_quote_states_a_value_in_its_unit_and_scale(
    kind: Any, given: tuple[float | str, str | None], quote: str, page: str, is_stated: bool
) -> None:
    value, unit = given
    field = FieldDefinition(name="Value", type=kind, unit=unit)
    assert states(field, value, unit, quote, page) is is_stated


def test_values_in_other_currencies_are_others_and_scales_are_converted() -> None:
    dollars = CellValue(value=1200.0, unit="million USD", words="$1,200 million")
    assert same_value(dollars, CellValue(value=1.2, unit="billion USD", words="$1.2 billion"), "money")
    assert not same_value(dollars, dollars.model_copy(update={"unit": "million EUR"}), "money")


@pytest.mark.parametrize(
    ("told", "confidence"), [("NaN", UNTOLD), ('"90 %"', 90.0), ("900", 100.0), ('"sure"', UNTOLD), ("null", UNTOLD)]
)
def test_odd_confidences_are_none(told: str, confidence: float) -> None:
    reply = read_reply(f'{{"fields": [{{"field": 1, "state": "found", "value": 5, "confidence": {told}}}]}}', 1)
    assert (reply[1].value, reply[1].confidence) == ("5", confidence)


@pytest.mark.parametrize("reply", ["", "I don't know.", '{"fields": 7}', '{"fields":' + "[" * 100_000, "[1]"])
def test_what_is_no_reply_says_nothing_of_any_field(reply: str) -> None:
    assert read_reply(reply, 3) == {}


def test_one_odd_field_leaves_the_others_and_no_text_has_a_zero_byte() -> None:
    fields = [
        {"field": 1, "state": "perhaps"},
        {"field": 2, "state": "found", "value": "a\0b", "records": None, "quotes": None},
        {"field": 9, "state": "found"},
    ]
    reply = read_reply(f"Here it is: {json.dumps({'fields': fields})}", 3)
    assert [(number, one.value, one.quotes) for number, one in reply.items()] == [(2, "ab", ())]


def test_of_a_reply_that_was_cut_off_the_complete_fields_count() -> None:
    rows = [{"field": number, "state": "found", "value": "a, ]}"} for number in (1, 2, 3)]
    whole = json.dumps({"fields": rows})
    assert {len(read_reply(whole[:end], 3)) for end in range(len(whole) - 1)} == {0, 1, 2}
    assert [*read_reply(whole[:-4], 3)] == [1, 2]


def test_corrections_are_of_the_fields_type() -> None:
    kept = corrected_value(PARTIES, CellValue(value=({"Name": "Ann", "Share": "40 %"},)))
    assert kept.value == ({"Name": "Ann", "Share": 40.0},)
    for wrong in (CellValue(value="Ann"), CellValue(value=({"Seat": "Oslo"},)), CellValue(value=({"Share": "much"},))):
        with pytest.raises(errors.ValidationError):
            corrected_value(PARTIES, wrong)


def test_two_fields_of_one_name_are_refused() -> None:
    fields = [{"name": "Term", "type": "period"}, {"name": "Term", "type": "number"}]
    with pytest.raises(errors.ValidationError, match="same name"):
        MatrixRequest(name="m", fields=fields, follows={"index_name": "default"})
