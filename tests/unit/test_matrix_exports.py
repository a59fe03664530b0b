"""Matrices as files: values of their type, the evidence of each, and nothing that a spreadsheet program computes."""

import csv
import datetime as dt
import io
import json
import uuid
from collections.abc import Sequence
from typing import Any

import openpyxl
import pytest

from rag import export
from rag.types import (
    CellCitation,
    CellReview,
    CellState,
    Document,
    DocumentStatus,
    FieldDefinition,
    FieldValue,
    FilledMatrix,
    Matrix,
    MatrixCell,
    Record,
    Rect,
    Region,
    ReviewState,
    ShownCell,
)

NOW = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
PLACE = Region(page_number=3, rects=(Rect(72, 72, 200, 90),))
OFFICERS: tuple[Record, ...] = (
    {"name": "Ann Lee", "paid": 1250.5, "since": "2019-04-01"},
    {"name": "=Bo()", "since": "2020"},
)


def make_document(name: str, number: int = 1) -> Document:
    key = uuid.UUID(int=number)
    values = {"id": key, "user_id": "ada", "index_id": key, "name": name, "mime_type": "application/pdf"}
    values |= {"sha256": f"sha-{number}", "size": 1, "status": DocumentStatus.READY, "lineage_id": key}
    return Document.model_validate({**values, "created_at": NOW})


def make_field(number: int, name: str, **values: Any) -> FieldDefinition:
    return FieldDefinition.model_validate({"id": uuid.UUID(int=100 + number), "name": name, **values})


def make_cell(
    document: Document,
    field: FieldDefinition,
    value: FieldValue = None,
    unit: str | None = None,
    *,
    state: CellState = "found",
    confidence: float | None = 0.95,
    quotes: Sequence[str] = ("the quote",),
    review: CellReview | None = None,
    conflict: str | None = None,
    **values: Any,
) -> ShownCell:
    citations = tuple(CellCitation(quote=q, page_number=3, page_label="iii", regions=(PLACE,)) for q in quotes)
    cell = MatrixCell(
        lineage_id=document.id,
        field_id=field.id or uuid.uuid4(),
        document_id=document.id,
        version=document.version,
        sha256=document.sha256,
        filled_at=NOW,
        value=value,
        unit=unit,
        words=values.pop("words", str(value)),
        state=state,
        confidence=confidence,
        citations=citations if state in ("found", "conflict") else (),
        pages_read=(1, 2, 3, 7),
        **values,
    )
    return ShownCell(cell=cell, review=review, conflict=conflict)


def reviewed(state: ReviewState, document: Document, value: FieldValue = None, **values: Any) -> CellReview:
    times: dict[str, Any] = {"reviewed_at": NOW, **values}
    return CellReview(state=state, sha256=document.sha256, value=value, **times)


def make_matrix(documents: Sequence[Document], fields: Sequence[FieldDefinition], *cells: ShownCell) -> FilledMatrix:
    matrix = Matrix(
        id=uuid.UUID(int=7),
        user_id="ada",
        name="Facts",
        fields=tuple(fields),
        lineage_ids=tuple(document.id for document in documents),
        created_at=NOW,
        edited_at=NOW,
    )
    return FilledMatrix(matrix=matrix, documents=tuple(documents), cells=cells)


def workbook_of(filled: FilledMatrix) -> Any:
    return openpyxl.load_workbook(io.BytesIO(export.MATRIX_WRITERS["xlsx"](filled, str, "en")))


def csv_rows(filled: FilledMatrix) -> list[list[str]]:
    return [*csv.reader(io.StringIO(export.MATRIX_WRITERS["csv"](filled, str, "en").decode("utf-8-sig")))]


def day_of(value: object) -> object:
    """What a day is read as."""
    return value.date() if isinstance(value, dt.datetime) else value


NORTH, SOUTH = make_document("north.pdf", 1), make_document("=south.pdf", 2)
SALES = make_field(1, "Net sales", type="money", unit="million USD")
NUMBER, DATE, BOOLEAN, TEXT = "n", "d", "b", "s"


