"""Fill a matrix cell by cell. Each answer is saved at once, so that an interrupted job resumes where it was."""

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rag import answering, errors, types, vocabulary
from rag.answering.extraction import answer_fit
from rag.answering.extraction.answer_fit import Fit
from rag.answering.tables.figure_rows import Statements
from rag.engine.matrix import answer_agreement
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Workspace

MAX_CHARS = 600
"""Maximum length of a cell's answer."""
MODEL_SENTENCES = 2
"""Number of sentences of a language model's answer."""

Place = tuple[uuid.UUID | None, int]


def is_fresh(kept: types.SavedCell | None, document: types.Document) -> bool:
    """Whether a cell was answered from the document's current content."""
    return kept is not None and kept.cell.status != "failed" and kept.cell.sha256 == document.sha256


def fill(
    workspace: Workspace,
    questions: Questions,
    matrix_id: uuid.UUID,
    report: types.OnProgress,
    pause: Callable[[], None],
) -> dict[str, Any]:
    """Answer empty and outdated cells. Documents that are not read yet are skipped.

    `pause` is called before each question.

    Returns:
        The numbers of cells `answered`, `notFound` and `failed`; `waiting`, the names of skipped documents.

    Raises:
        errors.NotFoundError: the matrix is gone.
        errors.CancelledError: the job was cancelled.
        errors.ProviderError: a provider refuses or is down.
    """
    store = workspace.store.matrices
    matrix = store.get(matrix_id)
    documents = store.documents(matrix.lineage_ids)
    kept: dict[Place, types.SavedCell] = {
        (one.cell.lineage_id, one.cell.question): one for one in store.cells(matrix_id)
    }
    counts = {"answered": 0, "not_found": 0, "failed": 0}
    total, done = len(documents) * len(matrix.questions), 0
    for document in documents:
        for number, question in enumerate(matrix.questions):
            report("cells", done, total)
            done += 1
            present = kept.get((document.lineage_id, number))
            if present is not None and is_fresh(present, document):
                counts[present.cell.status] += 1
            elif document.status is types.DocumentStatus.READY:
                pause()
                cell = answer_cell(workspace, questions, document, number, question)
                _save(workspace, matrix_id, question, cell)
                counts[cell.status] += 1
    report("cells", total, total)
    waiting = [document.name for document in documents if document.status is not types.DocumentStatus.READY]
    return {
        "answered": counts["answered"],
        "notFound": counts["not_found"],
        "failed": counts["failed"],
        "waiting": waiting,
    }


def _save(workspace: Workspace, matrix_id: uuid.UUID, question: types.MatrixQuestion, cell: types.MatrixCell) -> None:
    """Save a cell, unless its question or document was removed meanwhile."""
    try:
        workspace.store.matrices.put(matrix_id, question, cell)
    except errors.NotFoundError:
        workspace.store.matrices.get(matrix_id)


def answer_cell(
    workspace: Workspace, questions: Questions, document: types.Document, number: int, question: types.MatrixQuestion
) -> types.MatrixCell:
    """Answer one question from one document. Raises ProviderError."""
    request = types.AnswerRequest(
        index_name=str(document.index_id),
        question=question.text,
        retrieval=types.RetrievalOptions(filters=types.Filters(document_ids=(document.id,))),
    )
    try:
        response = questions.answer(request)
    except (errors.GroundingError, errors.NotFoundError) as error:  # concerns this document only
        return _cell(document, number, {"status": "failed", "reason": error.message})
    return _cell(
        document, number, _answer_fields(question.text, response, _statements(workspace, document, question.text))
    )


def _statements(workspace: Workspace, document: types.Document, question: str) -> Statements:
    """Return the pages of the document's own statement with the requested line item."""
    item = answer_fit.requested_item(question)
    names = [item.place] if item and item.place else []
    return vocabulary.own_pages(workspace.store.pages.landmarks(document.id, names))


def _cell(document: types.Document, number: int, content: dict[str, Any]) -> types.MatrixCell:
    return types.MatrixCell(
        lineage_id=document.lineage_id or document.id,
        question=number,
        document_id=document.id,
        version=document.version,
        sha256=document.sha256,
        answered_at=dt.datetime.now(dt.UTC),
        **content,
    )


def _answer_fields(question: str, response: types.AnswerResponse, statements: Statements) -> dict[str, Any]:
    """Return the fields of a cell: the best answer, its verdict and its place."""
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
    found = [(_fit(question, response, citation, statements), citation) for citation, _ in response.cited]
    able = [(fits, citation) for fits, citation in found if fits is None or fits > Fit.UNNAMED]
    if not able:
        return None

    def worth(pair: tuple[Fit | None, types.Citation]) -> tuple[bool, bool]:
        return _is_proved(response, pair[1]), pair[0] in (Fit.GIVES, None)

    fits, citation = max(able, key=worth)
    support = response.sentences[citation.sentence].support
    is_proved = _is_proved(response, citation)
    if fits is None and response.confidence == "likely" and is_proved:
        return _Choice(citation, None, response.likelihood)
    alike = [response.sentences[one.sentence].text for kind, one in able if kind is not None]
    is_given = fits is Fit.GIVES and not _has_conflicting_figures(question, alike)
    is_sure = is_given or (fits is None and response.confidence is None)
    return _Choice(citation, support if is_sure or not is_proved else types.Support.NOT_VERIFIED, None)


def _is_proved(response: types.AnswerResponse, citation: types.Citation) -> bool:
    support = response.sentences[citation.sentence].support
    return support is not None and support.is_proved


def _has_conflicting_figures(question: str, statements: Sequence[str]) -> bool:
    """Whether statements that may give the figure give different ones, such as of a segment and of the whole."""
    first, *others = (answer_agreement.read(question, statement) for statement in statements)
    return not all(answer_agreement.agree(first, other) for other in others)


def _fit(question: str, response: types.AnswerResponse, citation: types.Citation, statements: Statements) -> Fit | None:
    hit = response.sources[citation.citation_id]
    found = answer_fit.fit(question, response.sentences[citation.sentence].text, _row(response, citation), hit)
    is_own = answer_fit.is_own_item(question, _page(response, citation), statements)
    return found if is_own or found is not Fit.GIVES else Fit.NEAR


def _row(response: types.AnswerResponse, citation: types.Citation) -> types.QuotedRow | None:
    return citation.row if citation.sentence in response.rows else None


def _text(response: types.AnswerResponse, first: types.Citation) -> str:
    """Return the cited statement; of a model's answer also the next one, as the first may state nothing."""
    count = 1 if response.model == answering.EXTRACTIVE_MODEL else MODEL_SENTENCES
    sentences = response.sentences[first.sentence : first.sentence + count]
    shown = " ".join(" ".join(one.text.split()) for one in sentences if not one.is_unproved)
    return shown if len(shown) <= MAX_CHARS else f"{shown[:MAX_CHARS].rpartition(' ')[0]} …"


def _row_text(row: types.QuotedRow) -> str:
    """Format a table row, such as "Net sales, 2022: 394,328 (in millions)"."""
    columns = [*row.columns, *[""] * (len(row.cells) - len(row.columns))]
    chosen = [row.asked] if row.asked is not None else [*range(len(row.cells))]
    cells = "; ".join(f"{columns[i]}: {row.cells[i]}" if columns[i] else row.cells[i] for i in chosen)
    caption = f" ({row.caption.strip('() ')})" if row.caption else ""
    text = f"{row.label}, {cells}{caption}" if row.label else f"{cells}{caption}"
    return text[:MAX_CHARS]
