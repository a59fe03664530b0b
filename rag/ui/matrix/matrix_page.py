"""The matrix page: a table of questions by documents, and the quote of the selected answer."""

import functools
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.formatting import decimal, escape, percent, plural
from rag.ui.language import N_, _, current_language, use_language
from rag.ui.matrix import matrix_form
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.deleted_documents import show_trash_note
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

POLL_SECONDS = 1.0
ROW_PX = 76
"""Three lines of an answer."""
MAX_HEIGHT_PX = 640
CONFLICT, BLANK = "background-color: rgb(230 150 30 / 28%)", "color: #8a8a8a"
"""Readable on light and dark backgrounds."""
VERDICTS = {
    types.Support.QUOTED: N_("Quoted word for word."),
    types.Support.SUPPORTED: N_("The quote supports it."),
    types.Support.PARTLY: N_("The quote supports part of it."),
    types.Support.NOT_STATED: N_("Not stated: the quote does not say this."),
    types.Support.NOT_VERIFIED: N_("Not verified: it is unclear whether the quote answers the question."),
    types.Support.CONTRADICTED: N_("The quote contradicts it."),
    types.Support.UNCITED: N_("It cites nothing."),
}
SURE_MARKS = {
    None: "",
    types.Support.QUOTED: "",
    types.Support.SUPPORTED: "",
    "likely": "≈ ",
    types.Support.PARTLY: "½ ",
}
"""Prefix of an answer by its assurance; any other gets a question mark."""
LEGEND = N_(
    "≠ contradicts another answer · ↻ the document has changed since · ≈ likely · ½ partly supported · ? not verified"
)
FILES: dict[types.MatrixFormat, str] = {"xlsx": "Excel", "csv": "CSV"}


# --- The table --------------------------------------------------------------------------------------


def table() -> None:
    """Show a matrix with its progress and actions."""
    if matrix_form.is_open():
        matrix_form.show_form()
        return
    engine = session.own_engine()
    known = {one.id: one for one in engine.store.matrices.list()}
    if not known:
        with empty_state(
            "table", _("No matrix yet"), _("Ask many documents the same questions and compare their answers.")
        ):
            return
    with st.container():  # keeps elements below in place when the state changes
        filled = engine.matrices.get(_chosen(known))
        _state(filled)
    with st.container(key="matrix-table"):
        _answers(filled)
    st.caption(_("Click an answer to see its words on the page. {legend}").format(legend=_(LEGEND)))
    _actions(filled)


def _chosen(known: Mapping[uuid.UUID, types.Matrix]) -> uuid.UUID:
    """Choose a matrix; the choice survives visits to forms and other pages."""
    ids = list(known)
    shown: uuid.UUID | None = st.session_state.get(matrix_form.CHOSEN)
    chosen: uuid.UUID = st.selectbox(
        _("Matrix"),
        ids,
        index=ids.index(shown) if shown is not None and shown in known else 0,
        format_func=lambda one: known[one].name,
        key=_chooser(shown),
        label_visibility="collapsed",
    )
    st.session_state[matrix_form.CHOSEN] = chosen
    return chosen


def _chooser(shown: uuid.UUID | None) -> str:
    """Return the key of the list of matrices, which is new after a form has chosen one."""
    return f"matrix-of-{shown}"


def _answers(filled: types.FilledMatrix) -> None:
    numbers = range(len(filled.matrix.questions))
    columns = {f"q{number}": _column(filled.matrix.questions[number].text) for number in numbers}
    rows = [[one.name, *(_cell_text(one, filled.at(one, number)) for number in numbers)] for one in filled.documents]
    looks = [["", *(_style(filled.at(one, number)) for number in numbers)] for one in filled.documents]
    table = pd.DataFrame(rows, columns=["document", *columns])
    st.dataframe(
        table.style.apply(lambda shown: pd.DataFrame(looks, shown.index, shown.columns), axis=None),
        key=_key(filled),
        column_config={"document": st.column_config.TextColumn(_("Document"), width=150, pinned=True), **columns},
        hide_index=True,
        row_height=ROW_PX,
        height=min(ROW_PX * len(rows) + 40, MAX_HEIGHT_PX),
        on_select="rerun",
        selection_mode="single-cell",
    )


