"""Ask, read, and see where it stands."""

import streamlit as st

from rag.ui import chat, frame

frame.page("Chat")
with frame.door():
    documents = chat.ready_documents()
    with st.sidebar:
        chat.conversations()
    if not documents:
        with frame.empty(
            "upload_file", "No documents yet", "Upload PDFs, Word files or slides, then ask about them here."
        ):
            st.page_link("pages/upload.py", label="Upload documents", icon=":material/upload_file:")
        st.stop()
    left, right = st.columns([5, 6], gap="medium")
    with left:
        scope = chat.scope(documents)
        first = scope[0] if scope else documents[0].id
        chat.still_reading(scope)
        chat.transcript(scope, first)
    with right:
        chat.viewer(first)
