"""The glossary page: the user's own vocabulary and a test of it."""

import streamlit as st

from rag.ui import page_frame
from rag.ui.admin import glossary
from rag.ui.language import N_, _

page_frame.page(N_("Glossary"))
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header(_("Glossary"), anchor=False, width="content")
    views = {N_("Words"): glossary.synonyms, N_("File"): glossary.file}
    view = page_frame.choose_view(views)
left, right = st.columns([6, 5], gap="medium")
with left, page_frame.error_boundary():
    view()
with right, page_frame.error_boundary():
    glossary.try_question()
