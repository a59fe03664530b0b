"""The library page: a table of documents and the actions on selected ones."""

import uuid
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat import conversation_list
from rag.ui.components import focus_field
from rag.ui.formatting import escape, n_pages
from rag.ui.language import _
from rag.ui.library import bulk_actions, document_metadata, document_rows, document_table, upload
from rag.ui.library.incomplete_documents import warn_if_incomplete
from rag.ui.library.versions import show_versions
from rag.ui.matrix import matrix_form
from rag.ui.page_frame import dialog, empty_state, error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import show_pdf

TABLE = "library-table"
OPENED = "library-opened"
"""Session key of the clicked document until it is shown."""
MAX_WARNINGS = 3
"""Documents whose missing text is reported at once."""


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
            wanted = st.text_input(
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
        bulk_actions.undo_bar()
        asked = _query(wanted)
        total = session.engine().documents.count(asked)
        if not total:
            _no_documents(is_filtered=asked != types.DocumentQuery())
            return
        _table(asked, total, actions)


def _query(wanted: str | None) -> types.DocumentQuery:
    """Return the query of the search field and the filter."""
    filters, status = document_metadata.chosen_filter()
    return types.DocumentQuery(
        search=(wanted or "").strip() or None,
        filters=filters,
        status=next((key for key, name in document_rows.STATUS_NAMES.items() if name == status), None),
        disabled=None if status is None else status == document_rows.DISABLED,
    )


def _table(asked: types.DocumentQuery, total: int, actions: Any) -> None:
    engine = session.engine()
    window = document_table.window(TABLE, total, (session.collection(), asked))
    found = engine.documents.list(
        **dict(asked),
        order_by=window.by,
        descending=window.descending,
        limit=document_table.PAGE_ROWS,
        offset=window.first,
    )
    chosen = _chosen(asked, found)
    if len(chosen) <= MAX_WARNINGS:
        warn_if_incomplete(chosen)
    rows = [document_rows.row(document) for document in found]
    document_table.show_table(
        TABLE,
        document_rows.columns(document_rows.DOCUMENTS, rows),
        rows,
        total=total,
        shown=window,
        of=(session.collection(), asked),
        on_open=lambda document_id: st.session_state.update({OPENED: document_id}),
        on_all=_choose_all,
    )
    with actions:
        _actions(chosen)
    if opened := st.session_state.pop(OPENED, None):
        _open(opened)


def _chosen(asked: types.DocumentQuery, shown: Sequence[types.Document]) -> list[types.Document]:
    """Return the selected documents, and deselect those that search and filter hide."""
    ids = document_table.chosen(TABLE)
    here = {document.id: document for document in shown}
    if all(document_id in here for document_id in ids):
        return [here[document_id] for document_id in ids]
    narrowed = asked.filters.model_copy(update={"document_ids": tuple(ids)})
    chosen = session.engine().documents.list(**dict(asked.model_copy(update={"filters": narrowed})))
    if len(chosen) != len(ids):
        document_table.choose(TABLE, [document.id for document in chosen])
    return chosen


def _choose_all() -> None:
    with error_boundary():
        asked = _query(st.session_state.get("library-search"))
        document_table.choose(TABLE, session.engine().documents.ids(asked))


def _no_documents(*, is_filtered: bool) -> None:
    if is_filtered:
        with empty_state("search_off", _("No matching documents"), _("No document matches the search and the filter.")):
            return
    with empty_state("folder_open", _("Your library is empty"), _("Drop PDFs, Word files or slides here.")):
        return


def _actions(chosen: list[types.Document]) -> None:
    """Show the actions on selected documents."""
    ready = [document for document in chosen if document.page_count]
    can_ask = any(not document.disabled for document in ready)
    if st.button(_("Ask about them"), icon=":material/forum:", type="primary", disabled=not can_ask):
        ids = conversation_list.to_ask([*chosen, *_attachments(chosen)])
        conversation_list.open_conversation(None, tuple(dict.fromkeys(ids)))
        st.switch_page("pages/chat.py")
    _offer_matrix(chosen, disabled=not can_ask)
    if st.button(_("Open"), icon=":material/visibility:", disabled=len(ready) != 1 or len(chosen) != 1):
        _open(ready[0].id)
    has_versions = len(chosen) == 1 and chosen[0].version > 1
    if has_versions and st.button(_("Versions"), icon=":material/history:"):
        show_versions(chosen[0].id)
    _changes(chosen)
    bulk_actions.download(chosen)


def _offer_matrix(chosen: list[types.Document], *, disabled: bool) -> None:
    """Offer a matrix about the documents, which must be the user's own."""
    if session.engine().is_shared:
        return
    help_ = _("Ask all selected documents the same questions")
    if st.button(_("Matrix"), icon=":material/table:", disabled=disabled, help=help_):
        matrix_form.start_with([document.id for document in chosen if not document.disabled])
        st.switch_page("pages/matrix.py")


def _changes(chosen: list[types.Document]) -> None:
    """Show the actions that need write access."""
    refusal = session.read_only_reason()
    if st.button(_("Edit"), icon=":material/edit:", disabled=bool(refusal) or not chosen, help=refusal):
        document_metadata.edit(chosen)
    bulk_actions.offer_moving(chosen, refusal)
    unfinished = [document.id for document in chosen if document.status in types.UNFINISHED]
    if unfinished and not refusal and st.button(_("Cancel reading"), icon=":material/cancel:"):
        session.engine().documents.cancel(unfinished)
        st.rerun()
    st.button(
        _("Delete"),
        icon=":material/delete:",
        disabled=bool(refusal) or not chosen,
        help=refusal,
        on_click=bulk_actions.delete,
        args=(TABLE,),
    )


def _attachments(chosen: Sequence[types.Document]) -> list[types.Document]:
    """Return the files in the selected documents."""
    parts = session.engine().documents.attachments(*(document.id for document in chosen))
    return [part for part in parts if part.deleted_at is None]


@dialog("Document", width="large")
def _open(document_id: uuid.UUID) -> None:
    with error_boundary(), st.container(key="preview"):
        document = session.engine().documents.get(document_id)
        if not document.page_count:
            st.info(
                _("**{name}** has no pages to show yet: {status}.").format(
                    name=escape(document.name), status=escape(document_rows.status(document))
                )
            )
            if document.error:
                st.text(translate_message(document.error))
            return
        warn_if_incomplete([document])
        show_pdf(document, (), None, key=f"preview-{document.id}")
        st.caption(n_pages(document.page_count))
