"""Actions on selected documents: delete, undo, download and move."""

import uuid
from collections.abc import Sequence

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import decimal, escape, n_documents
from rag.ui.language import _
from rag.ui.library import document_table, sharing
from rag.ui.page_frame import dialog, error_boundary

LAST_DELETED = "deleted"
"""Session key of the documents deleted last: ids and names."""
MAX_FILES = 500
"""In one download."""
TABLE = "library-table"


# --- deleting ---------------------------------------------------------------------------------------


def delete(key: str) -> None:
    """Move the documents selected in a table to the trash."""
    with error_boundary():
        documents = session.engine().documents
        ids = document_table.chosen(key)
        first = documents.get(ids[0]).name if len(ids) == 1 else ""
        gone = documents.trash(ids)
        st.session_state[LAST_DELETED] = dict.fromkeys([*ids, *gone], first)
        document_table.choose(key, ())


def undo_bar() -> None:
    """Show what was deleted last, with an undo button."""
    deleted: dict[uuid.UUID, str] = st.session_state.get(LAST_DELETED, {})
    if not deleted:
        return
    name = next(iter(deleted.values()))
    what = escape(name) if name else n_documents(len(deleted))
    with st.container(key="undo", horizontal=True, vertical_alignment="center"):
        st.markdown(_(":material/delete: Moved **{what}** to the trash.").format(what=what), width="stretch")
        st.button(_("Undo"), icon=":material/undo:", on_click=_undo, args=(list(deleted),))
        st.button(
            ":material/close:", key="undo-dismiss", type="tertiary", help=_("Dismiss"), on_click=_undo, args=([],)
        )


def _undo(document_ids: list[uuid.UUID]) -> None:
    with error_boundary():
        if document_ids:
            session.engine().documents.restore(document_ids)
        st.session_state.pop(LAST_DELETED, None)


# --- taking out -------------------------------------------------------------------------------------


def download(chosen: Sequence[types.Document]) -> None:
    """Offer the original files, several as a ZIP that is built when the button is clicked."""
    files = session.engine().files
    only = chosen[0] if len(chosen) == 1 else None
    ids = [document.id for document in chosen]
    too_many = _("At most {most} at a time.").format(most=decimal(MAX_FILES)) if len(chosen) > MAX_FILES else None
    st.download_button(
        _("Download"),
        data=lambda: files.download(ids[0]) if only else files.archive(ids).read(),
        file_name=only.name if only else "documents.zip",
        mime="application/octet-stream" if only else "application/zip",
        icon=":material/download:",
        disabled=not chosen or bool(too_many),
        help=too_many,
        on_click="ignore",
    )


# --- moving -----------------------------------------------------------------------------------------


def offer_moving(chosen: Sequence[types.Document], refusal: str | None) -> None:
    """Offer to move the selected documents to another own collection."""
    if session.engine().is_shared:
        return
    if st.button(
        _("Move"), icon=":material/drive_file_move:", disabled=bool(refusal) or not chosen, help=refusal, key="move"
    ):
        _move([document.id for document in chosen])


@dialog("Move to a collection")
def _move(ids: list[uuid.UUID]) -> None:
    with error_boundary():
        names = sharing.own_collections()
        others = {name: key for key, name in names.items() if key != session.collection()}
        wanted = st.selectbox(
            _("Collection"),
            [*others],
            index=None,
            accept_new_options=True,
            placeholder=_("Choose one, or type a new name"),
        )
        st.caption(
            _("{documents} will be moved there. Choose the collection in the sidebar to search it.").format(
                documents=n_documents(len(ids))
            )
        )
        if st.button(_("Move"), type="primary", icon=":material/drive_file_move:", disabled=not wanted) and wanted:
            moved = session.own_engine().documents.move(ids, others.get(wanted, wanted))
            st.toast(
                _("Moved {documents} to {wanted}.").format(documents=n_documents(len(moved)), wanted=escape(wanted)),
                icon=":material/check:",
            )
            document_table.choose(TABLE, ())
            st.rerun()
