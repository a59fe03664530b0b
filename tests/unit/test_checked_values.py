"""Values that a language model gives are checked with their units, and odd replies spoil nothing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rag import errors
from rag.answering.fields.agreement import same_value
from rag.answering.fields.checked_values import Claim, Quotes, check_fields, corrected_value, joined_records
from rag.answering.fields.model_reply import UNTOLD, read_reply
from rag.answering.verification.grounding import Grounder
from rag.types import CellValue, FieldColumn, FieldDefinition, FoundField, MatrixRequest, Support
from tests import sources

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
        ("date", ("2023-12-31", None), "in 2023", "", False),
        ("date", ("2023-12", None), "ended December 31, 2023", "", True),
        ("date", ("2016-05-11", None), "Date: 5/11/2016", "", True),
        ("date", ("2016-05-12", None), "Date: 5/11/2016", "", False),
        ("date", ("2013-07-19", None), "Received 19 July 2013/20 August 2013", "", True),
        ("number", (37.0, "thousand employees"), "37 employees", "", False),
        ("number", (37.0, "thousand"), "37 employees", "", False),
        ("number", (37.0, "thousand employees"), "37,000 employees", "", True),
        ("number", (12.0, "months"), "for a period of one year thereafter", "", True),
        ("number", (13.0, "months"), "for 1 year thereafter", "", False),
        ("number", (-15.0, "days"), "upon fifteen\n(15) days notice", "", False),
        ("number", (245_000_000.0, "employees"), "Total employees\t245,000", "(in thousands)", False),
        ("money", (1.234, "billion EUR"), "about EUR 1.2 billion", "", False),
        ("money", (280.0, "million EUR"), "Net sales\t280", "(in millions) $", False),
        ("money", (280.0, "million CZK"), "Net sales\t280", "CZK (in millions); EUR 5 of them", True),
        ("money", (280.0, "EUR"), "a fee of 280", "EUROPE, $ 5 of them", False),
        ("money", (5e9, "EUR"), "a loan of EUR 5,000,000", "(in thousands of EUR)", False),
        ("money", (5e6, "EUR"), "a loan of EUR 5,000,000", "(in thousands of EUR)", False),
        ("money", (5e6, "EUR"), "a loan of EUR 5 million", "(in thousands of EUR)", True),
        ("money", (4200.0, "EUR"), "The rent is EUR 4,200 per month", "", True),
        ("money", (4.2, "EUR"), "EUR 4.20 per share", "", False),
        *(
            ("money", (4200.0, "EUR per month"), quote, "", True)
            for quote in (
                "The monthly rent is EUR 4,200",
                "a rent of EUR 4,200 p.m.",
                "EUR 4,200 a month",
                "EUR 4,200 each, monthly",
                "EUR 4,200/month",
                "monatlich EUR 4,200",
            )
        ),
        ("money", (50_400.0, "EUR per month"), "EUR 50,400 p.a., in monthly parts", "", False),
        ("money", (50_400.0, "EUR per month"), "EUR 50,400 per annum", "", False),
        ("money", (50_400.0, "EUR per year"), "EUR 50,400 per annum", "", True),
    ],
)
def test_a_quote_states_a_value_in_its_unit_and_scale(
    kind: Any, given: tuple[float | str, str | None], quote: str, page: str, is_stated: bool
) -> None:
    value, unit = given
    field = FieldDefinition(name="Value", type=kind, unit=unit)
    assert Quotes([(quote, f"{quote}\n{page}")]).state(field, value, unit) is is_stated


def test_what_a_row_is_per_and_in_may_be_quoted_with_its_head() -> None:
    row, head = ("Diluted\t$ 0.30\t$ 0.32", ""), ("(In millions, except per share amounts)", "")
    per_share = FieldDefinition(name="Earnings", type="number", unit="USD per share")
    assert Quotes([row, head]).state(per_share, 0.3, "USD per share")
    assert not Quotes([row]).state(per_share, 0.3, "USD per share")
    sales = FieldDefinition(name="Sales", type="money", unit="USD")
    assert Quotes([("Sales\t$ 30", ""), ("(in millions)", "")]).state(sales, 30e6, "USD")


def test_words_are_whole_ones_with_or_without_marks_of_notes() -> None:
    quotes = Quotes([("Joseph Petro-\nsino1,2 and Anna Lee, EUR 14,200", "")])
    assert quotes.have("Joseph Petrosino")
    assert quotes.have("“Anna Lee”")
    assert not quotes.have("Ann")
    assert not quotes.have("4,200")
    assert not quotes.have("")
    assert not quotes.have("…")


@pytest.mark.parametrize(
    ("words", "quotes"),
    [
        ("200 per month", ["EUR 4,200 per month"]),
        ("EUR 4", ["EUR 4,200 per month"]),
        ("2 years", ["for 1.2 years"]),
        ("5 %", ["a change of -5 %"]),
        ("-5 %", ["a change of 5 %"]),
        ("Acme Bakery", ["sold to Acme", "Bakery in Oslo"]),
    ],
)
def test_figures_are_not_cut_and_quotes_not_joined(words: str, quotes: Sequence[str]) -> None:
    assert not Quotes([(quote, "") for quote in quotes]).have(words)
    assert Quotes([(f"of {words}, as agreed.", "")]).have(words)


LEASE = (
    "4. The monthly rent is EUR 4,200 payable in advance.",
    "5. Governing law. This lease is governed by the laws of England.",
    "6. Subletting is not permitted. The premises have 1,250 square metres and go to Quillon Bakery GmbH from Ann Lee.",
    "7. The lease ends on 31 March 2026 after five years. The price rises by 4.5 % a year. It has 37 employees.",
    "Service charges in thousands of EUR: 12.6",
)
FIELDS: dict[str, dict[str, Any]] = {
    "Rent": {"type": "money", "unit": "EUR"},
    "Any rent": {"type": "money"},
    "Millions": {"type": "money", "unit": "million EUR"},
    "Charges": {"type": "money", "unit": "EUR"},
    "Area": {"type": "number", "unit": "square metres"},
    "Staff": {"type": "number", "unit": "thousand employees"},
    "Rise": {"type": "percentage"},
    "End": {"type": "date"},
    "Term": {"type": "period"},
    "Tenant": {"type": "text"},
    "Governing law": {"type": "choice", "choices": ["England", "Scotland", "Germany"]},
    "Subletting": {"type": "yes_no"},
    "Sublease": {"type": "yes_no", "instruction": "May the tenant sublet?"},
    "Monthly rent": {"type": "money", "unit": "EUR per month"},
    "Parties": {"type": "records", "columns": [{"name": "Name"}, {"name": "Rent", "type": "money", "unit": "EUR"}]},
    "Rights": {"type": "records", "columns": [{"name": "Granted", "type": "yes_no"}, {"name": "To"}]},
}


def well_read(claims: Sequence[Claim]) -> list[bool]:
    """Judge by what the lease says."""
    return [claim.text.endswith(("“England”.", "“no”.")) for claim in claims]


def checked(name: str, **told: object) -> FoundField:
    """What is found of a field that a model is sure of; its quote is the clause with its words unless one is given."""
    row = {"field": 1, "value": "", "state": "found", "confidence": 99, **told}
    words = str(row.get("words", ""))
    row.setdefault("quotes", [next((clause for clause in LEASE if words in clause), "")])
    for value in (row, *row.get("others", [])):  # type: ignore[misc]
        value["quotes"] = [{"source": "S2" if quote == LEASE[4] else "S1", "text": quote} for quote in value["quotes"]]
    hits = {"S1": sources.hit(*LEASE[:4]), "S2": sources.hit(LEASE[4], page_number=2)}
    field = FieldDefinition.model_validate({"name": name, **FIELDS[name]})
    reply = read_reply(json.dumps({"fields": [row]}), 1)
    return check_fields([field], reply, hits, Grounder(hits, locate=sources.locate), well_read)[1]


def party(name: str, rent: str = "") -> list[dict[str, str]]:
    return [{"column": "Name", "value": name}, {"column": "Rent", "value": rent}]


STATED = [
    ("Rent", {"value": "4200", "unit": "EUR", "words": "EUR 4,200"}),
    ("Any rent", {"value": "4200", "unit": "EUR", "words": "EUR 4,200"}),
    ("Millions", {"value": "4200 EUR", "words": "EUR 4,200"}),
    ("Charges", {"value": "12.6", "unit": "thousand EUR", "words": "12.6"}),
    ("Charges", {"value": "12600", "unit": "EUR", "words": "12.6"}),
    ("Area", {"value": "1250", "unit": "m²", "words": "1,250 square metres"}),
    ("Staff", {"value": "37", "unit": "employees", "words": "37 employees"}),
    ("Rise", {"value": "4.5", "unit": "%", "words": "4.5 %"}),
    ("End", {"value": "2026-03-31", "words": "31 March 2026"}),
    ("Term", {"value": "P5Y", "words": "five years"}),
    ("Tenant", {"value": "Quillon Bakery GmbH", "words": "Quillon Bakery GmbH"}),
    ("Governing law", {"value": "England", "words": "governed by the laws of England"}),
    ("Subletting", {"value": "no", "words": "Subletting is not permitted"}),
    ("Sublease", {"value": "no", "words": "Subletting is not permitted"}),
    ("Monthly rent", {"value": "4200", "unit": "EUR", "words": "EUR 4,200"}),
    ("Parties", {"records": [party("Ann Lee"), party("Quillon Bakery GmbH", "4200")], "quotes": LEASE[:3]}),
    ("Parties", {"records": [party("Ann Lee", "N/A")], "quotes": LEASE[:3]}),
    (
        "Rights",
        {
            "records": [[{"column": "Granted", "value": "no"}, {"column": "To", "value": "Ann Lee"}]],
            "quotes": LEASE[2:3],
        },
    ),
]


@pytest.mark.parametrize(("name", "told"), STATED)
def test_a_value_that_its_quote_states_is_as_sure_as_the_model(name: str, told: Mapping[str, object]) -> None:
    cell = checked(name, **told)
    assert (cell.state, cell.verdict, cell.is_sure) == ("found", Support.QUOTED, True)
    assert cell.citations


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Rent", {"value": "4300", "unit": "EUR", "words": "EUR 4,200"}),
        ("Rent", {"value": "4200", "unit": "USD", "words": "EUR 4,200"}),
        ("Rent", {"value": "4200 USD", "words": "EUR 4,200"}),
        ("Rent", {"value": "-4200", "unit": "EUR", "words": "EUR 4,200"}),
        ("Rent", {"value": "50400", "unit": "EUR", "words": "EUR 4,200"}),
        ("Any rent", {"value": "4200", "unit": "million EUR", "words": "EUR 4,200"}),
        ("Any rent", {"value": "4200 USD", "words": "EUR 4,200"}),
        ("Millions", {"value": "4200", "unit": "million EUR", "words": "EUR 4,200"}),
        ("Charges", {"value": "12.6", "unit": "EUR", "words": "12.6"}),
        ("Area", {"value": "1250", "unit": "square feet", "words": "1,250 square metres"}),
        ("Area", {"value": "1250", "unit": "km²", "words": "1,250 square metres"}),
        ("Area", {"value": ".125", "unit": "ha", "words": "1,250 square metres"}),
        ("Staff", {"value": "37", "unit": "thousand", "words": "37 employees"}),
        ("Rise", {"value": ".045", "unit": "%", "words": "4.5 %"}),
        ("Rise", {"value": "45", "unit": "%", "words": "4.5 %"}),
        ("End", {"value": "2026-03-13", "words": "31 March 2026"}),
        ("Term", {"value": "P5M", "words": "five years"}),
        ("Tenant", {"value": "Acme Corp", "words": "Quillon Bakery GmbH"}),
        ("Tenant", {"value": "EUR 5,200 per month", "words": "EUR 4,200"}),
        ("Governing law", {"value": "Scotland", "words": "governed by the laws of England"}),
        ("Subletting", {"value": "yes", "words": "Subletting is not permitted"}),
        ("Sublease", {"value": "yes", "words": "Subletting is not permitted"}),
        ("Subletting", {"value": "yes", "words": "EUR 4,200"}),
        ("Subletting", {"value": "no", "words": "EUR 4,200"}),
        ("Subletting", {"value": "yes", "words": "", "quotes": LEASE[2:3]}),
        ("Governing law", {"value": "Germany", "words": "five years"}),
        ("Parties", {"records": [[{"column": "Rent", "value": "5000"}]], "quotes": LEASE[:3]}),
        ("Parties", {"records": [party("Ann Lee", "4200 USD")], "quotes": LEASE[:3]}),
        ("Rights", {"records": [[{"column": "Granted", "value": "yes"}]], "quotes": LEASE[:3]}),
        ("Parties", {"records": [party("Ann Lee"), party("Zoltan Quimby")], "quotes": LEASE[:3]}),
        ("Parties", {"records": [party("Ann Lee", "5000")], "quotes": LEASE[:3]}),
    ],
)
def test_a_value_that_its_quote_does_not_state_is_to_be_reviewed(name: str, told: Mapping[str, object]) -> None:
    cell = checked(name, **told)
    assert (cell.state, cell.verdict, cell.is_sure) == ("found", Support.NOT_VERIFIED, False)


@pytest.mark.parametrize(("name", "told"), STATED)
def test_a_quote_that_the_document_does_not_have_proves_nothing(name: str, told: Mapping[str, object]) -> None:
    for quotes in (["The monthly rent is EUR 5,000 and the other terms are as before."], ["."], []):
        cell = checked(name, **{**told, "quotes": quotes})
        assert (cell.verdict, cell.is_sure, cell.citations) == (Support.UNCITED, False, ())


@pytest.mark.parametrize(("value", "is_proved"), [("1250", True), ("1.250", True), ("1.25", False)])
def test_figures_are_read_in_the_language_of_the_document(value: str, is_proved: bool) -> None:
    hits = {"S1": sources.hit("Die Firma hat 1.250 Mitarbeiter.")}
    row = {"field": 1, "value": value, "state": "found", "confidence": 99}
    row["quotes"] = [{"source": "S1", "text": "1.250 Mitarbeiter"}]
    field, grounder = FieldDefinition(name="Staff", type="number"), Grounder(hits, locate=sources.locate)
    reply = read_reply(json.dumps({"fields": [row]}), 1)
    found = check_fields([field], reply, hits, grounder, well_read, language="de")[1]
    assert (found.verdict is Support.QUOTED) is is_proved


def test_an_amount_per_another_period_keeps_its_unit() -> None:
    assert checked("Monthly rent", value="50,400", unit="EUR per year", words="EUR 4,200").unit == "EUR per year"


def test_a_day_that_may_be_two_is_not_cut_to_its_year() -> None:
    assert checked("End", value="03/12/2021", words="31 March 2026").state == "failed"


def test_cells_in_another_unit_than_their_column_are_left_out() -> None:
    cell = checked("Parties", records=[party("Ann Lee", "4200 USD")], quotes=LEASE[:3])
    assert cell.value == ({"Name": "Ann Lee"},)


def test_words_that_no_quote_has_are_not_those_of_the_document() -> None:
    assert checked("Rent", value="4200", words="EUR four thousand", quotes=[LEASE[0]]).words == ""


def test_other_values_are_a_conflict_only_if_the_document_states_them() -> None:
    rent = {"value": "4200", "unit": "EUR", "words": "EUR 4,200", "state": "conflict"}
    charges = {"value": "12600", "unit": "EUR", "words": "12.6", "quotes": [LEASE[4]]}
    assert [one.value for one in checked("Rent", **rent, others=[charges]).alternatives] == [12600.0]
    made_up: Sequence[dict[str, object]] = [
        {"value": "9999", "quotes": ["The rent is EUR 9,999."]},
        {"value": "9999", "quotes": [LEASE[4]]},
        {"value": "some", "quotes": [LEASE[4]]},
    ]
    for others in ([], *([one] for one in made_up)):
        cell = checked("Rent", **rent, others=others)
        assert (cell.state, cell.alternatives, cell.is_sure) == ("found", (), False)


def test_an_absence_with_a_value_is_to_be_reviewed() -> None:
    assert checked("Rent", state="not_stated", quotes=[]).is_sure
    for none in ("None", "null", "N/A", "-"):
        assert checked("Rent", state="not_stated", value=none, quotes=[]).is_sure
    assert checked("Parties", state="not_stated", records=[party("")], quotes=[""]).is_sure
    assert not checked("Rent", state="not_stated", value="4200", quotes=[]).is_sure
    assert not checked("Rent", state="not_stated", quotes=[LEASE[0]]).is_sure


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


@pytest.mark.parametrize(
    ("kind", "unit", "written", "value"),
    [
        ("money", "million USD", "3.4 million USD", (3.4, "million USD")),
        ("money", "million USD", "3.4", (3.4, "million USD")),
        ("money", "EUR", "1 234,50 EUR", (1234.5, "EUR")),
        ("money", None, "4200 USD", (4200.0, "USD")),
        ("number", "employees", "12 employees", (12.0, "employees")),
        ("number", "thousand employees", "37 thousand", (37.0, "thousand employees")),
        ("date", None, "31 March 2026", ("2026-03-31", None)),
        ("date", None, "FY 2003", ("2003", None)),
        ("period", None, "30 business days", ("P30D", "business days")),
        ("period", None, "Q2 2003", ("2003-04-01/2003-06-30", None)),
        ("money", "million USD", "0 USD", (0.0, "million USD")),
        ("period", None, "from 1 May 2003 to 30 April 2004", ("2003-05-01/2004-04-30", None)),
        ("date", None, "the 4th of May, 2003", ("2003-05-04", None)),
        ("number", "employees", "approx. 1,250", (1250.0, "employees")),
        ("money", "EUR", "4,200 EUR per month", (4200.0, "EUR")),
    ],
)
def test_what_a_person_writes_is_read_with_its_unit(kind: Any, unit: str | None, written: str, value: object) -> None:
    corrected = corrected_value(FieldDefinition(name="Value", type=kind, unit=unit), CellValue(value=written))
    assert (corrected.value, corrected.unit) == value


@pytest.mark.parametrize(
    ("kind", "unit", "written", "problem"),
    [
        *(("date", None, day, "may be two different days") for day in ("04/05/2003", "3/4/03", "04-05-2003")),
        ("date", None, "Q2 2003", "is not only a date"),
        ("period", None, "04/05/2003", "may be two different days"),
        ("period", None, "5/4/2003 - 4/4/2004", "may be two different days"),
        ("period", None, "until 2005", "is not only a period"),
        ("period", None, "from 2005", "is not only a period"),
        ("money", "EUR per year", "4,200 EUR per month", "is in per month, not in per year"),
        ("money", "EUR", "abc 5 def 6", "is not only an amount of money"),
        ("number", "employees", "12 ships", "is not only a number"),
        ("money", "million USD", "3,400,000 USD", "names no scale"),
        ("number", "thousand employees", "37 employees", "names no scale"),
    ],
)
def test_what_a_person_writes_is_not_guessed_at(kind: Any, unit: str | None, written: str, problem: str) -> None:
    with pytest.raises(errors.ValidationError, match=problem):
        corrected_value(FieldDefinition(name="Value", type=kind, unit=unit), CellValue(value=written))


def test_what_a_person_writes_is_read_in_the_language_of_the_document() -> None:
    staff = FieldDefinition(name="Staff", type="number")
    assert corrected_value(staff, CellValue(value="1.250"), "de").value == 1250.0
    assert corrected_value(staff, CellValue(value="1.250")).value == 1.25


def test_words_taken_from_a_page_may_have_others_around_the_value() -> None:
    rent = FieldDefinition(name="Rent", type="money", unit="million USD")
    assert corrected_value(rent, CellValue(words="the rent, $ 3.4")).value == 3.4
    day = FieldDefinition(name="Day", type="date")
    with pytest.raises(errors.ValidationError, match="two different days"):
        corrected_value(day, CellValue(words="on 04/05/2003"))


def test_two_fields_of_one_name_are_refused() -> None:
    fields = [{"name": "Term", "type": "period"}, {"name": "Term", "type": "number"}]
    with pytest.raises(errors.ValidationError, match="same name"):
        MatrixRequest(name="m", fields=fields, follows={"index_name": "default"})


def part(state: str, *names: str, confidence: float = 0.9) -> FoundField:
    value = tuple({"name": name} for name in names) or None
    return FoundField(state=state, value=value, words=", ".join(names), confidence=confidence)


def test_a_list_read_in_parts_is_one_no_surer_than_its_least_sure_part() -> None:
    first, second, nothing = part("found", "a", "a"), part("found", "a", "b", confidence=0.6), part("not_stated")
    whole = joined_records([first, nothing, second])
    assert whole.value == ({"name": "a"}, {"name": "a"}, {"name": "b"})
    assert (whole.state, whole.confidence) == ("found", 0.6)
    assert joined_records([nothing, part("not_stated", confidence=0.7)]).confidence == 0.7
    assert joined_records([nothing, nothing]).state == "not_stated"
    assert joined_records([first, part("failed")]).state == "failed"
