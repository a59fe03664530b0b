"""The matrix page: the same questions for many documents."""

import streamlit as st

from rag.ui import components, page_frame
from rag.ui.language import N_
from rag.ui.matrix import matrix_form, matrix_page

page_frame.page(N_("Matrix"))
with page_frame.show_title("Matrix"), page_frame.error_boundary():
    matrix_form.form_button()
with page_frame.error_boundary():
    clicked = matrix_page.clicked()
    left, right = st.columns(
        [6, 5] if clicked else [99, 1], gap="medium"
    )  # always two columns, so that the table stays in place
    with left:
        matrix_page.table()
        if clicked:
            components.resizable_columns("matrix", up=clicked.key)
    if clicked:
        with right:
            matrix_page.viewer(clicked)
