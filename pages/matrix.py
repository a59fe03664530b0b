"""The matrix page: the same questions for many documents."""

import streamlit as st

from rag.ui import components, matrix, page_frame
from rag.ui.language import N_

page_frame.page(N_("Matrix"))
with page_frame.show_title("Matrix"), page_frame.error_boundary():
    matrix.form_button()
with page_frame.error_boundary():
    clicked = matrix.clicked()
    left, right = st.columns(
        [6, 5] if clicked else [99, 1], gap="medium"
    )  # always two columns, so that the table stays in place
    with left:
        matrix.table()
        if clicked:
            components.resizable_columns("matrix", up=clicked.key)
    if clicked:
        with right:
            matrix.viewer(clicked)
