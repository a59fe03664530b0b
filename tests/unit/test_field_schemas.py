"""Fields as JSON Schema: what pydantic writes, both ways, and schemas that nobody should send."""

import datetime as dt
import enum
from decimal import Decimal
from typing import Any, Literal

import pydantic
import pytest

from rag import errors, vocabulary
from rag.answering.fields.schemas import MAX_DEPTH, fields_of_schema, schema_of_fields
from rag.types import FieldColumn, FieldDefinition


class Purpose(enum.Enum):
    OFFICE = "office"
    SHOP = "shop"


class Seat(pydantic.BaseModel):
    city: str
    country: str | None = None


class Party(pydantic.BaseModel):
    name: str = pydantic.Field(description="Full legal name.")
    role: Literal["landlord", "tenant"]
    seat: Seat | None = None


class Lease(pydantic.BaseModel):
    """A lease."""

    mietbeginn: dt.date = pydantic.Field(alias="Mietbeginn", description="First day of the term")
    purpose: Purpose | None = None
    rent: Decimal = pydantic.Field(examples=["1.200 €"], json_schema_extra={"x-type": "money", "x-unit": "EUR"})
    increase: float | None = pydantic.Field(default=None, json_schema_extra={"x-type": "percentage"})
    area: Decimal
    floors: int | float = 1
    renews: bool
    term: dt.timedelta
    reference: int | str
    parties: list[Party]
    annexes: list[str] = []
    landlord: Seat
    broker: Seat | None = None


def fields_of(**properties: Any) -> tuple[FieldDefinition, ...]:
    return fields_of_schema({"type": "object", "properties": properties})


def problem_of(schema: Any) -> str:
    with pytest.raises(errors.ValidationError) as caught:
        fields_of_schema(schema)
    return caught.value.message


def test_a_pydantic_model_becomes_typed_fields() -> None:
    fields = {field.name: field for field in fields_of_schema(Lease.model_json_schema())}
    assert {name: field.type for name, field in fields.items()} == {
        "Mietbeginn": "date",
        "purpose": "choice",
        "rent": "money",
        "increase": "percentage",
        "area": "number",
        "floors": "number",
        "renews": "yes_no",
        "term": "period",
        "reference": "text",
        "parties": "records",
        "annexes": "records",
        "landlord.city": "text",
        "landlord.country": "text",
        "broker.city": "text",
        "broker.country": "text",
    }
    assert [name for name, field in fields.items() if not field.required] == [
        *("purpose", "increase", "floors", "annexes", "landlord.country", "broker.city", "broker.country")
    ]
    assert fields["Mietbeginn"].instruction == "First day of the term"
    assert (fields["rent"].unit, fields["rent"].example) == ("EUR", "1.200 €")
    assert fields["purpose"].choices == ("office", "shop")
    assert fields["parties"].columns == (
        FieldColumn(name="name"),
        FieldColumn(name="role", type="choice", choices=("landlord", "tenant")),
        FieldColumn(name="seat.city"),
        FieldColumn(name="seat.country"),
    )
    assert fields["parties"].instruction == "name: Full legal name."
    assert fields["annexes"].columns == (FieldColumn(name="annexes"),)


ALL_TYPES = (
    FieldDefinition(name="Größe (m²)", type="number", unit="m²", example="85", should_agree=True),
    FieldDefinition(name="a.b", instruction="Which?", required=True),
    FieldDefinition(name="Preis", type="money", unit="million EUR"),
    FieldDefinition(name="Satz", type="percentage"),
    FieldDefinition(name="Tag", type="date"),
    FieldDefinition(name="Dauer", type="period"),
    FieldDefinition(name="Gilt", type="yes_no"),
    FieldDefinition(name="Art", type="choice", choices=("A", "B")),
    FieldDefinition(name="Autoren", type="records", columns=(FieldColumn(name="Autoren"),)),
    FieldDefinition(
        name="Tranchen",
        type="records",
        columns=(
            FieldColumn(name="Betrag", type="money", unit="EUR"),
            FieldColumn(name="Fällig", type="date"),
            FieldColumn(name="Art", type="choice", choices=("fest", "variabel")),
        ),
    ),
)


@pytest.mark.parametrize("fields", [ALL_TYPES, *(template.fields for template in vocabulary.field_templates())])
def test_fields_are_the_same_after_both_ways(fields: tuple[FieldDefinition, ...]) -> None:
    schema = schema_of_fields(fields, "Title")
    assert (schema["title"], schema["type"]) == ("Title", "object")
    assert fields_of_schema(schema) == fields


def test_a_schema_of_fields_describes_their_values_to_other_programs() -> None:
    schema = schema_of_fields(ALL_TYPES, "All")
    assert schema["required"] == ["a.b"]
    assert schema["properties"]["Autoren"] == {"type": "array", "items": {"type": "string"}}
    assert schema["properties"]["Tag"] == {"type": "string", "format": "date"}
    assert schema["properties"]["Preis"] == {"type": "number", "x-type": "money", "x-unit": "million EUR"}
    assert schema["properties"]["Art"]["enum"] == ["A", "B"]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({}, "text"),
        (True, "text"),
        ({"type": ["integer", "null"]}, "number"),
        ({"type": ["integer", "number"]}, "number"),
        ({"type": ["integer", "string"]}, "text"),
        ({"type": "string", "format": "date-time"}, "date"),
        ({"type": "string", "format": "email"}, "text"),
        ({"type": "boolean", "const": True}, "yes_no"),
        ({"const": "one"}, "choice"),
        ({"enum": [1, 2, None]}, "choice"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}, {"type": "null"}]}, "choice"),
        ({"allOf": [{"type": "string"}, {"format": "date"}]}, "date"),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}, "text"),
        ({"type": "array", "items": {"type": "string"}, "x-type": "text"}, "text"),
        ({"type": "object", "additionalProperties": True, "x-type": "number"}, "number"),
        ({"items": {"properties": {"a": {}}}}, "records"),
    ],
)
def test_the_type_of_a_property(schema: Any, kind: str) -> None:
    assert fields_of(p=schema)[0].type == kind


