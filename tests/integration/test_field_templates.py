"""Templates of fields, fields suggested from a sample, and extraction without a matrix, over a real database."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pydantic
import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.types import FieldDefinition, FieldSuggestions
from tests import pdfs, vendors
from tests.databases import Databases
from tests.library import add
from tests.vendor_servers import VendorServer

LEASE = (
    "Lease of premises",
    "Landlord: Quayside Estates Ltd",
    "Tenant: Marlow Bakery GmbH",
    "Monthly rent: EUR 1,200",
    "Commencement date: 1 March 2021",
    "File number: 4812",
    "Parking spaces: 12",
    "Keys handed over: yes",
    "The tenant pays a security deposit of three months' rent to the landlord.",
)
FIELDS = ["Who is the tenant?", {"name": "Rent", "type": "money", "unit": "EUR"}]


@pytest.fixture
def lease(engine: RAGEngine) -> uuid.UUID:
    return add(engine, pdfs.plain(LEASE), "lease.pdf")


def own(engine: RAGEngine) -> list[str]:
    return [template.name for template in engine.templates.list() if template.is_own]


def test_templates_are_saved_from_fields_schemas_matrices_and_templates(engine: RAGEngine, lease: uuid.UUID) -> None:
    templates = engine.templates
    saved = templates.save("Mieten", {"fields": FIELDS})
    assert (saved.name, saved.title, saved.is_own) == ("Mieten", "Mieten", True)
    assert [one.type for one in saved.fields] == ["text", "money"]
    schema = templates.schema("Mieten")
    assert templates.save("again", {"schema": schema}).fields == saved.fields
    matrix = engine.matrices.create({"name": "M", "documentIds": [lease], "fields": FIELDS})
    of_matrix = templates.save("of a matrix", {"matrixId": matrix.id})
    assert [one.name for one in of_matrix.fields] == [one.name for one in matrix.fields]
    assert {one.id for one in of_matrix.fields} == {None}
    packaged = templates.get("lease")
    assert templates.save("lease", {"template": "lease"}).fields == packaged.fields
    assert templates.get("lease").is_own
    assert all(one.is_own for one in templates.list()[:4])
    assert {*own(engine)} == {"again", "lease", "Mieten", "of a matrix"}
    templates.save("again", {"fields": ["What else?"]})
    assert [one.name for one in templates.get("again").fields] == ["What else?"]
    for name in own(engine):
        templates.delete(name)
    assert own(engine) == []
    assert templates.get("lease") == packaged


def test_templates_that_are_wrong_or_not_there_are_refused(engine: RAGEngine) -> None:
    templates = engine.templates
    wrong: list[dict[str, Any]] = [{}, {"fields": FIELDS, "template": "lease"}, {"fields": []}, {"schema": {}}]
    for request in wrong:
        with pytest.raises(errors.ValidationError):
            templates.save("x", request)
    for name in ("", "a/b", "..", "a\nb", "x" * 201):
        with pytest.raises(errors.ValidationError):
            templates.save(name, {"fields": FIELDS})
    for missing in ({"template": "nothing"}, {"matrixId": str(uuid.uuid4())}):
        with pytest.raises(errors.NotFoundError):
            templates.save("x", missing)
    for name in ("nothing", "lease"):  # what comes with the program stays
        with pytest.raises(errors.NotFoundError):
            templates.delete(name)
    with pytest.raises(errors.NotFoundError):
        templates.get("nothing")


# --- suggestions ---


def types_of(suggestions: FieldSuggestions) -> dict[str, str]:
    return {one.field.name: one.field.type for one in suggestions.suggested if one.words}


def test_without_a_model_the_fitting_template_and_labelled_values_are_suggested(
    engine: RAGEngine, lease: uuid.UUID
) -> None:
    found = engine.matrices.suggest_fields(lease)
    assert found.template == engine.templates.get("lease")
    assert found.fields[: len(found.template.fields)] == found.template.fields
    assert found.model is None
    stated = types_of(found)
    assert stated["Parking spaces"] == "number"
    assert stated["File number"] == "text"  # no number to calculate with
    assert stated["Keys handed over"] == "yes_no"
    assert "Tenant" not in stated  # the template has it
    assert "Monthly rent" in stated
    (file_number,) = [one for one in found.suggested if one.field.name == "File number"]
    assert (file_number.words, file_number.page_number) == ("4812", 1)
    names = [one.name.casefold() for one in found.fields]
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("lines", "template"),
    [
        (("Invoice", "Invoice number: 7", "Bill to: Ann", "Amount due: 12", "Due date: 1 May 2020"), "invoice"),
        (("Agreement by and between Ann and Bob", "Governing law: Ohio", "In witness whereof"), "contract"),
        (("A recipe for pears", "Take pears and sugar."), None),
    ],
)
def test_the_template_is_that_of_the_documents_kind(
    engine: RAGEngine, lines: tuple[str, ...], template: str | None
) -> None:
    found = engine.matrices.suggest_fields(add(engine, pdfs.plain(lines), "sample.pdf"))
    assert (found.template.name if found.template else None) == template


def test_a_report_is_suggested_the_fields_of_reports_and_rows_of_its_statements(engine: RAGEngine) -> None:
    report = add(engine, pdfs.annual_report("Northmoor Ferries"), "northmoor.pdf")
    found = engine.matrices.suggest_fields(report)
    assert found.template is not None
    assert found.template.name == "annual_report"


def test_suggestions_are_for_ones_own_documents_that_were_read(engine: RAGEngine, lease: uuid.UUID) -> None:
    with pytest.raises(errors.NotFoundError):
        engine.installation.for_user("bob").matrices.suggest_fields(lease)
    with pytest.raises(errors.NotFoundError):
        engine.matrices.suggest_fields(uuid.uuid4())
    unread = engine.documents.add(pdfs.plain(["Later."]), "later.pdf", enqueue=False)
    with pytest.raises(errors.NotFoundError, match="not read yet"):
        engine.matrices.suggest_fields(unread.id)


# --- with a language model ---


@dataclass
class Desk:
    """An engine with a strong model, and the server behind it, which replies as it is told."""

    engine: RAGEngine
    server: VendorServer
    asked: list[str] = field(default_factory=list)

    def answer(self, reply: object) -> None:
        def to(prompt: str) -> str:
            self.asked.append(prompt)
            return reply if isinstance(reply, str) else json.dumps(reply)

        self.server.reply_to = to


@pytest.fixture
def desk(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(
            rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local", rag_gen_model="openai:gpt-4.1"
        )
        with RAGEngine(config, user_id="ann") as engine:
            yield Desk(engine, vendor.server)


def suggestion(name: str, words: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"unit": "", "choices": [], "columns": [], "instruction": "", "source": "S1"}
    return {"name": name, "words": words, "type": kind, **empty, **more}


def test_a_model_names_fields_of_which_those_are_kept_that_the_sample_states(desk: Desk) -> None:
    lease = add(desk.engine, pdfs.plain(LEASE), "lease.pdf")
    columns = [{"name": "Name", "type": "text", "unit": "", "choices": []}]
    desk.answer(
        {
            "fields": [
                suggestion("Tenant", "Marlow Bakery GmbH", instruction="Who rents"),
                suggestion("Monthly base rent", "EUR 1,200", "money", unit="EUR"),
                suggestion("Deposit", "three months’ rent", "choice", choices=["one month", "three months"]),
                suggestion("Parties", "Quayside Estates Ltd", "records", columns=columns),
                suggestion("Kind", "Lease", "choice", choices=["only"]),
                suggestion("Invented", "EUR 9,999", "money"),
                suggestion("Elsewhere", "yes", source="S9"),
                suggestion("Without columns", "yes", "records"),
                suggestion("Odd", "yes", "colour"),
                {"name": "Incomplete"},
                suggestion("tenant", "Marlow"),
                7,
            ]
        }
    )
    found = desk.engine.matrices.suggest_fields(lease)
    assert types_of(found) == {
        "Tenant": "text",
        "Monthly base rent": "money",
        "Deposit": "choice",
        "Parties": "records",
        "Kind": "text",  # one choice is none
    }
    assert found.fields[0] == FieldDefinition(name="Tenant", instruction="Who rents")
    assert {one.page_number for one in found.suggested} == {1}
    assert found.model == "gpt-4.1"
    assert found.usage.input_tokens
    (asked,) = desk.asked
    assert "Landlord; Tenant; Premises" in asked  # names of the template, to be kept
    assert "Marlow Bakery" in asked


def test_a_reply_that_cannot_be_read_leaves_what_is_known_without_a_model(desk: Desk) -> None:
    lease = add(desk.engine, pdfs.plain(LEASE), "lease.pdf")
    desk.answer("I would rather not.")
    found = desk.engine.matrices.suggest_fields(lease)
    assert found.model is None
    assert found.template is not None
    assert "Parking spaces" in types_of(found)


def test_at_most_twenty_fields_are_suggested(desk: Desk) -> None:
    lease = add(desk.engine, pdfs.plain(LEASE), "lease.pdf")
    desk.answer({"fields": [suggestion(f"Field {number}", "Tenant") for number in range(40)]})
    assert len(desk.engine.matrices.suggest_fields(lease).suggested) == 20


# --- extraction ---


class Terms(pydantic.BaseModel):
    """What is asked of a lease."""

    tenant: str = pydantic.Field(description="Who is the tenant?")


def test_fields_are_extracted_as_a_model_a_schema_a_list_or_a_template(engine: RAGEngine, lease: uuid.UUID) -> None:
    asked = [FieldDefinition(name="tenant", instruction="Who is the tenant?", required=True)]
    engine.templates.save("Mieten", {"fields": asked})
    given: list[Any] = [
        Terms,
        Terms.model_json_schema(),
        asked,
        [{"name": "tenant", "instruction": "Who is the tenant?"}],
        "Mieten",
    ]
    for schema in given:
        extraction = engine.extract(schema, [str(lease)])
        (row,) = extraction.rows
        assert (row.document_id, row.name, [*row.fields]) == (lease, "lease.pdf", ["tenant"])
        found = row.fields["tenant"]
        assert found.state == "found"
        assert "Marlow Bakery GmbH" in found.words
        assert found.citations[0].page_number == 1
        assert found.citations[0].regions[0].rects
    assert engine.store.matrices.list() == []


def test_what_cannot_be_extracted_is_refused(engine: RAGEngine, lease: uuid.UUID) -> None:
    wrong: list[Any] = [int, [], {"type": "array"}, type("Odd", (), {}), 7]
    for schema in wrong:
        with pytest.raises(errors.ValidationError):
            engine.extract(schema, [lease])
    for ids in ([], ["no id"]):
        with pytest.raises(errors.ValidationError):
            engine.extract(["What?"], ids)
    with pytest.raises(errors.NotFoundError):
        engine.extract("nothing", [lease])
    with pytest.raises(errors.NotFoundError):
        engine.extract(["What?"], [lease, uuid.uuid4()])
    with pytest.raises(errors.NotFoundError):
        engine.installation.for_user("bob").extract(["What?"], [lease])


def test_extraction_pauses_before_each_request(engine: RAGEngine, lease: uuid.UUID) -> None:
    def gone() -> None:
        raise errors.CancelledError

    with pytest.raises(errors.CancelledError):
        engine.matrices.extract({"fields": ["What?"], "documentIds": [lease]}, gone)
