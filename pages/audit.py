"""Who did what, when and from where."""

import streamlit as st

from rag.ui import audit, frame

frame.page("Audit")
st.header("Audit", anchor=False)
with frame.door():
    audit.entries()
