"""The library page: the documents as a table, what can be done with them, and the trash."""

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rag.types import (
    ARCHIVE,
    CONTAINERS,
    MAIL,
    OUTLOOK_MAIL,
    UNFINISHED,
    Document,
    DocumentStatus,
    Filters,
    PurgeReceipt,
    reading_of,
)
from rag.ui import chat, organising, session
from rag.ui.frame import door, empty
from rag.ui.losses import is_incomplete, warn_of_losses
from rag.ui.text import plain, plural, size
from rag.ui.versions import show_versions
from rag.ui.viewer import show_pdf

KIND_NAMES = {
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "text/html": "Web page",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    MAIL: "Mail",
    OUTLOOK_MAIL: "Mail",
    ARCHIVE: "ZIP",
}
STATUS_NAMES = {
    DocumentStatus.QUEUED: "Waiting",
    DocumentStatus.NEEDS_PASSWORD: "Needs password",
    DocumentStatus.PARSING: "Parsing",
    DocumentStatus.EMBEDDING: "Embedding",
    DocumentStatus.READY: "Ready",
    DocumentStatus.FAILED: "Failed",
}
DISABLED = "Disabled"
INCOMPLETE = "Ready, incomplete"
MOST_ROWS = 16
"""A longer table scrolls within the window; a shorter one ends with its last row."""
SHOWN = (
    *("name", "version", "inside", "status", "tags", "pages", "title", "author", "dated"),
    *("kind", "chunks", "size", "added"),
)
NOTHING = {"version": 1, "inside": "", "tags": (), "author": "", "dated": None}
"""What rare columns have in a document that has nothing for them; without any that has, they are not shown."""
COLUMNS = {
    "name": st.column_config.TextColumn("Name", width="large"),
    "title": st.column_config.TextColumn("Title", width="medium"),
    "author": st.column_config.TextColumn("Author", width="small"),
    "dated": st.column_config.DateColumn("Date", format="D MMM YYYY", width="small"),
    "tags": st.column_config.ListColumn("Tags", width="medium"),
    "kind": st.column_config.TextColumn("Kind", width="small"),
    "inside": st.column_config.TextColumn("In", width="small", help="The mail or archive that it came in"),
    "version": st.column_config.NumberColumn("Version", format="v%d", width="small"),
    "pages": st.column_config.NumberColumn("Pages", format="localized", width="small"),
    "chunks": st.column_config.NumberColumn("Chunks", format="localized", width="small"),
    "size": st.column_config.TextColumn("Size", width="small"),
    "status": st.column_config.TextColumn("Status", width=130),
    "added": st.column_config.DatetimeColumn("Added", format="D MMM YYYY, HH:mm"),
    "deleted": st.column_config.DatetimeColumn("Deleted", format="D MMM YYYY, HH:mm"),
}
"""Column configuration of the tables, by field of `_row`."""


def _row(document: Document) -> dict[str, Any]:
    return {
        "name": document.name,
        "title": document.title or "",
        "author": document.author or "",
        "dated": document.dated,
        "tags": document.tags,
        "kind": KIND_NAMES.get(document.mime_type, document.mime_type),
        "inside": document.container_name or "",
        "version": document.version,
        "pages": document.page_count,
        "chunks": document.chunk_count,
        "size": size(document.size),
        "status": _status(document),
        "added": document.created_at,
        "deleted": document.deleted_at,
    }


def _status(document: Document) -> str:
    """`ready` hides no loss."""
    if document.disabled:
        return DISABLED
    if document.status is DocumentStatus.READY and is_incomplete(document):
        return INCOMPLETE
    return reading_of(document) or STATUS_NAMES[document.status]


