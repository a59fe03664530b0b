"""What others show: their answers, read-only, beside the documents."""

import streamlit as st

from rag.ui import frame, shown, viewing
from rag.ui.language import N_

frame.page(N_("Shown to you"))
with frame.door():
    chosen = shown.link()
    if chosen is None:
        st.stop()
    first = shown.first_document(chosen)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        shown.transcript(chosen)
    with right:
        if first:
            viewing.viewer(first)