def _key(filled: types.FilledMatrix) -> str:
    """Return the table's key, which changes with its rows and columns so that a selection is never reused."""
    asked = (*(one.lineage_id for one in filled.documents), *(one.text for one in filled.matrix.questions))
    return f"matrix-{filled.matrix.id}-{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"


def _style(shown: types.ShownCell | None) -> str:
    if shown is not None and shown.conflict:
        return CONFLICT
    return BLANK if shown is None or shown.cell.status != "answered" else ""


def _column(question: str) -> Any:
    return st.column_config.TextColumn(escape(question), width=230, help=escape(question))


def _cell_text(document: types.Document, shown: types.ShownCell | None) -> str:
    """Return a cell's text: marks, page and answer."""
    if shown is None:
        return "…" if document.status is types.DocumentStatus.READY else _("… not read yet")
    cell = shown.cell
    marks = ("≠ " if shown.conflict else "") + ("↻ " if shown.is_stale else "")
    if cell.status != "answered":
        return marks + (_("not found") if cell.status == "not_found" else _("failed"))
    marks += SURE_MARKS.get(cell.assurance, "? ")
    page = _("p. {page}").format(page=cell.page_label or cell.page_number)
    return f"{marks}{page} · {cell.answer}"


def _state(filled: types.FilledMatrix) -> None:
    """Show progress, or offer to ask what is missing or stale."""
    job = filled.job
    if job is not None and job.finished_at is None:
        st.fragment(_progress, run_every=POLL_SECONDS)(filled.matrix.id, job.progress.done)
        return
    reading = [one for one in filled.documents if one.status in types.UNFINISHED]
    if reading:
        st.fragment(_reading, run_every=POLL_SECONDS)(filled.matrix.id, [one.id for one in reading])
    if job is not None and job.status == "failed":
        st.error(escape(translate_message(job.error or "")), icon=":material/error:")
    if filled.to_ask:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(
                plural(
                    filled.to_ask,
                    "{count} answer is missing or out of date.",
                    "{count} answers are missing or out of date.",
                )
            )
            if st.button(_("Ask now"), icon=":material/refresh:", type="primary"):
                session.own_engine().matrices.fill(filled.matrix.id)
                st.rerun()


def _reading(matrix_id: uuid.UUID, document_ids: Sequence[uuid.UUID]) -> None:
    """Wait for documents, which are asked when they have been read."""
    with error_boundary():
        engine = session.own_engine()
        job = engine.matrices.job(matrix_id)
        if job and job.finished_at is None:
            st.rerun()
        if any(engine.documents.get(one).status not in types.UNFINISHED for one in document_ids):
            st.rerun()
        st.caption(
            plural(
                len(document_ids),
                "{count} document is being read and will be asked next.",
                "{count} documents are being read and will be asked next.",
            )
        )


def _progress(matrix_id: uuid.UUID, shown: int) -> None:
    """Show the job's progress; rerun the page for new answers."""
    with error_boundary():
        matrices = session.own_engine().matrices
        job = matrices.job(matrix_id)
        if job is None or job.finished_at is not None:
            st.rerun()
        done, total = job.progress.done, job.progress.total
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(
                done / max(total, 1),
                text=_("{done} of {answers}").format(
                    done=decimal(done), answers=plural(total, "{count} answer", "{count} answers")
                )
                if total
                else _("Waiting …"),
            )
            if st.button(_("Cancel"), key=f"cancel-{job.id}", icon=":material/cancel:"):
                matrices.cancel(matrix_id)
                st.rerun()
        if job.error:
            st.caption(escape(translate_message(job.error)))
        if done > shown:  # last, so that no click is lost
            st.rerun()


def _actions(filled: types.FilledMatrix) -> None:
    matrix = filled.matrix
    with st.container(horizontal=True):
        st.button(_("Edit"), icon=":material/edit:", on_click=matrix_form.open_form, args=(matrix.id,))
        for format_name, label in FILES.items():
            st.download_button(
                label,
                data=functools.partial(_file, matrix.id, format_name, current_language()),
                file_name=f"{matrix.name}.{format_name}",
                mime=types.MATRIX_FILES[format_name],
                icon=":material/download:",
                on_click="ignore",
            )
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.text(_("The answers will be deleted. The documents stay."))
            st.button(_("Delete the matrix"), type="primary", on_click=_delete, args=(matrix.id,))