@pytest.mark.parametrize(
    ("kind", "value", "cell", "plain"),
    [
        ("money", 8436.0, (8436, NUMBER, "0"), "8436"),
        ("money", 12_345.5, (12_345.5, NUMBER, "#,##0.0"), "12345.5"),
        ("number", -1_234_567.0, (-1_234_567, NUMBER, "#,##0"), "-1234567"),
        ("number", 1e22, (1e22, NUMBER, "#,##0"), "1" + "0" * 22),
        ("number", 0.00002, (0.00002, NUMBER, "0.00000"), "0.00002"),
        ("percentage", 12.25, (12.25, NUMBER, "0.00"), "12.25"),
        ("date", "2023-12-31", (dt.date(2023, 12, 31), DATE, "yyyy-mm-dd"), "2023-12-31"),
        ("date", "2023-12", ("2023-12", TEXT, "General"), "2023-12"),
        ("date", "1815-06-18", ("1815-06-18", TEXT, "General"), "1815-06-18"),
        ("yes_no", True, (True, BOOLEAN, "General"), "TRUE"),
        ("yes_no", False, (False, BOOLEAN, "General"), "FALSE"),
        ("text", "=1+1", ("=1+1", TEXT, "General"), "'=1+1"),
        ("text", "@sum(A1)", ("@sum(A1)", TEXT, "General"), "'@sum(A1)"),
        ("period", "P3Y", ("3 years", TEXT, "General"), "P3Y"),
    ],
)
def test_a_value_is_what_spreadsheets_know_as_such(
    kind: str, value: FieldValue, cell: tuple[object, str, str], plain: str
) -> None:
    field = make_field(1, "Fact", type=kind)
    filled = make_matrix([NORTH], [field], make_cell(NORTH, field, value))
    read = workbook_of(filled)["Matrix"]["B2"]
    assert (day_of(read.value), read.data_type, read.number_format) == cell
    assert csv_rows(filled)[1] == ["north.pdf", plain, ""]


def test_the_unit_stands_in_the_head_unless_values_have_different_ones() -> None:
    paid, margin = make_field(2, "Paid", type="money"), make_field(3, "Margin", type="percentage")
    cells = [
        *(make_cell(document, SALES, 8.0, "million USD") for document in (NORTH, SOUTH)),
        *(make_cell(NORTH, paid, 5.0, "EUR"), make_cell(SOUTH, paid, 6.0, "USD")),
        *(make_cell(NORTH, margin, 5.5, "%"), make_cell(SOUTH, margin, state="not_stated")),
    ]
    filled = make_matrix([NORTH, SOUTH], [SALES, paid, margin], *cells)
    heads = ["Document", "Net sales (million USD)", "Paid", "Paid: unit", "Margin (%)"]
    assert [cell.value for cell in workbook_of(filled)["Matrix"][1]] == heads
    assert [cell.value for cell in workbook_of(filled)["Matrix"][3]] == ["=south.pdf", 8, 6, "USD", None]
    assert csv_rows(filled) == [
        [*heads, "To be reviewed"],
        ["north.pdf", "8", "5", "EUR", "5.5", ""],
        ["'=south.pdf", "8", "6", "USD", "", ""],
    ]
    empty = make_matrix([NORTH], [SALES])
    assert csv_rows(empty) == [["Document", "Net sales (million USD)", "To be reviewed"], ["north.pdf", "", ""]]


def test_what_a_person_decided_counts() -> None:
    names = ("corrected", "rejected", "accepted")
    fields = [make_field(number, name, type="number") for number, name in enumerate(names)]
    filled = make_matrix(
        [NORTH],
        fields,
        make_cell(NORTH, fields[0], 4.0, review=reviewed("corrected", NORTH, 5.0, words="five", reviewer="=Wanda")),
        make_cell(NORTH, fields[1], 4.0, review=reviewed("rejected", NORTH, reviewed_by="bob")),
        make_cell(NORTH, fields[2], 4.0, confidence=0.1, review=reviewed("accepted", NORTH)),
    )
    sheet = workbook_of(filled)["Matrix"]
    assert [cell.value for cell in sheet[2]] == ["north.pdf", 5, None, 4]
    assert [cell.comment and cell.comment.text for cell in sheet[2]] == [
        None,
        "corrected by hand\nWas found: 4",
        "rejected\nWas found: 4",
        None,
    ]
    assert csv_rows(filled)[1] == ["north.pdf", "5", "", "4", ""]
    row = json.loads(export.MATRIX_WRITERS["json"](filled, str, "en"))["rows"][0]
    told = {name: (cell["value"], cell["state"], cell["review"]) for name, cell in row["fields"].items()}
    assert told == {
        "corrected": (5.0, "found", "corrected"),
        "rejected": (None, "rejected", "rejected"),
        "accepted": (4.0, "found", "accepted"),
    }
    assert row["fields"]["corrected"]["found"]["value"] == row["fields"]["rejected"]["found"]["value"] == 4.0
    assert row["fields"]["accepted"]["found"] is None
    evidence = [[cell.value for cell in row] for row in workbook_of(filled)["Evidence"]]
    assert [(row[1], row[2], row[5], row[7], row[8]) for row in evidence[1:]] == [
        ("corrected", 5, "corrected by hand", "corrected by hand", "=Wanda"),
        ("corrected", 4, "found", "corrected by hand", "=Wanda"),
        ("rejected", 4, "found", "rejected", "bob"),
        ("accepted", 4, "found", "accepted", None),
    ]


