"""The index page: inspect the index and search it."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.index import chunks, index_page, search
from rag.ui.language import N_

page_frame.page(N_("Index"))
with page_frame.show_title("Index"):
    views = {
        N_("Overview"): index_page.overview,
        N_("Chunks"): chunks.chunks_by_page,
        N_("Search"): search.search,
        N_("Health"): index_page.problems,
    }
    view = page_frame.choose_view(views, key=chunks.VIEW)
with page_frame.error_boundary(), st.container(key="view"):
    view()
