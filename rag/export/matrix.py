"""Export a matrix as XLSX or CSV: a row for each document, a column for each question."""

from collections.abc import Iterator, Sequence

from rag import types
from rag.export.marks import Translate
from rag.export.spreadsheets import Sheet, to_csv, to_sheets
from rag.messages import N_

NOT_FOUND = N_("not found")
FAILED = N_("failed")
WAITING = ""
EVIDENCE = (
    (N_("Document"), 28),
    (N_("Question"), 40),
    (N_("Answer"), 48),
    (N_("Verdict"), 14),
    (N_("Conflict"), 28),
    (N_("State"), 14),
    (N_("Quote"), 60),
    (N_("Page"), 8),
    (N_("Printed page"), 12),
    (N_("Version"), 9),
    ("SHA-256", 20),
)


def matrix_xlsx(filled: types.FilledMatrix, say: Translate = str) -> bytes:
    """Write a workbook of two sheets: the matrix, and the evidence of each cell; `say` translates labels."""
    questions = [(question.text, 36) for question in filled.matrix.questions]
    table = Sheet(say(N_("Matrix")), [(say(N_("Document")), 28), *questions], [*_table(filled, say)])
    columns = [(say(heading), width) for heading, width in EVIDENCE]
    return to_sheets([table, Sheet(say(N_("Evidence")), columns, [*_evidence(filled, say)])])


def matrix_csv(filled: types.FilledMatrix, say: Translate = str) -> bytes:
    """Write the matrix without evidence as CSV in UTF-8 with a byte order mark."""
    heading = (say(N_("Document")), *(question.text for question in filled.matrix.questions))
    return to_csv([heading, *(map(str, row) for row in _table(filled, say))]).encode("utf-8-sig", errors="replace")


def _table(filled: types.FilledMatrix, say: Translate) -> Iterator[Sequence[object]]:
    numbers = range(len(filled.matrix.questions))
    for document in filled.documents:
        yield [document.name, *(_told(filled.at(document, number), say) for number in numbers)]


def _told(shown: types.ShownCell | None, say: Translate) -> str:
    """Format a cell: the answer, its page and remarks."""
    if shown is None:
        return WAITING
    cell = shown.cell
    if cell.status != "answered":
        text = say(NOT_FOUND) if cell.status == "not_found" else f"{say(FAILED)}: {say(cell.reason or '')}"
    else:
        page = N_("p. {page}").format(page=cell.page_label or cell.page_number)
        text = f"{cell.answer} [{say(page)}]"
    notes = [say(shown.conflict)] if shown.conflict else []
    notes += [say(N_("the document has changed since"))] if shown.is_stale else []
    return f"{text} ({'; '.join(notes)})" if notes else text


def _evidence(filled: types.FilledMatrix, say: Translate) -> Iterator[Sequence[object]]:
    for document in filled.documents:
        for number, question in enumerate(filled.matrix.questions):
            shown = filled.at(document, number)
            if shown is not None:
                yield [document.name, question.text, *_place(shown, say)]


def _place(shown: types.ShownCell, say: Translate) -> Sequence[object]:
    cell = shown.cell
    state = say(N_("stale") if shown.is_stale else cell.status.replace("_", " "))
    label = cell.page_label or (str(cell.page_number) if cell.page_number else None)
    reason, verdict, conflict = (say(text) if text else None for text in (cell.reason, cell.assurance, shown.conflict))
    place = (cell.page_number, label, cell.version, cell.sha256)
    return [cell.answer or reason, verdict, conflict, state, cell.quote, *place]
