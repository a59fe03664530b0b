"""The two columns of the chat: their widths are the reader's to choose; on a phone the document comes as a sheet."""

import streamlit as st

from rag.ui.component import component


def resizable() -> None:
    """Make the columns that this is called in the first of resizable; the browser remembers how they were left."""
    with st.container(key="splitter"):
        component("split")(key="split")