def _table(documents: Sequence[Document], fields: Sequence[str], key: str) -> list[Document]:
    """Show the documents; gives those that are selected."""
    # A new key forgets the selection, which is of rows: it holds as long as these are the same documents.
    turn = st.session_state.setdefault(f"{key}-turn", 0)
    shown = hashlib.sha256(b"".join(document.id.bytes for document in documents)).hexdigest()
    rows = [_row(document) for document in documents]
    idle = {field for field, nothing in NOTHING.items() if all(row[field] == nothing for row in rows)}
    state = st.dataframe(
        _dimmed(rows),
        key=f"{key}-{turn}-{shown[:16]}",
        column_config=COLUMNS,
        column_order=[field for field in fields if field not in idle],
        hide_index=True,
        height="stretch" if len(documents) > MOST_ROWS else "content",
        on_select="rerun",
        selection_mode="multi-row",
    )
    return [documents[row] for row in state.selection.rows if row < len(documents)]


def _dimmed(rows: list[dict[str, Any]]) -> Any:
    """The rows as a table in which those that are left out of searches are grey."""
    grey = "color: rgba(128, 128, 128, 0.75); font-style: italic"
    return pd.DataFrame(rows).style.apply(
        lambda row: [grey if row["status"] == DISABLED else ""] * len(row), axis="columns"
    )


def _forget_selection(key: str) -> None:
    st.session_state[f"{key}-turn"] += 1


# --- Documents --------------------------------------------------------------------------------------


def documents() -> None:
    """The table of documents with its search and its actions."""
    with st.container(horizontal=True, vertical_alignment="center", key="library-bar"):
        wanted = st.text_input(
            "Search", placeholder="Search by name", label_visibility="collapsed", width=240, icon=":material/search:"
        )
        chosen_filters, status = organising.filter_bar()
        actions = st.container(horizontal=True, key="library-actions")
    _undo_bar()
    disabled = None if status is None else status == DISABLED
    found = session.engine().documents.list(
        search=wanted.strip() or None,
        filters=chosen_filters,
        status=next((key for key, name in STATUS_NAMES.items() if name == status), None),
        disabled=disabled,
    )
    if not found:
        _no_documents(wanted, is_filtered=chosen_filters != Filters() or status is not None)
        return
    with st.container(key="library-table", height="stretch"):
        chosen = _table(found, SHOWN, "library")
        warn_of_losses(chosen)
    with actions:
        _actions(chosen)


def _no_documents(wanted: str, *, is_filtered: bool) -> None:
    if wanted.strip() or is_filtered:
        named = "No document's name contains these words."
        filtered = "No document has all that the filter asks for."
        with empty("search_off", "No such document", filtered if is_filtered else named):
            return
    with empty("folder_open", "Your library is empty", "Upload documents to fill it."):
        st.page_link("pages/upload.py", label="Upload documents", icon=":material/upload_file:")


def _actions(chosen: list[Document]) -> None:
    ready = [document for document in chosen if document.page_count]
    asked = [document for document in ready if not document.disabled]
    if st.button("Ask about them", icon=":material/forum:", type="primary", disabled=not asked):
        chat.open_conversation(None, tuple(dict.fromkeys(document.id for document in [*asked, *_parts(asked)])))
        st.switch_page("pages/chat.py")
    if st.button("Open", icon=":material/visibility:", disabled=len(ready) != 1 or len(chosen) != 1):
        _open(ready[0])
    has_versions = len(chosen) == 1 and chosen[0].version > 1
    if has_versions and st.button("Versions", icon=":material/history:"):
        show_versions(chosen[0].id)
    if st.button("Edit", icon=":material/edit:", disabled=not chosen):
        organising.edit(chosen)
    unfinished = [document.id for document in chosen if document.status in UNFINISHED]
    if unfinished and st.button("Cancel reading", icon=":material/cancel:"):
        session.engine().documents.cancel(unfinished)
        st.rerun()
    _download(chosen)
    st.button("Delete", icon=":material/delete:", disabled=not chosen, on_click=_delete, args=(chosen,))


def _parts(chosen: Sequence[Document]) -> list[Document]:
    """What was in the mails and archives among those that are chosen, as far as it can be asked."""
    parts = session.engine().files.parts(*(document.id for document in chosen if document.mime_type in CONTAINERS))
    return [part for part in parts if part.page_count and part.deleted_at is None]