def _file(matrix_id: uuid.UUID, format_name: types.MatrixFormat, language: str) -> bytes:
    """Export the matrix when the button is clicked, outside a page that knows the language."""
    with use_language(language):
        return session.own_engine().matrices.export(matrix_id, format_name, say=translate_message)


def _delete(matrix_id: uuid.UUID) -> None:
    with error_boundary():
        session.own_engine().matrices.delete(matrix_id)
    st.session_state.pop(matrix_form.CHOSEN, None)


# --- The place --------------------------------------------------------------------------------------


class Clicked(NamedTuple):
    """The selected cell: its question, its answer so far and the document to show."""

    key: str
    question: str
    shown: types.ShownCell | None
    document: types.Document


def clicked() -> Clicked | None:
    """Return the selected cell before the table is drawn."""
    shown = st.session_state.get(matrix_form.CHOSEN)
    matrix_id = st.session_state.get(_chooser(shown)) or shown
    if matrix_id is None or matrix_form.is_open():
        return None
    try:
        filled = session.own_engine().matrices.get(matrix_id)
    except errors.NotFoundError:
        return None
    found = _selected_cell(filled)
    return _with_pages(filled, *found) if found else None


def _with_pages(filled: types.FilledMatrix, document: types.Document, number: int) -> Clicked | None:
    """Return a cell with the document version it was answered from; None while that has no pages."""
    shown = filled.at(document, number)
    read = session.own_engine().documents.get(shown.cell.document_id) if shown else document
    key = f"{filled.matrix.id}:{document.id}:{number}"
    return Clicked(key, filled.matrix.questions[number].text, shown, read) if read.page_count else None


def viewer(clicked: Clicked) -> None:
    """Show the selected answer and its quote on the page."""
    with st.container(key="matrix-told", gap="xsmall"):
        st.markdown(f"**{escape(clicked.question)}**")
        if clicked.shown is None:
            st.caption(_("Not answered yet."))
        else:
            _answer(clicked.shown)
    _show(clicked.document, clicked.shown.cell if clicked.shown else None)


def _selected_cell(filled: types.FilledMatrix) -> tuple[types.Document, int] | None:
    """Return the document and question of the selected cell; a document's name selects its first question."""
    state: Mapping[str, Any] = st.session_state.get(_key(filled)) or {}
    cells = (state.get("selection") or {}).get("cells") or []
    if not cells or cells[0][0] >= len(filled.documents):
        return None
    row, column = cells[0]
    number = int(column.removeprefix("q")) if column.removeprefix("q").isdigit() else 0
    return filled.documents[row], number


def _assurance(cell: types.MatrixCell) -> str:
    """Return what supports the answer."""
    if cell.likelihood is not None:
        told = _("These words match best. Chance that they answer the question: {likelihood}.")
        return told.format(likelihood=percent(cell.likelihood))
    return _(VERDICTS[cell.verdict]) if cell.verdict else ""


def _answer(shown: types.ShownCell) -> None:
    cell = shown.cell
    if cell.status == "answered":
        st.text(cell.answer)
        st.caption(_assurance(cell))
    else:
        st.text(
            _("Nothing in the document answers it.")
            if cell.status == "not_found"
            else translate_message(cell.reason or "") or _("Failed.")
        )
    if shown.conflict:
        st.warning(escape(translate_message(shown.conflict)), icon=":material/difference:")
    if shown.is_stale:
        st.info(_("The document has changed since. Ask again for a current answer."), icon=":material/refresh:")


def _show(document: types.Document, cell: types.MatrixCell | None) -> None:
    marks = (Mark("", cell.quote or "", cell.regions, ()),) if cell and cell.regions else ()
    active, page_number = 0 if marks else None, cell.page_number if cell else None
    with st.container(key="matrix-viewer"):
        show_trash_note(document)
        show_pdf(document, marks, active, page_number=page_number, key="matrix-viewer-pdf")
