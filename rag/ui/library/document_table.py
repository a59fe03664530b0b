"""A table of documents, a page of them at a time, in the order that the reader asks for.

What is chosen is kept by the documents' ids. The browser has it, and every click sends it along, so an action reads it
when it is clicked (`chosen`) and not when the page was drawn.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import streamlit as st

from rag.types import DocumentOrder
from rag.ui.components import component
from rag.ui.language import _

PAGE_ROWS = 100
"""As many as are sent to the browser at a time."""
FALLING = ("added", "dated", "pages", "chunks", "size", "version")
"""What is ordered by the largest or latest first when it is first clicked."""


class Column(NamedTuple):
    """A field of the rows, how the browser shows it, and what the documents are ordered by when it is clicked."""

    field: str
    label: str
    kind: str = "words"
    sorts: bool = True


class Window(NamedTuple):
    """Which documents are shown: how they are ordered, and the place of the first."""

    by: DocumentOrder
    descending: bool
    first: int


class _Given(NamedTuple):
    """What the server has chosen in the place of the reader; of an older turn the browser's choice counts no more."""

    turn: int = 0
    ids: tuple[str, ...] = ()


def chosen(key: str) -> list[uuid.UUID]:
    """The ids that are chosen in the table of this `key` now."""
    given, state = _given(key), _state(key).get("chosen")
    ids = state["ids"] if state and state["turn"] == given.turn else given.ids
    return [uuid.UUID(document_id) for document_id in ids]


def choose(key: str, ids: Sequence[uuid.UUID]) -> None:
    """Choose these from now on, and nothing else."""
    st.session_state[f"{key}-given"] = _Given(_given(key).turn + 1, tuple(map(str, ids)))


def window(key: str, total: int, of: object) -> Window:
    """What the reader wants to see of `total` documents; what they are `of` other filters begins anew."""
    order = _state(key).get("order") or st.session_state.get(f"{key}-order") or {"by": "added", "descending": True}
    st.session_state[f"{key}-order"] = order
    page = _state(key).get("page") or {}
    first = int(page.get("first", 0)) if page.get("of") == _token((order, of)) else 0
    last_page = max(total - 1, 0) // PAGE_ROWS * PAGE_ROWS
    by: DocumentOrder = order["by"] if order["by"] in get_args(DocumentOrder) else "added"
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

    `on_open` is called with the id of a name that was clicked, `on_all` when all of `total` are to be chosen.
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
            "falling": FALLING,
            "chosen": {"turn": given.turn, "ids": given.ids},
        },
        on_chosen_change=lambda: None,
        on_order_change=lambda: None,
        on_page_change=lambda: None,
        on_open_change=opened,
        on_all_change=on_all,
    )


def begin(key: str) -> None:
    """Forget what was chosen when the page was left."""
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