def _download(chosen: list[Document]) -> None:
    """The original as it was uploaded; read only when the button is pressed."""
    only = chosen[0] if len(chosen) == 1 else None
    st.download_button(
        "Original",
        data=session.engine().files.original(only.id).read_bytes if only else b"",
        file_name=only.name if only else None,
        mime="application/octet-stream",
        icon=":material/download:",
        disabled=only is None,
        on_click="ignore",
    )


@st.dialog("Document", width="large")
def _open(document: Document) -> None:
    with door(), st.container(key="preview"):
        warn_of_losses([document])
        show_pdf(session.engine().documents.get(document.id), (), None, key=f"preview-{document.id}")


def _delete(chosen: list[Document]) -> None:
    with door():
        session.engine().documents.trash([document.id for document in chosen])
        st.session_state["deleted"] = {document.id: document.name for document in chosen}
        _forget_selection("library")


def _undo_bar() -> None:
    """What was deleted last, and the way back."""
    deleted: dict[uuid.UUID, str] = st.session_state.get("deleted", {})
    if not deleted:
        return
    what = plain(next(iter(deleted.values()))) if len(deleted) == 1 else plural(len(deleted), "document")
    with st.container(key="undo", horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/delete: Moved **{what}** to the trash.", width="stretch")
        st.button("Undo", icon=":material/undo:", on_click=_undo, args=(list(deleted),))
        st.button(":material/close:", key="undo-dismiss", type="tertiary", help="Dismiss", on_click=_undo, args=([],))


def _undo(document_ids: list[uuid.UUID]) -> None:
    with door():
        if document_ids:
            session.engine().documents.restore(document_ids)
        del st.session_state["deleted"]


# --- Trash ------------------------------------------------------------------------------------------


def trash() -> None:
    """Deleted documents: restore them, or delete them for good."""
    _tell_purged()
    deleted = session.engine().documents.list(in_trash=True)
    if not deleted:
        with empty("delete", "The trash is empty", "Deleted documents wait here until you restore or purge them."):
            return
    actions = st.container(horizontal=True, key="library-actions")
    with st.container(key="library-table", height="stretch"):
        chosen = _table(deleted, ["name", "inside", "kind", "pages", "size", "deleted"], "trash")
    with actions:
        st.button(
            "Restore",
            icon=":material/restore_from_trash:",
            type="primary",
            disabled=not chosen,
            on_click=_restore,
            args=(chosen,),
        )
        if st.button("Delete for good", icon=":material/delete_forever:", disabled=not chosen):
            _purge(chosen)


def _restore(chosen: list[Document]) -> None:
    with door():
        session.engine().documents.restore([document.id for document in chosen])
        st.session_state.pop("deleted", None)
        _forget_selection("trash")
        st.toast(f"Restored {plural(len(chosen), 'document')}.", icon=":material/restore_from_trash:")


def _tell_purged() -> None:
    """What was deleted for good last, as it was counted afterwards."""
    receipt: PurgeReceipt | None = st.session_state.pop("purged", None)
    if receipt:
        counts = {"document": len(receipt.document_ids), "chunk": receipt.chunks, "file": receipt.files}
        gone = ", ".join(plural(count, noun) for noun, count in counts.items())
        later = f" Files of {plural(receipt.unfinished, 'document')} follow soon." if receipt.unfinished else ""
        st.toast(f"Gone for good: {gone}, {size(receipt.bytes)}.{later}", icon=":material/delete_forever:")


@st.dialog("Delete for good?")
def _purge(chosen: list[Document]) -> None:
    with door():
        st.text("\n".join(document.name for document in chosen[:8]) + ("\n…" if len(chosen) > 8 else ""))
        st.text("The files and everything indexed from them will be gone. This cannot be undone.")
        if st.button(f"Delete {plural(len(chosen), 'document')}", type="primary", icon=":material/delete_forever:"):
            receipt = session.engine().documents.purge([document.id for document in chosen])
            st.session_state["purged"] = receipt
            st.session_state.pop("deleted", None)
            _forget_selection("trash")
            st.rerun()
