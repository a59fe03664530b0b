"""Look into the index when an answer surprises."""

import streamlit as st

from rag.ui import checkup, chunk_browser, chunk_map, contents, evaluation, frame, index, playground
from rag.ui.language import N_, _

frame.page(N_("Index"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Index"), anchor=False, width="content")
    views = {
        N_("Overview"): index.overview,
        N_("Contents"): contents.contents,
        N_("Map"): chunk_map.chunk_map,
        N_("Chunks"): chunk_browser.chunk_browser,
        N_("Search"): playground.playground,
        N_("Health"): checkup.findings,
        N_("Evaluate"): evaluation.evaluations,
    }
    st.session_state.setdefault(chunk_browser.VIEW, "Overview")
    view = st.segmented_control(
        _("View"), list(views), key=chunk_browser.VIEW, label_visibility="collapsed", required=True, format_func=_
    )
with frame.door(), st.container(key="view"):
    views[view or "Overview"]()
