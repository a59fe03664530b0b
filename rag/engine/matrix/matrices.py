"""Matrices: questions asked of each of several documents in the background, with export as a table."""

import builtins
import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag import errors, export, types, vocabulary
from rag.engine.matrix import answer_agreement, cell_filling, fill_scheduling
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.users.audit_log import Subject


class Matrices:
    """One user's matrices, over the user's own documents."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

    def templates(self) -> tuple[types.MatrixTemplate, ...]:
        """Return question sets for common kinds of documents."""
        return vocabulary.question_sets()

    def list(self) -> builtins.list[types.Matrix]:
        """Return all matrices, latest first."""
        return self._workspace.store.matrices.list()

    def create(self, request: types.MatrixRequest | Mapping[str, Any]) -> types.Matrix:
        """Create a matrix; a worker fills it.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: a document is missing, in the trash, or another user's.
        """
        parsed = parse(types.MatrixRequest, request)
        lineages = self._lineages(parsed.document_ids)
        matrix = self._workspace.store.matrices.create(parsed.name, parsed.questions, lineages)
        self.fill(matrix.id)
        return self._workspace.store.matrices.get(matrix.id)

    def ask(self, request: types.MatrixRequest | Mapping[str, Any]) -> types.FilledMatrix:
        """Answer a matrix in this process without saving it. Documents that are not read yet have no cells.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: see `create`.
            errors.ProviderError: a provider refuses or is down.
        """
        parsed = parse(types.MatrixRequest, request)
        lineages = self._lineages(parsed.document_ids)
        documents = self._workspace.store.matrices.documents(lineages)
        cells = [
            types.SavedCell(cell=cell_filling.answer_cell(self._workspace, self._questions, document, number, question))
            for document in documents
            if document.status is types.DocumentStatus.READY
            for number, question in enumerate(parsed.questions)
        ]
        matrix = types.Matrix(
            id=uuid.uuid4(),
            user_id=self._workspace.user_id,
            name=parsed.name,
            questions=parsed.questions,
            lineage_ids=tuple(lineages),
            created_at=dt.datetime.now(dt.UTC),
        )
        shown = _shown_cells(parsed.questions, documents, cells)
        return types.FilledMatrix(matrix=matrix, documents=tuple(documents), cells=tuple(shown))

    def edit(self, matrix_id: uuid.UUID, request: types.MatrixEdit | Mapping[str, Any]) -> types.Matrix:
        """Change the name, documents or questions. New cells are filled; answers to unchanged questions are kept.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such matrix or document; see `create`.
        """
        parsed = parse(types.MatrixEdit, request)
        lineages = None if parsed.document_ids is None else self._lineages(parsed.document_ids)
        matrices = self._workspace.store.matrices
        matrices.edit(matrix_id, name=parsed.name, questions=parsed.questions, lineage_ids=lineages)
        if (parsed.document_ids or parsed.questions) and self.get(matrix_id).to_ask:
            self.fill(matrix_id)
        return matrices.get(matrix_id)

    def _lineages(self, document_ids: Iterable[uuid.UUID]) -> builtins.list[uuid.UUID]:
        store = self._workspace.store
        found = [store.documents.get(document_id) for document_id in dict.fromkeys(document_ids)]
        lineages = [*dict.fromkeys(document.lineage_id or document.id for document in found)]
        if len(store.matrices.documents(lineages)) < len(lineages):
            raise errors.NotFoundError(
                N_("A matrix is of documents of your own that are not in the trash. Choose others.")
            )
        return lineages

    def fill(self, matrix_id: uuid.UUID) -> types.Job:
        """Start filling empty and outdated cells, or return the job that does so. Raises NotFoundError."""
        return fill_scheduling.start(self._workspace, self._workspace.store.matrices.get(matrix_id))

    def job(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Return the current or last job that fills the matrix. Raises NotFoundError."""
        return fill_scheduling.job_of(self._workspace, self._workspace.store.matrices.get(matrix_id))

    def cancel(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Stop filling after the current question, until `fill` or an edit. Answers are kept. Raises NotFoundError."""
        job = self.job(matrix_id)
        return self._workspace.store.jobs.cancel(job.id) if job else None

    def get(self, matrix_id: uuid.UUID) -> types.FilledMatrix:
        """Return the matrix with its answers and their conflicts. Raises NotFoundError."""
        store = self._workspace.store.matrices
        matrix = store.get(matrix_id)
        documents = store.documents(matrix.lineage_ids)
        return types.FilledMatrix(
            matrix=matrix,
            documents=tuple(documents),
            cells=tuple(_shown_cells(matrix.questions, documents, store.cells(matrix_id))),
            job=fill_scheduling.job_of(self._workspace, matrix),
        )

    def delete(self, matrix_id: uuid.UUID) -> None:
        """Delete the matrix and its answers, and cancel its job. Raises NotFoundError."""
        self.cancel(matrix_id)
        self._workspace.store.matrices.delete(matrix_id)

    def export(self, matrix_id: uuid.UUID, format_name: types.MatrixFormat, *, say: export.Translate = str) -> bytes:
        """Export as CSV or XLSX, safe against formula injection; `say` translates headings. Raises NotFoundError."""
        filled = self.get(matrix_id)
        self._workspace.store.audit.add("export", Subject("matrix", str(matrix_id), filled.matrix.name))
        write = export.matrix_xlsx if format_name == "xlsx" else export.matrix_csv
        return write(filled, say)


def _shown_cells(
    questions: Sequence[types.MatrixQuestion], documents: Iterable[types.Document], kept: Sequence[types.SavedCell]
) -> list[types.ShownCell]:
    """Return the cells of `documents`, with outdated and conflicting ones marked."""
    present = {document.lineage_id: document for document in documents}
    found = [one for one in kept if one.cell.lineage_id in present]
    others = _conflicts_with_others(questions, [one.cell for one in found])
    return [
        types.ShownCell(
            cell=one.cell,
            previous=one.previous,
            is_stale=one.cell.status != "failed" and not cell_filling.is_fresh(one, present[one.cell.lineage_id]),
            conflict=_conflict_with_previous(questions, one) or others.get((one.cell.lineage_id, one.cell.question)),
        )
        for one in found
    ]


def _conflict_with_previous(questions: Sequence[types.MatrixQuestion], kept: types.SavedCell) -> str | None:
    """Return the document's answer before it changed, if that conflicts with the current one."""
    before = kept.previous
    if before is None or "answered" not in (before.status, kept.cell.status):
        return None
    is_same_status = before.status == kept.cell.status
    if is_same_status and answer_agreement.agree(_reading(questions, kept.cell), _reading(questions, before)):
        return None
    answer = before.answer if before.status == "answered" else "not found"
    return N_("Before it changed (version {version}): {told}").format(version=before.version, told=answer)


def _conflicts_with_others(
    questions: Sequence[types.MatrixQuestion], cells: Sequence[types.MatrixCell]
) -> dict[tuple[uuid.UUID, int], str]:
    """Return cells that say yes against no, or a different figure where all should agree, each with a message."""
    columns: dict[int, list[types.MatrixCell]] = defaultdict(list)
    for cell in cells:
        if cell.status == "answered":
            columns[cell.question].append(cell)
    messages = {}
    for number, column in columns.items():
        readings = [_reading(questions, cell) for cell in column]
        for place in answer_agreement.outliers(readings):
            says = readings[place].says
            if says is not None:
                messages[column[place].lineage_id, number] = (
                    N_("Says yes, others say otherwise") if says else N_("Says no, others say otherwise")
                )
            elif questions[number].should_agree:
                messages[column[place].lineage_id, number] = N_("Differs from the others")
    return messages


def _reading(questions: Sequence[types.MatrixQuestion], cell: types.MatrixCell) -> answer_agreement.Reading:
    return answer_agreement.read(questions[cell.question].text, cell.value or cell.answer)
