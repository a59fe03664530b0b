"""The matrix page: the open matrix beside its selected cell, or the form of one."""

import uuid

import streamlit as st

from rag import types
from rag.ui.components import download_button, resizable_columns
from rag.ui.formatting import distinct
from rag.ui.language import N_, _, current_language, use_language
from rag.ui.matrix import form
from rag.ui.matrix.comparison import show_comparison
from rag.ui.matrix.progress import review_progress, show_progress
from rag.ui.matrix.review import show_review
from rag.ui.matrix.selection import (
    CELL,
    FIRST,
    MATRIX,
    ONLY_TO_REVIEW,
    Selected,
    Window,
    chosen_matrix,
    engine_of,
    selected_cell,
    visible_rows,
)
from rag.ui.matrix.table import show_table
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message

TABLE, COMPARISON = N_("Table"), N_("Differences and charts")
LEGEND = N_(
    "? not sure · ≠ contradicts another value · ↻ the document or field has changed since · ✓ accepted · ✎ corrected · "
    "✗ rejected · – not stated"
)
FILES: dict[types.MatrixFormat, str] = {"xlsx": "Excel", "csv": "CSV", "json": "JSON", "zip": N_("Marked copies")}


def show() -> None:
    """Show the open form, else the open matrix."""
    if form.is_open():
        with st.container(border=True, key="matrix-form"):
            form.show_form()
        return
    names, filled = chosen_matrix()
    if filled is None:
        text = _("Fill a table with facts from many documents, each with the words that it stands on.")
        empty_state("table", _("No matrix yet"), text)
        return
    window, selected = visible_rows(filled), None
    if st.session_state.get("matrix-view", TABLE) == TABLE:
        filled = engine_of(filled.matrix.id).matrices.with_cells(filled, documents=window.documents, in_brief=True)
        selected = selected_cell(filled)
    # Always two columns, so that the table stays in place.
    left, right = st.columns([6, 5] if selected else [99, 1], gap="medium")
    with left:
        _matrix(names, filled, window, selected)
        if selected:
            resizable_columns("matrix", up=str(selected.place))
    if selected:
        with right:
            show_review(filled, selected)


def _matrix(names: dict[uuid.UUID, str], filled: types.FilledMatrix, window: Window, selected: Selected | None) -> None:
    with st.container():  # keeps elements below in place when the state changes
        _choice(names, filled.matrix)
        show_progress(filled)
    with st.container(horizontal=True, vertical_alignment="center"):
        view = st.segmented_control(
            _("View"),
            [TABLE, COMPARISON],
            default=TABLE,
            key="matrix-view",
            format_func=_,
            label_visibility="collapsed",
            required=True,
        )
        if view != COMPARISON:
            st.toggle(_("Only to review"), key=ONLY_TO_REVIEW)
        st.caption(review_progress(filled), width="content")
    with st.container(key="matrix-table"):
        if view == COMPARISON:
            show_comparison(filled)
        else:
            show_table(filled, window, selected)
            st.caption(_("Click a value to see its words on the page. {legend}", legend=_(LEGEND)))
    _actions(filled)


def _choice(names: dict[uuid.UUID, str], matrix: types.Matrix) -> None:
    """Show the list of matrices; its key changes after another page or a form has chosen one."""
    key = f"matrix-of-{matrix.id}"
    ids = list(names)
    labels = distinct(dict(reversed(names.items())))  # the older one keeps its name

    def choose() -> None:
        st.session_state[MATRIX] = st.session_state[key]
        for key_of_cell in (CELL, FIRST):
            st.session_state.pop(key_of_cell, None)

    st.selectbox(
        _("Matrix"),
        ids,
        index=ids.index(matrix.id),
        format_func=labels.__getitem__,
        key=key,
        on_change=choose,
        label_visibility="collapsed",
    )


def _actions(filled: types.FilledMatrix) -> None:
    matrix, is_own = filled.matrix, filled.permission is None
    with st.container(horizontal=True):
        if filled.may_write:
            st.button(_("Edit"), icon=":material/edit:", on_click=form.open_form, args=(matrix.id,))
        for format_name in FILES:
            is_empty = format_name == "zip" and not any(row.found for row in filled.rows)
            _download(matrix, format_name, is_disabled=is_empty)
        if is_own:
            with st.popover(_("Delete"), icon=":material/delete:"):
                st.text(_("The values and their reviews will be deleted. The documents stay."))
                st.button(_("Delete the matrix"), type="primary", on_click=_delete, args=(matrix.id,))


def _download(matrix: types.Matrix, format_name: types.MatrixFormat, *, is_disabled: bool) -> None:
    """Offer a file that is written when the button is clicked, outside a page that knows the user and the language."""
    matrices, language = engine_of(matrix.id).matrices, current_language()

    def file() -> bytes:
        with use_language(language):
            return matrices.export(matrix.id, format_name, say=translate_message, language=language)

    # The browser would download the file of the matrix that was shown before from a button of the same identity.
    key = f"matrix-download-{matrix.id}-{format_name}"
    name, mime_type = f"{matrix.name}.{format_name}", types.MATRIX_FILES[format_name]
    download_button(_(FILES[format_name]), file, name, mime_type, disabled=is_disabled, key=key)


def _delete(matrix_id: uuid.UUID) -> None:
    with error_boundary():
        engine_of(matrix_id).matrices.delete(matrix_id)
    st.session_state.pop(MATRIX, None)
