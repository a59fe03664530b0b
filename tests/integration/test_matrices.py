"""A matrix: questions put to documents, each to each, by a worker; changed documents are asked again."""

import csv
import io
import uuid
from collections.abc import Sequence

import openpyxl
import pytest

from rag import errors, vocabulary, worker
from rag.engine import RAGEngine
from rag.types import LIKELY_THRESHOLD, FilledMatrix, ShownCell
from tests import pdfs

SHIPS = "How many ships did the harbour handle in 2019?"
DREDGED = "Was the harbour dredged in 2019?"
MAYOR = "What does the xylophone quasar cost?"
QUESTIONS = [SHIPS, DREDGED, MAYOR]
NORTH = ["The harbour handled 4,812 ships in 2019.", "The harbour was dredged in 2019."]
SOUTH = ["The harbour handled 977 ships in 2019.", "The harbour was not dredged in 2019."]
LATER = ["The harbour handled 5,103 ships in 2019.", "The harbour was dredged in 2019."]


def add(engine: RAGEngine, texts: Sequence[str], name: str, *, replaces: uuid.UUID | None = None) -> uuid.UUID:
    content = pdfs.pages(len(texts), line=lambda number: texts[number - 1], others=())
    added = engine.documents.add(content, name, replaces=replaces, enqueue=False)
    assert engine.documents.process(added.id).status == "ready"
    return added.id


@pytest.fixture
def ids(engine: RAGEngine) -> list[uuid.UUID]:
    return [add(engine, NORTH, "north.pdf"), add(engine, SOUTH, "=south.pdf")]


def filled(engine: RAGEngine, ids: Sequence[uuid.UUID], questions: Sequence[object] = QUESTIONS) -> FilledMatrix:
    matrix = engine.matrices.create({"name": "Harbours", "documentIds": ids, "questions": questions})
    worker.run(engine.installation, wait=False)
    return engine.matrices.get(matrix.id)


def at(found: FilledMatrix, row: int, question: int) -> ShownCell:
    shown = found.at(found.documents[row], question)
    assert shown is not None
    return shown


def test_each_document_answers_each_question(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids)
    assert [document.id for document in found.documents] == ids
    assert found.job is not None
    assert (found.job.status, found.job.kind, found.to_ask) == ("done", "matrix", 0)
    assert found.job.result == {"answered": 4, "notFound": 2, "failed": 0, "waiting": []}
    assert (found.job.progress.done, found.job.progress.total) == (6, 6)
    ships = at(found, 1, 0).cell
    assert (ships.status, ships.verdict, ships.page_number) == ("answered", None, 1)
    assert ships.assurance == "likely"  # its words fit; nothing proves that they are what was asked for
    assert ships.likelihood is not None
    assert ships.likelihood >= LIKELY_THRESHOLD
    assert ships.document_id == ids[1]
    assert "977" in ships.answer
    assert ships.quote == SOUTH[0]
    assert ships.regions[0].rects
    assert at(found, 0, 2).cell.status == at(found, 1, 2).cell.status == "not_found"
    assert at(found, 0, 0).conflict is at(found, 1, 0).conflict is None  # of two harbours both may be right
    assert at(found, 0, 1).conflict == "Says yes, others say otherwise"
    assert at(found, 1, 1).conflict == "Says no, others say otherwise"


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
    assert (cell.status, cell.verdict, cell.quote) == ("answered", "quoted", "Net income was $60 million in 2021.")
    assert cell.answer == cell.quote
    assert earned(engine, "untold.pdf", *MADE).cell.status == "not_found"


def test_a_cell_of_a_statement_is_its_row(engine: RAGEngine) -> None:
    report = engine.documents.add(pdfs.annual_report("Northmoor Ferries"), "northmoor.pdf", enqueue=False)
    found = filled(engine, [engine.documents.process(report.id).id], [EARNED, "What were the total assets?"])
    assert [at(found, 0, number).cell.answer for number in (0, 1)] == [
        "Net income, 2021: 540 (in thousands of crowns)",
        "Total assets, 2021: 4,000 (in thousands of crowns)",
    ]
    assert {shown.cell.verdict for shown in found.cells} == {"quoted"}
    assert all(shown.cell.regions for shown in found.cells)


