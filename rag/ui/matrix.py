"""The matrix page: a table of questions by documents, the quote of the selected answer, and the form of a matrix."""

import functools
import hashlib
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from rag import errors, types, vocabulary
from rag.ui import session
from rag.ui.components import download_button
from rag.ui.formatting import decimal, escape, percent, plural
from rag.ui.language import N_, _, current_language, translate_columns, use_language
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import Mark, show_pdf, show_trash_note

CHOSEN = "matrix-chosen"
"""Session key of the id of the open matrix."""
OPEN = "matrix-form"
"""Session key of the open form: `NEW`, or the id of the matrix being edited."""
NEW = "new"
INITIAL_DOCUMENTS = "matrix-given"
"""Session key of documents chosen on another page for a new matrix."""
OWN_QUESTIONS = "own"
"""Key of the table that no template fills."""
QUESTION, AGREE = "question", "agree"
COLUMNS = {
    QUESTION: st.column_config.TextColumn(N_("Question"), width=420),
    AGREE: st.column_config.CheckboxColumn(N_("All should agree"), width=130, help=N_("Mark answers that differ.")),
}
EMPTY = [{QUESTION: "", AGREE: False}]
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
    if is_open():
        with st.container(border=True, key="matrix-form"):
            _form()
        return
    engine = session.own_engine()
    names = {matrix.id: matrix.name for matrix in engine.store.matrices.list()}
    if not names:
        text = _("Ask many documents the same questions and compare their answers.")
        empty_state("table", _("No matrix yet"), text)
        return
    with st.container():  # keeps elements below in place when the state changes
        ids = list(names)
        last: uuid.UUID | None = st.session_state.get(CHOSEN)
        chosen: uuid.UUID = st.selectbox(
            _("Matrix"),
            ids,
            index=ids.index(last) if last is not None and last in names else 0,
            format_func=names.__getitem__,
            key=_chooser(last),
            label_visibility="collapsed",
        )
        st.session_state[CHOSEN] = chosen  # survives visits to forms and other pages
        filled = engine.matrices.get(chosen)
        _state(filled)
    with st.container(key="matrix-table"):
        _answers(filled)
    st.caption(_("Click an answer to see its words on the page. {legend}", legend=_(LEGEND)))
    _actions(filled)


def _chooser(chosen: uuid.UUID | None) -> str:
    """Return the key of the list of matrices, which is new after a form has chosen one."""
    return f"matrix-of-{chosen}"


