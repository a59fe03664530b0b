"""Map view of the index page: chunks placed by meaning; a click opens one on its page."""

import collections
import uuid
from typing import Any

import altair as alt
import streamlit as st

from rag import errors, types
from rag.ui import charts, session
from rag.ui.formatting import decimal, escape, n_chunks, n_documents, percent, plural
from rag.ui.index import chunk_browser
from rag.ui.language import _
from rag.ui.page_frame import error_boundary
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

MAP_PX = 640
COLOURS = ("#4e79a7", "#f28e2b", "#e15759", "#2a9d8f", "#59a14f", "#c9a227", "#b07aa1", "#e07a9a", "#9c755f")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
"""Documents differ in both colour and shape, for readers with colour blindness."""
OTHERS = "#8c8c8c"
MAX_NAME_CHARS = 24
CHOSEN = "map-chosen"
CHART = "map-chart"


@st.fragment
def chunk_map() -> None:
    """Show the map and the chunk of the last clicked point."""
    with error_boundary():
        shown = session.cached_for_index("map", session.engine().statistics.map)
        if not shown.points:
            chunk_browser.empty_index()
            return
        left, right = chunk_browser.columns([6, 5])
        with left:
            _explanation(shown)
            _points(shown)
        with right, st.container(key="map-chunk"):
            _chosen_chunk()


def _explanation(shown: types.EmbeddingMap) -> None:
    drawn = n_chunks(shown.chunks)
    if len(shown.points) < shown.chunks:
        drawn = _("{count} of {all}, sampled at random").format(count=decimal(len(shown.points)), all=drawn)
    st.caption(
        _(
            "{drawn}. Chunks of similar meaning are close together; the map shows **{sum}** of their differences. "
            "Click a point to read its chunk."
        ).format(drawn=drawn, sum=percent(sum(shown.spread)))
    )


def _points(shown: types.EmbeddingMap) -> None:
    names = _names(shown)
    rows = [
        {
            "id": str(point.chunk_id),
            "x": point.x,
            "y": point.y,
            "document": names.get(point.document_id, _others(shown, names)),
            "name": point.document_name,
            "page": point.page_number,
            "begins": " ".join(point.beginning.split()),
        }
        for point in shown.points
    ]
    chart = charts.localized(_chart(rows, names, _others(shown, names)))
    st.altair_chart(chart, key=CHART, on_select=_on_select, alt=_alt_text(shown))


def _chart(rows: list[dict[str, Any]], names: dict[uuid.UUID, str], others: str) -> alt.Chart:
    domain = [*names.values(), others] if any(row["document"] == others for row in rows) else [*names.values()]
    colours = [*COLOURS[: len(names)], OTHERS][: len(domain)]
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(domain))]
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=160, symbolOpacity=1)
    chosen = alt.selection_point(name="point", fields=["id"], empty=False)
    hidden = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows), height=MAP_PX)
        .mark_point(filled=True, cursor="pointer", aria=False)
        .encode(
            x=alt.X("x:Q", title=None, axis=hidden, scale=alt.Scale(zero=False, nice=False, padding=12)),
            y=alt.Y("y:Q", title=None, axis=hidden, scale=alt.Scale(zero=False, nice=False, padding=12)),
            color=alt.Color("document:N", scale=alt.Scale(domain=domain, range=colours), legend=legend),
            shape=alt.Shape("document:N", scale=alt.Scale(domain=domain, range=shapes), legend=legend),
            size=alt.condition(chosen, alt.value(260), alt.value(42)),
            opacity=alt.condition(chosen, alt.value(1), alt.value(0.62)),
            tooltip=[
                alt.Tooltip("name:N", title=_("document")),
                alt.Tooltip("page:Q", title=_("page")),
                alt.Tooltip("begins:N", title=_("text")),
            ],
        )
        .add_params(chosen)
    )
    return chart


def _names(shown: types.EmbeddingMap) -> dict[uuid.UUID, str]:
    """Return distinct legend names of the documents with the most points."""
    counts = collections.Counter(point.document_id for point in shown.points)
    called = {point.document_id: point.document_name for point in shown.points}
    names: dict[uuid.UUID, str] = {}
    for document_id, _count in sorted(counts.items(), key=lambda found: (-found[1], called[found[0]]))[: len(COLOURS)]:
        name = _shortened(called[document_id])
        taken = sum(other == name or other.startswith(f"{name} (") for other in names.values())
        names[document_id] = f"{name} ({taken + 1})" if taken else name
    return names


def _shortened(name: str) -> str:
    half = MAX_NAME_CHARS // 2
    return name if len(name) <= MAX_NAME_CHARS else f"{name[:half]}…{name[-half:]}"


def _others(shown: types.EmbeddingMap, names: dict[uuid.UUID, str]) -> str:
    documents = {point.document_id for point in shown.points}
    return plural(len(documents) - len(names), "{count} other document", "{count} other documents")


def _alt_text(shown: types.EmbeddingMap) -> str:
    documents = len({point.document_id for point in shown.points})
    return _("A map of {chunks} of {documents} by their meaning.").format(
        chunks=n_chunks(len(shown.points)),
        documents=n_documents(documents),
    )


def _on_select() -> None:
    """Remember the clicked point; a click elsewhere keeps the previous one."""
    picked = st.session_state[CHART].selection.get("point")
    if picked:
        st.session_state[CHOSEN] = uuid.UUID(picked[0]["id"])


def _chosen_chunk() -> None:
    chunk_id: uuid.UUID | None = st.session_state.get(CHOSEN)
    if chunk_id is None:
        st.caption(_("Click a point to see its chunk on its page."))
        return
    try:
        chunk = session.engine().chunks.get(chunk_id)
    except errors.NotFoundError:
        st.caption(_("This chunk no longer exists: its document was deleted or read again."))
        return
    document = session.engine().documents.get(chunk.document_id)
    with st.expander(
        _("{name}, page {main_page}").format(name=escape(document.name), main_page=chunk.main_page), expanded=False
    ):
        st.caption(escape(chunk.context))
        st.text(chunk.text)
    show_pdf(document, [Mark.of_chunk(chunk)], 0, key="map-viewer")