def test_a_decision_about_a_value_that_was_read_again_is_told_as_such() -> None:
    fields = [make_field(number, name, type="number") for number, name in enumerate(("rejected", "accepted"))]
    before = {"reviewed_at": NOW - dt.timedelta(days=1)}
    reviews = [reviewed(state, NORTH).model_copy(update=before) for state in ("rejected", "accepted")]
    cells = [make_cell(NORTH, field, 4.0, review=one) for field, one in zip(fields, reviews, strict=True)]
    filled = make_matrix([NORTH], fields, *cells)
    assert csv_rows(filled)[1] == ["north.pdf", "4", "4", "rejected; accepted"]
    workbook = workbook_of(filled)
    told = workbook["Matrix"]["B2"].comment.text
    assert told == "rejected, but read again since\nTo be reviewed (95%)"
    reviews_told = [row[7].value for row in workbook["Evidence"].iter_rows(min_row=2)]
    assert reviews_told == ["rejected, but read again since", "accepted, but read again since"]
    row = json.loads(export.MATRIX_WRITERS["json"](filled, str, "en"))["rows"][0]["fields"]["rejected"]
    assert (row["value"], row["state"], row["found"], row["needsReview"]) == (4.0, "found", None, True)


def test_colours_and_notes_tell_what_to_look_at() -> None:
    fields = [make_field(number, f"field {number}", type="number") for number in range(8)]
    other = make_cell(NORTH, fields[0], 7.0, words="seven").cell
    cells = [
        make_cell(NORTH, fields[0], 4.0),
        make_cell(NORTH, fields[1], state="not_stated"),
        make_cell(NORTH, fields[2], state="failed", reason="No reply.", confidence=None),
        make_cell(NORTH, fields[3], 4.0, state="conflict", alternatives=(other,)),
        make_cell(NORTH, fields[4], 4.0, confidence=0.4),
        make_cell(NORTH, fields[5], 4.0, conflict="Differs from the others"),
        make_cell(
            NORTH, fields[6], 4.0, review=reviewed("corrected", NORTH, 5.0, reviewed_at=NOW - dt.timedelta(hours=1))
        ),
    ]
    row = workbook_of(make_matrix([NORTH], fields, *cells))["Matrix"][2]
    assert [(cell.value, cell.fill.fgColor.rgb[2:], cell.comment and cell.comment.text) for cell in row[1:]] == [
        (4, "000000", None),
        (None, "EDEDED", "Not stated on the pages read: 1–3, 7"),
        (None, "FFC7CE", "failed: No reply.\nTo be reviewed"),
        (4, "F8CBAD", "The document also states: 7\nTo be reviewed (95%)"),
        (4, "FFEB9C", "To be reviewed (40%)"),
        (4, "F8CBAD", "Differs from the others\nTo be reviewed (95%)"),
        (5, "FFEB9C", "corrected by hand, but read again since\nWas found: 4\nTo be reviewed (95%)"),
        (None, "000000", None),  # not filled yet
    ]


def test_each_value_links_to_its_evidence() -> None:
    sales = make_field(1, "It's net [sales]", type="money")
    found = make_cell(SOUTH, sales, 8436.0, "million USD", quotes=["Net sales 8,436", "in millions"], words="$ 8,436")
    filled = make_matrix([NORTH, SOUTH], [sales], make_cell(NORTH, sales, state="not_stated"), found)
    workbook = workbook_of(filled)
    link = workbook["Matrix"]["B3"].hyperlink
    assert (link.location, link.tooltip, link.target) == ("'Evidence'!A3", "=south.pdf, p. iii", None)
    rows = [[cell.value for cell in row] for row in workbook["Evidence"].iter_rows(min_row=2)]
    common = ["=south.pdf", sales.name, 8436, "million USD", "$ 8,436", "found", 0.95, None, None, None]
    assert rows == [
        ["north.pdf", sales.name, None, None, "None", "not stated", 0.95, *[None] * 7, "1–3, 7", 1, "sha-1"],
        [*common, "Net sales 8,436", 3, "iii", None, "1–3, 7", 1, "sha-2"],
        [*common, "in millions", 3, "iii", None, "1–3, 7", 1, "sha-2"],
    ]
    assert workbook["Evidence"]["G2"].number_format == "0%"


