"""The trash: restore documents or delete them permanently."""

import uuid
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import file_size, n_chunks, n_documents, n_files, plural
from rag.ui.language import _
from rag.ui.library import document_table
from rag.ui.page_frame import dialog, empty_state, error_boundary, is_confirmed

TABLE = "trash-table"
IN_TRASH = types.DocumentQuery(in_trash=True)
MAX_NAMES = 8


@st.fragment(key="trash")
def trash() -> None:
    """Show deleted documents, to restore or to delete permanently."""
    with error_boundary(), st.container(key="library"):
        document_table.reset_on_return(TABLE)
        _show_receipt()
        total = session.engine().documents.count(IN_TRASH)
        if not total:
            text = _("Deleted documents stay here until you restore or permanently delete them.")
            empty_state("delete", _("The trash is empty"), text)
            return
        actions = st.container(horizontal=True, key="library-actions")
        window, documents = document_table.window(TABLE, IN_TRASH, total)
        document_table.show_table(TABLE, document_table.TRASH, documents, query=IN_TRASH, total=total, shown=window)
        refusal, chosen = session.read_only_reason(), document_table.chosen(TABLE)
        looks: dict[str, Any] = {"disabled": bool(refusal) or not chosen, "help": refusal}
        with actions:
            st.button(_("Restore"), icon=":material/restore_from_trash:", type="primary", on_click=_restore, **looks)
            if st.button(_("Delete permanently"), icon=":material/delete_forever:", **looks):
                _purge(chosen)


@error_boundary()
def _restore() -> None:
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
        counts = (
            n_documents(len(receipt.document_ids)),
            n_chunks(receipt.chunks),
            n_files(receipt.files),
            file_size(receipt.bytes),
        )
        text = _("Permanently deleted: {gone}.", gone=", ".join(counts))
        if receipt.unfinished:
            text += " " + plural(
                receipt.unfinished,
                "Files of {count} document will be deleted soon.",
                "Files of {count} documents will be deleted soon.",
            )
        st.toast(text, icon=":material/delete_forever:")


@dialog("Delete permanently?")
def _purge(chosen: Sequence[uuid.UUID]) -> None:
    documents = session.engine().documents
    names = [documents.get(document_id).name for document_id in chosen[:MAX_NAMES]]
    st.text("\n".join(names) + ("\n…" if len(chosen) > MAX_NAMES else ""))
    st.text(_("This cannot be undone."))
    label = plural(len(chosen), "Delete {count} document", "Delete {count} documents")
    if is_confirmed(label, ":material/delete_forever:"):
        st.session_state["purged"] = documents.purge(chosen)
        st.session_state.pop("deleted", None)
        document_table.choose(TABLE, ())
        st.rerun()
