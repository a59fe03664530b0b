"""The trash: restore documents or delete them permanently."""

import uuid
from collections.abc import Sequence

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import file_size, n_chunks, n_documents, plural
from rag.ui.language import _
from rag.ui.library import document_rows, document_table
from rag.ui.page_frame import dialog, empty_state, error_boundary

TABLE = "trash-table"
IN_TRASH = types.DocumentQuery(in_trash=True)
MAX_NAMES = 8


@st.fragment(key="trash")
def trash() -> None:
    """Show deleted documents, to restore or to delete permanently."""
    with error_boundary(), st.container(key="library"):
        document_table.reset_on_return(TABLE)
        _show_receipt()
        documents = session.engine().documents
        total = documents.count(IN_TRASH)
        if not total:
            with empty_state(
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
            on_all=lambda: document_table.choose(TABLE, documents.ids(IN_TRASH)),
        )
        with actions:
            _actions()


def _actions() -> None:
    refusal = session.read_only_reason()
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
    with error_boundary():
        restored = session.engine().documents.restore(document_table.chosen(TABLE))
        st.session_state.pop("deleted", None)
        document_table.choose(TABLE, ())
        st.toast(
            plural(len(restored), "Restored {count} document.", "Restored {count} documents."),
            icon=":material/restore_from_trash:",
        )


def _show_receipt() -> None:
    """Show the receipt of the last permanent deletion."""
    receipt: types.PurgeReceipt | None = st.session_state.pop("purged", None)
    if receipt:
        gone = (
            n_documents(len(receipt.document_ids)),
            n_chunks(receipt.chunks),
            plural(receipt.files, "{count} file", "{count} files"),
            file_size(receipt.bytes),
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
    with error_boundary():
        documents = session.engine().documents
        names = [documents.get(document_id).name for document_id in chosen[:MAX_NAMES]]
        st.text("\n".join(names) + ("\n…" if len(chosen) > MAX_NAMES else ""))
        st.text(_("This cannot be undone."))
        with st.container(horizontal=True):
            is_confirmed = st.button(
                plural(len(chosen), "Delete {count} document", "Delete {count} documents"),
                type="primary",
                icon=":material/delete_forever:",
            )
            is_cancelled = st.button(_("Cancel"))
        if is_confirmed:
            st.session_state["purged"] = documents.purge(chosen)
            st.session_state.pop("deleted", None)
            document_table.choose(TABLE, ())
        if is_confirmed or is_cancelled:
            st.rerun()
