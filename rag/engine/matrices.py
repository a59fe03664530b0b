"""Matrices: questions asked of each of several documents in the background, with export as a table."""

import builtins
import datetime as dt
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rag import errors, export, types, vocabulary
from rag.answering.extraction import answer_fit
from rag.answering.extraction.answer_fit import Fit
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.passages.table_text import declared_scales
from rag.answering.tables.figure_rows import Statements
from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, Scales, is_month, is_same
from rag.answering.text.question_parts import asks_whether
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.users.audit_log import Subject

MAX_CHARS = 600
"""Maximum length of a cell's answer."""
MODEL_SENTENCES = 2
"""Number of sentences of a language model's answer."""


# --- whether two answers to the same question can both be right: yes against no, figure against figure ---

_SAYS = re.compile(r"\W*(yes|no)\b(?!\s?\.\s?\d)", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\.?\s*$")


class Reading(NamedTuple):
    """The comparable content of an answer: yes or no for a yes/no question, else its main figure."""

    says: bool | None = None
    figure: Number | None = None
    scales: Scales = None


def read_answer(question: str, answer: str) -> Reading:
    """Read the comparable content of `answer`; fields stay None where nothing can be told.

    A yes/no question without a literal yes or no is answered no if a negation governs one of its words, else yes.
    """
    if asks_whether(question):
        return Reading(says=_answers_yes(question, answer))
    return Reading(figure=_figure(answer), scales=declared_scales(answer) or None)


def agree(one: Reading, other: Reading) -> bool:
    """Return whether two answers can both be right; answers that cannot be compared agree."""
    if one.says is not None and other.says is not None:
        return one.says == other.says
    if one.figure is not None and other.figure is not None:
        return is_same(one.figure, other.figure, one.scales) or is_same(other.figure, one.figure, other.scales)
    return True


def outliers(readings: Sequence[Reading]) -> set[int]:
    """Return the indexes of `readings` outside the largest agreeing group, or of all that differ if there is a tie."""
    groups: list[list[int]] = []
    for number, reading in enumerate(readings):
        if reading.says is None and reading.figure is None:
            continue
        group = next((group for group in groups if agree(readings[group[0]], reading)), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    if len(groups) < 2:
        return set()
    most = max(map(len, groups))
    largest = [group for group in groups if len(group) == most]
    return {number for group in groups if len(largest) > 1 or group is not largest[0] for number in group}


def _answers_yes(question: str, answer: str) -> bool | None:
    if said := _SAYS.match(answer):
        return said[1].casefold() == "yes"
    asked, stated = Text(question), Text(answer)
    if asked.negated or not stated.words:
        return None
    return not any(set(governed) & asked.content_keys for governed in stated.negated)


def _figure(answer: str) -> Number | None:
    found = [number for number in Text(answer).numbers if number.year is None and not _is_day(answer, number)]
    return next((number for number in found if number.unit or number.scale), found[0] if found else None)


def _is_day(text: str, number: Number) -> bool:
    before = _LAST_WORD.search(text[: number.start])
    return before is not None and is_month(before[1].casefold())


# --- matrices ---


def job_of(workspace: Workspace, matrix: types.Matrix) -> types.Job | None:
    """Return the current or last job that fills the matrix, or None."""
    try:
        return workspace.store.jobs.get(matrix.job_id) if matrix.job_id else None
    except errors.NotFoundError:
        return None


def start(workspace: Workspace, matrix: types.Matrix) -> types.Job:
    """Start filling a matrix, or return the job that does so; a follow-up job handles what is added meanwhile.

    Raises NotFoundError if the matrix is gone.
    """
    present = job_of(workspace, matrix)
    if present is not None and present.finished_at is None:
        return present
    index_name = workspace.requested_index(types.DEFAULT_INDEX).name
    cells = len(matrix.questions) * len(matrix.lineage_ids)  # the weight of the job among the user's jobs
    job = workspace.create_job("matrix", index_name, {"matrix_id": str(matrix.id), "cells": cells})
    workspace.store.matrices.set_job(matrix.id, job.id)
    return job


def refill(workspace: Workspace, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None) -> None:
    """Start filling a matrix, or those of a document, where cells are missing or outdated."""
    for matrix in workspace.store.matrices.open(matrix_id=matrix_id, lineage_id=lineage_id):
        start(workspace, matrix)


class Matrices:
    """One user's matrices, over the user's own documents."""

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

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

        Raises ValidationError, NotFoundError and ProviderError.
        """
        parsed = parse(types.MatrixRequest, request)
        lineages = self._lineages(parsed.document_ids)
        documents = self._workspace.store.matrices.documents(lineages)
        cells = [
            types.SavedCell(cell=self._answer_cell(document, number, question))
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

        Raises ValidationError and NotFoundError.
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
        documents = [store.documents.get(document_id) for document_id in dict.fromkeys(document_ids)]
        lineages = [*dict.fromkeys(document.lineage_id or document.id for document in documents)]
        if len(store.matrices.documents(lineages)) < len(lineages):
            raise errors.NotFoundError(
                N_("A matrix is of documents of your own that are not in the trash. Choose others.")
            )
        return lineages

    def fill(self, matrix_id: uuid.UUID) -> types.Job:
        """Start filling empty and outdated cells, or return the job that does so. Raises NotFoundError."""
        return start(self._workspace, self._workspace.store.matrices.get(matrix_id))

    def fill_cells(self, matrix_id: uuid.UUID, report: types.OnProgress, pause: Callable[[], None]) -> dict[str, Any]:
        """Answer empty and outdated cells in this process. Documents that are not read yet are skipped.

        Each answer is saved at once, so that an interrupted job resumes where it was. `pause` is called before each
        question.

        Returns:
            The numbers of cells `answered`, `notFound` and `failed`; `waiting`, the names of skipped documents.
        Raises NotFoundError, CancelledError and ProviderError.
        """
        store = self._workspace.store.matrices
        matrix = store.get(matrix_id)
        documents = store.documents(matrix.lineage_ids)
        cells = {(saved.cell.lineage_id, saved.cell.question): saved for saved in store.cells(matrix_id)}
        counts = {"answered": 0, "not_found": 0, "failed": 0}
        total, done = len(documents) * len(matrix.questions), 0
        for document in documents:
            for number, question in enumerate(matrix.questions):
                report("cells", done, total)
                done += 1
                saved = cells.get((document.lineage_id or document.id, number))
                if saved is not None and _is_fresh(saved, document):
                    counts[saved.cell.status] += 1
                elif document.status is types.DocumentStatus.READY:
                    pause()
                    cell = self._answer_cell(document, number, question)
                    try:
                        store.put(matrix_id, question, cell)
                    except errors.NotFoundError:  # its question or document was removed meanwhile
                        store.get(matrix_id)
                    counts[cell.status] += 1
        report("cells", total, total)
        return {
            "answered": counts["answered"],
            "notFound": counts["not_found"],
            "failed": counts["failed"],
            "waiting": [document.name for document in documents if document.status is not types.DocumentStatus.READY],
        }

    def _answer_cell(self, document: types.Document, number: int, question: types.MatrixQuestion) -> types.MatrixCell:
        request = types.AnswerRequest(
            index_name=str(document.index_id),
            question=question.text,
            retrieval=types.RetrievalOptions(filters=types.Filters(document_ids=(document.id,))),
        )
        try:
            response = self._questions.answer(request)
            item = answer_fit.requested_item(question.text)
            names = [item.place] if item and item.place else []
            # the pages of the document's own statement with the requested line item
            pages = vocabulary.own_pages(self._workspace.store.chunks.landmarks(document.id, names))
            content = _answer_fields(question.text, response, pages)
        except (errors.GroundingError, errors.NotFoundError) as error:  # concerns this document only
            content = {"status": "failed", "reason": error.message}
        return types.MatrixCell(
            lineage_id=document.lineage_id or document.id,
            question=number,
            document_id=document.id,
            version=document.version,
            sha256=document.sha256,
            answered_at=dt.datetime.now(dt.UTC),
            **content,
        )

    def job(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Return the current or last job that fills the matrix. Raises NotFoundError."""
        return job_of(self._workspace, self._workspace.store.matrices.get(matrix_id))

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
            job=job_of(self._workspace, matrix),
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


def _is_fresh(saved: types.SavedCell, document: types.Document) -> bool:
    return saved.cell.status != "failed" and saved.cell.sha256 == document.sha256


def _answer_fields(question: str, response: types.AnswerResponse, statements: Statements) -> dict[str, Any]:
    chosen = _best_citation(question, response, statements) if response.status == "ok" else None
    if chosen is None:
        return {"status": "not_found", "model": response.model}
    citation, support, likelihood = chosen
    row = _row(response, citation)
    return {
        "status": "answered",
        "answer": _row_text(row) if row else _text(response, citation),
        "value": row.cells[row.asked] if row and row.asked is not None else None,
        "verdict": support,
        "likelihood": likelihood,
        "quote": citation.quote,
        "page_number": _page(response, citation),
        "page_label": citation.page_label,
        "regions": citation.regions,
        "model": response.model,
    }


def _page(response: types.AnswerResponse, citation: types.Citation) -> int:
    hit = response.sources[citation.citation_id]
    return citation.regions[0].page_number if citation.regions else citation.lines_in(hit)[0].page_number


class _Choice(NamedTuple):
    """The best citation, its verdict, and else its likelihood."""

    citation: types.Citation
    support: types.Support | None
    likelihood: float | None


def _best_citation(question: str, response: types.AnswerResponse, statements: Statements) -> _Choice | None:
    """Return the citation that answers best, or None.

    Proved statements come first, then those that fit the question better. A line item outside the document's own
    statement may be an affiliate's, and is not proved. A quote whose fit cannot be checked is at most likely.
    """

    def is_proved(citation: types.Citation) -> bool:
        support = response.sentences[citation.sentence].support
        return support is not None and support.is_proved

    fitting = [
        (fit, citation)
        for citation, _ in response.cited
        if (fit := _fit(question, response, citation, statements)) is None or fit > Fit.UNNAMED
    ]
    if not fitting:
        return None
    fit, citation = max(fitting, key=lambda pair: (is_proved(pair[1]), pair[0] in (Fit.GIVES, None)))
    support = response.sentences[citation.sentence].support
    if not is_proved(citation):
        return _Choice(citation, support, None)
    if fit is None and response.confidence == "likely":
        return _Choice(citation, None, response.likelihood)
    alike = [response.sentences[other.sentence].text for kind, other in fitting if kind is not None]
    is_given = fit is Fit.GIVES and not _has_conflicting_figures(question, alike)
    is_sure = is_given or (fit is None and response.confidence is None)
    return _Choice(citation, support if is_sure else types.Support.NOT_VERIFIED, None)


def _has_conflicting_figures(question: str, statements: Sequence[str]) -> bool:
    """Whether statements that may give the figure give different ones, such as of a segment and of the whole."""
    first, *others = (read_answer(question, statement) for statement in statements)
    return not all(agree(first, other) for other in others)


def _fit(question: str, response: types.AnswerResponse, citation: types.Citation, statements: Statements) -> Fit | None:
    hit = response.sources[citation.citation_id]
    fit = answer_fit.fit(question, response.sentences[citation.sentence].text, _row(response, citation), hit)
    is_own = answer_fit.is_own_item(question, _page(response, citation), statements)
    return fit if is_own or fit is not Fit.GIVES else Fit.NEAR


def _row(response: types.AnswerResponse, citation: types.Citation) -> types.QuotedRow | None:
    return citation.row if citation.sentence in response.rows else None


def _text(response: types.AnswerResponse, first: types.Citation) -> str:
    """Return the cited statement; of a model's answer also the next one, as the first may state nothing."""
    count = 1 if response.model == EXTRACTIVE_MODEL else MODEL_SENTENCES
    sentences = response.sentences[first.sentence : first.sentence + count]
    text = " ".join(" ".join(sentence.text.split()) for sentence in sentences if not sentence.is_unproved)
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS].rpartition(' ')[0]} …"


