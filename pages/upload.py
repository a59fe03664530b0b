"""The upload page: add documents and follow their progress."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.chat import tour
from rag.ui.language import N_, _
from rag.ui.library import upload

page_frame.page(N_("Upload"))
st.header(_("Upload"), anchor=False)
with page_frame.error_boundary(), st.container(key="upload"):
    upload.quota_usage()
    upload.drop_zone()
    tour.questions()
    with st.container(key="files", gap="xsmall"):
        upload.documents()
