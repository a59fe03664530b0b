"""Form to create or edit a matrix: its documents and questions."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag import types, vocabulary
from rag.ui import session
from rag.ui.language import N_, _, translate_columns

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
    if is_open():
        st.button(_("Close"), icon=":material/close:", on_click=open_form, args=(None,))
    else:
        st.button(_("New matrix"), icon=":material/add:", on_click=open_form, args=(NEW,))


def show_form() -> None:
    """Show the open form."""
    with st.container(border=True, key="matrix-form"):
        if st.session_state[OPEN] == NEW:
            _new()
        else:
            _edit(session.own_engine().matrices.get(st.session_state[OPEN]))


def _new() -> None:
    engine = session.own_engine()
    documents = _askable(engine.documents.list(_index_name()))
    if not documents:
        st.info(_("No documents yet. Upload some of your own first."), icon=":material/upload_file:")
        return
    name = st.text_input(_("Name"), placeholder=_("Annual reports 2022"))
    chosen = _documents(documents, st.session_state.get(INITIAL_DOCUMENTS, [*documents][:1]), NEW)
    questions = _template_questions(vocabulary.question_sets())
    if st.button(_("Ask"), type="primary", icon=":material/play_arrow:") and _is_complete(bool(chosen), questions):
        asked = {"name": name or _("Matrix"), "document_ids": chosen, "questions": questions}
        st.session_state[CHOSEN] = engine.matrices.create(asked).id
        open_form(None)
        st.rerun()


def _edit(filled: types.FilledMatrix) -> None:
    engine, matrix = session.own_engine(), filled.matrix
    present = [one.id for one in filled.documents]
    documents = _askable([*filled.documents, *engine.documents.list(_index_name())])
    name = st.text_input(_("Name"), matrix.name, key=f"matrix-name-{matrix.id}")
    chosen = _documents(documents, present, str(matrix.id))
    questions = _questions(_rows(matrix.questions), str(matrix.id))
    st.caption(_("New questions are asked. Answers to removed or reworded questions are deleted."))
    has_documents = bool(chosen or not present)  # documents in the trash keep their rows
    if st.button(_("Save"), type="primary", icon=":material/check:") and _is_complete(has_documents, questions):
        change: dict[str, object] = {"name": name, "questions": questions}
        if chosen != present:
            change["document_ids"] = chosen
        engine.matrices.edit(matrix.id, change)
        open_form(None)
        st.rerun()


def _is_complete(has_documents: bool, questions: Sequence[object]) -> bool:
    """Return whether there are documents and questions; otherwise say what is missing."""
    if not has_documents:
        st.warning(_("Choose at least one document."), icon=":material/description:")
    elif not questions:
        st.warning(_("Write at least one question."), icon=":material/help:")
    return has_documents and bool(questions)


def _askable(documents: Iterable[types.Document]) -> dict[uuid.UUID, types.Document]:
    """Return the documents, by id, that can be asked now or when they have been read."""
    never = (types.DocumentStatus.FAILED, types.DocumentStatus.NEEDS_PASSWORD)
    return {one.id: one for one in documents if one.status not in never}


def _index_name() -> str:
    """Return the open collection if it is the user's own, else their default one."""
    return "default" if session.engine().is_shared else session.collection()


def _documents(known: Mapping[uuid.UUID, types.Document], chosen: Sequence[uuid.UUID], key: str) -> list[uuid.UUID]:
    return st.multiselect(
        _("Documents"),
        list(known),
        default=[one for one in chosen if one in known],
        format_func=lambda one: known[one].name,
        key=f"matrix-documents-{key}",
    )


def _template_questions(templates: Sequence[types.MatrixTemplate]) -> list[dict[str, object]]:
    """Show an empty table for questions, or those of a template, which can be changed."""
    by_title = {template.title: template for template in templates}
    title = st.pills(_("Typical questions"), list(by_title), format_func=_)
    return _questions(_rows(by_title[title].questions) if title else EMPTY, title or OWN_QUESTIONS)


def _rows(questions: Iterable[types.MatrixQuestion]) -> list[dict[str, object]]:
    return [{QUESTION: one.text, AGREE: one.should_agree} for one in questions]


def _questions(given: list[dict[str, object]], key: str) -> list[dict[str, object]]:
    """Show an editable table of questions and return them.

    `on_change="ignore"` keeps edits in the browser until the next rerun: reporting each edit takes half a second,
    and would come too late for a button that is clicked before.
    """
    rows: Sequence[Mapping[str, Any]] = st.data_editor(
        given,
        key=f"matrix-questions-{key}",
        column_config=translate_columns(COLUMNS),
        num_rows="dynamic",
        hide_index=True,
        height=260,
        on_change="ignore",
    )
    texts = [(str(row.get(QUESTION) or "").strip(), bool(row.get(AGREE))) for row in rows]
    return [{"text": text, "should_agree": agree} for text, agree in texts if text]