def test_the_own_statement_is_read_though_other_pages_say_more_of_it(engine: RAGEngine) -> None:
    """What affiliates earn is told on more pages than are searched for, in the question's own words."""
    own = [("Fares", "5,200", "4,800"), ("Gross profit", "2,080", "1,800"), ("Net income", "540", "410")]
    report = pdfs.with_affiliates(pdfs.annual_report("Northmoor Ferries", income=own), 6)
    added = engine.documents.add(report, "affiliates.pdf", enqueue=False)
    cell = at(filled(engine, [engine.documents.process(added.id).id], [EARNED]), 0, 0).cell
    assert (cell.answer, cell.verdict) == ("Net income, 2021: 540 (in thousands of crowns)", "quoted")


def test_what_may_not_be_what_was_asked_for_is_not_called_proved(engine: RAGEngine) -> None:
    cell = earned(engine, "segment.pdf", "Net income of the ferry segment was $9 million in 2021.").cell
    assert (cell.status, cell.verdict) == ("answered", "not_verified")
    assert "$9 million" in cell.answer


def test_figures_that_should_agree_are_marked_where_they_do_not(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids, [{"text": SHIPS, "shouldAgree": True}])
    assert at(found, 0, 0).conflict == at(found, 1, 0).conflict == "Differs from the others"


