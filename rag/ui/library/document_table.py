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
from rag.ui import session
from rag.ui.components import component
from rag.ui.formatting import file_size
from rag.ui.language import N_, _
from rag.ui.library.incomplete_documents import is_incomplete
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

PAGE_ROWS = 100
"""Rows sent to the browser at a time."""
DESCENDING_FIRST = ("added", "dated", "pages", "chunks", "size", "version")
"""Columns that sort in descending order at the first click."""


KIND_NAMES = {
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "text/html": N_("Web page"),
    "text/markdown": "Markdown",
    "text/plain": N_("Text"),
    "text/csv": "CSV",
    types.MAIL: N_("E-mail"),
    types.OUTLOOK_MAIL: N_("E-mail"),
    types.MAILBOX: N_("Mailbox"),
    "text/calendar": N_("Calendar"),
    types.ARCHIVE: "ZIP",
    types.FILING: N_("SEC filing"),
}
STAGES = {
    types.DocumentStatus.READY: ("check_circle", N_("Ready")),
    types.DocumentStatus.QUEUED: ("schedule", N_("Waiting")),
    types.DocumentStatus.PARSING: ("description", N_("Reading")),
    types.DocumentStatus.EMBEDDING: ("scatter_plot", N_("Indexing")),
    types.DocumentStatus.NEEDS_PASSWORD: ("lock", N_("Needs password")),
    types.DocumentStatus.FAILED: ("error", N_("Failed")),
}
"""Icon and name of each status."""
DISABLED = N_("Disabled")
INCOMPLETE = N_("Ready, incomplete")


class Column(NamedTuple):
    """A column: its row field, label, display kind and whether it sorts."""

    field: str
    label: str
    kind: str = "words"
    sorts: bool = True


DOCUMENTS = (
    Column("name", N_("Name"), "name"),
    Column("version", N_("Version"), "version"),
    Column("inside", N_("In"), sorts=False),
    Column("status", N_("Status"), "status"),
    Column("about", N_("About"), sorts=False),
    Column("tags", N_("Tags"), "tags"),
    Column("pages", N_("Pages"), "number"),
    Column("title", N_("Title")),
    Column("author", N_("Author")),
    Column("dated", N_("Date"), "day"),
    Column("kind", N_("Kind")),
    Column("chunks", N_("Chunks"), "number"),
    Column("size", N_("Size"), "size"),
    Column("added", N_("Added"), "moment"),
)
TRASH = (
    Column("name", N_("Name"), "name"),
    Column("inside", N_("In"), sorts=False),
    Column("kind", N_("Kind")),
    Column("pages", N_("Pages"), "number"),
    Column("size", N_("Size"), "size"),
    Column("added", N_("Deleted"), "moment"),
)
EMPTY_VALUES: dict[str, Any] = {
    "version": 1,
    "inside": "",
    "about": "",
    "tags": (),
    "title": "",
    "author": "",
    "dated": None,
}
"""Values for which a rare column is empty; it is hidden if all rows are empty."""


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
    selection, state = _given(key), _state(key).get("chosen")
    ids = state["ids"] if state and state["turn"] == selection.turn else selection.ids
    return [uuid.UUID(document_id) for document_id in ids]


def choose(key: str, ids: Sequence[uuid.UUID]) -> None:
    """Select exactly these documents."""
    st.session_state[f"{key}-given"] = _Given(_given(key).turn + 1, tuple(map(str, ids)))