def _row_text(row: types.QuotedRow) -> str:
    """Format a table row, such as "Net sales, 2022: 394,328 (in millions)"."""
    columns = [*row.columns, *[""] * (len(row.cells) - len(row.columns))]
    chosen = [row.asked] if row.asked is not None else [*range(len(row.cells))]
    cells = "; ".join(f"{columns[i]}: {row.cells[i]}" if columns[i] else row.cells[i] for i in chosen)
    caption = f" ({row.caption.strip('() ')})" if row.caption else ""
    text = f"{row.label}, {cells}{caption}" if row.label else f"{cells}{caption}"
    return text[:MAX_CHARS]


def _shown_cells(
    questions: Sequence[types.MatrixQuestion], documents: Iterable[types.Document], kept: Sequence[types.SavedCell]
) -> list[types.ShownCell]:
    by_lineage = {document.lineage_id: document for document in documents}
    cells = [saved for saved in kept if saved.cell.lineage_id in by_lineage]
    others = _conflicts_with_others(questions, [saved.cell for saved in cells])
    return [
        types.ShownCell(
            cell=saved.cell,
            previous=saved.previous,
            is_stale=saved.cell.status != "failed" and not _is_fresh(saved, by_lineage[saved.cell.lineage_id]),
            conflict=_conflict_with_previous(questions, saved)
            or others.get((saved.cell.lineage_id, saved.cell.question)),
        )
        for saved in cells
    ]


def _conflict_with_previous(questions: Sequence[types.MatrixQuestion], saved: types.SavedCell) -> str | None:
    """Return the document's answer before it changed, if that conflicts with the current one."""
    before = saved.previous
    if before is None or "answered" not in (before.status, saved.cell.status):
        return None
    is_same_status = before.status == saved.cell.status
    if is_same_status and agree(_reading(questions, saved.cell), _reading(questions, before)):
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
        for place in outliers(readings):
            says = readings[place].says
            if says is not None:
                messages[column[place].lineage_id, number] = (
                    N_("Says yes, others say otherwise") if says else N_("Says no, others say otherwise")
                )
            elif questions[number].should_agree:
                messages[column[place].lineage_id, number] = N_("Differs from the others")
    return messages


def _reading(questions: Sequence[types.MatrixQuestion], cell: types.MatrixCell) -> Reading:
    return read_answer(questions[cell.question].text, cell.value or cell.answer)
