"""Who works here, what they may do and what they use."""

import streamlit as st

from rag.ui import admin, frame

frame.page("Admin")
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header("Admin", anchor=False, width="content")
    views = {"Users": admin.users, "Keys": admin.keys, "Jobs": admin.jobs}
    view = st.segmented_control("View", list(views), default="Users", label_visibility="collapsed", required=True)
with frame.door():
    admin.require()
    views[view or "Users"]()
