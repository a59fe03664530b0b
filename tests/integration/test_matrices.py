"""A matrix: fields read from documents by a worker, reviewed by people; changed documents are read again."""

import csv
import datetime as dt
import io
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import openpyxl
import pytest
from llama_index.core.llms.mock import MockLLM

from rag import errors, worker
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import (
    CellReview,
    CellValue,
    FieldDefinition,
    FieldValue,
    FilledMatrix,
    Matrix,
    MatrixCell,
    SavedCell,
    ShareRequest,
    ShownCell,
)
from tests import pdfs

SHIPS = "How many ships did the harbour handle in 2019?"
DREDGED = "Was the harbour dredged in 2019?"
NUMBER = {"name": "Ships", "instruction": SHIPS, "type": "number"}
WHETHER = {"name": "Dredged", "instruction": DREDGED, "type": "yes_no"}
PRICE = "What does the xylophone quasar cost?"
FIELDS = [NUMBER, WHETHER, PRICE]
NORTH = ["The harbour handled 4,812 ships in 2019.", "The harbour was dredged in 2019."]
SOUTH = ["The harbour handled 977 ships in 2019.", "The harbour was not dredged in 2019."]
NOW = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
LATER = ["The harbour handled 5,103 ships in 2019.", "The harbour was dredged in 2019."]


def pages_of(texts: Sequence[str]) -> bytes:
    return pdfs.pages(len(texts), line=lambda number: texts[number - 1], others=())


def add(
    engine: RAGEngine, texts: Sequence[str], name: str, *, replaces: uuid.UUID | None = None, index: str = "default"
) -> uuid.UUID:
    added = engine.documents.add(pages_of(texts), name, replaces=replaces, enqueue=False, index_name=index)
    assert engine.documents.process(added.id).status == "ready"
    return added.id


@pytest.fixture
def ids(engine: RAGEngine) -> list[uuid.UUID]:
    return [add(engine, NORTH, "north.pdf"), add(engine, SOUTH, "=south.pdf")]


def create(engine: RAGEngine, ids: Sequence[uuid.UUID], fields: Sequence[object] = FIELDS, **values: Any) -> Matrix:
    return engine.matrices.create({"name": "Harbours", "documentIds": ids, "fields": fields, **values})


def refill(engine: RAGEngine, matrix_id: uuid.UUID) -> FilledMatrix:
    worker.run(engine.installation, wait=False)
    return engine.matrices.get(matrix_id)


def filled(engine: RAGEngine, ids: Sequence[uuid.UUID], fields: Sequence[object] = FIELDS) -> FilledMatrix:
    return refill(engine, create(engine, ids, fields).id)


def at(found: FilledMatrix, row: int, column: int) -> ShownCell:
    cell = found.at(found.documents[row], found.matrix.fields[column])
    assert cell is not None
    return cell


def place(found: FilledMatrix, row: int, column: int) -> tuple[uuid.UUID, uuid.UUID, uuid.UUID]:
    cell = at(found, row, column).cell
    return found.matrix.id, cell.lineage_id, cell.field_id


def review(engine: RAGEngine, found: FilledMatrix, row: int, column: int, state: str, **values: Any) -> SavedCell:
    request = {"state": state, "value": None, "seen_at": None, **values}
    return engine.matrices.review(*place(found, row, column), request)


def as_asked(fields: Sequence[FieldDefinition], **changes: Mapping[str, object]) -> list[dict[str, object]]:
    """The fields with their ids, and changes by name."""
    return [{**field.model_dump(mode="json"), **changes.get(field.name, {})} for field in fields]


# --- values ---


def test_each_field_is_read_from_each_document(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids)
    assert [document.id for document in found.documents] == ids
    assert found.job is not None
    assert (found.job.status, found.job.kind, found.to_fill) == ("done", "matrix", 0)
    assert found.job.result is not None
    counts = {"found": 4, "notStated": 2, "conflict": 0, "failed": 0, "waiting": 0}
    assert counts.items() <= found.job.result.items()
    assert (found.job.progress.done, found.job.progress.total) == (6, 6)
    ships = at(found, 1, 0).cell
    assert (ships.state, ships.value, ships.words) == ("found", 977.0, "977")
    assert ships.confidence is not None
    assert (ships.document_id, ships.version) == (ids[1], 1)
    (citation,) = ships.citations
    assert (citation.quote, citation.page_number) == (SOUTH[0], 1)
    assert citation.regions[0].rects
    assert [at(found, row, 1).cell.value for row in (0, 1)] == [True, False]
    assert [at(found, row, 2).cell.state for row in (0, 1)] == ["not_stated", "not_stated"]
    assert at(found, 0, 0).conflict is at(found, 1, 0).conflict is None  # of two harbours both may be right
    assert at(found, 0, 1).conflict == "Says yes, others say otherwise"
    assert at(found, 1, 1).conflict == "Says no, others say otherwise"


CONTRACT = [
    "This agreement begins on 1 March 2021 and is governed by the law of Norway.",
    "The monthly rent is $12,500. The deposit bears interest of 2.5 percent.",
    "The tenant may not assign this agreement.",
]


