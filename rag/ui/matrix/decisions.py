"""A person's decisions about cells, which they can take back; after one, the next cell to review is selected."""

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui.formatting import escape
from rag.ui.matrix.selection import CELL, Place, Seen, Selected, engine_of, select_next
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error

CORRECTED = "matrix-corrected"
"""Session key of the open `Correction`."""
WORDS = "matrix-words"
"""Session key of the `CellCitation` that was selected on the page for the open correction."""
NOTICE = "matrix-notice"
"""Session key of the `Notice` why the last decision was not saved."""
LAST = "matrix-last-decision"
"""Session key of the `Decision` that a key takes back after the next cell was selected."""

STATES: Mapping[str, types.ReviewState] = {"accept": "accepted", "reject": "rejected"}


class Correction(NamedTuple):
    """The cell whose correction is open, what the person saw of it, and the value that the form began with."""

    place: Place
    seen: Seen
    before: types.CellValue | None = None


class Notice(NamedTuple):
    """Why a decision about a cell was not saved."""

    matrix_id: uuid.UUID
    place: Place
    text: str


class Decision(NamedTuple):
    """Which cell was decided about, and when."""

    matrix_id: uuid.UUID
    place: Place
    seen: Seen


def act(filled: types.FilledMatrix, place: Place, action: str, seen: Seen) -> None:
    """Do what a key or button says: accept, correct, reject, undo or leave the correction.

    With nothing to undo here, the last decision about the matrix is undone.
    """
    leave_correction()
    if action == "correct":
        st.session_state[CORRECTED] = Correction(place, seen)
    elif action in STATES:
        decide(filled, place, STATES[action], seen)
    elif action == "undo":
        last: Decision | None = st.session_state.get(LAST)
        if seen.seen_at is None and last is not None and last.matrix_id == filled.matrix.id:
            place, seen = last.place, last.seen
            st.session_state[CELL] = place
        if last is not None and last.place == place:
            del st.session_state[LAST]
        if seen.seen_at is not None:
            decide(filled, place, None, seen)


def move(filled: types.FilledMatrix, step: int) -> None:
    """Leave the correction and select the next cell to review, with a `step` of -1 the one before."""
    leave_correction()
    select_next(filled, step)


def decide(
    filled: types.FilledMatrix,
    place: Place,
    state: types.ReviewState | None,
    seen: Seen,
    value: Mapping[str, Any] | None = None,
) -> None:
    """Save a decision, with the `value` of a correction, and select the next cell to review.

    If the cell is not as it was `seen`, or the value is not of the field's type, that is said and nothing changes.
    """
    matrix_id = filled.matrix.id
    request = {**(value or {}), "state": state, **seen._asdict()}
    with error_boundary():
        matrices = engine_of(matrix_id).matrices
        try:
            saved = matrices.review(matrix_id, place.lineage_id, place.field_id or uuid.UUID(int=0), request)
        except (errors.ConflictError, errors.ValidationError) as error:
            st.session_state[NOTICE] = Notice(matrix_id, place, translate_error(error))
            return
        leave_correction()
        if saved.review is not None:
            st.session_state[LAST] = Decision(matrix_id, place, Seen(saved.review.reviewed_at.isoformat()))
            select_next(filled, 1)


def is_correcting(selected: Selected | None) -> bool:
    """Return whether the correction of a cell is open."""
    correction: Correction | None = st.session_state.get(CORRECTED)
    return selected is not None and correction is not None and correction.place == selected.place


def leave_correction() -> None:
    """Close the correction."""
    for key in (CORRECTED, WORDS, NOTICE):
        st.session_state.pop(key, None)


def take_words(selected: Selected, document: types.Document, taken: Mapping[str, Any]) -> None:
    """Correct a cell by words that were selected on a page of the document."""
    page_number = int(taken["regions"][0]["page_number"])
    label = document.page_labels.get(page_number)
    st.session_state[CORRECTED] = Correction(selected.place, selected.seen)
    st.session_state[WORDS] = types.CellCitation(**taken, page_number=page_number, page_label=label)


def show_notice(matrix_id: uuid.UUID, place: Place) -> None:
    """Say why the last decision was not saved, if it was about this cell."""
    notice: Notice | None = st.session_state.get(NOTICE)
    if notice is not None and (notice.matrix_id, notice.place) == (matrix_id, place):
        st.warning(escape(notice.text), icon=":material/warning:")
