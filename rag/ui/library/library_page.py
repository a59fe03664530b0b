"""The library page: a table of documents and the actions on selected ones."""

import functools
import uuid
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat import conversation_list
from rag.ui.chat.conversation import SENT
from rag.ui.components import download_button, focus_field
from rag.ui.formatting import decimal, escape, n_documents, n_pages
from rag.ui.language import _
from rag.ui.library import document_metadata, document_table, sharing, upload
from rag.ui.library.incomplete_documents import warn_if_incomplete
from rag.ui.library.overview import show_overview
from rag.ui.library.versions import show_versions
from rag.ui.matrix import form
from rag.ui.page_frame import dialog, empty_state, error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import show_pdf

TABLE = "library-table"
OPENED = "library-opened"
"""Session key of the clicked document until it is shown."""
LAST_DELETED = "deleted"
"""Session key of the documents deleted last: ids and names."""
MAX_WARNINGS = 3
"""Documents whose missing text is reported at once."""
MAX_FILES = 500
"""In one download."""


def documents_view() -> None:
    """Show the upload and, below it, the documents."""
    with error_boundary(), st.container(key="upload", gap="small"):
        upload.quota_usage()
        upload.drop_zone()
        with st.container(key="files", gap="xsmall"):
            upload.uploads()
    documents()


@st.fragment(key="library")
def documents() -> None:
    """Show the documents with search and actions."""
    with error_boundary(), st.container(key="library"):
        document_table.reset_on_return(TABLE)
        with st.container(horizontal=True, vertical_alignment="center", key="library-bar"):
            search = st.text_input(
                _("Search"),
                key="library-search",
                placeholder=_("Name, title, author or tag"),
                label_visibility="collapsed",
                width=240,
                icon=":material/search:",
            )
            focus_field(".st-key-library-search input")
            document_metadata.filter_bar()
            actions = st.container(horizontal=True, key="library-actions")
        _undo_bar()
        status = st.session_state.get(f"{document_metadata.FILTER}-status")
        query = types.DocumentQuery(
            search=(search or "").strip() or None,
            filters=document_metadata.current_filters(document_metadata.FILTER),
            status=document_metadata.STATUSES.get(status or ""),
            disabled=None if status is None else status == document_table.DISABLED,
        )
        total = session.engine().documents.count(query)
        if not total and query == types.DocumentQuery():
            empty_state("folder_open", _("Your library is empty"), _("Drop PDFs, Word files or slides here."))
            return
        if not total:
            text = _("No document matches the search and the filter.")
            empty_state("search_off", _("No matching documents"), text)
            return
        window, shown = document_table.window(TABLE, query, total)
        chosen = _chosen(query, shown)
        if len(chosen) <= MAX_WARNINGS:
            warn_if_incomplete(chosen)
        document_table.show_table(
            TABLE,
            document_table.DOCUMENTS,
            shown,
            query=query,
            total=total,
            shown=window,
            on_open=lambda document_id: st.session_state.update({OPENED: document_id}),
        )
        with actions:
            _actions(chosen)
        if opened := st.session_state.pop(OPENED, None):
            _open(opened)


def _chosen(query: types.DocumentQuery, shown: Sequence[types.Document]) -> list[types.Document]:
    """Return the selected documents, and deselect those that search and filter hide."""
    ids = document_table.chosen(TABLE)
    here = {document.id: document for document in shown}
    if all(document_id in here for document_id in ids):
        return [here[document_id] for document_id in ids]
    narrowed = query.filters.model_copy(update={"document_ids": tuple(ids)})
    chosen = session.engine().documents.list(**dict(query.model_copy(update={"filters": narrowed})))
    if len(chosen) != len(ids):
        document_table.choose(TABLE, [document.id for document in chosen])
    return chosen


# --- actions on selected documents ------------------------------------------------------------------


