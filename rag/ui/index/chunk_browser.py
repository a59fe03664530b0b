"""The view of the index page that shows chunks as they are found, outlined where they stand on their pages."""

import uuid

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag.types import Chunk, Document, DocumentStatus
from rag.ui import session
from rag.ui.chat.answer import place
from rag.ui.formatting import plain
from rag.ui.language import _
from rag.ui.page_frame import empty
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

VIEW = "index-view"
"""What the view that the index page shows is kept by."""
DOCUMENT = "chunks-document"


def chunk_browser() -> None:
    """The chunks of a page, outlined where they stand; the chosen one lit."""
    documents = {str(one.id): one for one in session.engine().documents.list(status=DocumentStatus.READY)}
    if not documents:
        nothing_indexed()
        return
    if st.session_state.get(DOCUMENT) not in documents:
        st.session_state.pop(DOCUMENT, None)
    left, right = split([5, 6])
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            chosen_id = st.selectbox(
                _("Document"),
                list(documents),
                format_func=lambda document_id: documents[document_id].name,
                key=DOCUMENT,
            )
            document = documents[chosen_id]
            last = max(document.page_count, 1)
            number = int(st.number_input(_("Page"), 1, last, width=130, key=_page_key(document.id)))
        chunks = session.engine().chunks.list(document.id, page_number=number)
        chosen = _chunk_list(chunks, number)
    with right:
        _chunk_view(session.engine().documents.get(document.id), chunks, chosen, number)


def _chunk_list(chunks: list[Chunk], number: int) -> int | None:
    """The page's chunks; gives the position of the opened one."""
    if not chunks:
        st.caption(_("No chunks on this page."))
        return None
    with st.container(key="chunk-list", height=400, border=False):
        position = st.radio(
            _("Chunks"),
            range(len(chunks)),
            index=next((i for i, chunk in enumerate(chunks) if chunk.page_number == number), 0),
            format_func=lambda i: f"\\#{chunks[i].ordinal + 1} · {place(chunks[i].lines)}",
            captions=[plain(chunk.text[:160]) + " …" for chunk in chunks],
            label_visibility="collapsed",
            key=f"chunk-{number}-{chunks[0].id}",
        )
        with st.expander(_("Embedded text"), expanded=False):
            st.caption(plain(chunks[position].context))
            st.text(chunks[position].text)
    return position


def _chunk_view(document: Document, chunks: list[Chunk], chosen: int | None, number: int) -> None:
    def pick(position: int, _click: int) -> None:
        st.session_state[f"chunk-{number}-{chunks[0].id}"] = position

    marks = [Mark.of_chunk(chunk) for chunk in chunks]
    show_pdf(document, marks, chosen, page_number=number, key="chunk-viewer", on_pick=pick)


def open_page(document_id: uuid.UUID, number: int) -> None:
    """Let the index page show the chunks of a page; to be called before it is drawn."""
    st.session_state[VIEW] = "Chunks"
    st.session_state[DOCUMENT] = str(document_id)
    st.session_state[_page_key(document_id)] = number


def _page_key(document_id: uuid.UUID) -> str:
    return f"chunks-page-{document_id}"


def split(widths: list[int]) -> list[DeltaGenerator]:
    """Columns beside each other in which the viewer takes the height of the window."""
    with st.container(key="split"):
        return st.columns(widths, gap="medium")


def nothing_indexed() -> None:
    """A guide for who has no documents yet."""
    with empty("manage_search", _("Nothing is indexed yet"), _("Upload documents to see their chunks here.")):
        st.page_link("pages/upload.py", label=_("Upload documents"), icon=":material/upload_file:")
