"""The words of your house, and what they make of a question."""

import streamlit as st

from rag.ui import frame, glossary

frame.page("Glossary")
with st.container(horizontal=True, vertical_alignment="center", key="title"):
    st.header("Glossary", anchor=False, width="content")
    views = {"Words": glossary.words, "File": glossary.file}
    view = st.segmented_control("View", list(views), default="Words", label_visibility="collapsed", required=True)
left, right = st.columns([6, 5], gap="medium")
with left, frame.door():
    views[view or "Words"]()
with right, frame.door():
    glossary.trial()