def test_references_are_followed_and_what_stands_beside_them_counts() -> None:
    schema = {
        "$defs": {"a/b~c": {"$ref": "#/$defs/day"}, "day": {"type": "string", "format": "date", "description": "Any"}},
        "properties": {"p": {"$ref": "#/$defs/a~1b~0c", "description": "First day"}},
    }
    assert fields_of_schema(schema) == (FieldDefinition(name="p", type="date", instruction="First day"),)


class Node(pydantic.BaseModel):
    label: str
    parent: "Node | None" = None


class Tree(pydantic.BaseModel):
    label: str
    children: "list[Tree]"


def nested(depth: int) -> dict[str, Any]:
    return {"properties": {"p": nested(depth - 1)}} if depth else {"type": "string"}


def laughs(count: int) -> dict[str, Any]:
    """Few definitions that stand for 10 ** count properties."""
    levels = {
        f"d{number}": {"properties": {f"p{place}": {"$ref": f"#/$defs/d{number + 1}"} for place in range(10)}}
        for number in range(count)
    }
    return {"$defs": {**levels, f"d{count}": {"type": "string"}}, "$ref": "#/$defs/d0"}


def laughing_choices(count: int) -> dict[str, Any]:
    levels = {f"d{number}": {"anyOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 10} for number in range(count)}
    return {"$defs": {**levels, f"d{count}": {"type": "string"}}, "properties": {"p": {"$ref": "#/$defs/d0"}}}


def repeated(schema: dict[str, Any]) -> dict[str, Any]:
    """A large definition that is referred to again and again."""
    return {"$defs": {"d": schema}, "properties": {"p": {"anyOf": [{"$ref": "#/$defs/d"}] * 4000}}}


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        (Node.model_json_schema(), "refers to itself"),
        (Tree.model_json_schema(), "children.children"),
        ({"properties": {"p": {"$ref": "#"}}}, "refers to itself"),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"p": {"$ref": "#/$defs/a"}}}, "property p "),
        (nested(MAX_DEPTH + 1), "nested too deep"),
        (laughs(9), "more than 50 fields"),
        (laughing_choices(9), "too large"),
        (repeated({"enum": [str(number) for number in range(100_000)]}), "too large"),
        (repeated({"properties": {f"p{number}": {} for number in range(9000)}}), "too large"),
        (repeated({"$ref": "#/" + "x" * 1_000_000}), "references"),
        ({"properties": {f"p{number}": {} for number in range(51)}}, "more than 50 fields"),
        ({"properties": {"p": {"items": {"properties": {f"c{number}": {} for number in range(13)}}}}}, "12 columns"),
        ({"properties": {"p": {"enum": [str(number) for number in range(101)]}}}, "property p "),
    ],
)
def test_what_is_recursive_or_too_large_is_refused(schema: dict[str, Any], named: str) -> None:
    assert named in problem_of(schema)


@pytest.mark.parametrize(
    "given",
    [
        *(1, "text", [], None, False),
        *({"type": 1}, {"type": {}}, {"type": "null"}, {"type": "thing"}, {"type": [{}, []]}, {"type": []}),
        *({"type": "object"}, {"type": "object", "properties": []}, {"type": "object", "properties": {"q": 7}}),
        *({"type": "array"}, {"type": "array", "items": [1]}, {"type": "array", "items": {"type": "array"}}),
        {"type": "array", "items": {"properties": {"q": {"type": "array", "items": {}}}}},
        *({"enum": []}, {"enum": [{}]}, {"enum": "abc"}, {"const": None}, {"enum": ["\x00"]}),
        *({"x-type": "records"}, {"x-type": []}, {"x-type": "choice"}, {"x-unit": 7}, {"x-should-agree": 7}),
        *({"description": 7}, {"description": "\x00"}, {"description": "x" * 100_000}, {"examples": ["\x00"]}),
        *(
            {"$ref": 7},
            {"$ref": "https://example.org/schema"},
            {"$ref": "#/$defs/none"},
            {"$ref": "#/properties/p/type/x"},
        ),
        *({"anyOf": 7}, {"anyOf": [7]}, {"allOf": {}}, {"anyOf": [{"type": "null"}]}),
        {"anyOf": [{"type": "string"}, {"properties": {"q": {}}}]},
        {"type": "object", "properties": {"q": {}}, "required": "q"},
    ],
)
def test_what_no_field_can_be_is_named(given: object) -> None:
    message = problem_of({"properties": {"fine": {"type": "string"}, "p": given}})
    assert message.startswith("The property p")
    assert "{" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    "schema", [{}, {"type": "string"}, {"type": "array", "items": {"properties": {"q": {}}}}, {"properties": {}}]
)
def test_a_schema_of_no_object_is_no_list_of_fields(schema: dict[str, Any]) -> None:
    assert problem_of(schema).startswith("The JSON Schema does not describe fields")


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x00", "x" * 201])
def test_a_name_that_no_field_can_have_is_named(name: str) -> None:
    message = problem_of({"properties": {name: {"type": "string"}}})
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("properties", [{"a.b": {}, "a": {"properties": {"b": {}}}}, {"a": {}, " a ": {}}])
def test_two_properties_of_one_name_are_refused(properties: dict[str, Any]) -> None:
    assert "same name" in problem_of({"properties": properties})