def window(key: str, query: types.DocumentQuery, total: int) -> tuple[Window, list[types.Document]]:
    """Return the visible part of the `total` documents of a query, which restarts with another query or collection."""
    order = _state(key).get("order") or st.session_state.get(f"{key}-order") or {"by": "added", "descending": True}
    st.session_state[f"{key}-order"] = order
    page = _state(key).get("page") or {}
    first = int(page.get("first", 0)) if page.get("of") == _token(key, query) else 0
    first = min(max(first, 0), max(total - 1, 0) // PAGE_ROWS * PAGE_ROWS)
    by: types.DocumentOrder = order["by"] if order["by"] in get_args(types.DocumentOrder) else "added"
    shown = Window(by, bool(order["descending"]), first)
    documents = session.engine().documents.list(
        **dict(query), order_by=by, descending=shown.descending, limit=PAGE_ROWS, offset=first
    )
    return shown, documents


def show_table(
    key: str,
    columns: Sequence[Column],
    documents: Sequence[types.Document],
    *,
    query: types.DocumentQuery,
    total: int,
    shown: Window,
    on_open: Callable[[uuid.UUID], None] = lambda _: None,
) -> None:
    """Show the `documents` of a window of a query; rare columns only if they are not empty.

    `on_open` receives the id of a clicked name.
    """
    rows = [row(document) for document in documents]
    columns = [
        column
        for column in columns
        if column.field not in EMPTY_VALUES or any(row[column.field] != EMPTY_VALUES[column.field] for row in rows)
    ]

    def opened() -> None:
        if document_id := _state(key).get("open"):
            on_open(uuid.UUID(document_id))

    @error_boundary()
    def choose_all() -> None:
        choose(key, session.engine().documents.ids(query))

    selection = _given(key)
    component("table")(
        key=key,
        data={
            "columns": [column._replace(label=_(column.label))._asdict() for column in columns],
            "rows": rows,
            "total": total,
            "first": shown.first,
            "size": PAGE_ROWS,
            "of": _token(key, query),
            "order": {"by": shown.by, "descending": shown.descending},
            "falling": DESCENDING_FIRST,
            "chosen": {"turn": selection.turn, "ids": selection.ids},
        },
        on_chosen_change=lambda: None,
        on_order_change=lambda: None,
        on_page_change=lambda: None,
        on_open_change=opened,
        on_all_change=choose_all,
    )


def reset_on_return(key: str) -> None:
    """Clear the selection after the page was left."""
    if key not in st.session_state and _given(key).ids:
        choose(key, ())


def _state(key: str) -> Mapping[str, Any]:
    state: Mapping[str, Any] = st.session_state.get(key) or {}
    return state


def _given(key: str) -> _Given:
    selection: _Given = st.session_state.get(f"{key}-given", _Given())
    return selection


def _token(key: str, query: types.DocumentQuery) -> str:
    """Return what changes with the order, the collection and the query."""
    of = (st.session_state[f"{key}-order"], (session.collection(), query))
    return hashlib.sha256(repr(of).encode()).hexdigest()[:16]


# --- rows -------------------------------------------------------------------------------------------


def row(document: types.Document) -> dict[str, Any]:
    """Return a document's row."""
    if document.disabled:
        state = "disabled"
    elif document.status is types.DocumentStatus.FAILED:
        state = "failed"
    else:
        state = "waiting" if document.status in types.UNFINISHED else "ready"
    _stem, dot, ending = document.name.rpartition(".")
    kind = ending.upper() if dot and len(ending) <= 5 else document.mime_type
    reason = translate_message(document.error or "")
    if document.status is types.DocumentStatus.NEEDS_PASSWORD:
        reason = _("Enter it above.")
    return {
        "id": str(document.id),
        "state": state,
        "name": document.name,
        "title": document.title or "",
        "author": document.author or "",
        "dated": document.dated and document.dated.isoformat(),
        "about": ", ".join(filter(None, (*document.subject.names[:1], document.subject.period))),
        "tags": document.tags,
        "kind": _(KIND_NAMES.get(document.mime_type, "")) or kind,
        "inside": document.container_name or "",
        "version": document.version,
        "pages": document.page_count,
        "chunks": document.chunk_count,
        "size": file_size(document.size),
        "status": {"text": status(document), "reason": reason},
        "added": (document.deleted_at or document.created_at).isoformat(),
    }


def status(document: types.Document) -> str:
    """Return a document's status in a word or two; `Ready` never hides missing text."""
    if document.disabled:
        return _(DISABLED)
    if document.status is types.DocumentStatus.READY and is_incomplete(document):
        return _(INCOMPLETE)
    return translate_message(types.reading_progress(document) or "") or _(STAGES[document.status][1])
