"""The open matrix and its selected cell; both survive visits to other pages."""

import uuid
from typing import NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui import session

MATRIX = "matrix-chosen"
"""Session key of the id of the open matrix."""
CELL = "matrix-cell"
"""Session key of the `Place` of the selected cell."""


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
        return Place(self.document.lineage_id or self.document.id, self.field.id)

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


def chosen_matrix() -> tuple[dict[uuid.UUID, str], types.FilledMatrix | None]:
    """Return the names of the user's matrices by id, and the open one: the latest unless another was chosen."""
    matrices = session.own_engine().matrices
    names = {matrix.id: matrix.name for matrix in session.own_engine().store.matrices.list()}
    chosen = st.session_state.get(MATRIX)
    if chosen not in names:
        chosen = next(iter(names), None)
    if chosen is None:
        return names, None
    st.session_state[MATRIX] = chosen
    try:
        return names, matrices.get(chosen)
    except errors.NotFoundError:  # deleted a moment ago, in another window
        return names, None


def cells(filled: types.FilledMatrix) -> list[Selected]:
    """Return all cells, row by row."""
    return [
        Selected(document, field, filled.at(document, field))
        for document in filled.documents
        for field in filled.matrix.fields
    ]


def selected_cell(filled: types.FilledMatrix) -> Selected | None:
    """Return the selected cell, None without one or if its document was not read yet."""
    place = st.session_state.get(CELL)
    cell = next((cell for cell in cells(filled) if cell.place == place), None)
    return cell if cell and (cell.shown or cell.document.page_count) else None


def to_review(filled: types.FilledMatrix) -> list[Place]:
    """Return the cells that a person should look at, row by row."""
    return [cell.place for cell in cells(filled) if cell.shown is not None and cell.shown.needs_review]


def select_next(filled: types.FilledMatrix, step: int) -> None:
    """Select the next cell to review after the selected one, with a `step` of -1 the one before, round the table."""
    places = [cell.place for cell in cells(filled)][::step]
    here = st.session_state.get(CELL)
    after = places.index(here) + 1 if here in places else 0
    open_cells = set(to_review(filled))
    st.session_state[CELL] = next((place for place in places[after:] + places[:after] if place in open_cells), here)
