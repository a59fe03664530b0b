"""The filling of matrices: jobs that read what is missing or outdated, and new documents that join."""

import datetime as dt
import functools
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

from pydantic.alias_generators import to_camel

from rag import errors, types
from rag.engine.field_reading import FieldReader, Read
from rag.engine.questions.questions import Questions
from rag.engine.workspace import Workspace
from rag.store.conversations.matrices import Matrices


def job_of(workspace: Workspace, matrix: types.Matrix) -> types.Job | None:
    """Return the current or last job that fills the matrix, or None."""
    try:
        return workspace.store.jobs.get(matrix.job_id) if matrix.job_id else None
    except errors.NotFoundError:
        return None


def start(workspace: Workspace, matrix: types.Matrix, *, is_asked: bool = False) -> types.Job:
    """Start filling a matrix, or return the job that does so; a follow-up job handles what is added meanwhile.

    A new job is audited if a person asked for it. Raises NotFoundError if the matrix is gone.
    """
    present = job_of(workspace, matrix)
    if present is not None and present.finished_at is None:
        return present
    index_name = workspace.requested_index(types.DEFAULT_INDEX).name
    cells = len(matrix.fields) * len(matrix.lineage_ids[: matrix.pilot])  # the weight of the job among the user's jobs
    return workspace.enqueue_job(workspace.store.matrices.start_job(matrix.id, index_name, cells, is_asked=is_asked))


def refill(workspace: Workspace, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None) -> None:
    """Start filling a matrix, or those of a document, where cells are missing or outdated."""
    for matrix in workspace.store.matrices.open(matrix_id=matrix_id, lineage_id=lineage_id):
        start(workspace, matrix)


def follow(workspace: Workspace, document_ids: Sequence[uuid.UUID]) -> None:
    """Add documents that were read to the matrices that follow their collection and tags, and fill their rows.

    In a collection that another user shares it does nothing: the matrices are its owner's.
    """
    if workspace.permission is not None:
        return
    for matrix_id in workspace.store.matrices.join_following(document_ids):
        refill(workspace, matrix_id=matrix_id)


def fill_cells(
    workspace: Workspace,
    questions: Questions,
    job: types.Job,
    *,
    matrix_id: uuid.UUID,
    report: types.OnProgress,
    pause: Callable[[], None],
) -> dict[str, Any]:
    """Fill empty and outdated cells. Documents that are not read yet are skipped.

    It ends when another job was started for the matrix, so that no two pay for the same cells.

    What a request gives is saved at once, all of it or nothing: an interrupted job resumes with the next request. A
    language model's reply is kept before, so that it is not paid twice. `pause` is called before each request.

    Returns:
        The numbers of cells `found`, `notStated`, `conflict` and `failed`, and of skipped documents, `waiting`;
        `filled`, how many cells this run read, with the tokens and cost that it took.
    Raises NotFoundError, CancelledError and ProviderError.
    """
    store = workspace.store.matrices
    matrix = store.get(matrix_id)
    documents, field_ids = store.documents(matrix.lineage_ids[: matrix.pilot]), [field.id for field in matrix.fields]
    reader = FieldReader(workspace, questions, types.GenerationOptions())
    counts, total, kept = Counter[str](), len(documents) * len(field_ids), 0

    def count(states: Iterable[str]) -> None:
        counts.update(states)
        report("cells", counts.total(), total)

    for document in documents:
        saved = store.cells(matrix_id, lineage_ids=[document.lineage], field_ids=field_ids, in_brief=True)
        fresh = {one.cell.field_id: one.cell.state for one in saved if one.is_fresh(document)}
        count(fresh.values())
        kept += len(fresh)
        missing = [field for field in matrix.fields if field.id not in fresh]
        if not missing or document.status is not types.DocumentStatus.READY:
            count(["waiting"] * len(missing))
            continue
        if store.get(matrix_id).job_id != job.id:
            break
        try:
            with_pages = workspace.store.documents.get(document.id)
        except errors.NotFoundError:
            continue  # purged meanwhile
        _fill_row(
            store, matrix_id, document, functools.partial(reader.read, with_pages, missing), pause=pause, count=count
        )
    return {
        **{to_camel(state): counts[state] for state in get_args(types.CellState)},
        "filled": counts.total() - counts["waiting"] - kept,
        "waiting": sum(one.status is not types.DocumentStatus.READY for one in documents),
        "usage": reader.usage.model_dump(mode="json", by_alias=True),
    }


def _fill_row(
    store: Matrices,
    matrix_id: uuid.UUID,
    document: types.Document,
    read: Callable[[Callable[[], None]], Read],
    *,
    pause: Callable[[], None],
    count: Callable[[Iterable[str]], None],
) -> None:
    """Save the values of a document, those of one request together: a part of them would be asked for anew."""
    values = list[tuple[types.FieldDefinition, types.MatrixCell]]()

    def save() -> None:
        if values and len(store.put(matrix_id, values)) < len(values):  # fields were changed, or all deleted
            store.get(matrix_id)
        count(cell.state for _, cell in values)
        values.clear()

    def save_and_pause() -> None:
        save()
        pause()

    for field, found in read(save_and_pause):
        cell = types.MatrixCell(
            **dict(found),
            lineage_id=document.lineage,
            field_id=field.id or uuid.uuid4(),
            document_id=document.id,
            version=document.version,
            sha256=document.sha256,
            filled_at=dt.datetime.now(dt.UTC),
        )
        values.append((field, cell))
    save()