def test_a_changed_document_is_asked_again_by_itself_and_says_what_it_said_before(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    before = filled(engine, ids)
    assert before.job is not None
    add(engine, LATER, "north.pdf", replaces=ids[0])
    stale = engine.matrices.get(before.matrix.id)
    assert [document.version for document in stale.documents] == [2, 1]
    assert [at(stale, row, 0).is_stale for row in (0, 1)] == [True, False]
    assert stale.to_ask == 3
    assert stale.job is not None
    assert (stale.job.id != before.job.id, stale.job.status) == (True, "queued")
    worker.run(engine.installation, wait=False)
    after = engine.matrices.get(before.matrix.id)
    assert after.to_ask == 0
    ships = at(after, 0, 0)
    assert ("5,103" in ships.cell.answer, ships.is_stale, ships.cell.version) == (True, False, 2)
    assert ships.conflict is not None
    assert ships.conflict.startswith("Before it changed (version 1): ")
    assert "4,812" in ships.conflict
    assert at(after, 0, 2).conflict is None
    assert at(after, 1, 0).cell.answered_at == at(before, 1, 0).cell.answered_at


def test_a_document_is_asked_when_it_has_been_read_but_not_after_cancelling(
    engine: RAGEngine, ids: list[uuid.UUID]
) -> None:
    content = pdfs.pages(2, line=lambda number: LATER[number - 1], others=())
    late = engine.documents.add(content, "late.pdf")
    asked = {"name": "Harbours", "documentIds": [*ids, late.id], "questions": QUESTIONS}
    matrix, ended = engine.matrices.create(asked), engine.matrices.create(asked)
    for one in (matrix, ended):
        assert one.job_id is not None
        engine.jobs.run(one.job_id)
    assert engine.matrices.get(matrix.id).job.result["waiting"] == ["late.pdf"]  # type: ignore[union-attr, index]
    engine.matrices.fill(ended.id)
    engine.matrices.cancel(ended.id)
    worker.run(engine.installation, wait=False)
    found = engine.matrices.get(matrix.id)
    assert (len(found.cells), found.to_ask) == (9, 0)
    assert "5,103" in at(found, 2, 0).cell.answer
    assert engine.matrices.get(ended.id).to_ask == 3


def test_an_edited_matrix_keeps_the_answers_of_what_stays(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    before = filled(engine, ids, [SHIPS, DREDGED])
    late = add(engine, LATER, "late.pdf")
    change = {
        "name": "Ports",
        "documentIds": [late, ids[0]],
        "questions": [MAYOR, {"text": SHIPS, "shouldAgree": True}],
    }
    assert engine.matrices.edit(before.matrix.id, change).name == "Ports"
    shown = engine.matrices.get(before.matrix.id)
    assert [document.id for document in shown.documents] == [late, ids[0]]
    assert [(one.cell.document_id, one.cell.question) for one in shown.cells] == [(ids[0], 1)]
    assert shown.to_ask == 3
    worker.run(engine.installation, wait=False)
    after = engine.matrices.get(before.matrix.id)
    assert (len(after.cells), after.to_ask) == (4, 0)
    assert at(after, 1, 1).cell.answered_at == at(before, 0, 0).cell.answered_at
    assert at(after, 0, 1).conflict == "Differs from the others"
    assert engine.matrices.edit(after.matrix.id, {"name": "Harbours"}).job_id == after.matrix.job_id


def test_what_is_edited_while_it_is_asked_is_asked_too(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    """The job that is at it knows the old questions only: no answer of its gets below another's heading."""
    matrix = engine.matrices.create({"name": "Harbours", "documentIds": ids, "questions": [SHIPS, DREDGED]})
    assert matrix.job_id is not None

    def edited() -> None:
        if engine.matrices.get(matrix.id).matrix.questions[0].text == SHIPS:
            engine.matrices.edit(matrix.id, {"questions": [MAYOR, DREDGED]})

    engine.jobs.run_locked(matrix.job_id, edited)
    worker.run(engine.installation, wait=False)
    found = engine.matrices.get(matrix.id)
    assert (len(found.cells), found.to_ask) == (4, 0)
    assert [at(found, row, 0).cell.status for row in (0, 1)] == ["not_found", "not_found"]
    assert "not dredged" in at(found, 1, 1).cell.answer


def test_a_job_goes_on_with_the_cells_that_are_left(
    engine: RAGEngine, ids: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill: what was answered is kept, and not asked again."""
    matrix = engine.matrices.create({"name": "Harbours", "documentIds": ids, "questions": QUESTIONS})
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
    assert engine.jobs.run_locked(matrix.job_id).status == "done"
    done = engine.matrices.get(matrix.id)
    assert len(done.cells) == 6
    assert [one.cell.answered_at for one in begun.cells] == [
        one.cell.answered_at for one in done.cells if one.cell.answered_at <= begun.cells[-1].cell.answered_at
    ]


def test_a_cancelled_job_keeps_what_is_answered(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    matrix = engine.matrices.create({"name": "Harbours", "documentIds": ids, "questions": QUESTIONS})
    assert matrix.job_id is not None
    job_id, steps = matrix.job_id, iter([None, None])

    def cancelled() -> None:
        if next(steps, "now") == "now":
            engine.store.jobs.cancel(job_id)

    assert engine.jobs.run_locked(job_id, cancelled).status == "cancelled"
    found = engine.matrices.get(matrix.id)
    assert 2 <= len(found.cells) <= 3
    assert found.to_ask == 6 - len(found.cells)
    assert engine.matrices.fill(matrix.id).id != job_id


def test_an_exported_matrix_has_no_formulas(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids, [SHIPS, MAYOR, "=1+1 is what?"])
    workbook = openpyxl.load_workbook(io.BytesIO(engine.matrices.export(found.matrix.id, "xlsx")))
    table, evidence = workbook["Matrix"], workbook["Evidence"]
    assert [cell.value for cell in table[1]] == ["Document", SHIPS, MAYOR, "=1+1 is what?"]
    assert {cell.data_type for sheet in (table, evidence) for row in sheet for cell in row} <= {"s", "n"}
    assert table["A3"].value == "=south.pdf"
    assert table["C2"].value == "not found"
    assert "977" in table["B3"].value
    assert evidence.max_row == 7
    rows = [*csv.reader(io.StringIO(engine.matrices.export(found.matrix.id, "csv").decode("utf-8-sig")))]
    assert (rows[0][3], rows[2][0]) == ("'=1+1 is what?", "'=south.pdf")
    assert "4,812" in rows[1][1]
    assert "[p. 1]" in rows[1][1]


def test_a_deleted_matrix_takes_its_answers_and_others_see_none(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    found = filled(engine, ids[:1], [SHIPS])
    bob = engine.installation.for_user("bob")
    assert bob.store.matrices.list() == []
    with pytest.raises(errors.NotFoundError):
        bob.matrices.create({"name": "Theirs", "documentIds": ids, "questions": QUESTIONS})
    engine.documents.trash(ids[:1])
    engine.documents.purge(ids[:1])
    assert engine.matrices.get(found.matrix.id).cells == ()
    engine.matrices.delete(found.matrix.id)
    assert engine.store.matrices.list() == []
    with pytest.raises(errors.NotFoundError):
        engine.matrices.get(found.matrix.id)


def test_templates_are_questions_that_can_be_asked(engine: RAGEngine, ids: list[uuid.UUID]) -> None:
    templates = {template.title: template.questions for template in vocabulary.question_sets()}
    assert {"10-K basics", "Contract terms"} <= templates.keys()
    for title, questions in templates.items():
        matrix = engine.matrices.create({"name": title, "documentIds": ids, "questions": questions})
        assert len(matrix.questions) == len(questions) > 4
