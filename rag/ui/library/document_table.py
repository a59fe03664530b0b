"""A paginated, sortable table of documents.

The selection is stored as document ids. The browser holds it and sends it with each click, so actions must read it when
they are clicked (`chosen`), not when the page is drawn.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import streamlit as st

from rag import types
from rag.ui.components import component
from rag.ui.language import _

PAGE_ROWS = 100
"""Rows sent to the browser at a time."""
DESCENDING_FIRST = ("added", "dated", "pages", "chunks", "size", "version")
"""Columns that sort in descending order at the first click."""


class Column(NamedTuple):
    """A column: its row field, label, display kind and whether it sorts."""

    field: str
    label: str
    kind: str = "words"
    sorts: bool = True


class Window(NamedTuple):
    """The visible part of the documents: their order and the position of the first."""

    by: types.DocumentOrder
    descending: bool
    first: int


class _Given(NamedTuple):
    """A selection made by the server; it overrides the browser's selections of earlier turns."""

    turn: int = 0
    ids: tuple[str, ...] = ()


def chosen(key: str) -> list[uuid.UUID]:
    """Return the ids selected in a table."""
    given, state = _given(key), _state(key).get("chosen")
    ids = state["ids"] if state and state["turn"] == given.turn else given.ids
    return [uuid.UUID(document_id) for document_id in ids]


def choose(key: str, ids: Sequence[uuid.UUID]) -> None:
    """Select exactly these documents."""
    st.session_state[f"{key}-given"] = _Given(_given(key).turn + 1, tuple(map(str, ids)))


def window(key: str, total: int, of: object) -> Window:
    """Return the visible part of `total` documents; it restarts when the filters `of` change."""
    order = _state(key).get("order") or st.session_state.get(f"{key}-order") or {"by": "added", "descending": True}
    st.session_state[f"{key}-order"] = order
    page = _state(key).get("page") or {}
    first = int(page.get("first", 0)) if page.get("of") == _token((order, of)) else 0
    last_page = max(total - 1, 0) // PAGE_ROWS * PAGE_ROWS
    by: types.DocumentOrder = order["by"] if order["by"] in get_args(types.DocumentOrder) else "added"
    return Window(by, bool(order["descending"]), min(max(first, 0), last_page))


def show_table(
    key: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    total: int,
    shown: Window,
    of: object,
    on_open: Callable[[uuid.UUID], None],
    on_all: Callable[[], None],
) -> None:
    """Show `rows`, each with an `id`, a `name`, a `state` and the fields of `columns`.

    `on_open` receives the id of a clicked name; `on_all` is called to select all of `total`.
    """

    def opened() -> None:
        if document_id := _state(key).get("open"):
            on_open(uuid.UUID(document_id))

    given = _given(key)
    order = {"by": shown.by, "descending": shown.descending}
    component("table")(
        key=key,
        data={
            "columns": [column._replace(label=_(column.label))._asdict() for column in columns],
            "rows": rows,
            "total": total,
            "first": shown.first,
            "size": PAGE_ROWS,
            "of": _token((st.session_state[f"{key}-order"], of)),
            "order": order,
            "falling": DESCENDING_FIRST,
            "chosen": {"turn": given.turn, "ids": given.ids},
        },
        on_chosen_change=lambda: None,
        on_order_change=lambda: None,
        on_page_change=lambda: None,
        on_open_change=opened,
        on_all_change=on_all,
    )


def reset_on_return(key: str) -> None:
    """Clear the selection after the page was left."""
    if key not in st.session_state and _given(key).ids:
        choose(key, ())


def _state(key: str) -> Mapping[str, Any]:
    state: Mapping[str, Any] = st.session_state.get(key) or {}
    return state


def _given(key: str) -> _Given:
    given: _Given = st.session_state.get(f"{key}-given", _Given())
    return given


def _token(of: object) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()[:16]
