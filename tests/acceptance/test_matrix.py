"""Matrices as people have them, on their page."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag import types, vocabulary, worker
from rag.engine import RAGEngine
from rag.ui import session
from rag.ui.matrix.decisions import LAST, Decision
from rag.ui.matrix.form import INITIAL_FIELDS, Initial
from rag.ui.matrix.selection import CELL, PAGE_ROWS, Place, Seen
from rag.ui.matrix.templates import SHARED
from tests import pdfs

APP = Path(__file__).parents[2] / "app.py"
LINES = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}
SHIPS, QUASAR = "How many ships did the harbour handle in 2019?", "What does the xylophone quasar cost?"
FIELDS = [
    {"name": "Ships", "instruction": SHIPS, "type": "number"},
    {"name": "Quasar", "instruction": QUASAR, "required": True},  # which is to be reviewed where it is not stated
]
TABLE = "matrix-cells-"

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app without a worker: tests do the work when they want it done."""
    monkeypatch.setenv("RAG_WORKER", "false")
    yield AppTest.from_file(APP, default_timeout=60)
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    with RAGEngine() as engine:
        add(engine, "facts.pdf", LINES)
        yield engine


def add(engine: RAGEngine, name: str, lines: dict[int, str]) -> types.Document:
    added = engine.documents.add(pdfs.pages(2, line=lines.__getitem__), name, enqueue=False)
    return engine.documents.process(added.id)


def facts(engine: RAGEngine, **request: object) -> types.Matrix:
    """A matrix of two fields about all documents, the oldest first, that is filled."""
    ids = [document.id for document in reversed(engine.documents.list())]
    matrix = engine.matrices.create({"name": "Facts", "document_ids": ids, "fields": FIELDS, **request})
    worker.run(engine.installation, wait=False)
    return matrix


def opened(app: AppTest) -> AppTest:
    app.run().switch_page("pages/matrix.py").run()
    return quiet(app)


def quiet(app: AppTest) -> AppTest:
    assert not app.exception
    assert not app.error
    return app


def press(app: AppTest, label: str) -> None:
    (button,) = [button for button in app.button if button.label == label]
    button.click().run()
    quiet(app)


def select(app: AppTest, document: types.Document, field: types.FieldDefinition) -> None:
    app.session_state[CELL] = Place(document.lineage, field.id)
    quiet(app.run())


def reviewing(app: AppTest, engine: RAGEngine) -> tuple[types.Matrix, types.Document]:
    """The page with a filled matrix and its first cell selected."""
    matrix, [document] = facts(engine), engine.documents.list()
    select(opened(app), document, matrix.fields[0])
    return matrix, document


def decide(
    engine: RAGEngine, matrix: types.Matrix, document: types.Document, request: dict[str, Any], column: int = 0
) -> None:
    """Review a cell as somebody else does."""
    field_id = matrix.fields[column].id
    assert field_id
    engine.matrices.review(matrix.id, document.lineage, field_id, request)


def selected(app: AppTest) -> str:
    """The name of the field of the selected cell."""
    _row, field = data(app)["selected"]
    return next(str(column["name"]) for column in data(app)["columns"] if column["id"] == field)


def data(app: AppTest, key: str = TABLE) -> dict[str, Any]:
    """What a component was given."""
    (found,) = [node for node in app.get("bidi_component") if node.key and node.key.startswith(key)]
    given: dict[str, Any] = json.loads(found.proto.json)
    return given


def texts(app: AppTest) -> str:
    elements = [*app.markdown, *app.text, *app.caption, *app.subheader, *app.warning]
    return "\n".join(str(element.value) for element in elements)


def test_a_matrix_is_begun_from_a_template_filled_and_deleted(app: AppTest, engine: RAGEngine) -> None:
    opened(app)
    assert "No matrix yet" in [heading.value for heading in app.subheader]
    press(app, "New matrix")
    template = vocabulary.field_templates()[0]
    app.pills[0].set_value(0).run()
    press(app, "Fill")
    (begun,) = engine.store.matrices.list()
    assert [field.model_copy(update={"id": None}) for field in begun.fields] == [*template.fields]
    press(app, "Cancel")
    engine.matrices.delete(begun.id)
    matrix = facts(engine)
    opened(app)
    (row,) = data(app)["rows"]
    ships, quasar = row["cells"]
    assert row["name"] == "facts.pdf"
    assert (ships["text"], ships["page"], quasar["text"]) == ("4,812", "p. 1", "–")
    assert "Fill now" not in [button.label for button in app.button]
    press(app, "Edit")
    (name,) = [field for field in app.text_input if field.label == "Name"]
    name.set_value("Figures")
    press(app, "Save")
    (edited,) = engine.store.matrices.list()
    assert (edited.name, edited.fields, edited.job_id) == ("Figures", matrix.fields, matrix.job_id)
    assert len(engine.matrices.get(matrix.id).cells) == 2
    press(app, "Delete the matrix")
    assert engine.store.matrices.list() == []
    assert "No matrix yet" in [heading.value for heading in app.subheader]