@pytest.mark.parametrize(
    ("field", "value", "unit"),
    [
        ({"name": "begin", "instruction": "When does this agreement begin?", "type": "date"}, "2021-03-01", None),
        ({"name": "rent", "instruction": "What is the monthly rent?", "type": "money"}, 12_500.0, "USD"),
        (
            {"name": "rent", "instruction": "What is the monthly rent?", "type": "money", "unit": "thousand USD"},
            12.5,
            "thousand USD",
        ),
        ({"name": "interest", "instruction": "What interest bears the deposit?", "type": "percentage"}, 2.5, "%"),
        ({"name": "free", "instruction": "May the tenant assign this agreement?", "type": "yes_no"}, False, None),
        (
            {
                "name": "law",
                "instruction": "Which law governs this agreement?",
                "type": "choice",
                "choices": ["Sweden", "Norway"],
            },
            "Norway",
            None,
        ),
    ],
    ids=["date", "money", "unit", "percentage", "yes_no", "choice"],
)
def test_a_value_is_of_the_fields_type(
    engine: RAGEngine, field: Mapping[str, object], value: FieldValue, unit: str | None
) -> None:
    cell = at(filled(engine, [add(engine, CONTRACT, "lease.pdf")], [field]), 0, 0).cell
    assert (cell.state, cell.value, cell.unit) == ("found", value, unit)
    assert cell.citations[0].regions


def test_lists_of_records_need_a_language_model(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [{"name": "Officers", "type": "records", "columns": [{"name": "name"}]}])
    cell = at(found, 0, 0).cell
    assert cell.state == "failed"
    assert "language model" in str(cell.reason)
    assert (found.to_fill, found.need_model) == (0, 1)  # filled again it would fail again
    with RAGEngine(engine.installation.config, user_id="ada", llm=MockLLM()) as connected:
        now = connected.matrices.progress(found.matrix.id)
    assert (now.to_fill, now.need_model) == (1, 0)


EARNED = "What was the net income in the latest fiscal year?"
MADE = [
    "Net income per share was $2.10 in 2021, and net income per diluted share was $2.05.",
    "Net income increased by $15 million, or 33%, in 2021.",
]


def earned(engine: RAGEngine, name: str, *sentences: str) -> ShownCell:
    content = pdfs.pages(1, line=lambda _: "Results of the year", others=sentences)
    added = engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
    return at(filled(engine, [added.id], [EARNED]), 0, 0)


def test_a_cell_gives_the_figure_that_is_asked_for_and_no_other(engine: RAGEngine) -> None:
    """Neither what a share earns nor how much more it is, though these are cited and nearer to the words."""
    cell = earned(engine, "told.pdf", *MADE, "Net income was $60 million in 2021.").cell
    assert (cell.state, cell.verdict) == ("found", "quoted")
    assert cell.value == cell.words == cell.citations[0].quote == "Net income was $60 million in 2021."
    assert earned(engine, "untold.pdf", *MADE).cell.state == "not_stated"


def test_a_cell_of_a_statement_is_its_row(engine: RAGEngine) -> None:
    report = engine.documents.add(pdfs.annual_report("Northmoor Ferries"), "northmoor.pdf", enqueue=False)
    amount = {"name": "Assets", "instruction": "What were the total assets?", "type": "money"}
    asked = [EARNED, "What were the total assets?", amount]
    found = filled(engine, [engine.documents.process(report.id).id], asked)
    assert [at(found, 0, number).cell.words for number in (0, 1)] == [
        "Net income, 2021: 540 (in thousands of crowns)",
        "Total assets, 2021: 4,000 (in thousands of crowns)",
    ]
    assert at(found, 0, 2).cell.value == 4_000_000.0
    assert [at(found, 0, number).cell.verdict for number in (0, 1)] == ["quoted", "quoted"]
    assert all(cell.cell.citations[0].regions for cell in found.cells)


def test_the_own_statement_is_read_though_other_pages_say_more_of_it(engine: RAGEngine) -> None:
    """What affiliates earn is told on more pages than are searched for, in the question's own words."""
    own = [("Fares", "5,200", "4,800"), ("Gross profit", "2,080", "1,800"), ("Net income", "540", "410")]
    report = pdfs.with_affiliates(pdfs.annual_report("Northmoor Ferries", income=own), 6)
    added = engine.documents.add(report, "affiliates.pdf", enqueue=False)
    cell = at(filled(engine, [engine.documents.process(added.id).id], [EARNED]), 0, 0).cell
    assert (cell.words, cell.verdict) == ("Net income, 2021: 540 (in thousands of crowns)", "quoted")


def test_what_may_not_be_what_was_asked_for_is_not_called_proved(engine: RAGEngine) -> None:
    shown = earned(engine, "segment.pdf", "Net income of the ferry segment was $9 million in 2021.")
    assert (shown.cell.state, shown.cell.verdict) == ("found", "not_verified")
    assert "$9 million" in shown.cell.words
    assert shown.needs_review


def test_values_that_should_agree_are_marked_where_they_do_not(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids, [{**NUMBER, "shouldAgree": True}])
    assert at(found, 0, 0).conflict == at(found, 1, 0).conflict == "Differs from the others"
    review(engine, found, 1, 0, "corrected", value=4812)
    assert [at(engine.matrices.get(found.matrix.id), row, 0).conflict for row in (0, 1)] == [None, None]


