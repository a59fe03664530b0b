"""Statistics view of the index page: growth, chunk lengths, pages without text."""

from collections.abc import Sequence

import altair as alt
import streamlit as st

from rag import types
from rag.ui import charts, session
from rag.ui.formatting import decimal, n_documents, n_pages, progress_text
from rag.ui.index import chunk_browser
from rag.ui.language import N_, _

COUNTS = (N_("documents"), N_("pages"), N_("chunks"))
GROWTH_PX = 170
LENGTHS_PX = 220
MAX_POINTS = 40
"""Steps up to which a chart shows each as a dot."""


def statistics() -> None:
    """Show growth, chunk lengths and pages without text."""
    statistics = session.engine().statistics
    growth = statistics.growth()
    if not growth:
        chunk_browser.empty_index()
        return
    with st.container(border=True):
        st.subheader(_("Growth"), anchor=False)
        _growth(growth)
    left, right = st.columns([5, 6], gap="small")
    with left.container(border=True):
        st.subheader(_("Chunk lengths"), anchor=False)
        _lengths(session.cached_for_index("lengths", statistics.lengths))
    with right.container(border=True):
        st.subheader(_("Pages without text"), anchor=False)
        _pages_without_text(session.cached_for_index("wordless", statistics.wordless))


def _growth(growth: Sequence[types.Growth]) -> None:
    st.caption(_("By the date added; deleted documents are not counted."))
    for column, counted in zip(st.columns(len(COUNTS), gap="small"), COUNTS, strict=True):
        rows = [{"at": step.at.isoformat(), "count": getattr(step, counted)} for step in growth]
        total = f"{decimal(rows[-1]['count'])} {_(counted)}"
        column.markdown(f"**{total}**")
        chart = (
            alt.Chart(alt.InlineData(values=rows), height=GROWTH_PX)
            .mark_area(interpolate="step-after", line=True, opacity=0.25, point=len(rows) <= MAX_POINTS)
            .encode(
                x=alt.X("at:T", axis=charts.time_axis()),
                y=alt.Y("count:Q", title=None, axis=alt.Axis(tickMinStep=1)),
                tooltip=[charts.time_tooltip("at:T", _("by")), alt.Tooltip("count:Q", title=_(counted), format=",")],
            )
        )
        column.altair_chart(
            charts.localized(chart),
            alt=_("How the number of {things} grew: {total} now.").format(things=_(counted), total=total),
        )


def _lengths(bands: Sequence[types.LengthBand]) -> None:
    if not bands:
        st.caption(_("There are no chunks."))
        return
    width = next((band.end - band.start for band in bands if band.end), 1)
    rows = [
        {
            "from": band.start,
            "to": band.end or band.start + width,
            "length": _("{start} to {end}").format(start=decimal(band.start), end=decimal(band.end - 1))
            if band.end
            else _("{start} and more").format(start=decimal(band.start)),
            "chunks": band.chunks,
        }
        for band in bands
    ]
    limit = session.engine().inspect_index().index.chunking.chunk_size_chars
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("from:Q", bin="binned", title=_("characters")),
            x2="to:Q",
            y=alt.Y("chunks:Q", title=_("chunks")),
            tooltip=[
                alt.Tooltip("length:N", title=_("characters")),
                alt.Tooltip("chunks:Q", title=_("chunks"), format=","),
            ],
        )
    )
    cut = alt.Chart(alt.InlineData(values=[{"from": limit}])).mark_rule(strokeDash=[4, 4]).encode(x="from:Q")
    st.altair_chart(
        charts.localized((bars + cut).properties(height=LENGTHS_PX)),
        alt=_("How many chunks there are of each length. They are cut at {limit} characters.").format(
            limit=decimal(limit)
        ),
    )
    st.caption(_("Chunks are cut at about {limit} characters, the dashed line.").format(limit=decimal(limit)))


def _pages_without_text(summary: types.WordlessSummary) -> None:
    if not summary.pages:
        st.success(_("Every page has text."), icon=":material/check_circle:")
        return
    st.caption(
        _("{pages} of {documents}: blank, a picture, or not read. Select a row to open the first page.").format(
            pages=n_pages(summary.pages),
            documents=n_documents(summary.documents),
        )
    )
    rows = [
        {
            _("document"): document.name,
            _("without text"): document.wordless / document.page_count,
            _("pages"): progress_text(document.wordless, document.page_count),
            _("page numbers"): _ranges(document.first) + (" …" if document.wordless > len(document.first) else ""),
        }
        for document in summary.worst
    ]

    def look() -> None:
        for row in st.session_state["wordless"].selection.rows:
            chunk_browser.open_page(summary.worst[row].document_id, summary.worst[row].first[0])

    st.dataframe(
        rows,
        key="wordless",
        hide_index=True,
        height=LENGTHS_PX,
        on_select=look,
        selection_mode="single-row",
        column_config={
            _("without text"): st.column_config.ProgressColumn(
                format="percent", min_value=0, max_value=1, width="small"
            )
        },
    )
    if summary.documents > len(rows):
        st.caption(_("The {rows} documents with the most pages without text.").format(rows=len(rows)))


def _ranges(numbers: Sequence[int]) -> str:
    """Format ascending numbers as ranges: `1, 4–6`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
