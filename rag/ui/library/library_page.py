"""The library page: the documents as a table, and what can be done with those that are chosen."""

import uuid
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag.types import CONTAINERS, UNFINISHED, Document, DocumentQuery
from rag.ui import session
from rag.ui.chat import conversation_list, tour
from rag.ui.formatting import plain, plural
from rag.ui.language import _
from rag.ui.library import bulk_actions, document_metadata, document_rows, document_table
from rag.ui.library.incomplete_documents import warn_of_losses
from rag.ui.library.versions import show_versions
from rag.ui.matrix import matrix_form
from rag.ui.page_frame import dialog, door, empty
from rag.ui.translated_messages import said
from rag.ui.viewer.pdf_viewer import show_pdf

TABLE = "library-table"
OPENED = "library-opened"
"""The document whose name was clicked, until it is shown."""
MOST_TOLD = 3
"""Documents whose losses are told at once."""


@st.fragment(key="library")
def documents() -> None:
    """The table of documents with its search and its actions."""
    with door(), st.container(key="library"):
        document_table.begin(TABLE)
        with st.container(horizontal=True, vertical_alignment="center", key="library-bar"):
            wanted = st.text_input(
                _("Search"),
                key="library-search",
                placeholder=_("Search by name"),
                label_visibility="collapsed",
                width=240,
                icon=":material/search:",
            )
            document_metadata.filter_bar()
            actions = st.container(horizontal=True, key="library-actions")
        bulk_actions.undo_bar()
        asked = _asked(wanted)
        total = session.engine().catalogue.count(asked)
        if not total:
            _no_documents(is_filtered=asked != DocumentQuery())
            return
        _shelf(asked, total, actions)


def _asked(wanted: str | None) -> DocumentQuery:
    """What the search and the filter let through."""
    filters, status = document_metadata.chosen_filter()
    return DocumentQuery(
        search=(wanted or "").strip() or None,
        filters=filters,
        status=next((key for key, name in document_rows.STATUS_NAMES.items() if name == status), None),
        disabled=None if status is None else status == document_rows.DISABLED,
    )


def _shelf(asked: DocumentQuery, total: int, actions: Any) -> None:
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
    if len(chosen) <= MOST_TOLD:
        warn_of_losses(chosen)
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


def _chosen(asked: DocumentQuery, shown: Sequence[Document]) -> list[Document]:
    """The documents that are chosen; what the search and the filter hide is chosen no longer."""
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
    with door():
        asked = _asked(st.session_state.get("library-search"))
        document_table.choose(TABLE, session.engine().catalogue.ids(asked))


def _no_documents(*, is_filtered: bool) -> None:
    if is_filtered:
        with empty("search_off", _("No matching documents"), _("No document matches the search and the filter.")):
            return
    with empty("folder_open", _("Your library is empty"), _("Upload documents to fill it.")):
        st.page_link("pages/upload.py", label=_("Upload documents"), icon=":material/upload_file:")
        tour.offer()


def _actions(chosen: list[Document]) -> None:
    """What can be done; an action reads what is chosen when it is clicked."""
    ready = [document for document in chosen if document.page_count]
    asked = [document for document in ready if not document.disabled]
    if st.button(_("Ask about them"), icon=":material/forum:", type="primary", disabled=not asked):
        conversation_list.open_conversation(
            None, tuple(dict.fromkeys(document.id for document in [*asked, *_parts(asked)]))
        )
        st.switch_page("pages/chat.py")
    _offer_matrix(asked)
    if st.button(_("Open"), icon=":material/visibility:", disabled=len(ready) != 1 or len(chosen) != 1):
        _open(ready[0].id)
    has_versions = len(chosen) == 1 and chosen[0].version > 1
    if has_versions and st.button(_("Versions"), icon=":material/history:"):
        show_versions(chosen[0].id)
    _changes(chosen)
    bulk_actions.download(chosen)


def _offer_matrix(asked: list[Document]) -> None:
    """Ask the documents the same questions; a matrix is about documents of the user's own."""
    if session.engine().access.is_shared:
        return
    help_ = _("Ask all selected documents the same questions")
    if st.button(_("Matrix"), icon=":material/table:", disabled=not asked, help=help_):
        matrix_form.begin_with([document.id for document in asked])
        st.switch_page("pages/matrix.py")


def _changes(chosen: list[Document]) -> None:
    """What only those may do who may write."""
    refusal = session.refusal()
    if st.button(_("Edit"), icon=":material/edit:", disabled=bool(refusal) or not chosen, help=refusal):
        document_metadata.edit(chosen)
    bulk_actions.offer_moving(chosen, refusal)
    unfinished = [document.id for document in chosen if document.status in UNFINISHED]
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


def _parts(chosen: Sequence[Document]) -> list[Document]:
    """What was in the mails and archives among those that are chosen, as far as it can be asked."""
    parts = session.engine().files.parts(*(document.id for document in chosen if document.mime_type in CONTAINERS))
    return [part for part in parts if part.page_count and part.deleted_at is None]


@dialog("Document", width="large")
def _open(document_id: uuid.UUID) -> None:
    with door(), st.container(key="preview"):
        document = session.engine().documents.get(document_id)
        if not document.page_count:
            st.info(
                _("**{name}** has no pages to show yet: {status}.").format(
                    name=plain(document.name), status=plain(document_rows.status(document))
                )
            )
            if document.error:
                st.text(said(document.error))
            return
        warn_of_losses([document])
        show_pdf(document, (), None, key=f"preview-{document.id}")
        st.caption(plural(document.page_count, "{count} page", "{count} pages"))
