"""The page of answers that others share with the user."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.chat import shared_view
from rag.ui.language import N_
from rag.ui.viewer import citation_viewer

page_frame.page(N_("Shared with you"))
with page_frame.error_boundary():
    chosen = shared_view.choose_link()
    if chosen is None:
        st.stop()
    first = shared_view.first_document(chosen)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        shared_view.transcript(chosen)
    with right:
        if first:
            citation_viewer.viewer(first)
