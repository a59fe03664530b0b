"""Chunk views of the index page: the chunks of a page, outlined on it, and a map of all chunks by meaning."""

import uuid

import altair as alt
import pandas as pd  # noqa: F401 – altair could otherwise see a half-loaded pandas of another thread
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag import errors, types
from rag.ui import session
from rag.ui.chat.answer import location_text
from rag.ui.formatting import decimal, escape, n_chunks, n_documents, percent
from rag.ui.language import N_, _
from rag.ui.page_frame import empty_state, error_boundary
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
MAP_PX = 640
MAX_LEGEND_NAMES = 12
MAP_CHUNK = "map-chosen"
MAP = "map-chart"


def columns(widths: list[int]) -> list[DeltaGenerator]:
    """Return columns in which the viewer fills the window's height."""
    with st.container(key="split"):
        return st.columns(widths, gap="medium")


def empty_index() -> None:
    """Show a placeholder if nothing is indexed."""
    text = _("Upload documents to see their chunks here.")
    state = empty_state("manage_search", _("Nothing is indexed yet"), text)
    state.page_link("pages/library.py", label=_("Upload documents"), icon=":material/upload_file:")


# --- the chunks of a page ---------------------------------------------------------------------------


def chunks_by_page() -> None:
    """Show the chunks of a page, outlined on it, with the chosen one highlighted."""
    ready = session.engine().documents.list(status=types.DocumentStatus.READY)
    documents = {str(document.id): document for document in ready}
    if not documents:
        empty_index()
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
        _show_text(_("Embedded text"), chunks[position])
    return position


def _show_text(title: str, chunk: types.Chunk) -> None:
    with st.expander(title, expanded=False):
        st.caption(escape(chunk.context))
        st.text(chunk.text)


def open_page(document_id: uuid.UUID, number: int) -> None:
    """Open the chunk view at a page; call it before the page is drawn."""
    st.session_state[VIEW] = "Chunks"
    st.session_state[DOCUMENT] = str(document_id)
    st.session_state[PAGE.format(document_id)] = number


# --- the map of all chunks --------------------------------------------------------------------------


@st.fragment
@error_boundary()
def chunk_map() -> None:
    """Show the map and the chunk of the last clicked point."""
    embedding_map = session.cached_for_index("map", session.engine().indexes.map)
    if not embedding_map.points:
        empty_index()
        return
    left, right = columns([6, 5])
    with left:
        _points(embedding_map)
    with right, st.container(key="map-chunk"):
        _map_chunk()


def _points(embedding_map: types.EmbeddingMap) -> None:
    points = embedding_map.points
    drawn = n_chunks(embedding_map.chunks)
    if len(points) < embedding_map.chunks:
        drawn = _("{count} of {all}, sampled at random", count=decimal(len(points)), all=drawn)
    st.caption(
        _(
            "{drawn}. Chunks of similar meaning are close together; the map shows **{sum}** of their differences. "
            "Click a point to read its chunk.",
            drawn=drawn,
            sum=percent(sum(embedding_map.spread)),
        )
    )
    document, page, text = _("document"), _("page"), _("text")
    rows = [
        {
            "id": str(point.chunk_id),
            "x": point.x,
            "y": point.y,
            document: point.document_name,
            page: point.page_number,
            text: " ".join(point.beginning.split()),
        }
        for point in points
    ]
    legend = alt.Legend(title=None, orient="bottom", columns=2, symbolLimit=MAX_LEGEND_NAMES)
    chosen = alt.selection_point(name="point", fields=["id"], empty=False)
    # Documents differ in both colour and shape, for readers with colour blindness.
    chart = (
        alt.Chart(alt.InlineData(values=rows), height=MAP_PX)
        .mark_point(filled=True, cursor="pointer", aria=False)
        .encode(
            x=alt.X("x:Q", axis=None),
            y=alt.Y("y:Q", axis=None),
            color=alt.Color(f"{document}:N", legend=legend),
            shape=alt.Shape(f"{document}:N", legend=legend),
            size=alt.condition(chosen, alt.value(260), alt.value(42)),
            tooltip=[f"{document}:N", f"{page}:Q", f"{text}:N"],
        )
        .add_params(chosen)
    )
    about = _(
        "A map of {chunks} of {documents} by their meaning.",
        chunks=n_chunks(len(points)),
        documents=n_documents(len({point.document_id for point in points})),
    )

    def select() -> None:
        if points := st.session_state[MAP].selection.get("point"):  # a click elsewhere keeps the previous one
            st.session_state[MAP_CHUNK] = uuid.UUID(points[0]["id"])

    st.altair_chart(chart, key=MAP, on_select=select, alt=about)


def _map_chunk() -> None:
    chunk_id: uuid.UUID | None = st.session_state.get(MAP_CHUNK)
    if chunk_id is None:
        st.caption(_("Click a point to see its chunk on its page."))
        return
    try:
        chunk = session.engine().store.chunks.find(chunk_id)
    except errors.NotFoundError:
        st.caption(_("This chunk no longer exists: its document was deleted or read again."))
        return
    document = session.engine().documents.get(chunk.document_id)
    _show_text(_("{name}, page {main_page}", name=escape(document.name), main_page=chunk.main_page), chunk)
    show_pdf(document, [Mark.of_chunk(chunk)], 0, key="map-viewer")