def _answers(filled: types.FilledMatrix) -> None:
    columns: dict[str, Any] = {
        f"q{number}": st.column_config.TextColumn(escape(question.text), width=230, help=escape(question.text))
        for number, question in enumerate(filled.matrix.questions)
    }
    numbers = range(len(columns))
    rows = [
        [document.name, *(_cell_text(document, filled.at(document, number)) for number in numbers)]
        for document in filled.documents
    ]
    looks = [["", *(_style(filled.at(document, number)) for number in numbers)] for document in filled.documents]
    table = pd.DataFrame(rows, columns=["document", *columns])
    st.dataframe(
        table.style.apply(lambda table: pd.DataFrame(looks, table.index, table.columns), axis=None),
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
    documents = [document.lineage_id for document in filled.documents]
    questions = [question.text for question in filled.matrix.questions]
    return f"matrix-{filled.matrix.id}-{hashlib.sha256(repr((documents, questions)).encode()).hexdigest()[:8]}"


def _style(shown: types.ShownCell | None) -> str:
    if shown is not None and shown.conflict:
        return CONFLICT
    return BLANK if shown is None or shown.cell.status != "answered" else ""


def _cell_text(document: types.Document, shown: types.ShownCell | None) -> str:
    """Return a cell's text: marks, page and answer."""
    if shown is None:
        return "…" if document.status is types.DocumentStatus.READY else _("… not read yet")
    cell = shown.cell
    marks = ("≠ " if shown.conflict else "") + ("↻ " if shown.is_stale else "")
    if cell.status != "answered":
        return marks + (_("not found") if cell.status == "not_found" else _("failed"))
    marks += SURE_MARKS.get(cell.assurance, "? ")
    page = _("p. {page}", page=cell.page_label or cell.page_number)
    return f"{marks}{page} · {cell.answer}"


def _state(filled: types.FilledMatrix) -> None:
    """Show progress, or offer to ask what is missing or stale."""
    job = filled.job
    if job is not None and job.finished_at is None:
        st.fragment(_progress, run_every=POLL_SECONDS)(filled.matrix.id, job.progress.done)
        return
    reading = [document.id for document in filled.documents if document.status in types.UNFINISHED]
    if reading:
        st.fragment(_reading, run_every=POLL_SECONDS)(filled.matrix.id, reading)
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
        if any(engine.documents.get(document_id).status not in types.UNFINISHED for document_id in document_ids):
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
                text=_(
                    "{done} of {answers}",
                    done=decimal(done),
                    answers=plural(total, "{count} answer", "{count} answers"),
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
    matrix, matrices = filled.matrix, session.own_engine().matrices
    with st.container(horizontal=True):
        st.button(_("Edit"), icon=":material/edit:", on_click=open_form, args=(matrix.id,))
        for format_name, label in FILES.items():
            download_button(
                label,
                functools.partial(
                    _file,
                    functools.partial(matrices.export, matrix.id, format_name, say=translate_message),
                    current_language(),
                ),
                f"{matrix.name}.{format_name}",
                types.MATRIX_FILES[format_name],
            )
        with st.popover(_("Delete"), icon=":material/delete:"):
            st.text(_("The answers will be deleted. The documents stay."))
            st.button(_("Delete the matrix"), type="primary", on_click=_delete, args=(matrix.id,))


def _file(export: Callable[[], bytes], language: str) -> bytes:
    """Make a file when the button is clicked, outside a page that knows the user and the language."""
    with use_language(language):
        return export()


def _delete(matrix_id: uuid.UUID) -> None:
    with error_boundary():
        session.own_engine().matrices.delete(matrix_id)
    st.session_state.pop(CHOSEN, None)


# --- The place --------------------------------------------------------------------------------------


class Clicked(NamedTuple):
    """The selected cell: its question, its answer so far and the document to show."""

    key: str
    question: str
    shown: types.ShownCell | None
    document: types.Document


def clicked() -> Clicked | None:
    """Return the selected cell before the table is drawn."""
    last = st.session_state.get(CHOSEN)
    matrix_id = st.session_state.get(_chooser(last)) or last
    if matrix_id is None or is_open():
        return None
    engine = session.own_engine()
    try:
        filled = engine.matrices.get(matrix_id)
    except errors.NotFoundError:
        return None
    state: Mapping[str, Any] = st.session_state.get(_key(filled)) or {}
    cells = (state.get("selection") or {}).get("cells") or []
    if not cells or cells[0][0] >= len(filled.documents):
        return None
    row, column = cells[0]
    document, text = filled.documents[row], column.removeprefix("q")
    number = int(text) if text.isdigit() else 0  # a document's name selects its first question
    shown = filled.at(document, number)
    if shown:  # the version that it was answered from
        source = engine.documents.get(shown.cell.document_id)
    else:
        source = document
    key = f"{filled.matrix.id}:{document.id}:{number}"
    return Clicked(key, filled.matrix.questions[number].text, shown, source) if source.page_count else None


def viewer(clicked: Clicked) -> None:
    """Show the selected answer and its quote on the page."""
    with st.container(key="matrix-told", gap="xsmall"):
        st.markdown(f"**{escape(clicked.question)}**")
        if clicked.shown is None:
            st.caption(_("Not answered yet."))
        else:
            _answer(clicked.shown)
    cell = clicked.shown.cell if clicked.shown else None
    marks = (Mark("", cell.quote or "", cell.regions, ()),) if cell and cell.regions else ()
    active, page_number = 0 if marks else None, cell.page_number if cell else None
    with st.container(key="matrix-viewer"):
        show_trash_note(clicked.document)
        show_pdf(clicked.document, marks, active, page_number=page_number, key="matrix-viewer-pdf")


def _answer(shown: types.ShownCell) -> None:
    cell = shown.cell
    if cell.status == "answered":
        st.text(cell.answer)
        if cell.likelihood is not None:
            likelihood = percent(cell.likelihood)
            st.caption(
                _("These words match best. Chance that they answer the question: {likelihood}.", likelihood=likelihood)
            )
        else:
            st.caption(_(VERDICTS[cell.verdict]) if cell.verdict else "")
    elif cell.status == "not_found":
        st.text(_("Nothing in the document answers it."))
    else:
        st.text(translate_message(cell.reason or "") or _("Failed."))
    if shown.conflict:
        st.warning(escape(translate_message(shown.conflict)), icon=":material/difference:")
    if shown.is_stale:
        st.info(_("The document has changed since. Ask again for a current answer."), icon=":material/refresh:")


# --- The form ---------------------------------------------------------------------------------------


def is_open() -> bool:
    """Return whether a form replaces the table."""
    return st.session_state.get(OPEN) is not None


def open_form(to: str | uuid.UUID | None) -> None:
    """Open the form for a new matrix (`NEW`) or an existing one; None closes it."""
    st.session_state[OPEN] = to
    st.session_state.pop(INITIAL_DOCUMENTS, None)


def start_with(document_ids: Sequence[uuid.UUID]) -> None:
    """Open the form of a new matrix about these documents."""
    open_form(NEW)
    st.session_state[INITIAL_DOCUMENTS] = list(document_ids)


def form_button() -> None:
    """Show the button that opens a new form or closes the open one."""
    label, icon, to = (_("Close"), "close", None) if is_open() else (_("New matrix"), "add", NEW)
    st.button(label, icon=f":material/{icon}:", on_click=open_form, args=(to,))


def _form() -> None:
    """Show the form of a new matrix, or of the one being edited."""
    engine, opened = session.own_engine(), st.session_state[OPEN]
    filled = None if opened == NEW else engine.matrices.get(opened)
    collection = types.DEFAULT_INDEX if session.engine().is_shared else session.collection()
    # Documents that can be asked now or when they have been read; those of the matrix come first.
    never = (types.DocumentStatus.FAILED, types.DocumentStatus.NEEDS_PASSWORD)
    candidates = [*(filled.documents if filled else ()), *engine.documents.list(collection)]
    documents = {document.id: document for document in candidates if document.status not in never}
    if not documents and not filled:
        st.info(_("No documents yet. Upload some of your own first."), icon=":material/upload_file:")
        return
    if filled:
        name = st.text_input(_("Name"), filled.matrix.name, key=f"matrix-name-{opened}")
        present = [document.id for document in filled.documents]
    else:
        name = st.text_input(_("Name"), placeholder=_("Annual reports 2022"))
        present = st.session_state.get(INITIAL_DOCUMENTS, [*documents][:1])
    chosen = st.multiselect(
        _("Documents"),
        list(documents),
        default=[document_id for document_id in present if document_id in documents],
        format_func=lambda document_id: documents[document_id].name,
        key=f"matrix-documents-{opened}",
    )
    if filled:
        questions = _questions(_rows(filled.matrix.questions), str(opened))
        st.caption(_("New questions are asked. Answers to removed or reworded questions are deleted."))
        is_submitted = st.button(_("Save"), type="primary", icon=":material/check:")
    else:
        templates = {template.title: template for template in vocabulary.question_sets()}
        title = st.pills(_("Typical questions"), list(templates), format_func=_)
        questions = _questions(_rows(templates[title].questions) if title else EMPTY, title or OWN_QUESTIONS)
        is_submitted = st.button(_("Ask"), type="primary", icon=":material/play_arrow:")
    if not is_submitted:
        return
    if not chosen and (present or not filled):  # documents of a matrix that are in the trash keep their rows
        st.warning(_("Choose at least one document."), icon=":material/description:")
    elif not questions:
        st.warning(_("Write at least one question."), icon=":material/help:")
    else:
        request: dict[str, object] = {"name": name, "questions": questions, "document_ids": chosen}
        if filled is None:
            st.session_state[CHOSEN] = engine.matrices.create(request | {"name": name or _("Matrix")}).id
        else:
            if chosen == present:
                del request["document_ids"]
            engine.matrices.edit(filled.matrix.id, request)
        open_form(None)
        st.rerun()


def _rows(questions: Iterable[types.MatrixQuestion]) -> list[dict[str, object]]:
    return [{QUESTION: question.text, AGREE: question.should_agree} for question in questions]


def _questions(initial: list[dict[str, object]], key: str) -> list[dict[str, object]]:
    """Show an editable table of questions and return them.

    `on_change="ignore"` keeps edits in the browser until the next rerun: reporting each edit takes half a second,
    and would come too late for a button that is clicked before.
    """
    rows: Sequence[Mapping[str, Any]] = st.data_editor(
        initial,
        key=f"matrix-questions-{key}",
        column_config=translate_columns(COLUMNS),
        num_rows="dynamic",
        hide_index=True,
        height=260,
        on_change="ignore",
    )
    texts = [(str(row.get(QUESTION) or "").strip(), bool(row.get(AGREE))) for row in rows]
    return [{"text": text, "should_agree": agree} for text, agree in texts if text]