def test_what_stands_below_the_progress_keeps_its_place(app: AppTest, engine: RAGEngine) -> None:
    """Else it is there twice while the page is written anew, and jumps."""
    [added] = engine.documents.list()
    engine.matrices.create({"name": "Facts", "document_ids": [added.id], "fields": FIELDS})
    opened(app)
    assert "Cancel" in [button.label for button in app.button]
    before = place(app)
    worker.run(engine.installation, wait=False)
    opened(app)
    assert "Cancel" not in [button.label for button in app.button]
    assert place(app) == before


def place(app: AppTest) -> list[int]:
    """Of the table: its number in its container, and before it of this in its own, from the page down."""
    return next(path for path, node in nodes(app.main) if str(getattr(node, "key", None) or "").startswith(TABLE))


def nodes(block: Any, *path: int) -> Iterator[tuple[list[int], Any]]:
    for number, child in getattr(block, "children", {}).items():
        yield [*path, number], child
        yield from nodes(child, *path, number)


def test_a_pilot_fills_the_first_documents_and_says_what_the_others_take(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", {1: "The harbour handled 517 ships in 2019.", 2: LINES[2]})
    matrix = facts(engine, pilot=1)
    opened(app)
    assert [row["cells"][0]["text"] for row in data(app)["rows"]] == ["4,812", "…"]
    assert "Pilot: 1 of 2 documents. 1 of 2 values found" in texts(app)
    assert "the other documents take about" in texts(app)
    press(app, "Fill all documents")
    assert engine.store.matrices.get(matrix.id).pilot is None
    worker.run(engine.installation, wait=False)
    opened(app)
    assert [row["cells"][0]["text"] for row in data(app)["rows"]] == ["4,812", "517"]
    assert "Pilot" not in texts(app)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [("quoted", "In the document: “some thousand”"), ("uncited", "The model says: “some thousand”")],
)
def test_words_that_no_quote_has_are_those_of_the_model(
    app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch, verdict: str, said: str
) -> None:
    told = types.FoundField(state="found", value=4800.0, words="some thousand", verdict=types.Support(verdict))
    monkeypatch.setattr("rag.engine.field_reading.read_quoted", lambda *_: told)
    reviewing(app, engine)
    assert said in texts(app)


