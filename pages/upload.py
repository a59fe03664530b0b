"""Bring documents in and watch them become searchable."""

import streamlit as st

from rag.ui import frame, tour, upload
from rag.ui.language import N_, _

frame.page(N_("Upload"))
st.header(_("Upload"), anchor=False)
with frame.door(), st.container(key="upload"):
    upload.room()
    upload.drop_zone()
    tour.questions()
    with st.container(key="files", gap="xsmall"):
        upload.progress()