def test_a_list_of_records_has_a_sheet_of_its_own() -> None:
    columns = [{"name": "name"}, {"name": "paid", "type": "money", "unit": "EUR"}, {"name": "since", "type": "date"}]
    officers = make_field(1, "Who: officers/directors [all of them, by year]?", type="records", columns=columns)
    evidence = make_field(2, "evidence", type="records", columns=columns)
    filled = make_matrix(
        [NORTH, SOUTH],
        [officers, evidence],
        make_cell(NORTH, officers, OFFICERS),
        make_cell(SOUTH, officers, state="not_stated"),
        make_cell(SOUTH, evidence, OFFICERS[:1]),
    )
    workbook = workbook_of(filled)
    assert workbook.sheetnames == ["Matrix", "Evidence", "Who officers directors all of t", "evidence 2"]
    sheet = workbook[workbook.sheetnames[2]]
    assert [[day_of(cell.value) for cell in row] for row in sheet] == [
        ["Document", "name", "paid (EUR)", "since", "Page"],
        ["north.pdf", "Ann Lee", 1250.5, dt.date(2019, 4, 1), "3"],
        ["north.pdf", "=Bo()", None, "2020", "3"],
    ]
    assert sheet["B3"].data_type == "s"
    assert workbook["Matrix"]["B2"].value == "Ann Lee; 1,250.5 EUR; 1 April 2019\n=Bo(); 2020"
    assert csv_rows(filled)[1][1].startswith("Ann Lee; 1,250.5 EUR")
    records = json.loads(export.MATRIX_WRITERS["json"](filled, str, "en"))["rows"][0]["fields"][officers.name]["value"]
    assert records == [*OFFICERS]


def test_nothing_becomes_a_formula_whatever_it_is_called() -> None:
    hostile = '=HYPERLINK("http://evil","x")\x0b+cmd|\' /C calc\'!A0'
    document = make_document(hostile)
    field = make_field(1, "@x", type="text", unit="+1")
    lists = make_field(2, "=1+1", type="records", columns=[{"name": "-2", "unit": "=3"}])
    cells = [
        make_cell(
            document,
            field,
            hostile,
            hostile,
            words=hostile,
            quotes=[hostile],
            review=reviewed("corrected", document, hostile, words=hostile),
            conflict=hostile,
        ),
        make_cell(document, lists, ({"-2": hostile},)),
    ]
    filled = make_matrix([document], [field, lists], *cells)
    workbook = workbook_of(filled)
    types_of_cells = {cell.data_type for sheet in workbook for row in sheet for cell in row}
    assert types_of_cells <= {"s", "n"}
    links = [cell.hyperlink for sheet in workbook for row in sheet for cell in row if cell.hyperlink]
    assert {link.target for link in links} == {None}
    assert workbook.sheetnames[2] == "=1+1"
    assert all(not text.startswith(("=", "+", "-", "@")) for row in csv_rows(filled) for text in row)


def test_json_has_the_boxes_and_what_was_asked() -> None:
    filled = make_matrix([NORTH], [SALES], make_cell(NORTH, SALES, 8436.0, "million USD", words="$ 8,436"))
    told = json.loads(export.MATRIX_WRITERS["json"](filled, str, "en"))
    assert told["fields"][0]["name"] == "Net sales"
    (row,) = told["rows"]
    assert (row["documentId"], row["name"], row["version"]) == (str(NORTH.id), "north.pdf", 1)
    sales = row["fields"]["Net sales"]
    assert (sales["value"], sales["unit"], sales["state"], sales["confidence"]) == (
        8436.0,
        "million USD",
        "found",
        0.95,
    )
    assert sales["citations"][0]["regions"][0]["rects"] == [[72, 72, 200, 90]]
    assert (sales["words"], sales["review"], sales["needsReview"]) == ("$ 8,436", None, False)
