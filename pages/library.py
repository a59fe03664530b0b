"""The documents: look, delete, restore."""

import streamlit as st

from rag.ui import frame, library, sharing

frame.page("Library")
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header("Library", anchor=False, width="content")
    views = {"Documents": library.documents, "Trash": library.trash}
    view = st.segmented_control("View", list(views), default="Documents", label_visibility="collapsed", required=True)
    with frame.door():
        sharing.offer_sharing()
with frame.door():
    views[view or "Documents"]()
