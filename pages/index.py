"""Look into the index when an answer surprises."""

import streamlit as st

from rag.ui import evaluation, frame, index

frame.page("Index")
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header("Index", anchor=False, width="content")
    views = {
        "Overview": index.overview,
        "Chunks": index.chunk_browser,
        "Search": index.playground,
        "Evaluate": evaluation.evaluations,
    }
    view = st.segmented_control("View", list(views), default="Overview", label_visibility="collapsed", required=True)
with frame.door():
    views[view or "Overview"]()
