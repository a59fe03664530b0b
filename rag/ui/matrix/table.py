"""The table of a matrix: documents by fields, each cell with its value, page and marks.

The browser also takes the keys of a review, one after the other: one that is pressed before the answer to the last is
about the cell that is selected then. A decision names the cell that it was made for, so that it decides about no other.
"""

import uuid
from collections.abc import Mapping
from typing import Any

import streamlit as st

from rag import types
from rag.ui.components import component
from rag.ui.formatting import decimal
from rag.ui.language import _
from rag.ui.matrix import decisions
from rag.ui.matrix.selection import CELL, FIRST, Place, Seen, Selected, Window
from rag.ui.matrix.values import CONFLICT, MARKS, NUMERIC, TYPES, marks, page_of, shared_unit, value_text
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

PRESSED = "matrix-pressed"
"""Session key of when the last key was pressed, by the browser's clock."""


def show_table(filled: types.FilledMatrix, window: Window, selected: Selected | None) -> None:
    """Show the visible documents with their values, and the buttons to the others."""
    key = f"matrix-cells-{filled.matrix.id}"

    # When a run of the page is interrupted by the next click or key, what began it comes again with that.
    @error_boundary()
    def opened() -> None:
        place = _place(_state(key)["open"])
        if place != st.session_state.get(CELL):
            decisions.leave_correction()
            st.session_state[CELL] = place

    @error_boundary()
    def pressed() -> None:
        press = _state(key)["press"]
        if press["at"] != st.session_state.get(PRESSED):
            st.session_state[PRESSED] = press["at"]
            _press(filled, selected, press)

    shown = _shown(filled, window, selected)
    component("matrix")(key=key, data=shown, on_open_change=opened, on_press_change=pressed)
    if window.total > len(window.documents):
        _pages(window)


def _press(filled: types.FilledMatrix, selected: Selected | None, press: Mapping[str, Any]) -> None:
    """Do what a key says if the user may, and the selected cell can be decided about so."""
    action = press["action"]
    if not filled.may_write and action not in ("next", "previous", "leave"):
        return
    if decisions.is_correcting(selected) and action != "leave":
        return  # it was meant for the form, which was not on the screen yet
    is_filled = selected is not None and selected.shown is not None
    if action in ("correct", "reject") and not is_filled:
        return
    if action == "accept" and not (selected and selected.can_be_accepted):
        return
    if action in ("next", "previous"):
        decisions.move(filled, 1 if action == "next" else -1)
    elif press["cell"] and _place(press["cell"]) == st.session_state.get(CELL):
        decisions.act(filled, _place(press["cell"]), action, Seen(*press["seen"]))


def _shown(filled: types.FilledMatrix, window: Window, selected: Selected | None) -> dict[str, Any]:
    """Return the table for the browser."""
    columns = [(field, shared_unit(filled, field)) for field in filled.matrix.fields]
    return {
        "columns": [
            {
                "id": str(field.id),
                "name": field.name,
                "unit": unit,
                "help": field.instruction or _(TYPES[field.type]),
                "numeric": field.type in NUMERIC,
            }
            for field, unit in columns
        ],
        "rows": [
            {
                "id": str(document.lineage),
                "name": document.name,
                "cells": [
                    _cell(Selected(document, field, filled.at(document, field)), unit) for field, unit in columns
                ],
            }
            for document in window.documents
        ],
        "selected": selected and [str(part) for part in selected.place],
        "seen": selected and selected.seen,
        "correcting": decisions.is_correcting(selected),
        "answered": st.session_state.get(PRESSED),
    }


def _pages(window: Window) -> None:
    """Show which documents are visible, and the buttons to those before and after."""

    def turn(to: int) -> None:
        decisions.leave_correction()
        st.session_state.pop(CELL, None)
        st.session_state[FIRST] = to

    first, last = window.first + 1, window.first + len(window.documents)
    shown = {"first": decimal(first), "last": decimal(last), "total": decimal(window.total)}
    before, after = ":material/chevron_left:", ":material/chevron_right:"
    with st.container(horizontal=True, vertical_alignment="center", key="matrix-pages"):
        st.button(_("Previous documents"), icon=before, on_click=turn, args=(first - 2,), disabled=first == 1)
        st.text(_("Documents {first} to {last} of {total}", **shown))
        st.button(_("Next documents"), icon=after, on_click=turn, args=(last,), disabled=last == window.total)


def _cell(cell: Selected, unit: str | None) -> dict[str, Any]:
    """Return a cell for the browser: its text and page, its marks with their meaning, and how it looks."""
    shown = cell.shown
    if shown is None:
        is_ready = cell.document.status is types.DocumentStatus.READY
        return {"text": "…" if is_ready else _("… not read yet"), "page": "", "marks": [], "look": "blank"}
    signs = marks(shown)
    look = "conflict" if CONFLICT in signs else "review" if shown.needs_review else ""
    value = shown.shown
    if value is not None:
        text, page = value_text(cell.field, value, unit), page_of(value)
    elif shown.cell.state == "failed":
        text, page, look = _("failed"), "", look or "review"
    elif shown.cell.state == "not_stated":
        text, page, look = "–", "", look or "blank"
    else:
        text, page, look = value_text(cell.field, shown.cell, unit), page_of(shown.cell), "rejected"
    told = [[sign, _(MARKS[sign])] for sign in signs]
    return {"text": text, "page": page, "marks": told, "look": look, "title": translate_message(shown.conflict or "")}


def _place(sent: list[str]) -> Place:
    return Place(*map(uuid.UUID, sent))


def _state(key: str) -> Mapping[str, Any]:
    state: Mapping[str, Any] = st.session_state.get(key) or {}
    return state