def test_values_that_wait_for_a_language_model_are_not_to_be_filled_now(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", LINES)
    officers = {"name": "Officers", "type": "records", "columns": [{"name": "name"}]}
    facts(engine, fields=[officers], pilot=1)
    opened(app)
    assert "1 value needs a language model" in texts(app)
    labels = [button.label for button in app.button]
    assert "Fill all documents" in labels
    assert "Fill now" not in labels


def test_values_are_accepted_corrected_and_taken_back(app: AppTest, engine: RAGEngine) -> None:
    matrix, document = reviewing(app, engine)
    assert LINES[1] in data(app, "matrix-viewer-pdf")["marks"][0]["title"]
    press(app, "Reject")
    assert review(engine, matrix, 0) == ("rejected", None)
    assert selected(app) == "Quasar"  # the next to review
    press(app, "Accept")
    assert "1 of 1 document reviewed" in texts(app)
    select(app, document, matrix.fields[0])
    assert data(app)["rows"][0]["cells"][0]["look"] == "rejected"
    press(app, "Take back")
    assert review(engine, matrix, 0) == (None, None)
    press(app, "Correct")
    (value,) = [field for field in app.text_input if field.label == "Value"]
    value.set_value("many")
    press(app, "Save")
    assert "many" in texts(app)
    assert review(engine, matrix, 0) == (None, None)
    (value,) = [field for field in app.text_input if field.label == "Value"]
    value.set_value("4,813")
    press(app, "Save")
    assert review(engine, matrix, 0) == ("corrected", 4813)
    assert citations(engine, matrix) == 0  # the quote says another number
    (row,) = data(app)["rows"]
    assert (row["cells"][0]["text"], row["cells"][0]["marks"]) == ("4,813", [["✎", "corrected"]])


def test_a_correction_of_the_unit_alone_keeps_the_quote(app: AppTest, engine: RAGEngine) -> None:
    matrix, _document = reviewing(app, engine)
    press(app, "Correct")
    (unit,) = [field for field in app.text_input if field.label == "Unit"]
    unit.set_value("ships")
    press(app, "Save")
    assert review(engine, matrix, 0) == ("corrected", 4812)
    assert citations(engine, matrix) == 1


def citations(engine: RAGEngine, matrix: types.Matrix) -> int:
    """How many quotes the value of the first cell has."""
    filled = engine.matrices.get(matrix.id)
    cell = filled.at(filled.documents[0], filled.matrix.fields[0])
    assert cell
    assert cell.shown
    return len(cell.shown.citations)


def test_a_value_that_was_read_again_is_not_decided_about_unseen(app: AppTest, engine: RAGEngine) -> None:
    matrix, _document = reviewing(app, engine)
    press(app, "Correct")
    (value,) = [field for field in app.text_input if field.label == "Value"]
    value.set_value("4,813")
    changed = [{**matrix.fields[0].model_dump(mode="json"), "instruction": SHIPS.rstrip("?")}]
    engine.matrices.edit(matrix.id, {"fields": [*changed, *matrix.fields[1:]]})
    worker.run(engine.installation, wait=False)
    press(app, "Save")
    assert "was read again from the document meanwhile" in texts(app)
    assert review(engine, matrix, 0) == (None, None)
    press(app, "Save")  # having seen it
    assert review(engine, matrix, 0) == ("corrected", 4813)


def test_a_value_that_was_read_again_is_accepted_again_by_the_button(app: AppTest, engine: RAGEngine) -> None:
    matrix, document = reviewing(app, engine)
    ships = matrix.fields[0]
    press(app, "Accept")
    later = {**LINES, 1: "The harbour handled 5,103 ships in 2019."}
    added = engine.documents.add(pdfs.pages(2, line=later.__getitem__), "facts.pdf", replaces=document.id)
    worker.run(engine.installation, wait=False)
    select(app, engine.documents.get(added.id), ships)
    assert "Please look at it again" in "".join(str(info.value) for info in app.info)
    (accept,) = [button for button in app.button if button.label == "Accept"]
    assert not accept.disabled
    press(app, "Accept")
    filled = engine.matrices.get(matrix.id)
    cell = filled.at(filled.documents[0], ships)
    assert cell
    assert cell.is_reviewed
    select(app, engine.documents.get(added.id), ships)
    (accept,) = [button for button in app.button if button.label == "Accept"]
    assert accept.disabled


def test_a_notice_and_what_is_undone_are_of_their_own_cell(app: AppTest, engine: RAGEngine) -> None:
    matrix, document = reviewing(app, engine)
    ships, quasar = matrix.fields
    decide(engine, matrix, document, {"state": "accepted"})
    press(app, "Reject")
    assert "Somebody else has reviewed this value meanwhile" in texts(app)
    assert review(engine, matrix, 0) == ("accepted", None)
    select(app, document, quasar)
    assert "Somebody else has reviewed" not in texts(app)
    last = Decision(uuid.uuid4(), Place(document.lineage, quasar.id), Seen("2024-01-01T00:00:00+00:00"))
    app.session_state[LAST] = last  # about another matrix
    select(app, document, ships)
    press(app, "Take back")
    assert review(engine, matrix, 0) == (None, None)
    assert app.session_state[LAST] == last


def test_a_colleagues_matrix_is_read_and_reviewed_as_far_as_it_is_shared(app: AppTest, engine: RAGEngine) -> None:
    ada = engine.installation.for_user("ada")
    document = add(ada, "theirs.pdf", LINES)
    matrix = facts(ada, name="Harbours", index_name="default")
    shares, index_id = ada._workspace.store.shares, ada.indexes.list()[0].id
    shares.share(index_id, types.ShareRequest(grantee="local"), is_admin=True)
    opened(app)
    assert "Harbours · ada" in app.selectbox[0].options
    select(app, document, matrix.fields[0])
    assert {one.label for one in app.button if one.disabled} >= {"Accept", "Correct", "Reject"}
    assert not {"Edit", "Delete the matrix", "Fill now"} & {one.label for one in app.button}

    shares.share(index_id, types.ShareRequest(grantee="local", permission="write"), is_admin=True)
    app.run()
    press(app, "Accept")
    assert review(ada, matrix, 0) == ("accepted", None)
    assert "Delete the matrix" not in {one.label for one in app.button}

    cell = ada.matrices.get(matrix.id).at(document, matrix.fields[0])
    assert cell
    assert cell.review
    assert cell.review.reviewed_by == "local"
    request = {"state": "rejected", "seen_at": cell.review.reviewed_at}
    ada.matrices.review(matrix.id, cell.cell.lineage_id, cell.cell.field_id, request)
    select(app, document, matrix.fields[0])
    assert "Rejected by ada on" in texts(app)

    ada.sharing.unshare({"grantee": "local"})
    opened(app)
    assert "No matrix yet" in [heading.value for heading in app.subheader]


def test_a_colleague_who_may_write_adds_fields_and_removes_none(app: AppTest, engine: RAGEngine) -> None:
    ada = engine.installation.for_user("ada")
    add(ada, "theirs.pdf", LINES)
    matrix = facts(ada, index_name="default")
    share = types.ShareRequest(grantee="local", permission="write")
    ada.store.shares.share(ada.indexes.list()[0].id, share, is_admin=True)
    opened(app)
    press(app, "Edit")
    assert not {"Name", "Documents"} & {one.label for one in (*app.text_input, *app.multiselect)}
    assert "Only its owner removes fields" in texts(app)
    added = types.FieldDefinition(name="Pears", instruction="How many kinds of pears does the orchard grow?")
    app.session_state[INITIAL_FIELDS] = Initial(5, (matrix.fields[0], added))
    app.run()
    press(app, "Save")
    assert "ask its owner for all else" in texts(app)
    assert ada.store.matrices.get(matrix.id).fields == matrix.fields
    app.session_state[INITIAL_FIELDS] = Initial(6, (*matrix.fields, added))
    app.run()
    press(app, "Save")
    assert [one.name for one in ada.store.matrices.get(matrix.id).fields] == ["Ships", "Quasar", "Pears"]
    assert data(app)["columns"][2]["name"] == "Pears"


def test_an_owner_shares_a_matrix_and_a_template_with_the_collection(app: AppTest, engine: RAGEngine) -> None:
    engine.installation.accounts.see("ada")
    opened(app)
    press(app, "New matrix")
    app.pills[0].set_value(0).run()
    (share,) = [box for box in app.checkbox if box.label == "Share with the collection default"]
    share.check().run()
    press(app, "Fill")
    (made,) = engine.store.matrices.list()
    assert made.index_id == engine.indexes.list()[0].id
    press(app, "Edit")
    (share,) = [box for box in app.checkbox if box.label == "Share with the collection default"]
    assert share.value
    share.uncheck().run()
    press(app, "Save")
    assert engine.matrices.get(made.id).matrix.index_id is None
    press(app, "Edit")
    press(app, "Templates")
    next(box for box in app.checkbox if box.key == SHARED).check()
    press(app, "Save these fields")
    assert engine.templates.list()[0].index_id == engine.indexes.list()[0].id


@pytest.mark.parametrize("theirs", [{"state": "rejected"}, {"state": "corrected", "value": 4000}])
def test_a_correction_is_kept_in_the_form_when_somebody_else_decided(
    app: AppTest, engine: RAGEngine, theirs: dict[str, object]
) -> None:
    matrix, document = reviewing(app, engine)
    press(app, "Correct")
    (value,) = [field for field in app.text_input if field.label == "Value"]
    value.set_value("4,813")
    decide(engine, matrix, document, theirs)
    press(app, "Save")
    assert "Somebody else has reviewed this value meanwhile" in texts(app)
    (value,) = [field for field in app.text_input if field.label == "Value"]
    assert value.value == "4,813"
    press(app, "Save")  # having seen it
    assert review(engine, matrix, 0) == ("corrected", 4813)


def review(engine: RAGEngine, matrix: types.Matrix, number: int) -> tuple[str | None, types.FieldValue]:
    """What a person decided about a field of the first document."""
    filled = engine.matrices.get(matrix.id)
    cell = filled.at(filled.documents[0], filled.matrix.fields[number])
    assert cell
    return (cell.review.state, cell.review.value) if cell.review else (None, None)


def test_only_rows_to_review_are_shown(app: AppTest, engine: RAGEngine) -> None:
    document = add(engine, "more.pdf", {1: "The harbour handled 517 ships in 2019.", 2: LINES[2]})
    matrix = facts(engine)
    for number in range(len(matrix.fields)):
        decide(engine, matrix, document, {"state": "accepted"}, number)
    opened(app)
    assert "1 of 2 documents reviewed" in texts(app)
    app.toggle[0].set_value(True).run()
    assert [row["name"] for row in data(app)["rows"]] == ["facts.pdf"]


def test_a_new_matrix_is_shown_beside_one_of_the_same_name(app: AppTest, engine: RAGEngine) -> None:
    matrix = facts(engine)
    opened(app)
    [document] = engine.documents.list()
    again = engine.matrices.create({"name": "Facts", "document_ids": [document.id], "fields": [SHIPS]})
    opened(app)
    (names,) = [field for field in app.selectbox if field.label == "Matrix"]
    assert names.options == ["Facts (2)", "Facts"]
    assert names.value == matrix.id  # which was open
    names.set_value(again.id).run()
    assert [column["name"] for column in data(app)["columns"]] == [SHIPS]


def test_documents_are_compared(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", {1: "The harbour handled 517 ships in 2019.", 2: LINES[2]})
    facts(engine)
    opened(app)
    (view,) = [group for group in app.button_group if group.label == "View"]
    view.set_value("Differences and charts").run()
    quiet(app)
    (row,) = app.dataframe[0].value.to_dict("records")
    assert row == {"field": "Ships", "first": "4,812", "second": "517", "change": "-4,295 (-89%)"}
    assert "1 field is the same in both." in texts(app)


def test_fields_are_saved_as_a_template(app: AppTest, engine: RAGEngine) -> None:
    facts(engine)
    opened(app)
    press(app, "Edit")
    press(app, "Templates")
    (name,) = [field for field in app.text_input if field.label == "Name of the template"]
    name.set_value("Ports")
    press(app, "Save these fields")  # closes the dialog here, where the whole page is run
    saved = engine.templates.list()[0]
    assert (saved.name, [field.name for field in saved.fields], saved.is_own) == ("Ports", ["Ships", "Quasar"], True)


def test_saving_the_form_keeps_what_it_did_not_show_and_what_was_added_meanwhile(
    app: AppTest, engine: RAGEngine
) -> None:
    locked = engine.documents.add(pdfs.encrypted("open sesame"), "locked.pdf")
    trashed = add(engine, "trashed.pdf", LINES)
    matrix = facts(engine)
    new = add(engine, "new.pdf", LINES)
    engine.documents.trash([trashed.id])
    [facts_pdf] = [one for one in engine.documents.list() if one.name == "facts.pdf"]
    opened(app)
    press(app, "Edit")
    (chosen,) = [field for field in app.multiselect if field.label == "Documents"]
    assert chosen.value == [facts_pdf.id, locked.id]
    joined = add(engine, "joined.pdf", LINES)
    fields = [*matrix.fields, {"name": "Crew"}]
    engine.matrices.edit(matrix.id, {"document_ids": [facts_pdf.id, locked.id, joined.id], "fields": fields})
    chosen.set_value([facts_pdf.id, new.id]).run()
    press(app, "Save")
    assert "Somebody else has edited the matrix meanwhile" in texts(app)
    assert "Crew" in texts(app)
    assert len(engine.matrices.get(matrix.id).documents) == 3  # nothing is saved yet
    press(app, "Save")  # having read it
    engine.documents.restore([trashed.id])
    filled = engine.matrices.get(matrix.id)
    assert [one.name for one in filled.documents] == ["facts.pdf", "joined.pdf", "new.pdf", "trashed.pdf"]
    assert [field.name for field in filled.matrix.fields] == ["Ships", "Quasar", "Crew"]
    assert len([cell for cell in filled.cells if cell.cell.lineage_id == trashed.lineage_id]) == 2


def test_a_field_is_as_the_one_wrote_it_who_edited_it(app: AppTest, engine: RAGEngine) -> None:
    matrix = facts(engine)
    opened(app)
    press(app, "Edit")
    ships, quasar = matrix.fields
    theirs = [quasar.model_copy(update={"instruction": "As they say."}), ships.model_copy(update={"unit": "boats"})]
    engine.matrices.edit(matrix.id, {"fields": theirs})
    # What an edit of the table leads to: the browser's edits cannot be made here.
    app.session_state[INITIAL_FIELDS] = Initial(9, (ships.model_copy(update={"instruction": "As I say."}), quasar))
    app.run()
    press(app, "Save")
    assert "Quasar, Ships" in texts(app)
    press(app, "Save")
    fields = engine.store.matrices.get(matrix.id).fields
    assert [(one.name, one.instruction, one.unit) for one in fields] == [
        ("Ships", "As I say.", None),
        ("Quasar", "As they say.", None),
    ]


def test_a_long_matrix_is_shown_page_by_page(app: AppTest, engine: RAGEngine) -> None:
    index = engine.documents.list()[0].index_id
    for number in range(PAGE_ROWS):
        kind, sha256 = "application/pdf", str(number)
        engine.store.documents.add(
            index, document_id=uuid.uuid4(), name=f"{number}.pdf", mime_type=kind, sha256=sha256, size=1
        )
    matrix = facts(engine)
    opened(app)
    last = engine.matrices.get(matrix.id).documents[-1]
    assert [row["name"] for row in data(app)["rows"]][:2] == ["facts.pdf", "0.pdf"]
    assert "Documents 1 to 50 of 51" in texts(app)
    press(app, "Next documents")
    assert [row["name"] for row in data(app)["rows"]] == [last.name]
    select(app, engine.matrices.get(matrix.id).documents[0], matrix.fields[0])
    assert data(app)["rows"][0]["name"] == "facts.pdf"  # the page of the selected cell, as by a key
    assert len(data(app)["rows"]) == PAGE_ROWS
    press(app, "Next documents")
    assert data(app)["selected"] is None
    press(app, "Previous documents")
    assert "Documents 1 to 50 of 51" in texts(app)


def test_the_fields_of_a_template_replace_only_those_of_the_one_before(app: AppTest, engine: RAGEngine) -> None:
    assert engine.documents.list()
    opened(app)
    press(app, "New matrix")
    first, second = vocabulary.field_templates()[:2]
    own = types.FieldDefinition(name="Own")
    changed = first.fields[0].model_copy(update={"instruction": "As I say."})
    app.pills[0].set_value(0).run()
    # What an edit of the table leads to: the browser's edits cannot be made here.
    app.session_state[INITIAL_FIELDS] = Initial(9, (changed, *first.fields[1:], own))
    app.run()
    app.pills[0].set_value(1).run()
    names = {changed.name.casefold(), own.name.casefold()}
    added = [field for field in second.fields if field.name.casefold() not in names]
    assert app.session_state[INITIAL_FIELDS].fields == (changed, own, *added)
    app.pills[0].set_value(None).run()
    quiet(app)
    assert app.session_state[INITIAL_FIELDS].fields == (changed, own, *added)


def test_documents_of_the_same_day_are_not_added_up_in_the_chart(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", {1: LINES[1], 2: "The orchard grows nine kinds of pears."})
    facts(engine, fields=[*FIELDS, {"name": "Year", "instruction": "Of which year are the ships?", "type": "date"}])
    opened(app)
    (view,) = [group for group in app.button_group if group.label == "View"]
    view.set_value("Differences and charts").run()
    assert mark(app) == "bar"
    (axis,) = [field for field in app.selectbox if field.label == "By"]
    axis.select_index(1).run()
    quiet(app)
    assert mark(app) == "circle"


def mark(app: AppTest) -> str:
    """What a chart is drawn with."""
    (chart,) = app.get("vega_lite_chart")
    drawn = json.loads(chart.proto.spec)["mark"]
    return str(drawn["type"])


def test_a_matrix_follows_a_collection(app: AppTest, engine: RAGEngine) -> None:
    [document] = engine.documents.list()
    engine.documents.edit(document.id, {"tags": ["port"]})
    matrix = facts(engine)
    opened(app)
    press(app, "Edit")
    (follows,) = [box for box in app.checkbox if box.label == "New documents join by themselves"]
    follows.check().run()
    (tags,) = [field for field in app.multiselect if field.label == "with all of these tags"]
    tags.set_value(["port"])
    press(app, "Save")
    followed = engine.store.matrices.get(matrix.id).follows
    assert followed == types.FollowedDocuments(index_id=document.index_id, tags=("port",))
