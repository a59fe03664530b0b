"""The trash: documents that were deleted come back, or go for good."""

import uuid
from collections.abc import Sequence

import streamlit as st

from rag.types import DocumentQuery, PurgeReceipt
from rag.ui import session
from rag.ui.formatting import plural, size
from rag.ui.language import _
from rag.ui.library import document_rows, document_table
from rag.ui.page_frame import dialog, door, empty

TABLE = "trash-table"
IN_TRASH = DocumentQuery(in_trash=True)
MOST_NAMES = 8


@st.fragment(key="trash")
def trash() -> None:
    """Deleted documents: restore them, or delete them for good."""
    with door(), st.container(key="library"):
        document_table.begin(TABLE)
        _tell_purged()
        documents, catalogue = session.engine().documents, session.engine().catalogue
        total = catalogue.count(IN_TRASH)
        if not total:
            with empty(
                "delete",
                _("The trash is empty"),
                _("Deleted documents stay here until you restore or permanently delete them."),
            ):
                return
        actions = st.container(horizontal=True, key="library-actions")
        window = document_table.window(TABLE, total, session.collection())
        found = documents.list(
            **dict(IN_TRASH),
            order_by=window.by,
            descending=window.descending,
            limit=document_table.PAGE_ROWS,
            offset=window.first,
        )
        rows = [document_rows.row(document) for document in found]
        document_table.show_table(
            TABLE,
            document_rows.columns(document_rows.TRASH, rows),
            rows,
            total=total,
            shown=window,
            of=session.collection(),
            on_open=lambda _: None,
            on_all=lambda: document_table.choose(TABLE, catalogue.ids(IN_TRASH)),
        )
        with actions:
            _actions()


def _actions() -> None:
    refusal = session.refusal()
    disabled = bool(refusal) or not document_table.chosen(TABLE)
    st.button(
        _("Restore"),
        icon=":material/restore_from_trash:",
        type="primary",
        disabled=disabled,
        help=refusal,
        on_click=_restore,
    )
    if st.button(_("Delete permanently"), icon=":material/delete_forever:", disabled=disabled, help=refusal):
        _purge(document_table.chosen(TABLE))


def _restore() -> None:
    with door():
        restored = session.engine().documents.restore(document_table.chosen(TABLE))
        st.session_state.pop("deleted", None)
        document_table.choose(TABLE, ())
        st.toast(
            plural(len(restored), "Restored {count} document.", "Restored {count} documents."),
            icon=":material/restore_from_trash:",
        )


def _tell_purged() -> None:
    """What was deleted for good last, as it was counted afterwards."""
    receipt: PurgeReceipt | None = st.session_state.pop("purged", None)
    if receipt:
        gone = (
            plural(len(receipt.document_ids), "{count} document", "{count} documents"),
            plural(receipt.chunks, "{count} chunk", "{count} chunks"),
            plural(receipt.files, "{count} file", "{count} files"),
            size(receipt.bytes),
        )
        told = _("Permanently deleted: {gone}.").format(gone=", ".join(gone))
        if receipt.unfinished:
            told += " " + plural(
                receipt.unfinished,
                "Files of {count} document will be deleted soon.",
                "Files of {count} documents will be deleted soon.",
            )
        st.toast(told, icon=":material/delete_forever:")


@dialog("Delete permanently?")
def _purge(chosen: Sequence[uuid.UUID]) -> None:
    with door():
        documents = session.engine().documents
        names = [documents.get(document_id).name for document_id in chosen[:MOST_NAMES]]
        st.text("\n".join(names) + ("\n…" if len(chosen) > MOST_NAMES else ""))
        st.text(_("The files and their index entries will be deleted. This cannot be undone."))
        if st.button(
            plural(len(chosen), "Delete {count} document", "Delete {count} documents"),
            type="primary",
            icon=":material/delete_forever:",
        ):
            st.session_state["purged"] = documents.purge(chosen)
            st.session_state.pop("deleted", None)
            document_table.choose(TABLE, ())
            st.rerun()
