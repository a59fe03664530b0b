"""The open matrix, its visible rows and its selected cell, which survive visits to other pages."""

import uuid
from typing import NamedTuple

import streamlit as st

from rag import errors, types
from rag.engine import RAGEngine
from rag.ui import session

MATRIX = "matrix-chosen"
"""Session key of the id of the open matrix."""
CELL = "matrix-cell"
"""Session key of the `Place` of the selected cell."""
ONLY_TO_REVIEW = "matrix-only-to-review"
"""Session key of the filter."""
FIRST = "matrix-first-row"
"""Session key of the number of the first visible row."""
PAGE_ROWS = 50


class Place(NamedTuple):
    """Where a cell is: the lineage of its document, and its field."""

    lineage_id: uuid.UUID
    field_id: uuid.UUID | None


class Seen(NamedTuple):
    """Which value and decision a person saw, as a request says it: when they were made, None without one."""

    seen_at: str | None = None
    filled_at: str | None = None


class Selected(NamedTuple):
    """A cell with its document and field; `shown` is None until it is filled."""

    document: types.Document
    field: types.FieldDefinition
    shown: types.ShownCell | None

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.document.lineage, self.field.id)

    @property
    def can_be_accepted(self) -> bool:
        """Whether it says something, if only that the document does not."""
        return self.shown is not None and self.shown.cell.state != "failed"

    @property
    def seen(self) -> Seen:
        """What a decision is about."""
        if self.shown is None:
            return Seen()
        review, filled_at = self.shown.review, self.shown.cell.filled_at
        return Seen(review.reviewed_at.isoformat() if review else None, filled_at.isoformat())


class Window(NamedTuple):
    """The visible rows, the number of the first, from 0, and how many there are with those before and after."""

    documents: tuple[types.Document, ...]
    first: int
    total: int


def engine_of(matrix_id: uuid.UUID) -> RAGEngine:
    """Return the engine of a matrix of the user's own, or of a collection that is shared with them."""
    return session.own_engine().for_matrix(matrix_id)


def chosen_matrix() -> tuple[dict[uuid.UUID, str], types.FilledMatrix | None]:
    """Return the names of the user's matrices by id, and the open one without cells: the latest unless one was chosen.

    After the user's own come those that others share, with their owners.
    """
    names = {
        one.id: f"{one.name} · {one.owner_name or one.user_id}" if one.permission else one.name
        for one in session.own_engine().matrices.list()
    }
    chosen = st.session_state.get(MATRIX)
    if chosen not in names:
        chosen = next(iter(names), None)
    if chosen is None:
        return names, None
    st.session_state[MATRIX] = chosen
    try:
        return names, engine_of(chosen).matrices.progress(chosen)
    except errors.NotFoundError:  # deleted a moment ago, in another window
        return names, None


def visible_rows(filled: types.FilledMatrix) -> Window:
    """Return the rows of the page on which the selected cell is, else of the page that was turned to.

    With the filter they are those in which something is to be reviewed, and that of the selected cell.
    """
    place: Place | None = st.session_state.get(CELL)
    rows = [
        document
        for document, row in zip(filled.documents, filled.rows, strict=True)
        if not st.session_state.get(ONLY_TO_REVIEW) or row.to_review or (place and row.lineage_id == place.lineage_id)
    ]
    of_cell = (number for number, one in enumerate(rows) if place and one.lineage == place.lineage_id)
    first = min(next(of_cell, st.session_state.get(FIRST, 0)), max(len(rows) - 1, 0)) // PAGE_ROWS * PAGE_ROWS
    st.session_state[FIRST] = first
    return Window(tuple(rows[first : first + PAGE_ROWS]), first, len(rows))


def selected_cell(filled: types.FilledMatrix) -> Selected | None:
    """Return the selected cell with all it has, None without one or if its document was not read yet."""
    place: Place | None = st.session_state.get(CELL)
    document = next((one for one in filled.documents if place and one.lineage == place.lineage_id), None)
    field = next((one for one in filled.matrix.fields if place and one.id == place.field_id), None)
    if document is None or field is None:
        return None
    whole = engine_of(filled.matrix.id).matrices.with_cells(filled, documents=[document], fields=[field])
    cell = Selected(document, field, whole.at(document, field))
    return cell if cell.shown or document.page_count else None


def select_next(filled: types.FilledMatrix, step: int) -> None:
    """Select the next cell to review after the selected one, with a `step` of -1 the one before, round the table."""
    columns = {field.id: number for number, field in enumerate(filled.matrix.fields)}
    lines = {row.lineage_id: number for number, row in enumerate(filled.rows)}
    places = {
        (lines[row.lineage_id], columns[field_id]): Place(row.lineage_id, field_id)
        for row in filled.rows
        for field_id in row.to_review
        if field_id in columns
    }
    here: Place | None = st.session_state.get(CELL)
    at = (lines.get(here.lineage_id, -1), columns.get(here.field_id, -1)) if here else (-1, -1)
    order = sorted(places, reverse=step < 0)
    beyond = [position for position in order if (position > at if step > 0 else position < at)]
    if order:
        st.session_state[CELL] = places[(beyond or order)[0]]
