"""Fields suggested from a sample, and the templates that come with the program."""

import json
from typing import Any

import pytest

from rag import vocabulary
from rag.answering.fields.suggested_fields import guessed_type, labelled_fields, read_suggestions
from rag.types import FieldTemplate
from tests import sources

TEMPLATES = {template.name: template for template in vocabulary.field_templates()}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_has_typed_fields_that_say_what_is_meant(template: FieldTemplate) -> None:
    assert 12 <= len(template.fields) <= 20
    assert len({field.name.casefold() for field in template.fields}) == len(template.fields)
    assert all(field.instruction for field in template.fields)
    assert len({field.type for field in template.fields}) >= 5
    assert {"date", "records"} <= {field.type for field in template.fields}
    assert 1 <= sum(field.required for field in template.fields) <= 5


def test_templates_are_for_the_usual_kinds_of_documents() -> None:
    assert {*TEMPLATES} == {"annual_report", "contract", "invoice", "lease", "paper", "term_sheet"}
    assert [*TEMPLATES] == sorted(TEMPLATES, key=lambda name: TEMPLATES[name].title)


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("contract", "Agreement by and between Ann and Bob", "contract"),
        ("contract", "Lease. The landlord lets the premises to the tenant.", "lease"),
        (None, "MIETVERTRAG zwischen Vermieter und Mieter über das Mietobjekt", "lease"),
        (None, "Rechnung Nr. 7, Rechnungsdatum 1.2.2020, zahlbar bis 1.3., IBAN DE12", "invoice"),
        ("annual_report", "The company is lessee and lessor; rent of the premises", "annual_report"),
        ("paper", "Abstract. We study the parents and the current release of tenants.", "paper"),
        (None, "Indicative terms. Borrower: Acme. Maturity date: 2030. Interest rate: 5 %", "term_sheet"),
        ("manual", "Press the button", None),
        (None, "A release for parents of current tenants", None),  # “rent” and “lease” are words of their own
        (None, "Lessor, lessee, rent; subtotal, amount due, due date", None),  # marks of two
        (None, "", None),
    ],
)
def test_the_template_fits_the_kind_or_what_marks_a_special_sort(kind: str | None, text: str, name: str | None) -> None:
    found = vocabulary.fitting_template(kind, text)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("label", "words", "kind"),
    [
        ("Parking spaces", "12", "number"),
        ("Number of rooms", "12", "number"),
        ("File number", "12", "text"),
        ("Kunden-Nr.", "4711", "text"),
        ("Phone", "030 1234", "text"),
        ("Rent", "EUR 1,200", "money"),
        ("Miete", "1.200,50 €", "money"),
        ("Rent", "1,200", "number"),
        ("Interest", "4.5 %", "percentage"),
        ("Begin", "1 March 2021", "date"),
        ("Beginn", "01.03.2021", "date"),
        ("Term", "three years", "period"),
        ("Term", "1 January 2021 to 31 December 2023", "period"),
        ("Furnished", "Yes", "yes_no"),
        ("Möbliert", "nein", "yes_no"),
        ("Tenant", "Marlow Bakery", "text"),
        ("Remark", "the rooms 3 and 4", "text"),
    ],
)
def test_the_type_of_a_labelled_value_is_that_of_all_its_words(label: str, words: str, kind: str) -> None:
    assert guessed_type(label, words) == kind


def names(*lines: str) -> list[str]:
    return [one.field.name for one in labelled_fields([sources.hit("\n".join(lines))], [])]


def test_labels_with_a_value_become_fields_unless_they_mark_many_items() -> None:
    assert names("Tenant: Ann", "The tenant pays: monthly.", "Area: 85") == ["Tenant", "The tenant pays", "Area"]
    assert names("Table 1: Rents", "Remark: ¹", "Area: 85") == ["Area"]
    assert names("Reason: the tenant has paid neither the rent nor the deposit", "Area: 85") == ["Area"]
    assert names("Note: one", "Note: two", "Note: three", "Area: 85") == ["Area"]
    assert names(*(f"Item {chr(65 + number)}: x" for number in range(20))) == [
        f"Item {chr(65 + number)}" for number in range(12)
    ]


def test_labels_of_text_count_on_the_first_pages_and_in_short_documents() -> None:
    page = sources.hit("Colour: red\nArea: 85", page_number=4)
    assert [one.field.name for one in labelled_fields([page], [])] == ["Colour", "Area"]
    assert [one.field.name for one in labelled_fields([sources.hit("x")] * 5 + [page], [])] == ["Area"]


HIT = sources.hit("The rent is EUR 1,200 a month.\nThe tenant is Ann.")
GOOD: dict[str, Any] = {"name": "Rent", "type": "money", "source": "S1", "words": "EUR 1,200"}


def suggested(*rows: object) -> list[str]:
    return [one.field.name for one in read_suggestions(json.dumps({"fields": rows}), {"S1": HIT})]


def test_fields_of_a_reply_are_kept_whose_words_the_source_has() -> None:
    assert suggested(GOOD) == ["Rent"]
    assert suggested({**GOOD, "source": "[S1]"}) == ["Rent"]
    for wrong in ({"words": "EUR 1,300"}, {"words": " "}, {"source": "S2"}, {"type": "colour"}, {"name": "\x00"}):
        assert suggested({**GOOD, **wrong}, {**GOOD, "name": "Other"}) == ["Other"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no",
        "{",
        "[]",
        '{"fields": 7}',
        '{"fields": null}',
        "{" * 100_000,
        '{"fields": ' + "[" * 100_000 + "]}",
        '{"fields": {}}',
    ],
)
def test_a_reply_of_another_form_suggests_nothing(reply: str) -> None:
    assert read_suggestions(reply, {"S1": HIT}) == []
