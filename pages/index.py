"""The index page: inspect the index, search it and evaluate it."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.index import (
    chunk_browser,
    chunk_map,
    evaluation,
    health_check,
    index_page,
    index_statistics,
    search_playground,
)
from rag.ui.language import N_, _

page_frame.page(N_("Index"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Index"), anchor=False, width="content")
    views = {
        N_("Overview"): index_page.overview,
        N_("Statistics"): index_statistics.statistics,
        N_("Map"): chunk_map.chunk_map,
        N_("Chunks"): chunk_browser.chunk_browser,
        N_("Search"): search_playground.playground,
        N_("Health"): health_check.problems,
        N_("Evaluation"): evaluation.evaluations,
    }
    view = page_frame.choose_view(views, key=chunk_browser.VIEW)
with page_frame.error_boundary(), st.container(key="view"):
    view()
