"""Chunk view of the index page: the chunks of a page, outlined on it."""

import uuid

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag import types
from rag.ui import session
from rag.ui.chat.answer import location_text
from rag.ui.formatting import decimal, escape
from rag.ui.language import N_, _
from rag.ui.page_frame import empty_state
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

VIEW = "index-view"
"""Session key of the index page's current view."""
DOCUMENT, PAGE = "chunks-document", "chunks-page-{}"
"""Session keys of the chosen document, and of its chosen page."""
KIND_NAMES = {
    types.BlockKind.TEXT: N_("text"),
    types.BlockKind.HEADING: N_("heading"),
    types.BlockKind.TABLE: N_("table"),
    types.BlockKind.PICTURE: N_("recognised in a picture"),
    types.BlockKind.NOTE: N_("comment"),
    types.BlockKind.STRUCK: N_("struck out"),
    types.BlockKind.HIDDEN: N_("not visible on the page"),
}
"""What follows the number of lines of a kind."""


def columns(widths: list[int]) -> list[DeltaGenerator]:
    """Return columns in which the viewer fills the window's height."""
    with st.container(key="split"):
        return st.columns(widths, gap="medium")


def chunks_by_page() -> None:
    """Show the chunks of a page, outlined on it, with the chosen one highlighted."""
    ready = session.engine().documents.list(status=types.DocumentStatus.READY)
    documents = {str(document.id): document for document in ready}
    if not documents:
        text = _("Upload documents to see their chunks here.")
        state = empty_state("manage_search", _("Nothing is indexed yet"), text)
        state.page_link("pages/library.py", label=_("Upload documents"), icon=":material/upload_file:")
        return
    if st.session_state.get(DOCUMENT) not in documents:
        st.session_state.pop(DOCUMENT, None)
    left, right = columns([5, 6])
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            document_id = st.selectbox(
                _("Document"), list(documents), format_func=lambda choice: documents[choice].name, key=DOCUMENT
            )
            document = documents[document_id]
            last = max(document.page_count, 1)
            number = int(st.number_input(_("Page"), 1, last, width=130, key=PAGE.format(document.id)))
        chunks = session.engine().store.chunks.of_document(document.id, page_number=number)
        list_key = f"chunk-{number}-{chunks[0].id if chunks else ''}"
        position = _chunk_list(chunks, number, list_key) if chunks else None
        if not chunks:
            st.caption(_("No chunks on this page."))
    with right:
        show_pdf(
            session.engine().documents.get(document.id),  # with its pages
            [Mark.of_chunk(chunk) for chunk in chunks],
            position,
            page_number=number,
            key="chunk-viewer",
            on_pick=lambda position, _click: st.session_state.update({list_key: position}),
        )


def _chunk_list(chunks: list[types.Chunk], number: int, key: str) -> int:
    """List the page's chunks and return the position of the chosen one."""
    counts = (f"{decimal(count)} {_(KIND_NAMES[kind])}" for kind, count in types.line_counts(chunks).items())
    st.caption(_("Lines: {counts}", counts=", ".join(counts)))
    with st.container(key="chunk-list", height=400, border=False):
        position = st.radio(
            _("Chunks"),
            range(len(chunks)),
            index=next((i for i, chunk in enumerate(chunks) if chunk.page_number == number), 0),
            format_func=lambda i: f"\\#{chunks[i].ordinal + 1} · {location_text(chunks[i].lines)}",
            captions=[escape(chunk.text[:160]) + " …" for chunk in chunks],
            label_visibility="collapsed",
            key=key,
        )
        with st.expander(_("Embedded text"), expanded=False):
            st.caption(escape(chunks[position].context))
            st.text(chunks[position].text)
    return position


def open_page(document_id: uuid.UUID, number: int) -> None:
    """Open the chunk view at a page; call it before the page is drawn."""
    st.session_state[VIEW] = "Chunks"
    st.session_state[DOCUMENT] = str(document_id)
    st.session_state[PAGE.format(document_id)] = number
