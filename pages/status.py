"""How the installation is, for those who run it."""

import streamlit as st

from rag.ui import frame, status

frame.page("Status")
st.header("Status", anchor=False)
with frame.door():
    status.overview()