def test_how_far_documents_are_is_counted_as_their_cells_tell(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """The database counts without loading cells, so that a matrix of 500 documents opens; both must mean the same."""
    states = ["found", "not_stated", "conflict", "failed"]
    names = [f"{state} {share}" for state in states for share in (0.9, 0.3, None)]
    fields = [{"name": name, "type": "number", "required": "0.9" in name} for name in names]
    agreeing = [{"name": name, "type": "number", "shouldAgree": True} for name in ("same", "other", "settled")]
    matrix = create(engine, ids, [*fields, *agreeing, NUMBER, {"name": "recovered"}, {"name": "empty"}])
    engine.matrices.cancel(matrix.id)
    later = add(engine, LATER, "north.pdf", replaces=ids[0])  # for the first document to have had another value

    def fill(document_id: uuid.UUID, *, after: int) -> None:
        document, values = engine.documents.get(document_id), []
        for field in matrix.fields[:-1]:
            state, _, share = field.name.partition(" ") if " " in field.name else ("found", "", "0.9")
            state = "failed" if field.name == "recovered" and not after else state
            value = {"other": document.version + float(document_id == ids[1]) * 5, "Ships": document.version}
            found = {"state": state, "value": value.get(field.name, 1.0), "words": str(value.get(field.name, 1.0))}
            place = {"lineage_id": document.lineage_id, "field_id": field.id, "document_id": document.id}
            times = {"filled_at": NOW + dt.timedelta(days=after), "version": document.version}
            confidence = None if share == "None" else float(share)
            cell = {**found, **place, **times, "sha256": document.sha256, "confidence": confidence}
            values.append((field, MatrixCell.model_validate(cell)))
        assert len(engine.store.matrices.put(matrix.id, values)) == len(values)

    def decide(*, after: int) -> None:
        for row, document in enumerate(engine.matrices.get(matrix.id).documents):
            for number, field in enumerate(matrix.fields[:-3]):
                state = [None, "accepted", "corrected", "rejected"][(row + number) % 4]
                value = {"value": 9.0, "words": "9"} if state == "corrected" else {}
                assert document.lineage_id
                assert field.id
                if state:
                    made = {"reviewed_at": NOW + dt.timedelta(days=after), "sha256": document.sha256}
                    decision = CellReview.model_validate({**value, **made, "state": state})
                    engine.store.matrices.review(matrix.id, document.lineage_id, field.id, decision, seen_at=None)

    def check() -> FilledMatrix:
        found = engine.matrices.get(matrix.id)
        assert engine.matrices.progress(matrix.id).rows == found.rows
        for document, row in zip(found.documents, found.rows, strict=True):
            cells = [cell for field in matrix.fields if (cell := found.at(document, field))]
            is_current = [not cell.is_stale and cell.cell.state != "failed" for cell in cells]
            has_value = [cell.shown is not None for cell in cells]
            to_review = {cell.cell.field_id for cell in cells if cell.needs_review}
            counted = (row.filled, row.up_to_date, row.found, {*row.to_review})
            assert counted == (len(cells), sum(is_current), sum(has_value), to_review)
        return found

    check()
    fill(ids[0], after=0)
    fill(ids[1], after=0)
    assert check().to_fill == 2 * len(matrix.fields) - sum(row.up_to_date for row in check().rows)
    decide(after=1)
    assert {len(row.to_review) for row in check().rows} != {0}
    fill(later, after=2)
    changed = check()
    assert {message.partition(" (")[0] for message in changed.conflicts.values()} == {
        "Before it changed",
        "Differs from the others",
    }
    assert matrix.fields[-2].id not in {field_id for _, field_id in changed.conflicts}  # it could not be read before
    outdated = as_asked(changed.matrix.fields, **{"found 0.9": {"instruction": "Another"}})
    engine.matrices.edit(matrix.id, {"fields": outdated})
    assert check().to_fill > changed.to_fill


# --- changes ---


def test_a_changed_document_is_read_again_by_itself_and_says_what_it_said_before(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    before = filled(engine, ids)
    assert before.job is not None
    add(engine, LATER, "north.pdf", replaces=ids[0])
    stale = engine.matrices.get(before.matrix.id)
    assert [document.version for document in stale.documents] == [2, 1]
    assert [at(stale, row, 0).is_stale for row in (0, 1)] == [True, False]
    assert stale.to_fill == 3
    assert stale.job is not None
    assert (stale.job.id != before.job.id, stale.job.status) == (True, "queued")
    after = refill(engine, before.matrix.id)
    assert after.to_fill == 0
    ships = at(after, 0, 0)
    assert (ships.cell.value, ships.is_stale, ships.cell.version) == (5103.0, False, 2)
    assert ships.conflict is not None
    assert ships.conflict.startswith("Before it changed (version 1): ")
    assert "4,812" in ships.conflict
    assert at(after, 0, 2).conflict is None
    assert at(after, 1, 0).cell.filled_at == at(before, 1, 0).cell.filled_at


def test_a_document_is_filled_when_it_has_been_read_but_not_after_cancelling(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    late = engine.documents.add(pages_of(LATER), "late.pdf")
    matrix, ended = (create(engine, [*ids, late.id]) for _ in range(2))
    for one in (matrix, ended):
        assert one.job_id is not None
        engine.jobs.run(one.job_id)
    assert engine.matrices.get(matrix.id).job.result["waiting"] == 1  # type: ignore[union-attr, index]
    engine.matrices.fill(ended.id)
    engine.matrices.cancel(ended.id)
    found = refill(engine, matrix.id)
    assert (len(found.cells), found.to_fill) == (9, 0)
    assert at(found, 2, 0).cell.value == 5103.0
    assert engine.matrices.get(ended.id).to_fill == 3


def test_an_edited_matrix_keeps_the_values_of_what_stays(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """A field is known by its id, without one by its name."""
    before = filled(engine, ids, [NUMBER, WHETHER])
    ships = before.matrix.fields[0]
    late = add(engine, LATER, "late.pdf")
    renamed = {**ships.model_dump(mode="json"), "name": "Vessels", "should_agree": True}
    change = {"name": "Ports", "documentIds": [late, ids[0]], "fields": [PRICE, renamed, WHETHER]}
    edited = engine.matrices.edit(before.matrix.id, change)
    assert (edited.name, [field.name for field in edited.fields]) == ("Ports", [PRICE, "Vessels", "Dredged"])
    assert [field.id for field in edited.fields[1:]] == [field.id for field in before.matrix.fields]
    now = engine.matrices.get(before.matrix.id)
    assert [document.id for document in now.documents] == [late, ids[0]]
    kept = {edited.fields[1].id, edited.fields[2].id}
    assert {cell.cell.field_id for cell in now.cells} == kept
    assert {cell.cell.document_id for cell in now.cells} == {ids[0]}
    after = refill(engine, before.matrix.id)
    assert (len(after.cells), after.to_fill) == (6, 0)
    assert at(after, 1, 2).cell.filled_at == at(before, 0, 1).cell.filled_at
    assert at(after, 0, 1).conflict == "Differs from the others"
    assert engine.matrices.edit(after.matrix.id, {"name": "Harbours"}).job_id == after.matrix.job_id


def test_only_fields_that_mean_something_else_are_filled_again(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    before = filled(engine, ids, [NUMBER, WHETHER])
    fields = as_asked(
        before.matrix.fields,
        Ships={"instruction": "How many ships did the harbour handle?"},
        Dredged={"required": True, "should_agree": True},
    )
    engine.matrices.edit(before.matrix.id, {"fields": fields})
    stale = engine.matrices.get(before.matrix.id)
    assert [[at(stale, row, column).is_stale for column in (0, 1)] for row in (0, 1)] == [[True, False]] * 2
    assert stale.to_fill == 2
    after = refill(engine, before.matrix.id)
    assert after.to_fill == 0
    times = [[at(one, row, column).cell.filled_at for row in (0, 1)] for column in (0, 1) for one in (before, after)]
    assert times[2] == times[3]
    assert all(new > old for old, new in zip(*times[:2], strict=True))


def test_a_cancelled_job_starts_again_only_if_more_is_to_be_read(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    matrix = create(engine, ids[:1], [NUMBER, WHETHER])
    engine.matrices.cancel(matrix.id)
    fields = [field.model_dump(mode="json") for field in matrix.fields]
    edits: list[dict[str, Any]] = [
        {},
        {"fields": fields, "documentIds": ids[:1]},
        {"fields": fields[::-1]},
        {"fields": as_asked(matrix.fields, Dredged={"required": True})},
        {"name": "Ports"},
    ]
    for edit in edits:
        assert engine.matrices.edit(matrix.id, edit).job_id == matrix.job_id
    assert engine.matrices.edit(matrix.id, {"documentIds": ids}).job_id != matrix.job_id
    cancelled = engine.matrices.cancel(matrix.id)
    assert cancelled
    assert engine.matrices.edit(matrix.id, {"documentIds": ids[::-1]}).job_id == cancelled.id
    assert engine.matrices.edit(matrix.id, {"documentIds": ids[:1]}).job_id == cancelled.id
    cancelled = engine.matrices.cancel(matrix.id)
    assert cancelled
    assert engine.matrices.edit(matrix.id, {"fields": [*fields, PRICE]}).job_id != cancelled.id
    cancelled = engine.matrices.cancel(matrix.id)
    assert cancelled
    changed = as_asked(matrix.fields, Ships={"instruction": "How many ships did the harbour handle?"})
    assert engine.matrices.edit(matrix.id, {"fields": changed}).job_id != cancelled.id


def test_an_edit_of_what_somebody_else_edited_since_is_refused(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    matrix = create(engine, ids[:1], [NUMBER], follows={"indexName": "default"})
    engine.matrices.edit(matrix.id, {"fields": [NUMBER, WHETHER]})
    with pytest.raises(errors.ConflictError):
        engine.matrices.edit(matrix.id, {"fields": [NUMBER, PRICE], "seenAt": matrix.edited_at})
    seen = engine.store.matrices.get(matrix.id)
    assert [field.name for field in seen.fields] == ["Ships", "Dredged"]
    late = engine.documents.add(pages_of(LATER), "late.pdf")
    assert len(refill(engine, matrix.id).documents) == 2  # which is no edit
    edited = engine.matrices.edit(matrix.id, {"name": "Ports", "seenAt": seen.edited_at})
    assert (edited.name, edited.lineage_ids[1:]) == ("Ports", (engine.documents.get(late.id).lineage_id,))


def test_what_is_edited_while_it_is_filled_is_filled_too(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """The job that is at it knows the old fields only: no value of its gets below another's heading."""
    matrix = create(engine, ids, [NUMBER, WHETHER])
    assert matrix.job_id is not None

    def edited() -> None:
        fields = engine.matrices.get(matrix.id).matrix.fields
        if fields[0].instruction == SHIPS:
            changed = as_asked(fields, Ships={"name": "Cost", "instruction": PRICE})
            engine.matrices.edit(matrix.id, {"fields": changed})

    engine.jobs.run_locked(matrix.job_id, edited)
    found = refill(engine, matrix.id)
    assert (len(found.cells), found.to_fill) == (4, 0)
    assert [at(found, row, 0).cell.state for row in (0, 1)] == ["not_stated", "not_stated"]
    assert [at(found, row, 1).cell.value for row in (0, 1)] == [True, False]


def test_a_pilot_fills_the_first_documents_and_the_rest_when_asked(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    late = add(engine, LATER, "late.pdf")
    pilot = refill(engine, create(engine, [*ids, late], [NUMBER], pilot=2).id)
    assert (pilot.matrix.pilot, pilot.to_fill, len(pilot.documents)) == (2, 0, 3)
    assert {cell.cell.document_id for cell in pilot.cells} == {*ids}
    again = engine.matrices.edit(pilot.matrix.id, {"fields": [NUMBER, WHETHER]})
    assert len(refill(engine, again.id).cells) == 4
    assert {cell.cell.document_id for cell in engine.matrices.get(again.id).cells} == {*ids}
    engine.matrices.fill(again.id, {"pilot": 1})
    assert engine.matrices.get(again.id).matrix.pilot == 1
    engine.matrices.fill(again.id)  # says nothing of the pilot
    assert engine.matrices.get(again.id).matrix.pilot == 1
    engine.matrices.fill(again.id, {"pilot": None})
    after = refill(engine, again.id)
    assert (after.matrix.pilot, after.to_fill, len(after.cells)) == (None, 0, 6)
    assert at(after, 2, 0).cell.value == 5103.0
    assert at(after, 0, 0).cell.filled_at == at(pilot, 0, 0).cell.filled_at
    engine.documents.trash(ids[:1])  # the next document does not take its place
    engine.matrices.edit(again.id, {"fields": [NUMBER, WHETHER, PRICE]})
    engine.matrices.fill(again.id, {"pilot": 2})
    after = refill(engine, again.id)
    assert ([row.filled for _, row in after.pilot_rows], [row.filled for row in after.rows]) == ([3], [3, 2])
    assert after.to_fill == 0


# --- following ---


def test_new_documents_of_a_collection_with_its_tags_join(engine: RAGEngine) -> None:
    engine.indexes.ensure("ports")
    follows = {"indexName": "ports", "tags": ["checked", "2019"]}
    matrix = create(engine, [], [NUMBER], follows=follows)
    bob = engine.installation.for_user("bob")
    bob.indexes.ensure("ports")

    def arrive(of: RAGEngine, name: str, *tags: str, index: str = "ports") -> uuid.UUID:
        added = of.documents.add(pages_of([f"{name} handled 300 ships.", *LATER]), f"{name}.pdf", index_name=index)
        of.documents.edit(added.id, {"tags": tags})
        return added.id

    joined = arrive(engine, "joined", "2019", "checked", "more")
    untagged = arrive(engine, "untagged")
    partly = arrive(engine, "partly", "2019")
    arrive(engine, "elsewhere", "2019", "checked", index="default")
    arrive(bob, "theirs", "2019", "checked")
    found = refill(engine, matrix.id)
    assert [document.id for document in found.documents] == [joined]
    assert found.to_fill == 0
    assert at(found, 0, 0).cell.document_id == joined
    engine.documents.tag([untagged], add=["2019", "Checked"])
    engine.documents.edit(partly, {"tags": ["2019", "checked"]})
    found = refill(engine, matrix.id)
    assert [document.id for document in found.documents] == [joined, untagged, partly]
    assert found.to_fill == 0
    engine.matrices.edit(matrix.id, {"follows": None})
    arrive(engine, "late", "2019", "checked")
    assert len(refill(engine, matrix.id).documents) == 3


def test_a_new_version_joins_once(engine: RAGEngine) -> None:
    matrix = create(engine, [], [NUMBER], follows={"indexName": "default"})
    first = engine.documents.add(pages_of(NORTH), "north.pdf")
    refill(engine, matrix.id)
    second = engine.documents.add(pages_of(LATER), "north.pdf", replaces=first.id)
    found = refill(engine, matrix.id)
    assert [document.id for document in found.documents] == [second.id]
    assert [cell.cell.value for cell in found.cells] == [5103.0]


# --- interruptions ---


def test_a_job_goes_on_with_the_cells_that_are_left(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """As after a kill: what was found is kept, and not asked again."""
    matrix = create(engine, ids)
    assert matrix.job_id is not None
    assert engine.matrices.fill(matrix.id).id == matrix.job_id  # one at a time
    steps = iter([None, None])

    def killed() -> None:
        if next(steps, "gone") == "gone":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.jobs.run_locked(matrix.job_id, killed)
    begun = engine.matrices.get(matrix.id)
    assert len(begun.cells) == 2
    asked = []
    assert engine.jobs.run_locked(matrix.job_id, lambda: asked.append(1)).status == "done"
    done = engine.matrices.get(matrix.id)
    assert len(done.cells) == 6
    assert len(asked) == 4
    kept = {(one.cell.lineage_id, one.cell.field_id): one.cell.filled_at for one in done.cells}
    assert [kept[one.cell.lineage_id, one.cell.field_id] for one in begun.cells] == [
        one.cell.filled_at for one in begun.cells
    ]


def test_a_cancelled_job_keeps_what_is_found(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    matrix = create(engine, ids)
    assert matrix.job_id is not None
    job_id, steps = matrix.job_id, iter([None, None])

    def cancelled() -> None:
        if next(steps, "now") == "now":
            engine.store.jobs.cancel(job_id)

    assert engine.jobs.run_locked(job_id, cancelled).status == "cancelled"
    found = engine.matrices.get(matrix.id)
    assert 2 <= len(found.cells) <= 3
    assert found.to_fill == 6 - len(found.cells)
    assert engine.matrices.fill(matrix.id).id != job_id


# --- reviews ---


def test_a_correction_outlives_refills_and_is_flagged_when_its_document_changes(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    found = filled(engine, ids, [NUMBER])
    saved = review(engine, found, 0, 0, "corrected", value="4,900", words="4,900")
    assert saved.review is not None
    assert (saved.review.state, saved.review.value) == ("corrected", 4900.0)
    corrected = at(engine.matrices.get(found.matrix.id), 0, 0)
    assert corrected.cell.value == 4812.0
    assert (corrected.shown.value if corrected.shown else None, corrected.needs_review) == (4900.0, False)

    fields = as_asked(found.matrix.fields, Ships={"instruction": "How many ships were handled in 2019?"})
    engine.matrices.edit(found.matrix.id, {"fields": fields})
    redefined = at(refill(engine, found.matrix.id), 0, 0)
    assert redefined.cell.filled_at > corrected.cell.filled_at
    assert (redefined.review, redefined.shown) == (corrected.review, corrected.review)

    add(engine, LATER, "north.pdf", replaces=ids[0])
    changed = at(refill(engine, found.matrix.id), 0, 0)
    assert (changed.cell.value, changed.review, changed.shown) == (5103.0, corrected.review, corrected.review)
    assert changed.needs_review  # the person saw another document


def test_a_rejection_stays_until_the_document_states_another_value(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [NUMBER])
    review(engine, found, 0, 0, "rejected")
    same = add(engine, [NORTH[0], "The harbour was dredged twice."], "north.pdf", replaces=ids[0])
    again = at(refill(engine, found.matrix.id), 0, 0)
    assert (again.cell.value, again.cell.version, again.is_stale) == (4812.0, 2, False)
    assert (again.is_reviewed, again.needs_review, again.shown) == (True, False, None)
    add(engine, LATER, "north.pdf", replaces=same)
    other = at(refill(engine, found.matrix.id), 0, 0)
    assert (other.shown and other.shown.value, other.needs_review) == (5103.0, True)


def test_a_decision_may_be_taken_back(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [NUMBER])
    rejected = review(engine, found, 0, 0, "rejected")
    assert rejected.review is not None
    assert at(engine.matrices.get(found.matrix.id), 0, 0).shown is None
    assert engine.matrices.get(found.matrix.id).reviewed_documents == 1
    back = engine.matrices.review(
        *place(found, 0, 0), {"state": None, "value": None, "seen_at": rejected.review.reviewed_at}
    )
    assert back.review is None
    assert at(engine.matrices.get(found.matrix.id), 0, 0).shown is not None


def test_two_people_do_not_undo_each_others_decisions(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [NUMBER])
    first = review(engine, found, 0, 0, "accepted")
    assert first.review is not None
    with pytest.raises(errors.ConflictError):
        review(engine, found, 0, 0, "rejected")  # of who has not seen the first
    with pytest.raises(errors.ConflictError):
        review(engine, found, 0, 0, "rejected", seen_at=first.review.reviewed_at - dt.timedelta(seconds=1))
    assert at(engine.matrices.get(found.matrix.id), 0, 0).review == first.review
    second = review(engine, found, 0, 0, "rejected", seen_at=first.review.reviewed_at)
    assert second.review is not None
    assert second.review.state == "rejected"


def test_a_review_is_of_the_value_that_was_seen(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [NUMBER])
    seen = at(found, 0, 0).cell
    add(engine, LATER, "north.pdf", replaces=ids[0])
    early = review(engine, found, 0, 0, "accepted", filled_at=seen.filled_at)
    assert early.review is not None
    assert early.review.sha256 == seen.sha256  # not of the new content, which nobody has seen
    later = at(refill(engine, found.matrix.id), 0, 0)
    assert later.needs_review
    with pytest.raises(errors.ConflictError):
        review(engine, found, 0, 0, "rejected", seen_at=early.review.reviewed_at, filled_at=seen.filled_at)
    again = review(engine, found, 0, 0, "rejected", seen_at=early.review.reviewed_at, filled_at=later.cell.filled_at)
    assert again.review is not None
    assert again.review.sha256 == later.cell.sha256


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (NUMBER, "many"),
        ({"name": "Law", "type": "choice", "choices": ["Norway", "Sweden"]}, "Denmark"),
        ({"name": "Begin", "type": "date"}, "some day"),
    ],
    ids=["number", "choice", "date"],
)
def test_a_correction_is_of_the_fields_type(
    engine: RAGEngine, ids: list[uuid.UUID], field: Mapping[str, object], value: str
) -> None:
    found = filled(engine, ids[:1], [field])
    with pytest.raises(errors.ValidationError):
        review(engine, found, 0, 0, "corrected", value=value)
    assert at(engine.matrices.get(found.matrix.id), 0, 0).review is None


def test_only_filled_cells_are_reviewed(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    matrix = create(engine, ids, [NUMBER])
    (field,), lineage = matrix.fields, matrix.lineage_ids[0]
    for lineage_id, field_id in ((lineage, field.id), (uuid.uuid4(), field.id), (lineage, uuid.uuid4())):
        assert field_id is not None
        with pytest.raises(errors.NotFoundError):
            engine.matrices.review(matrix.id, lineage_id, field_id, {"state": "accepted", "value": None})


# --- out ---


def test_an_exported_matrix_has_typed_values_and_no_formulas(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids, [*FIELDS, "=1+1 is what?"])
    review(engine, found, 1, 0, "corrected", value=978)
    workbook = openpyxl.load_workbook(io.BytesIO(engine.matrices.export(found.matrix.id, "xlsx")))
    table, evidence = workbook["Matrix"], workbook["Evidence"]
    assert [cell.value for cell in table[1]] == ["Document", "Ships", "Dredged", PRICE, "=1+1 is what?"]
    assert {cell.data_type for sheet in (table, evidence) for row in sheet for cell in row} <= {"s", "n", "b"}
    assert [[cell.value for cell in row] for row in table.iter_rows(min_row=2, max_col=4)] == [
        ["north.pdf", 4812, True, None],
        ["=south.pdf", 978, False, None],
    ]
    place = table["B2"].hyperlink.location.rpartition("!")[2]
    assert evidence[place].value == "north.pdf"
    assert NORTH[0] in [cell.value for cell in evidence[evidence[place].row]]
    rows = [*csv.reader(io.StringIO(engine.matrices.export(found.matrix.id, "csv").decode("utf-8-sig")))]
    assert (rows[0][4], rows[2][:3]) == ("'=1+1 is what?", ["'=south.pdf", "978", "FALSE"])


def test_a_marked_copy_has_each_quote_with_its_field_and_value(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids, [NUMBER, WHETHER])
    review(engine, found, 0, 1, "rejected")
    with zipfile.ZipFile(io.BytesIO(engine.matrices.export(found.matrix.id, "zip"))) as archive:
        assert archive.namelist() == ["north – marked.pdf", "=south – marked.pdf"]
        notes = {}
        for name in archive.namelist():
            with pymupdf.open(stream=archive.read(name)) as copy:
                notes[name] = [
                    (page.get_text().strip(), annotation.info["content"])
                    for page in copy
                    for annotation in page.annots()
                ]
    (north,) = notes["north – marked.pdf"]
    assert north[0] == NORTH[0]
    assert north[1].startswith("Ships: 4")
    assert [text for text, _ in notes["=south – marked.pdf"]] == SOUTH
    entries = [entry for entry in engine.store.audit.list() if entry.action == "export"]
    assert entries[0].subject_name == "Harbours"

    add(engine, LATER, "north.pdf", replaces=ids[0])  # what was quoted is no longer there
    with zipfile.ZipFile(io.BytesIO(engine.matrices.export(found.matrix.id, "zip"))) as archive:
        assert archive.namelist() == ["=south – marked.pdf"]
    with pytest.raises(errors.NotFoundError):
        engine.matrices.export(create(engine, ids[1:], [PRICE]).id, "zip")


# --- the end, and others ---


def test_a_deleted_matrix_takes_its_values_and_others_see_none(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [NUMBER])
    bob = engine.installation.for_user("bob")
    assert bob.store.matrices.list() == []
    engine.documents.trash(ids[:1])
    assert engine.matrices.get(found.matrix.id).documents == ()
    engine.documents.restore(ids[:1])
    assert [cell.cell.value for cell in engine.matrices.get(found.matrix.id).cells] == [4812.0]
    engine.documents.trash(ids[:1])
    engine.documents.purge(ids[:1])
    assert engine.matrices.get(found.matrix.id).cells == ()
    engine.matrices.delete(found.matrix.id)
    assert engine.store.matrices.list() == []
    with pytest.raises(errors.NotFoundError):
        engine.matrices.get(found.matrix.id)


def test_a_decision_outlives_the_version_that_it_was_made_about(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """What a person typed stays if it is purged before the next one is read; what it said, and its quotes, go."""
    found = filled(engine, ids[:1], [NUMBER, "Which port is it?", WHETHER, PRICE])
    quoted = {"citations": [at(found, 0, 0).cell.citations[0].model_dump()], "words": "4,812 ships"}
    review(engine, found, 0, 0, "corrected", value=4900, unit="ships", **quoted)
    review(engine, found, 0, 1, "corrected", value="Northport", **quoted)
    review(engine, found, 0, 2, "accepted")
    add(engine, LATER, "north.pdf", replaces=ids[0])
    engine.documents.trash(ids[:1])
    engine.documents.purge(ids[:1])
    kept = engine.matrices.get(found.matrix.id)
    cells = [at(kept, 0, column) for column in range(3)]
    assert [(one.review and one.review.state, one.shown and one.shown.value) for one in cells] == [
        ("corrected", 4900.0),
        ("corrected", "Northport"),
        ("accepted", None),
    ]
    assert "4,812" not in kept.model_dump_json(include={"cells"})
    assert kept.to_fill == 4
    assert [cell.needs_review for cell in kept.cells] == [True, True, True]
    number, (current,) = cells[0], kept.documents
    read = (current.id, current.version, current.sha256)
    assert {(one.cell.document_id, one.cell.version, one.cell.sha256) for one in cells} == {read}
    assert number.review is not None
    assert (number.review.unit, number.review.citations) == ("ships", ())
    after = refill(engine, found.matrix.id)
    assert (after.to_fill, at(after, 0, 0).cell.value, at(after, 0, 0).conflict) == (0, 5103.0, None)
    assert at(after, 0, 0).review == number.review
    engine.documents.trash([current.id])
    engine.documents.purge([current.id])
    assert engine.store.matrices.cells(found.matrix.id) == []
    with pytest.raises(errors.PurgedError):
        create(engine, [current.id])


def test_nothing_of_a_purged_version_is_left_in_the_cells_of_a_later_one(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    found = filled(engine, ids, [NUMBER])
    quoted = {"citations": [at(found, 0, 0).cell.citations[0].model_dump()], "words": "4,812 ships"}
    review(engine, found, 0, 0, "corrected", value=4900, **quoted)
    review(engine, found, 1, 0, "corrected", value=978, words="978")
    add(engine, LATER, "north.pdf", replaces=ids[0])
    assert at(refill(engine, found.matrix.id), 0, 0).previous is not None
    engine.documents.trash(ids[:1])
    engine.documents.purge(ids[:1])
    after = engine.matrices.get(found.matrix.id)
    north, south = at(after, 0, 0), at(after, 1, 0)
    assert "4,812" not in after.model_dump_json(include={"cells"})
    assert (north.cell.value, north.previous, north.shown and north.shown.value) == (5103.0, None, 4900.0)
    assert south.review is not None
    assert south.review.words == "978"  # of a document that nobody deleted


def test_a_matrix_is_of_own_documents_and_follows_own_collections(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """Not those of other users, whether they share them or not."""
    index, bob = engine.documents.get(ids[0]).index_id, engine.installation.for_user("bob")
    own = create(bob, [add(bob, NORTH, "bobs.pdf")], [NUMBER])
    theirs: list[dict[str, object]] = [{"documentIds": ids}, {"follows": {"indexName": str(index)}}]
    for _ in ("not shared", "shared"):
        for given in theirs:
            with pytest.raises(errors.NotFoundError):
                bob.matrices.create({"name": "theirs", "fields": [NUMBER], **given})
            with pytest.raises(errors.NotFoundError):
                bob.matrices.edit(own.id, given)
        engine.store.shares.share(index, ShareRequest(grantee="bob"), is_admin=True)
    with pytest.raises(errors.NotFoundError):
        bob.matrices.edit(own.id, {"follows": {"indexName": "no such collection"}})
    assert [(one.id, one.lineage_ids, one.follows) for one in bob.store.matrices.list()] == [
        (own.id, own.lineage_ids, None)
    ]


# --- templates and extraction ---


def test_templates_are_fields_that_can_be_asked(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    templates = {template.title: template.fields for template in engine.templates.list()}
    assert {"Annual report", "Contract"} <= templates.keys()
    for title, fields in templates.items():
        matrix = engine.matrices.create({"name": title, "documentIds": ids, "fields": fields})
        assert len(matrix.fields) == len(fields) > 4
        assert None not in {field.id for field in matrix.fields}


def test_fields_are_extracted_without_a_matrix(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    told = engine.matrices.extract({"documentIds": ids[::-1], "fields": FIELDS})
    assert [(row.document_id, row.name, [*row.fields]) for row in told.rows] == [
        (ids[1], "=south.pdf", ["Ships", "Dredged", PRICE]),
        (ids[0], "north.pdf", ["Ships", "Dredged", PRICE]),
    ]
    assert [row.fields["Ships"].value for row in told.rows] == [977.0, 4812.0]
    assert told.rows[0].fields["Ships"].citations[0].quote == SOUTH[0]
    assert engine.store.matrices.list() == []
    unread = engine.documents.add(pages_of(LATER), "late.pdf")
    with pytest.raises(errors.NotFoundError, match=r"late\.pdf"):
        engine.matrices.extract({"documentIds": [unread.id], "fields": FIELDS})


def test_a_matrix_is_of_documents_an_extraction_of_the_versions_named(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """What is asked of an older version is not answered from another; a matrix reads the current one anyway."""
    later = add(engine, LATER, "north.pdf", replaces=ids[0])
    with pytest.raises(errors.ConflictError, match=str(later)):
        engine.matrices.extract({"documentIds": ids, "fields": [NUMBER]})
    (row,) = engine.matrices.extract({"documentIds": [later], "fields": [NUMBER]}).rows
    assert row.fields["Ships"].value == 5103.0
    assert [document.id for document in engine.matrices.get(create(engine, ids).id).documents] == [later, ids[1]]


def test_a_value_has_no_more_than_what_a_person_gave(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """A correction replaces value, unit, words and citations, and leaves what was found for who looks."""
    found = filled(engine, ids[:1], [NUMBER])
    saved = review(engine, found, 0, 0, "corrected", value=4900)
    assert saved.review is not None
    assert CellValue.model_validate(saved.review.model_dump(include={*CellValue.model_fields})) == CellValue(
        value=4900.0, unit=None, words="4900.0"
    )
    assert saved.cell == at(found, 0, 0).cell
