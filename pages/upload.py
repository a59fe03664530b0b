"""Bring documents in and watch them become searchable."""

import streamlit as st

from rag.ui import frame, upload

frame.page("Upload")
st.header("Upload", anchor=False)
with frame.door(), st.container(key="upload"):
    upload.room()
    upload.drop_zone()
    with st.container(key="files", gap="xsmall"):
        upload.progress()
