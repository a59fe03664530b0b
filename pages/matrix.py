"""Many documents, the same questions: a table of answers, each with its place."""

import streamlit as st

from rag.ui import frame, matrix, matrix_form, split
from rag.ui.language import N_, _

frame.page(N_("Matrix"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Matrix"), anchor=False, width="content")
    with frame.door():
        matrix_form.button()
with frame.door():
    clicked = matrix.clicked()
    left, right = st.columns([6, 5] if clicked else [99, 1], gap="medium")  # the same two: the table keeps its place
    with left:
        matrix.table()
        if clicked:
            split.resizable("matrix", up=clicked.key)
    if clicked:
        with right:
            matrix.viewer(clicked)
