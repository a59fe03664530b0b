"""What is done with all documents that are chosen: deleted, and had back; moved to a collection; taken out."""

import uuid
from collections.abc import Sequence

import streamlit as st

from rag.types import Document
from rag.ui import session
from rag.ui.formatting import decimal, plain, plural
from rag.ui.language import _
from rag.ui.library import document_table, sharing
from rag.ui.page_frame import dialog, door

DELETED = "deleted"
"""What was deleted last and can be had back: ids and names."""
MOST_FILES = 500
"""In one download."""
MOVED_FROM = "library-table"
"""The table whose documents are moved."""


# --- deleting ---------------------------------------------------------------------------------------


def delete(key: str) -> None:
    """Put what is chosen in the table of this key now into the trash."""
    with door():
        documents = session.engine().documents
        ids = document_table.chosen(key)
        first = documents.get(ids[0]).name if len(ids) == 1 else ""
        gone = documents.trash(ids)
        st.session_state[DELETED] = dict.fromkeys([*ids, *gone], first)
        document_table.choose(key, ())


def undo_bar() -> None:
    """What was deleted last, and the way back."""
    deleted: dict[uuid.UUID, str] = st.session_state.get(DELETED, {})
    if not deleted:
        return
    name = next(iter(deleted.values()))
    what = plain(name) if name else plural(len(deleted), "{count} document", "{count} documents")
    with st.container(key="undo", horizontal=True, vertical_alignment="center"):
        st.markdown(_(":material/delete: Moved **{what}** to the trash.").format(what=what), width="stretch")
        st.button(_("Undo"), icon=":material/undo:", on_click=_undo, args=(list(deleted),))
        st.button(
            ":material/close:", key="undo-dismiss", type="tertiary", help=_("Dismiss"), on_click=_undo, args=([],)
        )


def _undo(document_ids: list[uuid.UUID]) -> None:
    with door():
        if document_ids:
            session.engine().documents.restore(document_ids)
        st.session_state.pop(DELETED, None)


# --- taking out -------------------------------------------------------------------------------------


def download(chosen: Sequence[Document]) -> None:
    """The originals as they were uploaded, several of them as a ZIP; read only when the button is pressed."""
    files = session.engine().files
    only = chosen[0] if len(chosen) == 1 else None
    ids = [document.id for document in chosen]
    too_many = _("At most {most} at a time.").format(most=decimal(MOST_FILES)) if len(chosen) > MOST_FILES else None
    st.download_button(
        _("Download"),
        data=lambda: files.taken(ids[0]) if only else files.archive(ids).read(),
        file_name=only.name if only else "documents.zip",
        mime="application/octet-stream" if only else "application/zip",
        icon=":material/download:",
        disabled=not chosen or bool(too_many),
        help=too_many,
        on_click="ignore",
    )


# --- moving -----------------------------------------------------------------------------------------


def offer_moving(chosen: Sequence[Document], refusal: str | None) -> None:
    """Move what is chosen to another collection of the user's own."""
    if session.engine().access.is_shared:
        return
    if st.button(
        _("Move"), icon=":material/drive_file_move:", disabled=bool(refusal) or not chosen, help=refusal, key="move"
    ):
        _move([document.id for document in chosen])


@dialog("Move to a collection")
def _move(ids: list[uuid.UUID]) -> None:
    with door():
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
                documents=plural(len(ids), "{count} document", "{count} documents")
            )
        )
        if st.button(_("Move"), type="primary", icon=":material/drive_file_move:", disabled=not wanted) and wanted:
            moved = session.own_engine().catalogue.move(ids, others.get(wanted, wanted))
            st.toast(
                _("Moved {documents} to {wanted}.").format(
                    documents=plural(len(moved), "{count} document", "{count} documents"), wanted=plain(wanted)
                ),
                icon=":material/check:",
            )
            document_table.choose(MOVED_FROM, ())
            st.rerun()
