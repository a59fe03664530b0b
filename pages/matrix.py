"""Many documents, the same questions: a table of answers, each with its place."""

import streamlit as st

from rag.ui import frame, matrix, matrix_form
from rag.ui.language import N_, _

frame.page(N_("Matrix"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Matrix"), anchor=False, width="content")
    with frame.door():
        matrix_form.button()
left, right = st.columns([6, 5], gap="medium")
with left, frame.door():
    matrix.table()
with right:
    matrix.viewer()