def _actions(chosen: list[types.Document]) -> None:
    engine, refusal = session.engine(), session.read_only_reason()
    is_own = not engine.is_shared
    ids = [document.id for document in chosen]
    ready = [document for document in chosen if document.page_count]
    enabled = [document.id for document in chosen if not document.disabled]
    cannot_ask = not any(not document.disabled for document in ready)
    if st.button(_("Ask about them"), icon=":material/forum:", type="primary", disabled=cannot_ask):
        attachments = [part for part in engine.documents.attachments(*ids) if part.deleted_at is None]
        conversation_list.open_conversation(
            None, tuple(dict.fromkeys(conversation_list.to_ask([*chosen, *attachments])))
        )
        st.switch_page("pages/chat.py")
    help_ = _("Fill a table with facts from all selected documents")
    if is_own and st.button(_("Matrix"), icon=":material/table:", disabled=cannot_ask, help=help_):
        form.start_with(enabled)
        st.switch_page("pages/matrix.py")
    if st.button(_("Open"), icon=":material/visibility:", disabled=len(ready) != 1 or len(chosen) != 1):
        _open(ready[0].id)
    if len(ready) == len(chosen) == 1 and st.button(_("Overview"), icon=":material/summarize:"):
        show_overview(ready[0].id, functools.partial(_ask, ready[0].id))
    if len(chosen) == 1 and chosen[0].version > 1 and st.button(_("Versions"), icon=":material/history:"):
        show_versions(chosen[0].id)
    looks: dict[str, Any] = {"disabled": bool(refusal) or not chosen, "help": refusal}
    if st.button(_("Edit"), icon=":material/edit:", **looks):
        document_metadata.edit(chosen)
    if is_own and st.button(_("Move"), icon=":material/drive_file_move:", key="move", **looks):
        _move(ids)
    unfinished = [document.id for document in chosen if document.status in types.UNFINISHED]
    if unfinished and not refusal and st.button(_("Cancel reading"), icon=":material/cancel:"):
        engine.documents.cancel(unfinished)
        st.rerun()
    st.button(_("Delete"), icon=":material/delete:", on_click=_delete, **looks)
    # The original files; several as a ZIP that is built when the button is clicked.
    only = chosen[0] if len(chosen) == 1 else None
    too_many = _("At most {most} at a time.", most=decimal(MAX_FILES)) if len(chosen) > MAX_FILES else None
    download_button(
        _("Download"),
        lambda: engine.files.download(ids[0]) if only else engine.files.archive(ids).read(),
        only.name if only else "documents.zip",
        "application/octet-stream" if only else "application/zip",
        disabled=not chosen or bool(too_many),
        help=too_many,
    )


def _ask(document_id: uuid.UUID, question: str) -> None:
    """Ask a document a question in a new chat."""
    conversation_list.open_conversation(None, (document_id,))
    st.session_state[SENT] = question
    st.switch_page("pages/chat.py")


@dialog("Document", width="large")
def _open(document_id: uuid.UUID) -> None:
    with st.container(key="preview"):
        document = session.engine().documents.get(document_id)
        if not document.page_count:
            st.info(
                _(
                    "**{name}** has no pages to show yet: {status}.",
                    name=escape(document.name),
                    status=escape(document_table.status(document)),
                )
            )
            if document.error:
                st.text(translate_message(document.error))
            return
        warn_if_incomplete([document])
        show_pdf(document, (), None, key=f"preview-{document.id}")
        st.caption(n_pages(document.page_count))


def _delete() -> None:
    """Move the selected documents to the trash."""
    with error_boundary():
        documents = session.engine().documents
        ids = document_table.chosen(TABLE)
        first = documents.get(ids[0]).name if len(ids) == 1 else ""
        gone = documents.trash(ids)
        st.session_state[LAST_DELETED] = dict.fromkeys([*ids, *gone], first)
        document_table.choose(TABLE, ())


def _undo_bar() -> None:
    """Show what was deleted last, with an undo button."""
    deleted: dict[uuid.UUID, str] = st.session_state.get(LAST_DELETED, {})
    if not deleted:
        return
    name = next(iter(deleted.values()))
    what = escape(name) if name else n_documents(len(deleted))
    with st.container(key="undo", horizontal=True, vertical_alignment="center"):
        st.markdown(_(":material/delete: Moved **{what}** to the trash.", what=what), width="stretch")
        st.button(_("Undo"), icon=":material/undo:", on_click=_undo, args=(list(deleted),))
        st.button(
            ":material/close:", key="undo-dismiss", type="tertiary", help=_("Dismiss"), on_click=_undo, args=([],)
        )


def _undo(document_ids: list[uuid.UUID]) -> None:
    with error_boundary():
        if document_ids:
            session.engine().documents.restore(document_ids)
        st.session_state.pop(LAST_DELETED, None)


@dialog("Move to a collection")
def _move(ids: list[uuid.UUID]) -> None:
    names = sharing.own_collections()
    others = {name: key for key, name in names.items() if key != session.collection()}
    wanted = st.selectbox(
        _("Collection"), [*others], index=None, accept_new_options=True, placeholder=_("Choose one, or type a new name")
    )
    st.caption(
        _(
            "{documents} will be moved there. Choose the collection in the sidebar to search it.",
            documents=n_documents(len(ids)),
        )
    )
    if st.button(_("Move"), type="primary", icon=":material/drive_file_move:", disabled=not wanted) and wanted:
        moved = session.own_engine().documents.move(ids, others.get(wanted, wanted))
        st.toast(
            _("Moved {documents} to {wanted}.", documents=n_documents(len(moved)), wanted=escape(wanted)),
            icon=":material/check:",
        )
        document_table.choose(TABLE, ())
        st.rerun()
