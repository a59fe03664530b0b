"""Reading typed fields without a language model: the likeliest value stated, its unit and period, lists of records."""

import datetime as dt
import re
import uuid
from collections.abc import Sequence

import pytest

from rag import tables, types
from rag.answering.fields.document_units import DocumentUnits
from rag.answering.fields.listed_records import read_records
from rag.answering.fields.quoted_values import FoundFor, Tools, read_listed, read_quoted
from rag.answering.fields.text_spans import has_form, likeness, spans
from rag.answering.fields.value_candidates import Judges, collect_values
from rag.types import BlockKind, FieldColumn, FieldDefinition, FoundField
from tests import sources

TABLE = BlockKind.TABLE


def overlap(one: str, other: str) -> float:
    """The share of the first text's words that the second has."""
    words, others = ({*re.findall(r"\w{3,}", text.casefold())} for text in (one, other))
    return 0.02 + 0.96 * len(words & others) / max(1, len(words))


class Overlap:
    """Stands for the models: what shares words is relevant, and proves."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [overlap(query, text) for text in texts]

    def read(self, query: str, texts: Sequence[tuple[str, Sequence[types.Span]]]) -> list[types.SpanScores]:
        return [types.SpanScores(overlap(query, text), [0.0] * len(spans)) for text, spans in texts]

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        negated = re.compile(r"\bnot?\b")
        return [
            overlap(claim, evidence) if bool(negated.search(claim)) == bool(negated.search(evidence)) else 0.05
            for evidence, claim in pairs
        ]


TOOLS = Tools(Judges(Overlap(), Overlap(), Overlap()), sources.locate)


def units(*pages: Sequence[sources.Block], period: str | None = None, names: Sequence[str] = ()) -> DocumentUnits:
    """The units of a document whose pages have these blocks."""
    document_id = uuid.uuid4()
    hits = [
        with_rows(sources.hit(*blocks, document_id=document_id, page_number=number))
        for number, blocks in enumerate(pages, 1)
    ]
    subject = types.Subject(names=tuple(names), period=period)
    document = types.Document(
        id=document_id,
        user_id="ann",
        index_id=uuid.UUID(int=1),
        name="report.pdf",
        mime_type="application/pdf",
        sha256="",
        size=1,
        status=types.DocumentStatus.READY,
        created_at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        subject=subject,
    )
    return DocumentUnits(document, hits, {})


def with_rows(hit: types.Hit) -> types.Hit:
    """The hit, with what the rows of its tables mean."""
    table = [line for line in hit.passage.lines if line.kind is TABLE]
    meant = dict(zip((line.number for line in table), tables.rows_of(table), strict=True))
    lines = tuple(line.model_copy(update={"row": meant.get(line.number)}) for line in hit.passage.lines)
    return hit.model_copy(update={"passage": hit.passage.model_copy(update={"lines": lines})})


def read(field: FieldDefinition, document: DocumentUnits) -> FoundField:
    """What the document says of the field, if a search finds all of its pages."""
    return read_quoted(field, document, FoundFor(sources.response(*document.pages), ()), TOOLS)


CONTRACT = (
    [
        "This Lease is made on March 3, 2019 by and between Norland Quarries Inc. (“Owner”) and Ada Holm (“Tenant”).",
        "1. Term. The initial term of this lease is three years.",
        "2. Notice. Each party may end this lease without cause with a termination notice of 45 days.",
    ],
    [
        "3. Governing Law.",
        "The governing law of this lease is that of Norway.",
        "Name: Sven Aasen\tName: Ada Holm\nTitle: Director\tTitle: Tenant",
    ],
)


def test_a_length_of_time_is_given_in_the_unit_asked_for() -> None:
    field = FieldDefinition(
        name="Initial term", instruction="The initial term of the lease", type="number", unit="months"
    )
    found = read(field, units(*CONTRACT))
    assert (found.state, found.value, found.words) == ("found", 36.0, "three years")
    assert found.citations[0].page_number == 1
    assert "three years" in found.citations[0].quote


def test_days_are_not_taken_for_months_and_clause_numbers_for_values() -> None:
    field = FieldDefinition(
        name="Termination notice", instruction="Termination notice of a party", type="number", unit="days"
    )
    assert read(field, units(*CONTRACT)).value == 45.0


def test_a_clause_title_is_no_value() -> None:
    field = FieldDefinition(name="Governing law", instruction="Governing law of the lease", example="Sweden")
    found = read(field, units(*CONTRACT))
    assert found.value == "Norway"
    assert found.citations[0].page_number == 2


def test_a_field_that_no_page_states_is_not_stated() -> None:
    field = FieldDefinition(name="Minimum insurance", type="money", unit="USD")
    found = read(field, units(*CONTRACT))
    assert (found.state, found.value, found.pages_read) == ("not_stated", None, (1, 2))
    assert found.confidence is not None


def test_the_latest_period_counts_wherever_its_column_stands() -> None:
    rows = "(in millions)\t2017\t2018\t2019\nNet sales\t100\t200\t300\nOperating income\t10\t20\t30"
    field = FieldDefinition(name="Net sales", instruction="Net sales of the year", type="money", unit="million USD")
    found = read(field, units(["Statements of Income", (TABLE, rows)]))
    assert (found.value, found.unit) == (300.0, "million USD")


def test_a_figure_of_the_size_of_the_example_is_preferred() -> None:
    rows = "\t2019\t2018\nDiluted\t$ 7.09\t$ 6.08\nDiluted\t441,834\t440,937"
    field = FieldDefinition(name="Diluted earnings per share", type="number", unit="USD per share", example="2.35")
    assert read(field, units(["Net income per share", (TABLE, rows)])).value == 7.09


def test_only_a_word_of_the_form_asked_for_is_an_address() -> None:
    field = FieldDefinition(name="Corresponding email", instruction="E-mail address for correspondence")
    found = read(field, units(["Correspondence should be addressed to Ada Holm, ada@holm.example, for all authors."]))
    assert found.value == "ada@holm.example"
    assert read(field, units(["Correspondence should be addressed to Ada Holm in Oslo."])).state == "not_stated"


@pytest.mark.parametrize(
    ("said", "value"),
    [("The parties have exclusive rights.", True), ("The parties have no exclusive rights.", False)],
)
def test_a_negated_clause_says_no(said: str, value: bool) -> None:
    field = FieldDefinition(name="Exclusive rights", instruction="Do the parties have exclusive rights?", type="yes_no")
    found = read(field, units([said, "Rain fell on the quarry."]))
    assert found.value is value


def test_a_residual_choice_is_never_chosen() -> None:
    field = FieldDefinition(
        name="Stock exchange", instruction="Exchange of the stock", type="choice", choices=("Oslo Exchange", "other")
    )
    assert read(field, units(["The stock is listed on the Oslo Exchange."])).value == "Oslo Exchange"
    assert read(field, units(["The stock is listed on some other exchange of the world."])).value != "other"


def records(
    name: str, columns: Sequence[str | FieldColumn], document: DocumentUnits, instruction: str = ""
) -> list[list[types.Scalar]]:
    """The values of the records that are found, in order."""
    made = tuple(FieldColumn(name=column) if isinstance(column, str) else column for column in columns)
    field = FieldDefinition(name=name, instruction=instruction, type="records", columns=made)
    return [[*record.values.values()] for record in read_records(field, document)]


def test_labelled_lines_side_by_side_are_records() -> None:
    assert records("Signatories", ("Name", "Title"), units(*CONTRACT)) == [
        ["Sven Aasen", "Director"],
        ["Ada Holm", "Tenant"],
    ]


def test_signatures_in_one_line_are_several() -> None:
    document = units(["/s/ Sven Aasen /s/ Ada Holm", "Page 3"])
    assert [one[0] for one in records("Signatories", ("Name", "Title"), document)] == ["Sven Aasen", "Ada Holm"]


def test_parties_are_named_before_what_they_are_called() -> None:
    assert records("Parties", ("Name", "Role"), units(*CONTRACT)) == [
        ["Norland Quarries Inc", "Owner"],
        ["Ada Holm", "Tenant"],
    ]


def test_what_an_instruction_rules_out_and_columns_that_nothing_tells_stay_empty() -> None:
    without = "The parties that conclude the lease, without signatories"
    document = units(*CONTRACT)
    assert records("Parties", ("Name", "Seat", "Role"), document, without) == [
        ["Norland Quarries Inc", "Owner"],
        ["Ada Holm", "Tenant"],
    ]
    assert records("Parties", ("Name", "Seat"), document, without) == [["Norland Quarries Inc"], ["Ada Holm"]]
    assert records("Parties", ("Name",), units(CONTRACT[1]), without) == []


def test_persons_with_age_and_office_are_officers_but_dates_are_not() -> None:
    told = [
        "Ada Holm, age 51, is Chief Executive Officer. She likes granite.",
        "Sven Aasen, 47, is Treasurer since 2010.",
        "Liv Dahl (age 60), Secretary",
        "On March 24, 2015, a suit was filed.",
    ]
    found = records("Executive officers", ("Name", "Title"), units(told))
    assert found == [["Ada Holm", "Chief Executive Officer"], ["Sven Aasen", "Treasurer"], ["Liv Dahl", "Secretary"]]


def test_rows_of_a_table_with_the_columns_heads_are_records() -> None:
    rows = "Name\tAge\tPosition\nAda Holm\t51\tChief Executive\nSven Aasen\t47\tTreasurer\nLiv Dahl\t60\tSecretary"
    listed = [["Ada Holm", "Chief Executive"], ["Sven Aasen", "Treasurer"], ["Liv Dahl", "Secretary"]]
    for office in ("Position", "Title", "Office held"):
        assert records("Executive officers", ("Name", office), units(["Executive Officers", (TABLE, rows)])) == listed


def test_the_head_with_the_same_words_is_preferred_to_one_of_the_same_kind() -> None:
    rows = "Name\tTitle of security\tPosition\nAda Holm\tCommon stock\tChief Executive\nLiv Dahl\tBonds\tSecretary"
    found = records("Executive officers", ("Name", "Position"), units(["Executive Officers", (TABLE, rows)]))
    assert found == [["Ada Holm", "Chief Executive"], ["Liv Dahl", "Secretary"]]


def test_numbers_may_name_records() -> None:
    rows = "Number\tAmount\n10021\t600.00\n10022\t1.00\n10023\t6.00"
    found = records(
        "Invoices", ("Number", FieldColumn(name="Amount", type="money")), units(["Invoices", (TABLE, rows)])
    )
    assert [row[1] for row in found] == [600.0, 1.0, 6.0]


def test_numbers_of_exhibits_are_no_names() -> None:
    rows = "No.\tName of exhibit\tTitle\n10.6\tPlan\tOfficers' plan\n10.7\tLease\tLease of the quarry"
    document = units(["Exhibits signed by executive officers", (TABLE, rows)])
    assert records("Executive officers", ("No.", "Title"), document) == []


ITEMS = (
    "Description\tQty\tQuantity\tUnit price\tAmount\nBolt M8\t-\t1,200\t0.50\t600.00\n"
    "Bolt M8\t-\t2\t0.50\t1.00\nNut (zinc)\t-\t3\t(2.00)\t(6.00)\nTotal\t\t\t\t595.00"
)
ITEM_COLUMNS = (
    "Description",
    FieldColumn(name="Quantity", type="number"),
    FieldColumn(name="Unit price", type="money"),
    FieldColumn(name="Amount", type="money"),
)


def test_rows_are_typed_each_once_and_without_totals() -> None:
    assert records("Line items", ITEM_COLUMNS, units(["Invoice 7", (TABLE, ITEMS)])) == [
        ["Bolt M8", 1200.0, 0.5, 600.0],
        ["Bolt M8", 2.0, 0.5, 1.0],
        ["Nut (zinc)", 3.0, -2.0, -6.0],
    ]


def test_amounts_of_rows_are_in_the_unit_asked_for_and_in_no_other_currency() -> None:
    rows = "\tRevenue (in thousands of USD)\nSegment North\t1,500\nSegment South\t2,500"
    document = units(["Segments", (TABLE, rows)])
    asked = [FieldColumn(name="Revenue", type="money", unit=unit) for unit in (None, "million USD", "EUR")]
    told = [records("Segments", ("Segment", column), document) for column in asked]
    assert told[0] == [["Segment North", 1_500_000.0], ["Segment South", 2_500_000.0]]
    assert told[1] == [["Segment North", 1.5], ["Segment South", 2.5]]
    assert told[2] == []


def test_a_table_about_something_else_has_no_records() -> None:
    rows = "Name\tPosition\nAda Holm\tLeft wing\nSven Aasen\tGoal"
    assert records("Executive officers", ("Name", "Position"), units(["The football team", (TABLE, rows)])) == []


def test_names_above_the_abstract_are_authors() -> None:
    document = units(
        ["On the Age of Granite Quarries", "Ada Holm¹, Sven Aasen² and Liv Dahl¹", "Department of Rocks", "Abstract"]
    )
    assert records("Authors", ("Name",), document) == [["Ada Holm"], ["Sven Aasen"], ["Liv Dahl"]]


def test_records_that_nothing_lists_need_a_model() -> None:
    field = FieldDefinition(name="Debt tranches", type="records", columns=(FieldColumn(name="Tranche"),))
    assert read_listed(field, units(*CONTRACT), sources.locate).state == "failed"


def test_records_are_cited() -> None:
    field = FieldDefinition(
        name="Parties", type="records", columns=(FieldColumn(name="Name"), FieldColumn(name="Role"))
    )
    found = read_listed(field, units(*CONTRACT), sources.locate)
    assert found.words == "Norland Quarries Inc; Ada Holm"
    assert [citation.page_number for citation in found.citations] == [1, 1]


def test_names_and_codes_are_the_parts_that_may_be_values() -> None:
    text = "Audited by Strand & Sons LLP of Oslo, see https://doi.org/10.1000/ab1."
    parts = [text[slice(*span)] for span in spans(text)]
    assert {"Strand & Sons LLP", "Oslo", "10.1000/ab1"} <= {*parts}


def test_the_form_of_the_example_tells_a_code_from_a_number() -> None:
    assert has_form("10.1186/1472-6963", "10.1000/xyz123")
    assert not has_form("1472", "10.1000/xyz123")
    assert likeness("Dahl LLP", "Smith LLP").form > likeness("Dahl", "Smith LLP").form


def test_letters_that_are_the_same_in_one_sense_only_are_no_label() -> None:
    document = units(["Name: Sven Aasen\nTİTLE: Director\nTitle: Skipper"])
    assert records("Signatories", ("Name", "Title"), document) == [["Sven Aasen", "Skipper"]]


@pytest.mark.parametrize(("name", "value"), [("Umsatz des Unternehmens", 500.0), ("Maximum price", 500.0)])
def test_the_most_is_chosen_only_if_it_is_asked_for(name: str, value: float) -> None:
    field = FieldDefinition(name=name, type="money", unit="million EUR")
    told = f"{name}: EUR 500 million in all, of which EUR 20 million in Norway."
    assert read(field, units([told])).value == value


def test_a_party_is_found_by_what_it_is_called() -> None:
    told = [
        "This agreement is made by Norland Quarries Inc. (“Seller”).",
        "The Seller sells to Sven Aasen (the “Buyer”).",
    ]
    asked = FieldDefinition(name="Seller", instruction="Who sells")
    assert read(asked, units(told)).value == "Norland Quarries Inc"


def test_who_is_only_called_so_is_no_name() -> None:
    document = units(["This agreement is made by Norland Quarries Inc. (“Seller”).", "The Seller pays."])
    field = FieldDefinition(name="Party", instruction="Who sells")
    found = collect_values(field, document, sources.response(*document.pages), (), TOOLS.judges)
    words = {one.value.words for one in found}
    assert "Norland Quarries Inc" in words
    assert words.isdisjoint({"Seller", "The Seller"})


def test_the_period_before_is_read_if_it_is_asked_for() -> None:
    rows = "(in millions)\t2017\t2018\t2019\nNet sales\t100\t200\t300\nOperating income\t10\t20\t30"
    document = units(["Statements of Income", (TABLE, rows)])
    asked = "Net sales of the previous year"
    field = FieldDefinition(name="Net sales", instruction=asked, type="money", unit="million USD")
    assert read(field, document).value == 200.0


def test_signatures_that_an_instruction_rules_out_are_not_read() -> None:
    asked = "Who concludes the lease, without signatories"
    assert records("Names", ("Name", "Title"), units(*CONTRACT), asked) == []
    assert records("Names", ("Name", "Title"), units(*CONTRACT), "Signatories of the lease")
